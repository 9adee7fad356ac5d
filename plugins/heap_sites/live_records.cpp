#include "plugins/heap_sites/live_records.h"

namespace hprof::sites {

static constexpr uint32_t kMostFree = 64;

LiveChunk* LiveRecords::take_chunk() {
  {
    LockGuard guard(free_lock_, services_);
    if (LiveChunk* chunk = free_) {
      free_ = chunk->next;
      free_count_--;
      chunk->next = nullptr;
      return chunk;
    }
  }
  return services_.allocate<LiveChunk>(1);
}

void LiveRecords::give_chunk(LiveChunk* chunk) {
  chunk->used.store(0, std::memory_order_relaxed);
  {
    LockGuard guard(free_lock_, services_);
    if (free_count_ < kMostFree) {
      chunk->next = free_;
      free_ = chunk;
      free_count_++;
      return;
    }
  }
  services_.release(chunk, 1);
}

bool LiveRecords::add(LiveChunk** open, void* reference, uint32_t site, uint64_t bytes) {
  LiveChunk* chunk = *open;
  if (chunk == nullptr && (chunk = *open = take_chunk()) == nullptr) return false;
  uint32_t used = chunk->used.load(std::memory_order_relaxed);
  LiveRecord& record = chunk->records[used];
  uint64_t units = (bytes + kUnit - 1) / kUnit;
  record.site = site;
  record.size_in_units = units < UINT32_MAX ? static_cast<uint32_t>(units) : UINT32_MAX;
  record.reference.store(reference, std::memory_order_relaxed);
  chunk->used.store(used + 1, std::memory_order_release);
  if (used + 1 < LiveChunk::kRecords) return true;
  *open = nullptr;
  LiveChunk* head = full_.load(std::memory_order_relaxed);
  do {
    chunk->next = head;
  } while (!full_.compare_exchange_weak(head, chunk, std::memory_order_release, std::memory_order_relaxed));
  return true;
}

void LiveRecords::end(const LiveRecord& record, void* reference, const LiveHooks& hooks) {
  if (hooks.release != nullptr) hooks.release(hooks.context, reference);
  hooks.ended(hooks.context, record.site, uint64_t{record.size_in_units} * kUnit);
}

// There is room.
void LiveRecords::keep(uint32_t generation, void* reference, const LiveRecord& record) {
  LiveChunk* chunk = generations_[generation];
  uint32_t used = chunk->used.load(std::memory_order_relaxed);
  LiveRecord& to = chunk->records[used];
  to.site = record.site;
  to.size_in_units = record.size_in_units;
  to.reference.store(reference, std::memory_order_relaxed);
  chunk->used.store(used + 1, std::memory_order_relaxed);
}

// Needs no memory: the rest of a chunk moves into the first chunk of the next generation, or the chunk itself
// moves there.
void LiveRecords::sift(LiveChunk* chunks, uint32_t into, const LiveHooks& hooks) {
  while (chunks != nullptr) {
    LiveChunk* chunk = chunks;
    chunks = chunk->next;
    if (hooks.is_wanted != nullptr && hooks.is_wanted(hooks.context)) {
      chunk->next = generations_[into];
      generations_[into] = chunk;
      continue;
    }
    uint32_t used = chunk->used.load(std::memory_order_acquire), left = 0;
    for (uint32_t i = 0; i < used; i++) {
      LiveRecord& record = chunk->records[i];
      void* reference = record.reference.load(std::memory_order_relaxed);
      if (reference == nullptr) continue;
      if (hooks.is_gone(hooks.context, reference)) {
        end(record, reference, hooks);
        continue;
      }
      LiveRecord& to = chunk->records[left++];
      if (&to != &record) {
        to.site = record.site;
        to.size_in_units = record.size_in_units;
      }
      to.reference.store(reference, std::memory_order_relaxed);
    }
    chunk->used.store(left, std::memory_order_relaxed);
    kept_ += left;
    LiveChunk* head = generations_[into];
    uint32_t room = head == nullptr ? 0 : LiveChunk::kRecords - head->used.load(std::memory_order_relaxed);
    if (left <= room) {
      for (uint32_t i = 0; i < left; i++) {
        keep(into, chunk->records[i].reference.load(std::memory_order_relaxed), chunk->records[i]);
      }
      give_chunk(chunk);
    } else {
      // The one with more room goes first.
      bool behind = head != nullptr && LiveChunk::kRecords - left < room;
      chunk->next = behind ? head->next : head;
      (behind ? head->next : generations_[into]) = chunk;
    }
  }
}

void LiveRecords::look(const LiveHooks& hooks, bool all) {
  kept_ = 0;
  looks_++;
  uint32_t pace = 1;
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < kGenerations; i++, pace *= kPace) {
    if (all || looks_ % pace == 0) oldest = i;
  }
  // The old generations first, so that nothing is checked twice.
  for (uint32_t i = oldest + 1; i-- > 1;) {
    LiveChunk* chunks = generations_[i];
    generations_[i] = nullptr;
    sift(chunks, i + 1 < kGenerations ? i + 1 : i, hooks);
  }
  sift(full_.exchange(nullptr, std::memory_order_acquire), 1, hooks);
}

void LiveRecords::look_at_open(LiveChunk* chunk, const LiveHooks& hooks) {
  if (chunk == nullptr) return;
  uint32_t used = chunk->used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; i++) {
    LiveRecord& record = chunk->records[i];
    void* reference = record.reference.load(std::memory_order_relaxed);
    if (reference == nullptr || !hooks.is_gone(hooks.context, reference)) continue;
    record.reference.store(nullptr, std::memory_order_relaxed);
    end(record, reference, hooks);
  }
}

void LiveRecords::forget_open(LiveChunk* chunk, const LiveHooks& hooks) {
  if (chunk == nullptr) return;
  uint32_t used = chunk->used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; i++) {
    void* reference = chunk->records[i].reference.exchange(nullptr, std::memory_order_relaxed);
    if (reference != nullptr) hooks.release(hooks.context, reference);
  }
}

void LiveRecords::forget(const LiveHooks& hooks) {
  LiveChunk* chunks = full_.exchange(nullptr, std::memory_order_acquire);
  for (uint32_t i = 0; i <= kGenerations; i++) {
    while (chunks != nullptr) {
      LiveChunk* next = chunks->next;
      forget_open(chunks, hooks);
      give_chunk(chunks);
      chunks = next;
    }
    if (i == kGenerations) break;
    chunks = generations_[i];
    generations_[i] = nullptr;
  }
  kept_ = 0;
}

void LiveRecords::close(const LiveHooks& hooks) {
  forget(hooks);
  while (free_ != nullptr) {
    LiveChunk* next = free_->next;
    services_.release(free_, 1);
    free_ = next;
  }
  free_count_ = 0;
}

}  // namespace hprof::sites
