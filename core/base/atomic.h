// Atomic access to plain words: for counters and fields that the C ABI shows as plain integers. All are
// [any].
#pragma once

#include <cstdint>

namespace hprof {

template <class T>
inline T load_relaxed(const T* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}
template <class T>
inline T load_acquire(const T* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
template <class T>
inline void store_relaxed(T* word, T value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
template <class T>
inline void store_release(T* word, T value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
// Returns the value before the addition.
template <class T>
inline T add_relaxed(T* word, T by) {
  return __atomic_fetch_add(word, by, __ATOMIC_RELAXED);
}

}  // namespace hprof
