# lib/, lib/hprof/plugins, include/hprof, bin/, lib/cmake/hprof, share/hprof: what a vendor builds a plugin against. Pages, and packages.

include(CMakePackageConfigHelpers)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/hprof DESTINATION include
  COMPONENT development PATTERN .clang-format EXCLUDE)
# Headers and sources suit any machine. A release and its ABI have the same major version.
set(HPROF_INSTALL_MOCK share/hprof/mock)
configure_package_config_file(${PROJECT_SOURCE_DIR}/core/cmake/hprofConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hprofConfig.cmake INSTALL_DESTINATION lib/cmake/hprof)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hprofConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/hprofConfig.cmake ${PROJECT_BINARY_DIR}/hprofConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/core/cmake/hprofJava.cmake DESTINATION lib/cmake/hprof COMPONENT development)
configure_file(${PROJECT_SOURCE_DIR}/core/cmake/hprof.pc.in ${PROJECT_BINARY_DIR}/hprof.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hprof.pc DESTINATION lib/pkgconfig COMPONENT development)

# The mock host, as sources: hprofConfig.cmake builds it.
file(GLOB _hprof_mock_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/mock/*.h)
file(GLOB _hprof_mock_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/mock/*.cpp)
install(FILES ${_hprof_mock_headers} DESTINATION include/hprof/mock COMPONENT development)
install(FILES ${_hprof_mock_sources} DESTINATION ${HPROF_INSTALL_MOCK} COMPONENT development)

# Toolchain files for vendors who build for another machine; the one for an old glibc needs this tree.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/platform/toolchains/ DESTINATION share/hprof/toolchains COMPONENT development
  FILES_MATCHING PATTERN "*.cmake" PATTERN "linux-glibc-*" EXCLUDE)

install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN Doxyfile EXCLUDE)
# The reference of the headers, where somebody has made it: cmake --build build --target api_docs
add_custom_target(api_docs COMMAND ${PROJECT_SOURCE_DIR}/tools/manual/api-docs ${PROJECT_BINARY_DIR}/api VERBATIM)
install(DIRECTORY ${PROJECT_BINARY_DIR}/api/html/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/api OPTIONAL COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)

# cpack -G DEB: hprof and hprof-dev. scripts/release sets HPROF_DEB_ARCHITECTURE and HPROF_DEB_LIBC, and puts the libraries
# into /usr/lib/<triplet>/hprof by HPROF_INSTALL_LIB.
set(HPROF_DEB_ARCHITECTURE "" CACHE STRING "Debian's name of the machine that packages are for")
set(HPROF_DEB_LIBC "" CACHE STRING "The oldest C library that the packages run with, as 2.36")
if(HPROF_DEB_ARCHITECTURE)
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGE_NAME hprof)
  set(CPACK_PACKAGE_VENDOR hprof)
  set(CPACK_PACKAGE_CONTACT "the developers of hprof <hprof@localhost>")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_ALL Unspecified development)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${HPROF_DEB_ARCHITECTURE})
  set(CPACK_DEBIAN_PACKAGE_SECTION java)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME hprof)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "libc6 (>= ${HPROF_DEB_LIBC})")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler for Java programs")
  set(CPACK_DEBIAN_UNSPECIFIED_DESCRIPTION "HPROF as a JVMTI agent for JDK 8 to 27: CPU time, calls, allocations, heap
 dumps and contended locks, as text, binary dumps or flame graphs.")
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME hprof-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "hprof (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "The plugin interface of hprof, its CMake package and an example.")
  include(CPack)
endif()
