#include "jfr_out.h"

#include <initializer_list>

#include <hprof/cpp/utf8.hpp>

namespace hprof::jfr {

namespace {

// How a string is encoded.
constexpr uint32_t kAbsent = 0, kEmpty = 1, kUtf8 = 3;

constexpr uint64_t kStep = uint64_t{4} * HPROF_OUT_MOST;

bool is_plain(uint8_t c) { return c >= 0x20 && c < 0x7f && c != '.'; }

}  // namespace

void JfrOut::varint(uint64_t v) {
  uint8_t* to = room(kVarintMost);
  if (to == nullptr) return;
  uint32_t bytes = 0;
  for (; v >= 0x80 && bytes + 1 < kVarintMost; v >>= 7) to[bytes++] = static_cast<uint8_t>(v | 0x80);
  to[bytes++] = static_cast<uint8_t>(v);
  advance(bytes);
}

void JfrOut::text(hprof_text text, char dot) {
  const auto put = [dot](char* to, uint32_t code) {
    const auto plain = static_cast<uint8_t>(dot);
    return to_utf8(to, code == '.' ? plain : is_control(code) ? '_' : code);
  };
  if (text.data == nullptr || text.size == 0) return u1(text.data == nullptr ? kAbsent : kEmpty);
  const uint8_t* at = reinterpret_cast<const uint8_t*>(text.data);
  const uint8_t* const end = at + text.size;
  uint64_t bytes = 0;
  char code[kUtf8Most];
  while (at != end) bytes += put(code, next_code(at, end));
  u1(kUtf8);
  varint(bytes);
  write_utf8(*this, text, is_plain, put);
}

bool Bytes::open(const Services& services, uint64_t most) {
  if (!memory_.open(services, most)) return false;
  out_.base.size = sizeof out_.base;
  out_.base.more = more;
  out_.base.end = memory_.data();
  out_.owner = this;
  return true;
}

hprof_status Bytes::more(hprof_out* out, uint32_t need) {
  LazyTable<uint8_t>& memory = reinterpret_cast<Room*>(out)->owner->memory_;
  const auto used = static_cast<uint64_t>(out->at - memory.data());
  for (const uint64_t room : {kStep, uint64_t{need}}) {
    if (!memory.cover(used + room)) continue;
    out->end = memory.data() + used + room;
    return HPROF_OK;
  }
  return HPROF_NO_MEMORY;
}

}  // namespace hprof::jfr
