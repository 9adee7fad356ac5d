// Small texts of /proc.
#pragma once

#include <cstddef>

namespace hprof::platform {

// Reads the file into `text`, cut to `size` and terminated; returns its length, 0 if it cannot be read.
size_t read_proc_text(const char* path, char* text, size_t size);

}  // namespace hprof::platform
