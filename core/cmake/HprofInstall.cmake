# lib/, lib/hprof/plugins, include/hprof, bin/, lib/cmake/hprof: what a vendor builds a plugin against.

include(CMakePackageConfigHelpers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/hprof DESTINATION include
  COMPONENT development PATTERN .clang-format EXCLUDE)
configure_package_config_file(${PROJECT_SOURCE_DIR}/core/cmake/hprofConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hprofConfig.cmake INSTALL_DESTINATION lib/cmake/hprof)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hprofConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hprofConfig.cmake ${PROJECT_BINARY_DIR}/hprofConfigVersion.cmake
  DESTINATION lib/cmake/hprof COMPONENT development)
