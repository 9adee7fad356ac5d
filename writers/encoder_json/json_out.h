// Writes JSON, and entries of the ids service as JSON. docs/pictures.md describes the lines of format=json.
#pragma once

#include <hprof/cpp/names.hpp>
#include <hprof/cpp/plain_out.hpp>
#include <hprof/record.h>

namespace hprof::json {

// Lives for one record, of one or more lines. Members are written in the order of the calls; every object
// begins with a fixed member, so that each later one has its comma before it.
class JsonOut : public PlainOut {
 public:
  JsonOut(hprof_out* out, const hprof_host* host, const hprof_ids_service* ids)
      : PlainOut(out), host_(host), ids_(ids) {}

  const hprof_settings& settings() const { return *host_->settings; }
  const hprof_ids_service& ids() const { return *ids_; }
  const hprof_host* host() const { return host_; }

  // Begins a line: {"record":"kind" ... }
  template <uint32_t n>
  JsonOut& begin(const char (&kind)[n]) {
    lit("{\"record\":\"").bytes(kind, n - 1);
    lit("\"");
    return *this;
  }
  void end() { lit("}\n"); }

  template <uint32_t n>
  JsonOut& key(const char (&name)[n]) {
    lit(",\"").bytes(name, n - 1);
    lit("\":");
    return *this;
  }
  template <uint32_t n>
  JsonOut& number(const char (&name)[n], uint64_t value) {
    key(name).dec(value);
    return *this;
  }
  template <uint32_t n>
  JsonOut& truth(const char (&name)[n], bool value) {
    key(name).words(value ? "true" : "false");
    return *this;
  }
  template <uint32_t n>
  JsonOut& text(const char (&name)[n], hprof_text value) {
    return key(name).text(value);
  }
  template <uint32_t n>
  JsonOut& string(const char (&name)[n], hprof_string_id id) {
    return key(name).text(ids_->string_text(host_, id));
  }

  // A text in double quotes, as UTF-8; null: absent.
  JsonOut& text(hprof_text value);
  JsonOut& text(const char* value);  // NUL-terminated
  // A part of a text, whose quotes the caller writes.
  JsonOut& part(hprof_text value);
  // A number; null for values that JSON cannot represent.
  JsonOut& real(double value);

  // {"id":1,"name":"..."}; null for 0
  JsonOut& class_of(hprof_class_serial serial);
  JsonOut& method_of(hprof_method_id id);
  JsonOut& thread_of(hprof_thread_serial serial);

 private:
  JsonOut& begin_named(uint32_t number);

  const hprof_host* host_;
  const hprof_ids_service* ids_;
};

// monitors.cpp
void write_monitor_event(JsonOut& out, const hprof_rec_monitor_event& event);
void write_monitor_dump(JsonOut& out, const hprof_rec_monitor_dump& dump);

// tables.cpp
void write_table(JsonOut& out, const hprof_rec_table& table);

// heap.cpp
void write_heap_begin(JsonOut& out, const hprof_rec_heap_dump& dump);
void write_heap_root(JsonOut& out, const hprof_rec_heap_root& root);
void write_heap_class(JsonOut& out, const hprof_rec_heap_class& dump);
void write_heap_instance(JsonOut& out, const hprof_rec_heap_instance& instance);
void write_heap_array(JsonOut& out, const hprof_rec_heap_array& array);

}  // namespace hprof::json
