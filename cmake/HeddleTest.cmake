# heddle_add_test(NAME LABELS … SOURCES … LIBRARIES …): one Catch2 program, one CTest entry.
# Labels: unit (no compiler), filecheck (NVRTC, no GPU), host (kernels on the CPU), gpu.
find_package(Catch2 2.13 REQUIRED)
add_library(heddle_catch_main STATIC ${PROJECT_SOURCE_DIR}/tests/catch_main.cpp)
target_link_libraries(heddle_catch_main PUBLIC Catch2::Catch2)

# OPTIMISED: for a test that spends its time in its own code. The others wait for the library, which is
# built as ever: of them a quarter of the compile time is optimisation.
function(heddle_add_test name)
  cmake_parse_arguments(ARG "OPTIMISED" "TIMEOUT" "LABELS;SOURCES;LIBRARIES;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE heddle_catch_main ${ARG_LIBRARIES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  heddle_warnings(${name})
  if(NOT ARG_OPTIMISED)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  # Exit code 77 = skipped (no GPU, no NVRTC), said in the output.
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()
