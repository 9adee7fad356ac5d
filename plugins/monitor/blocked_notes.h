// Notes after the dump, one for each thread that waits for a monitor or a lock of java.util.concurrent: who
// waits for whom, with names, the holder and where it is.
#pragma once

#include <hprof/cpp/note.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::monitor {

struct Held {
  hprof_thread_serial thread;  // the waiting thread
  hprof_class_serial lock;
  hprof_thread_serial owner;       // 0: nobody; HPROF_OWNER_UNKNOWN: not known
  hprof_trace_serial owner_trace;  // 0: not known
};

// Appends the thread's name in quotes. [control]
void add_thread_name(const Services& services, hprof_thread_serial serial, TextBuffer* note);
// Appends the innermost frame, "Shop.ship:62"; false: it is not known, nothing was appended. [control]
bool add_place(const Services& services, hprof_trace_serial serial, TextBuffer* note);
// Writes one note. [control]
hprof_status write_held(const Services& services, const Held& held);

}  // namespace hprof::monitor
