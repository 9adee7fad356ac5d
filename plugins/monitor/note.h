// Lines for the reader of the report.
#pragma once

#include <cstring>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text_line.hpp>

namespace hprof::monitor {

using Note = TextLine<320>;

// Only inside report(). [control]
inline hprof_status write_note(const Services& services, const Note& line) {
  hprof_rec_note note;
  memset(&note, 0, sizeof note);
  note.head.size = sizeof note;
  note.head.kind = HPROF_RECORD_NOTE;
  note.text = {line.c_str(), line.size()};
  return services.emit->write(services.host, &note.head);
}

}  // namespace hprof::monitor
