// Regions in RAM while they fit, then in temporary files, whose pages a watcher thread drops from RAM.
#include "tools/heap/big_array.h"

#include <algorithm>
#include <chrono>

#include "tools/os/os.h"

namespace hprof::tool {

namespace {
// Small regions are never spilled.
constexpr size_t kAlwaysInRam = size_t{1} << 20;
// Memory of the program besides the arrays: buffers, names, code.
constexpr uint64_t kReserve = uint64_t{48} << 20;
}  // namespace

thread_local unsigned MemoryBudget::steps_ = 0;

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
  if (limit_ != 0 && !watcher_.joinable()) watcher_ = std::thread([this] { watch(); });
  in_files_ = limit_ != 0;
  return region;
}

void* MemoryBudget::take(size_t size, size_t expected) {
  std::lock_guard<std::mutex> guard(mutex_);
  if (limit_ == 0 || expected <= kAlwaysInRam || charged_ + expected <= room())
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

// Leaves memory for the program, and a quarter for pages of regions in files: dropping pages too often is
// slow.
uint64_t MemoryBudget::room() const {
  return limit_ > 4 * kReserve ? limit_ - limit_ / 4 - kReserve / 2 : limit_ / 2;
}

uint64_t MemoryBudget::room_left() {
  std::lock_guard<std::mutex> guard(mutex_);
  if (limit_ == 0) return UINT64_MAX;
  return charged_ < room() ? room() - charged_ : 0;
}

// Drops pages of files, which come back from the page cache or the disk.
void MemoryBudget::look() {
  if (os::resident_bytes() <= look_at()) return;
  std::lock_guard<std::mutex> guard(mutex_);
  for (const Region& each : regions_) {
    if (each.in_file) os::drop_pages(each.start, each.size);
  }
}

// A thread, for code that reads regions from end to end without calling step().
void MemoryBudget::watch() {
  while (!stop_) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace hprof::tool
