// Followed objects, from their allocation until they are found collected: one weak reference each.
//
// A thread fills a chunk of its own and hands it over when it is full. After each garbage collection the
// reaper checks the chunks handed over; surviving objects move to the next generation, which is checked less
// often, so that long-lived objects cost little. A report checks all of them, and the chunks being filled.
//
// A record may keep the weak reference of a collected object, for the next object in it.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/services.hpp>
#include <hprof/draft/weaks.h>

namespace hprof::sites {

// Twelve bytes: 46 bits of the reference (a pointer to a word, of which at most the lowest bit is set), 20 of
// the site, 30 of the size. One is made for each object between two collections. Zeroed memory is a record.
class LiveRecord {
 public:
  static constexpr uint32_t kEnded = 0;
  static constexpr uint32_t kSiteBits = 20, kSizeBits = 30;
  static constexpr uint32_t kMostSize = (1u << kSizeBits) - 1;

  static bool fits(const void* reference) {
    const uint64_t bits = reinterpret_cast<uintptr_t>(reference);
    return kIsNarrow || ((bits & kNoBits) == 0 && bits >> kAddressBits == 0);
  }
  // jweak; null: none.
  void* reference() const {
    const uint64_t bits = uint64_t{middle_} << 32 | low_;
    const uint64_t wide = (bits & kHigh) << 2 | (bits & 1);
    return reinterpret_cast<void*>(static_cast<uintptr_t>(kIsNarrow ? low_ : wide));
  }
  void set_reference(void* reference) {
    const uint64_t bits = reinterpret_cast<uintptr_t>(reference);
    const uint64_t packed = kIsNarrow ? bits : (bits >> 2 & kHigh) | (bits & 1);
    low_ = static_cast<uint32_t>(packed);
    middle_ = (middle_ & ~kMiddle) | static_cast<uint32_t>(packed >> 32);
  }
  // kEnded: the object has been collected.
  uint32_t site() const {
    return (middle_ >> kMiddleBits) | (high_ & ((1u << kSiteHighBits) - 1)) << (32 - kMiddleBits);
  }
  // In units of LiveRecords::kUnit bytes; kMostSize: that or more.
  uint32_t size() const { return high_ >> kSiteHighBits; }
  void set(uint32_t site, uint32_t size) {
    middle_ = (middle_ & kMiddle) | site << kMiddleBits;
    high_ = size << kSiteHighBits | site >> (32 - kMiddleBits);
  }

 private:
  static constexpr bool kIsNarrow = sizeof(void*) == 4;
  static constexpr uint32_t kAddressBits = 48;
  static constexpr uint64_t kNoBits = 6;  // low bits of a reference that are always 0
  static constexpr uint64_t kHigh = ((uint64_t{1} << kAddressBits) - 8) >> 2;
  static constexpr uint32_t kMiddleBits = kAddressBits - 2 - 32;
  static constexpr uint32_t kMiddle = (1u << kMiddleBits) - 1;
  static constexpr uint32_t kSiteHighBits = kSiteBits - (32 - kMiddleBits);
  static_assert(kSiteHighBits + kSizeBits == 32, "no bit is left");

  uint32_t low_, middle_, high_;
};

static_assert(sizeof(LiveRecord) == 12, "docs/heap-sites.md says so");

struct LiveChunk {
  static constexpr uint32_t kRecords = 1360;  // 16 KiB
  LiveChunk* next;
  std::atomic<uint32_t> used;
  LiveRecord records[kRecords];
};

// The state of one thread; only that thread changes it.
struct FollowThread {
  LiveChunk* open = nullptr;  // being filled; the reaper reads it
  hprof_weak_thread weak = {};
};

// Callbacks into the VM and the sites.
struct LiveHooks {
  void* context;
  uint64_t (*are_gone)(void* context, void* const* references, uint32_t count);  // bit i: that object was
                                                                                 // collected; count <= 64
  void (*release)(void* context, void* reference);
  bool keeps;  // references of collected objects stay for reuse; or the VM ends
  void (*ended)(void* context, uint32_t site, uint64_t bytes);  // an object of that site was collected
  bool (*is_wanted)(void* context);  // true: postpone the rest, a report waits. Null: never
};

class LiveRecords {
 public:
  static constexpr uint32_t kUnit = 8;
  static constexpr uint32_t kGenerations = 4;
  static constexpr uint32_t kPace = 4;  // a generation is checked at every kPace-th check of the one before

