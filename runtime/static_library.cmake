# libheddle.a = heddle::runtime_static: the same in one archive. What it uses of Debian's libraries
# is linked by whoever links it. SQLite is the shared one on purpose: POSIX locks belong to a
# process, so two copies of SQLite in it that open the same file would drop each other's.
add_library(heddle_static STATIC
  c_abi.cpp
  c_abi_create.cpp
  $<TARGET_OBJECTS:heddle_core>
  $<TARGET_OBJECTS:heddle_generator>
  $<TARGET_OBJECTS:heddle_tuning_db>
  $<TARGET_OBJECTS:heddle_fmt>
  $<TARGET_OBJECTS:heddle_yaml>)
add_library(heddle::runtime_static ALIAS heddle_static)
set_target_properties(heddle_static PROPERTIES EXPORT_NAME runtime_static OUTPUT_NAME heddle)
# The C ABI is then as hidden as the rest: two plugins that hold a copy each never meet.
target_compile_definitions(heddle_static PUBLIC HEDDLE_STATIC)
target_include_directories(heddle_static
  PUBLIC
    "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
  PRIVATE
    "${PROJECT_SOURCE_DIR}"
    "${PROJECT_BINARY_DIR}")
target_include_directories(heddle_static SYSTEM PRIVATE
  "$<TARGET_PROPERTY:heddle_fmt,INTERFACE_INCLUDE_DIRECTORIES>")
target_link_libraries(heddle_static INTERFACE
  SQLiteCpp sqlite3 yaml-cpp pthread ${CMAKE_DL_LIBS})
target_link_options(heddle_static INTERFACE "LINKER:--exclude-libs,libSQLiteCpp.a")
heddle_warnings(heddle_static)
