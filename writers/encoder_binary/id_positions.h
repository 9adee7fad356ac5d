// What a heap dump tells of the classes and threads that the other records of its output define.
//
// A class or thread may be defined before a dump gives its object an id. Where the output can be patched, the
// id in the definition is replaced by the dump's. A class that is defined later gets the dump's at once.
// [writer]
#pragma once

#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/record.h>

namespace hprof::binary {

class IdPositions {
 public:
  static constexpr uint32_t kMostClasses = (sizeof(void*) < 8 ? 1u << 15 : 1u << 18) + 1;  // serials from 1
  static constexpr uint32_t kThreads = 1u << 16;  // later threads replace earlier ones

  struct Class {
    uint64_t position;       // of the object id in its LOAD CLASS; 0: not known
    hprof_object_id object;  // in the dump; 0: not known
  };

  // For an output that may take a dump. Without address space no position is known.
  void open(const Services& services) {
    classes_.open(services, kMostClasses);
    threads_.open(services, kThreads);
  }
  void close() {
    classes_.close();
    threads_.close();
    class_end_ = thread_end_ = 0;
  }

  // The next byte of the output begins the object id of that class or thread.
  void mark_class(const Out& out, hprof_class_serial serial) {
    Class* const of = out.can_patch() ? make_class(serial) : nullptr;
    if (of != nullptr) of->position = out.position();
  }
  void mark_thread(const Out& out, hprof_thread_serial serial) {
    const uint32_t at = serial % kThreads;
    if (!out.can_patch() || !threads_.cover(uint64_t{at} + 1)) return;
    threads_[at] = {serial, out.position()};
    thread_end_ = at >= thread_end_ ? at + 1 : thread_end_;
  }

  // nullptr: no room.
  Class* make_class(hprof_class_serial serial) {
    if (!classes_.cover(uint64_t{serial} + 1)) return nullptr;
    class_end_ = serial >= class_end_ ? serial + 1 : class_end_;
    return &classes_[serial];
  }
  // nullptr: nothing is known of it.
  Class* find_class(hprof_class_serial serial) { return serial < class_end_ ? &classes_[serial] : nullptr; }
  uint32_t class_end() const { return class_end_; }  // serials of classes stay below
  // The position of the id; 0: not known.
  uint64_t of_thread(hprof_thread_serial serial) const {
    const uint32_t at = serial % kThreads;
    return at < thread_end_ && threads_[at].serial == serial ? threads_[at].position : 0;
  }

 private:
  struct Thread {
    hprof_thread_serial serial;
    uint64_t position;
  };
  LazyTable<Class> classes_;
  LazyTable<Thread> threads_;
  uint32_t class_end_ = 0, thread_end_ = 0;
};

}  // namespace hprof::binary
