# hprof_version: a target that keeps ${HPROF_VERSION_SOURCE} true, the source that says version and commit.
#
# The commit is looked up at each build, since a tree is configured once and built many times. A release's sources are no
# checkout: there the file COMMIT beside CMakeLists.txt names it. Run as a script this writes the file when it differs.

if(CMAKE_SCRIPT_MODE_FILE)
  set(commit "")
  if(EXISTS ${SOURCE}/COMMIT)
    file(STRINGS ${SOURCE}/COMMIT commit LIMIT_COUNT 1)
  elseif(EXISTS ${SOURCE}/.git)
    execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(HPROF_COMMIT "")
  if(commit)
    set(HPROF_COMMIT " (commit ${commit})")
  endif()
  # Leaves the file alone when nothing has changed.
  configure_file(${SOURCE}/core/base/version.cpp.in ${OUTPUT} @ONLY)
  return()
endif()

file(STRINGS ${PROJECT_SOURCE_DIR}/core/include/hprof/abi.h _hprof_abi REGEX "^#define HPROF_ABI_(MAJOR|MINOR) ")
string(REGEX REPLACE "[^0-9]*([0-9]+);[^0-9]*([0-9]+)" "\\1.\\2" HPROF_ABI_VERSION "${_hprof_abi}")

set(HPROF_VERSION_SOURCE ${PROJECT_BINARY_DIR}/version.cpp)
add_custom_target(hprof_version BYPRODUCTS ${HPROF_VERSION_SOURCE}
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${HPROF_VERSION_SOURCE}
    -DHPROF_VERSION=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Version and commit")
# hprof_use_version(<target>): links kVersionText of core/base/version.h into it.
function(hprof_use_version target)
  set_source_files_properties(${HPROF_VERSION_SOURCE} PROPERTIES GENERATED ON)
  target_sources(${target} PRIVATE ${HPROF_VERSION_SOURCE})
  add_dependencies(${target} hprof_version)
endfunction()
