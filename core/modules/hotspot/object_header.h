// The contents of eight bytes of an object's header, and sizes of arrays.
//
// With compressed class pointers, the default everywhere but with compact headers: at 8 the class' number (4
// bytes), behind it the array's length. Without: the class' address. Compact headers (25+, on request; the
// default of 27): the class' number is in the upper bits of the first word. Bytes 8 to 15 belong to every
// object when headers are not compact: none is smaller than 16 bytes then.
#pragma once

#include <hprof/draft/objects.h>

#include "core/hotspot/vm_flags.h"

namespace hprof {

// nullptr: *header is filled in but for its size; else why not, static text. Only for 64 bits. [control]
const char* read_object_header(const VmFlags& flags, hprof_object_header* header);

}  // namespace hprof
