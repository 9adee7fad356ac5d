// The class file of hprof.Context.
#pragma once

#include <cstdint>

namespace hprof::context {

extern const uint8_t kClass[];
extern const uint32_t kClassBytes;

}  // namespace hprof::context
