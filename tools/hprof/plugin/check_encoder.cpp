// Tests an encoder's life cycle: every kind of record, in buffers of all sizes, with lost outputs, and
// without memory.
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include <hprof/encoder.h>

#include "core/pipeline/record_check.h"
#include "tools/hprof/plugin/check_parts.h"
#include "tools/hprof/plugin/sample_records.h"

namespace hprof::tool {

namespace {

// Buffers with a guard after each.
class GuardedOut {
 public:
  GuardedOut(CheckedHost& host, uint32_t chunk, uint64_t most) : host_(host), chunk_(chunk), left_(most) {
    table_.base.size = sizeof(hprof_out) + host.later();
    table_.base.more = more;
    table_.self = this;
    make_room(chunk);
  }
  hprof_out* out() { return &table_.base; }
  bool is_gone() const { return is_gone_; }
  // After each record: checks that only the buffer has changed.
  void look() {
    const hprof_out& out = table_.base;
    if (out.end != end_ || out.at < begin_ || out.at > end_)
      host_.fault("moves beyond the room it was given");
    for (uint32_t i = 0; i < kGuard; i++) {
      if (end_[i] != kMark) host_.fault("writes beyond the room it was given");
      end_[i] = kMark;
    }
    table_.base.end = end_;
    if (out.at < begin_ || out.at > end_) table_.base.at = begin_;
  }

 private:
  struct Table {
    hprof_out base;
    GuardedOut* self;
  };
  static hprof_status more(hprof_out* out, uint32_t need) {
    GuardedOut& self = *reinterpret_cast<Table*>(out)->self;
    self.look();
    if (need > HPROF_OUT_MOST) self.host_.fault("asks for room for more than HPROF_OUT_MOST bytes");
    const uint64_t used = static_cast<uint64_t>(out->at - self.begin_);
    self.is_gone_ = used >= self.left_;
    if (self.is_gone_) return HPROF_ABORTED;
    self.left_ -= used;
    self.make_room(need > self.chunk_ ? need : self.chunk_);
    return HPROF_OK;
  }
  void make_room(uint32_t room) {
    block_.reset(new uint8_t[room + kGuard]);
    begin_ = table_.base.at = block_.get();
    end_ = table_.base.end = begin_ + room;
    std::memset(end_, kMark, kGuard);
  }

  static constexpr uint32_t kGuard = 64;
  static constexpr uint8_t kMark = 0xa5;
  CheckedHost& host_;
  Table table_ = {};
  uint32_t chunk_;
  uint64_t left_;
  bool is_gone_ = false;
  std::unique_ptr<uint8_t[]> block_;
  uint8_t* begin_ = nullptr;
  uint8_t* end_ = nullptr;
};

bool takes_events(const hprof_unit& unit) {
  const auto* ops = static_cast<const hprof_encoder_ops*>(unit.ops);
  return HPROF_REACHES(ops, hprof_encoder_ops, flags) &&
         (ops->flags & (HPROF_ENCODER_EVENTS | HPROF_ENCODER_EVENTS_ASKED)) != 0;
}

bool takes(const hprof_unit& unit, const char* name, const hprof_record& record) {
  if (is_events(record) && !takes_events(unit)) return false;
  const char* const* list = unit.records;
  return is_taken(list, name) || (record.kind == HPROF_RECORD_TABLE && is_taken(list, HPROF_KIND_TABLE));
}

// A record as a collector of a newer version writes it: longer, as are the rows that it points to.
class NewerRecord {
 public:
  NewerRecord(const hprof_record& of, uint32_t later) : record_(copy(&of, 1, of.size, of.size + later)) {
    record()->size = of.size + later;
    if (of.kind == HPROF_RECORD_TABLE) enlarge(reinterpret_cast<hprof_rec_table*>(record()), later);
    if (of.kind == HPROF_RECORD_MONITOR_DUMP)
      enlarge(reinterpret_cast<hprof_rec_monitor_dump*>(record()), later);
  }
  hprof_record* record() { return reinterpret_cast<hprof_record*>(record_.data()); }

