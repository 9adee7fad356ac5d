// Files. Paths are in the code page of the process, as the VM passes them to an agent.
#include "platform/file.h"

#include <initializer_list>
#include <string.h>

#include "platform/common/text.h"
#include "platform/error.h"
#include "platform/win32/security.h"
// aclapi.h requires windows.h before it.
#include <aclapi.h>

namespace hprof::platform {
namespace {

constexpr DWORD kLargestWrite = 1u << 30;

HANDLE handle_of(File file) { return reinterpret_cast<HANDLE>(file.handle); }

File file_of(HANDLE handle, FileKind kind) { return File{reinterpret_cast<intptr_t>(handle), kind}; }

DWORD part_of(size_t size) { return size < kLargestWrite ? static_cast<DWORD>(size) : kLargestWrite; }

int creation_error() {
  const int error = last_error();
  return error == ERROR_FILE_EXISTS || error == ERROR_ALREADY_EXISTS ? kErrorExists : error;
}

// Checks that the open file may be used for output.
int check_usable(HANDLE handle, Existing existing, FileKind* kind) {
  const DWORD type = GetFileType(handle);
  *kind = type == FILE_TYPE_DISK ? FileKind::kRegular : FileKind::kStream;
  if (type == FILE_TYPE_CHAR) return 0;  // the console, NUL
  if (type != FILE_TYPE_DISK) return kErrorNotUsable;
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(handle, &info)) return last_error();
  if (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) return kErrorSymbolicLink;
  if (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) return kErrorNotUsable;
  if (existing == Existing::kRefuse) return kErrorExists;
  if (!is_owned_by_us(handle)) return kErrorNotOwned;
  return info.nNumberOfLinks == 1 ? 0 : kErrorManyLinks;
}

// Restricts access first, then truncates.
int make_private_and_empty(HANDLE handle) {
  PrivateAccess access;
  if (!access.list()) return kErrorUnsupported;
  const DWORD error =
      SetSecurityInfo(handle, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
                      nullptr, nullptr, access.list(), nullptr);
  if (error != ERROR_SUCCESS) return static_cast<int>(error);
  return SetEndOfFile(handle) ? 0 : last_error();
}

int open_existing(const char* path, Existing existing, File* file) {
  const DWORD attributes = GetFileAttributesA(path);
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT))
    return kErrorSymbolicLink;
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY))
    return kErrorNotUsable;
  if (attributes != INVALID_FILE_ATTRIBUTES && existing == Existing::kRefuse) return kErrorExists;
  // OPEN_REPARSE_POINT: opens a link itself, which is then refused. SQOS: a pipe server cannot impersonate
  // this user.
  HANDLE handle =
      CreateFileA(path, GENERIC_WRITE | READ_CONTROL | WRITE_DAC, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                  FILE_FLAG_OPEN_REPARSE_POINT | SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    // A file that is being written is shared with readers only.
    const int error = last_error();
    return error == ERROR_SHARING_VIOLATION ? kErrorInUse : error;
  }
  FileKind kind;
  int error = check_usable(handle, existing, &kind);
  if (!error && kind == FileKind::kRegular) error = make_private_and_empty(handle);
  if (error) {
    CloseHandle(handle);
    return error;
  }
  *file = file_of(handle, kind);
  return 0;
}

// NUL, CON, CONOUT$: names that are devices in every folder.
bool is_device_name(const char* path) {
  for (const char* name : {"NUL", "CON", "CONOUT$"}) {
    if (_stricmp(path, name) == 0) return true;
  }
  return false;
}

int open_device(const char* path, File* file) {
  HANDLE handle = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                              0, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return last_error();
  *file = file_of(handle, FileKind::kStream);
  return 0;
}

}  // namespace

int file_create(const char* path, Existing existing, File* file, int64_t) {
  *file = File{};
  if (is_device_name(path)) return open_device(path, file);
  PrivateAccess access;
  if (!access.attributes()) return kErrorUnsupported;
  HANDLE handle = CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ, access.attributes(), CREATE_NEW,
                              FILE_ATTRIBUTE_NORMAL | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  if (handle != INVALID_HANDLE_VALUE) {
    *file = file_of(handle, FileKind::kRegular);
    return 0;
  }
  const int error = creation_error();
  // A directory of that name gives "access denied".
  if (error != kErrorExists && error != ERROR_ACCESS_DENIED) return error;
  return path_exists(path) ? open_existing(path, existing, file) : error;
}

int file_open(const char* path, File* file) {
  *file = File{};
  HANDLE handle = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                              nullptr, OPEN_EXISTING, SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    const DWORD attributes = GetFileAttributesA(path);
    const bool directory = attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
    return directory ? kErrorNotUsable : static_cast<int>(GetLastError());
  }
  if (GetFileType(handle) != FILE_TYPE_DISK) {
    CloseHandle(handle);
    return kErrorNotUsable;
  }
  *file = file_of(handle, FileKind::kRegular);
  return 0;
}

