// SPDX-License-Identifier: Apache-2.0
// What profile.proto and OpenTelemetry's profiles have in common: the wire format of protocol buffers, texts, and the
// names of weights.
#pragma once

#include <hprof/cpp/each_weighted_stack.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/cpp/utf8.hpp>
#include <hprof/service/ids.h>
#include <hprof/tables.h>

namespace hprof {

namespace proto {

constexpr uint32_t kVarintMost = 10;

inline uint32_t varint_size(uint64_t v) {
  uint32_t size = 1;
  for (; v >= 0x80; v >>= 7) size++;
  return size;
}

// Bytes of a varint field, which is left out if it is 0.
inline uint32_t number_size(uint32_t field, uint64_t v) {
  return v == 0 ? 0 : varint_size(field << 3) + varint_size(v);
}

// Bytes of a text, a message or packed numbers of `size` bytes, with its head.
inline uint64_t part_size(uint32_t field, uint64_t size) {
  return varint_size(field << 3) + varint_size(size) + size;
}

inline bool is_plain(uint8_t c) { return c >= 0x20 && c < 0x7f; }
// Control characters become '_'.
inline uint32_t put_code(char* to, uint32_t code) { return to_utf8(to, is_control(code) ? '_' : code); }

inline uint64_t text_size(hprof_text text) {
  if (text.data == nullptr) return 0;
  const uint8_t* at = reinterpret_cast<const uint8_t*>(text.data);
  const uint8_t* const end = at + text.size;
  uint64_t size = 0;
  char code[kUtf8Most];
  while (at != end) size += put_code(code, next_code(at, end));
  return size;
}

inline hprof_text text_of(const char* text) { return {text, std::strlen(text)}; }

// Lives for one record.
class ProtoOut : public Out {
 public:
  using Out::Out;

  void varint(uint64_t v) {
    uint8_t* to = room(kVarintMost);
    if (to == nullptr) return;
    uint32_t size = 0;
    for (; v >= 0x80; v >>= 7) to[size++] = static_cast<uint8_t>(v | 0x80);
    to[size++] = static_cast<uint8_t>(v);
    advance(size);
  }
  void number(uint32_t field, uint64_t v) {
    if (v == 0) return;
    varint(field << 3);
    varint(v);
  }
  void little_endian(uint64_t v) {
    uint8_t eight[8];
    for (uint32_t i = 0; i < 8; i++) eight[i] = static_cast<uint8_t>(v >> 8 * i);
    bytes(eight, sizeof eight);
  }
  void fixed64(uint32_t field, uint64_t v) {
    varint(field << 3 | 1);
    little_endian(v);
  }
  // Writes the head of a text, a message or packed numbers with `size` bytes.
  void begin(uint32_t field, uint64_t size) {
    varint(field << 3 | 2);
    varint(size);
  }
  // The bytes of a text: text_size() of them, UTF-8 whatever the class file holds.
  void characters(hprof_text text) { write_utf8(*this, text, is_plain, put_code); }
  void text(uint32_t field, hprof_text value) {
    begin(field, text_size(value));
    characters(value);
  }
};

// Sample types by which readers know the weights of these tables; weights of other tables go by their columns' names.
struct KnownType {
  const char* table;
  const char* column;
  const char* type;
};
inline constexpr KnownType kKnownTypes[] = {
    {HPROF_TABLE_CPU_SAMPLES, "time", "cpu"},
    {HPROF_TABLE_ALLOC_SITES, "live_bytes", "inuse_space"},
    {HPROF_TABLE_ALLOC_SITES, "live_objects", "inuse_objects"},
    {HPROF_TABLE_ALLOC_SITES, "allocated_bytes", "alloc_space"},
    {HPROF_TABLE_ALLOC_SITES, "allocated_objects", "alloc_objects"},
    {HPROF_TABLE_MONITOR_TIME, "time", "delay"},
    {HPROF_TABLE_CPU_SAMPLE_EVENTS, "time", "cpu"},
    {HPROF_TABLE_ALLOC_SITE_EVENTS, "allocated_bytes", "alloc_space"},
    {HPROF_TABLE_ALLOC_SITE_EVENTS, "allocated_objects", "alloc_objects"},
    {HPROF_TABLE_MONITOR_TIME_EVENTS, "time", "delay"},
    {HPROF_TABLE_MONITOR_WAIT_EVENTS, "time", "wait"},
};

inline const char* type_of(const StackTable& stacks, const hprof_column& column) {
  for (const KnownType& known : kKnownTypes) {
    if (std::strcmp(stacks.table().schema->name, known.table) == 0 &&
        std::strcmp(column.name, known.column) == 0) {
      return known.type;
    }
  }
  return column.name;
}

// Every count has the unit "count", the only one that readers know.
inline const char* unit_name(const hprof_column& column) {
  return column.type == HPROF_COLUMN_COUNT ? "count" : unit_of(column);
}

inline bool adds_up(const hprof_column& column) { return (column.flags & HPROF_COLUMN_TOTAL) == 0; }

inline bool is_cut(const hprof_trace_info& trace) { return (trace.flags & HPROF_TRACE_CUT) != 0; }

}  // namespace proto

}  // namespace hprof
