// Puts the records of a VM's dump into the order that readers expect.
//
// Up to 21 HotSpot writes one stream in that order. From 22 on the segments are a separate stream, and the
// last part of the other (classes, frames, traces; up to 1 MiB) comes after them: an unused string reserves a
// gap for it, which is filled in at the end.
//
// HPROF_FOREIGN_NO_STRINGS passes only strings that name classes, methods and fields, since the VM's symbol
// table has every text constant of every class. Strings are held until all names are known. [writer]
#pragma once

#include <hprof/cpp/byte_order.hpp>
#include <hprof/cpp/lazy_table.hpp>

#include "sub_records.h"

namespace hprof::binary {

struct Encoder;
class BinaryOut;

constexpr uint32_t kRecordHead = 9;  // bytes: tag, time, length

inline uint64_t id_at(const uint8_t* bytes, uint32_t id_size) {
  return id_size == 8 ? get_u8(bytes) : get_u4(bytes);
}
inline void put_id(uint8_t* to, uint32_t id_size, uint64_t id) {
  id_size == 8 ? put_u8(to, id) : put_u4(to, static_cast<uint32_t>(id));
}

// A buffer that grows.
class HeldBytes {
 public:
  static constexpr uint64_t kMost = sizeof(void*) < 8 ? 32u << 20 : 256u << 20;
  bool open(const Services& services, uint64_t most = kMost);
  void close() { bytes_.close(); }
  uint8_t* add(const void* bytes, uint64_t size);  // nullptr: full
  void clear() { size_ = 0; }
  void cut(uint64_t size) { size_ = size; }
  uint8_t* data() { return bytes_.data(); }
  uint64_t size() const { return size_; }

 private:
  LazyTable<uint8_t> bytes_;
  uint64_t size_ = 0;
};

class DumpOrder {
 public:
  // The VM writes that part when its buffer of 1 MiB is full or the dump ends; the rest is for the agent's
  // own records.
  static constexpr uint64_t kGap = (1u << 20) + 4096;

  // The output of one call's records.
  struct Destination {
    Encoder* encoder;
    BinaryOut* out;
    uint64_t time_us;
  };

  // dump: must outlive this object. scratch: overwritten by the functions that write. False: no memory, or no
  // address space; call close() in any case.
  bool open(const Services& services, const Encoder& encoder, hprof_foreign_dump* dump, HeldBytes* scratch);
  void close();
  void send_to(const Destination& to) { to_ = to; }

  bool filters() const { return filters_; }      // strings
  bool has_begun() const { return has_begun_; }  // objects
  hprof_status add_string(const uint8_t* body, uint32_t size);
  // The string with this id is a name.
  void add_name(uint64_t id) {
    if (!filters_) return;
    if (uint32_t* name = names_.make(id)) *name = 1;
  }
  hprof_status add_definition(uint32_t tag, const uint8_t* body, uint32_t size);
  // CLASS DUMPs, which wait until the names of their fields are known.
  hprof_status add_classes(const uint8_t* bytes, uint64_t size);
  // The first sub-record that is no such CLASS DUMP comes next. class_count: so far.
  hprof_status begin_objects(uint32_t class_count);
  // Writes at once. tag: of a record with `length` bytes, the first `size` of which are here.
  hprof_status write(uint32_t tag, uint32_t length, const uint8_t* bytes, uint64_t size);
  hprof_status write_more(const uint8_t* bytes, uint64_t size);
  // Gives STACK TRACE records the output's serials of their threads.
  void patch_threads(const SubRecords& heap);
  hprof_status end();
  // Stores in the dump why it fails.
  hprof_status fail(const char* why);

  bool maps_threads = false;  // patch_threads() will be called

 private:
  struct TraceThread {
    uint64_t position;
    uint32_t vm_serial;
  };
  hprof_status hold(HeldBytes& where, uint32_t tag, const uint8_t* body, uint32_t size);
  hprof_status write_gap(uint32_t class_count);
  hprof_status fill_gap();
  hprof_status add_named_strings();
  hprof_status write_held();

  Destination to_ = {};
  hprof_foreign_dump* dump_ = nullptr;
  HeldBytes* scratch_ = nullptr;
  uint32_t id_size_ = 0;
  bool is_apart_ = false;  // the objects are another stream
  bool filters_ = false;
  bool has_begun_ = false;
  HeldBytes definitions_;    // complete records
  HeldBytes strings_;        // filters_: all strings, each after its length
  HeldBytes classes_;        // filters_: CLASS DUMPs
  IdTable<uint32_t> names_;  // filters_: strings that are names
  HeldBytes trace_threads_;  // TraceThread: of STACK TRACE records in the output
  uint64_t gap_position_ = 0;
  uint64_t gap_size_ = 0;
};

}  // namespace hprof::binary
