// The ids service of the mock host: tables that tests fill in.
#include <hprof/cpp/names.hpp>

#include "mock_table.h"

namespace hprof {

using Guard = std::lock_guard<std::mutex>;

struct MockIds {
  static hprof_string_id string(const hprof_host* host, hprof_text text) {
    const MockHost::Locked self(host);
    return text.data == nullptr ? 0 : self->intern(std::string(text.data, text.size));
  }

  static hprof_trace_serial trace(const hprof_host* host, hprof_thread_serial thread,
                                  const hprof_frame_id* frames, uint32_t count, uint32_t flags) {
    if (MockHost::of(host)->tables_are_full) return 0;
    return MockHost::of(host)->add_trace(std::vector<hprof_frame_id>(frames, frames + count), thread, flags);
  }

  static hprof_frame_id synthetic_frame(const hprof_host* host, const char* class_name,
                                        const char* method_name) {
    MockHost* self = MockHost::of(host);
    auto& id = self->synthetic_[std::string(class_name) + "." + method_name];
    if (id == 0) {
      const auto owner = self->add_class(class_name, std::string("L") + class_name + ";");
      id = self->add_frame(self->add_method(owner, method_name, ""), HPROF_LINE_UNKNOWN);
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
    const MockHost::Locked self(host);
    const auto found = self->raw_classes.find(jclass);
    return found == self->raw_classes.end() ? 0 : found->second;
  }

  static hprof_text string_text(const hprof_host* host, hprof_string_id id) {
    const MockHost::Locked self(host);
    if (id == 0 || id > self->strings_.size()) return {nullptr, 0};
    return {self->strings_[id - 1].data(), self->strings_[id - 1].size()};
  }

  template <typename T>
  static const T* find(MockHost* self, const std::deque<T>& table, uint32_t number) {
    Guard guard(self->lock_);
    return number == 0 || number > table.size() ? nullptr : &table[number - 1];
  }
  template <typename T>
  static uint32_t answer(const T* known, T* info) {
    const T nothing = {};
    hprof_copy_sized(info, info->size, known == nullptr ? &nothing : known, sizeof(T));
    return known != nullptr ? 1 : 0;
  }
  static uint32_t class_info(const hprof_host* host, hprof_class_serial serial, hprof_class_info* info) {
    return answer(find(MockHost::of(host), MockHost::of(host)->classes_, serial), info);
  }
  static uint32_t method_info(const hprof_host* host, hprof_method_id id, hprof_method_info* info) {
    return answer(find(MockHost::of(host), MockHost::of(host)->methods_, id), info);
  }
  static uint32_t frame_info(const hprof_host* host, hprof_frame_id id, hprof_frame_info* info) {
    return answer(find(MockHost::of(host), MockHost::of(host)->frames_, id), info);
  }
  static uint32_t trace_info(const hprof_host* host, hprof_trace_serial serial, hprof_trace_info* info) {
    const auto* trace = find(MockHost::of(host), MockHost::of(host)->traces_, serial);
    return answer(trace == nullptr ? nullptr : &trace->info, info);
  }
  static uint32_t thread_info(const hprof_host* host, hprof_thread_serial serial, hprof_thread_info* info) {
    return answer(find(MockHost::of(host), MockHost::of(host)->threads_, serial), info);
  }
  static hprof_thread_serial virtual_thread(const hprof_host* host, uint64_t java_id, hprof_text name) {
    MockHost* self = MockHost::of(host);
    const std::string text = name.data != nullptr ? std::string(name.data, name.size) : "";
    const auto serial = self->add_thread(text, "", "", 0, 0, HPROF_THREAD_VIRTUAL);
    self->set_thread_ids(serial, java_id, 0);
    return serial;
  }
};

const hprof_ids_service* mock_ids_service() { return mock_table<hprof_ids_service, MockIds>(); }

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
  classes_.push_back({sizeof(hprof_class_info), serial, intern(name), intern(signature),
                      source.empty() ? 0 : intern(source), trace, object});
  return serial;
}

hprof_method_id MockHost::add_method(hprof_class_serial owner, const std::string& name,
                                     const std::string& signature) {
  Guard guard(lock_);
  methods_.push_back(
      {sizeof(hprof_method_info), owner, intern(name), signature.empty() ? 0 : intern(signature)});
  return static_cast<hprof_method_id>(methods_.size());
}

hprof_frame_id MockHost::add_frame(hprof_method_id method, int32_t line) {
  Guard guard(lock_);
  auto& id = frame_ids_[{method, line}];
  if (id == 0) {
    frames_.push_back({sizeof(hprof_frame_info), method, line});
    id = static_cast<hprof_frame_id>(frames_.size());
  }
  return id;
}

hprof_trace_serial MockHost::add_trace(const std::vector<hprof_frame_id>& frames, hprof_thread_serial thread,
                                       uint32_t flags) {
  Guard guard(lock_);
  auto& serial = trace_ids_[{thread, frames}];
  if (serial == 0) {
    serial = static_cast<hprof_trace_serial>(traces_.size() + 1);
    traces_.push_back(
        {{sizeof(hprof_trace_info), serial, thread, static_cast<uint32_t>(frames.size()), nullptr, 0, 0},
         frames});
    traces_.back().info.frames = traces_.back().frames.data();
  }
  traces_[serial - 1].info.flags |= flags;
  return serial;
}

hprof_thread_serial MockHost::add_thread(const std::string& name, const std::string& group,
                                         const std::string& parent_group, hprof_object_id object,
                                         hprof_trace_serial trace, uint32_t flags) {
  Guard guard(lock_);
  const auto serial = static_cast<hprof_thread_serial>(threads_.size() + 1);
  threads_.push_back({sizeof(hprof_thread_info), serial, flags, intern(name),
                      group.empty() ? 0 : intern(group), parent_group.empty() ? 0 : intern(parent_group),
                      trace, 0, object, 0, 0});
  return serial;
}

void MockHost::set_thread_ids(hprof_thread_serial serial, uint64_t java_id, uint64_t os_id) {
  Guard guard(lock_);
  threads_[serial - 1].java_id = java_id;
  threads_[serial - 1].os_id = os_id;
}

void MockHost::rename_thread(hprof_thread_serial serial, const std::string& name) {
  const hprof_string_id id = intern(name);
  Guard guard(lock_);
  threads_[serial - 1].name = id;
}

std::string MockHost::text(hprof_string_id id) const {
  Guard guard(lock_);
  return id == 0 || id > strings_.size() ? std::string() : strings_[id - 1];
}

std::string MockHost::frame_text(hprof_frame_id id) const {
  const auto* ids = mock_ids_service();
  const auto frame = find_frame(ids, host(), id);
  const auto method = find_method(ids, host(), frame->method);
  if (!method) return "?";
  const auto owner = find_class(ids, host(), method->owner);
  const std::string name = owner ? text(owner->name) : "?";
  const std::string source = owner->source == 0 ? "Unknown Source" : text(owner->source);
  return name + "." + text(method->name) + "(" + source + ":" + std::to_string(frame->line) + ")";
}

std::vector<std::string> MockHost::trace_text(hprof_trace_serial serial) const {
  std::vector<std::string> lines;
  const auto trace = find_trace(mock_ids_service(), host(), serial);
  for (uint32_t i = 0; i < trace->frame_count; i++) lines.push_back(frame_text(trace->frames[i]));
  return lines;
}

}  // namespace hprof
