# find_package(heddle) -> heddle::runtime, which needs nothing beyond the shared library.
# find_package(heddle COMPONENTS static) -> heddle::runtime_static too, and what that links.
include("${CMAKE_CURRENT_LIST_DIR}/heddleTargets.cmake")
if("static" IN_LIST heddle_FIND_COMPONENTS)
  if(NOT EXISTS "${CMAKE_CURRENT_LIST_DIR}/heddleStaticTargets.cmake")
    set(heddle_FOUND FALSE)
    set(heddle_NOT_FOUND_MESSAGE "heddle was installed without its component static")
    return()
  endif()
  include(CMakeFindDependencyMacro)
  find_dependency(SQLiteCpp)
  find_dependency(yaml-cpp)
  include("${CMAKE_CURRENT_LIST_DIR}/heddleStaticTargets.cmake")
endif()
