# Linux on 64-bit ARM, with the GNU cross compiler (Debian: g++-aarch64-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Outline atomics are calls into libgcc; they crash where the start-up code that picks their variant is missing.
set(CMAKE_C_FLAGS_INIT -mno-outline-atomics)
set(CMAKE_CXX_FLAGS_INIT -mno-outline-atomics)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tests run in qemu-user (Debian: qemu-user-static), with the compiler's own libraries.
find_program(HPROF_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(HPROF_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_QEMU} -L /usr/aarch64-linux-gnu)
endif()
