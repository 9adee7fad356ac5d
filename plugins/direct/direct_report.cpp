#include "direct_report.h"

#include <algorithm>
#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/cutoff.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/report_rows.hpp>

namespace hprof::direct {

static constexpr const char* kKinds[] = {"",        "direct buffer", "reserved segment",
                                         "segment", "Unsafe",        "mapped file"};

static constexpr uint32_t kLiveBytes = 2;
static constexpr hprof_column kColumns[] = {
    {"kind", nullptr, HPROF_COLUMN_TEXT, HPROF_COLUMN_LEAF, nullptr, "what the memory is"},
    tables::kTrace,
    {"live_bytes", "live bytes", HPROF_COLUMN_BYTES, tables::kState | HPROF_COLUMN_DEFAULT, nullptr,
     "that are not freed"},
    {"live_objects", "live blocks", HPROF_COLUMN_COUNT, tables::kState, "blocks", "that are not freed"},
    {"allocated_bytes", "allocated bytes", HPROF_COLUMN_BYTES, tables::kWeight, nullptr, "of all blocks"},
    {"allocated_objects", "allocated blocks", HPROF_COLUMN_COUNT, tables::kWeight, "blocks", "all blocks"},
};
static constexpr hprof_table_schema kMemory = tables::schema<Row>(kDirectMemory, "DIRECT MEMORY", kColumns);
static constexpr hprof_table_schema kFiles = tables::schema<Row>(kMappedFiles, "MAPPED FILES", kColumns);

namespace {

// Most live bytes first.
struct ByLive {
  bool operator()(const Row& a, const Row& b) const {
    if (a.live_bytes != b.live_bytes) return a.live_bytes > b.live_bytes;
    if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
    return a.trace != b.trace ? a.trace < b.trace : a.kind < b.kind;
  }
};

// What java.nio.Bits has reserved, which is the memory of the VM's pool "direct". False: this VM does not
// say.
bool reserved_by_vm(const Services& services, uint64_t* bytes) {
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  const LocalFrame frame(jni, 8);
  if (!frame.is_open()) return false;
  const char* name = services.settings().java_version >= 9 ? "RESERVED_MEMORY" : "reservedMemory";
  jclass bits = without_exception(jni, jni->FindClass("java/nio/Bits"));
  jfieldID field = bits == nullptr
                       ? nullptr
                       : without_exception(jni, jni->GetStaticFieldID(
                                                    bits, name, "Ljava/util/concurrent/atomic/AtomicLong;"));
  jobject counter = field == nullptr ? nullptr : jni->GetStaticObjectField(bits, field);
  if (counter == nullptr) return false;
  jmethodID get = without_exception(jni, jni->GetMethodID(jni->GetObjectClass(counter), "get", "()J"));
  if (get == nullptr) return false;
  *bytes = static_cast<uint64_t>(jni->CallLongMethodA(counter, get, nullptr));
  const bool is_known = !jni->ExceptionCheck();
  clear_exception(jni);
  return is_known;
}

}  // namespace

// False: the site has nothing, or is not of this table. Freed blocks are read first, since they were taken
// before.
bool DirectReport::row_of(uint64_t key, const Site& site, bool is_mapped, Row* row) {
  const auto kind = static_cast<Kind>(key >> 32);
  if ((kind == Kind::kMappedFile) != is_mapped) return false;
  const uint64_t freed_bytes = site.freed_bytes.load(std::memory_order_acquire);
  const uint64_t freed_blocks = site.freed_blocks.load(std::memory_order_acquire);
  const uint64_t bytes = site.taken_bytes.load(std::memory_order_relaxed);
  const uint64_t blocks = site.taken_blocks.load(std::memory_order_relaxed);
  const char* name = kKinds[static_cast<uint32_t>(kind)];
  *row = {services_.ids->string(services_.host, {name, std::strlen(name)}),
          static_cast<uint32_t>(key),
          bytes - freed_bytes,
          blocks - freed_blocks,
          bytes - site.before_bytes,
          blocks - site.before_blocks};
  if (kind == Kind::kDirectBuffer || kind == Kind::kReservedSegment) reserved_bytes_ += row->live_bytes;
  return row->live_objects != 0 || row->allocated_objects != 0;
}

hprof_status DirectReport::write(const char* name, const Collector::Sites& sites) {
  const bool is_mapped = std::strcmp(name, kMappedFiles) == 0;
  ReportRows<Row, ByLive> rows(services_);
  const bool is_wanted = hprof_wants(&report_, name) != 0;
  if (!is_wanted || !rows.open(sites.size() + 1)) return is_wanted ? HPROF_NO_MEMORY : HPROF_OK;
  Row totals = {};
  sites.each([&](uint64_t key, const Site& site) {
    Row row;
    if (!row_of(key, site, is_mapped, &row)) return;
    totals.live_bytes += row.live_bytes;
    totals.live_objects += row.live_objects;
    totals.allocated_bytes += row.allocated_bytes;
    totals.allocated_objects += row.allocated_objects;
    rows.add(row);
  });
  if (is_mapped && rows.size() == 0) return HPROF_OK;
  rows.sort();
  left_out_ += rows.left_out();
  // One that lives no longer may have cost the most.
  const double live = least_shown(report_.cutoff, totals.live_bytes);
  const double allocated = least_shown(report_.cutoff, totals.allocated_bytes);
  Row* end = std::remove_if(rows.data(), rows.data() + rows.size(), [&](const Row& row) {
    return static_cast<double>(row.live_bytes) < live && static_cast<double>(row.allocated_bytes) < allocated;
  });
  hprof_rec_table table =
      table_of(is_mapped ? kFiles : kMemory, rows.data(), static_cast<uint64_t>(end - rows.data()));
  table.created_ms = services_.clock->wall_ms(services_.host);
  table.totals = cells_of(&totals);
  table.order = kLiveBytes;
  table.cutoff = report_.cutoff;
  return services_.emit->write(services_.host, &table.head);
}

hprof_status DirectReport::write_notes(uint32_t probes) {
  Note note;
  uint64_t of_vm = 0;
  if (hprof_wants(&report_, kDirectMemory) && reserved_by_vm(services_, &of_vm)) {
    note.add("direct=y: ")
        .add(reserved_bytes_)
        .add(" bytes of direct buffers and reserved segments live; the VM counts ");
    note.add(of_vm).add(" in its pool direct");
    if (of_vm > reserved_bytes_) note.add(": the others were there before, or came during the report");
  }
  hprof_status status = note.size() != 0 ? write_note(services_, note) : HPROF_OK;
  note.clear();
  if (services_.settings().java_version < 9)
    note.add("direct=y: not seen on Java 8: memory of Unsafe.allocateMemory, but for direct buffers");
  if (status == HPROF_OK && note.size() != 0) status = write_note(services_, note);
  note.clear();
  if (left_out_ != 0)
    note.add("direct=y: for want of memory rows are left out, those with the least: ").add(left_out_);
  if (status == HPROF_OK && note.size() != 0) status = write_note(services_, note);
  note.clear();
  // Classes that are not loaded yet have no counts.
  services_.probes->each_left(
      services_.host, probes, &note, [](void* to, const char* reason, uint64_t classes, uint64_t methods) {
        auto& text = *static_cast<Note*>(to);
        if (classes == 0 && methods == 0) return;
        text.add(text.size() == 0 ? "direct=y: methods of the JDK without probes: " : ", ").add(reason);
      });
  return status == HPROF_OK && note.size() != 0 ? write_note(services_, note) : status;
}

}  // namespace hprof::direct
