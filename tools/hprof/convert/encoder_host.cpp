#include "tools/hprof/convert/encoder_host.h"

#include <cstdlib>
#include <ctime>
#include <new>

#include <hprof/encoder.h>
#include <hprof/record.h>
#include <hprof/service/clock.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>

namespace hprof::tool {

namespace {

// "[Ljava/lang/String;" of java.lang.String[].
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

constexpr std::align_val_t kAlignment{16};

}  // namespace

struct HostServices {
  static EncoderHost& of(const hprof_host* host) {
    return *reinterpret_cast<const EncoderHost::Table*>(host)->self;
  }

  // --- ids: names are known before an encoder asks

  template <typename T>
  static uint32_t answer(const T* known, T* info) {
    const T nothing = {};
    hprof_copy_sized(info, info->size, known == nullptr ? &nothing : known, sizeof(T));
    return known != nullptr ? 1 : 0;
  }
  template <typename T>
  static const T* find(const std::deque<T>& table, uint32_t number) {
    return number == 0 || number > table.size() ? nullptr : &table[number - 1];
  }
  static hprof_string_id string(const hprof_host* host, hprof_text text) {
    return text.data == nullptr ? 0 : of(host).string(std::string(text.data, text.size));
  }
  static hprof_text string_text(const hprof_host* host, hprof_string_id id) {
    const std::string* text = find(of(host).strings_, id);
    return text == nullptr ? hprof_text{nullptr, 0} : hprof_text{text->data(), text->size()};
  }
  static uint32_t class_info(const hprof_host* host, hprof_class_serial serial, hprof_class_info* info) {
    return answer(find(of(host).classes_, serial), info);
  }
  static uint32_t method_info(const hprof_host* host, hprof_method_id id, hprof_method_info* info) {
    return answer(find(of(host).methods_, id), info);
  }
  static uint32_t frame_info(const hprof_host* host, hprof_frame_id id, hprof_frame_info* info) {
    return answer(find(of(host).frames_, id), info);
  }
  static uint32_t trace_info(const hprof_host* host, hprof_trace_serial serial, hprof_trace_info* info) {
    const auto* trace = find(of(host).traces_, serial);
    return answer(trace == nullptr ? nullptr : &trace->info, info);
  }
  static uint32_t thread_info(const hprof_host* host, hprof_thread_serial serial, hprof_thread_info* info) {
    return answer(find(of(host).threads_, serial), info);
  }

  // --- memory: no budget

  static void* allocate(const hprof_host*, uint64_t bytes) {
    void* memory = ::operator new(bytes, kAlignment, std::nothrow);
    if (memory != nullptr) std::memset(memory, 0, bytes);
    return memory;
  }
  static void release(const hprof_host*, void* memory, uint64_t) { ::operator delete(memory, kAlignment); }
  // Becomes memory at first touch, like all zeroed blocks of that size.
  static void* reserve(const hprof_host*, uint64_t bytes) { return std::calloc(1, bytes); }
  static void unreserve(const hprof_host*, void* memory, uint64_t) { std::free(memory); }
  static uint32_t charge(const hprof_host*, uint64_t) { return 1; }
  static void uncharge(const hprof_host*, uint64_t) {}

  // --- log

  static void message(const hprof_host*, const char*) {}
  static uint64_t* loss_counter(const hprof_host* host, const char* what) {
    auto& counters = of(host).counters_;
    for (auto& [text, count] : counters) {
      if (text == what) return &count;
    }
    counters.emplace_back(what, 0);
    return &counters.back().second;
  }

  // --- clock: it stands still, so that one file always becomes the same other one

  static uint64_t no_time(const hprof_host*) { return 0; }
  static uint64_t no_cpu_time(const hprof_host*, uint64_t) { return UINT64_MAX; }
  static int32_t utc_offset(const hprof_host*, uint64_t wall_ms) {
    const auto seconds = static_cast<std::time_t>(wall_ms / 1000);
    const std::tm* local = std::localtime(&seconds);
    if (local == nullptr) return 0;
    const int summer = local->tm_isdst;
    const std::tm* utc = std::gmtime(&seconds);
    if (utc == nullptr) return 0;
    std::tm broken_down = *utc;
    broken_down.tm_isdst = summer;
    const std::time_t as_local = std::mktime(&broken_down);
    return as_local == static_cast<std::time_t>(-1) ? 0 : static_cast<int32_t>(seconds - as_local);
  }

