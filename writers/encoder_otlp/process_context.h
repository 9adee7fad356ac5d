// What another part of the process publishes of it, such as an OpenTelemetry SDK: a mapping named OTEL_CTX
// (OTEP 4719).
#pragma once

#include <cstdint>

#include <hprof/abi.h>

namespace hprof::otlp {

// A field of a protocol buffer. A text or message has `text`, a number has text.data == nullptr.
struct Field {
  uint32_t key = 0;  // 0: of another type
  hprof_text text = {nullptr, 0};
  uint64_t number = 0;
};

// Takes the next field off the bytes. False: there is none, or the rest is no protocol buffer.
bool take_field(hprof_text* bytes, Field* field);

class ProcessContext {
 public:
  // Reads what is published now. Without it, and while it changes, there are no attributes. [control]
  void read();
  // Calls use(name, field) for each attribute of the resource that is a text or an integer.
  template <class Use>
  void each(const Use& use) const {
    hprof_text payload = {bytes_, size_};
    for (Field part; take_field(&payload, &part);) {
      if (part.key != kResource) continue;
      for (Field attribute; take_field(&part.text, &attribute);) {
        if (attribute.key != kAttribute) continue;
        Field name, value;
        if (is_attribute(attribute.text, &name, &value)) use(name.text, value);
      }
    }
  }

 private:
  static constexpr uint32_t kResource = 1, kAttribute = 1;
  static constexpr uint32_t kMost = 16384;

  bool read_at(uint64_t address);
  static bool is_attribute(hprof_text message, Field* name, Field* value);

  char bytes_[kMost];
  uint64_t size_ = 0;
};

}  // namespace hprof::otlp
