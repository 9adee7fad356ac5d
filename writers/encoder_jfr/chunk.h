// A chunk of a recording: events and what they refer to. It is gathered in memory and written whole, so that
// a file ends with a whole chunk whenever the VM is killed.
#pragma once

#include "pools.h"

namespace hprof::jfr {

class Chunk {
 public:
  // False: no memory. [onload][control]
  bool open(const Services& services);
  void close();

  void begin_file(const hprof_rec_file_begin& begin);
  bool add_sample_threads() { return metadata_.add_sample_threads(); }
  // The time of a record on the monotonic clock.
  uint64_t time_of(const hprof_record& record) const { return created_ns_ + record.time_us * 1000; }
  uint64_t began_ns() const { return began_ns_; }
  uint64_t created_ms() const { return created_ms_; }
  // True: it has as many bytes as a chunk should have.
  bool is_full() const { return events_.size() + pools.bytes() >= enough_; }

  // Writes it. The next one begins now, and clear() makes room for it.
  void write(JfrOut& out, uint64_t now_ns);
  void clear();

  Pools pools;

 private:
  friend class Event;
  // Of the monotonic clock, in nanoseconds since the file began: they are shorter than since the machine did.
  // Negative for what began before the file.
  uint64_t ticks(uint64_t ns) const { return ns - created_ns_; }

  Metadata metadata_;
  Bytes events_;
  uint64_t enough_ = 0;
  uint64_t created_ms_ = 0, created_ns_ = 0, began_ns_ = 0;
};

// An event: the caller writes its fields from the second on, then keeps it.
class Event : public JfrOut {
 public:
  // has_text: it may have more than 127 bytes.
  Event(Chunk& chunk, Type type, uint64_t begin_ns, bool has_text = false)
      : JfrOut(chunk.events_.end()), chunk_(chunk), size_bytes_(has_text ? kSizeBytes : 1) {
    zeros(size_bytes_);
    varint(type);
    varint(chunk.ticks(begin_ns));
  }
  // False: no memory for it, or for what it refers to.
  bool keep();

 private:
  Chunk& chunk_;
  const uint32_t size_bytes_;
};

}  // namespace hprof::jfr
