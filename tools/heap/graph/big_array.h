// Arrays of billions of elements within a memory limit: the rest goes to temporary files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace hprof::tool {

// Allocates large zeroed regions. Thread: any. All regions are freed before it ends.
class MemoryBudget {
 public:
  // `limit` in bytes, 0 = none; `folder` for temporary files, "" = the system's.
  explicit MemoryBudget(uint64_t limit = 0, std::string folder = "");
  ~MemoryBudget();
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // `expected` of the `size` bytes will be touched; `streamed`: in the order of addresses, which suits a
  // file. Throws OutOfMemory: no room in RAM nor on disk.
  void* take(size_t size, size_t expected, bool streamed = false);
  // For rarely used data: in a temporary file, if one has room, whatever the limit.
  void* take_cold(size_t size);
  // Drops a region in a file from RAM, as it is not needed for now.
  void cool(void* region);
  void give_back(void* region);
  uint64_t spilled() const { return spilled_; }  // bytes ever put in temporary files
  uint64_t peak() const { return peak_; }        // most bytes in RAM that were requested
  // Bytes that still fit into RAM. Thread: any.
  uint64_t room_left();
  // Call it with the address of each element that is accessed in random order. Pages of files that no step
  // has touched for longest are dropped before there are too many. Thread: any.
  void step(const void* at) {
    if (!in_files_.load(std::memory_order_acquire)) return;
    std::atomic<uint8_t>& used = used_[reinterpret_cast<uintptr_t>(at) / kChunk % kChunks];
    if (used.load(std::memory_order_relaxed) != 0) return;
    used.store(1, std::memory_order_relaxed);
    if (++fresh_ < kFreshBetweenLooks) return;
    fresh_ = 0;
    look();
  }

 private:
  // Pages are kept or dropped by the chunk; it is also what the system maps at a page fault.
  static constexpr size_t kChunk = size_t{1} << 16;
  static constexpr size_t kChunks = size_t{1} << 18;  // marks; chunks that are 16 GiB apart share one
  static constexpr unsigned kFreshBetweenLooks = 32;
  struct Region {
    char* start;
    size_t size;
    size_t charged;  // against the limit
    bool in_file;
  };
  void* take_ram(size_t size, size_t expected);
  void* take_file(size_t size, std::string* error);
  uint64_t room() const;
  // Pages are dropped from this many resident bytes on.
  uint64_t look_at() const { return limit_ - limit_ / 8; }
  void look();
  size_t sweep(size_t most);
  void watch();

  uint64_t limit_;
  std::string folder_;
  std::mutex mutex_;
  std::vector<Region> regions_;
  uint64_t charged_ = 0, peak_ = 0;
  std::atomic<uint64_t> spilled_{0};
  std::atomic<uint64_t> least_{0};                // resident bytes below which dropping pages does not help
  std::atomic<bool> in_files_{false};             // there are regions in files, and a limit
  std::unique_ptr<std::atomic<uint8_t>[]> used_;  // by chunk: touched since the hand came by
  const char* hand_ = nullptr;                    // where the next sweep begins
  static thread_local unsigned fresh_;
  std::atomic<bool> stop_{false};
  std::thread watcher_;  // runs from the first spilled region on
};

struct OutOfMemory {
  std::string what;
};

// A fixed number of elements, zero at first.
template <typename T>
class BigArray {
 public:
  BigArray() = default;
  ~BigArray() { reset(); }
  BigArray(BigArray&& other) noexcept { swap(other); }
  BigArray& operator=(BigArray&& other) noexcept {
    if (this != &other) {
      reset();
      swap(other);
    }
    return *this;
  }
  BigArray(const BigArray&) = delete;
  BigArray& operator=(const BigArray&) = delete;

