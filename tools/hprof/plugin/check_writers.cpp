// Tests filters and sinks: bytes in parts of all sizes, outputs that are full, slow or lost, and no memory.
#include <hprof/filter.h>
#include <hprof/sink.h>

#include "tools/hprof/plugin/check_parts.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kTimeout = 1000000000;
constexpr int kPatience = 8;  // consecutive writes that accept nothing

std::string some_bytes(size_t size) {
  std::string bytes(size, 0);
  for (size_t i = 0; i < size; i++) bytes[i] = static_cast<char>(i * 7 % 251);
  return bytes;
}

struct Passed {
  CheckedHost& host;
  uint64_t total = 0, most = UINT64_MAX;
};
hprof_status pass(void* context, const uint8_t* bytes, uint64_t size) {
  Passed& passed = *static_cast<Passed*>(context);
  if (bytes == nullptr && size != 0) passed.host.fault("passes on bytes that are not there");
  passed.total += size;
  return passed.total > passed.most ? HPROF_ABORTED : HPROF_OK;
}

bool filter(CheckedHost& host, const hprof_unit& unit, const Options& options, uint64_t most) {
  const auto& ops = *static_cast<const hprof_filter_ops*>(unit.ops);
  const MockConfig config(unit, options);
  void* self = nullptr;
  const hprof_status made = create_unit(host, ops, config, &self);
  if (made == HPROF_OK) {
    Passed passed = {host, 0, most};
    hprof_status status = HPROF_OK;
    // A filter is finished at each report, and starts again.
    for (int round = 0; round < 3 && status == HPROF_OK; round++) {
      for (size_t size : {1, 4096, 0, 1 << 20}) {
        const std::string bytes = some_bytes(size);
        host.findings.doing("write of " + std::to_string(size) + " bytes");
        host.where = Where::kWriter;
        if (status == HPROF_OK)
          status = ops.write(self, reinterpret_cast<const uint8_t*>(bytes.data()), size, &passed, pass);
      }
      host.findings.doing("finish");
      if (status == HPROF_OK) status = ops.finish(self, &passed, pass);
      host.where = Where::kControl;
    }
    if (status == HPROF_OK && passed.total > most) host.fault("goes on although the output is gone");
    host.check_status("write or finish", status);
    if (status != HPROF_OK && status != HPROF_ABORTED && status != HPROF_NO_MEMORY)
      host.fault("answers " + status_name(status));
    if (status != HPROF_OK && status != HPROF_NO_MEMORY && passed.total <= most)
      host.fault("stops although the output is there");
    if (passed.total == 0) host.fault("passes nothing on");
    host.findings.doing("destroy");
    ops.destroy(self);
  }
  host.check_balance();
  return made == HPROF_OK;
}

void filter_life(const hprof_unit& unit, const Findings& findings) {
  CheckedHost host(findings, unit);
  filter(host, unit, {}, UINT64_MAX);
}
void filter_no_output(const hprof_unit& unit, const Findings& findings) {
  CheckedHost host(without_remarks(findings), unit);
  filter(host, unit, {}, 0);
}

class SinkAtWork {
 public:
  SinkAtWork(CheckedHost& host, const hprof_unit& unit, const Options& options)
      : host_(host), ops_(*static_cast<const hprof_sink_ops*>(unit.ops)), config_(unit, options) {
    const Handed<hprof_sink_target> target(host,
                                           {0, 1, "check.out", HPROF_EXISTING_REPLACE, 0, "", 0, 0, "", ""});
    char error[512] = "";
    host.findings.doing("open");
    status_ = ops_.open(host.mock.host(), config_.data(), &target.of, &self_, error, sizeof error);
    if (status_ != HPROF_OK) host.check_refusal(status_, error, "not opened here: ");
  }
  ~SinkAtWork() {
    if (status_ == HPROF_OK) {
      char error[512] = "";
      host_.findings.doing("close");
      const hprof_status status = ops_.close(self_, complete_, error, sizeof error);
      if (status != HPROF_OK) host_.check_refusal(status, error);
    }
    host_.check_balance();
  }

