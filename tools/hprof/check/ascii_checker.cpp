// Checks the records outside of tables and heap dumps: prelude, threads, traces, monitor events, beginnings
// of sections.
#include "tools/hprof/check/ascii_checker.h"

#include <cinttypes>

#include "tools/format/utf8.h"

namespace hprof::tool {

AsciiChecker::AsciiChecker(Input& in, ProblemLog& log) : lines_(in), in_(in), log_(log) {}

bool AsciiChecker::run() {
  log_.report(Rule::kBinaryOnly, 1, "a text file, expected binary (format=b)");
  std::string_view text;
  if (!lines_.next(&text)) {
    log_.report(Rule::kHeader, 1, "an empty file, expected \"JAVA PROFILE 1.0.1, created <date>\"");
    return in_.error().empty();
  }
  std::string first(text);
  if (first == "count callee caller time") {
    section_ = Section::kOld;
  } else if (!prelude(first)) {
    // Leading blank lines remain when the prelude was cut off.
    while (first.empty() && lines_.next(&text)) first = text;
    if (!top_level(first)) {
      log_.report(Rule::kHeader, 1, "\"%.80s\", expected \"JAVA PROFILE 1.0.1, created <date>\"",
                  first.c_str());
      return in_.error().empty();
    }
    log_.report(Rule::kPrelude, 1,
                "expected \"JAVA PROFILE 1.0.1, created <date>\" and a prelude that ends with dashes");
    check_bytes(first);
  }
  while (lines_.next(&text)) line(text);
  if (section_ == Section::kTrace) end_trace();
  bool open = section_ != Section::kNone && section_ != Section::kTrace && section_ != Section::kOld;
  if (open) log_.report(Rule::kSectionOpen, table_.begin, "this section has no END");
  if (section_ != Section::kOld && cpu_sections_ == 0) {
    log_.report(Rule::kNoSamples, lines_.number(), "no CPU SAMPLES and no CPU TIME section");
  }
  for (const auto& [serial, where] : by_place(missing_traces_)) {
    if (traces_.count(serial) != 0) continue;
    log_.report(Rule::kTraceMissing, where, "names trace %" PRIu64 ", which is nowhere in the file", serial);
  }
  return in_.error().empty();
}

// Reads up to the line of dashes. False: the file does not begin with a header.
bool AsciiChecker::prelude(std::string_view first) {
  Scan scan(first);
  if (!scan.literal("JAVA PROFILE ")) return false;
  std::string_view version;
  if (!scan.up_to(", created ", &version) || version != "1.0.1") {
    log_.report(Rule::kHeader, 1, "\"%.80s\", expected \"JAVA PROFILE 1.0.1, created <date>\"", first.data());
  }
  check_date(scan.rest());
  std::string_view text;
  while (lines_.next(&text)) {
    if (text == "--------") {
      if (lines_.next(&text) && !text.empty()) {
        log_.report(Rule::kPrelude, lines_.number(), "expected an empty line after the dashes");
        line(text);
      }
      return true;
    }
  }
  log_.report(Rule::kHeader, lines_.number(),
              "the file ends within its prelude, expected a line of eight dashes");
  return true;
}

void AsciiChecker::check_date(std::string_view text) {
  if (!is_ctime(text)) {
    log_.report(Rule::kDate, lines_.number(),
                "\"%.40s\", expected a date such as \"Sat Nov 21 05:00:02 2026\"", std::string(text).c_str());
  }
}

void AsciiChecker::wrong_line(std::string_view text, const char* expected) {
  log_.report(Rule::kLine, lines_.number(), "\"%.80s\", expected %s", std::string(text.substr(0, 80)).c_str(),
              expected);
}

bool AsciiChecker::check_bytes(std::string_view text) {
  size_t bad = first_bad_utf8(text, false);
  if (bad < text.size() && !lines_.cut()) {
    log_.report(Rule::kBytes, lines_.number(), "byte 0x%02x in column %zu, expected printable UTF-8",
                static_cast<uint8_t>(text[bad]), bad + 1);
  }
  if (lines_.cut()) {
    log_.report(Rule::kBytes, lines_.number(), "a line of more than %zu bytes", LineReader::kLineMax);
    return false;
  }
  if (lines_.carriage_return() && !carriage_returns_) {
    carriage_returns_ = true;
    log_.report(Rule::kCarriageReturn, lines_.number(), "lines end with CR LF, expected LF");
  }
  if (lines_.unfinished()) log_.report(Rule::kBytes, lines_.number(), "the last line has no line feed");
  return true;
}

void AsciiChecker::line(std::string_view text) {
  if (!check_bytes(text)) return;
  if (section_ == Section::kTrace) {
    if (!text.empty() && text[0] == '\t') return frame_line(text);
    end_trace();
  }
  switch (section_) {
    case Section::kTrace:
    case Section::kNone:
      if (!top_level(text)) wrong_line(text, "a record");
      return;
    case Section::kSites:
      return sites_line(text);
    case Section::kSamples:
    case Section::kTimes:
      return cpu_line(text);
    case Section::kMonitorTime:
      return monitor_time_line(text);
    case Section::kLatency:
      return latency_line(text);
    case Section::kMonitorDump:
      return monitor_dump_line(text);
    case Section::kHeap:
      return heap_line(text);
    case Section::kOld:
      return old_line(text);
  }
}

bool AsciiChecker::top_level(std::string_view text) {
  if (trace_head(text)) return true;
  if (run_begun_) run_ended_ = true;
  return thread_line(text) || monitor_event(text) || section_begin(text) || extension(text);
}

bool AsciiChecker::thread_line(std::string_view text) {
  Scan scan(text);
  uint64_t object = 0, id = 0;
  if (scan.maybe("THREAD START (obj=")) {
    std::string_view name, group;
    scan.hexadecimal(&object) && scan.literal(", id = ") && scan.decimal(&id) && scan.literal(", name=\"") &&
        scan.up_to_last("\", group=\"", &name) && scan.up_to_last("\")", &group);
    if (!scan.done()) {
      wrong_line(text, "THREAD START (obj=%x, id = %d, name=\"%s\", group=\"%s\")");
      return true;
    }
    if (id <= 200000) {
      log_.report(Rule::kSerialBase, lines_.number(), "thread id %" PRIu64 ", expected more than 200000", id);
    }
    const auto before = threads_.find(id);
    if (before != threads_.end()) {
      // A live thread that is named anew; after a heap dump its object has another id.
      const Thread& known = before->second;
      if (!known.ended && (known.object == object || known.name != name)) return true;
      log_.report(Rule::kThreadSerial, lines_.number(), "thread %" PRIu64 " was started before", id);
    }
    threads_[id] = {object, std::string(name), false};
    auto [owner, fresh] = live_objects_.emplace(object, id);
    if (!fresh) {
      log_.report(Rule::kThreadObject, lines_.number(), "object %" PRIx64 " is also that of thread %" PRIu64,
                  object, owner->second);
    }
    return true;
  }
  if (!scan.maybe("THREAD END (id = ")) return false;
  scan.decimal(&id) && scan.literal(")");
  auto found = threads_.find(id);
  if (!scan.done()) {
    wrong_line(text, "THREAD END (id = %d)");
  } else if (found == threads_.end()) {
    log_.report(Rule::kThreadUnstarted, lines_.number(),
                "THREAD END of thread %" PRIu64 ", which was not started", id);
  } else if (found->second.ended) {
    log_.report(Rule::kThreadEnd, lines_.number(), "THREAD END of thread %" PRIu64 ", which has ended before",
                id);
  } else {
    found->second.ended = true;
    auto owner = live_objects_.find(found->second.object);
    if (owner != live_objects_.end() && owner->second == id) live_objects_.erase(owner);
  }
  return true;
}

void AsciiChecker::need_thread(uint64_t id) {
  if (threads_.count(id) == 0 && unknown_threads_.insert(id).second) {
    log_.report(Rule::kThreadUnknown, lines_.number(), "thread %" PRIu64 " has no THREAD START before it",
                id);
  }
}

bool AsciiChecker::trace_head(std::string_view text) {
  Scan scan(text);
  if (!scan.maybe("TRACE ")) return false;
  uint64_t serial = 0, thread = 0;
  Trace trace{lines_.number(), 0, !run_ended_, false, false, false, {}};
  run_begun_ = true;
  if (scan.decimal(&serial) && scan.literal(":")) {
    if (scan.maybe(" (thread=")) {
      trace.has_thread = true;
      scan.decimal(&thread) && scan.literal(")");
    }
    if (scan.maybe(" (from ")) {
      std::string_view phase;
      trace.has_phase = true;
      scan.up_to_last(" phase of JVM)", &phase);
    }
  }
  if (!scan.done()) {
    wrong_line(text, "TRACE %u:, with (thread=%d) and (from ... phase of JVM) at most");
    return true;
  }
  if (serial < 300000) {
    log_.report(Rule::kSerialBase, lines_.number(), "trace %" PRIu64 ", expected 300000 or more", serial);
  }
  if (!traces_.emplace(serial, trace).second) {
    log_.report(Rule::kTraceRedefined, lines_.number(), "trace %" PRIu64 " was written before", serial);
  }
  if (trace.has_thread) {
    need_thread(thread);
    log_.report(Rule::kTraceThread, lines_.number(), "(thread=%" PRIu64 ") in a trace", thread);
  }
  if (trace.has_phase) log_.report(Rule::kTracePhase, lines_.number(), "the phase of the VM in a trace");
  section_ = Section::kTrace;
  trace_ = serial;
  return true;
}

void AsciiChecker::frame_line(std::string_view text) {
  Trace& trace = traces_[trace_];
  ++trace.frames;
  if (text == "\t<empty>") {
    if (trace.frames != 1) wrong_line(text, "<empty> as the only frame");
    trace.top = "<empty trace>";
    return;
  }
  // The line's text has no colon and the source no parenthesis, so read from the right.
  Scan scan(text.substr(1));
  std::string_view method, source, where;
  bool shaped = scan.up_to_last("(", &method) && scan.up_to_last(":", &source) &&
                scan.up_to_last(")", &where) && scan.done() && !source.empty() &&
                method.find('.') != std::string_view::npos;
  uint64_t number = 0;
  Scan digits(where);
  bool line_text = where == "Unknown line" || where == "Compiled method" || where == "Native method" ||
                   (digits.decimal(&number) && digits.done());
  if (!shaped || !line_text) {
    wrong_line(text,
               "\\t%s.%s(%s:%s) with a number, Unknown line, Compiled method or Native method at its end");
    return;
  }
  if (where == "Compiled method" || where == "Native method") {
    log_.report(Rule::kFrameText, lines_.number(), "%s, expected Unknown line: readers want it or a number",
                std::string(where).c_str());
  }
  if (method.find(' ') != std::string_view::npos) trace.has_blank = true;
  if (trace.frames == 1) trace.top = std::string(method);
}

void AsciiChecker::end_trace() {
  section_ = Section::kNone;
  const Trace& trace = traces_[trace_];
  if (trace.frames == 0) {
    log_.report(Rule::kLine, trace.line, "a trace without a line, expected <empty> for one without frames");
  }
  if (trace.has_blank) {
    log_.report(Rule::kBlank, trace.line, "a blank in a name of trace %" PRIu64, trace_);
  }
}

bool AsciiChecker::monitor_event(std::string_view text) {
  struct Shape {
    const char* start;
    const char* middle;  // before a number, or null
  };
  static constexpr Shape kShapes[] = {{"WAIT: MONITOR ", ", timeout="},
                                      {"WAITED: MONITOR ", ", time_waited="},
                                      {"EXIT: MONITOR ", nullptr},
                                      {"SLEEP: timeout=", ""}};
  for (const Shape& shape : kShapes) {
    Scan scan(text);
    if (!scan.maybe(shape.start)) continue;
    std::string_view monitor;
    int64_t time = 0;
    uint64_t thread = 0;
    bool sleeps = shape.middle != nullptr && shape.middle[0] == 0;
    if (!sleeps && shape.middle != nullptr) scan.up_to_last(shape.middle, &monitor);
    if (shape.middle != nullptr) scan.signed_decimal(&time);
    if (shape.middle == nullptr) {
      scan.up_to_last(", ", &monitor);
    } else {
      scan.literal(", ");
    }
    if (!scan.maybe("<unknown thread>")) {
      scan.literal("thread ") && scan.decimal(&thread);
    }
    // JDK 1.2 to 1.4 wrote class and number: java.lang.Object(1f3a).
    bool named =
        sleeps || (!monitor.empty() && (monitor[0] == '[' || monitor.back() == ';' || monitor.back() == ')'));
    if (!scan.done() || !named) {
      wrong_line(text, "a monitor event: MONITOR and a JVM signature, a time, a thread");
    } else if (thread != 0) {
      need_thread(thread);
    }
    return true;
  }
  return false;
}

// True: a line that only this agent writes, outside of tables: a note, the answer to a summary command, or a
// record of a plugin, whose words all have a '='.
bool AsciiChecker::extension(std::string_view text) {
  Scan scan(text);
  if (scan.maybe("HPROF NOTE: ")) return true;
  uint64_t number = 0;
  if (scan.maybe("HEAP SUMMARY (live bytes = ")) {
    scan.decimal(&number) && scan.literal(", live objects = ") && scan.decimal(&number) &&
        scan.literal(", allocated bytes = ") && scan.decimal(&number) &&
        scan.literal(", allocated objects = ") && scan.decimal(&number) && scan.literal(")");
    if (!scan.done()) wrong_line(text, "HEAP SUMMARY (live bytes = %u, live objects = %u, allocated ...)");
    return true;
  }
  std::string_view name, field;
  if (!scan.up_to(":", &name) || name.empty() || name.find(' ') != std::string_view::npos) return false;
  while (!scan.rest().empty()) {
    size_t end = scan.rest().find(' ', 1);
    field = scan.rest().substr(0, end);
    if (field.size() < 3 || field[0] != ' ' || field.find('=', 2) == std::string_view::npos) return false;
    scan.literal(field);
  }
  return true;
}

void AsciiChecker::open_section(Section section) {
  section_ = section;
  table_ = Table{};
  table_.begin = lines_.number();
}

bool AsciiChecker::section_begin(std::string_view text) {
  Scan scan(text);
  if (scan.maybe("SITES BEGIN (ordered by ")) {
    open_section(Section::kSites);
    table_.by_allocation = scan.maybe("allocated bytes) ");
    if (!table_.by_allocation && !scan.literal("live bytes) ")) {
      wrong_line(text, "SITES BEGIN (ordered by live bytes) or (ordered by allocated bytes), and a date");
      return true;
    }
  } else if (scan.maybe("CPU SAMPLES BEGIN (total = ") || scan.maybe("CPU TIME (ms) BEGIN (total = ")) {
    bool samples = text[4] == 'S';
    open_section(samples ? Section::kSamples : Section::kTimes);
    ++cpu_sections_;
    bool negative = scan.maybe("-");
    if (!scan.decimal(&table_.total) || !scan.literal(") ")) {
      wrong_line(text, "CPU SAMPLES BEGIN (total = %d), or CPU TIME (ms), and a date");
      return true;
    }
    if (negative) {
      log_.report(Rule::kTotalNegative, lines_.number(), "a total of -%" PRIu64, table_.total);
      table_.total = 0;
    }
  } else if (scan.maybe("MONITOR TIME BEGIN (total = ")) {
    open_section(Section::kMonitorTime);
    if (!scan.decimal(&table_.total) || !scan.literal(" ms) ")) {
      wrong_line(text, "MONITOR TIME BEGIN (total = %u ms) and a date");
      return true;
    }
  } else if (scan.maybe("CALL LATENCY BEGIN (total = ")) {
    open_section(Section::kLatency);
    if (!scan.decimal(&table_.total) || !scan.literal(") ")) {
      wrong_line(text, "CALL LATENCY BEGIN (total = %u) and a date");
      return true;
    }
  } else if (scan.maybe("HEAP DUMP BEGIN (")) {
    open_section(Section::kHeap);
    heap_objects_ = heap_bytes_ = dumped_objects_ = dumped_bytes_ = 0;
    object_kind_ = 0;
    if (!scan.decimal(&heap_objects_) || !scan.literal(" objects, ") || !scan.decimal(&heap_bytes_) ||
        !scan.literal(" bytes) ")) {
      wrong_line(text, "HEAP DUMP BEGIN (%u objects, %u bytes) and a date");
      return true;
    }
  } else if (text == "MONITOR DUMP BEGIN") {
    open_section(Section::kMonitorDump);
    return true;
  } else {
    return false;
  }
  check_date(scan.rest());
  return true;
}

}  // namespace hprof::tool
