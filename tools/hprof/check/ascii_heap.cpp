// Heap dumps and monitor dumps of a text file.
#include <cinttypes>

#include "tools/hprof/check/ascii_checker.h"

namespace hprof::tool {

void AsciiChecker::define(uint64_t id) {
  if (id == 0) {
    log_.report(Rule::kObjectZero, lines_.number(), "an object with id 0");
  } else if (!objects_.insert(id)) {
    log_.report(Rule::kObjectTwice, lines_.number(), "object %" PRIx64 " was dumped before", id);
  }
  unresolved_.erase(id);
}

void AsciiChecker::refer(uint64_t id) {
  if (id != 0 && !objects_.contains(id)) unresolved_.emplace(id, lines_.number());
}

void AsciiChecker::name_trace(uint64_t serial) {
  if (traces_.count(serial) == 0) missing_traces_.emplace(serial, lines_.number());
}

void AsciiChecker::heap_line(std::string_view text) {
  if (text == "HEAP DUMP END") return end_heap();
  if (!text.empty() && text[0] == '\t') return object_detail(text);
  object_kind_ = 0;
  if (!root_line(text) && !object_line(text)) wrong_line(text, "ROOT, CLS, OBJ, ARR or HEAP DUMP END");
}

bool AsciiChecker::root_line(std::string_view text) {
  Scan scan(text);
  if (!scan.maybe("ROOT ")) return false;
  uint64_t object = 0, id = 0, trace = 0, thread = 0;
  int64_t frame = 0;
  std::string_view name;
  bool has_trace = false;
  scan.hexadecimal(&object) && scan.literal(" (kind=<");
  if (scan.maybe("thread>, id=")) {
    has_trace = scan.decimal(&thread) && scan.literal(", trace=") && scan.decimal(&trace);
  } else if (scan.maybe("JNI global ref>, id=")) {
    has_trace = scan.hexadecimal(&id) && scan.literal(", trace=") && scan.decimal(&trace);
  } else if (scan.maybe("JNI local ref>, thread=") || scan.maybe("Java stack>, thread=")) {
    scan.decimal(&thread) && scan.literal(", frame=") && scan.signed_decimal(&frame);
  } else if (scan.maybe("thread block>, thread=") || scan.maybe("native stack>, thread=")) {
    scan.decimal(&thread);
  } else if (scan.maybe("system class>, name=")) {
    scan.up_to_last(")", &name);
    if (!scan.done() || name.empty()) wrong_line(text, "ROOT %x (kind=<system class>, name=%s)");
    refer(object);
    return true;
  } else if (!scan.maybe("unknown>") && !scan.maybe("busy monitor>")) {
    wrong_line(text, "a known kind of ROOT");
    return true;
  }
  scan.literal(")");
  if (!scan.done()) {
    wrong_line(text, "the fields of this kind of ROOT");
    return true;
  }
  if (has_trace) name_trace(trace);
  if (object == 0) log_.report(Rule::kRootZero, lines_.number(), "a root of object 0");
  refer(object);
  return true;
}

bool AsciiChecker::object_line(std::string_view text) {
  Scan scan(text);
  uint64_t id = 0, trace = 0, size = 0, class_id = 0;
  std::string_view name;
  if (scan.maybe("CLS ")) {
    scan.hexadecimal(&id) && scan.literal(" (name=") && scan.up_to_last(", trace=", &name) &&
        scan.decimal(&trace) && scan.literal(")");
    object_kind_ = 'C';
  } else if (scan.maybe("OBJ ")) {
    scan.hexadecimal(&id) && scan.literal(" (sz=") && scan.decimal(&size) && scan.literal(", trace=") &&
        scan.decimal(&trace) && scan.literal(", class=") && scan.up_to_last("@", &name) &&
        scan.hexadecimal(&class_id) && scan.literal(")");
    object_kind_ = 'O';
  } else if (scan.maybe("ARR ")) {
    scan.hexadecimal(&id) && scan.literal(" (sz=") && scan.decimal(&size) && scan.literal(", trace=") &&
        scan.decimal(&trace) && scan.literal(", nelems=") && scan.decimal(&object_elements_) &&
        scan.literal(", elem type=");
    bool of_objects = scan.rest().find('@') != std::string_view::npos;
    if (of_objects) {
      scan.up_to_last("@", &name) && scan.hexadecimal(&class_id) && scan.literal(")");
    } else {
      scan.up_to_last(")", &name);
    }
    object_kind_ = of_objects ? 'A' : 'P';
  } else {
    return false;
  }
  if (!scan.done() || name.empty()) {
    wrong_line(
        text,
        "CLS %x (name=..., trace=...), OBJ or ARR with sz=, trace= and class= or nelems= and elem type=");
    return true;
  }
  define(id);
  refer(class_id);
  name_trace(trace);
  if (object_kind_ != 'C') {
    ++dumped_objects_;
    dumped_bytes_ += size;
  }
  return true;
}

void AsciiChecker::object_detail(std::string_view text) {
  Scan scan(text.substr(1));
  uint64_t value = 0, index = 0;
  std::string_view name;
  bool shaped = false;
  switch (object_kind_) {
    case 'C':
      if (scan.maybe("static ")) {
        shaped = scan.up_to_last("\t", &name) && !name.empty();
      } else if (scan.maybe("constant pool entry ")) {
        shaped = scan.decimal(&index) && scan.literal("\t");
      } else {
        shaped = scan.maybe("super\t\t") || scan.maybe("loader\t\t") || scan.maybe("signers\t\t") ||
                 scan.maybe("domain\t\t");
      }
      break;
    case 'O': {
      shaped = scan.up_to("\t", &name) && !name.empty();
      // One tab for a name of 8 or more characters, as a column would have it.
      bool second = scan.maybe("\t");
      if (shaped && second != (name.size() < 8)) {
        log_.report(Rule::kColumns, lines_.number(), "field %.60s, expected %s before its value",
                    std::string(name.substr(0, 60)).c_str(), name.size() < 8 ? "two tabs" : "one tab");
      }
      break;
    }
    case 'A':
      shaped = scan.literal("[") && scan.decimal(&index) && scan.literal("]\t\t");
      if (shaped && index >= object_elements_) {
        log_.report(Rule::kColumns, lines_.number(), "element %" PRIu64 " of %" PRIu64, index,
                    object_elements_);
      }
      break;
    default:
      break;
  }
  if (!shaped || !scan.hexadecimal(&value) || !scan.done()) {
    wrong_line(text, "a field or element of the record above it");
    return;
  }
  refer(value);
}

void AsciiChecker::end_heap() {
  section_ = Section::kNone;
  if (dumped_objects_ != heap_objects_ || dumped_bytes_ != heap_bytes_) {
    log_.report(Rule::kHeapCount, table_.begin,
                "%" PRIu64 " objects, %" PRIu64 " bytes, expected %" PRIu64 " and %" PRIu64
                ", the OBJ and ARR records that follow",
                heap_objects_, heap_bytes_, dumped_objects_, dumped_bytes_);
  }
  for (const auto& [id, where] : by_place(unresolved_)) {
    log_.report(Rule::kReference, where, "%" PRIx64 ", expected the id of a CLS, OBJ or ARR of this dump",
                id);
  }
  unresolved_.clear();
  objects_.clear();
}

void AsciiChecker::monitor_dump_line(std::string_view text) {
  if (text == "MONITOR DUMP END") {
    section_ = Section::kNone;
    return;
  }
  if (!text.empty() && text[0] == '\t') return monitor_detail_line(text);
  Scan scan(text);
  uint64_t thread = 0, trace = 0;
  if (scan.maybe("    THREAD ")) {
    scan.decimal(&thread) && scan.literal(", trace ") && scan.decimal(&trace) && scan.literal(", status: ");
    scan.maybe("S|");
    scan.maybe("intr|");
    scan.maybe("native|");
    std::string_view status = scan.rest();
    bool known = status == "R" || status == "SL" || status == "MW" || status == "CW" || status == "ZO" ||
                 status == "NS" || status == "UN";
    if (!scan.ok() || !known) {
      wrong_line(text, "THREAD %d, trace %d, status: and R, SL, MW, CW, ZO, NS or UN");
      return;
    }
    need_thread(thread);
    name_trace(trace);
  } else if (scan.maybe("    MONITOR ") || scan.maybe("    RAW MONITOR ")) {
    std::string_view name = scan.rest();
    if (name.empty()) wrong_line(text, "a JVM signature");
  } else {
    wrong_line(text, "THREAD, MONITOR or MONITOR DUMP END");
  }
}

void AsciiChecker::monitor_detail_line(std::string_view text) {
  Scan scan(text.substr(1));
  uint64_t thread = 0, count = 0;
  if (scan.maybe("owner: ")) {
    if (!scan.maybe("<unknown thread>") && !scan.maybe("unknown"))
      scan.literal("thread ") && scan.decimal(&thread);
    scan.literal(", entry count: ") && scan.decimal(&count);
  } else if (scan.maybe("waiting to enter:") || scan.maybe("waiting to be notified:")) {
    while (scan.ok() && !scan.rest().empty()) {
      scan.literal(" ");
      if (scan.maybe("<unknown thread>")) continue;
      scan.literal("thread ") && scan.decimal(&thread);
      scan.maybe(",");
    }
  } else {
    scan.literal("owner, waiting to enter or waiting to be notified");
  }
  if (!scan.done()) {
    wrong_line(text, "owner: thread %d, entry count: %d, or the threads that wait");
    return;
  }
  if (thread != 0) need_thread(thread);
}

}  // namespace hprof::tool
