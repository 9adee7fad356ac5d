// SPDX-License-Identifier: Apache-2.0
// Numbered places that threads take, give back and take again: for the state of a thread (hprof_thread.slot), or for
// what a hash table refers to by number.
//
// The memory of a place stays until close, so a thread with an old pointer to one may still read it, and see by what the
// user of the pool has stored there (an owner, a generation) that the place has changed hands. Lock-free.
#pragma once

#include <atomic>
#include <cstdint>

#include <hprof/cpp/segments.hpp>

namespace hprof {

// The first member of each place; only the pool uses it.
struct PooledPlace {
  std::atomic<uint32_t> next_free;  // number
  uint32_t number;                  // of the place, from 1
};

// Place: a type derived from PooledPlace for which zeroed memory is valid.
template <class Place, uint32_t kFirstBits, uint32_t kSegments>
class PlacePool {
 public:
  static constexpr uint32_t kMost = Segments<Place, kFirstBits, kSegments>::kMost - 1;

  // Takes a place: a new one is zeroed, a reused one is as it was given back. Null: no memory, or `most` are in use.
  // [app][control]
  Place* take(const UnitMemory& memory, uint32_t most = kMost) {
    Place* place = pop();
    return place != nullptr ? place : make(memory, most);
  }
  // Returns a place, which nobody uses any more, to the pool. [app][control]
  void give_back(Place* place) {
    uint64_t head = free_.load(std::memory_order_relaxed), with_place;
    do {
      place->next_free.store(static_cast<uint32_t>(head), std::memory_order_relaxed);
      with_place = (head & 0xffffffff00000000ull) | place->number;
    } while (!free_.compare_exchange_weak(head, with_place, std::memory_order_acq_rel));
  }
  // The highest number of a place that was ever taken; 0: none. [any]
  uint32_t last() const { return last_.load(std::memory_order_acquire); }
  // The place with a number up to last(), or with one published by a release store. [any]
  Place& operator[](uint32_t number) const { return places_[number]; }
  // Calls visit(place&) for every place that was ever taken. [any]
  template <class Visit>
  void each(const Visit& visit) const {
    const uint32_t end = last();
    for (uint32_t number = 1; number <= end; number++) visit(places_[number]);
  }
  // Frees all places. No thread uses one any more. [control]
  void close(const UnitMemory& memory) {
    places_.close(memory);
    last_.store(0, std::memory_order_relaxed);
    free_.store(0, std::memory_order_relaxed);
  }

 private:
  Place* pop() {
    uint64_t head = free_.load(std::memory_order_acquire);
    while (static_cast<uint32_t>(head) != 0) {
      Place* place = &places_[static_cast<uint32_t>(head)];
      // Another thread may have taken the place, and next_free may belong to another list by now; then the exchange
      // fails.
      const uint64_t next = ((head >> 32) + 1) << 32 | place->next_free.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head, next, std::memory_order_acq_rel)) return place;
    }
    return nullptr;
  }

  Place* make(const UnitMemory& memory, uint32_t most) {
    uint32_t before = last_.load(std::memory_order_relaxed);
    do {
      if (before >= most || !places_.cover(memory, before + 1)) return nullptr;
    } while (!last_.compare_exchange_weak(before, before + 1, std::memory_order_acq_rel));
    places_[before + 1].number = before + 1;
    return &places_[before + 1];
  }

  Segments<Place, kFirstBits, kSegments> places_;
  std::atomic<uint32_t> last_{0};
  // The number of the first free place in the low half; the high half changes whenever one is taken, so that a
  // place which was taken and given back meanwhile is not mistaken for one that stayed.
  std::atomic<uint64_t> free_{0};
};

}  // namespace hprof
