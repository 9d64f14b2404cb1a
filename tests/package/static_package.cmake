# C93: heddle::runtime_static, installed and moved, in programs and in plugins.
include("${CMAKE_CURRENT_LIST_DIR}/package.cmake")
install_and_move(runtime static)
check_no_paths()

file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer" "${SOURCE}/tests/runtime/face_check.cpp"
     DESTINATION "${WORK}")
file(RENAME "${WORK}/face_check.cpp" "${WORK}/consumer/face_check.cpp")
# A SQLite of another version: the system's under another name, with another number in it.
string(REGEX REPLACE "^3\\.[0-9]" "3.0" other_version "${SQLITE_VERSION}")
if(other_version STREQUAL SQLITE_VERSION)
  message(FATAL_ERROR "SQLite ${SQLITE_VERSION} has no other version of the same length")
endif()
file(REAL_PATH "${SQLITE}" system_sqlite)
configure_file("${system_sqlite}" "${WORK}/consumer/libsqlitez.so.0" COPYONLY)
string(REPLACE "." "\\." pattern "${SQLITE_VERSION}")
run("sed" sed -i -e "s/libsqlite3\\.so\\.0/libsqlitez.so.0/g"
    -e "s/${pattern}/${other_version}/g"
    "${WORK}/consumer/libsqlitez.so.0")

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

# Programs with a SQLite of their own: all of the process meets in that one, whatever the order;
# one that was only opened, and shows its symbols to nobody, is used by nobody.
function(check_sqlite program file version)
  set(databases "${WORK}/databases_${program}_${ARGC}")
  file(MAKE_DIRECTORY "${databases}")
  run("${program}" "${built}/${program}" ${fakes} "${databases}" ${ARGN})
  if(NOT output MATCHES "SQLite ${version} of [^\n]*${file}\n")
    message(FATAL_ERROR "not ${file}'s SQLite ${version} is the one found:\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()
check_sqlite(own_sqlite own_sqlite "${SQLITE_VERSION}")
check_sqlite(own_sqlite own_sqlite "${SQLITE_VERSION}" "${WORK}/consumer/libsqlitez.so.0")
check_sqlite(other_sqlite_first libsqlitez.so.0 "${other_version}")
check_sqlite(other_sqlite_last libsqlitez.so.0 "${other_version}")