 private:
  using Block = std::vector<uint64_t>;
  static Block copy(const void* rows, uint64_t count, uint32_t stride, uint32_t to) {
    Block block(count * to / sizeof(uint64_t) + 1, 0xa5a5a5a5a5a5a5a5ull);
    for (uint64_t i = 0; i < count; i++)
      std::memcpy(reinterpret_cast<char*>(block.data()) + i * to, static_cast<const char*>(rows) + i * stride,
                  stride);
    return block;
  }
  template <typename T>
  void enlarge(const T** rows, uint64_t count, uint32_t* stride, uint32_t later) {
    if (*rows == nullptr || count == 0) return;
    rows_.push_back(copy(*rows, count, *stride, *stride + later));
    *rows = reinterpret_cast<const T*>(rows_.back().data());
    *stride += later;
  }
  void enlarge(hprof_rec_table* table, uint32_t later) {
    schema_ = copy(table->schema, 1, table->schema->size, table->schema->size + later);
    auto* schema = reinterpret_cast<hprof_table_schema*>(schema_.data());
    schema->size += later;
    enlarge(&schema->columns, schema->column_count, &schema->column_stride, later);
    enlarge(&table->rows, table->row_count, &table->row_stride, later);
    table->schema = schema;
  }
  void enlarge(hprof_rec_monitor_dump* dump, uint32_t later) {
    enlarge(&dump->threads, dump->thread_count, &dump->thread_stride, later);
    enlarge(&dump->monitors, dump->monitor_count, &dump->monitor_stride, later);
  }

  Block record_, schema_;
  std::vector<Block> rows_;
};

// Passes all samples through one encoder. False: it could not be created.
bool feed(CheckedHost& host, const hprof_unit& unit, const Options& options, uint32_t chunk, uint64_t most) {
  const auto& ops = *static_cast<const hprof_encoder_ops*>(unit.ops);
  const MockConfig config(unit, options);
  host.mock.settings.events = takes_events(unit) ? 1 : 0;
  void* self = nullptr;
  const hprof_status made = create_unit(host, ops, config, &self);
  if (made == HPROF_OK) {
    GuardedOut out(host, chunk, most);
    bool gone = false, has_list = unit.records != nullptr;
    std::deque<NewerRecord> newer;
    each_sample(host.mock, [&](const char* name, const hprof_record& record) {
      const bool is_unknown = std::strcmp(name, kUnknownKind) == 0;
      // Kinds that the list does not name never reach the encoder.
      if (gone || (is_unknown ? has_list : !takes(unit, name, record))) return;
      host.findings.doing(std::string("encode of ") + name);
      host.where = Where::kWriter;
      // Schemas live as long as their collector.
      if (host.later() != 0) newer.emplace_back(record, host.later());
      const hprof_status status =
          ops.encode(self, host.later() != 0 ? newer.back().record() : &record, out.out());
      host.where = Where::kControl;
      out.look();
      if (out.is_gone() && status != HPROF_ABORTED) host.fault("goes on although the output is gone");
      gone = status == HPROF_ABORTED;
      if (gone && most == UINT64_MAX)
        host.fault(std::string("answers HPROF_ABORTED to ") + name + ", the output is there");
      if (is_unknown && status != HPROF_UNSUPPORTED && !gone)
        host.fault("answers " + status_name(status) + " to a kind that it cannot know");
      if (!is_unknown && has_list && status == HPROF_UNSUPPORTED)
        host.fault(std::string("answers HPROF_UNSUPPORTED to ") + name + ", which its records list");
      host.check_status("encode", status);
    });
    host.findings.doing("destroy");
    ops.destroy(self);
  }
  host.check_balance();
  return made == HPROF_OK;
}

void life(const hprof_unit& unit, const Findings& findings) {
  for (uint32_t chunk : {1u, 61u, HPROF_OUT_MOST, 1u << 20}) {
    CheckedHost host(findings, unit);
    if (!feed(host, unit, {}, chunk, UINT64_MAX)) return;
  }
}

void no_output(const hprof_unit& unit, const Findings& findings) {
  for (uint64_t most : {0, 1, 100, 5000, 200000}) {
    CheckedHost host(without_remarks(findings), unit);
    feed(host, unit, {}, 61, most);
  }
}

}  // namespace

void use_encoder(CheckedHost& host, const hprof_unit& unit, const Options& options) {
  feed(host, unit, options, 65536, UINT64_MAX);
}

std::vector<CheckStep> encoder_steps() {
  return {{"records", "records of all kinds", life}, {"output", "no output", no_output}};
}

}  // namespace hprof::tool
