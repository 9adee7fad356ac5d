// SPDX-License-Identifier: Apache-2.0
// Basic types of heap dumps.
#pragma once

#include <cstdint>

#include <hprof/record.h>

namespace hprof {

// Bytes of a value (HPROF_TYPE_*) in a dump with ids of `id_size` bytes; 0: no such type.
constexpr uint32_t width_of(uint32_t type, uint32_t id_size) {
  switch (type) {
    case HPROF_TYPE_OBJECT:
      return id_size;
    case HPROF_TYPE_BOOLEAN:
    case HPROF_TYPE_BYTE:
      return 1;
    case HPROF_TYPE_CHAR:
    case HPROF_TYPE_SHORT:
      return 2;
    case HPROF_TYPE_FLOAT:
    case HPROF_TYPE_INT:
      return 4;
    case HPROF_TYPE_DOUBLE:
    case HPROF_TYPE_LONG:
      return 8;
    default:
      return 0;
  }
}

// HPROF_TYPE_* of a signature's first character ('I', 'L', '['); 0: none.
constexpr uint32_t type_of(char signature) {
  switch (signature) {
    case 'L':
    case '[':
      return HPROF_TYPE_OBJECT;
    case 'Z':
      return HPROF_TYPE_BOOLEAN;
    case 'C':
      return HPROF_TYPE_CHAR;
    case 'F':
      return HPROF_TYPE_FLOAT;
    case 'D':
      return HPROF_TYPE_DOUBLE;
    case 'B':
      return HPROF_TYPE_BYTE;
    case 'S':
      return HPROF_TYPE_SHORT;
    case 'I':
      return HPROF_TYPE_INT;
    case 'J':
      return HPROF_TYPE_LONG;
    default:
      return 0;
  }
}

}  // namespace hprof
