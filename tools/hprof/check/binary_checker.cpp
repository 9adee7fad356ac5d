// Framing and definitions of a binary file.
#include "tools/hprof/check/binary_checker.h"

#include <cinttypes>

#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

constexpr uint32_t kGibibyte = 1u << 30;

bool is_heap_record(uint8_t tag) {
  return tag == kHeapDump || tag == kHeapDumpSegment || tag == kHeapDumpEnd;
}

}  // namespace

BinaryChecker::BinaryChecker(Input& in, ProblemLog& log) : in_(in), log_(log), heap_(in, log, definitions_) {}

bool BinaryChecker::run() {
  log_.report(Rule::kTextOnly, 0, "a binary file, expected text (format=a)");
  RecordReader records(in_);
  const bool readable = records.begin();
  header_ = records.header();
  if (!header(readable)) return in_.error().empty();
  const RecordHead& head = records.head();
  for (; records.next(); ++records_) record(head);
  if (records.end() == RecordReader::End::kWithinBody)
    log_.report(Rule::kRecordTruncated, head.offset,
                "%s record of %" PRIu64 " bytes, expected its end within the file",
                record_name(head.tag) == nullptr ? "unknown" : record_name(head.tag), head.length);
  if (records.end() == RecordReader::End::kWithinHead)
    log_.report(Rule::kRecordTruncated, head.end(), "the file ends within the 9 bytes of a record head");
  finish();
  return in_.error().empty();
}

bool BinaryChecker::header(bool readable) {
  if (!readable) {
    if (header_.version.rfind("JAVA PROFILE ", 0) != 0) {
      log_.report(Rule::kHeader, 0, "expected \"JAVA PROFILE 1.0.2\" and a zero byte");
    } else if (header_.version == "JAVA PROFILE 1.0.3") {
      log_.report(Rule::kHeaderVersion, 0, "%s", header_.problem.c_str());
    } else if (header_.id_size != 4 && header_.id_size != 8) {
      log_.report(Rule::kHeaderIdSize, header_.version.size() + 1,
                  "identifiers of %" PRIu32 " bytes, expected 4 or 8", header_.id_size);
    } else {
      log_.report(Rule::kRecordTruncated, 0, "the file ends within its header");
    }
    return false;
  }
  if (header_.version != "JAVA PROFILE 1.0.1" && header_.version != "JAVA PROFILE 1.0.2") {
    log_.report(Rule::kHeaderVersion, 0, "\"%s\", expected JAVA PROFILE 1.0.1 or 1.0.2",
                header_.version.c_str());
  }
  constexpr uint64_t kYear1995 = 788918400000, kYear2200 = 7258118400000;
  if (header_.milliseconds < kYear1995 || header_.milliseconds > kYear2200) {
    log_.report(Rule::kHeaderDate, header_.version.size() + 5,
                "created %" PRIu64 " ms after 1970, expected a year from 1995 to 2200", header_.milliseconds);
  }
  return true;
}

void BinaryChecker::before_record(const RecordHead& head) {
  if (head.time < last_time_) {
    log_.report(Rule::kRecordTime, head.offset,
                "%" PRIu32 " us after a record of %" PRIu32 " us, expected no less", head.time, last_time_);
  }
  last_time_ = head.time;
  if (head.length == 0 && head.tag != kHeapDumpEnd) {
    log_.report(Rule::kRecordEmpty, head.offset,
                "record 0x%02x of length 0, expected that of HEAP DUMP END only", head.tag);
  }
  if (in_segments_ && !is_heap_record(head.tag)) between_ = true;
  if (between_ && head.tag == kHeapDumpSegment) {
    log_.report(Rule::kSegmentBetween, head.offset,
                "other records stand between this segment and the one before, expected none");
    between_ = false;
  }
}

void BinaryChecker::record(const RecordHead& head) {
  before_record(head);
  switch (head.tag) {
    case kString:
      return string(head);
    case kLoadClass:
      return load_class(head);
    case kUnloadClass:
      return unload_class(head);
    case kFrame:
      return frame(head);
    case kTrace:
      return trace(head);
    case kStartThread:
      return start_thread(head);
    case kEndThread:
      return end_thread(head);
    case kAllocSites:
      return alloc_sites(head);
    case kHeapSummary:
      exact_length(head, 24);
      return;
    case kCpuSamples:
      return cpu_samples(head);
    case kControlSettings:
      return control_settings(head);
    case kHeapDump:
    case kHeapDumpSegment:
    case kHeapDumpEnd:
      return heap_dump(head);
    default:
      log_.report(Rule::kRecordTag, head.offset,
                  "record tag 0x%02x of %" PRIu64 " bytes, expected a known one", head.tag, head.length);
  }
}

