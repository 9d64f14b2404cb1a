# heddle_embed(OUTPUT out.cpp FUNCTION name ROOT dir FILES …): turns text files into a C++ source that
# defines `std::span<const EmbeddedTemplate> name()` with every file under its path below ROOT.
function(heddle_embed)
  cmake_parse_arguments(ARG "" "OUTPUT;FUNCTION;ROOT" "FILES" ${ARGN})
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  list(TRANSFORM ARG_FILES PREPEND "${ARG_ROOT}/" OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT "${ARG_OUTPUT}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${ARG_OUTPUT}" "-DFUNCTION=${ARG_FUNCTION}"
            "-DROOT=${ARG_ROOT}" "-DFILES=${ARG_FILES}" -P "${script}"
    DEPENDS ${paths} "${script}"
    COMMENT "Embedding ${ARG_FUNCTION}"
    VERBATIM)
endfunction()