  static const void* service(const hprof_host*, const char* id) {
    static const hprof_ids_service kIds = {sizeof(hprof_ids_service),
                                           0,
                                           string,
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           nullptr,
                                           string_text,
                                           class_info,
                                           method_info,
                                           frame_info,
                                           trace_info,
                                           thread_info,
                                           nullptr};
    static const hprof_mem_service kMem = {
        sizeof(hprof_mem_service), 0, allocate, release, reserve, unreserve, charge, uncharge};
    static const hprof_log_service kLog = {sizeof(hprof_log_service), 0, message, message, loss_counter};
    static const hprof_clock_service kClock = {
        sizeof(hprof_clock_service), 0, no_time, no_time, no_cpu_time, no_time, no_time, utc_offset};
    static const std::pair<const char*, const void*> kServices[] = {{HPROF_SERVICE_IDS, &kIds},
                                                                    {HPROF_SERVICE_MEM, &kMem},
                                                                    {HPROF_SERVICE_LOG, &kLog},
                                                                    {HPROF_SERVICE_CLOCK, &kClock}};
    for (const auto& [name, table] : kServices) {
      if (std::strcmp(name, id) == 0) return table;
    }
    return nullptr;
  }
  static const void* find_extension(const hprof_host*, const char*, const char*) { return nullptr; }
};

EncoderHost::EncoderHost() {
  settings.size = sizeof settings;
  settings.depth = HPROF_WHOLE_DEPTH;
  settings.line_numbers = 1;
  settings.heap_form = HPROF_HEAP_AS_FIELDS;
  table_.base.size = sizeof(hprof_host);
  table_.base.abi_major = HPROF_ABI_MAJOR;
  table_.base.abi_minor = HPROF_ABI_MINOR;
  table_.base.settings = &settings;
  table_.base.service = HostServices::service;
  table_.base.find_extension = HostServices::find_extension;
  table_.self = this;
}

hprof_string_id EncoderHost::string(const std::string& text) {
  if (text.empty()) return 0;
  const auto [found, added] = string_ids_.emplace(text, strings_.size() + 1);
  if (added) strings_.push_back(text);
  return found->second;
}

hprof_class_serial EncoderHost::class_named(const std::string& name, const std::string& source) {
  const hprof_string_id text = string(name), file = string(source);
  if (text == 0) return 0;
  const auto first = first_class_.find(text);
  if (first != first_class_.end()) {
    hprof_class_info& known = classes_[first->second - 1];
    if (file == 0 || known.source == file) return known.serial;
    if (known.source == 0) {
      known.source = file;
      class_ids_[{text, file}] = known.serial;
      return known.serial;
    }
  }
  hprof_class_serial& serial = class_ids_[{text, file}];
  if (serial != 0) return serial;
  hprof_class_info made = {};
  made.size = sizeof made;
  made.serial = serial = static_cast<hprof_class_serial>(classes_.size() + 1);
  made.name = text;
  made.signature = string(signature_of(name));
  made.source = file;
  classes_.push_back(made);
  first_class_.emplace(text, serial);
  return serial;
}

hprof_thread_serial EncoderHost::thread(const std::string& name) {
  if (name.empty()) return 0;
  const auto [found, added] = thread_ids_.emplace(name, threads_.size() + 1);
  if (added) {
    hprof_thread_info made = {};
    made.size = sizeof made;
    made.serial = found->second;
    made.name = string(name);
    threads_.push_back(made);
  }
  return found->second;
}

hprof_frame_id EncoderHost::frame_of(const ProfileFrame& frame) {
  const hprof_class_serial owner = class_named(frame.class_name, frame.source);
  const hprof_string_id name = string(frame.method);
  const auto [method, new_method] = method_ids_.emplace(std::pair(owner, name), methods_.size() + 1);
  if (new_method) methods_.push_back({sizeof(hprof_method_info), owner, name, 0});
  const int32_t line =
      frame.line > 0 && frame.line <= INT32_MAX ? static_cast<int32_t>(frame.line) : HPROF_LINE_UNKNOWN;
  const auto [found, added] = frame_ids_.emplace(std::pair(method->second, line), frames_.size() + 1);
  if (added) frames_.push_back({sizeof(hprof_frame_info), method->second, line});
  return found->second;
}

hprof_trace_serial EncoderHost::add_trace(const std::vector<ProfileFrame>& frames,
                                          const std::string& thread_name, bool is_cut) {
  if (frames.empty() && thread_name.empty() && !is_cut) return 0;
  Trace made = {};
  for (const ProfileFrame& frame : frames) made.frames.push_back(frame_of(frame));
  made.info.size = sizeof made.info;
  made.info.serial = static_cast<hprof_trace_serial>(traces_.size() + 1);
  made.info.thread = thread(thread_name);
  made.info.frame_count = static_cast<uint32_t>(made.frames.size());
  made.info.flags = is_cut ? HPROF_TRACE_CUT : 0;
  traces_.push_back(std::move(made));
  traces_.back().info.frames = traces_.back().frames.data();
  return traces_.back().info.serial;
}

std::vector<std::string> EncoderHost::losses() const {
  std::vector<std::string> said;
  for (const auto& [text, count] : counters_) {
    if (count != 0) said.push_back(std::to_string(count) + " " + text);
  }
  return said;
}

}  // namespace hprof::tool
