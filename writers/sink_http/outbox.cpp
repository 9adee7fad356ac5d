#include "outbox.h"

#include <cstring>

namespace hprof::http {

namespace {

constexpr uint64_t kStep = 64 * 1024;  // unit of charging memory

}  // namespace

bool Outbox::open(const Services& services, uint64_t most) {
  services_ = services;
  most_ = (most + kStep - 1) / kStep * kStep;
  built_ = static_cast<uint8_t*>(services.mem->reserve(services.host, most_));
  return built_ != nullptr;
}

void Outbox::destroy(Report* report) {
  services_.release(report->bytes, report->size);
  services_.release(report, 1);
}

void Outbox::close() {
  while (first_ != nullptr) {
    Report* next = first_->next;
    destroy(first_);
    first_ = next;
  }
  if (built_ == nullptr) return;
  services_.mem->uncharge(services_.host, charged_);
  services_.mem->unreserve(services_.host, built_, most_);
}

void Outbox::begin(const Report& head) {
  head_ = head;
  head_.size = 0;
  is_building_ = true;
}

bool Outbox::add(const uint8_t* bytes, uint64_t size) {
  is_building_ = is_building_ && size <= most_ - head_.size;
  while (is_building_ && charged_ < head_.size + size) {
    is_building_ = services_.mem->charge(services_.host, kStep) != 0;
    if (is_building_) charged_ += kStep;
  }
  if (!is_building_) return false;
  if (size != 0) std::memcpy(built_ + head_.size, bytes, size);
  head_.size += size;
  return true;
}

// Under the lock. Removes the oldest reports until there is room, and lists them in *gone.
uint64_t Outbox::make_room(Report** gone, uint64_t size) {
  // A report that is being sent stays.
  if (is_front_taken_ && first_->size + size > most_) return 0;
  Report** from = is_front_taken_ ? &first_->next : &first_;
  uint64_t count = 0;
  while (held_ + size > most_ && *from != nullptr) {
    Report* oldest = *from;
    *from = oldest->next;
    held_ -= oldest->size;
    count_--;
    count++;
    oldest->next = *gone;
    *gone = oldest;
  }
  if (*from == nullptr) last_ = is_front_taken_ ? first_ : nullptr;
  return count;
}

uint64_t Outbox::end() {
  if (!is_building_) return UINT64_MAX;
  is_building_ = false;
  if (head_.size == 0) return 0;
  auto* report = services_.allocate<Report>(1);
  if (report == nullptr) return UINT64_MAX;
  *report = head_;
  report->next = nullptr;
  report->bytes = services_.allocate<uint8_t>(head_.size);
  const bool is_copied = report->bytes != nullptr;
  if (is_copied) std::memcpy(report->bytes, built_, head_.size);
  Report* gone = nullptr;
  uint64_t lost = 0;
  bool is_taken = false;
  if (is_copied) {
    LockGuard guard(lock_, services_);
    lost = make_room(&gone, report->size);
    is_taken = held_ + report->size <= most_;
    if (is_taken) {
      (last_ != nullptr ? last_->next : first_) = report;
      last_ = report;
      held_ += report->size;
      count_++;
    }
  }
  while (gone != nullptr) {
    Report* next = gone->next;
    destroy(gone);
    gone = next;
  }
  if (!is_taken) destroy(report);
  return is_taken ? lost : UINT64_MAX;
}

Report* Outbox::front() {
  LockGuard guard(lock_, services_);
  is_front_taken_ = first_ != nullptr;
  return first_;
}

void Outbox::release_front() {
  LockGuard guard(lock_, services_);
  is_front_taken_ = false;
}

void Outbox::done() {
  Report* posted = nullptr;
  {
    LockGuard guard(lock_, services_);
    posted = first_;
    first_ = posted->next;
    if (first_ == nullptr) last_ = nullptr;
    held_ -= posted->size;
    count_--;
    is_front_taken_ = false;
  }
  destroy(posted);
}

uint64_t Outbox::count() {
  LockGuard guard(lock_, services_);
  return count_;
}

}  // namespace hprof::http
