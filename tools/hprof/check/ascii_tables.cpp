// The tables of a text file: sites, CPU samples and times, contended monitors, and the old CPU format.
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "tools/hprof/check/ascii_checker.h"

namespace hprof::tool {

namespace {

std::string formatted(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string formatted(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

double percent_of(uint64_t hundredths) { return static_cast<double>(hundredths) / 100; }

// True: equal but for rounding; values are rounded once, their sum again.
bool near(uint64_t a, uint64_t b) { return a > b ? a - b <= 1 : b - a <= 1; }

}  // namespace

bool AsciiChecker::headings(std::string_view text, const char* const* expected, unsigned count) {
  if (table_.headings >= count) return false;
  if (text != expected[table_.headings]) {
    log_.report(Rule::kColumns, lines_.number(), "\"%.80s\", expected the heading \"%s\"",
                std::string(text.substr(0, 80)).c_str(), expected[table_.headings]);
  }
  ++table_.headings;
  return true;
}

bool AsciiChecker::row_start(Scan& scan, uint64_t* rank, uint64_t* self, uint64_t* accumulated) {
  return scan.blanks() && scan.decimal(rank) && scan.blanks() && scan.percent(self) && scan.blanks() &&
         scan.percent(accumulated) && scan.blanks();
}

void AsciiChecker::same_columns(std::string_view text, const std::string& canonical) {
  // The original writes percentages with the decimal separator of the program's locale.
  const auto same = [](char found, char expected) {
    return found == expected || (expected == '.' && found == ',');
  };
  if (text.size() >= canonical.size() && std::equal(canonical.begin(), canonical.end(), text.begin(),
                                                    [&](char a, char b) { return same(b, a); }))
    return;
  log_.report(Rule::kColumns, lines_.number(), "\"%.60s\", expected \"%s\"",
              std::string(text.substr(0, canonical.size() + 4)).c_str(), canonical.c_str());
}

void AsciiChecker::row_percentages(uint64_t rank, uint64_t self, uint64_t accumulated) {
  ++table_.rows;
  if (rank != table_.rows) {
    log_.report(Rule::kRank, lines_.number(), "rank %" PRIu64 ", expected %" PRIu64, rank, table_.rows);
    table_.rows = rank;
  }
  if (!near(accumulated, table_.accumulated + self)) {
    log_.report(Rule::kPercent, lines_.number(), "accumulated %.2f%%, expected %.2f%%, the rows up to here",
                percent_of(accumulated), percent_of(table_.accumulated + self));
  }
  table_.accumulated = accumulated;
}

void AsciiChecker::row_key(uint64_t key, const char* what) {
  if (key > table_.last_key) {
    log_.report(Rule::kTableOrder, lines_.number(),
                "%" PRIu64 " %s after %" PRIu64 ", expected descending order", key, what, table_.last_key);
  }
  table_.last_key = key;
}

const AsciiChecker::Trace* AsciiChecker::row_trace(uint64_t serial) {
  auto found = traces_.find(serial);
  if (found != traces_.end()) return &found->second;
  log_.report(Rule::kTraceUndefined, lines_.number(),
              "trace %" PRIu64 ", expected its TRACE before the table", serial);
  return nullptr;
}

void AsciiChecker::sites_line(std::string_view text) {
  static constexpr const char* kHeadings[] = {
      "          percent          live          alloc'ed  stack class",
      " rank   self  accum     bytes objs     bytes  objs trace name"};
  // JDK 1.2 to 1.4.
  static constexpr const char* kNarrowHeadings[] = {
      "          percent         live       alloc'ed  stack class",
      " rank   self  accum    bytes objs   bytes objs trace name"};
  if (text == "SITES END") {
    section_ = Section::kNone;
    return;
  }
  if (table_.headings == 0) table_.narrow = text == kNarrowHeadings[0];
  if (headings(text, table_.narrow ? kNarrowHeadings : kHeadings, 2)) return;
  Scan scan(text);
  uint64_t rank = 0, self = 0, accumulated = 0, live_bytes = 0, live = 0, bytes = 0, count = 0, trace = 0;
  row_start(scan, &rank, &self, &accumulated) && scan.decimal(&live_bytes) && scan.blanks() &&
      scan.decimal(&live) && scan.blanks() && scan.decimal(&bytes) && scan.blanks() && scan.decimal(&count) &&
      scan.blanks() && scan.decimal(&trace) && scan.literal(" ");
  if (!scan.ok() || scan.rest().empty()) {
    wrong_line(text, "a row of SITES, or SITES END");
    return;
  }
  same_columns(text, formatted(table_.narrow ? "%5" PRIu64 " %5.2f%% %5.2f%% %8" PRIu64 " %4" PRIu64
                                               " %7" PRIu64 " %4" PRIu64 " %5" PRIu64 " "
                                             : "%5" PRIu64 " %5.2f%% %5.2f%% %9" PRIu64 " %4" PRIu64
                                               " %9" PRIu64 " %5" PRIu64 " %5" PRIu64 " ",
                               rank, percent_of(self), percent_of(accumulated), live_bytes, live, bytes,
                               count, trace));
  row_percentages(rank, self, accumulated);
  row_key(table_.by_allocation ? bytes : live_bytes, "bytes");
  if (live_bytes > bytes || live > count) {
    log_.report(Rule::kLiveOverAllocated, lines_.number(), "more bytes or objects live than allocated");
  }
  row_trace(trace);
}

void AsciiChecker::end_cpu() {
  if (table_.rows == 0) log_.report(Rule::kSectionEmpty, lines_.number(), "a CPU section without rows");
  if (section_ == Section::kSamples && table_.sum > table_.total) {
    log_.report(Rule::kTableTotal, lines_.number(),
                "rows of %" PRIu64 " samples, expected no more than the total %" PRIu64, table_.sum,
                table_.total);
  }
  section_ = Section::kNone;
}

void AsciiChecker::cpu_line(std::string_view text) {
  static constexpr const char* kHeadings[] = {"rank   self  accum   count trace method"};
  bool samples = section_ == Section::kSamples;
  if (text == (samples ? "CPU SAMPLES END" : "CPU TIME (ms) END")) return end_cpu();
  if (headings(text, kHeadings, 1)) return;
  Scan scan(text);
  uint64_t rank = 0, self = 0, accumulated = 0, count = 0, trace = 0;
  row_start(scan, &rank, &self, &accumulated) && scan.decimal(&count) && scan.blanks() &&
      scan.decimal(&trace) && scan.literal(" ");
  if (!scan.ok() || scan.rest().empty()) {
    wrong_line(text, samples ? "a row of CPU SAMPLES, or CPU SAMPLES END"
                             : "a row of CPU TIME, or CPU TIME (ms) END");
    return;
  }
  same_columns(text, formatted("%4" PRIu64 " %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu64 " ", rank,
                               percent_of(self), percent_of(accumulated), count, trace));
  row_percentages(rank, self, accumulated);
  table_.sum += count;
  if (samples) {
    row_key(count, "samples");
    double expected =
        table_.total == 0 ? 0 : static_cast<double>(count) * 10000 / static_cast<double>(table_.total);
    if (!near(self, static_cast<uint64_t>(expected + 0.5))) {
      log_.report(Rule::kPercent, lines_.number(), "self %.2f%%, expected %.2f%% of the total",
                  percent_of(self), expected / 100);
    }
  } else {
    row_key(self, "hundredths of a percent");
  }
  cpu_row_trace(trace, scan.rest());
}

void AsciiChecker::cpu_row_trace(uint64_t serial, std::string_view method) {
  if (method.find(' ') != std::string_view::npos && method != "<empty trace>") {
    log_.report(Rule::kBlank, lines_.number(), "a blank in \"%.100s\"",
                std::string(method.substr(0, 100)).c_str());
  }
  const Trace* trace = row_trace(serial);
  if (method == "<empty trace>" || (trace != nullptr && trace->top == "<empty trace>")) {
    log_.report(Rule::kTraceEmpty, lines_.number(), "trace %" PRIu64 " without frames", serial);
  }
  if (trace == nullptr) return;
  if (!trace->top.empty() && trace->top != method) {
    log_.report(Rule::kRowMethod, lines_.number(), "%.100s, expected %.100s, the top frame of trace %" PRIu64,
                std::string(method.substr(0, 100)).c_str(), trace->top.c_str(), serial);
  }
  if (!trace->first_run && cpu_sections_ == 1) {
    log_.report(Rule::kTraceRun, lines_.number(),
                "trace %" PRIu64 " comes after the first run of TRACE records", serial);
  }
}

void AsciiChecker::monitor_time_line(std::string_view text) {
  static constexpr const char* kHeadings[] = {"rank   self  accum   count trace monitor"};
  if (text == "MONITOR TIME END") {
    section_ = Section::kNone;
    return;
  }
  if (headings(text, kHeadings, 1)) return;
  Scan scan(text);
  uint64_t rank = 0, self = 0, accumulated = 0, count = 0, trace = 0;
  std::string_view monitor, kind;
  row_start(scan, &rank, &self, &accumulated) && scan.decimal(&count) && scan.blanks() &&
      scan.decimal(&trace) && scan.literal(" ") && scan.up_to_last(" (", &monitor) &&
      scan.up_to_last(")", &kind);
  if (!scan.done() || monitor.empty() || kind.empty() || kind.find(' ') != std::string_view::npos) {
    wrong_line(text, "a row of MONITOR TIME that ends with (Java) or another kind, or MONITOR TIME END");
    return;
  }
  same_columns(text, formatted("%4" PRIu64 " %5.2f%% %5.2f%% %7" PRIu64 " %5" PRIu64 " ", rank,
                               percent_of(self), percent_of(accumulated), count, trace));
  row_percentages(rank, self, accumulated);
  row_key(self, "hundredths of a percent");
  row_trace(trace);
}

// Reads digits, perhaps with a decimal point, and one of ns, us, ms and s.
static bool is_duration(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  if (digits == 0 || digits == std::string_view::npos) return false;
  const std::string_view unit = text.substr(digits);
  return unit == "ns" || unit == "us" || unit == "ms" || unit == "s";
}

void AsciiChecker::latency_line(std::string_view text) {
  static constexpr const char* kHeadings[] = {
      "rank      calls running    mean     p50     p90     p99   p99.9     max method"};
  if (text == "CALL LATENCY END") {
    if (table_.sum != table_.total)
      log_.report(Rule::kColumns, lines_.number(), "%" PRIu64 " calls in the rows, %" PRIu64 " in the head",
                  table_.sum, table_.total);
    section_ = Section::kNone;
    return;
  }
  if (headings(text, kHeadings, 1)) return;
  Scan scan(text);
  uint64_t rank = 0, calls = 0, running = 0;
  bool good = scan.blanks() && scan.decimal(&rank) && scan.blanks() && scan.decimal(&calls) &&
              scan.blanks() && scan.decimal(&running);
  for (int i = 0; i < 6 && good; i++) {
    std::string_view duration;
    good = scan.blanks() && scan.up_to(" ", &duration) && is_duration(duration);
  }
  if (!good || scan.rest().empty() || scan.rest().find(' ') != std::string_view::npos) {
    wrong_line(text, "rank, calls, running, six durations and a method, or CALL LATENCY END");
  }
  table_.sum += calls;
}

void AsciiChecker::old_line(std::string_view text) {
  Scan scan(text);
  int64_t count = 0, time = 0;
  std::string_view names;
  // No valid class file has blanks in these names, and parsers split only at the method.
  scan.signed_decimal(&count) && scan.literal(" ") && scan.up_to_last(" ", &names) &&
      scan.signed_decimal(&time);
  auto is_method = [](std::string_view name) {
    if (name == "<unknown callee>" || name == "<unknown caller>") return true;
    return name.find(' ') == std::string_view::npos && name.find('(') != std::string_view::npos &&
           name.find(')') != std::string_view::npos;
  };
  bool shaped = false;
  for (size_t blank = names.find(' '); blank != std::string_view::npos && !shaped;
       blank = names.find(' ', blank + 1)) {
    shaped = is_method(names.substr(0, blank)) && is_method(names.substr(blank + 1));
  }
  if (!scan.done() || !shaped) wrong_line(text, "count, callee, caller and time with a blank between");
  if (count < 0 || time < 0) log_.report(Rule::kColumns, lines_.number(), "a negative number");
}

}  // namespace hprof::tool