  // `expected`: how many of the elements will be used, when that is less.
  // `streamed`: see MemoryBudget::take().
  void allocate(MemoryBudget& budget, size_t count, size_t expected = SIZE_MAX, bool streamed = false) {
    reset();
    budget_ = &budget;
    size_ = count;
    if (count == 0) count = 1;  // memory that nobody uses, so that data_ is never null
    size_t used = expected < count ? expected : count;
    if (count > SIZE_MAX / sizeof(T)) throw OutOfMemory{"more elements than addresses"};
    data_ = static_cast<T*>(budget.take(count * sizeof(T), used * sizeof(T), streamed));
  }
  void allocate_cold(MemoryBudget& budget, size_t count) {
    reset();
    budget_ = &budget;
    size_ = count;
    data_ = static_cast<T*>(budget.take_cold((count != 0 ? count : 1) * sizeof(T)));
  }
  // Uses elements of another owner, which nobody writes.
  void borrow(const T* data, size_t count) {
    reset();
    data_ = const_cast<T*>(data);
    size_ = count;
  }
  void cool() {
    if (budget_ != nullptr) budget_->cool(data_);
  }
  void reset() {
    if (budget_ != nullptr && data_ != nullptr) budget_->give_back(data_);
    budget_ = nullptr;
    data_ = nullptr;
    size_ = 0;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  void swap(BigArray& other) {
    std::swap(budget_, other.budget_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  MemoryBudget* budget_ = nullptr;
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Elements that several threads add, in no order.
template <typename T>
class GrowingList {
 public:
  // More than `most` are dropped.
  void allocate(MemoryBudget& budget, size_t most) {
    elements_.allocate(budget, most);
    count_ = 0;
  }
  void reset() { elements_.reset(); }
  void add(const T& element) {
    const uint64_t place = count_.fetch_add(1, std::memory_order_relaxed);
    if (place < elements_.size()) elements_[place] = element;
  }
  size_t size() const { return count_ < elements_.size() ? static_cast<size_t>(count_) : elements_.size(); }
  T* begin() { return elements_.data(); }
  T* end() { return elements_.data() + size(); }
  const T* begin() const { return elements_.data(); }
  const T* end() const { return elements_.data() + size(); }
  // Drops those from `end` on.
  void cut_at(const T* end) { count_ = static_cast<uint64_t>(end - elements_.data()); }

 private:
  BigArray<T> elements_;
  std::atomic<uint64_t> count_{0};
};

// Unsigned numbers of kBytes bytes each. Different elements may be written by different threads.
template <unsigned kBytes>
class PackedArray {
 public:
  static constexpr uint64_t kMax = (uint64_t{1} << (8 * kBytes)) - 1;
  void allocate(MemoryBudget& budget, size_t count, bool streamed = false) {
    bytes_.allocate(budget, count * kBytes, SIZE_MAX, streamed);
  }
  BigArray<uint8_t>& bytes() { return bytes_; }
  const BigArray<uint8_t>& bytes() const { return bytes_; }
  void reset() { bytes_.reset(); }
  size_t size() const { return bytes_.size() / kBytes; }
  bool empty() const { return bytes_.empty(); }
  uint64_t get(size_t i) const {
    const uint8_t* from = bytes_.data() + i * kBytes;
    uint64_t value = 0;
    for (unsigned k = 0; k < kBytes; ++k) value |= uint64_t{from[k]} << (8 * k);
    return value;
  }
  void set(size_t i, uint64_t value) {
    uint8_t* to = bytes_.data() + i * kBytes;
    for (unsigned k = 0; k < kBytes; ++k) to[k] = static_cast<uint8_t>(value >> (8 * k));
  }

 private:
  BigArray<uint8_t> bytes_;
};

// Bits, clear at first.
class BitArray {
 public:
  void allocate(MemoryBudget& budget, size_t count) { words_.allocate(budget, count / 64 + 1); }
  BigArray<uint64_t>& words() { return words_; }
  const BigArray<uint64_t>& words() const { return words_; }
  void reset() { words_.reset(); }
  bool empty() const { return words_.empty(); }
  bool get(size_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  void set(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  // Sets a bit while other threads set bits, too.
  void set_shared(size_t i) { __atomic_fetch_or(&words_[i / 64], uint64_t{1} << (i % 64), __ATOMIC_RELAXED); }
  uint64_t count() const {
    uint64_t bits = 0;
    for (size_t i = 0; i < words_.size(); ++i) bits += static_cast<unsigned>(__builtin_popcountll(words_[i]));
    return bits;
  }

 private:
  BigArray<uint64_t> words_;
};

}  // namespace hprof::tool
