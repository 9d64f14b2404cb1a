# Tests of the C ABI, its C++ face, selection and the hot path.
set(here "${CMAKE_CURRENT_LIST_DIR}")

# heddle_serving_test(NAME LIBRARIES …): a test over both fakes.
function(heddle_serving_test name)
  heddle_add_test(${name}_test LABELS unit SOURCES "${here}/${name}_test.cpp" LIBRARIES ${ARGN})
  heddle_use_fake_cuda(${name}_test)
  heddle_use_fake_nvrtc(${name}_test)
endfunction()

foreach(name IN ITEMS context kernel_table quick_check selection workspace)
  heddle_serving_test(${name} heddle_core)
endforeach()
foreach(name IN ITEMS c_abi hot_path)
  heddle_serving_test(${name} heddle heddle_core)
endforeach()
target_compile_definitions(c_abi_test PRIVATE HEDDLE_PROJECT_VERSION="${PROJECT_VERSION}")
# So that the test's operator new also serves libheddle.so.
set_target_properties(hot_path_test PROPERTIES ENABLE_EXPORTS ON)

add_executable(header_check "${here}/header_check.c")
target_link_libraries(header_check PRIVATE heddle)
target_compile_options(header_check PRIVATE -std=c99 -Wall -Wextra -Wpedantic -Werror)
add_test(NAME header_check COMMAND header_check /nonexistent/libcuda.so.1)
set_tests_properties(header_check PROPERTIES LABELS unit)
