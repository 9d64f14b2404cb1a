# Runs exit_check and demands its own exit code 7 and no output. -DPROGRAM= -DWAY= -DARGUMENTS=
execute_process(COMMAND "${PROGRAM}" "${WAY}" ${ARGUMENTS}
                RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 30)
if(NOT code STREQUAL "7" OR NOT output STREQUAL "")
  message(FATAL_ERROR "${WAY}: exit code '${code}' where 7 was due; output: '${output}'")
endif()
