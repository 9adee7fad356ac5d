// The bytes of dumps.
#include "plugins/jvmpi/dump_bytes.h"

namespace hprof::jvmpi {

uint64_t DumpBytes::append(uint64_t count) {
  if (size_ + count > room_ && !failed_) {
    const uint64_t room = room_ * 2 + count + 4096;
    char* more = services_.allocate<char>(room);
    failed_ = more == nullptr;
    if (!failed_) {
      if (size_ != 0) std::memcpy(more, bytes_, size_);
      services_.release(bytes_, room_);
      bytes_ = more;
      room_ = room;
    }
  }
  const uint64_t at = size_;
  if (!failed_) size_ += count;
  return at;
}

void DumpBytes::put_number(uint64_t at, uint64_t value, uint32_t width) {
  for (uint32_t i = 0; i < width; i++)
    bytes_[at + i] = static_cast<char>(value >> (8 * (width - 1 - i)) & 0xff);
}

}  // namespace hprof::jvmpi
