# libheddle.so = heddle::runtime: the C ABI over heddle_core, and how both faces are installed.
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

include(CMakePackageConfigHelpers)
set(HEDDLE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake"
                                 COMPATIBILITY SameMajorVersion)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/heddleConfig.cmake"
"# find_package(heddle) -> heddle::runtime. Needs nothing beyond the shared library.
include(\"\${CMAKE_CURRENT_LIST_DIR}/heddleTargets.cmake\")
")

install(TARGETS heddle EXPORT heddleTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(DIRECTORY include/heddle DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
install(EXPORT heddleTargets NAMESPACE heddle:: DESTINATION "${HEDDLE_CMAKE_DIR}"
  COMPONENT runtime)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/heddleConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake"
  DESTINATION "${HEDDLE_CMAKE_DIR}" COMPONENT runtime)
