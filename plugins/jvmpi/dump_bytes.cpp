#include "dump_bytes.h"

namespace hprof::jvmpi {

bool DumpBytes::open(uint64_t room) {
  constexpr uint64_t kLeast = 1u << 16;
  while ((bytes_ = static_cast<char*>(services_.mem->reserve(services_.host, room))) == nullptr &&
         room > kLeast)
    room /= 2;
  room_ = bytes_ != nullptr ? room : 0;
  begin_ = end_ = room_ / 4;
  return bytes_ != nullptr;
}

uint64_t DumpBytes::append(uint64_t count) {
  const uint64_t at = end_;
  failed_ = failed_ || count > room_ - end_;
  if (!failed_) end_ += count;
  return at;
}

void DumpBytes::number(uint64_t value, uint32_t width) {
  const uint64_t at = append(width);
  if (!failed_) put_number(at, value, width);
}

void DumpBytes::put(const void* bytes, uint64_t count) {
  const uint64_t at = append(count);
  if (!failed_ && count != 0) std::memcpy(bytes_ + at, bytes, count);
}

void DumpBytes::prepend(const void* bytes, uint64_t count) {
  failed_ = failed_ || count > begin_;
  if (failed_) return;
  begin_ -= count;
  std::memcpy(bytes_ + begin_, bytes, count);
}

void DumpBytes::put_number(uint64_t at, uint64_t value, uint32_t width) {
  for (uint32_t i = 0; i < width; i++)
    bytes_[at + i] = static_cast<char>(value >> (8 * (width - 1 - i)) & 0xff);
}

}  // namespace hprof::jvmpi
