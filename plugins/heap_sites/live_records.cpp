#include "live_records.h"

namespace hprof::sites {

static constexpr uint32_t kFewest = 64;  // chunks kept for reuse
static constexpr uint32_t kForgets = 8;  // usual_ falls by an eighth with each check

// An exhausted budget is remembered until the next collection, since millions of objects may come until then.
LiveChunk* LiveRecords::take_chunk() {
  if (exhausted_.load(std::memory_order_relaxed)) return nullptr;
  taken_.fetch_add(1, std::memory_order_relaxed);
  {
    LockGuard guard(free_lock_, services_);
    if (LiveChunk* chunk = free_) {
      free_ = chunk->next;
      free_count_--;
      chunk->next = nullptr;
      return chunk;
    }
  }
  LiveChunk* made = services_.allocate<LiveChunk>(1);
  if (made != nullptr) return made;
  LockGuard guard(free_lock_, services_);
  exhausted_.store(free_ == nullptr, std::memory_order_relaxed);
  return nullptr;
}

void LiveRecords::give_chunk(LiveChunk* chunk) {
  chunk->used.store(0, std::memory_order_relaxed);
  LockGuard guard(free_lock_, services_);
  chunk->next = free_;
  free_ = chunk;
  free_count_++;
  exhausted_.store(false, std::memory_order_relaxed);
}

void LiveRecords::release(LiveRecord& record, const LiveHooks& hooks) {
  if (record.reference() != nullptr) hooks.release(hooks.context, record.reference());
  record.set_reference(nullptr);
}

// Frees chunks that wait to be filled, down to `most`. New ones may find memory then.
void LiveRecords::trim(uint32_t most, const LiveHooks& hooks) {
  for (;;) {
    LiveChunk* chunk;
    {
      LockGuard guard(free_lock_, services_);
      chunk = free_count_ > most ? free_ : nullptr;
      if (chunk == nullptr) break;
      free_ = chunk->next;
      free_count_--;
    }
    for (LiveRecord& record : chunk->records) release(record, hooks);
    services_.release(chunk, 1);
  }
  exhausted_.store(false, std::memory_order_relaxed);
}

void LiveRecords::add(LiveChunk** open, uint32_t site, uint64_t bytes) {
  LiveChunk* chunk = *open;
  uint32_t used = chunk->used.load(std::memory_order_relaxed);
  const uint64_t units = (bytes + kUnit - 1) / kUnit;
  chunk->records[used].set(
      site, units < LiveRecord::kMostSize ? static_cast<uint32_t>(units) : LiveRecord::kMostSize);
  chunk->used.store(used + 1, std::memory_order_release);
  if (used + 1 < LiveChunk::kRecords) return;
  *open = nullptr;
  LiveChunk* head = full_.load(std::memory_order_relaxed);
  do {
    chunk->next = head;
  } while (!full_.compare_exchange_weak(head, chunk, std::memory_order_release, std::memory_order_relaxed));
}

void LiveRecords::end(LiveRecord& record, const LiveHooks& hooks) {
  if (!hooks.keeps) release(record, hooks);
  hooks.ended(hooks.context, record.site(), uint64_t{record.size()} * kUnit);
  record.set(LiveRecord::kEnded, 0);
}

// Ends the records whose objects have been collected, and calls live(record) for the others, in their order.
template <class Live>
void LiveRecords::check_chunk(LiveChunk* chunk, const LiveHooks& hooks, const Live& live) {
  constexpr uint32_t kAtOnce = 64;
  const uint32_t used = chunk->used.load(std::memory_order_acquire);
  for (uint32_t from = 0; from < used; from += kAtOnce) {
    LiveRecord* records[kAtOnce];
    void* references[kAtOnce];
    uint32_t count = 0;
    for (uint32_t i = from; i < used && i < from + kAtOnce; i++) {
      LiveRecord& record = chunk->records[i];
      if (record.site() == LiveRecord::kEnded) continue;
      references[count] = record.reference();
      records[count++] = &record;
    }
    const uint64_t gone = hooks.are_gone(hooks.context, references, count);
    for (uint32_t i = 0; i < count; i++) {
      if ((gone >> i & 1) != 0) {
        end(*records[i], hooks);
      } else {
        live(*records[i]);
      }
    }
  }
}

// Moves a record; the weak reference of *to, if any, takes its place.
void LiveRecords::move(LiveRecord& record, LiveRecord* to) {
  if (to == &record) return;
  void* reference = to->reference();
  *to = record;
  record.set(LiveRecord::kEnded, 0);
  record.set_reference(reference);
}

// The generation has room for it.
void LiveRecords::keep(uint32_t generation, LiveRecord& record) {
  LiveChunk* chunk = generations_[generation];
  uint32_t used = chunk->used.load(std::memory_order_relaxed);
  move(record, &chunk->records[used]);
  chunk->used.store(used + 1, std::memory_order_relaxed);
}

// Moves live records into the first chunk of the next generation, or moves the chunk. Allocates nothing.
void LiveRecords::sift(LiveChunk* chunks, uint32_t into, const LiveHooks& hooks) {
  while (chunks != nullptr) {
    LiveChunk* chunk = chunks;
    chunks = chunk->next;
    if (hooks.is_wanted != nullptr && hooks.is_wanted(hooks.context)) {
      chunk->next = generations_[into];
      generations_[into] = chunk;
      continue;
    }
    uint32_t left = 0;
    check_chunk(chunk, hooks, [&](LiveRecord& record) { move(record, &chunk->records[left++]); });
    chunk->used.store(left, std::memory_order_relaxed);
    kept_ += left;
    LiveChunk* head = generations_[into];
    uint32_t room = head == nullptr ? 0 : LiveChunk::kRecords - head->used.load(std::memory_order_relaxed);
    if (left <= room) {
      for (uint32_t i = 0; i < left; i++) keep(into, chunk->records[i]);
      give_chunk(chunk);
    } else {
      // The chunk with more room goes first.
      bool behind = head != nullptr && LiveChunk::kRecords - left < room;
      chunk->next = behind ? head->next : head;
      (behind ? head->next : generations_[into]) = chunk;
    }
  }
}

void LiveRecords::check(const LiveHooks& hooks, bool all) {
  kept_ = 0;
  checks_++;
  uint32_t pace = 1;
  uint32_t oldest = 0;
  for (uint32_t i = 0; i < kGenerations; i++, pace *= kPace) {
    if (all || checks_ % pace == 0) oldest = i;
  }
  // Old generations first, so that no record is checked twice.
  for (uint32_t i = oldest + 1; i-- > 1;) {
    LiveChunk* chunks = generations_[i];
    generations_[i] = nullptr;
    sift(chunks, i + 1 < kGenerations ? i + 1 : i, hooks);
  }
  sift(full_.exchange(nullptr, std::memory_order_acquire), 1, hooks);
  // Keeps as many chunks for reuse as were needed lately.
  const uint32_t taken = taken_.exchange(0, std::memory_order_relaxed);
  usual_ -= usual_ / kForgets;
  if (usual_ < taken) usual_ = taken;
  const uint32_t wait = usual_ < kFewest ? kFewest : usual_;
  trim(!hooks.keeps ? kFewest : all ? UINT32_MAX : wait, hooks);
}

void LiveRecords::check_open(LiveChunk* chunk, const LiveHooks& hooks) {
  if (chunk != nullptr) check_chunk(chunk, hooks, [](LiveRecord&) {});
}

void LiveRecords::forget_open(LiveChunk* chunk, const LiveHooks& hooks) {
  if (chunk == nullptr) return;
  uint32_t used = chunk->used.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < used; i++) {
    release(chunk->records[i], hooks);
    chunk->records[i].set(LiveRecord::kEnded, 0);
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
  trim(kFewest, hooks);
  kept_ = 0;
}

void LiveRecords::close(const LiveHooks& hooks) {
  forget(hooks);
  trim(0, hooks);
}

}  // namespace hprof::sites
