#include "blocked_notes.h"

namespace hprof::monitor {

namespace {

void add_text(const Services& s, hprof_string_id id, TextBuffer* note) {
  const hprof_text text = s.ids->string_text(s.host, id);
  note->add(text.data, text.size);
}

}  // namespace

void add_thread_name(const Services& s, hprof_thread_serial serial, TextBuffer* note) {
  hprof_thread_info info = {};
  info.size = sizeof info;
  if (s.ids->thread_info(s.host, serial, &info) == 0) {
    note->add("a thread without a name");
    return;
  }
  note->add("\"");
  add_text(s, info.name, note);
  note->add("\"");
}

bool add_place(const Services& s, hprof_trace_serial serial, TextBuffer* note) {
  hprof_trace_info trace = {};
  trace.size = sizeof trace;
  hprof_frame_info frame = {};
  frame.size = sizeof frame;
  hprof_method_info method = {};
  method.size = sizeof method;
  hprof_class_info owner = {};
  owner.size = sizeof owner;
  const bool known = serial != 0 && s.ids->trace_info(s.host, serial, &trace) != 0 &&
                     trace.frame_count != 0 && s.ids->frame_info(s.host, trace.frames[0], &frame) != 0 &&
                     s.ids->method_info(s.host, frame.method, &method) != 0 &&
                     s.ids->class_info(s.host, method.owner, &owner) != 0;
  if (!known) return false;
  add_text(s, owner.name, note);
  note->add(".");
  add_text(s, method.name, note);
  if (frame.line > 0) note->add(":").add(static_cast<uint64_t>(frame.line));
  return true;
}

hprof_status write_held(const Services& services, const Held& held) {
  Note note;
  note.add("monitor: ");
  add_thread_name(services, held.thread, &note);
  hprof_class_info lock = {};
  lock.size = sizeof lock;
  note.add(" waits for ");
  if (services.ids->class_info(services.host, held.lock, &lock) != 0) add_text(services, lock.name, &note);
  if (held.owner == 0 || held.owner == HPROF_OWNER_UNKNOWN) {
    note.add(", held by a thread that the VM does not tell");
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
