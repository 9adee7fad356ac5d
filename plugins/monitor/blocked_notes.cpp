#include "blocked_notes.h"

namespace hprof::monitor {

namespace {

void add_text(const Services& s, hprof_string_id id, TextBuffer* note) {
  const hprof_text text = s.ids->string_text(s.host, id);
  note->add(text.data, text.size);
}

}  // namespace

void add_thread_name(const Services& s, hprof_thread_serial serial, TextBuffer* note) {
  const auto thread = find_thread(s.ids, s.host, serial);
  if (!thread) {
    note->add("a thread without a name");
    return;
  }
  note->add("\"");
  add_text(s, thread->name, note);
  note->add("\"");
}

bool add_place(const Services& s, hprof_trace_serial serial, TextBuffer* note) {
  const auto trace = find_trace(s.ids, s.host, serial);
  if (trace->frame_count == 0) return false;
  const auto frame = find_frame(s.ids, s.host, trace->frames[0]);
  const auto method = find_method(s.ids, s.host, frame->method);
  const auto owner = find_class(s.ids, s.host, method->owner);
  if (!owner) return false;
  add_text(s, owner->name, note);
  note->add(".");
  add_text(s, method->name, note);
  if (frame->line > 0) note->add(":").add(static_cast<uint64_t>(frame->line));
  return true;
}

hprof_status write_held(const Services& services, const Held& held) {
  Note note;
  note.add("monitor: ");
  add_thread_name(services, held.thread, &note);
  note.add(" waits for ");
  add_text(services, find_class(services.ids, services.host, held.lock)->name, &note);
  if (held.owner == 0 || held.owner == HPROF_OWNER_UNKNOWN) {
    note.add(", held by an unknown thread");
  } else {
    note.add(", held by ");
    add_thread_name(services, held.owner, &note);
    if (held.owner_trace != 0) {
      note.add(", which is in ");
      if (!add_place(services, held.owner_trace, &note)) note.add("a place that is not known");
    }
  }
  return write_note(services, note);
}

}  // namespace hprof::monitor
