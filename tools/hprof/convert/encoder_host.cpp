#include "tools/hprof/convert/encoder_host.h"

#include "tools/format/value_text.h"

namespace hprof::tool {

namespace {

// "[Ljava/lang/String;" from java.lang.String[].
std::string signature_of(std::string name) {
  static constexpr std::pair<const char*, const char*> kPrimitive[] = {
      {"boolean", "Z"}, {"byte", "B"}, {"char", "C"}, {"double", "D"},
      {"float", "F"},   {"int", "I"},  {"long", "J"}, {"short", "S"}};
  std::string signature;
  while (name.size() > 2 && name.compare(name.size() - 2, 2, "[]") == 0) {
    name.resize(name.size() - 2);
    signature += '[';
  }
  for (const auto& [primitive, letter] : kPrimitive) {
    if (!signature.empty() && name == primitive) return signature + letter;
  }
  for (char& letter : name)
    if (letter == '.') letter = '/';
  return signature + "L" + name + ";";
}

}  // namespace

EncoderHost::EncoderHost(const Profile& profile)
    : ids_(static_cast<const hprof_ids_service*>(mock_.host()->service(mock_.host(), HPROF_SERVICE_IDS))) {
  mock_.settings = {};
  mock_.settings.size = sizeof mock_.settings;
  mock_.settings.depth = HPROF_WHOLE_DEPTH;
  mock_.settings.line_numbers = 1;
  mock_.settings.heap_form = HPROF_HEAP_AS_FIELDS;
  mock_.settings.thread_in_traces = profile.threads.empty() ? 0 : 1;
  // The clock stands still, so that the output depends on the input only.
  mock_.now_ns = mock_.wall_clock_ms = 0;
  mock_.utc_offset_s = utc_offset(profile.created_ms);
  for (const auto& [number, frames] : profile.traces)
    for (const ProfileFrame& frame : frames)
      if (!frame.source.empty()) sources_.emplace(frame.class_name, frame.source);
}

hprof_class_serial EncoderHost::class_named(const std::string& name, const std::string& source) {
  if (name.empty()) return 0;
  const auto first = sources_.find(name);
  const std::string file = source.empty() && first != sources_.end() ? first->second : source;
  hprof_class_serial& serial = classes_[{name, file}];
  if (serial == 0) serial = mock_.add_class(name, signature_of(name), file);
  return serial;
}

hprof_thread_serial EncoderHost::thread(const std::string& name) {
  if (name.empty()) return 0;
  hprof_thread_serial& serial = threads_[name];
  if (serial == 0) serial = mock_.add_thread(name, "", "");
  return serial;
}

hprof_frame_id EncoderHost::frame_of(const ProfileFrame& frame) {
  const hprof_class_serial owner = class_named(frame.class_name, frame.source);
  hprof_method_id& method = methods_[{owner, frame.method}];
  if (method == 0) method = mock_.add_method(owner, frame.method, "");
  const bool has_line = frame.line > 0 && frame.line <= INT32_MAX;
  return mock_.add_frame(method, has_line ? static_cast<int32_t>(frame.line) : HPROF_LINE_UNKNOWN);
}

hprof_trace_serial EncoderHost::add_trace(const std::vector<ProfileFrame>& frames,
                                          const std::string& thread_name, bool is_cut) {
  if (frames.empty() && thread_name.empty() && !is_cut) return 0;
  std::vector<hprof_frame_id> ids;
  for (const ProfileFrame& frame : frames) ids.push_back(frame_of(frame));
  return mock_.add_trace(ids, thread(thread_name), is_cut ? HPROF_TRACE_CUT : 0);
}

std::vector<std::string> EncoderHost::losses() const {
  std::vector<std::string> said;
  for (const auto& [what, count] : mock_.losses()) said.push_back(std::to_string(count) + " " + what);
  return said;
}

}  // namespace hprof::tool
