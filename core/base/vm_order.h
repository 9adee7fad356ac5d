// Tells ThreadSanitizer of order that the VM makes, which is not built with it: writes before to_vm(p) happen
// before what follows from_vm(p) with the same pointer. Does nothing in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define HPROF_SEES_VM_ORDER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HPROF_SEES_VM_ORDER 1
#endif
#endif

#ifdef HPROF_SEES_VM_ORDER
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace hprof {

inline void to_vm(void* it) {
#ifdef HPROF_SEES_VM_ORDER
  __tsan_release(it);
#endif
  (void)it;
}

template <class T>
inline T* from_vm(T* it) {
#ifdef HPROF_SEES_VM_ORDER
  if (it != nullptr) __tsan_acquire(it);
#endif
  return it;
}

}  // namespace hprof
