# C93: heddle::runtime_static, installed and moved, in programs and in plugins.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
install_and_move(runtime static)
check_no_paths()

file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer" "${SOURCE}/tests/runtime/face_check.cpp"
     DESTINATION "${WORK}")
file(RENAME "${WORK}/face_check.cpp" "${WORK}/consumer/face_check.cpp")
build_against_moved(consumer)
set(built "${WORK}/build_consumer")

# A plugin shows its own symbol, and nothing of heddle or of what heddle holds but what std::
# templates make of their types.
run("nm" nm -D --defined-only "${built}/libplugin_first.so")
if(NOT output MATCHES " T plugin_serve\n"
   OR output MATCHES " (_Z[A-Z]*N?K?(6heddle|6SQLite|3fmt|4YAML)|heddle_|sqlite3_)[^\n]*")
  message(FATAL_ERROR "the plugin shows ${CMAKE_MATCH_0}:\n${output}")
endif()
run("readelf" readelf -d "${built}/face_check")
if(output MATCHES "NEEDED[^\n]*libheddle")
  message(FATAL_ERROR "the static program needs libheddle.so:\n${output}")
endif()

set(fakes "${FAKE_CUDA}" "${FAKE_NVRTC}")
file(MAKE_DIRECTORY "${WORK}/databases")
run("face_check" "${built}/face_check" ${fakes})
message(STATUS "${output}")
run("plugin_host" "${built}/plugin_host" ${fakes} "${WORK}/databases"
    "${built}/libplugin_first.so" "${built}/libplugin_second.so")
message(STATUS "${output}")
run("own_sqlite" "${built}/own_sqlite" ${fakes} "${WORK}/databases")
if(NOT output MATCHES "sqlite3_open is in [^\n]*own_sqlite\n")
  message(FATAL_ERROR "the program's own SQLite is not the one found:\n${output}")
endif()
message(STATUS "${output}")
