// The pprof encoder: format=pprof, profile.proto as `go tool pprof`, Pyroscope, Parca and speedscope read it.
//
// Each report is a message. A message has one list of weights for all of its stacks, so it takes one table;
// others are left out and counted. Notes become comments.
#include <new>

#include <hprof/service/log.h>

#include "profile.h"

namespace hprof::pprof {

namespace {

struct Encoder {
  Services services;
  Profile profile;
  uint64_t* lost_tables;
  uint64_t* lost_stacks;
};

template <typename T>
const T& as(const hprof_record* record) {
  return *reinterpret_cast<const T*>(record);
}

void write_table(Encoder& encoder, ProtoOut& out, const hprof_rec_table& table) {
  const StackTable stacks(table);
  if (!stacks.has_stacks()) return out.fail(HPROF_UNSUPPORTED);
  if (encoder.profile.has_begun() && !encoder.profile.has_table()) {
    encoder.profile.write(out, stacks, encoder.lost_stacks);
  } else if (encoder.lost_tables != nullptr) {
    __atomic_fetch_add(encoder.lost_tables, 1, __ATOMIC_RELAXED);
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

hprof_status create(const hprof_host* host, const void*, void** self, char*, uint32_t) {
  const Services services(host);
  if (services.ids == nullptr || services.mem == nullptr) return HPROF_UNSUPPORTED;
  Encoder* memory = services.allocate<Encoder>(1);
  if (memory == nullptr) return HPROF_NO_MEMORY;
  Encoder* encoder = new (memory) Encoder();
  encoder->services = services;
  if (!encoder->profile.open(services)) {
    encoder->profile.close();
    services.release(encoder, 1);
    return HPROF_NO_MEMORY;
  }
  if (services.log != nullptr) {
    encoder->lost_tables = services.log->loss_counter(host, "tables: a pprof message has one");
    encoder->lost_stacks = services.log->loss_counter(host, "stacks: no memory for their frames in pprof");
  }
  *self = encoder;
  return HPROF_OK;
}

hprof_status encode(void* self, const hprof_record* record, hprof_out* out) {
  ProtoOut proto(out);
  write_record(*static_cast<Encoder*>(self), proto, record);
  return proto.status();
}

void destroy(void* self) {
  auto* encoder = static_cast<Encoder*>(self);
  const Services services = encoder->services;
  encoder->profile.close();
  services.release(encoder, 1);
}

const hprof_encoder_ops kOps = {sizeof(hprof_encoder_ops),
                                0,
                                create,
                                encode,
                                destroy,
                                ".pb",
                                0,
                                HPROF_WHOLE_DEPTH,
                                "application/octet-stream",
                                HPROF_ENCODER_DOCUMENTS,
                                0,
                                "gzip"};

// Monitor records are taken and ignored, so that monitor=y works with its table alone.
constexpr const char* kRecords[] = {
    HPROF_KIND_REPORT_BEGIN,   HPROF_KIND_NOTE,         HPROF_KIND_TABLE, HPROF_KIND_MONITOR_WAIT,
    HPROF_KIND_MONITOR_WAITED, HPROF_KIND_MONITOR_DUMP, nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=pprof";

const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_ENCODER,
    "encoder_pprof",
    kSelect,
    "profile.proto, for go tool pprof, Pyroscope and Parca",
    nullptr,
    0,
    sizeof(hprof_option),
    0,
    0,
    0,
    0,
    0,
    kRecords,
    &kOps,
};
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::pprof

HPROF_MODULE(encoder_pprof, "1.0", "hprof", hprof::pprof::kUnits, 1)
