#include "resource.h"

#include <cstdlib>

#include <hprof/cpp/text.hpp>

namespace hprof::otlp {

using namespace proto;

namespace {

// Fields of AnyValue, KeyValue, Resource.
constexpr uint32_t kText = 1, kInt = 3;
constexpr uint32_t kKey = 1, kValue = 2;
constexpr uint32_t kAttributes = 1;

constexpr char kServiceName[] = "service.name";

bool is_same(hprof_text a, hprof_text b) {
  return a.size == b.size && std::memcmp(a.data, b.data, a.size) == 0;
}

int32_t hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Decodes %XX into `to`, which has room for it. Returns the size.
uint64_t decode(const char* text, uint64_t size, char* to) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < size; i++) {
    const int32_t high = text[i] == '%' && i + 2 < size ? hex_digit(text[i + 1]) : -1;
    const int32_t low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low >= 0) {
      to[count++] = static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      to[count++] = text[i];
    }
  }
  return count;
}

// The main class or jar of the launcher's command: without folder, module and ".jar".
hprof_text name_of(const char* program) {
  const char* name = program;
  for (const char* at = program; *at != 0; at++) {
    if (*at == '/' || *at == '\\') name = at + 1;
  }
  uint64_t size = std::strlen(name);
  if (size > 4 && std::memcmp(name + size - 4, ".jar", 4) == 0) size -= 4;
  return {name, size};
}

uint64_t attribute_size(hprof_text key, const Value& value) {
  return part_size(kKey, text_size(key)) + part_size(kValue, value_size(value));
}

}  // namespace

uint64_t value_size(const Value& value) {
  if (value.text.data != nullptr) return part_size(kText, text_size(value.text));
  return varint_size(kInt << 3) + varint_size(value.number);
}

void write_value(ProtoOut& out, uint32_t field, const Value& value) {
  out.begin(field, value_size(value));
  if (value.text.data != nullptr) return out.text(kText, value.text);
  out.varint(kInt << 3);
  out.varint(value.number);
}

void Resource::open(const Services& services) {
  host_ = services.host;
  io_ = services.io;
  java_version_ = services.settings().java_version;
  const auto copy = [](const char* name, char* to, uint64_t size) {
    const char* value = std::getenv(name);
    if (value != nullptr) TextBuffer(to, size).add(value);
  };
  copy("OTEL_SERVICE_NAME", service_, sizeof service_);
  copy("OTEL_RESOURCE_ATTRIBUTES", variable_, sizeof variable_);
}

// The first value of a key stands.
void Resource::add(hprof_text key, const Value& value) {
  for (uint32_t i = 0; i < count_; i++) {
    if (is_same(list_[i].key, key)) return;
  }
  if (count_ < kMost) list_[count_++] = {key, value};
}

void Resource::add_labels(const char* labels) {
  each_pair(labels, ':', ";", [&](hprof_text name, hprof_text value) {
    add(is_same(name, text_of("service")) ? text_of(kServiceName) : name, {value, 0});
  });
}

void Resource::add_published() {
  published_.read();
  published_.each([&](hprof_text name, const Field& value) { add(name, {value.text, value.number}); });
}

void Resource::add_environment() {
  if (service_[0] != 0) add(kServiceName, text_of(service_));
  char* to = decoded_;
  each_pair(variable_, '=', ",", [&](hprof_text name, hprof_text value) {
    const uint64_t size = decode(value.data, value.size, to);
    add(name, {{to, size}, 0});
    to += size;
  });
}

void Resource::collect(const hprof_report_info& info) {
  count_ = 0;
  add_labels(info.labels);
  add_published();
  add_environment();
  if (info.program != nullptr && info.program[0] != 0) add(kServiceName, name_of(info.program));
  add(kServiceName, text_of("unknown_service:java"));
  if (info.host_name != nullptr && info.host_name[0] != 0) add("host.name", text_of(info.host_name));
  if (io_ != nullptr) add(text_of("process.pid"), {{nullptr, 0}, io_->process_id(host_)});
  if (java_version_ != 0) {
    TextBuffer(runtime_, sizeof runtime_).add(java_version_);
    add("process.runtime.name", text_of("java"));
    add("process.runtime.version", text_of(runtime_));
  }
  add("telemetry.sdk.name", text_of("hprof"));
  add("telemetry.sdk.language", text_of("java"));
}

uint64_t Resource::size() const {
  uint64_t size = 0;
  for (uint32_t i = 0; i < count_; i++)
    size += part_size(kAttributes, attribute_size(list_[i].key, list_[i].value));
  return size;
}

void Resource::write(ProtoOut& out) const {
  for (uint32_t i = 0; i < count_; i++) {
    out.begin(kAttributes, attribute_size(list_[i].key, list_[i].value));
    out.text(kKey, list_[i].key);
    write_value(out, kValue, list_[i].value);
  }
}

}  // namespace hprof::otlp
