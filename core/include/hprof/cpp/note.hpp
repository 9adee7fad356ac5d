// SPDX-License-Identifier: Apache-2.0
// Notes: lines of a report for its reader.
#pragma once

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/record.h>

namespace hprof {

constexpr uint64_t kNoteSize = 512;
using Note = TextLine<kNoteSize>;

// Emits a note; encoders without notes skip it. Only inside report(). [control]
[[gnu::noinline]] inline hprof_status write_note(const Services& services, const TextBuffer& text) {
  hprof_rec_note note = {};
  note.head.size = sizeof note;
  note.head.kind = HPROF_RECORD_NOTE;
  note.text = {text.c_str(), text.size()};
  const hprof_status status = services.emit->write(services.host, &note.head);
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

// Emits a note that starts with `begin` and lists by reason the classes and methods without probes; no note if all have
// probes. Only inside report(). [control]
inline hprof_status write_note_on_probes(const Services& services, uint32_t probes, const char* begin) {
  struct Line {
    const char* begin;
    Note text;
  } line{begin, {}};
  services.probes->each_left(services.host, probes, &line, [](void* argument, const char* reason, uint64_t classes, uint64_t methods) {
    auto* to = static_cast<Line*>(argument);
    to->text.add(to->text.size() == 0 ? to->begin : ", ").add(reason);
    if (classes == 0 && methods == 0) return;
    to->text.add(" (");
    if (classes != 0) to->text.add(classes).add(" classes");
    if (classes != 0 && methods != 0) to->text.add(", ");
    if (methods != 0) to->text.add(methods).add(" methods");
    to->text.add(")");
  });
  return line.text.size() != 0 ? write_note(services, line.text) : HPROF_OK;
}

}  // namespace hprof
