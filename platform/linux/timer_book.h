// Recognises our timers: a signal carries the kernel's number of its timer and the value that the timer was
// made with, which is a place in this book. Another profiler's timer may have any value, but not the number
// recorded at that place.
//
// A place is written by the thread that makes or deletes its timer, before the timer runs and after it was
// stopped. A free place remembers its last number, so that a signal still on its way is recognised as ours.
// Places are never unmapped.
#pragma once

#include <cstdint>

namespace hprof::platform {

// A place for a timer with that value, to be handed to the kernel; false: no memory. [any] but [signal]
bool book_timer(void* value, uint32_t* place);
// The kernel's number of the timer that was made for the place. Before it is started. [any] but [signal]
void number_timer(uint32_t place, int number);
// The timer was deleted, or never made: frees the place. [any] but [signal]
void release_timer(uint32_t place);

enum class Booked : uint32_t { kNo, kLate, kYes };
// A signal of the timer `number` that came with `place` for its value. kLate: a timer of ours that was
// deleted. [signal]
Booked find_timer(uintptr_t place, int number, void** value);

}  // namespace hprof::platform
