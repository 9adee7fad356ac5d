// Large memory of the front end: lazy, held by files, and measured.
#include "platform/platform.h"
#include "platform/win32/wait.h"
#include "tools/os/os.h"
#include "tools/os/win32/handle.h"

namespace hprof::os {

namespace {

std::string text_of(int code) {
  char text[256];
  platform::error_text(code, text, sizeof text);
  return text;
}

// Deleted when the process ends: its handle stays open, since a mapped file cannot be deleted before.
HANDLE nameless_file(const std::string& folder, std::string* error) {
  char standard[MAX_PATH] = "", path[MAX_PATH] = "";
  if (folder.empty()) GetTempPathA(sizeof standard, standard);
  const std::string where = folder.empty() ? standard : folder;
  if (GetTempFileNameA(where.c_str(), "hpr", 0, path) != 0) {
    HANDLE file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
    if (file != INVALID_HANDLE_VALUE) return file;
  }
  *error = where + ": " + text_of(platform::last_error());
  return INVALID_HANDLE_VALUE;
}

bool is_of_file(const void* region) {
  MEMORY_BASIC_INFORMATION info;
  return VirtualQuery(region, &info, sizeof info) != 0 && info.Type == MEM_MAPPED;
}

}  // namespace

int create_temporary(const std::string& folder, std::string* error) {
  const HANDLE file = nameless_file(folder, error);
  return file == INVALID_HANDLE_VALUE ? -1 : static_cast<int>(reinterpret_cast<intptr_t>(file));
}

void* map_memory(size_t size) {
  return VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void* map_temporary(size_t size, const std::string& folder, std::string* error) {
  HANDLE file = nameless_file(folder, error);
  if (file == INVALID_HANDLE_VALUE) return nullptr;
  const uint64_t bytes = size;
  // Extends the file to the size of the mapping; fails if the disk is full.
  HANDLE mapping = CreateFileMappingA(file, nullptr, PAGE_READWRITE, static_cast<DWORD>(bytes >> 32),
                                      static_cast<DWORD>(bytes), nullptr);
  void* region = mapping == nullptr ? nullptr : MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, size);
  if (region == nullptr) {
    *error = "no room for a temporary file of " + std::to_string(size) +
             " bytes: " + text_of(platform::last_error());
    CloseHandle(file);
  }
  if (mapping != nullptr) CloseHandle(mapping);
  return region;
}

const void* map_file(int file, size_t size, std::string* error) {
  HANDLE mapping = CreateFileMappingA(handle_of(file), nullptr, PAGE_READONLY, 0, 0, nullptr);
  const void* region = mapping == nullptr ? nullptr : MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size);
  if (region == nullptr) *error = text_of(platform::last_error());
  if (mapping != nullptr) CloseHandle(mapping);
  return region;
}

void unmap(const void* region, size_t) {
  if (region == nullptr) return;
  if (is_of_file(region)) {
    UnmapViewOfFile(region);
  } else {
    VirtualFree(const_cast<void*>(region), 0, MEM_RELEASE);
  }
}

void drop_pages(void* region, size_t size) {
  const uintptr_t mask = platform::page_size() - 1;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(region) + mask) & ~mask;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(region) + size) & ~mask;
  if (first >= end) return;
  void* start = reinterpret_cast<void*>(first);
  if (is_of_file(region)) {
    VirtualUnlock(start, end - first);  // removes unlocked pages from the working set
  } else if (VirtualFree(start, end - first, MEM_DECOMMIT)) {
    VirtualAlloc(start, end - first, MEM_COMMIT, PAGE_READWRITE);
  }
}

void bound_memory(uint64_t) {}

uint64_t resident_bytes() { return platform::resident_bytes(); }

uint64_t physical_memory() {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : 0;
}

uint64_t file_changed(int file) {
  FILETIME changed;
  if (!GetFileTime(handle_of(file), nullptr, nullptr, &changed)) return 0;
  constexpr uint64_t k1970 = 116444736000000000;  // in units of 100 ns since 1601
  const uint64_t time = uint64_t{changed.dwHighDateTime} << 32 | changed.dwLowDateTime;
  return time > k1970 ? (time - k1970) * 100 : 0;
}

bool remove_file(const std::string& path) { return platform::file_remove(path.c_str()) == 0; }

}  // namespace hprof::os