  bool opened() const { return status_ == HPROF_OK; }
  void write(size_t size) {
    if (!opened() || !complete_) return;
    const std::string bytes = some_bytes(size);
    int stalled = 0;
    for (size_t done = 0; done < size && stalled < kPatience;) {
      char error[512] = "";
      host_.findings.doing("write of " + std::to_string(size - done) + " bytes");
      const int64_t wrote = ops_.write(self_, reinterpret_cast<const uint8_t*>(bytes.data()) + done,
                                       size - done, kTimeout, error, sizeof error);
      if (wrote > static_cast<int64_t>(size - done))
        return host_.fault("says that it wrote more than it was given");
      if (wrote < -1) host_.fault("write answers " + std::to_string(wrote));
      if (wrote < 0) {
        complete_ = 0;
        return host_.check_refusal(HPROF_FAILED, error);
      }
      stalled = wrote == 0 ? stalled + 1 : 0;
      done += static_cast<size_t>(wrote);
    }
    if (stalled == kPatience && !host_.is_troubled) host_.fault("takes nothing, although there is room");
  }
  void report(size_t size) {
    hprof_report_info known = {};
    known.sequence = known.reason = 1;
    known.unit = "check";
    known.labels = known.suffix = known.content_type = "";
    const Handed<hprof_report_info> info(host_, known);
    char error[512] = "";
    bool begun = opened();
    if (begun && HPROF_HAS(&ops_, hprof_sink_ops, begin_report)) {
      host_.findings.doing("begin_report");
      const hprof_status status = ops_.begin_report(self_, &info.of, error, sizeof error);
      begun = status == HPROF_OK;
      if (!begun) host_.check_refusal(status, error);
    }
    write(size);
    if (begun && HPROF_HAS(&ops_, hprof_sink_ops, end_report)) {
      host_.findings.doing("end_report");
      const hprof_status status = ops_.end_report(self_, &info.of, complete_, error, sizeof error);
      if (status != HPROF_OK) {
        host_.check_refusal(status, error);
        complete_ = 0;
      }
    }
  }
  void look_at_name() {
    if (opened() && ops_.name(self_) == nullptr) host_.fault("has a name that is NULL");
  }

 private:
  CheckedHost& host_;
  const hprof_sink_ops& ops_;
  MockConfig config_;
  void* self_ = nullptr;
  hprof_status status_;
  uint32_t complete_ = 1;
};

void use(CheckedHost& host, const hprof_unit& unit, const Options& options) {
  SinkAtWork sink(host, unit, options);
  sink.look_at_name();
  for (size_t size : {1, 4096, 1 << 18}) sink.write(size);
  sink.report(1000);
  sink.report(0);
}

void sink_life(const hprof_unit& unit, const Findings& findings) {
  CheckedHost host(findings, unit);
  use(host, unit, {});
}
void sink_places(const hprof_unit& unit, const Findings& findings) {
  const std::function<void(MockHost&)> troubles[] = {
      [](MockHost& mock) { mock.write_most = 1000; },
      [](MockHost& mock) { mock.stalled_writes = 3; },
      [](MockHost& mock) { mock.stalled_writes = UINT32_MAX; },
      [](MockHost& mock) { mock.space_left = 0; },
      [](MockHost& mock) { mock.space_left = 5000; },
      [](MockHost& mock) { mock.close_error = "Input/output error"; },
      [](MockHost& mock) { mock.connect_error = "Connection refused"; },
      [](MockHost& mock) {
        mock.files["check.out"] = {"check.out", "old", true, false};
      },
  };
  for (const auto& trouble : troubles) {
    CheckedHost host(without_remarks(findings), unit);
    trouble(host.mock);
    host.is_troubled = true;
    if (!host.mock.files.empty()) host.taken_file = host.mock.files.begin()->first;
    use(host, unit, {});
  }
}
}  // namespace

void use_filter(CheckedHost& host, const hprof_unit& unit, const Options& options) {
  filter(host, unit, options, UINT64_MAX);
}

void use_sink(CheckedHost& host, const hprof_unit& unit, const Options& options) { use(host, unit, options); }

std::vector<CheckStep> filter_steps() {
  return {{"bytes", "bytes in parts", filter_life}, {"output", "no output", filter_no_output}};
}

std::vector<CheckStep> sink_steps() {
  return {{"bytes", "bytes in parts", sink_life}, {"places", "places full, slow, gone", sink_places}};
}

}  // namespace hprof::tool
