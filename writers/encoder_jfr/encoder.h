// The state of the JFR encoder.
#pragma once

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/writer.hpp>

#include "chunk.h"

namespace hprof::jfr {

constexpr uint64_t kUnknownTime = uint64_t{1} << 63;  // as the JDK writes it

struct Encoder {
  explicit Encoder(const hprof_host* host) : services(host) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".jfr";
    ops.content_type = "application/octet-stream";
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_EVENTS;
  }
  hprof_status open(char* error, uint32_t error_size);
  hprof_status encode(const hprof_record* record, hprof_out* out);
  bool close() {
    chunk.close();
    return true;
  }

  Services services;
  Chunk chunk;
  // This chunk has the event of the processors; any other than these and settings; one that is no note.
  bool has_processors = false, has_any = false, has_events = false;
  bool has_settings[kTypeCount] = {};
  bool has_contexts = false;    // a unit sets them
  bool has_chunk = false;       // the file has one
  bool is_over = false;         // the event of the VM's end has been written
  hprof_vm_event vm = {};       // the last; its texts are 0 before the first
  uint32_t seen = 0, said = 0;  // bits of kSources: events have come; a message says that none have
  uint64_t* lost_events = nullptr;
  uint64_t* lost_copies = nullptr;
};

}  // namespace hprof::jfr
