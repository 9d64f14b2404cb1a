# Compiler settings shared by every target of ours; consumers never inherit them.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

# heddle_library(NAME SOURCES … PUBLIC … PRIVATE …): a static, position-independent library whose
# include root is the repository, so that includes read "generator/problem.hpp".
function(heddle_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(heddle_${name} STATIC ${ARG_SOURCES})
  add_library(heddle::${name} ALIAS heddle_${name})
  target_include_directories(heddle_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
  target_link_libraries(heddle_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  heddle_warnings(heddle_${name})
endfunction()

function(heddle_warnings target)
  if(HEDDLE_DEVELOPER_MODE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
      -Wno-missing-field-initializers -Werror>  # designated initialisers leave defaults out
      # GCC 12 sees overlaps in std::string's operator+ that are not there (its bug 105651).
      $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  endif()
endfunction()
