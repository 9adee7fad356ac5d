// Only Utf8 constants change.
#include "core/modules/bytecode/engine/class_rename.h"

#include <algorithm>

#include "core/modules/bytecode/engine/class_reader.h"

namespace hprof {

namespace {

void put_renamed(Span text, const Renaming* renamings, uint32_t count, GrowBuffer& out) {
  out.put_u1(kTagUtf8);
  size_t size_at = out.size();
  out.put_u2(0);
  uint32_t at = 0;
  while (at < text.size) {
    Renaming here = {{text.data + at, 1}, {text.data + at, 1}};
    for (uint32_t i = 0; i < count; i++) {
      const Span from = renamings[i].from;
      if (from.size != 0 && from.equals({text.data + at, std::min(from.size, text.size - at)}))
        here = renamings[i];
    }
    out.put(here.to.data, here.to.size);
    at += here.from.size;
  }
  out.set_u2(size_at, static_cast<uint32_t>(out.size() - size_at - 2));
}

}  // namespace

Reason rename_class(Span file, const Renaming* renamings, uint32_t count, Scratch& scratch, GrowBuffer& out) {
  ClassView view;
  Reason reason = parse_class(file, scratch, &view);
  if (reason != Reason::kRewritten) return reason;
  out.clear();
  out.put(file.data, view.pool_begin);
  for (uint32_t i = 1; i < view.pool.count; i++) {
    uint32_t begin = view.pool.offsets[i];
    if (begin == 0) continue;
    uint32_t next = i + 1;
    while (next < view.pool.count && view.pool.offsets[next] == 0) next++;
    uint32_t end = next < view.pool.count ? view.pool.offsets[next] : view.pool_end;
    Span text;
    if (view.pool.utf8(i, &text)) {
      size_t before = out.size();
      put_renamed(text, renamings, count, out);
      if (out.size() - before > 3 + 65535) return Reason::kMalformedClass;
    } else {
      out.put(file.data + begin, end - begin);
    }
  }
  out.put(file.data + view.pool_end, file.size - view.pool_end);
  return out.failed() ? Reason::kNoMemory : Reason::kRewritten;
}

}  // namespace hprof
