// The ids service of the mock host: tables that tests fill in.
#include "tests/mock/mock_host.h"

namespace hprof {

using Guard = std::lock_guard<std::mutex>;

struct MockIds {
  static hprof_string_id string(const hprof_host* host, hprof_text text) {
    MockHost* self = MockHost::of(host);
    Guard guard(self->lock_);
    return text.data == nullptr ? 0 : self->intern(std::string(text.data, text.size));
  }

  static hprof_trace_serial trace(const hprof_host* host, hprof_thread_serial thread,
                                  const hprof_frame_id* frames, uint32_t count) {
    return MockHost::of(host)->add_trace(std::vector<hprof_frame_id>(frames, frames + count), thread);
  }

  static hprof_frame_id synthetic_frame(const hprof_host* host, const char* class_name,
                                        const char* method_name) {
    MockHost* self = MockHost::of(host);
    auto& id = self->synthetic_[std::string(class_name) + "." + method_name];
    if (id == 0) {
      const auto owner = self->add_class(class_name, std::string("L") + class_name + ";");
      id = self->add_frame(self->add_method(owner, method_name, "()V"), HPROF_LINE_UNKNOWN);
    }
    return id;
  }

  static hprof_frame_id frame(const hprof_host* host, void*, const hprof_raw_frame* raw, uint32_t) {
    MockHost* self = MockHost::of(host);
    const auto method = self->raw_methods.find(raw->method);
    if (method == self->raw_methods.end()) return synthetic_frame(host, "JVM", "unloaded_method");
    return self->add_frame(method->second,
                           raw->location < 0 ? HPROF_LINE_NATIVE : static_cast<int32_t>(raw->location));
  }

  static hprof_class_serial class_serial(const hprof_host* host, void*, void* jclass) {
    MockHost* self = MockHost::of(host);
    Guard guard(self->lock_);
    const auto found = self->raw_classes.find(jclass);
    return found == self->raw_classes.end() ? 0 : found->second;
  }

  static hprof_text string_text(const hprof_host* host, hprof_string_id id) {
    MockHost* self = MockHost::of(host);
    Guard guard(self->lock_);
    if (id == 0 || id > self->strings_.size()) return {nullptr, 0};
    return {self->strings_[id - 1].data(), self->strings_[id - 1].size()};
  }

  template <typename T>
  static const T* find(MockHost* self, const std::deque<T>& table, uint32_t number) {
    Guard guard(self->lock_);
    return number == 0 || number > table.size() ? nullptr : &table[number - 1];
  }
  static const hprof_class_info* class_info(const hprof_host* host, hprof_class_serial serial) {
    return find(MockHost::of(host), MockHost::of(host)->classes_, serial);
  }
  static const hprof_method_info* method_info(const hprof_host* host, hprof_method_id id) {
    return find(MockHost::of(host), MockHost::of(host)->methods_, id);
  }
  static const hprof_frame_info* frame_info(const hprof_host* host, hprof_frame_id id) {
    return find(MockHost::of(host), MockHost::of(host)->frames_, id);
  }
  static const hprof_trace_info* trace_info(const hprof_host* host, hprof_trace_serial serial) {
    const auto* trace = find(MockHost::of(host), MockHost::of(host)->traces_, serial);
    return trace == nullptr ? nullptr : &trace->info;
  }
  static const hprof_thread_info* thread_info(const hprof_host* host, hprof_thread_serial serial) {
    return find(MockHost::of(host), MockHost::of(host)->threads_, serial);
  }
};

const hprof_ids_service* mock_ids_service() {
  static const hprof_ids_service service = {sizeof(hprof_ids_service), 0,
                                            MockIds::string,           MockIds::trace,
                                            MockIds::synthetic_frame,  MockIds::frame,
                                            MockIds::class_serial,     MockIds::string_text,
                                            MockIds::class_info,       MockIds::method_info,
                                            MockIds::frame_info,       MockIds::trace_info,
                                            MockIds::thread_info,      nullptr};
  return &service;
}

hprof_string_id MockHost::intern(const std::string& text) {
  const auto found = string_ids_.find(text);
  if (found != string_ids_.end()) return found->second;
  strings_.push_back(text);
  return string_ids_[text] = static_cast<hprof_string_id>(strings_.size());
}

hprof_string_id MockHost::string(const std::string& text) {
  Guard guard(lock_);
  return intern(text);
}

hprof_class_serial MockHost::add_class(const std::string& name, const std::string& signature,
                                       const std::string& source, hprof_object_id object,
                                       hprof_trace_serial trace) {
  Guard guard(lock_);
  const auto serial = static_cast<hprof_class_serial>(classes_.size() + 1);
  classes_.push_back(
      {serial, intern(name), intern(signature), source.empty() ? 0 : intern(source), object, trace});
  return serial;
}

hprof_method_id MockHost::add_method(hprof_class_serial owner, const std::string& name,
                                     const std::string& signature) {
  Guard guard(lock_);
  methods_.push_back({owner, intern(name), intern(signature)});
  return static_cast<hprof_method_id>(methods_.size());
}

hprof_frame_id MockHost::add_frame(hprof_method_id method, int32_t line) {
  Guard guard(lock_);
  auto& id = frame_ids_[{method, line}];
  if (id == 0) {
    frames_.push_back({method, line});
    id = static_cast<hprof_frame_id>(frames_.size());
  }
  return id;
}

hprof_trace_serial MockHost::add_trace(const std::vector<hprof_frame_id>& frames,
                                       hprof_thread_serial thread) {
  Guard guard(lock_);
  auto& serial = trace_ids_[{thread, frames}];
  if (serial == 0) {
    serial = static_cast<hprof_trace_serial>(traces_.size() + 1);
    traces_.push_back({{serial, thread, static_cast<uint32_t>(frames.size()), 0, nullptr}, frames});
    traces_.back().info.frames = traces_.back().frames.data();
  }
  return serial;
}

hprof_thread_serial MockHost::add_thread(const std::string& name, const std::string& group,
                                         const std::string& parent_group, hprof_object_id object,
                                         hprof_trace_serial trace, uint32_t flags) {
  Guard guard(lock_);
  const auto serial = static_cast<hprof_thread_serial>(threads_.size() + 1);
  threads_.push_back({serial, flags, object, intern(name), intern(group), intern(parent_group), trace});
  return serial;
}

std::string MockHost::text(hprof_string_id id) const {
  Guard guard(lock_);
  return id == 0 || id > strings_.size() ? std::string() : strings_[id - 1];
}

std::string MockHost::frame_text(hprof_frame_id id) const {
  const hprof_frame_info* frame = MockIds::frame_info(host(), id);
  if (frame == nullptr) return "?";
  const hprof_method_info* method = MockIds::method_info(host(), frame->method);
  if (method == nullptr) return "?";
  const hprof_class_info* owner = MockIds::class_info(host(), method->owner);
  const std::string name = owner == nullptr ? "?" : text(owner->name);
  const std::string source = owner == nullptr || owner->source == 0 ? "Unknown Source" : text(owner->source);
  return name + "." + text(method->name) + "(" + source + ":" + std::to_string(frame->line) + ")";
}

std::vector<std::string> MockHost::trace_text(hprof_trace_serial serial) const {
  std::vector<std::string> lines;
  const hprof_trace_info* trace = MockIds::trace_info(host(), serial);
  for (uint32_t i = 0; trace != nullptr && i < trace->frame_count; i++)
    lines.push_back(frame_text(trace->frames[i]));
  return lines;
}

}  // namespace hprof
