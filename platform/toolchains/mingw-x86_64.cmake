# Windows on x86-64, with MinGW-w64 of the "posix" kind (Debian: g++-mingw-w64-x86-64-posix), since the tool uses std::thread. What the
# agent takes of it is linked in.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(CMAKE_C_COMPILER NAMES x86_64-w64-mingw32-gcc-posix x86_64-w64-mingw32-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES x86_64-w64-mingw32-g++-posix x86_64-w64-mingw32-g++ REQUIRED)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
# The compiler's own helpers are linked in: no DLL but those of Windows.
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
find_program(HPROF_WINE NAMES wine64 wine PATHS /usr/lib/wine)
if(HPROF_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HPROF_WINE})
endif()
