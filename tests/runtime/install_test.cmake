# The installed package, moved elsewhere, serves a C++17 project with exceptions off.
# -DBUILD= -DSOURCE= -DWORK= -DCXX= -DFAKE_CUDA= -DFAKE_NVRTC=
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/consumer")
run("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first" --component runtime)
file(RENAME "${WORK}/first" "${WORK}/moved")
file(GLOB_RECURSE libraries "${WORK}/moved/*/libheddle.so")
list(GET libraries 0 library)

# Only the C ABI is visible; nothing of CUDA is linked; the install tree knows no build path.
run("nm" nm -D --defined-only "${library}")
string(REGEX MATCHALL "[^\n]+" symbols "${output}")
foreach(symbol IN LISTS symbols)
  if(NOT symbol MATCHES " [AT] (heddle_[a-z_]+|HEDDLE_0)(@@HEDDLE_0)?$")
    message(FATAL_ERROR "libheddle.so shows a symbol that is not the C ABI's: ${symbol}")
  endif()
endforeach()
run("readelf" readelf -d "${library}")
if(output MATCHES "NEEDED[^\n]*(libcuda|libnvrtc)" OR NOT output MATCHES "SONAME[^\n]*libheddle.so.0"
   OR NOT output MATCHES "NODELETE" OR output MATCHES "RUNPATH|RPATH")
  message(FATAL_ERROR "libheddle.so's dynamic section:\n${output}")
endif()
file(GLOB_RECURSE config "${WORK}/moved/*.cmake")
foreach(file IN LISTS config)
  file(READ "${file}" text)
  string(FIND "${text}" "${SOURCE}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} names the source tree")
  endif()
endforeach()

# The demo and the face check, each a project of its own outside the tree.
file(COPY "${SOURCE}/examples/attention_demo" DESTINATION "${WORK}")
file(COPY "${SOURCE}/tests/runtime/face_check.cpp" DESTINATION "${WORK}/consumer")
file(WRITE "${WORK}/consumer/CMakeLists.txt" "cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
find_package(heddle 0.1 REQUIRED)
add_executable(face_check face_check.cpp)
target_compile_options(face_check PRIVATE -fno-exceptions -fvisibility=hidden -Wall -Wextra -Werror)
target_link_libraries(face_check PRIVATE heddle::runtime \${CMAKE_DL_LIBS})
")
foreach(project IN ITEMS attention_demo consumer)
  run("configure ${project}" "${CMAKE_COMMAND}" -S "${WORK}/${project}"
      -B "${WORK}/build_${project}" "-DCMAKE_PREFIX_PATH=${WORK}/moved"
      "-DCMAKE_CXX_COMPILER=${CXX}")
  run("build ${project}" "${CMAKE_COMMAND}" --build "${WORK}/build_${project}")
endforeach()

# A cold compile out of the moved prefix: every template is inside the library.
run("face_check" "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH
    "${WORK}/build_consumer/face_check" "${FAKE_CUDA}" "${FAKE_NVRTC}")
message(STATUS "${output}")

# Without a driver the demo still starts, and says what is missing.
execute_process(COMMAND "${CMAKE_COMMAND}" -E env HEDDLE_CUDA_DRIVER=/nonexistent/libcuda.so.1
                "${WORK}/build_attention_demo/attention_demo"
                RESULT_VARIABLE code ERROR_VARIABLE output OUTPUT_VARIABLE ignored)
if(NOT code EQUAL 3 OR NOT output MATCHES "HEDDLE_DRIVER_MISSING: .*/nonexistent/libcuda.so.1")
  message(FATAL_ERROR "the demo without a driver: exit ${code}: ${output}")
endif()
