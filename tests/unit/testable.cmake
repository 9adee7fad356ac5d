# What tests link of the shipped code beside libraries that there are anyway.

# The agent's own io service, for the tests of sinks that should meet the real thing.
add_library(hprof_agent_io STATIC ${PROJECT_SOURCE_DIR}/core/agent/services/services_io.cpp)
target_link_libraries(hprof_agent_io PRIVATE hprof_flags hprof_jvmti PUBLIC hprof_core hprof_platform)

# hprof_testable_unit(<unit> <folder>): a module as a static library <unit>_testable, for tests that link its code: the objects
# of the module itself where there is one. Only <unit>.cpp is compiled again, for another name of the entry:
# `extern "C" const hprof_module* hprof_module_<unit>(const hprof_offer*, const char**)`.
function(hprof_testable_unit unit folder)
  hprof_has_objects(${unit} shared)
  if(shared)
    set(sources ${PROJECT_SOURCE_DIR}/${folder}/${unit}/${unit}.cpp
      "$<FILTER:$<TARGET_OBJECTS:${unit}>,EXCLUDE,/${unit}\\.cpp\\.>")
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${unit}/*.cpp)
  endif()
  add_library(${unit}_testable STATIC ${sources})
  target_link_libraries(${unit}_testable PRIVATE hprof_flags)
  target_compile_definitions(${unit}_testable PRIVATE HPROF_STATIC_MODULE=1)
endfunction()

function(hprof_has_objects unit result)
  set(type "")
  if(TARGET ${unit})
    get_target_property(type ${unit} TYPE)
  endif()
  if(type STREQUAL "MODULE_LIBRARY")
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# Units that need a library have a test of their own that says so.
file(GLOB units CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/writers
  ${PROJECT_SOURCE_DIR}/writers/encoder_*/CMakeLists.txt ${PROJECT_SOURCE_DIR}/writers/sink_*/CMakeLists.txt)
foreach(file IN LISTS units)
  get_filename_component(unit ${file} DIRECTORY)
  hprof_testable_unit(${unit} writers)
endforeach()
hprof_has_objects(encoder_flamegraph shared)
if(TARGET encoder_flamegraph_testable AND NOT shared)
  include(${PROJECT_SOURCE_DIR}/writers/encoder_flamegraph/page/page.cmake)
  hprof_page_text(encoder_flamegraph_testable hprof::flamegraph)
endif()
