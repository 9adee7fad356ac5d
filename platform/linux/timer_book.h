// Recognises signals of the agent's timers: a signal carries its timer's kernel number and value, and the
// value is a place in this book. Another profiler's timer may have any value, but not the number recorded at
// that place.
//
// A place is written by the thread that makes or deletes its timer, before the timer runs and after it was
// stopped. A free place keeps its last number, so that a late signal is still recognised. Places are never
// unmapped.
#pragma once

#include <cstdint>

namespace hprof::platform {

// Takes a place, the kernel timer's value, for a timer with `value`. False: no memory. [any] but [signal]
bool book_timer(void* value, uint32_t* place);
// Records the kernel's number of a place's timer, before the timer is started. [any] but [signal]
void number_timer(uint32_t place, int number);
// Frees the place of a timer that was deleted, or never made. [any] but [signal]
void release_timer(uint32_t place);

enum class Booked : uint32_t { kNo, kLate, kYes };
// Looks up a signal of the timer `number` with the value `place`. kLate: a timer that was deleted. [signal]
Booked find_timer(uintptr_t place, int number, void** value);

}  // namespace hprof::platform
