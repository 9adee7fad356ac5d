// An encoder at work in a test: made, fed, taken down; and what holds for every encoder, whatever it writes.
#pragma once

#include <doctest/doctest.h>
#include <map>
#include <string>

#include <hprof/encoder.h>

#include "core/pipeline/record_kinds.h"
#include "tests/unit/golden/recording.h"
#include "tools/mock/mock_config.h"
#include "tools/mock/mock_host.h"

extern "C" {
const hprof_module* hprof_module_encoder_ascii(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_binary(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_collapsed(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_flamegraph(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_jfr(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_json(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_otlp(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_pprof(const hprof_offer*, const char**);
}

namespace hprof {

class EncoderRun {
 public:
  // chunk: bytes of room that the encoder gets at a time, or exactly what it asks for if that is more.
  EncoderRun(MockHost& host, const hprof_unit& unit, const std::map<std::string, std::string>& options = {},
             uint32_t chunk = 65536)
      : out(chunk),
        unit_(unit),
        ops_(static_cast<const hprof_encoder_ops*>(unit.ops)),
        config_(unit, options),
        created_(ops_->create(host.host(), config_.data(), &self_, error_, sizeof error_)) {
    taken_.resolve(unit_.records, &kinds_);
  }
  ~EncoderRun() {
    if (self_ != nullptr) ops_->destroy(self_);
  }
  EncoderRun(const EncoderRun&) = delete;
  EncoderRun& operator=(const EncoderRun&) = delete;

  hprof_status created() const { return created_; }
  const char* why_not() const { return error_; }
  bool takes(const hprof_record* record) const { return taken_.takes(*record); }
  // What the unit does not take is left out, as the core does.
  hprof_status encode(const hprof_record* record) {
    if (created_ != HPROF_OK) return created_;
    if (!takes(record)) return HPROF_OK;
    return ops_->encode(self_, record, out.out());
  }
  // As it is, whatever the list says.
  hprof_status encode_any(const hprof_record* record) { return ops_->encode(self_, record, out.out()); }
  std::string bytes() { return out.bytes(); }

  MockOut out;

 private:
  const hprof_unit& unit_;
  RecordKinds kinds_;
  TakenKinds taken_;
  const hprof_encoder_ops* ops_;
  MockConfig config_;
  void* self_ = nullptr;
  char error_[256] = "";
  hprof_status created_;
};

// A record of type T with its head filled in.
template <typename T>
T make_record(uint32_t kind) {
  T record = {};
  record.head.size = sizeof(T);
  record.head.kind = kind;
  return record;
}

inline std::string encode_recording(Recording& recording, const hprof_unit& unit, uint32_t chunk = 65536) {
  EncoderRun run(recording.host, unit, {}, chunk);
  recording.play([&](const hprof_record* record) {
    const hprof_status status = run.encode(record);
    REQUIRE((status == HPROF_OK || status == HPROF_UNSUPPORTED));
  });
  CHECK(run.out.most_needed <= HPROF_OUT_MOST);
  return run.bytes();
}

// The bytes do not depend on how much room the output gives at a time.
inline void check_any_room(const hprof_unit& unit) {
  Recording recording;
  const std::string want = encode_recording(recording, unit);
  for (uint32_t chunk = 1; chunk < 200; chunk += chunk < 64 ? 1 : 7)
    REQUIRE(encode_recording(recording, unit, chunk) == want);
}

// An output that goes away ends a record at once, wherever it happens.
inline void check_output_that_goes(const hprof_unit& unit) {
  Recording recording;
  const std::string want = encode_recording(recording, unit);
  const uint64_t step = want.size() / 300 + 7;
  for (uint64_t limit = 0; limit < want.size(); limit += step) {
    EncoderRun run(recording.host, unit, {}, 16);
    run.out.abort_after = limit;
    bool aborted = false;
    recording.play([&](const hprof_record* record) {
      if (!aborted) aborted = run.encode(record) == HPROF_ABORTED;
    });
    // The last pieces may have fitted in the room given before the end.
    const std::string got = run.bytes();
    REQUIRE(got == want.substr(0, got.size()));
    REQUIRE((aborted || got.size() == want.size()));
  }
}

// Without memory or services an encoder is not made.
inline void check_not_made(const hprof_unit& unit) {
  MockHost host;
  host.memory_limit = 0;
  CHECK(EncoderRun(host, unit).created() == HPROF_NO_MEMORY);
  CHECK(host.memory_used == 0);
  MockHost without;
  without.set_service(HPROF_SERVICE_IDS, nullptr);
  CHECK(EncoderRun(without, unit).created() == HPROF_UNSUPPORTED);
}

}  // namespace hprof
