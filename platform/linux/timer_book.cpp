#include "platform/linux/timer_book.h"

#include <atomic>

#include "platform/memory.h"

namespace hprof::platform {
namespace {

// Timer numbers are stored plus one, so that 0 is none and a new place is all zeros.
constexpr uint32_t kNone = 0;
uint32_t kept(int number) { return static_cast<uint32_t>(number) + 1; }

struct Place {
  std::atomic<uint32_t> number{kNone};
  std::atomic<uint32_t> last{kNone};
  std::atomic<void*> value{nullptr};
  std::atomic<uint32_t> next_free{0};
};

// Chunk k has kFirst << k places; the first chunk is static. Places count from 1.
constexpr uint32_t kFirst = 128;
constexpr uint32_t kChunks = 16;
Place first_places[kFirst];
std::atomic<Place*> chunks[kChunks] = {{first_places}};
std::atomic<uint32_t> used{0};
// The first free place in the low half; a count of changes in the high half, against the ABA case.
std::atomic<uint64_t> free_places{0};

uint32_t chunk_of(uint32_t index) {
  uint32_t chunk = 0;
  while (index >= ((kFirst << (chunk + 1)) - kFirst)) chunk++;
  return chunk;
}

Place* place_at(uintptr_t place) {
  if (place == 0 || place > (uint64_t{kFirst} << kChunks) - kFirst) return nullptr;
  const uint32_t index = static_cast<uint32_t>(place) - 1;
  const uint32_t chunk = chunk_of(index);
  Place* places = chunks[chunk].load(std::memory_order_acquire);
  return places ? &places[index - ((kFirst << chunk) - kFirst)] : nullptr;
}

uint32_t take_free() {
  uint64_t head = free_places.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    const uint32_t next = place_at(static_cast<uint32_t>(head))->next_free.load(std::memory_order_relaxed);
    const uint64_t with_next = ((head >> 32) + 1) << 32 | next;
    if (free_places.compare_exchange_weak(head, with_next, std::memory_order_acq_rel)) break;
  }
  return static_cast<uint32_t>(head);
}

void put_free(uint32_t place) {
  uint64_t head = free_places.load(std::memory_order_relaxed);
  do {
    place_at(place)->next_free.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
  } while (
      !free_places.compare_exchange_weak(head, ((head >> 32) + 1) << 32 | place, std::memory_order_acq_rel));
}

bool has_chunk(uint32_t index) {
  const uint32_t chunk = chunk_of(index);
  if (chunk >= kChunks) return false;
  if (chunks[chunk].load(std::memory_order_acquire)) return true;
  auto* fresh = static_cast<Place*>(allocate_zeroed((size_t{kFirst} << chunk) * sizeof(Place)));
  if (!fresh) return false;
  Place* nobody = nullptr;
  if (!chunks[chunk].compare_exchange_strong(nobody, fresh, std::memory_order_acq_rel)) deallocate(fresh);
  return true;
}

uint32_t take_new() {
  uint32_t count = used.load(std::memory_order_relaxed);
  do {
    if (!has_chunk(count)) return 0;
  } while (!used.compare_exchange_weak(count, count + 1, std::memory_order_relaxed));
  return count + 1;
}

}  // namespace

bool book_timer(void* value, uint32_t* place) {
  *place = take_free();
  if (*place == 0) *place = take_new();
  if (*place == 0) return false;
  place_at(*place)->value.store(value, std::memory_order_relaxed);
  return true;
}

void number_timer(uint32_t place, int number) {
  place_at(place)->number.store(kept(number), std::memory_order_release);
}

void release_timer(uint32_t place) {
  Place* at = place_at(place);
  const uint32_t number = at->number.load(std::memory_order_relaxed);
  if (number != kNone) at->last.store(number, std::memory_order_relaxed);
  at->number.store(kNone, std::memory_order_release);
  put_free(place);
}

Booked find_timer(uintptr_t place, int number, void** value) {
  const Place* at = place_at(place);
  if (!at || kept(number) == kNone) return Booked::kNo;
  *value = at->value.load(std::memory_order_relaxed);
  if (at->number.load(std::memory_order_acquire) == kept(number)) return Booked::kYes;
  return at->last.load(std::memory_order_relaxed) == kept(number) ? Booked::kLate : Booked::kNo;
}

}  // namespace hprof::platform
