# What the scripts here share. -DBUILD= -DSOURCE= -DWORK= -DCXX= -DGENERATOR=
# -DFAKE_CUDA= -DFAKE_NVRTC= -DSQLITE= -DSQLITE_VERSION=
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed (${code}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Installs the components into WORK/first, then moves that to WORK/moved.
function(install_and_move)
  file(REMOVE_RECURSE "${WORK}")
  file(MAKE_DIRECTORY "${WORK}")
  foreach(component IN LISTS ARGN)
    run("install ${component}" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first"
        --component ${component})
  endforeach()
  file(RENAME "${WORK}/first" "${WORK}/moved")
endfunction()

# No installed file knows where it was built from, or first installed to. Debug sections may.
function(check_no_paths)
  file(GLOB_RECURSE files "${WORK}/moved/*")
  foreach(file IN LISTS files)
    if(IS_SYMLINK "${file}")
      continue()
    endif()
    set(text "${file}")
    if(file MATCHES "\\.(a|so[.0-9]*)$")
      set(text "${WORK}/stripped")
      run("objcopy" objcopy --strip-debug "${file}" "${text}")
    endif()
    file(STRINGS "${text}" lines)
    foreach(folder IN ITEMS "${SOURCE}" "${BUILD}" "${WORK}")
      string(FIND "${lines}" "${folder}" position)
      if(NOT position EQUAL -1)
        message(FATAL_ERROR "${file} names ${folder}")
      endif()
    endforeach()
  endforeach()
endfunction()

# Configures and builds WORK/name against the moved package.
function(build_against_moved name)
  run("configure ${name}" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${WORK}/${name}"
      -B "${WORK}/build_${name}" "-DCMAKE_PREFIX_PATH=${WORK}/moved" "-DCMAKE_CXX_COMPILER=${CXX}")
  run("build ${name}" "${CMAKE_COMMAND}" --build "${WORK}/build_${name}" --parallel 2)
endfunction()
