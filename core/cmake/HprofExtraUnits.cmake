# HPROF_EXTRA_UNITS: folders of units that live elsewhere, built here by the very CMakeLists.txt that builds each alone
# against an installed hprof. They are linked into libhprof when HPROF_STATIC names them, and in a build without loadable
# modules; else they become modules beside the shipped ones.

set(HPROF_EXTRA_UNITS "" CACHE STRING "Folders of units that live elsewhere, each with its CMakeLists.txt (a list)")

# What find_package(hprof) finds there is this build.
set(_hprof_here ${PROJECT_BINARY_DIR}/package)
configure_file(${PROJECT_SOURCE_DIR}/core/cmake/hprofHere.cmake ${_hprof_here}/hprofConfig.cmake COPYONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${_hprof_here}/hprofConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
if(HPROF_EXTRA_UNITS)
  # They may write any record, and use any service.
  set_property(GLOBAL APPEND PROPERTY HPROF_PARTS HEAP_RECORDS SITE_RECORDS CALL_RECORDS LATENCY_RECORDS MONITOR_RECORDS ACCOUNTING MACHINE)
endif()
foreach(folder IN LISTS HPROF_EXTRA_UNITS)
  get_filename_component(folder ${folder} ABSOLUTE BASE_DIR ${CMAKE_BINARY_DIR})
  if(NOT EXISTS ${folder}/CMakeLists.txt)
    message(FATAL_ERROR "HPROF_EXTRA_UNITS names ${folder}, which has no CMakeLists.txt")
  endif()
  get_filename_component(name ${folder} NAME)
  set(hprof_DIR ${_hprof_here})
  add_subdirectory(${folder} ${PROJECT_BINARY_DIR}/extra/${name})
endforeach()
