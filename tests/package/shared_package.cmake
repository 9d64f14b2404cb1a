# C93: the installed package, moved elsewhere, serves a C++17 project with exceptions off. No
# SQLite, fmt or yaml-cpp shows through libheddle.so.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
install_and_move(runtime)
check_no_paths()
file(MAKE_DIRECTORY "${WORK}/consumer")
file(GLOB_RECURSE libraries "${WORK}/moved/*/libheddle.so")
list(GET libraries 0 library)

# Only the C ABI is visible; nothing of CUDA is linked.
run("nm" nm -D --defined-only "${library}")
string(REGEX MATCHALL "[^\n]+" symbols "${output}")
foreach(symbol IN LISTS symbols)
  if(NOT symbol MATCHES " [AT] (heddle_[a-z_]+|HEDDLE_0)(@@HEDDLE_0)?$")
    message(FATAL_ERROR "libheddle.so shows a symbol that is not the C ABI's: ${symbol}")
  endif()
endforeach()
run("readelf" readelf -d "${library}")
if(output MATCHES "NEEDED[^\n]*(libcuda|libnvrtc)"
   OR NOT output MATCHES "SONAME[^\n]*libheddle.so.0"
   OR NOT output MATCHES "NODELETE" OR output MATCHES "RUNPATH|RPATH")
  message(FATAL_ERROR "libheddle.so's dynamic section:\n${output}")
endif()

# The demo and the face check, each a project of its own outside the tree.
file(COPY "${SOURCE}/examples/attention_demo" DESTINATION "${WORK}")
file(COPY "${SOURCE}/tests/runtime/face_check.cpp" DESTINATION "${WORK}/consumer")
file(WRITE "${WORK}/consumer/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(heddle 0.1 REQUIRED COMPONENTS \${HEDDLE_COMPONENTS})
add_executable(face_check face_check.cpp)
target_compile_options(face_check PRIVATE -fno-exceptions -fvisibility=hidden -Wall -Wextra -Werror)
target_link_libraries(face_check PRIVATE heddle::runtime \${CMAKE_DL_LIBS})
")
build_against_moved(attention_demo)
build_against_moved(consumer)

# A cold compile out of the moved prefix: every template is inside the library.
run("face_check" "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH
    "${WORK}/build_consumer/face_check" "${FAKE_CUDA}" "${FAKE_NVRTC}")
message(STATUS "${output}")

# The static library is asked for by name, and its absence told.
execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}/consumer"
                -B "${WORK}/build_static" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
                "-DCMAKE_CXX_COMPILER=${CXX}"
                -DHEDDLE_COMPONENTS=static
                RESULT_VARIABLE code ERROR_VARIABLE output OUTPUT_VARIABLE ignored)
if(code EQUAL 0 OR NOT output MATCHES "installed without its component[ \n]+static")
  message(FATAL_ERROR "asking for a static library that is not there: ${code}: ${output}")
endif()

# Without a driver the demo still starts, and says what is missing.
execute_process(COMMAND "${CMAKE_COMMAND}" -E env HEDDLE_CUDA_DRIVER=/nonexistent/libcuda.so.1
                "${WORK}/build_attention_demo/attention_demo"
                RESULT_VARIABLE code ERROR_VARIABLE output OUTPUT_VARIABLE ignored)
if(NOT code EQUAL 3 OR NOT output MATCHES "HEDDLE_DRIVER_MISSING: .*/nonexistent/libcuda.so.1")
  message(FATAL_ERROR "the demo without a driver: exit ${code}: ${output}")
endif()
