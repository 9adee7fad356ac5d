// An encoder at work in a test: made, fed, taken down.
#pragma once

#include <map>
#include <string>

#include <hprof/encoder.h>

#include "core/pipeline/record_kinds.h"
#include "tools/mock/mock_config.h"
#include "tools/mock/mock_host.h"

extern "C" {
const hprof_module* hprof_module_encoder_ascii(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_binary(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_collapsed(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_flamegraph(const hprof_offer*, const char**);
const hprof_module* hprof_module_encoder_json(const hprof_offer*, const char**);
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

}  // namespace hprof