  void open(const Services& services) { services_ = services; }
  void close(const LiveHooks& hooks);

  // The next record of the thread's chunk; the caller sets its reference. It may have the reference of a
  // collected object. Null: no memory until chunks have been freed. [app] owner of *chunk
  LiveRecord* next(LiveChunk** open) {
    LiveChunk* chunk = *open;
    if (chunk == nullptr && (chunk = *open = take_chunk()) == nullptr) return nullptr;
    return &chunk->records[chunk->used.load(std::memory_order_relaxed)];
  }
  // Adds the record that next() returned. [app] owner of *chunk
  void add(LiveChunk** chunk, uint32_t site, uint64_t bytes);
  // The reference of a record a few records ahead, to prefetch; null: it has none. [app] owner of *chunk
  static const void* later_reference(const LiveChunk* chunk) {
    constexpr uint32_t kLater = 4;
    const uint32_t number = chunk->used.load(std::memory_order_relaxed) + kLater;
    return number < LiveChunk::kRecords ? chunk->records[number].reference() : nullptr;
  }

  // Checks the generations whose turn it is, or all of them. One thread at a time: [control] or the reaper.
  void check(const LiveHooks& hooks, bool all);
  // Checks a chunk that is being filled. Only with check(all), on the thread that has stopped the reaper.
  static void check_open(LiveChunk* chunk, const LiveHooks& hooks);
  // Frees the chunks and references kept for reuse. [control]
  void let_go(const LiveHooks& hooks) { trim(0, hooks); }
  // Forgets all records and those of an open chunk.
  void forget(const LiveHooks& hooks);
  static void forget_open(LiveChunk* chunk, const LiveHooks& hooks);
  uint64_t kept() const { return kept_; }  // objects at the last check
  // Calls visit(reference, site) for each kept object; no check and no forget runs meanwhile. Threads may add
  // records: visit their open chunks first, or a chunk that is handed over then is missed. [control][heap]
  template <class Visit>
  void each(const Visit& visit) const {
    each_of(full_.load(std::memory_order_acquire), visit);
    for (const LiveChunk* chunks : generations_) each_of(chunks, visit);
  }
  template <class Visit>
  static void each_open(const LiveChunk* chunk, const Visit& visit) {
    const uint32_t used = chunk != nullptr ? chunk->used.load(std::memory_order_acquire) : 0;
    for (uint32_t i = 0; i < used; i++) {
      const LiveRecord& record = chunk->records[i];
      if (record.site() != LiveRecord::kEnded) visit(record.reference(), record.site());
    }
  }

 private:
  static void release(LiveRecord& record, const LiveHooks& hooks);
  static void end(LiveRecord& record, const LiveHooks& hooks);
  template <class Live>
  static void check_chunk(LiveChunk* chunk, const LiveHooks& hooks, const Live& live);
  static void move(LiveRecord& record, LiveRecord* to);
  template <class Visit>
  static void each_of(const LiveChunk* chunks, const Visit& visit) {
    for (; chunks != nullptr; chunks = chunks->next) each_open(chunks, visit);
  }
  LiveChunk* take_chunk();
  void give_chunk(LiveChunk* chunk);
  void trim(uint32_t most, const LiveHooks& hooks);
  void sift(LiveChunk* chunks, uint32_t into, const LiveHooks& hooks);
  void keep(uint32_t generation, LiveRecord& record);

  Services services_;
  std::atomic<LiveChunk*> full_{nullptr};  // handed over
  std::atomic<bool> exhausted_{false};     // no memory, and none was freed since
  Lock free_lock_;
  LiveChunk* free_ = nullptr;
  uint32_t free_count_ = 0;
  std::atomic<uint32_t> taken_{0};  // chunks taken since the last check
  uint32_t usual_ = 0;              // recent maximum of taken_
  LiveChunk* generations_[kGenerations] = {};
  uint32_t checks_ = 0;
  uint64_t kept_ = 0;
};

}  // namespace hprof::sites
