#include "process_context.h"

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hprof::otlp {

namespace {

// Fields of KeyValue and AnyValue.
constexpr uint32_t kName = 1, kValue = 2, kText = 1, kInteger = 3;
// Wire types.
constexpr uint32_t kVarint = 0, kEight = 1, kBytes = 2, kFour = 5;

struct Header {
  char signature[8];
  uint32_t version, payload_size;
  uint64_t published_at_ns;  // 0: it is being changed
  uint64_t payload;          // its address
};
static_assert(sizeof(Header) == 32, "OTEP 4719");
constexpr uint32_t kVersion = 2;

bool take_varint(hprof_text* bytes, uint64_t* value) {
  *value = 0;
  for (uint32_t shift = 0; bytes->size != 0 && shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(*bytes->data++);
    bytes->size--;
    *value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// The system's file reads memory that may be unmapped at any time without a fault.
bool read_memory(uint64_t address, void* to, size_t size) {
  FILE* memory = std::fopen("/proc/self/mem", "rb");
  if (memory == nullptr) return false;
  std::setvbuf(memory, nullptr, _IONBF, 0);
  const bool fine = address <= LONG_MAX && std::fseek(memory, static_cast<long>(address), SEEK_SET) == 0 &&
                    std::fread(to, 1, size, memory) == size;
  std::fclose(memory);
  return fine;
}

bool is_context(const char* line) {
  static constexpr const char* kNames[] = {"/memfd:OTEL_CTX", "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]"};
  for (const char* name : kNames) {
    if (std::strstr(line, name) != nullptr) return true;
  }
  return false;
}

}  // namespace

bool take_field(hprof_text* bytes, Field* field) {
  *field = {};
  uint64_t head = 0, size = 0;
  if (!take_varint(bytes, &head)) return false;
  const auto type = static_cast<uint32_t>(head & 7);
  if (type == kVarint) {
    field->key = static_cast<uint32_t>(head >> 3);
    return take_varint(bytes, &field->number);
  }
  if (type == kBytes) {
    if (!take_varint(bytes, &size)) return false;
    field->key = static_cast<uint32_t>(head >> 3);
  } else if (type == kEight || type == kFour) {
    size = type == kEight ? 8 : 4;
  } else {
    return false;
  }
  if (size > bytes->size) return false;
  field->text = {bytes->data, size};
  bytes->data += size;
  bytes->size -= size;
  return true;
}

bool ProcessContext::is_attribute(hprof_text message, Field* name, Field* value) {
  for (Field field; take_field(&message, &field);) {
    if (field.key == kName) *name = field;
    if (field.key != kValue) continue;
    for (Field of_value; take_field(&field.text, &of_value);) {
      if (of_value.key == (of_value.text.data != nullptr ? kText : kInteger)) *value = of_value;
    }
  }
  return name->text.size != 0 && value->key != 0;
}

bool ProcessContext::read_at(uint64_t address) {
  Header header, after;
  if (!read_memory(address, &header, sizeof header) || std::memcmp(header.signature, "OTEL_CTX", 8) != 0 ||
      header.version != kVersion || header.published_at_ns == 0 || header.payload_size > kMost ||
      !read_memory(header.payload, bytes_, header.payload_size) ||
      !read_memory(address, &after, sizeof after) || after.published_at_ns != header.published_at_ns)
    return false;
  size_ = header.payload_size;
  return true;
}

void ProcessContext::read() {
  size_ = 0;
  FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    if (is_context(line) && read_at(std::strtoull(line, nullptr, 16))) break;
  }
  std::fclose(maps);
}

}  // namespace hprof::otlp
