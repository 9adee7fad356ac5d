// SPDX-License-Identifier: Apache-2.0
// An encoder, a filter or a sink as a class: the tables of the ABI, made of its member functions.
//
// A class T has a constructor T(host, config), or T(host) where there is no Config, and may have
//   hprof_status open(char* error, uint32_t error_size)   the part of create that may fail. A sink must have
//                                                         open(target, error, error_size); with check_only it is
//                                                         destroyed right after
//   static constexpr void describe(Ops& ops)              fills in the other members of the table: file_suffix,
//                                                         content_type, flags ...
//   bool close()                                          before it is destroyed; false: a thread of its own may
//                                                         still run, its memory stays
// and the functions of its table, with the same names and arguments, without self:
//   an encoder   encode; it is created only if the host has the service ids
//   a filter     write, finish
//   a sink       write, name, and it may have: read, patch, begin_report, end_report, remove (static), and
//                end(complete, error, error_size), what its close does before the memory is freed
// All of them are public and not overloaded. Exceptions that they throw are caught here (contained.hpp).
#pragma once

#include <hprof/cpp/text.hpp>
#include <hprof/cpp/unit.hpp>
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/service/ids.h>
#include <hprof/sink.h>

namespace hprof {

// The record as the struct of its kind, which the caller knows from record->kind.
template <class T>
const T& as(const hprof_record* record) {
  return *reinterpret_cast<const T*>(record);
}

namespace writer_detail {

using namespace unit_detail;

HPROF_DETECT(describe)
HPROF_DETECT(end)
HPROF_DETECT(read)
HPROF_DETECT(patch)
HPROF_DETECT(begin_report)
HPROF_DETECT(end_report)
HPROF_DETECT(remove)

// What a function returns whose body throws.
template <class Result>
constexpr Result failed() {
  if constexpr (std::is_same_v<Result, hprof_status>) {
    return HPROF_FAILED;
  } else if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return -1;
  }
}

template <class T, auto kMember, class Result, class... A>
constexpr void set(Result (*&entry)(void*, A...)) {
  entry = [](void* self, A... arguments) -> Result {
    return contained_in<T>(self, failed<Result>(),
                           [&](T& unit) -> Result { return (unit.*kMember)(arguments...); });
  };
}

template <class T, class Ops>
constexpr Ops described() {
  Ops ops = {};
  ops.size = sizeof ops;
  if constexpr (Has_describe<T>::value) T::describe(ops);
  return ops;
}

template <class T, class Config>
constexpr hprof_encoder_ops encoder_ops() {
  auto ops = described<T, hprof_encoder_ops>();
  ops.create = [](const hprof_host* host, const void* config, void** self, char* error,
                  uint32_t error_size) -> hprof_status {
    if (find_service<hprof_ids_service>(host, HPROF_SERVICE_IDS) == nullptr) {
      TextBuffer(error, error_size).add("this agent lacks the service ids");
      return HPROF_UNSUPPORTED;
    }
    return create<T, Config>(host, config, self, error, error_size);
  };
  ops.destroy = destroy<T>;
  set<T, &T::encode>(ops.encode);
  return ops;
}

template <class T, class Config>
constexpr hprof_filter_ops filter_ops() {
  auto ops = described<T, hprof_filter_ops>();
  ops.create = create<T, Config>;
  ops.destroy = destroy<T>;
  set<T, &T::write>(ops.write);
  set<T, &T::finish>(ops.finish);
  return ops;
}

template <class T, class Config>
constexpr hprof_sink_ops sink_ops() {
  auto ops = described<T, hprof_sink_ops>();
  ops.open = [](const hprof_host* host, const void* config, const hprof_sink_target* target, void** self,
                char* error, uint32_t error_size) {
    const auto open = [&](T& unit) { return unit.open(target, error, error_size); };
    const hprof_status status = create_with<T, Config>(host, config, self, open);
    if (status == HPROF_OK && HPROF_REACHES(target, hprof_sink_target, check_only) && target->check_only != 0) {
      destroy<T>(*self);
      *self = nullptr;
    }
    return status;
  };
  ops.close = [](void* self, uint32_t complete, char* error, uint32_t error_size) {
    hprof_status status = HPROF_OK;
    if constexpr (Has_end<T>::value) {
      status = contained_in<T>(self, failed<hprof_status>(),
                               [&](T& unit) { return unit.end(complete != 0, error, error_size); });
    }
    destroy<T>(self);
    (void)complete;
    (void)error;
    (void)error_size;
    return status;
  };
  set<T, &T::write>(ops.write);
  set<T, &T::name>(ops.name);
  if constexpr (Has_read<T>::value) set<T, &T::read>(ops.read);
  if constexpr (Has_patch<T>::value) set<T, &T::patch>(ops.patch);
  if constexpr (Has_begin_report<T>::value) set<T, &T::begin_report>(ops.begin_report);
  if constexpr (Has_end_report<T>::value) set<T, &T::end_report>(ops.end_report);
  if constexpr (Has_remove<T>::value) ops.remove = T::remove;
  return ops;
}

template <class T, class Config>
inline constexpr hprof_encoder_ops kEncoderOps = encoder_ops<T, Config>();
template <class T, class Config>
inline constexpr hprof_filter_ops kFilterOps = filter_ops<T, Config>();
template <class T, class Config>
inline constexpr hprof_sink_ops kSinkOps = sink_ops<T, Config>();

}  // namespace writer_detail

// The unit of a class, with its options. records: of an encoder, hprof_unit.records.
template <class T, class Config = void>
constexpr hprof_unit encoder_unit(const char* id, const char* select, const char* summary, const char* const* records, OptionRows options = {}) {
  return unit_detail::unit_of<Config>(HPROF_UNIT_ENCODER, id, select, summary, records, options, &writer_detail::kEncoderOps<T, Config>);
}
template <class T, class Config = void>
constexpr hprof_unit filter_unit(const char* id, const char* select, const char* summary, OptionRows options = {}) {
  return unit_detail::unit_of<Config>(HPROF_UNIT_FILTER, id, select, summary, nullptr, options, &writer_detail::kFilterOps<T, Config>);
}
template <class T, class Config = void>
constexpr hprof_unit sink_unit(const char* id, const char* select, const char* summary, OptionRows options = {}) {
  return unit_detail::unit_of<Config>(HPROF_UNIT_SINK, id, select, summary, nullptr, options, &writer_detail::kSinkOps<T, Config>);
}

}  // namespace hprof