int64_t file_read(File file, void* data, size_t size) {
  DWORD count = 0;
  return ReadFile(handle_of(file), data, part_of(size), &count, nullptr) ? count : -int64_t{last_error()};
}

int64_t file_write(File file, const void* data, size_t size, int64_t) {
  DWORD count = 0;
  if (!WriteFile(handle_of(file), data, part_of(size), &count, nullptr)) return -int64_t{last_error()};
  return count == 0 && size ? -int64_t{ERROR_WRITE_FAULT} : int64_t{count};
}

int64_t file_write_at(File file, const void* data, size_t size, int64_t offset) {
  if (file.kind != FileKind::kRegular) return -int64_t{ERROR_INVALID_FUNCTION};
  // WriteFile at an offset moves the file position, which is restored; only one thread writes a file.
  LARGE_INTEGER position;
  if (!SetFilePointerEx(handle_of(file), LARGE_INTEGER{}, &position, FILE_CURRENT))
    return -int64_t{last_error()};
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  DWORD count = 0;
  const int64_t result =
      WriteFile(handle_of(file), data, part_of(size), &count, &at) ? int64_t{count} : -int64_t{last_error()};
  SetFilePointerEx(handle_of(file), position, nullptr, FILE_BEGIN);
  return result == 0 && size ? -int64_t{ERROR_WRITE_FAULT} : result;
}

int file_close(File* file) {
  if (!file->is_open()) return 0;
  HANDLE handle = handle_of(*file);
  *file = File{};
  return CloseHandle(handle) ? 0 : last_error();
}

// The folder's inherited rights decide who may read it; users' own folders exclude other users.
bool file_is_private(File file) { return is_owned_by_us(handle_of(file)); }

bool file_is_terminal(File file) {
  DWORD mode;
  return GetConsoleMode(handle_of(file), &mode);
}

File standard_output() { return file_of(GetStdHandle(STD_OUTPUT_HANDLE), FileKind::kStream); }
bool path_exists(const char* path) { return GetFileAttributesA(path) != INVALID_FILE_ATTRIBUTES; }
int file_remove(const char* path) { return DeleteFileA(path) ? 0 : last_error(); }

int file_rename(const char* from, const char* to) {
  return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : last_error();
}

int file_share(File, uint32_t) { return 0; }

// "C:\x", "\x", "\\host\x"
bool is_absolute_path(const char* path) {
  return path[0] == '\\' || path[0] == '/' || (path[0] != 0 && path[1] == ':');
}

size_t absolute_path(const char* path, char* text, size_t size) {
  const DWORD length = GetFullPathNameA(path, static_cast<DWORD>(size), text, nullptr);
  return length < size ? length : 0;
}

int list_directory(const char* path, NameVisitor visit, void* context) {
  char pattern[MAX_PATH];
  const size_t length = strlen(path);
  if (length + 3 > sizeof pattern) return ERROR_BUFFER_OVERFLOW;
  memcpy(pattern, path, length);
  memcpy(pattern + length, "\\*", 3);
  WIN32_FIND_DATAA found;
  HANDLE listing = FindFirstFileA(pattern, &found);
  if (listing == INVALID_HANDLE_VALUE) return last_error();
  do {
    if (strcmp(found.cFileName, ".") == 0 || strcmp(found.cFileName, "..") == 0) continue;
    if (!visit(context, found.cFileName)) break;
  } while (FindNextFileA(listing, &found));
  FindClose(listing);
  return 0;
}

bool is_trusted_code(const char* path, const char*, char* real, size_t size) {
  char folder[MAX_PATH];
  size_t length = strlen(path);
  while (length > 0 && path[length - 1] != '\\' && path[length - 1] != '/') length--;
  if (length >= sizeof folder) return false;
  memcpy(folder, path, length);
  folder[length] = '\0';
  HANDLE handle = CreateFileA(path, READ_CONTROL | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE,
                              nullptr, OPEN_EXISTING, 0, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool safe = is_safe_from_others(handle);
  CloseHandle(handle);
  return safe && is_secure_directory(length == 0 ? "." : folder) &&
         copy_text(path, real, size) == strlen(path);
}

bool is_secure_directory(const char* path) {
  HANDLE handle = CreateFileA(path, READ_CONTROL | FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE,
                              nullptr, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return false;
  BY_HANDLE_FILE_INFORMATION info;
  const bool safe = GetFileInformationByHandle(handle, &info) &&
                    (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) && is_safe_from_others(handle);
  CloseHandle(handle);
  return safe;
}

}  // namespace hprof::platform
