// Objects that were seen to be made, until they are seen to be gone: one weak reference each.
//
// A thread fills a chunk of its own and hands it over when it is full. The reaper goes through what was
// handed over after each garbage collection; what is still there moves to the next generation, which is
// looked at less often, so that what lives long costs little. A report looks at all, and at the chunks that
// are being filled.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/lock.hpp>

namespace hprof::sites {

struct LiveRecord {
  std::atomic<void*> reference;  // jweak; null: it has been dealt with
  uint32_t site;
  uint32_t size_in_units;  // of kUnit bytes; UINT32_MAX: that or more
};

struct LiveChunk {
  static constexpr uint32_t kRecords = 1022;
  LiveChunk* next;
  std::atomic<uint32_t> used;
  uint32_t reserved;
  LiveRecord records[kRecords];
};

// What the VM and the sites have to do with it.
struct LiveHooks {
  void* context;
  bool (*is_gone)(void* context, void* reference);
  void (*release)(void* context, void* reference);
  void (*ended)(void* context, uint32_t site, uint64_t bytes);  // an object of that site
  bool (*is_wanted)(void* context);  // somebody waits: put the rest off. Null: nobody does
};

class LiveRecords {
 public:
  static constexpr uint32_t kUnit = 8;
  static constexpr uint32_t kGenerations = 4;
  static constexpr uint32_t kPace =
      4;  // each generation is looked at once in so many looks at the one before

  void open(const Services& services) { services_ = services; }
  void close(const LiveHooks& hooks);

  // Adds to the thread's chunk. False: no memory, the caller keeps the reference. [app] owner of *chunk
  bool add(LiveChunk** chunk, void* reference, uint32_t site, uint64_t bytes);

  // Looks at generations whose turn it is; all = true: at all. One at a time: [control] or the reaper.
  void look(const LiveHooks& hooks, bool all);
  // Looks at the part of a chunk that is being filled. With look(all), by whoever has stopped the reaper.
  static void look_at_open(LiveChunk* chunk, const LiveHooks& hooks);
  // Forgets all of the kept ones and what is in an open chunk.
  void forget(const LiveHooks& hooks);
  static void forget_open(LiveChunk* chunk, const LiveHooks& hooks);
  uint64_t kept() const { return kept_; }  // objects at the last look
  // Calls visit(reference, site) for each kept one; nobody looks or forgets meanwhile. Threads may go on to
  // add: go through their open chunks first, so that none that is handed over is missed. [control][heap]
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
      void* reference = record.reference.load(std::memory_order_relaxed);
      if (reference != nullptr) visit(reference, record.site);
    }
  }

 private:
  template <class Visit>
  static void each_of(const LiveChunk* chunks, const Visit& visit) {
    for (; chunks != nullptr; chunks = chunks->next) each_open(chunks, visit);
  }
  LiveChunk* take_chunk();
  void give_chunk(LiveChunk* chunk);
  void sift(LiveChunk* chunks, uint32_t into, const LiveHooks& hooks);
  void keep(uint32_t generation, void* reference, const LiveRecord& record);

  Services services_;
  std::atomic<LiveChunk*> full_{nullptr};  // handed over
  Lock free_lock_;
  LiveChunk* free_ = nullptr;
  uint32_t free_count_ = 0;
  LiveChunk* generations_[kGenerations] = {};
  uint32_t looks_ = 0;
  uint64_t kept_ = 0;
};

}  // namespace hprof::sites