bool BinaryChecker::exact_length(const RecordHead& head, uint64_t expected) {
  if (head.length == expected) return true;
  log_.report(Rule::kRecordLength, head.offset, "%s record of %" PRIu64 " bytes, expected %" PRIu64,
              record_name(head.tag), head.length, expected);
  return false;
}

void BinaryChecker::need_string(uint64_t id, const RecordHead& head, const char* user) {
  if (definitions_.strings.count(id) == 0) missing_strings_.emplace(id, Pending{head.offset, user});
}

void BinaryChecker::need_class(uint32_t serial, const RecordHead& head, const char* user) {
  if (definitions_.classes.count(serial) == 0) missing_classes_.emplace(serial, Pending{head.offset, user});
}

void BinaryChecker::need_trace(uint32_t serial, const RecordHead& head) {
  if (serial != 0 && definitions_.traces.count(serial) == 0) {
    missing_traces_.emplace(serial, Pending{head.offset, record_name(head.tag)});
  }
}

void BinaryChecker::name_trace(uint32_t serial, const RecordHead& head, const char* user) {
  if (serial != 0 && definitions_.traces.count(serial) == 0) {
    named_traces_.emplace(serial, Pending{head.offset, user});
  }
}

void BinaryChecker::string(const RecordHead& head) {
  if (head.length < in_.id_size()) {
    log_.report(Rule::kRecordLength, head.offset, "STRING record of %" PRIu64 " bytes, expected at least %u",
                head.length, in_.id_size());
    return;
  }
  uint64_t id = in_.id();
  auto found = definitions_.strings.find(id);
  bool known = found != definitions_.strings.end();
  std::string before = known ? found->second : std::string();
  if (!definitions_.take(in_, head)) return;
  const std::string& text = definitions_.strings[id];
  if (known) {
    log_.report(text == before ? Rule::kStringRepeated : Rule::kStringRedefined, head.offset,
                "string 0x%" PRIx64 " was \"%.60s\" and is \"%.60s\"", id, before.c_str(), text.c_str());
  }
  size_t bad = first_bad_utf8(text, true);
  if (bad < text.size() && text.size() < Definitions::kStringMax) {
    log_.report(Rule::kStringUtf8, head.body() + in_.id_size() + bad,
                "byte 0x%02x in string 0x%" PRIx64 ", expected UTF-8", static_cast<uint8_t>(text[bad]), id);
  }
}

void BinaryChecker::load_class(const RecordHead& head) {
  if (!exact_length(head, 8 + 2 * in_.id_size())) return;
  uint32_t serial = in_.u4();
  bool again = definitions_.classes.count(serial) != 0;
  if (!definitions_.take(in_, head)) return;
  const LoadedClass& loaded = definitions_.classes[serial];
  if (serial == 0 || again) {
    log_.report(Rule::kClassSerial, head.offset, "class serial number %" PRIu32 " %s", serial,
                serial == 0 ? "is not greater than 0" : "was given before");
  }
  need_string(loaded.name, head, "name of a LOAD CLASS");
  name_trace(loaded.trace, head, "LOAD CLASS");
}

void BinaryChecker::unload_class(const RecordHead& head) {
  if (!exact_length(head, 4)) return;
  uint32_t serial = in_.u4();
  auto found = definitions_.classes.find(serial);
  if (in_.ok() && (found == definitions_.classes.end() || found->second.unloaded)) {
    log_.report(Rule::kClassUnload, head.offset,
                "UNLOAD CLASS of serial number %" PRIu32 ", which is not loaded", serial);
  }
  definitions_.take(in_, head);
}

void BinaryChecker::frame(const RecordHead& head) {
  if (!exact_length(head, 4 * in_.id_size() + 8)) return;
  uint64_t id = in_.id();
  if (definitions_.frames.count(id) != 0) {
    log_.report(Rule::kFrameRedefined, head.offset, "frame 0x%" PRIx64 " was defined before", id);
  }
  if (!definitions_.take(in_, head)) return;
  const StackFrame& frame = definitions_.frames[id];
  need_string(frame.method, head, "method name of a STACK FRAME");
  need_string(frame.signature, head, "signature of a STACK FRAME");
  if (frame.source != 0) need_string(frame.source, head, "source name of a STACK FRAME");
  need_class(frame.class_serial, head, "STACK FRAME");
  if (frame.line < -3) {
    log_.report(Rule::kFrameLine, head.offset, "line number %" PRId32 ", expected -3 or more", frame.line);
  }
}

