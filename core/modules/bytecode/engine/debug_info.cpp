#include "core/modules/bytecode/engine/debug_info.h"

namespace hprof {

Span source_file(const ClassView& view) {
  Cursor in{view.file.data, view.methods_end, view.file.size};
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    Span name;
    bool known = view.pool.utf8(in.u2(), &name);
    uint32_t size = in.u4();
    Span text;
    if (known && size == 2 && name.equals("SourceFile") && view.pool.utf8(in.u2(), &text)) return text;
    if (!(known && size == 2 && name.equals("SourceFile"))) in.skip(size);
  }
  return {};
}

uint32_t first_line(const ClassView& view, const MethodView& method) {
  CodeView code;
  if (method.code_begin == 0 || !parse_code(view, method, &code)) return 0;
  uint32_t line = 0, lowest = UINT32_MAX;
  Cursor in{view.file.data, code.attributes, code.end};
  for (uint32_t i = 0; i < code.attribute_count && in.ok; i++) {
    bool lines = view.pool.word(in.u2()) == Word::kLineNumberTable;
    uint32_t size = in.u4();
    Cursor rows{view.file.data, in.at, in.at};
    if (lines && in.need(size)) rows.end = in.at + size;
    for (uint32_t count = rows.u2(); count != 0 && rows.ok && lowest != 0; count--) {
      uint32_t pc = rows.u2(), row_line = rows.u2();
      if (!rows.ok || pc >= lowest) continue;
      lowest = pc;
      line = row_line;
    }
    in.skip(size);
  }
  return line;
}

}  // namespace hprof
