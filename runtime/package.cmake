# What find_package(heddle) finds. Install components: runtime; static for heddle::runtime_static.
include(CMakePackageConfigHelpers)
set(cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heddle")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake"
                                 COMPATIBILITY SameMajorVersion)

install(TARGETS heddle EXPORT heddleTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(DIRECTORY include/heddle DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
install(EXPORT heddleTargets NAMESPACE heddle:: DESTINATION "${cmake_dir}" COMPONENT runtime)
install(FILES
  heddleConfig.cmake
  "${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake"
  DESTINATION "${cmake_dir}" COMPONENT runtime)

install(TARGETS heddle_static EXPORT heddleStaticTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT static)
install(EXPORT heddleStaticTargets NAMESPACE heddle:: DESTINATION "${cmake_dir}" COMPONENT static)
