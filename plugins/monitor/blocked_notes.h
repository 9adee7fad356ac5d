// Who waits for whom, in words: a note after the dump for each thread that waits for a monitor or a lock of
// java.util.concurrent, with names, the holder and where it is.
#pragma once

#include <hprof/cpp/note.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::monitor {

struct Held {
  hprof_thread_serial thread;  // who waits
  hprof_class_serial lock;
  hprof_thread_serial owner;       // 0 or HPROF_OWNER_UNKNOWN: nobody, or not known
  hprof_trace_serial owner_trace;  // 0: not known
};

// Its name in quotes. [control]
void add_thread_name(const Services& services, hprof_thread_serial serial, TextBuffer* note);
// Puts "Shop.ship:62", the innermost frame; false, and nothing is put, if it is not known. [control]
bool add_place(const Services& services, hprof_trace_serial serial, TextBuffer* note);
// One note. [control]
hprof_status write_held(const Services& services, const Held& held);

}  // namespace hprof::monitor
