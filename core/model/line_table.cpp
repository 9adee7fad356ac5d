#include "core/model/line_table.h"

#include <cstring>

namespace hprof {
namespace {

bool before(LineStart a, LineStart b) { return a.bci != b.bci ? a.bci < b.bci : a.line < b.line; }

void sift_down(LineStart* rows, uint32_t from, uint32_t count) {
  for (uint32_t child = 2 * from + 1; child < count; child = 2 * from + 1) {
    if (child + 1 < count && before(rows[child], rows[child + 1])) ++child;
    if (!before(rows[from], rows[child])) return;
    const LineStart row = rows[from];
    rows[from] = rows[child];
    rows[child] = row;
    from = child;
  }
}

// A heap sort: in place, and as fast for hostile tables. Most tables are sorted already.
void sort_rows(LineStart* rows, uint32_t count) {
  uint32_t sorted = 1;
  while (sorted < count && !before(rows[sorted], rows[sorted - 1])) ++sorted;
  if (sorted >= count) return;
  for (uint32_t i = count / 2; i > 0; --i) sift_down(rows, i - 1, count);
  for (uint32_t end = count - 1; end > 0; --end) {
    const LineStart row = rows[0];
    rows[0] = rows[end];
    rows[end] = row;
    sift_down(rows, 0, end);
  }
}

uint64_t table_bytes(uint32_t count) { return sizeof(LineTable) + uint64_t{count} * sizeof(LineStart); }

}  // namespace

const LineTable* make_line_table(Bump& storage, const LineStart* rows, uint32_t count) {
  LineTable* table = static_cast<LineTable*>(storage.allocate(table_bytes(count), alignof(LineTable)));
  if (!table) return nullptr;
  table->count = count;
  LineStart* own = reinterpret_cast<LineStart*>(table + 1);
  if (count) memcpy(own, rows, uint64_t{count} * sizeof(LineStart));
  sort_rows(own, count);
  return table;
}

void drop_line_table(Bump& storage, const LineTable* table) {
  storage.give_back(const_cast<LineTable*>(table), table_bytes(table->count));
}

bool same_rows(const LineTable& table, const LineStart* rows, uint32_t count) {
  return table.count == count &&
         (count == 0 || memcmp(table.rows(), rows, uint64_t{count} * sizeof(LineStart)) == 0);
}

}  // namespace hprof
