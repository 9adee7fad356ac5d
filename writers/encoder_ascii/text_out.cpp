#include "text_out.h"

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/utf8.hpp>

namespace hprof::ascii {

namespace {

bool is_plain(uint8_t c) { return c > 0x20 && c < 0x7f && c != '"' && c != '\\'; }

uint32_t put_code(char* to, uint32_t code, Safe how) {
  if (how == Safe::kQuoted && (code == '"' || code == '\\')) {
    to[0] = '\\';
    to[1] = static_cast<char>(code);
    return 2;
  }
  if (how == Safe::kQuoted && is_control(code)) return format_escape(to, code);
  if (how == Safe::kWord && (is_control(code) || is_blank(code))) code = '_';
  return to_utf8(to, is_control(code) ? ' ' : code);
}

}  // namespace

TextOut& TextOut::put(const char* text, uint64_t size) {
  bytes(text, size);
  return *this;
}

TextOut& TextOut::dec(uint64_t v, uint32_t width) {
  if (uint8_t* to = room(kNumberMost)) advance(format_decimal(reinterpret_cast<char*>(to), v, width));
  return *this;
}

TextOut& TextOut::date(uint64_t wall_ms) {
  return put(local_ctime_text(host_, clock_, wall_ms).text, sizeof(CtimeText) - 1);
}

TextOut& TextOut::signed_dec(int64_t v) {
  if (v >= 0) return dec(static_cast<uint64_t>(v));
  return lit("-").dec(uint64_t{0} - static_cast<uint64_t>(v));
}

TextOut& TextOut::hex(uint64_t v) {
  if (uint8_t* to = room(kNumberMost)) advance(format_hex(reinterpret_cast<char*>(to), v));
  return *this;
}

TextOut& TextOut::percent(uint64_t part, uint64_t total, uint32_t width) {
  const double share = total == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(total);
  if (uint8_t* to = room(kNumberMost)) advance(format_fixed2(reinterpret_cast<char*>(to), share, width));
  return lit("%");
}

TextOut& TextOut::real(double v) {
  if (uint8_t* to = room(kNumberMost)) advance(format_real(reinterpret_cast<char*>(to), v));
  return *this;
}

uint64_t TextOut::safe(hprof_text text, Safe how) {
  return write_utf8(*this, text, is_plain, [&](char* to, uint32_t code) { return put_code(to, code, how); });
}

TextOut& TextOut::class_name(hprof_class_serial serial) {
  const auto info = find_class(ids_, host_, serial);
  if (string(info->name, Safe::kWord) == 0) lit("<Unknown_Class>");
  return *this;
}

TextOut& TextOut::class_signature(hprof_class_serial serial) {
  const auto info = find_class(ids_, host_, serial);
  if (string(info->signature, Safe::kWord) == 0) lit("<unknown>");
  return *this;
}

TextOut& TextOut::method_name(hprof_method_id id) {
  const auto method = find_method(ids_, host_, id);
  class_name(method->owner).lit(".");
  if (string(method->name, Safe::kWord) == 0) lit("<Unknown_Method>");
  return *this;
}

TextOut& TextOut::trace_method(hprof_trace_serial serial) {
  const auto trace = find_trace(ids_, host_, serial);
  if (trace->frame_count == 0) return lit("<empty trace>");
  return method_name(find_frame(ids_, host_, trace->frames[0])->method);
}

}  // namespace hprof::ascii
