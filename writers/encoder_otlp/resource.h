// The attributes that say which process a profile is of: OpenTelemetry's conventions.
#pragma once

#include <hprof/cpp/profile_proto.hpp>
#include <hprof/cpp/services.hpp>

#include "process_context.h"

namespace hprof::otlp {

// What an attribute's value holds; a text unless it has none.
struct Value {
  hprof_text text;
  uint64_t number;
};

// AnyValue and KeyValue.
uint64_t value_size(const Value& value);
void write_value(proto::ProtoOut& out, uint32_t field, const Value& value);

class Resource {
 public:
  // Reads OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. [onload][control]
  void open(const Services& services);
  // Collects the attributes. `info` has all members of this version.
  void collect(const hprof_report_info& info);
  uint64_t size() const;
  void write(proto::ProtoOut& out) const;

 private:
  struct Attribute {
    hprof_text key;
    Value value;
  };
  static constexpr uint32_t kMost = 64;

  void add(hprof_text key, const Value& value);
  void add(const char* key, hprof_text text) { add(proto::text_of(key), {text, 0}); }
  void add_labels(const char* labels);
  void add_published();
  void add_environment();

  const hprof_host* host_ = nullptr;
  const hprof_io_service* io_ = nullptr;
  uint32_t java_version_ = 0;
  char service_[256] = "";
  char variable_[4096] = "";  // OTEL_RESOURCE_ATTRIBUTES
  char decoded_[4096] = "";   // its values
  char runtime_[8] = "";
  ProcessContext published_;
  Attribute list_[kMost];
  uint32_t count_ = 0;
};

}  // namespace hprof::otlp
