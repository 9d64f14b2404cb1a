# libheddle.so = heddle::runtime: the C ABI over heddle_core.
add_library(heddle SHARED c_abi.cpp c_abi_create.cpp)
add_library(heddle::runtime ALIAS heddle)
set_target_properties(heddle PROPERTIES
  EXPORT_NAME runtime
  VERSION "${PROJECT_VERSION}"
  SOVERSION "${PROJECT_VERSION_MAJOR}")
target_include_directories(heddle PUBLIC
  "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(heddle PRIVATE
  $<BUILD_INTERFACE:heddle_core>
  $<BUILD_INTERFACE:heddle_fmt>)
heddle_warnings(heddle)

# Only heddle_* is visible, so that another copy of our (static) dependencies in the process never
# meets this one. nodelete: threads may still be inside when a plugin that holds us is unloaded.
set(symbols "${CMAKE_CURRENT_SOURCE_DIR}/heddle.map")
target_link_options(heddle PRIVATE
  "LINKER:--version-script=${symbols}"
  "LINKER:--exclude-libs,ALL"
  "LINKER:--no-undefined"
  "LINKER:-z,nodelete")
set_target_properties(heddle PROPERTIES LINK_DEPENDS "${symbols}")
