// Reads a secret, the first line of a file: it must be long enough, and nobody else may be able to read the
// file.
#pragma once

#include "core/base/message.h"
#include "core/protocol/challenge.h"

namespace hprof {

struct Secret {
  Str text() const { return Str(bytes, size); }
  char bytes[kSecretMost + 2] = {};
  size_t size = 0;
};

// False: *error says why, beginning with `option`, the name of the option that named the file; nullptr: with
// the file. [onload] [control]
bool read_secret(const char* option, const char* path, Secret* secret, Error* error);

}  // namespace hprof
