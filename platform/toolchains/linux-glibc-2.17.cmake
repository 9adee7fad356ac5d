# Linux on x86_64 for glibc 2.17 and later (Red Hat 7, Debian 8, Ubuntu 14.04), built on a newer one: everything is linked
# with libraries that have the names and symbol versions of that release only (platform/toolchains/glibc-stubs).
set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(_stubs ${CMAKE_BINARY_DIR}/glibc-2.17)
if(NOT "$ENV{HPROF_GLIBC_STUBS}" STREQUAL "")
  set(_stubs $ENV{HPROF_GLIBC_STUBS})
else()
  # try_compile() reads this file again, in folders of its own.
  set(ENV{HPROF_GLIBC_STUBS} ${_stubs})
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/glibc-stubs --cc=gcc 2.17 ${_stubs} RESULT_VARIABLE _failed)
  if(_failed)
    message(FATAL_ERROR "glibc-stubs failed")
  endif()
endif()
set(_c "-nodefaultlibs ${_stubs}/libold_glibc.a -l:libgcc.a ${_stubs}/libc.so.6 -l:libc_nonshared.a ${_stubs}/ld-linux-x86-64.so.2")
set(CMAKE_C_STANDARD_LIBRARIES "${_c}")
# Programs name the libraries that glibc 2.34 made part of libc; a JVM has loaded them before any agent.
set(CMAKE_CXX_STANDARD_LIBRARIES "-nodefaultlibs -l:libstdc++.a ${_stubs}/libold_glibc.a -l:libgcc.a -l:libgcc_eh.a \
-Wl,--no-as-needed ${_stubs}/libpthread.so.0 ${_stubs}/libdl.so.2 ${_stubs}/librt.so.1 -Wl,--as-needed \
${_stubs}/libm.so.6 ${_stubs}/libc.so.6 ${_stubs}/libold_glibc.a -l:libc_nonshared.a ${_stubs}/ld-linux-x86-64.so.2")