void BinaryChecker::trace(const RecordHead& head) {
  uint32_t serial = in_.u4();
  in_.u4();
  uint32_t count = in_.u4();
  if (!in_.ok() || head.length != 12 + uint64_t{count} * in_.id_size()) {
    log_.report(Rule::kRecordLength, head.offset,
                "STACK TRACE record of %" PRIu64 " bytes, expected %" PRIu64 " for %" PRIu32 " frames",
                head.length, 12 + uint64_t{count} * in_.id_size(), count);
    return;
  }
  if (definitions_.traces.count(serial) != 0) {
    log_.report(Rule::kTraceRedefined, head.offset, "trace %" PRIu32 " was written before", serial);
  }
  if (!definitions_.take(in_, head)) return;
  trace_threads_.emplace(definitions_.traces[serial].thread, head.offset);
  for (uint64_t id : definitions_.traces[serial].frames) {
    if (definitions_.frames.count(id) == 0) missing_frames_.emplace(id, Pending{head.offset, "STACK TRACE"});
  }
}

void BinaryChecker::start_thread(const RecordHead& head) {
  if (!exact_length(head, 8 + 4 * in_.id_size())) return;
  uint32_t serial = in_.u4();
  const uint64_t object = in_.id();
  in_.u4();  // its trace
  const uint64_t name = in_.id();
  const auto before = definitions_.threads.find(serial);
  // A live thread that is named anew has another one; after a heap dump its object has another id.
  const bool is_again = before != definitions_.threads.end() && !before->second.ended &&
                        (before->second.object == object || before->second.name != name);
  if (serial == 0 || (before != definitions_.threads.end() && !is_again)) {
    log_.report(Rule::kThreadSerial, head.offset, "thread serial number %" PRIu32 " %s", serial,
                serial == 0 ? "is not greater than 0" : "was started before");
  }
  if (!definitions_.take(in_, head)) return;
  const StartedThread& thread = definitions_.threads[serial];
  name_trace(thread.trace, head, "START THREAD");
  if (thread.name != 0) need_string(thread.name, head, "name of a START THREAD");
  if (thread.group != 0) need_string(thread.group, head, "group name of a START THREAD");
  if (thread.parent_group != 0) need_string(thread.parent_group, head, "parent group name of a START THREAD");
}

void BinaryChecker::end_thread(const RecordHead& head) {
  if (!exact_length(head, 4)) return;
  uint32_t serial = in_.u4();
  auto found = definitions_.threads.find(serial);
  if (in_.ok() && found == definitions_.threads.end()) {
    log_.report(Rule::kThreadUnstarted, head.offset,
                "END THREAD of thread %" PRIu32 ", which was not started", serial);
  } else if (in_.ok() && found->second.ended) {
    log_.report(Rule::kThreadEnd, head.offset, "END THREAD of thread %" PRIu32 ", which has ended before",
                serial);
  }
  definitions_.take(in_, head);
}

void BinaryChecker::heap_dump(const RecordHead& head) {
  if (head.tag == kHeapDumpEnd) {
    exact_length(head, 0);
    if (!in_segments_) {
      log_.report(Rule::kSegmentEnd, head.offset, "HEAP DUMP END, expected a HEAP DUMP SEGMENT before it");
      return;
    }
    finish_dump(true, head.offset);
    return;
  }
  bool segment = head.tag == kHeapDumpSegment;
  if (in_segments_ && !segment) finish_dump(false, head.offset);
  if (segment && header_.version == "JAVA PROFILE 1.0.1") {
    log_.report(Rule::kHeaderSegments, head.offset,
                "HEAP DUMP SEGMENT, expected JAVA PROFILE 1.0.2 in the header");
  }
  if (!in_segments_ && ++dumps_ > 1) {
    log_.report(Rule::kDumpSecond, head.offset, "heap dump number %" PRIu64 ", expected one in a file",
                dumps_);
  }
  if (head.length > kGibibyte) {
    log_.report(Rule::kSegmentLarge, head.offset, "%s of %" PRIu64 " bytes, expected at most %" PRIu32,
                record_name(head.tag), head.length, kGibibyte);
  }
  in_segments_ = segment;
  heap_.add_segment(head);
  if (!segment) finish_dump(true, head.offset);
}

