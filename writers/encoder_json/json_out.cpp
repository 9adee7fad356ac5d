#include "json_out.h"

#include <hprof/cpp/utf8.hpp>

namespace hprof::json {

namespace {

bool is_plain(uint8_t c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

uint32_t put_code(char* to, uint32_t code) {
  if (code == '"' || code == '\\') {
    to[0] = '\\';
    to[1] = static_cast<char>(code);
    return 2;
  }
  return is_control(code) ? format_escape(to, code) : to_utf8(to, code);
}

}  // namespace

JsonOut& JsonOut::text(hprof_text value) {
  if (value.data == nullptr) {
    lit("null");
    return *this;
  }
  lit("\"");
  part(value).lit("\"");
  return *this;
}

JsonOut& JsonOut::part(hprof_text value) {
  write_utf8(*this, value, is_plain, put_code);
  return *this;
}

JsonOut& JsonOut::text(const char* value) {
  return text(hprof_text{value, value != nullptr ? std::strlen(value) : 0});
}

JsonOut& JsonOut::real(double value) {
  // NaN differs from itself, and infinity minus infinity is NaN.
  if (value - value != 0) {
    lit("null");
  } else {
    PlainOut::real(value);
  }
  return *this;
}

JsonOut& JsonOut::begin_named(uint32_t number) {
  lit("{\"id\":").dec(number);
  return key("name");
}

JsonOut& JsonOut::class_of(hprof_class_serial serial) {
  if (serial == 0) {
    lit("null");
    return *this;
  }
  begin_named(serial).text(ids_->string_text(host_, find_class(ids_, host_, serial)->name)).lit("}");
  return *this;
}

JsonOut& JsonOut::method_of(hprof_method_id id) {
  if (id == 0) {
    lit("null");
    return *this;
  }
  const auto method = find_method(ids_, host_, id);
  begin_named(id).lit("\"");
  part(ids_->string_text(host_, find_class(ids_, host_, method->owner)->name)).lit(".");
  part(ids_->string_text(host_, method->name)).lit("\"}");
  return *this;
}

JsonOut& JsonOut::thread_of(hprof_thread_serial serial) {
  if (serial == 0) {
    lit("null");
    return *this;
  }
  begin_named(serial).text(ids_->string_text(host_, find_thread(ids_, host_, serial)->name)).lit("}");
  return *this;
}

}  // namespace hprof::json
