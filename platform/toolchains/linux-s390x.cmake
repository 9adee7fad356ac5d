# Linux on IBM Z, the big-endian machine of the tests (Debian: g++-s390x-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tests run in qemu-user (Debian: qemu-user-static), with the compiler's own libraries.
find_program(HPROF_QEMU NAMES qemu-s390x-static qemu-s390x)
if(HPROF_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_QEMU} -L /usr/s390x-linux-gnu)
endif()
