// The binary encoder: format=b, the JAVA PROFILE 1.0.1 and 1.0.2 files that heap analysers read.
//
// Readers refuse unknown records, or crash on them, so nothing is added to the format: notes, and tables
// without a record, are left out. Counters of 4 bytes saturate.
#include <new>

#include <hprof/cpp/service.hpp>
#include <hprof/service/log.h>
#include <hprof/tables.h>

#include "binary.h"

namespace hprof::binary {

namespace {

struct Config {
  uint64_t segment;
};

const hprof_option kOptions[] = {
    {"segment", HPROF_OPTION_SIZE, offsetof(Config, segment), "1m", nullptr, 256, 512.0 * 1024 * 1024,
     nullptr, "set the bytes of a heap dump per record"},
};

hprof_status create(const hprof_host* host, const void* config, void** self, char*, uint32_t) {
  const auto* ids = find_service<hprof_ids_service>(host, HPROF_SERVICE_IDS);
  const auto* mem = find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  const auto* log = find_service<hprof_log_service>(host, HPROF_SERVICE_LOG);
  if (ids == nullptr || mem == nullptr) return HPROF_UNSUPPORTED;
  void* memory = mem->allocate(host, sizeof(Encoder));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  Encoder* encoder = new (memory) Encoder();
  encoder->host = host;
  encoder->ids = ids;
  encoder->mem = mem;
  if (!encoder->segment.open(Services(host), static_cast<const Config*>(config)->segment)) {
    mem->release(host, memory, sizeof(Encoder));
    return HPROF_NO_MEMORY;
  }
  if (log != nullptr) {
    encoder->lost_elements =
        log->loss_counter(host, "array elements: a record of the binary format ends at 4 GiB");
  }
  *self = encoder;
  return HPROF_OK;
}

hprof_status encode(void* self, const hprof_record* record, hprof_out* out) {
  Encoder* encoder = static_cast<Encoder*>(self);
  // After an abort the state of the segment is meaningless.
  if (encoder->aborted != 0) return HPROF_ABORTED;
  BinaryOut binary(out, record->kind == HPROF_RECORD_FILE_BEGIN ? 8 : encoder->id_size);
  write_record(*encoder, binary, record);
  if (binary.status() == HPROF_ABORTED) encoder->aborted = 1;
  return binary.status();
}

void destroy(void* self) {
  Encoder* encoder = static_cast<Encoder*>(self);
  const auto* mem = encoder->mem;
  const hprof_host* host = encoder->host;
  end_foreign(*encoder);
  encoder->segment.close();
  mem->release(host, encoder, sizeof(Encoder));
}

// Without the tables of cpu=times, cpu=old and all of monitors: the core refuses those with format=b because
// of this list.
constexpr const char* kRecords[] = {HPROF_KIND_FILE_BEGIN,
                                    HPROF_KIND_FILE_END,
                                    HPROF_KIND_STRING,
                                    HPROF_KIND_CLASS,
                                    HPROF_KIND_CLASS_UNLOAD,
                                    HPROF_KIND_FRAME,
                                    HPROF_KIND_TRACE,
                                    HPROF_KIND_THREAD_START,
                                    HPROF_KIND_THREAD_END,
                                    HPROF_KIND_CONTROL_SETTINGS,
                                    HPROF_TABLE_CPU_SAMPLES,
                                    HPROF_TABLE_ALLOC_SITES,
                                    HPROF_TABLE_HEAP_SUMMARY,
                                    HPROF_KIND_HEAP_DUMP_BEGIN,
                                    HPROF_KIND_HEAP_DUMP_END,
                                    HPROF_KIND_HEAP_ROOT,
                                    HPROF_KIND_HEAP_CLASS,
                                    HPROF_KIND_HEAP_INSTANCE,
                                    HPROF_KIND_HEAP_OBJECT_ARRAY,
                                    HPROF_KIND_HEAP_PRIMITIVE_ARRAY,
                                    HPROF_KIND_FOREIGN_DUMP,
                                    nullptr};

const hprof_encoder_ops kOps = {
    sizeof(hprof_encoder_ops), 0, create, encode, destroy, "", HPROF_HEAP_AS_BYTES | HPROF_HEAP_ONE_A_FILE, 0,
    "application/octet-stream"};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=b";

const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_ENCODER,
    "encoder_binary",
    kSelect,
    "binary, as heap analysers read it",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    0,
    0,
    0,
    kRecords,
    &kOps,
};
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

}  // namespace hprof::binary

HPROF_MODULE(encoder_binary, "1.0", "hprof", hprof::binary::kUnits, 1)
