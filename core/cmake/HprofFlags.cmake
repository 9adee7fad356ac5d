# How every shipped object is compiled, and the JNI/JVMTI headers it may use.

# Programs that run without a VM (tests, bin/hprof) and use the whole standard library set HPROF_HOSTED.
set(_hprof_bare_cxx -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden)
add_library(hprof_flags INTERFACE)
target_compile_features(hprof_flags INTERFACE cxx_std_17)
target_include_directories(hprof_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include>)
target_compile_options(hprof_flags INTERFACE
  # Structs of the ABI grow at their end: units of an older source leave the new members out.
  -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wundef -Wvla -fvisibility=hidden -ffunction-sections -fdata-sections
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:HPROF_HOSTED>>>>:${_hprof_bare_cxx}>
  $<$<BOOL:${HPROF_WERROR}>:-Werror>)

target_compile_definitions(hprof_flags INTERFACE
  $<$<BOOL:${HPROF_EMBEDDED}>:HPROF_EMBEDDED=1>
  $<$<BOOL:${HPROF_CHECKS}>:HPROF_CHECKS=1>
  $<$<NOT:$<BOOL:${HPROF_LOADABLE}>>:HPROF_NO_MODULES=1>)
# Machines without atomic operations on 8 or 64 bits have them in a library of the compiler's, which is linked statically,
# like its other helpers. Those on 64 bits then take locks, and are not for signal handlers: HPROF_LOCKED_ATOMICS.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("
  unsigned char byte; int main() { return __atomic_exchange_n(&byte, 1, __ATOMIC_ACQUIRE); }" HPROF_ATOMIC_BYTES)
check_cxx_source_compiles("
  unsigned long long word; int main() { unsigned long long old = 0;
    return (int)__atomic_fetch_add(&word, 1, __ATOMIC_RELAXED) + __atomic_compare_exchange_n(&word, &old, 2, false, 5, 5); }"
  HPROF_ATOMIC_WORDS)
if(NOT HPROF_ATOMIC_BYTES OR NOT HPROF_ATOMIC_WORDS)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libatomic.a OUTPUT_VARIABLE _hprof_atomic
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${_hprof_atomic}")
    message(FATAL_ERROR "This machine needs the compiler's libatomic.a, which is not there")
  endif()
  target_link_libraries(hprof_flags INTERFACE ${_hprof_atomic})
endif()
if(NOT HPROF_ATOMIC_WORDS)
  target_compile_definitions(hprof_flags INTERFACE HPROF_LOCKED_ATOMICS=1)
endif()
if(HPROF_STATIC_AGENT AND CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  # Whoever links libhprof.a may have another compiler.
  target_compile_options(hprof_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-ffat-lto-objects>)
endif()
if(HPROF_SANITIZE)
  # Everything in one program then has to agree on the sanitizer, so this one is global.
  add_compile_options(-fsanitize=${HPROF_SANITIZE} -fno-omit-frame-pointer)
  if(HPROF_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=vptr -fno-sanitize-recover=undefined)
  endif()
  add_link_options(-fsanitize=${HPROF_SANITIZE})
  # Twice as fast as the default one, which takes a third of the time to build for the sanitizers.
  if(NOT HPROF_LIBFUZZER)
    include(CheckLinkerFlag)
    check_linker_flag(CXX -fuse-ld=gold HPROF_HAS_GOLD)
    if(HPROF_HAS_GOLD)
      add_link_options(-fuse-ld=gold)
    endif()
  endif()
endif()
option(HPROF_LIBFUZZER "Build the fuzz targets for libFuzzer (clang)" OFF)
if(HPROF_LIBFUZZER)
  # Every library tells the fuzzer which code was reached; only the fuzz targets can be linked then.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# jni.h and jvmti.h of a JDK: -DHPROF_JDK=<home>, else JAVA_HOME, else the javac on the PATH, else a usual place.
set(HPROF_JDK "" CACHE PATH "A JDK whose include/ has jni.h and jvmti.h")
set(_hprof_jdks ${HPROF_JDK} $ENV{JAVA_HOME})
find_program(HPROF_JAVAC javac)
if(HPROF_JAVAC)
  get_filename_component(_hprof_javac ${HPROF_JAVAC} REALPATH)
  get_filename_component(_hprof_jdk ${_hprof_javac}/../.. ABSOLUTE)
  list(APPEND _hprof_jdks ${_hprof_jdk})
endif()
file(GLOB _hprof_found /usr/lib/jvm/*)
list(APPEND _hprof_jdks ${_hprof_found})
find_path(HPROF_JVMTI_INCLUDE jvmti.h PATHS ${_hprof_jdks} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
if(NOT HPROF_JVMTI_INCLUDE)
  message(FATAL_ERROR "No JDK with include/jvmti.h found: install one (Debian: default-jdk-headless) or set -DHPROF_JDK=<home>")
endif()
# jni_md.h is that of the target; the JDK has the build machine's. All of Unix has the same types, Windows has its own.
if(WIN32)
  set(HPROF_JNI_MD_INCLUDE ${PROJECT_SOURCE_DIR}/platform/win32/jni)
else()
  find_path(HPROF_JNI_MD_INCLUDE jni_md.h PATHS ${HPROF_JVMTI_INCLUDE}
    PATH_SUFFIXES linux solaris darwin NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
endif()
add_library(hprof_jvmti INTERFACE)
target_include_directories(hprof_jvmti SYSTEM INTERFACE ${HPROF_JVMTI_INCLUDE} ${HPROF_JNI_MD_INCLUDE})

# hprof_small(<target> [<source>...]): sources of a target (all of them, when none is named) that are compiled for size.
#
# That is everything which runs once, or waits, or asks the VM or the system. Hot, and compiled with the build type's options:
#   core/model         model.cpp, method_map.cpp: a look-up for each frame and trace of a sample or an allocation
#   core/modules/hotspot frame_walk.cpp, weak_peeks.cpp, weak_reuse.cpp: for each object that is counted, followed, or asked for
#   core/modules/bytecode/engine each byte of each class that is rewritten: class_reader.cpp and others
#   core/base          pool.cpp, region.cpp: what the tables take their memory from
#   plugins            what a sample, a call, a contended monitor or an object of the heap passes through
#   writers            what each byte of a heap dump passes through
# core/agent/vm/event_hub.cpp is not among them: the VM's part of an event takes far longer than the dispatch.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-Oz HPROF_HAS_OZ)
function(hprof_small target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  set(smallest $<IF:$<BOOL:${HPROF_HAS_OZ}>,-Oz,-Os>)
  if(ARGN)
    set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS ${smallest})
  else()
    target_compile_options(${target} PRIVATE ${smallest})
  endif()
endfunction()

# hprof_cold_sources(<source>...): adds such sources to hprof_core.
function(hprof_cold_sources)
  target_sources(hprof_core PRIVATE ${ARGN})
  hprof_small(hprof_core ${ARGN})
endfunction()
