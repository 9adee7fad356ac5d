// Regions in RAM while they fit, then in temporary files, whose pages a watcher thread drops from RAM.
#include "tools/heap/graph/big_array.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "tools/os/os.h"

namespace hprof::tool {

namespace {
// Small regions are never spilled.
constexpr size_t kAlwaysInRam = size_t{1} << 20;
// Memory of the program besides the arrays: buffers, names, code.
constexpr uint64_t kReserve = uint64_t{24} << 20;
}  // namespace

thread_local unsigned MemoryBudget::fresh_ = 0;

MemoryBudget::MemoryBudget(uint64_t limit, std::string folder) : limit_(limit), folder_(std::move(folder)) {}

MemoryBudget::~MemoryBudget() {
  stop_ = true;
  if (watcher_.joinable()) watcher_.join();
}

void* MemoryBudget::take_ram(size_t size, size_t expected) {
  void* region = os::map_memory(size);
  if (region == nullptr) throw OutOfMemory{"no memory for " + std::to_string(size) + " bytes"};
  regions_.push_back({static_cast<char*>(region), size, expected, false});
  charged_ += expected;
  peak_ = std::max(peak_, charged_);
  return region;
}

void* MemoryBudget::take_file(size_t size, std::string* error) {
  void* region = os::map_temporary(size, folder_, error);
  if (region == nullptr) return nullptr;
  regions_.push_back({static_cast<char*>(region), size, 0, true});
  if (limit_ != 0 && used_ == nullptr) {
    used_.reset(new std::atomic<uint8_t>[kChunks]());
    try {
      watcher_ = std::thread([this] { watch(); });
    } catch (const std::system_error&) {  // no more threads: step() looks often enough
    }
  }
  in_files_.store(limit_ != 0, std::memory_order_release);
  return region;
}

void* MemoryBudget::take(size_t size, size_t expected, bool streamed) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (limit_ == 0 || expected <= kAlwaysInRam || (!streamed && charged_ + expected <= room()))
    return take_ram(size, expected);
  std::string error;
  void* region = take_file(size, &error);
  if (region == nullptr) throw OutOfMemory{error};
  spilled_ += size;
  return region;
}

void* MemoryBudget::take_cold(size_t size) {
  std::lock_guard<std::mutex> guard(mutex_);
  std::string error;
  void* region = size <= kAlwaysInRam ? nullptr : take_file(size, &error);
  return region != nullptr ? region : take_ram(size, size);
}

void MemoryBudget::cool(void* region) {
  std::lock_guard<std::mutex> guard(mutex_);
  for (const Region& each : regions_) {
    if (each.start == region && each.in_file) os::drop_pages(each.start, each.size);
  }
}

void MemoryBudget::give_back(void* region) {
  std::lock_guard<std::mutex> guard(mutex_);
  auto found = std::find_if(regions_.begin(), regions_.end(),
                            [&](const Region& each) { return each.start == region; });
  if (found == regions_.end()) return;
  os::unmap(region, found->size);
  charged_ -= found->charged;
  regions_.erase(found);
}

// Half, less what the program takes: pages of regions in files that are in use get the rest.
uint64_t MemoryBudget::room() const {
  return std::max(limit_ / 4, limit_ / 2 - std::min(limit_ / 2, kReserve));
}

uint64_t MemoryBudget::room_left() {
  std::lock_guard<std::mutex> guard(mutex_);
  if (limit_ == 0) return UINT64_MAX;
  return charged_ < room() ? room() - charged_ : 0;
}

// Drops pages of files, which come back from the page cache or the disk: second chance, in the order of
// addresses.
void MemoryBudget::look() {
  constexpr size_t kBetweenLooks = size_t{4} << 20;
  constexpr uint64_t kLeastPages = uint64_t{8} << 20;
  if (os::resident_bytes() <= std::max<uint64_t>(look_at(), least_)) return;
  std::lock_guard<std::mutex> guard(mutex_);
  size_t all = 0;
  for (const Region& each : regions_) all += each.in_file ? each.size : 0;
  // The second time round no chunk has its mark.
  for (size_t left = 2 * all; left > 0;) {
    left -= std::min(left, sweep(kBetweenLooks));
    if (os::resident_bytes() <= std::max<uint64_t>(look_at() - limit_ / 16, least_)) return;
  }
  // The program alone takes more: without some pages it would not get on.
  const uint64_t resident = os::resident_bytes();
  if (resident > limit_) least_ = resident + kLeastPages;
}

// Moves the hand over at most so many bytes of one region, drops the chunks without a mark and takes the
// marks of the others. Returns the bytes.
size_t MemoryBudget::sweep(size_t most) {
  const Region* next = nullptr;   // the region with the hand in it or behind it
  const Region* first = nullptr;  // the region with the lowest address
  for (const Region& each : regions_) {
    if (!each.in_file) continue;
    if (first == nullptr || each.start < first->start) first = &each;
    if (each.start + each.size > hand_ && (next == nullptr || each.start < next->start)) next = &each;
  }
  if (next == nullptr) next = first;
  if (next == nullptr) return SIZE_MAX;
  char* const begin = hand_ > next->start && hand_ < next->start + next->size
                          ? next->start + (hand_ - next->start)
                          : next->start;
  char* const end = begin + std::min(most, static_cast<size_t>(next->start + next->size - begin));
  char* unused = begin;
  for (char* at = begin; at < end;) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    const size_t rest = std::min(kChunk - address % kChunk, static_cast<size_t>(end - at));
    std::atomic<uint8_t>& used = used_[address / kChunk % kChunks];
    if (used.load(std::memory_order_relaxed) != 0) {
      used.store(0, std::memory_order_relaxed);
      if (at > unused) os::drop_pages(unused, static_cast<size_t>(at - unused));
      unused = at + rest;
    }
    at += rest;
  }
  if (end > unused) os::drop_pages(unused, static_cast<size_t>(end - unused));
  hand_ = end;
  return static_cast<size_t>(end - begin);
}

// A thread, for code that reads regions from end to end without calling step().
void MemoryBudget::watch() {
  while (!stop_) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace hprof::tool