void BinaryChecker::finish_dump(bool closed, uint64_t offset) {
  if (!closed)
    log_.report(Rule::kSegmentOpen, offset, "expected HEAP DUMP END after the last HEAP DUMP SEGMENT");
  heap_.finish();
  in_segments_ = false;
  between_ = false;
}

void BinaryChecker::finish() {
  if (in_segments_) finish_dump(false, in_.offset());
  if (dumps_ > 0 && first_samples_ != 0) {
    log_.report(Rule::kDumpPure, first_samples_,
                "CPU SAMPLES in a file with a heap dump, expected a file of its own");
  }
  for (const auto& [id, offset] : heap_.missing_strings()) {
    missing_strings_.emplace(id, Pending{offset, "field name of a CLASS DUMP"});
  }
  for (const auto& [serial, offset] : heap_.missing_traces()) {
    named_traces_.emplace(serial, Pending{offset, "heap dump"});
  }
  finish_names();
  finish_traces();
}

// Reports references before their definition: some were defined later, others nowhere.
void BinaryChecker::finish_names() {
  for (const auto& [id, use] : by_place(missing_strings_)) {
    bool late = definitions_.strings.count(id) != 0;
    log_.report(late ? Rule::kStringOrder : Rule::kStringUndefined, use.offset,
                "%s is string 0x%" PRIx64 ", %s", use.user, id,
                late ? "expected the STRING before it" : "expected a STRING with that id");
  }
  for (const auto& [serial, use] : by_place(missing_classes_)) {
    bool late = definitions_.classes.count(serial) != 0;
    log_.report(late ? Rule::kClassOrder : Rule::kClassUndefined, use.offset,
                "%s names class serial number %" PRIu64 ", expected its LOAD CLASS%s", use.user, serial,
                late ? " before it" : "");
  }
  for (const auto& [id, offset] : by_place(heap_.missing_classes())) {
    bool late = definitions_.class_serials.count(id) != 0;
    log_.report(late ? Rule::kClassOrder : Rule::kClassNameless, offset,
                "CLASS DUMP of 0x%" PRIx64 ", expected its LOAD CLASS%s", id, late ? " before it" : "");
  }
  for (const auto& [id, use] : by_place(missing_frames_)) {
    bool late = definitions_.frames.count(id) != 0;
    log_.report(late ? Rule::kFrameOrder : Rule::kFrameUndefined, use.offset,
                "STACK TRACE names frame 0x%" PRIx64 ", expected its STACK FRAME%s", id,
                late ? " before it" : "");
  }
}

void BinaryChecker::finish_traces() {
  for (const auto& [serial, use] : by_place(missing_traces_)) {
    bool late = definitions_.traces.count(serial) != 0;
    log_.report(late ? Rule::kTraceOrder : Rule::kTraceUndefined, use.offset,
                "%s refers to trace %" PRIu64 ", expected its STACK TRACE%s", use.user, serial,
                late ? " before it" : "");
  }
  for (const auto& [serial, use] : by_place(named_traces_)) {
    if (definitions_.traces.count(serial) != 0) {
      log_.report(Rule::kTraceLate, use.offset,
                  "%s names trace %" PRIu64 ", expected its STACK TRACE before it", use.user, serial);
      continue;
    }
    log_.report(Rule::kTraceMissing, use.offset, "%s names trace %" PRIu64 ", which is nowhere in the file",
                use.user, serial);
  }
  IdMap<uint64_t> strangers;
  for (const auto& [serial, where] : trace_threads_) {
    if (serial == 0 || definitions_.threads.count(serial) != 0 || heap_.root_threads().count(serial) != 0)
      continue;
    strangers.emplace(serial, where);
  }
  for (const auto& [serial, where] : by_place(strangers)) {
    log_.report(Rule::kThreadUnknown, where, "a trace of thread %" PRIu64 ", which is nowhere in the file",
                serial);
  }
  for (const auto& [serial, offset] : by_place(heap_.root_threads())) {
    if (trace_threads_.count(serial) != 0) continue;
    log_.report(Rule::kThreadTrace, offset,
                "ROOT THREAD OBJECT of thread %" PRIu64
                ", expected a STACK TRACE with "
                "that thread serial number",
                serial);
  }
}

}  // namespace hprof::tool
