// Passes on a dump while the VM writes it: reads its records, and makes their numbers and names fit the
// output.
//
// An output may take several dumps, in each of which the VM counts frames and traces from 1: the numbers of
// later dumps get a mark.
//
// Classes and threads that the output has defined before get one identity: names of classes become those of
// Java source, and where the output can be patched, the object ids of LOAD CLASS and START THREAD become the
// dump's (output_classes.h), and the dump's serials of threads become the output's. dump_order.h decides when
// each record is written. [writer]
#pragma once

#include "dump_order.h"
#include "output_classes.h"

namespace hprof::binary {

class ForeignDump {
 public:
  static constexpr uint32_t kClassSerialBase = 0x01000000;  // above the agent's own

  // dump: must outlive this object. False: no memory, or no address space; call close() in any case.
  bool open(Encoder& encoder, hprof_foreign_dump* dump);
  void close();
  // Takes the next bytes of the record's stream. Errors are stored in the dump.
  hprof_status take(Encoder& encoder, BinaryOut& out, const hprof_rec_foreign_dump& record);

 private:
  struct Framing {  // the position of a stream in its records
    uint8_t head[kRecordHead];
    uint32_t have;
    uint32_t left;  // of the body
  };

  hprof_status take_bytes(uint32_t stream, uint8_t* bytes, uint64_t size);
  // Ends the dump, after all bytes have come.
  hprof_status finish(Encoder& encoder, BinaryOut& out);
  hprof_status take_header(uint8_t** bytes, uint64_t* size);
  hprof_status take_records(Framing& framing, uint8_t* bytes, uint64_t size);
  hprof_status take_segment(uint8_t* bytes, uint64_t size, uint32_t left);
  hprof_status take_definition(uint32_t tag, uint8_t* body, uint32_t size);
  hprof_status take_string(uint8_t* body, uint32_t size);
  hprof_status take_class(uint8_t* body);
  hprof_status take_trace(uint8_t* body, uint32_t size);
  hprof_status begin_objects() { return order_.begin_objects(heap_.class_count()); }
  hprof_status add_missing_classes();
  void patch_definitions(Encoder& encoder, BinaryOut& out);
  hprof_status put_empty_trace();
  hprof_status fail(const char* why) { return order_.fail(why); }
  uint64_t id_at(const uint8_t* bytes) const { return binary::id_at(bytes, id_size_); }
  void put_id(uint8_t* to, uint64_t id) const { binary::put_id(to, id_size_, id); }

  hprof_foreign_dump* dump_ = nullptr;
  uint32_t number_ = 0;  // of the dump in its output, from 0
  uint32_t id_size_ = 0;
  bool has_header_ = false;
  uint8_t header_[31] = {};
  uint32_t header_have_ = 0;
  Framing main_ = {};
  Framing objects_ = {};
  HeldBytes body_;  // of the definition being read
  SubRecords heap_;
  OutputClasses classes_;
  DumpOrder order_;
  bool ended_ = false;
  bool has_empty_trace_ = false;
  bool needs_head_ = false;   // order_.filters(): the head of the next segment is not written yet
  uint64_t class_name_ = 0;   // string id of "java.lang.Class"
  uint64_t class_class_ = 0;  // java.lang.Class
};

}  // namespace hprof::binary
