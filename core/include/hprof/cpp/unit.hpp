// SPDX-License-Identifier: Apache-2.0
// What collector.hpp and writer.hpp share: creation, calls and destruction of the object of a unit.
#pragma once

#include <new>
#include <type_traits>

#include <hprof/cpp/contained.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/plugin.h>
#include <hprof/service/mem.h>

namespace hprof {

// The rows of a unit's options, {} for none.
struct OptionRows {
  constexpr OptionRows() = default;
  template <uint32_t kCount>
  constexpr OptionRows(const hprof_option (&of)[kCount]) : rows(of), count(kCount) {}
  const hprof_option* rows = nullptr;
  uint32_t count = 0;
};

namespace unit_detail {

// Has_<member><T>: T has a public member of that name, which is not overloaded.
#define HPROF_DETECT(member)                \
  template <class T, class = void>          \
  struct Has_##member : std::false_type {}; \
  template <class T>                        \
  struct Has_##member<T, std::void_t<decltype(&T::member)>> : std::true_type {};
HPROF_DETECT(open)
HPROF_DETECT(close)

// The `self` of a unit: the object and its host.
template <class T>
struct Instance {
  const hprof_host* host;
  T unit;
};

// Calls body(T&); `failed` when it throws.
template <class T, class Result, class Body>
Result contained_in(void* self, Result failed, const Body& body) {
  auto* instance = static_cast<Instance<T>*>(self);
  return contained(instance->host, failed, [&] { return body(instance->unit); });
}
template <class T, class Body>
void contained_in(void* self, const Body& body) {
  contained_in<T>(self, 0, [&](T& unit) {
    body(unit);
    return 0;
  });
}

template <class T>
void destroy(void* self) {
  auto* instance = static_cast<Instance<T>*>(self);
  if constexpr (Has_close<T>::value) {
    if (!contained_in<T>(self, false, [](T& unit) { return unit.close(); })) return;
  }
  const hprof_host* host = instance->host;
  instance->~Instance<T>();
  find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM)->release(host, self, sizeof(Instance<T>));
}

// Creates a T and calls open(T&). On failure nothing is held.
template <class T, class Config, class Open>
hprof_status create_with(const hprof_host* host, const void* config, void** self, const Open& open) {
  static_assert(alignof(Instance<T>) <= 16, "hprof_mem_service aligns to 16");
  const auto* mem = find_service<hprof_mem_service>(host, HPROF_SERVICE_MEM);
  void* memory = mem != nullptr ? mem->allocate(host, sizeof(Instance<T>)) : nullptr;
  if (memory == nullptr) return HPROF_NO_MEMORY;
  bool is_made = false;
  const hprof_status status = contained(host, hprof_status{HPROF_FAILED}, [&]() -> hprof_status {
    if constexpr (std::is_void_v<Config>) {
      (void)config;
      new (memory) Instance<T>{host, T(host)};
    } else {
      new (memory) Instance<T>{host, T(host, *static_cast<const Config*>(config))};
    }
    is_made = true;
    return open(static_cast<Instance<T>*>(memory)->unit);
  });
  if (status == HPROF_OK) {
    *self = memory;
  } else if (is_made) {
    destroy<T>(memory);
  } else {
    mem->release(host, memory, sizeof(Instance<T>));
  }
  return status;
}

template <class T, class Config>
hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                    uint32_t error_size) {
  return create_with<T, Config>(host, config, self, [&](T& unit) -> hprof_status {
    (void)unit;
    (void)error;
    (void)error_size;
    if constexpr (Has_open<T>::value) return unit.open(error, error_size);
    return HPROF_OK;
  });
}

template <class Config>
constexpr uint32_t config_size() {
  if constexpr (std::is_void_v<Config>) {
    return 0;
  } else {
    return sizeof(Config);
  }
}

template <class Config>
constexpr hprof_unit unit_of(uint32_t kind, const char* id, const char* select, const char* summary,
                             const char* const* records, const OptionRows& options, const void* ops) {
  hprof_unit unit = {};
  unit.size = sizeof unit;
  unit.kind = kind;
  unit.id = id;
  unit.select = select;
  unit.summary = summary;
  unit.records = records;
  unit.options = options.rows;
  unit.option_count = options.count;
  unit.option_stride = sizeof(hprof_option);
  unit.config_size = config_size<Config>();
  unit.ops = ops;
  return unit;
}

}  // namespace unit_detail

}  // namespace hprof
