// Line tables of methods: where each source line begins in the bytecode.
#pragma once

#include <cstdint>

#include "core/base/bump.h"
#include "core/model/ids.h"

namespace hprof {

// One row of a method's line table; both fit the class file's 16 bits.
struct LineStart {
  uint16_t bci;  // the line's first instruction
  uint16_t line;
};

// An immutable table; its rows follow it, sorted by bci.
struct LineTable {
  uint32_t count;
  const LineStart* rows() const { return reinterpret_cast<const LineStart*>(this + 1); }
};

// Copies rows, in any order, to a table in `storage`. nullptr: full. [onload][control][app]
const LineTable* make_line_table(Bump& storage, const LineStart* rows, uint32_t count);
// Frees a table that no other thread has seen.
void drop_line_table(Bump& storage, const LineTable* table);

bool same_rows(const LineTable& table, const LineStart* rows, uint32_t count);  // compares row by row

// The line of a bytecode index, or HPROF_LINE_UNKNOWN before the first row. [any]
inline int32_t line_of(const LineTable& table, uint32_t bci) {
  const LineStart* rows = table.rows();
  uint32_t low = 0;
  uint32_t high = table.count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (rows[middle].bci <= bci) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low ? rows[low - 1].line : HPROF_LINE_UNKNOWN;
}

}  // namespace hprof
