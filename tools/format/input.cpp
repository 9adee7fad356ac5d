#include "tools/format/input.h"

#include <algorithm>
#include <cstring>

namespace hprof::tool {

size_t MemorySource::read(uint8_t* to, size_t size) {
  size = std::min(size, size_ - at_);
  if (size != 0) std::memcpy(to, bytes_ + at_, size);
  at_ += size;
  return size;
}

bool MemorySource::seek(uint64_t offset) {
  if (offset > size_) return false;
  at_ = static_cast<size_t>(offset);
  return true;
}

Input::Input(ByteSource& source, size_t buffer_size)
    : source_(source), buffer_(buffer_size), at_(buffer_.data()), end_(at_), filled_(at_) {}

void Input::clip() {
  end_ = filled_;
  uint64_t filled_offset = base_ + static_cast<uint64_t>(filled_ - buffer_.data());
  if (limit_ >= filled_offset) return;
  end_ = limit_ <= base_ ? buffer_.data() : buffer_.data() + (limit_ - base_);
  if (end_ < at_) end_ = at_;
}

void Input::set_limit(uint64_t offset) {
  limit_ = offset;
  ok_ = true;
  clip();
}

// Fails all reads until the next seek or limit.
bool Input::overrun() {
  end_ = at_;
  return ok_ = false;
}

bool Input::refill(size_t count) {
  if (!ok_) return false;
  if (limit_ != kUnknownSize && offset() + count > limit_) return overrun();
  size_t left = static_cast<size_t>(filled_ - at_);
  base_ = offset();
  std::memmove(buffer_.data(), at_, left);
  at_ = buffer_.data();
  filled_ = at_ + left;
  while (left < count) {
    size_t got = source_.read(filled_, buffer_.size() - left);
    if (got == 0) break;
    filled_ += got;
    left += got;
  }
  clip();
  return static_cast<size_t>(end_ - at_) >= count || overrun();
}

bool Input::at_end() {
  if (at_ < end_) return false;
  bool more = refill(1);
  ok_ = true;
  return !more;
}

uint64_t Input::value(unsigned size) {
  switch (size) {
    case 1:
      return u1();
    case 2:
      return u2();
    case 4:
      return u4();
    default:
      return u8();
  }
}

bool Input::skip(uint64_t count) {
  uint64_t buffered = static_cast<uint64_t>(end_ - at_);
  if (count <= buffered) {
    at_ += count;
    return true;
  }
  if (!ok_ || count > limit_ - offset()) return overrun();
  uint64_t target = offset() + count;
  uint64_t size = source_.size();
  if (size != kUnknownSize && target > size) return overrun();
  // Over a short distance, reading on is cheaper than a seek.
  if (size != kUnknownSize && count - buffered > buffer_.size()) return seek(target);
  while (count > 0) {
    if (!need(1)) return false;
    uint64_t step = std::min<uint64_t>(count, static_cast<uint64_t>(end_ - at_));
    at_ += step;
    count -= step;
  }
  return true;
}

bool Input::text(uint64_t count, std::string* text) {
  while (count > 0) {
    if (!need(1)) return false;
    size_t step = static_cast<size_t>(std::min<uint64_t>(count, static_cast<uint64_t>(end_ - at_)));
    text->append(reinterpret_cast<const char*>(at_), step);
    at_ += step;
    count -= step;
  }
  return true;
}

bool Input::line(size_t most, std::string* text, bool* cut) {
  for (;;) {
    if (!need(1)) return false;
    auto* end = static_cast<uint8_t*>(std::memchr(at_, '\n', static_cast<size_t>(end_ - at_)));
    size_t size = static_cast<size_t>((end == nullptr ? end_ : end) - at_);
    size_t room = most - text->size();
    *cut = *cut || size > room;
    text->append(reinterpret_cast<const char*>(at_), std::min(size, room));
    at_ += size;
    if (end == nullptr) continue;
    ++at_;
    return true;
  }
}

bool Input::seek(uint64_t offset) {
  uint64_t filled_offset = base_ + static_cast<uint64_t>(filled_ - buffer_.data());
  ok_ = true;
  if (offset >= base_ && offset <= filled_offset) {
    at_ = buffer_.data() + (offset - base_);
    clip();
    return true;
  }
  ok_ = source_.seek(offset);
  base_ = offset;
  at_ = end_ = filled_ = buffer_.data();
  return ok_;
}

}  // namespace hprof::tool
