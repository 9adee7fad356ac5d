// A dump that the VM writes, passed on as records of the output while it is being written. Knows no VM.
//
// Up to 21 the VM writes one stream in the order that readers want. From 22 on the segments come as a stream
// of their own, and the last up to 1 MiB of the other (classes, frames, traces) comes after them: for these a
// gap is left, an unused string, and filled in at the end.
//
// An output may take several dumps, and the VM counts frames and traces from 1 in each: the numbers of later
// ones get a mark.
//
// redact=full lets only those strings through that name classes, methods and fields: the VM's symbol table
// has every text constant of every class. They are held until all names are known. [control]
#pragma once

#include <hprof/cpp/lazy_table.hpp>

#include "plugins/heap_dump/config.h"
#include "plugins/heap_dump/progress.h"
#include "plugins/heap_dump/sub_records.h"

namespace hprof::dump {

// Bytes one after the other.
class HeldBytes {
 public:
  bool open(const Services* services, uint64_t most);
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

class VmStream {
 public:
  static constexpr uint64_t kMostHeld = sizeof(void*) < 8 ? 32u << 20 : 256u << 20;
  static constexpr uint64_t kGap = 2u << 20;
  static constexpr uint32_t kClassSerialBase = 0x01000000;  // ours are smaller

  // number: of the dump in its output, from 0. traces: by address, or nullptr.
  bool open(const Services* services, const Config& config, bool apart, uint32_t number, Progress* progress,
            ObjectTraces* traces);
  void close();
  // Bytes of a stream; see service/vm_dump.h.
  hprof_status take(uint32_t stream, uint8_t* bytes, uint64_t size);
  // All bytes have come: ends the dump.
  hprof_status finish();
  SubRecords& heap() { return heap_; }
  const char* failure() const { return failure_; }

 private:
  struct Framing {  // where a stream is in its records
    uint8_t head[9];
    uint32_t have;
    uint32_t left;  // of the body
  };

  hprof_status take_header(uint8_t** bytes, uint64_t* size);
  hprof_status take_records(Framing& framing, uint8_t* bytes, uint64_t size);
  hprof_status take_segment(uint8_t* bytes, uint64_t size, uint32_t left);
  hprof_status take_definition(uint32_t tag, uint8_t* body, uint32_t size);
  hprof_status begin_objects();
  hprof_status emit_gap();
  hprof_status fill_gap();
  hprof_status add_missing_classes();
  hprof_status add_named_strings();
  hprof_status emit_held();
  hprof_status emit(uint32_t tag, uint32_t length, const uint8_t* bytes, uint64_t size);
  hprof_status hold(HeldBytes& where, uint32_t tag, const uint8_t* body, uint32_t size);
  hprof_status fail(const char* words);
  uint64_t id_at(const uint8_t* bytes) const;
  hprof_status emit_or_hold(uint32_t tag, const uint8_t* body, uint32_t size);
  hprof_status take_trace(uint8_t* body, uint32_t size);
  hprof_status put_empty_trace();
  void note_name(uint64_t id) {
    if (uint32_t* name = names_.at(id)) *name = 1;
  }

  const Services* services_ = nullptr;
  Config config_ = {};
  Progress* progress_ = nullptr;
  ObjectTraces* traces_ = nullptr;  // until they are taken
  bool apart_ = false;
  bool filters_ = false;  // strings
  uint32_t number_ = 0;   // of the dump
  uint32_t id_size_ = sizeof(void*);
  bool has_header_ = false;
  uint8_t header_[31] = {};
  uint32_t header_have_ = 0;
  Framing main_ = {};
  Framing objects_ = {};
  SubRecords heap_;

  HeldBytes body_;         // of the definition that is being read
  HeldBytes definitions_;  // held: complete records
  HeldBytes strings_;      // filters_: bodies of all strings, each after its length
  HeldBytes classes_;      // filters_: CLASS DUMPs, until the names of their fields are known
  IdMap<uint32_t> names_;  // filters_: strings that are names
  bool objects_begun_ = false;
  bool ended_ = false;
  bool has_empty_trace_ = false;
  uint64_t gap_position_ = 0;
  uint64_t gap_size_ = 0;
  uint32_t gap_time_ = 0;     // microseconds, of all of the dump
  bool needs_head_ = false;   // filters_: the next segment is not announced yet
  uint64_t class_name_ = 0;   // string id of "java/lang/Class"
  uint64_t class_class_ = 0;  // java.lang.Class
  uint64_t bytes_ = 0;
  const char* failure_ = nullptr;
};

}  // namespace hprof::dump
