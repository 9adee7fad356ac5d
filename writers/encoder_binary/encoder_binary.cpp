// The binary encoder: format=b, the JAVA PROFILE 1.0.1 and 1.0.2 files that heap analysers read.
//
// Readers refuse unknown records, or crash on them, so nothing is added to the format: notes, and tables
// without a record, are left out. After the tables of a window comes a string that says so, which nothing
// refers to. Counters of 4 bytes saturate.
#include <hprof/service/log.h>
#include <hprof/tables.h>

#include "binary.h"

namespace hprof::binary {

namespace {

// Bytes of a heap dump per record: as many as there is memory for.
constexpr uint64_t kSegmentMost = 1 << 20;
constexpr uint64_t kSegmentLeast = 256;

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
                                    HPROF_KIND_REPORT_END,
                                    HPROF_KINDS_OF_HEAP_DUMP,
                                    HPROF_KIND_FOREIGN_DUMP,
                                    nullptr};

// CMake reads this line, too, for the core's table of shipped modules.
constexpr const char* kSelect = "format=b";

constexpr hprof_unit kUnit =
    encoder_unit<Encoder>("encoder_binary", kSelect, "binary, as heap analysers read it", kRecords);
const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace

hprof_status Encoder::open(char*, uint32_t) {
  uint64_t most = kSegmentMost;
  while (!segment.open(Services(host), most)) {
    most /= 2;
    if (most < kSegmentLeast) return HPROF_NO_MEMORY;
  }
  const auto* log = find_service<hprof_log_service>(host, HPROF_SERVICE_LOG);
  if (log != nullptr)
    lost_elements = log->loss_counter(host, "array elements: a record of format=b holds 4 GiB");
  return HPROF_OK;
}

hprof_status Encoder::encode(const hprof_record* record, hprof_out* out) {
  // After an abort the state of the segment is meaningless.
  if (aborted != 0) return HPROF_ABORTED;
  BinaryOut binary(out, record->kind == HPROF_RECORD_FILE_BEGIN ? 8 : id_size);
  write_record(*this, binary, record);
  if (binary.status() == HPROF_ABORTED) aborted = 1;
  return binary.status();
}

bool Encoder::close() {
  end_foreign(*this);
  positions.close();
  segment.close();
  return true;
}

}  // namespace hprof::binary

HPROF_MODULE(encoder_binary, "1.0", "hprof", hprof::binary::kUnits, 1)
