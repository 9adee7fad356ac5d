// Layout of eight bytes of an object's header, and sizes of arrays.
//
// Compressed class pointers: the class' number at 8 (4 bytes), then the array's length. Without: the class'
// address at 8. Compact headers (25 on request, the default of 27): the class' number in the upper bits of
// the first word. Without compact headers every object has bytes 8 to 15.
#pragma once

#include <hprof/draft/objects.h>

#include "core/vm_tables/vm_flags.h"

namespace hprof {

// Fills in *header except for its size. nullptr: done; else why not, static text. 64 bits only. [control]
const char* read_object_header(const VmFlags& flags, hprof_object_header* header);

}  // namespace hprof
