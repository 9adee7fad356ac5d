#include "count_log.h"

#include <cstring>

namespace hprof::sites {

void CountLog::begin() {
  if (open_++ != 0) return;
  size_ = 0;
}

void CountLog::add(const Services& services, Count* count) {
  constexpr uint32_t kFirst = 64;
  if (size_ == room_) {
    const uint32_t room = room_ == 0 ? kFirst : 2 * room_;
    auto* grown = services.allocate<Grown>(room);
    if (grown == nullptr) return lose();
    if (size_ != 0) std::memcpy(grown, grown_, size_ * sizeof *grown);
    services.release(grown_, room_);
    grown_ = grown;
    room_ = room;
  }
  count->place = size_;
  grown_[size_++] = {count, count->allocated};
}

void CountLog::close(const Services& services) {
  services.release(grown_, room_);
  *this = CountLog();
}

}  // namespace hprof::sites
