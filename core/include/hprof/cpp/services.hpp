// SPDX-License-Identifier: Apache-2.0
// The services of a host, looked up once and typed, and arrays of the accounted memory.
//
// For units written in C++17. Header-only, and nothing of libstdc++ is linked.
#pragma once

#include <hprof/cpp/names.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/draft/code.h>
#include <hprof/draft/sampling.h>
#include <hprof/draft/vm_flags.h>
#include <hprof/service/clock.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/io.h>
#include <hprof/service/jvm.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/service/probes.h>
#include <hprof/service/threads.h>

namespace hprof {

// The memory service alone, for containers.
struct UnitMemory {
  const hprof_host* host = nullptr;
  const hprof_mem_service* mem = nullptr;

  // Zeroed room for `count` values; null: the budget is used up, or the size would overflow.
  // [onload][control][app]
  template <class T>
  T* allocate(uint64_t count) const {
    static_assert(alignof(T) <= 16, "hprof_mem_service aligns to 16");
    if (count == 0 || count > UINT64_MAX / 2 / sizeof(T)) return nullptr;
    return static_cast<T*>(mem->allocate(host, count * sizeof(T)));
  }
  // Room for *count values, or for half as many, and so on, down to `least`: *count says for how many; null: for none.
  // [control]
  template <class T>
  T* allocate_most(uint64_t* count, uint64_t least) const {
    T* memory = allocate<T>(*count);
    while (memory == nullptr && *count > least) {
      *count = *count / 2 > least ? *count / 2 : least;
      memory = allocate<T>(*count);
    }
    return memory;
  }
  // Frees what allocate(count) returned; null is allowed.
  template <class T>
  void release(T* memory, uint64_t count) const {
    if (memory != nullptr) mem->release(host, memory, count * sizeof(T));
  }
};

// Adds to what hprof_log_service.loss_counter has answered: null, if there were too many counters. [any]
inline void count_loss(uint64_t* counter, uint64_t by = 1) {
  if (counter != nullptr) __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

// A member is null when the host does not have the service. Make it in create [onload]: looking up a service
// is not allowed in signal handlers, using the pointers is.
struct Services {
  const hprof_host* host = nullptr;
  const hprof_mem_service* mem = nullptr;
  const hprof_log_service* log = nullptr;
  const hprof_clock_service* clock = nullptr;
  const hprof_ids_service* ids = nullptr;
  const hprof_emit_service* emit = nullptr;
  const hprof_jvm_service* jvm = nullptr;
  const hprof_vm_flags_service* vm_flags = nullptr;
  const hprof_code_service* code = nullptr;
  const hprof_threads_service* threads = nullptr;
  const hprof_sampling_service* sampling = nullptr;
  const hprof_io_service* io = nullptr;
  const hprof_probes_service* probes = nullptr;

  Services() = default;
  explicit Services(const hprof_host* h)
      : host(h),
        mem(find_service<hprof_mem_service>(h, HPROF_SERVICE_MEM)),
        log(find_service<hprof_log_service>(h, HPROF_SERVICE_LOG)),
        clock(find_service<hprof_clock_service>(h, HPROF_SERVICE_CLOCK)),
        ids(find_service<hprof_ids_service>(h, HPROF_SERVICE_IDS)),
        emit(find_service<hprof_emit_service>(h, HPROF_SERVICE_EMIT)),
        jvm(find_service<hprof_jvm_service>(h, HPROF_SERVICE_JVM)),
        vm_flags(find_service<hprof_vm_flags_service>(h, HPROF_SERVICE_VM_FLAGS)),
        code(find_service<hprof_code_service>(h, HPROF_SERVICE_CODE)),
        threads(find_service<hprof_threads_service>(h, HPROF_SERVICE_THREADS)),
        sampling(find_service<hprof_sampling_service>(h, HPROF_SERVICE_SAMPLING)),
        io(find_service<hprof_io_service>(h, HPROF_SERVICE_IO)),
        probes(find_service<hprof_probes_service>(h, HPROF_SERVICE_PROBES)) {}

  const hprof_settings& settings() const { return *host->settings; }

  operator UnitMemory() const { return {host, mem}; }
  template <class T>
  T* allocate(uint64_t count) const {
    return UnitMemory(*this).allocate<T>(count);
  }
  template <class T>
  T* allocate_most(uint64_t* count, uint64_t least) const {
    return UnitMemory(*this).allocate_most<T>(count, least);
  }
  template <class T>
  void release(T* memory, uint64_t count) const {
    UnitMemory(*this).release(memory, count);
  }
  // Declares in create how many bytes start will take, so that the agent can name the least max-memory= that is enough:
  // it counts what a unit takes in create and gives back. [onload]
  void will_need(uint64_t bytes) const {
    if (HPROF_HAS(mem, hprof_mem_service, uncharge) && mem->charge(host, bytes) != 0) mem->uncharge(host, bytes);
  }
};

}  // namespace hprof
