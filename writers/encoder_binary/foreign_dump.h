// Passes on a dump while the VM writes it.
//
// Up to 21 HotSpot writes one stream in the order that readers expect. From 22 on the segments are a separate
// stream, and the last part of the other (classes, frames, traces; up to 1 MiB) comes after them: an unused
// string reserves a gap for it, which is filled in at the end.
//
// An output may take several dumps, in each of which the VM counts frames and traces from 1: the numbers of
// later dumps get a mark.
//
// Classes and threads that the output has defined before get one identity: names of classes become those of
// Java source, and where the output can be patched, the object ids of LOAD CLASS and START THREAD become the
// dump's, and the dump's serials of threads become the output's. A class is recognised by its name, unless
// two have it.
//
// HPROF_FOREIGN_NO_STRINGS passes only strings that name classes, methods and fields, since the VM's symbol
// table has every text constant of every class. Strings are held until all names are known. [writer]
#pragma once

#include <hprof/cpp/lazy_table.hpp>

#include "sub_records.h"

namespace hprof::binary {

struct Encoder;
class BinaryOut;

// A buffer that grows.
class HeldBytes {
 public:
  bool open(const Services& services, uint64_t most);
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

class ForeignDump {
 public:
  static constexpr uint64_t kMostHeld = sizeof(void*) < 8 ? 32u << 20 : 256u << 20;
  // The VM writes that part when its buffer of 1 MiB is full or the dump ends; the rest is for the agent's
  // own records.
  static constexpr uint64_t kGap = (1u << 20) + 4096;
  static constexpr uint32_t kClassSerialBase = 0x01000000;  // above the agent's own

  // dump: must outlive this object. False: no memory, or no address space; call close() in any case.
  bool open(Encoder& encoder, hprof_foreign_dump* dump);
  void close();
  // Takes the next bytes of the record's stream. Errors are stored in the dump.
  hprof_status take(Encoder& encoder, BinaryOut& out, const hprof_rec_foreign_dump& record);

 private:
  struct TraceThread {
    uint64_t position;
    uint32_t vm_serial;
  };
  struct Framing {  // the position of a stream in its records
    uint8_t head[9];
    uint32_t have;
    uint32_t left;  // of the body
  };
  // The output of one call's records.
  struct Destination {
    Encoder* encoder;
    BinaryOut* out;
    uint64_t time_us;
  };

  hprof_status take_bytes(uint32_t stream, uint8_t* bytes, uint64_t size);
  // Ends the dump, after all bytes have come.
  hprof_status finish();
  hprof_status take_header(uint8_t** bytes, uint64_t* size);
  hprof_status take_records(Framing& framing, uint8_t* bytes, uint64_t size);
  hprof_status take_segment(uint8_t* bytes, uint64_t size, uint32_t left);
  hprof_status take_definition(uint32_t tag, uint8_t* body, uint32_t size);
  hprof_status begin_objects();
  hprof_status write_gap();
  hprof_status fill_gap();
  hprof_status add_missing_classes();
  hprof_status add_named_strings();
  hprof_status write_held();
  hprof_status write(uint32_t tag, uint32_t length, const uint8_t* bytes, uint64_t size);
  hprof_status write_more(const uint8_t* bytes, uint64_t size);
  hprof_status hold(HeldBytes& where, uint32_t tag, const uint8_t* body, uint32_t size);
  hprof_status fail(const char* words);
  uint64_t id_at(const uint8_t* bytes) const;
  void put_id(uint8_t* to, uint64_t id) const;
  hprof_status write_or_hold(uint32_t tag, const uint8_t* body, uint32_t size);
  hprof_status take_trace(uint8_t* body, uint32_t size);
  bool take_name(uint8_t** body, uint32_t* size);
  bool index_classes(const Encoder& encoder);
  void patch_definitions();
  hprof_status put_empty_trace();
  void note_name(uint64_t id) {
    if (uint32_t* name = names_.make(id)) *name = 1;
  }

  Destination to_ = {};
  hprof_foreign_dump* dump_ = nullptr;
  bool apart_ = false;
  bool filters_ = false;  // strings
  uint32_t number_ = 0;   // of the dump in its output, from 0
  uint32_t id_size_ = 0;
  bool has_header_ = false;
  uint8_t header_[31] = {};
  uint32_t header_have_ = 0;
  Framing main_ = {};
  Framing objects_ = {};
  SubRecords heap_;

  HeldBytes body_;           // of the definition being read
  HeldBytes definitions_;    // complete records
  HeldBytes strings_;        // filters_: all strings, each after its length
  HeldBytes classes_;        // filters_: CLASS DUMPs, until the names of their fields are known
  IdTable<uint32_t> names_;  // filters_: strings that are names
  bool objects_begun_ = false;
  bool ended_ = false;
  bool has_empty_trace_ = false;
  uint64_t gap_position_ = 0;
  uint64_t gap_size_ = 0;
  bool needs_head_ = false;              // filters_: the head of the next segment is not written yet
  hprof_class_serial class_end_ = 0;     // serials of the output's classes stay below
  IdTable<uint32_t> classes_of_output_;  // serials by hash of the name, kSeveral
  IdTable<uint32_t> known_names_;        // serials by string id
  LazyTable<uint64_t> class_objects_;    // the dump's, by serial
  HeldBytes trace_threads_;              // TraceThread: of STACK TRACE records in the output
  uint64_t class_name_ = 0;              // string id of "java.lang.Class"
  uint64_t class_class_ = 0;             // java.lang.Class
};

}  // namespace hprof::binary
