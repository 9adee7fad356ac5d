// Tests an encoder's life cycle: every kind of record, in buffers of all sizes, with lost outputs, and
// without memory.
#include <cstring>
#include <memory>

#include <hprof/encoder.h>

#include "tools/hprof/plugin/check_parts.h"
#include "tools/hprof/plugin/checked_host.h"
#include "tools/hprof/plugin/sample_records.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kAllocationsMost = 200;

// Buffers with a guard after each.
class GuardedOut {
 public:
  GuardedOut(CheckedHost& host, uint32_t chunk, uint64_t most) : host_(host), chunk_(chunk), left_(most) {
    table_.base.size = sizeof(hprof_out);
    table_.base.more = more;
    table_.self = this;
    make_room(chunk);
  }
  hprof_out* out() { return &table_.base; }
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
    if (used >= self.left_) return HPROF_ABORTED;
    self.left_ -= used;
    self.make_room(need > self.chunk_ ? need : self.chunk_);
    return self.left_ == 0 ? HPROF_ABORTED : HPROF_OK;
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
  std::unique_ptr<uint8_t[]> block_;
  uint8_t* begin_ = nullptr;
  uint8_t* end_ = nullptr;
};

bool takes(const hprof_unit& unit, const char* name, const hprof_record& record) {
  const char* const* list = unit.records;
  return is_taken(list, name) || (record.kind == HPROF_RECORD_TABLE && is_taken(list, HPROF_KIND_TABLE));
}

// Passes all samples through one encoder. False: it could not be created.
bool feed(CheckedHost& host, const hprof_unit& unit, const std::map<std::string, std::string>& options,
          uint32_t chunk, uint64_t most) {
  const auto& ops = *static_cast<const hprof_encoder_ops*>(unit.ops);
  const MockConfig config(unit, options);
  void* self = nullptr;
  char error[512] = "";
  host.findings.doing("create");
  const hprof_status made = ops.create(host.mock.host(), config.data(), &self, error, sizeof error);
  if (made != HPROF_OK) {
    host.check_refusal(made, error);
    if (host.mock.fail_allocation == UINT64_MAX) host.findings.remark(std::string("not run here: ") + error);
  } else {
    GuardedOut out(host, chunk, most);
    bool gone = false, has_list = unit.records != nullptr;
    each_sample(host.mock, [&](const char* name, const hprof_record& record) {
      const bool is_unknown = std::strcmp(name, kUnknownKind) == 0;
      // Kinds that the list does not name never reach the encoder.
      if (gone || (is_unknown ? has_list : !takes(unit, name, record))) return;
      host.findings.doing(std::string("encode of ") + name);
      host.where = Where::kWriter;
      const hprof_status status = ops.encode(self, &record, out.out());
      host.where = Where::kControl;
      out.look();
      gone = status == HPROF_ABORTED;
      if (gone && most == UINT64_MAX)
        host.fault(std::string("answers HPROF_ABORTED to ") + name + ", the output is there");
      if (is_unknown && status != HPROF_UNSUPPORTED && !gone)
        host.fault("answers " + status_name(status) + " to a kind that it cannot know");
      if (!is_unknown && has_list && status == HPROF_UNSUPPORTED)
        host.fault(std::string("answers HPROF_UNSUPPORTED to ") + name + ", which its records list");
      if (status < HPROF_OK || status > HPROF_ABORTED) host.fault("encode answers " + status_name(status));
    });
    host.findings.doing("destroy");
    ops.destroy(self);
  }
  host.check_balance();
  return made == HPROF_OK;
}

void life(const hprof_unit& unit, const Findings& findings) {
  for (uint32_t chunk : {1u, 61u, HPROF_OUT_MOST, 1u << 20}) {
    CheckedHost host(findings);
    if (!feed(host, unit, {}, chunk, UINT64_MAX)) return;
  }
}

void options(const hprof_unit& unit, const Findings& findings) {
  for (const auto& trial : option_trials(unit)) {
    const Findings named = with_trial(findings, trial);
    CheckedHost host(named);
    feed(host, unit, trial, 65536, UINT64_MAX);
  }
}

void no_output(const hprof_unit& unit, const Findings& findings) {
  const Findings quiet = without_remarks(findings);
  for (uint64_t most : {0, 1, 100, 5000, 200000}) {
    CheckedHost host(quiet);
    feed(host, unit, {}, 61, most);
  }
}

void no_memory(const hprof_unit& unit, const Findings& findings) {
  const Findings quiet = without_remarks(findings);
  for (uint64_t call = 0; call < kAllocationsMost; call++) {
    CheckedHost host(quiet);
    host.mock.fail_allocation = call;
    feed(host, unit, {}, 65536, UINT64_MAX);
    if (host.mock.allocations <= call) return;
  }
}

}  // namespace

std::vector<CheckStep> encoder_steps() {
  return {{"records of all kinds", life},
          {"options at their bounds", options},
          {"no memory at each call", no_memory},
          {"no output", no_output}};
}

}  // namespace hprof::tool
