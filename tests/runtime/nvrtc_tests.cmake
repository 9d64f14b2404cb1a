# Finding and driving NVRTC: unit tests on fakes, then the same with this machine's NVRTC.
foreach(subject IN ITEMS nvrtc compiler compile_log)
  heddle_add_test(runtime_${subject}_test LABELS unit SOURCES ${subject}_test.cpp
                  LIBRARIES heddle_core)
  heddle_use_fake_nvrtc(runtime_${subject}_test)
endforeach()

add_executable(compile_probe compile_probe.cpp)
target_link_libraries(compile_probe PRIVATE heddle_core ${CMAKE_DL_LIBS})
heddle_warnings(compile_probe)

heddle_add_test(runtime_real_nvrtc_test LABELS filecheck SOURCES real_nvrtc_test.cpp
                LIBRARIES heddle_core)
add_dependencies(runtime_real_nvrtc_test compile_probe)
target_compile_definitions(runtime_real_nvrtc_test PRIVATE
  HEDDLE_COMPILE_PROBE="$<TARGET_FILE:compile_probe>")
