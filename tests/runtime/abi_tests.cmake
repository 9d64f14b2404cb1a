# Tests of the C ABI, its C++ face, selection and the hot path.
set(here "${CMAKE_CURRENT_LIST_DIR}")

foreach(name IN ITEMS quick_check kernel_table selection context hot_path)
  heddle_add_test(${name}_test LABELS unit SOURCES "${here}/${name}_test.cpp"
                  LIBRARIES heddle_core fmt::fmt-header-only)
  heddle_use_fake_cuda(${name}_test)
endforeach()

heddle_add_test(c_abi_test LABELS unit SOURCES "${here}/c_abi_test.cpp"
                LIBRARIES heddle heddle_core fmt::fmt-header-only)
heddle_use_fake_cuda(c_abi_test)

add_executable(header_check "${here}/header_check.c")
target_link_libraries(header_check PRIVATE heddle)
target_compile_options(header_check PRIVATE -std=c99 -Wall -Wextra -Wpedantic -Werror)
add_test(NAME header_check COMMAND header_check /nonexistent/libcuda.so.1)
set_tests_properties(header_check PROPERTIES LABELS unit)
