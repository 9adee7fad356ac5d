# The CMake package hprof as a unit sees it that is built with hprof itself (HPROF_EXTRA_UNITS): the same names as in
# hprofConfig.cmake.in.

if(NOT TARGET hprof::abi)
  add_library(hprof::abi INTERFACE IMPORTED GLOBAL)
  target_include_directories(hprof::abi INTERFACE ${hprof_SOURCE_DIR}/core/include)
  add_library(hprof::jvmti ALIAS hprof_jvmti)
endif()

function(hprof_add_plugin module)
  if(NOT HPROF_LOADABLE)
    list(APPEND HPROF_STATIC ${module})
  endif()
  hprof_add_module(${module} ${ARGN})
  target_link_libraries(${module} PRIVATE hprof::abi)
endfunction()

include(${hprof_SOURCE_DIR}/core/cmake/hprofJava.cmake)

# A unit is tested by its own build.
function(hprof_add_plugin_test module)
endfunction()
