// The pprof encoder: format=pprof, profile.proto as `go tool pprof`, Pyroscope, Parca and speedscope read it.
//
// Each report is a message. A message has one list of weights for all of its stacks, so it takes one table;
// others are left out and counted. Notes become comments.
#include <hprof/cpp/writer.hpp>
#include <hprof/service/log.h>

#include "profile.h"

namespace hprof::pprof {

namespace {

struct Encoder {
  explicit Encoder(const hprof_host* host) : services(host) {}
  static constexpr void describe(hprof_encoder_ops& ops) {
    ops.file_suffix = ".pb";
    ops.content_type = "application/octet-stream";
    ops.least_depth = HPROF_WHOLE_DEPTH;
    ops.flags = HPROF_ENCODER_DOCUMENTS | HPROF_ENCODER_STACKS;
    ops.compress = "gzip";
  }
  hprof_status open(char* error, uint32_t error_size);
  hprof_status encode(const hprof_record* record, hprof_out* out);
  bool close() {
    profile.close();
    return true;
  }

  Services services;
  Profile profile;
  uint64_t* lost_tables = nullptr;
  uint64_t* lost_stacks = nullptr;
};

void write_table(Encoder& encoder, ProtoOut& out, const hprof_rec_table& table) {
  const StackTable stacks(table);
  if (!stacks.has_stacks()) return out.fail(HPROF_UNSUPPORTED);
  if (encoder.profile.has_begun() && !encoder.profile.has_table()) {
    encoder.profile.write(out, stacks, encoder.lost_stacks);
  } else {
    count_loss(encoder.lost_tables);
  }
}

void write_record(Encoder& encoder, ProtoOut& out, const hprof_record* record) {
  switch (record->kind) {
    case HPROF_RECORD_REPORT_BEGIN:
      encoder.profile.begin(out, as<hprof_rec_report>(record).info);
      break;
    case HPROF_RECORD_NOTE:
      if (encoder.profile.has_begun()) encoder.profile.write_note(out, as<hprof_rec_note>(record).text);
      break;
    case HPROF_RECORD_TABLE:
      write_table(encoder, out, as<hprof_rec_table>(record));
      break;
    default:
      break;
  }
}

hprof_status Encoder::open(char*, uint32_t) {
  if (!profile.open(services)) return HPROF_NO_MEMORY;
  if (services.log != nullptr) {
    lost_tables =
        services.log->loss_counter(services.host, "tables: a pprof message holds one (format=otlp)");
    lost_stacks = services.log->loss_counter(services.host,
                                             "stacks: no memory for their frames in pprof (max-memory=)");
  }
  return HPROF_OK;
}

hprof_status Encoder::encode(const hprof_record* record, hprof_out* out) {
  ProtoOut proto(out);
  write_record(*this, proto, record);
  return proto.status();
}

constexpr const char* kRecords[] = {HPROF_KIND_REPORT_BEGIN, HPROF_KIND_NOTE, HPROF_KIND_TABLE, nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=pprof";

constexpr hprof_unit kUnit = encoder_unit<Encoder>(
    "encoder_pprof", kSelect, "profile.proto, for go tool pprof, Pyroscope and Parca", kRecords);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::pprof

HPROF_MODULE(encoder_pprof, "1.0", "hprof", hprof::pprof::kUnits, 1)
