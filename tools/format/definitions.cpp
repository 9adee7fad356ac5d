// Header, record heads and definition records of a binary file.
#include "tools/format/definitions.h"

#include <cinttypes>
#include <cstdio>

#include "tools/format/binary_format.h"
#include "tools/format/file_kind.h"
#include "tools/format/utf8.h"

namespace hprof::tool {

bool read_header(Input& in, FileHeader* header) {
  constexpr size_t kLongest = 32;
  const std::string other = kind_of(in).name;
  header->problem = "not a binary hprof file" + (other.empty() ? "" : " but " + other);
  while (header->version.size() <= kLongest) {
    uint8_t c = in.u1();
    if (!in.ok()) return false;
    if (c == 0) break;
    header->version.push_back(static_cast<char>(c));
  }
  if (header->version.rfind("JAVA PROFILE 1.0.1, created", 0) == 0)
    header->problem = "a text report, which hprof print reads; a binary file has format=b";
  if (header->version.size() > kLongest || header->version.rfind("JAVA PROFILE ", 0) != 0) return false;
  header->id_size = in.u4();
  header->milliseconds = in.u8();
  if (!in.ok() || (header->id_size != 4 && header->id_size != 8)) return false;
  if (header->version == "JAVA PROFILE 1.0.3") {
    header->problem =
        "a heap dump of Android, which has records of its own: convert it with hprof-conv of the Android SDK";
    return false;
  }
  in.set_id_size(header->id_size);
  return true;
}

// The length has 32 bits, so that of a HEAP DUMP of 4 GiB and more has wrapped. If its low bits fit the rest
// of the file, the record is taken to reach the end, as in Eclipse MAT.
static uint64_t unwrapped_length(const Input& in, const RecordHead& head) {
  constexpr uint64_t kWrap = uint64_t{1} << 32;
  if (head.tag != kHeapDump || in.size() == kUnknownSize || in.size() < head.body()) return head.length;
  const uint64_t left = in.size() - head.body();
  return left >= kWrap && left % kWrap == head.length ? left : head.length;
}

bool read_record_head(Input& in, RecordHead* head, bool* cut) {
  in.clear_limit();
  *cut = false;
  if (in.at_end()) return false;
  head->offset = in.offset();
  head->tag = in.u1();
  head->time = in.u4();
  head->length = in.u4();
  head->length = unwrapped_length(in, *head);
  *cut = !in.ok();
  return in.ok();
}

bool Definitions::take(Input& in, const RecordHead& head) {
  in.set_limit(head.end());
  in.seek(head.body());
  switch (head.tag) {
    case kString: {
      if (head.length < in.id_size()) return false;
      uint64_t id = in.id();
      uint64_t size = head.length - in.id_size();
      std::string text;
      in.text(size < kStringMax ? size : kStringMax, &text);
      if (!in.ok()) return false;
      strings[id] = std::move(text);
      return true;
    }
    case kLoadClass: {
      LoadedClass loaded{in.u4(), in.id(), in.u4(), in.id(), false};
      if (!in.ok()) return false;
      classes[loaded.serial] = loaded;
      class_serials[loaded.id] = loaded.serial;
      return true;
    }
    case kUnloadClass: {
      auto found = classes.find(in.u4());
      if (in.ok() && found != classes.end()) found->second.unloaded = true;
      return in.ok();
    }
    case kFrame: {
      uint64_t id = in.id();
      StackFrame frame{in.id(), in.id(), in.id(), in.u4(), static_cast<int32_t>(in.u4())};
      if (!in.ok()) return false;
      frames[id] = frame;
      return true;
    }
    case kTrace: {
      uint32_t serial = in.u4();
      StackTrace trace{in.u4(), {}};
      uint32_t count = in.u4();
      if (!in.ok() || count > head.length / in.id_size()) return false;
      for (uint32_t i = 0; i < count && in.ok(); ++i) trace.frames.push_back(in.id());
      if (!in.ok()) return false;
      traces[serial] = std::move(trace);
      return true;
    }
    case kStartThread: {
      uint32_t serial = in.u4();
      StartedThread thread{in.id(), in.u4(), in.id(), in.id(), in.id(), false};
      if (!in.ok()) return false;
      threads[serial] = thread;
      return true;
    }
    case kEndThread: {
      auto found = threads.find(in.u4());
      if (in.ok() && found != threads.end()) found->second.ended = true;
      return in.ok();
    }
    default:
      return false;
  }
}

std::string_view Definitions::string(uint64_t id) const {
  auto found = strings.find(id);
  return found == strings.end() ? std::string_view() : std::string_view(found->second);
}

std::string Definitions::class_name(uint64_t class_id) const {
  auto found = class_serials.find(class_id);
  if (found != class_serials.end()) return class_name_of_serial(found->second);
  char text[40];
  std::snprintf(text, sizeof text, "class 0x%" PRIx64, class_id);
  return text;
}

std::string Definitions::class_name_of_serial(uint32_t serial) const {
  auto found = classes.find(serial);
  if (found != classes.end()) {
    std::string_view name = string(found->second.name);
    if (!name.empty()) return printable(java_name(name));
  }
  return "class #" + std::to_string(serial);
}

std::string Definitions::method_text(const StackFrame& frame) const {
  std::string_view method = string(frame.method);
  std::string text = class_name_of_serial(frame.class_serial) + ".";
  return text + (method.empty() ? "<Unknown Method>" : printable(method));
}

std::string Definitions::frame_text(const StackFrame& frame) const {
  std::string_view source = string(frame.source);
  std::string text =
      method_text(frame) + "(" + (source.empty() ? "<Unknown Source>" : printable(source)) + ":";
  if (frame.line > 0) {
    text += std::to_string(frame.line);
  } else {
    text += frame.line == -2 ? "Compiled method" : frame.line == -3 ? "Native method" : "Unknown line";
  }
  return text + ")";
}

std::string java_name(std::string_view name) {
  size_t dimensions = 0;
  while (dimensions < name.size() && name[dimensions] == '[') ++dimensions;
  std::string_view element = name.substr(dimensions);
  std::string text;
  if (dimensions > 0 && element.size() == 1) {
    static constexpr char kCodes[] = "ZCFDBSIJ";
    static constexpr const char* kNames[] = {"boolean", "char",  "float", "double",
                                             "byte",    "short", "int",   "long"};
    for (size_t i = 0; i < 8; ++i) {
      if (element[0] == kCodes[i]) text = kNames[i];
    }
  } else if (element.size() > 2 && element.front() == 'L' && element.back() == ';') {
    element = element.substr(1, element.size() - 2);
  }
  if (text.empty()) text = std::string(element);
  for (char& c : text) {
    if (c == '/') c = '.';
  }
  for (size_t i = 0; i < dimensions; ++i) text += "[]";
  return text;
}

}  // namespace hprof::tool
