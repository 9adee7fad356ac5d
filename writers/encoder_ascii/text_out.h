// The text output of the ascii encoder: numbers, and names of classes, methods and threads made safe.
#pragma once

#include <hprof/cpp/names.hpp>
#include <hprof/cpp/out.hpp>
#include <hprof/cpp/text.hpp>
#include <hprof/service/clock.h>

namespace hprof::ascii {

// Which characters a name may have at its position.
enum class Safe {
  kWord,    // one word of a line: parsers split rows at blanks, so blanks of any script become '_'
  kQuoted,  // between double quotes: \" and \\, control characters as \uXXXX, blanks stay
  kLine,    // the rest of a line: characters that would end it or control a terminal become blanks
};

// Lives for one record.
class TextOut : public Out {
 public:
  TextOut(hprof_out* out, const hprof_host* host, const hprof_ids_service* ids,
          const hprof_clock_service* clock)
      : Out(out), host_(host), ids_(ids), clock_(clock) {}

  const hprof_settings& settings() const { return *host_->settings; }
  const hprof_ids_service& ids() const { return *ids_; }
  const hprof_host* host() const { return host_; }

  template <uint32_t n>
  TextOut& lit(const char (&literal)[n]) {
    return put(literal, n - 1);
  }
  // Local time, in the form of ctime. wall_ms: since 1970.
  TextOut& date(uint64_t wall_ms);

  TextOut& dec(uint64_t v, uint32_t width = 0);
  TextOut& signed_dec(int64_t v);
  TextOut& hex(uint64_t v);
  // %5.2f%% of part / total; 0 if total is 0.
  TextOut& percent(uint64_t part, uint64_t total, uint32_t width = 5);
  // hprof/cpp/text.hpp, format_real: "0.5", "1.25e-7"; nan, inf, -inf.
  TextOut& real(double v);

  // The printed numbers: each kind has a range of its own, so that readers do not mix them up.
  TextOut& thread(hprof_thread_serial serial) { return dec(uint64_t{200000} + serial); }
  TextOut& trace(hprof_trace_serial serial, uint32_t width = 0) {
    return dec(uint64_t{300000} + serial, width);
  }

  // Writes the VM's modified UTF-8 as UTF-8. Returns the number of bytes written.
  uint64_t safe(hprof_text text, Safe how);
  uint64_t string(hprof_string_id id, Safe how) { return safe(ids_->string_text(host_, id), how); }

  TextOut& class_name(hprof_class_serial serial);
  // The VM's form: Ljava/lang/Object;
  TextOut& class_signature(hprof_class_serial serial);
  // Class and method as one word.
  TextOut& method_name(hprof_method_id id);
  // Class and method of the trace's innermost frame, for a row.
  TextOut& trace_method(hprof_trace_serial serial);

 private:
  TextOut& put(const char* text, uint64_t size);  // not inline: it has a few hundred calls

  const hprof_host* host_;
  const hprof_ids_service* ids_;
  const hprof_clock_service* clock_;  // nullptr: dates are in UTC
};

}  // namespace hprof::ascii
