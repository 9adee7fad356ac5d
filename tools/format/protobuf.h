// Reads messages of protocol buffers in memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace hprof::tool::protobuf {

constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t value = 0;     // of a number; the length of bytes
  std::string_view text;  // of bytes
};

// The fields of a message. False: its end, or it is broken, and ok() is false.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_(bytes) {}

  bool next(Field* field) {
    if (!ok_ || rest_.empty()) return false;
    const uint64_t key = varint();
    field->number = static_cast<uint32_t>(key >> 3);
    field->wire = static_cast<uint32_t>(key & 7);
    field->value = 0;
    field->text = {};
    if (field->wire == kVarint) {
      field->value = varint();
    } else if (field->wire == kBytes) {
      field->value = varint();
      field->text = take(field->value);
    } else if (field->wire == kFixed64 || field->wire == kFixed32) {
      field->value = little_endian(field->wire == kFixed64 ? 8 : 4);
    } else {
      ok_ = false;
    }
    return ok_;
  }
  // Appends one number, or all packed ones.
  static bool numbers(const Field& field, std::vector<uint64_t>* to) {
    if (field.wire == kVarint) {
      to->push_back(field.value);
      return true;
    }
    Message packed(field.text);
    while (packed.ok_ && !packed.rest_.empty()) to->push_back(packed.varint());
    return packed.ok_ && field.wire == kBytes;
  }
  bool ok() const { return ok_; }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }
  uint64_t little_endian(uint32_t size) {
    uint64_t value = 0;
    uint32_t shift = 0;
    for (const char each : take(size)) {
      value |= uint64_t{static_cast<uint8_t>(each)} << shift;
      shift += 8;
    }
    return value;
  }
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view taken = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace hprof::tool::protobuf
