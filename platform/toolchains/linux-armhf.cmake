# Linux on 32-bit ARM with hardware floating point (Debian: g++-arm-linux-gnueabihf).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_CXX_COMPILER arm-linux-gnueabihf-g++)
# The compiler's notes on how a release before its version 7 passed some arguments.
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tests run in qemu-user (Debian: qemu-user-static), with the compiler's own libraries.
find_program(HPROF_QEMU NAMES qemu-arm-static qemu-arm)
if(HPROF_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_QEMU} -L /usr/arm-linux-gnueabihf)
endif()
