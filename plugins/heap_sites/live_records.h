// Followed objects, from their allocation until they are found collected: one weak reference each.
//
// A thread fills a chunk of its own and hands it over when it is full. After each garbage collection the
// reaper checks the chunks handed over; surviving objects move to the next generation, which is checked less
// often, so that long-lived objects cost little. A report checks all of them, and the chunks being filled.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/lock.hpp>

namespace hprof::sites {

struct LiveRecord {
  std::atomic<void*> reference;  // jweak; null: done
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

// The connections to the VM and the sites.
struct LiveHooks {
  void* context;
  bool (*is_gone)(void* context, void* reference);
  void (*release)(void* context, void* reference);  // null: the VM ends, so the references of ended ones stay
  void (*ended)(void* context, uint32_t site, uint64_t bytes);  // an object of that site
  bool (*is_wanted)(void* context);  // somebody waits: postpone the rest. Null: never
};

class LiveRecords {
 public:
  static constexpr uint32_t kUnit = 8;
  static constexpr uint32_t kGenerations = 4;
  static constexpr uint32_t kPace = 4;  // a generation is checked once per this many checks of the one before

  void open(const Services& services) { services_ = services; }
  void close(const LiveHooks& hooks);

  // Adds to the thread's chunk. False: no memory, the caller keeps the reference. [app] owner of *chunk
  bool add(LiveChunk** chunk, void* reference, uint32_t site, uint64_t bytes);

  // Checks the generations whose turn it is, or all of them. One thread at a time: [control] or the reaper.
  void look(const LiveHooks& hooks, bool all);
  // Checks a chunk that is being filled. Together with look(all), by the thread that has stopped the reaper.
  static void look_at_open(LiveChunk* chunk, const LiveHooks& hooks);
  // Forgets all kept objects and those in an open chunk.
  void forget(const LiveHooks& hooks);
  static void forget_open(LiveChunk* chunk, const LiveHooks& hooks);
  uint64_t kept() const { return kept_; }  // objects at the last look
  // Calls visit(reference, site) for each kept object; nobody checks or forgets meanwhile. Threads may go on
  // adding: visit their open chunks first, so that no chunk is missed when it is handed over. [control][heap]
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
  static void end(const LiveRecord& record, void* reference, const LiveHooks& hooks);
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
