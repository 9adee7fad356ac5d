# What tests link of the shipped code beside libraries that there are anyway.

# The agent's own io service, for the tests of sinks that should meet the real thing.
add_library(hprof_agent_io STATIC ${PROJECT_SOURCE_DIR}/core/agent/services_io.cpp)
target_link_libraries(hprof_agent_io PRIVATE hprof_flags PUBLIC hprof_core hprof_platform)

# hprof_testable_unit(<unit> <folder>): the sources of a module as a static library <unit>_testable, for tests that link
# its code. Its entry is `extern "C" const hprof_module* hprof_module_<unit>(const hprof_offer*, const char**)`.
function(hprof_testable_unit unit folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${unit}/*.cpp)
  add_library(${unit}_testable STATIC ${sources})
  target_link_libraries(${unit}_testable PRIVATE hprof_flags)
  target_compile_definitions(${unit}_testable PRIVATE HPROF_STATIC_MODULE=1)
endfunction()

# Units that need a library have a test of their own that says so.
file(GLOB units CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/writers
  ${PROJECT_SOURCE_DIR}/writers/encoder_*/CMakeLists.txt ${PROJECT_SOURCE_DIR}/writers/sink_*/CMakeLists.txt)
foreach(file IN LISTS units)
  get_filename_component(unit ${file} DIRECTORY)
  hprof_testable_unit(${unit} writers)
endforeach()
if(TARGET encoder_flamegraph_testable)
  include(${PROJECT_SOURCE_DIR}/writers/encoder_flamegraph/page/page.cmake)
  hprof_page_text(encoder_flamegraph_testable hprof::flamegraph)
endif()
