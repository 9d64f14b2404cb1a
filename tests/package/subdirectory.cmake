# C93: a project that takes heddle as a subdirectory configures, with both libraries; nothing of our
# tests, warnings or settings reaches it. That they build is what every build shows.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/project")
file(WRITE "${WORK}/project/main.cpp" "#include <heddle/heddle.hpp>
int main() { return heddle_version() == HEDDLE_VERSION ? 0 : 1; }
")
file(WRITE "${WORK}/project/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
set(HEDDLE_BUILD_CLI OFF)
add_subdirectory(\"${SOURCE}\" heddle EXCLUDE_FROM_ALL)
foreach(kind runtime runtime_static)
  add_executable(with_\${kind} main.cpp)
  target_link_libraries(with_\${kind} PRIVATE heddle::\${kind})
endforeach()
if(HEDDLE_BUILD_TESTS OR HEDDLE_DEVELOPER_MODE OR NOT CMAKE_CXX_STANDARD EQUAL 17)
  message(FATAL_ERROR \"heddle's own settings reach its parent\")
endif()
")
run("configure" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}/project" -B "${WORK}/build"
    "-DCMAKE_CXX_COMPILER=${CXX}" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
file(READ "${WORK}/build/compile_commands.json" commands)
string(REGEX MATCH "[^\n]*project/main.cpp\"" command "${commands}")
if(NOT command MATCHES "runtime/include" OR command MATCHES "-Wshadow|-Werror|-std=c\\+\\+20")
  message(FATAL_ERROR "main.cpp is compiled by: ${command}")
endif()
