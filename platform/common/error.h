// Texts of the error codes of error.h.
#pragma once

namespace hprof::platform {

// nullptr for codes of the OS and of its resolver.
const char* own_error_text(int code);

}  // namespace hprof::platform
