#include "core/protocol/secret_file.h"

#include "platform/platform.h"

namespace hprof {

bool read_secret(const char* option, const char* path, Secret* secret, Error* error) {
  TextWriter why(error->text, sizeof(error->text));
  if (option != nullptr) why.put(option).put('=');
  why.put_printable(path, 200).put(": ");
  platform::File file;
  const int code = platform::file_open(path, &file);
  if (code != 0) {
    char reason[160];
    platform::error_text(code, reason, sizeof(reason));
    why.put(reason);
    return false;
  }
  const bool is_private = platform::file_is_private(file);
  size_t size = 0;
  int64_t count = 0;
  while (size < sizeof(secret->bytes) &&
         (count = platform::file_read(file, secret->bytes + size, sizeof(secret->bytes) - size)) > 0) {
    size += static_cast<size_t>(count);
  }
  platform::file_close(&file);
  secret->size = secret_of(Str(secret->bytes, size)).size;
  const char* problem = nullptr;
  if (!is_private) problem = "others can read it, or it belongs to somebody else (chmod 600)";
  if (secret->size < kSecretLeast) problem = "its first line has fewer than 16 bytes";
  if (secret->size > kSecretMost) problem = "its first line has more than 4096 bytes";
  if (problem != nullptr) why.put(problem);
  return problem == nullptr;
}

}  // namespace hprof
