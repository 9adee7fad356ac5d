# Linux on 64-bit RISC-V (Debian: g++-riscv64-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tests run in qemu-user (Debian: qemu-user-static), with the compiler's own libraries.
find_program(HPROF_QEMU NAMES qemu-riscv64-static qemu-riscv64)
if(HPROF_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_QEMU} -L /usr/riscv64-linux-gnu)
endif()
