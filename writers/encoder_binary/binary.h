// Shared by the parts of the binary encoder.
//
// Numbers on the wire. Serials are those of the text format: thread n is 200000 + n (none is 0), trace n is
// 300000 + n (300000 is the empty trace, which the encoder itself writes before the first record that may
// name it); class serials are the core's own, from 1. Identifiers live in one number space of 4 or 8 bytes;
// readers keep strings, frames and objects in separate tables, but a person with a hex editor or a careless
// reader does not, so each kind has a range:
//
//                 8 bytes                    4 bytes
//     objects     the core's: addresses or   the core's: counted from 1, below 0x60000000
//                 counted from 1
//     classes     0x4c00000000000000 + n     0x60000000 + n      (until a dump has given the object an id)
//     frames      0x4700000000000000 + n     0x70000000 + n
//     strings     0x4a00000000000000 + n     0xa0000000 + n      (those of windows from the end: kLastString)
//
// The 8-byte ranges are positive as signed numbers and no address of any supported machine. The 4-byte ones
// are those of the original agent.
#pragma once

#include <hprof/cpp/lazy_table.hpp>
#include <hprof/cpp/names.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/cpp/writer.hpp>
#include <hprof/record.h>

#include "foreign_dump.h"
#include "id_positions.h"
#include "tags.h"

namespace hprof::binary {

constexpr hprof_string_id kLastString = 0x5fffffff;

inline uint32_t saturated(uint64_t v) { return v > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(v); }

struct Encoder {
  explicit Encoder(const hprof_host* h)
      : host(h),
        ids(find_service<hprof_ids_service>(h, HPROF_SERVICE_IDS)),
        mem(find_service<hprof_mem_service>(h, HPROF_SERVICE_MEM)) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = "";
    ops.content_type = "application/octet-stream";
    ops.heap_form = HPROF_HEAP_AS_BYTES | HPROF_HEAP_ONE_A_FILE;
  }
  hprof_status open(char* error, uint32_t error_size);
  hprof_status encode(const hprof_record* record, hprof_out* out);
  bool close();

  const hprof_host* host;
  const hprof_ids_service* ids;
  const hprof_mem_service* mem;
  uint64_t* lost_elements = nullptr;  // counter of losses; nullptr: none

  uint32_t id_size = 0;      // 0: no FILE_BEGIN yet
  uint32_t last_time = 0;    // time of the last record in microseconds, which never decreases
  uint32_t aborted = 0;      // 1: the output has failed, and nothing is written any more
  uint32_t empty_trace = 0;  // 1: it is written
  uint32_t segments = 0;     // 1: the header says 1.0.2
  uint32_t in_dump = 0;      // 1: between HEAP_DUMP_BEGIN and _END

  IdPositions positions;           // of ids that a dump may replace
  ForeignDump* foreign = nullptr;  // the dump that is being passed on; nullptr: none
  uint32_t foreign_dumps = 0;      // in this output so far

  // The segment being filled. Its length precedes its bytes, so it is written when it is complete.
  LazyTable<uint8_t> segment;  // lazy, since most outputs are not heap dumps
  uint64_t segment_used = 0;
};

// An output with identifiers of 4 or 8 bytes.
class BinaryOut : public Out {
 public:
  BinaryOut(hprof_out* out, uint32_t id_size) : Out(out), wide_(id_size == 8) {}

  void raw_id(uint64_t v) { wide_ ? u8(v) : u4(static_cast<uint32_t>(v)); }
  // Writes an object id; 0 if it does not fit into 4 bytes, rather than another object's.
  void object(hprof_object_id id) { raw_id(wide_ || id <= UINT32_MAX ? id : 0); }
  void patch_object(uint64_t position, hprof_object_id id) {
    uint8_t bytes[8];
    wide_ ? put_u8(bytes, id) : put_u4(bytes, static_cast<uint32_t>(id));
    patch(position, bytes, wide_ ? 8 : 4);
  }
  void string(hprof_string_id id) { raw_id(id == 0 ? 0 : (wide_ ? 0x4a00000000000000 : 0xa0000000) + id); }
  void frame(hprof_frame_id id) { raw_id((wide_ ? 0x4700000000000000 : 0x70000000) + id); }
  // id 0: no dump has given the class an id, so one is made of its serial.
  void class_object(hprof_object_id id, hprof_class_serial serial) {
    if (id != 0) return object(id);
    raw_id((wide_ ? 0x4c00000000000000 : 0x60000000) + serial);
  }
  void thread(hprof_thread_serial serial) {
    u4(serial == 0 ? 0 : saturated(uint64_t{kFirstThreadNumber} + serial));
  }
  void trace(hprof_trace_serial serial) { u4(saturated(uint64_t{kFirstTraceNumber} + serial)); }

 private:
  bool wide_;
};

// records.cpp. length: of the body
void write_head(Encoder& encoder, BinaryOut& out, Tag tag, uint64_t time_us, uint32_t length);
void write_record(Encoder& encoder, BinaryOut& out, const hprof_record* record);

// dump.cpp
void write_heap_record(Encoder& encoder, BinaryOut& out, const hprof_record* record);
// Writes the last segment and ends the dump.
void end_dump(Encoder& encoder, BinaryOut& out, uint64_t time_us);

// foreign_dump.cpp
void write_foreign(Encoder& encoder, BinaryOut& out, const hprof_rec_foreign_dump& record);
void end_foreign(Encoder& encoder);

}  // namespace hprof::binary
