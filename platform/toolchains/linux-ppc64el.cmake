# Linux on POWER, little-endian (Debian: g++-powerpc64le-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ppc64le)
set(CMAKE_C_COMPILER powerpc64le-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER powerpc64le-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tests run in qemu-user (Debian: qemu-user-static), with the compiler's own libraries.
find_program(HPROF_QEMU NAMES qemu-ppc64le-static qemu-ppc64le)
if(HPROF_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_QEMU} -L /usr/powerpc64le-linux-gnu)
endif()
