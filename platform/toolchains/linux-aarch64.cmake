# Linux on 64-bit ARM, with the GNU cross compiler (Debian: g++-aarch64-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# Outline atomics are calls into libgcc; they crash where the start-up code that picks their variant is missing.
set(CMAKE_C_FLAGS_INIT -mno-outline-atomics)
set(CMAKE_CXX_FLAGS_INIT -mno-outline-atomics)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
