# hprof_add_module(<unit> <source>...): one collector, encoder or sink, from one source either a loadable module
# <unit>.so in lib/hprof/plugins or, when HPROF_STATIC names it, a part of libhprof itself.
#
# Linking is done by the C compiler on purpose: what needs libstdc++ does not link.

function(hprof_link_bare target)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  if(NOT HPROF_SANITIZE AND NOT APPLE)
    if(WIN32)
      # Plain names also on 32-bit Windows, where they would have the size of their arguments added (name@12).
      target_link_options(${target} PRIVATE -Wl,--kill-at)
    else()
      target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noseparate-code -Wl,--hash-style=gnu)
    endif()
    target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--as-needed)
  endif()
endfunction()

function(hprof_add_module unit)
  if("${unit}" IN_LIST HPROF_STATIC OR "${HPROF_STATIC}" STREQUAL "all")
    add_library(${unit} OBJECT ${ARGN})
    target_compile_definitions(${unit} PRIVATE HPROF_STATIC_MODULE=1)
    set_property(GLOBAL APPEND PROPERTY HPROF_STATIC_MODULES ${unit})
  elseif(HPROF_LOADABLE)
    add_library(${unit} MODULE ${ARGN})
    set_target_properties(${unit} PROPERTIES PREFIX "" OUTPUT_NAME ${unit}
      LIBRARY_OUTPUT_DIRECTORY ${HPROF_OUT}/lib/${HPROF_PLUGIN_DIR})
    hprof_link_bare(${unit})
    install(TARGETS ${unit} LIBRARY DESTINATION lib/${HPROF_PLUGIN_DIR})
  else()
    return()
  endif()
  target_link_libraries(${unit} PRIVATE hprof_flags)
  set_property(GLOBAL APPEND PROPERTY HPROF_MODULES ${unit})
endfunction()

# hprof_link_agent(): libhprof, out of the core and the units that were chosen to be static.
function(hprof_link_agent)
  get_property(units GLOBAL PROPERTY HPROF_STATIC_MODULES)
  set(HPROF_STATIC_DECLARATIONS "")
  set(HPROF_STATIC_ENTRIES "")
  foreach(unit IN LISTS units)
    string(APPEND HPROF_STATIC_DECLARATIONS "const hprof_module* hprof_module_${unit}(const hprof_offer*, const char**);\n")
    string(APPEND HPROF_STATIC_ENTRIES "    {\"${unit}\", hprof_module_${unit}},\n")
  endforeach()
  configure_file(${PROJECT_SOURCE_DIR}/core/plugin/static_modules.cpp.in ${PROJECT_BINARY_DIR}/static_modules.cpp @ONLY)

  add_library(hprof SHARED ${PROJECT_BINARY_DIR}/static_modules.cpp)
  target_include_directories(hprof PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(hprof PRIVATE hprof_flags hprof_agent hprof_core hprof_platform ${units})
  set_target_properties(hprof PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${HPROF_OUT}/lib)
  if(WIN32)
    # -agentlib:hprof is hprof.dll there, and nobody links with it.
    set_target_properties(hprof PROPERTIES PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${HPROF_OUT}/lib ARCHIVE_OUTPUT_DIRECTORY ${HPROF_OUT})
  else()
    set_target_properties(hprof PROPERTIES PREFIX "lib")
  endif()
  hprof_link_bare(hprof)
  install(TARGETS hprof LIBRARY DESTINATION lib RUNTIME DESTINATION lib)
endfunction()
