# Windows on x86-64, with MinGW-w64 (Debian: g++-mingw-w64-x86-64-win32). The "win32" kind of it, as the "posix" kind
# needs libwinpthread. Tests are built with that one (HPROF_MINGW_THREADS=posix), since std::mutex is in no other.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(HPROF_MINGW_THREADS win32 CACHE STRING "Kind of MinGW-w64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HPROF_MINGW_THREADS)
find_program(CMAKE_C_COMPILER NAMES x86_64-w64-mingw32-gcc-${HPROF_MINGW_THREADS} x86_64-w64-mingw32-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES x86_64-w64-mingw32-g++-${HPROF_MINGW_THREADS} x86_64-w64-mingw32-g++ REQUIRED)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# The compiler's own helpers are linked in: no DLL but those of Windows.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static-libgcc)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static-libgcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(HPROF_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(HPROF_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_WINE})
endif()
