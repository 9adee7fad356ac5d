# Linux with musl as the C library, through its compiler wrapper (Debian: musl-tools). There is no musl-g++: C++ is
# compiled by musl-gcc as well, which does for code that links nothing of libstdc++ but wants its headers, so those of
# the compiler are added before musl's (they go on to those), and a macro of glibc that they ask for. Tests and bin/hprof
# need a C++ library and cannot be built with this.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER musl-gcc)
execute_process(COMMAND c++ -dumpversion OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND c++ -dumpmachine OUTPUT_VARIABLE machine OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_CXX_FLAGS_INIT "'-D__GLIBC_PREREQ(major,minor)=0' -I/usr/include/c++/${version} -I/usr/include/${machine}/c++/${version}")
set(HPROF_TESTS OFF CACHE BOOL "" FORCE)
set(HPROF_TOOL OFF CACHE BOOL "" FORCE)
