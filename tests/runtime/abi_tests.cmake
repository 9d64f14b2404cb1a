# Tests of the C ABI, its C++ face, selection and the hot path.
set(here "${CMAKE_CURRENT_LIST_DIR}")

# heddle_serving_test(NAME LIBRARIES …): a test over both fakes.
function(heddle_serving_test name)
  heddle_add_test(${name}_test LABELS unit SOURCES "${here}/${name}_test.cpp" LIBRARIES ${ARGN})
  heddle_use_fake_cuda(${name}_test)
  heddle_use_fake_nvrtc(${name}_test)
endfunction()

foreach(name IN ITEMS context context_miss eviction hot_lookup kernel_table quick_check
                      selection selection_order workspace)
  heddle_serving_test(${name} heddle_core)
endforeach()
foreach(name IN ITEMS c_abi hot_path quantise_abi)
  heddle_serving_test(${name} heddle heddle_core)
endforeach()
target_compile_definitions(c_abi_test PRIVATE HEDDLE_PROJECT_VERSION="${PROJECT_VERSION}")
set_tests_properties(hot_lookup_test PROPERTIES RUN_SERIAL ON)  # it measures, on every core
# So that the test's operator new also serves libheddle.so.
set_target_properties(hot_path_test PROPERTIES ENABLE_EXPORTS ON)

add_executable(header_check "${here}/header_check.c")
target_link_libraries(header_check PRIVATE heddle)
target_compile_options(header_check PRIVATE -std=c99 -Wall -Wextra -Wpedantic -Werror)
add_test(NAME header_check COMMAND header_check /nonexistent/libcuda.so.1)
set_tests_properties(header_check PROPERTIES LABELS unit)

# The C++17 face with exceptions off, in the tree and from the installed package.
add_executable(face_check "${here}/face_check.cpp")
target_link_libraries(face_check PRIVATE heddle)
target_compile_options(face_check PRIVATE -fno-exceptions)
set_target_properties(face_check PROPERTIES CXX_STANDARD 17)
heddle_warnings(face_check)
heddle_use_fake_cuda(face_check)
heddle_use_fake_nvrtc(face_check)
set(fakes "$<TARGET_FILE:heddle_fake_cuda>" "${HEDDLE_FAKE_NVRTC_ROOT}/13_loadable")
add_test(NAME face_check COMMAND face_check ${fakes})
set_tests_properties(face_check PROPERTIES LABELS unit TIMEOUT 60)

# Ways for a process to end.
add_executable(exit_check "${here}/exit_check.cpp")
target_link_libraries(exit_check PRIVATE heddle)
heddle_warnings(exit_check)
heddle_use_fake_cuda(exit_check)
heddle_use_fake_nvrtc(exit_check)
foreach(way IN ITEMS return driver_first never_destroyed thread_exit context_gone dlclose throw)
  add_test(NAME exit_${way} COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:exit_check>"
    "-DWAY=${way}" "-DARGUMENTS=${fakes};$<TARGET_FILE:heddle>" -P "${here}/run_exit_check.cmake")
  set_tests_properties(exit_${way} PROPERTIES LABELS unit TIMEOUT 60)
endforeach()

# What these tests are about is what AddressSanitizer reports: an operator new of the test's own, a
# context that is never destroyed.
if(CMAKE_CXX_FLAGS MATCHES "fsanitize=[a-z,]*address")
  set_tests_properties(hot_lookup_test hot_path_test PROPERTIES
                       ENVIRONMENT ASAN_OPTIONS=alloc_dealloc_mismatch=0)
  set_tests_properties(exit_never_destroyed PROPERTIES ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
endif()
