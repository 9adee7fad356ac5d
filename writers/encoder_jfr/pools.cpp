#include "pools.h"

#include <initializer_list>

#include <hprof/collector.h>
#include <hprof/cpp/text.hpp>

namespace hprof::jfr {

namespace {

constexpr uint32_t kCheckpointEvent = 1;
// Strings have the numbers of symbols from 2 on, packages those from kUnknownDescriptor + 1 on.
constexpr uint32_t kUnknownSymbol = 1;
constexpr uint64_t kUnknownDescriptor = uint64_t{1} << 26;
constexpr uint64_t kThreadsMost = 2048;
// Virtual threads have the numbers from here on, platform threads those of their serials.
constexpr uint64_t kVirtualThreads = uint64_t{1} << 30;
constexpr uint32_t kNoLine = UINT32_MAX;  // -1, as the JDK writes it

constexpr Type kPoolTypes[] = {kStackTrace, kMethod, kClass, kPackage, kSymbol, kThread, kThreadGroup};

// Numbered as the JDK does, since converters go by the number. What ran a frame is known of the innermost
// Java frame of samples only.
struct FrameType {
  const char* name;
  uint32_t number;
};
constexpr uint32_t kCompiledFrame = 1, kNativeFrame = 3, kJavaFrame = 6, kFrameTypeBits = 3;
constexpr FrameType kFrameTypes[] = {{"Interpreted", 0},
                                     {"JIT compiled", kCompiledFrame},
                                     {"Inlined", 2},
                                     {"Native", kNativeFrame},
                                     {"Java", kJavaFrame}};
// By state, then kOnCpu, which is what readers take for CPU time.
constexpr const char* kStates[] = {
    "STATE_UNKNOWN", "STATE_NEW",      "STATE_RUNNABLE",   "STATE_BLOCKED_ON_MONITOR_ENTER",
    "STATE_WAITING", "STATE_SLEEPING", "STATE_TERMINATED", "STATE_DEFAULT"};

// Of the heap.
constexpr const char* kWhen[] = {"After GC"};

template <uint32_t n>
uint64_t size_of_words(const char* const (&words)[n]) {
  uint64_t size = 0;
  for (const char* each : words) size += 3 + std::strlen(each);
  return size;
}
// A pool of a fixed list, numbered from 1.
template <uint32_t n>
void write_words(JfrOut& out, Type type, const char* const (&words)[n]) {
  out.varint(type);
  out.varint(n);
  for (uint32_t i = 0; i < n; i++) {
    out.varint(i + 1);
    out.words(words[i]);
  }
}

}  // namespace

// One entry: written at the end of its pool, and kept there or not.
class Pools::Entry : public JfrOut {
 public:
  Entry(Pools& pools, Kind kind, uint64_t number)
      : JfrOut(pools.pools_[kind].entries.end()), pools_(pools), pool_(pools.pools_[kind]) {
    varint(number);
  }
  ~Entry() {
    pools_.ok_ = pools_.ok_ && ok();
    if (!pools_.ok_) return;
    pool_.entries.keep();
    pool_.count++;
  }

 private:
  Pools& pools_;
  Pool& pool_;
};

bool Pools::open(const Services& services) {
  services_ = services;
  for (Pool& pool : pools_)
    if (!pool.entries.open(services)) return false;
  for (WrittenNumbers* known : {&traces_, &methods_, &classes_, &symbols_, &groups_})
    if (!known->open(services)) return false;
  return threads_.open(services, kThreadsMost, kThreadsMost);
}

void Pools::close() {
  for (Pool& pool : pools_) pool.entries.close();
  for (WrittenNumbers* known : {&traces_, &methods_, &classes_, &symbols_, &groups_}) known->close();
  threads_.close();
}

void Pools::clear() {
  for (Pool& pool : pools_) {
    pool.entries.clear();
    pool.count = 0;
  }
  for (WrittenNumbers* known : {&traces_, &methods_, &classes_, &symbols_, &groups_}) known->clear();
  threads_.clear();
  for (KnownPackage& known : packages_) known = {};
  package_count_ = 0;
  has_unknown_descriptor_ = has_renamed_ = false;
  ok_ = true;
}

bool Pools::is_new(WrittenNumbers& known, uint32_t number) {
  const WrittenNumbers::Added added = known.add(number);
  if (added == WrittenNumbers::Added::kNoRoom) ok_ = false;
  return added == WrittenNumbers::Added::kNew;
}

hprof_text Pools::string(hprof_string_id id) const {
  return id != 0 ? services_.ids->string_text(services_.host, id) : hprof_text{nullptr, 0};
}

void Pools::add_symbol(uint64_t number, hprof_text text, char dot) {
  Entry entry(*this, kSymbols, number);
  entry.text(text, dot);
}

// is_name: of a class, whose dots become slashes.
uint64_t Pools::symbol(hprof_string_id id, bool is_name) {
  const hprof_text text = string(id);
  const uint32_t number = text.data != nullptr ? id * 2 + (is_name ? 1 : 0) : kUnknownSymbol;
  if (is_new(symbols_, number))
    add_symbol(number, text.data != nullptr ? text : hprof_text{"[unknown]", 9}, is_name ? '/' : '.');
  return number;
}

bool Pools::is_descriptor(hprof_string_id id) const {
  const hprof_text text = string(id);
  return text.data != nullptr && text.size != 0 && text.data[0] == '(';
}

// Readers parse it, so a method without one has another's.
uint64_t Pools::descriptor(hprof_string_id id) {
  if (is_descriptor(id)) return symbol(id);
  if (!has_unknown_descriptor_) add_symbol(kUnknownDescriptor, {"()V", 3});
  has_unknown_descriptor_ = true;
  return kUnknownDescriptor;
}

// A package that has left the table is written again.
uint64_t Pools::package(hprof_text name) {
  const auto* begin = name.data;
  const char* end = begin;
  uint64_t hash = 0, hash_before = 0;
  for (const char* at = begin; at != nullptr && at != begin + name.size; at++) {
    if (*at == '.') {
      end = at;
      hash_before = hash;
    }
    hash = mix(hash, static_cast<uint8_t>(*at));
  }
  const auto size = static_cast<uint64_t>(end - begin);
  if (size == 0) return 0;
  KnownPackage& known = packages_[hash_before % kKnownPackages];
  if (known.name.size == size && std::memcmp(known.name.data, begin, size) == 0) return known.number;
  const uint64_t number = ++package_count_;
  add_symbol(kUnknownDescriptor + number, {begin, size}, '/');
  {
    Entry entry(*this, kPackages, number);
    entry.varint(kUnknownDescriptor + number);
    entry.varint(0);  // module
    entry.varint(1);  // exported
  }
  known = {{begin, size}, number};
  return number;
}

uint64_t Pools::owner(hprof_class_serial serial) {
  // Numbers are greater by 1 than serials and ids: 0 is nothing to readers.
  const uint64_t number = uint64_t{serial} + 1;
  if (!is_new(classes_, serial)) return number;
  const auto info = find_class(services_.ids, services_.host, serial);
  const uint64_t name = symbol(info->name, true), in = package(string(info->name));
  Entry entry(*this, kClasses, number);
  entry.varint(0);  // loader
  entry.varint(name);
  entry.varint(in);
  entry.varint(0);  // modifiers
  entry.varint(0);  // hidden
  return number;
}

uint64_t Pools::method(hprof_method_id id) {
  const uint64_t number = uint64_t{id} + 1;
  if (!is_new(methods_, id)) return number;
  const auto info = find_method(services_.ids, services_.host, id);
  const uint64_t of = owner(info->owner), name = symbol(info->name);
  const uint64_t takes = descriptor(info->signature);
  Entry entry(*this, kMethods, number);
  entry.varint(of);
  entry.varint(name);
  entry.varint(takes);
  entry.varint(0);  // modifiers
  entry.varint(0);  // hidden
  return number;
}

// JFR does not tell compilers apart.
uint32_t Pools::frame_type(hprof_string_id code) const {
  const hprof_text text = string(code);
  const auto is = [&](const char* word) {
    return text.data != nullptr && text.size == std::strlen(word) &&
           std::memcmp(text.data, word, text.size) == 0;
  };
  for (const FrameType& type : kFrameTypes)
    if (is(type.name)) return type.number;
  return is("C1 compiled") ? kCompiledFrame : kJavaFrame;
}

uint64_t Pools::stack(hprof_trace_serial serial, hprof_string_id code) {
  const auto trace = find_trace(services_.ids, services_.host, serial);
  if (serial == 0 || trace->frame_count == 0) return 0;
  uint32_t type = frame_type(code);  // of the next Java frame
  if (type == kNativeFrame) type = kJavaFrame;
  const uint32_t number = serial << kFrameTypeBits | type;
  if (!is_new(traces_, number)) return number;
  Entry entry(*this, kStacks, number);
  entry.varint((trace->flags & HPROF_TRACE_CUT) != 0 ? 1 : 0);
  entry.varint(trace->frame_count);
  for (uint32_t i = 0; i < trace->frame_count && ok_ && entry.ok(); i++) {
    const auto frame = find_frame(services_.ids, services_.host, trace->frames[i]);
    // Code outside of Java methods has no descriptor.
    const bool is_java = frame->line != HPROF_LINE_NATIVE &&
                         is_descriptor(find_method(services_.ids, services_.host, frame->method)->signature);
    entry.varint(method(frame->method));
    entry.varint(frame->line > 0 ? static_cast<uint32_t>(frame->line) : kNoLine);
    entry.varint(0);  // bytecode index
    entry.varint(is_java ? type : kNativeFrame);
    if (is_java) type = kJavaFrame;
  }
  return number;
}

uint64_t Pools::group(hprof_string_id name, hprof_string_id parent) {
  if (name == 0) return 0;
  if (!is_new(groups_, name)) return name;
  const uint64_t above = parent != name ? group(parent, 0) : 0;
  Entry entry(*this, kGroups, name);
  entry.varint(above);
  entry.text(string(name));
  return name;
}

// The number of a thread. Events of a virtual thread may have several serials, so it goes by its Java id.
static uint64_t number_of(const hprof_thread_info& info, hprof_thread_serial serial) {
  const bool is_virtual = (info.flags & HPROF_THREAD_VIRTUAL) != 0 && info.java_id != 0;
  return is_virtual ? kVirtualThreads | (info.java_id & (kVirtualThreads - 1)) : serial;
}

// Readers tell threads apart by the system's id or by Java's; where one is not known, the serial takes its
// place.
void Pools::add_thread(uint64_t number, const hprof_thread_info& info, hprof_string_id name_id) {
  const bool is_virtual = (info.flags & HPROF_THREAD_VIRTUAL) != 0;
  const uint64_t in = group(info.group, info.parent_group);
  char text[kNumberMost + 8];
  TextBuffer unnamed(text, sizeof text);
  unnamed.add("thread ").add(info.serial);
  hprof_text name = string(name_id);
  // Most virtual threads have no name.
  if ((name.data == nullptr || name.size == 0) && !(is_virtual && info.java_id != 0))
    name = {unnamed.c_str(), unnamed.size()};
  Entry entry(*this, kThreads, number);
  entry.text(is_virtual ? hprof_text{nullptr, 0} : name);
  entry.varint(is_virtual ? number : info.os_id != 0 ? info.os_id : info.serial);
  entry.text(name.data != nullptr ? name : hprof_text{"", 0});
  entry.varint(info.java_id != 0 ? info.java_id : info.serial);
  entry.varint(in);
  entry.varint(is_virtual ? 1 : 0);
}

uint64_t Pools::thread(hprof_thread_serial serial) {
  if (serial == 0 || threads_.find(serial) != nullptr) return serial;
  const auto known = find_thread(services_.ids, services_.host, serial);
  hprof_thread_info info = *known;
  info.serial = serial;
  const uint64_t number = number_of(info, serial);
  KnownThread* named = number != serial ? threads_.find(number) : nullptr;
  if (named != nullptr) {
    rename(*named, info.name);
    return number;
  }
  KnownThread* made = threads_.make(number);
  if (made == nullptr) {
    ok_ = false;
    return number;
  }
  made->serial.store(serial, std::memory_order_relaxed);
  made->name.store(info.name, std::memory_order_relaxed);
  add_thread(number, info, info.name);
  return number;
}

void Pools::rename(hprof_thread_serial serial) {
  const auto info = find_thread(services_.ids, services_.host, serial);
  KnownThread* known = threads_.find(number_of(*info, serial));
  if (known != nullptr) rename(*known, info->name);
}

void Pools::rename(KnownThread& known, hprof_string_id name) {
  if (name == 0 || known.name.load(std::memory_order_relaxed) == name) return;
  known.name.store(name, std::memory_order_relaxed);
  has_renamed_ = true;
}

// Writes the pool of threads anew if one of them has another name now.
void Pools::finish() {
  if (!has_renamed_) return;
  pools_[kThreads].entries.clear();
  pools_[kThreads].count = 0;
  threads_.each([this](uint64_t number, const KnownThread& known) {
    const hprof_thread_serial serial = known.serial.load(std::memory_order_relaxed);
    hprof_thread_info info = *find_thread(services_.ids, services_.host, serial);
    info.serial = serial;
    add_thread(number, info, known.name.load(std::memory_order_relaxed));
  });
}

uint64_t Pools::bytes() const {
  uint64_t bytes = 0;
  for (const Pool& pool : pools_) bytes += pool.entries.size();
  return bytes;
}

// Readers refuse pools without entries.
uint32_t Pools::pool_count() const {
  uint32_t count = 3;  // those of fixed lists
  for (const Pool& pool : pools_) count += pool.count != 0 ? 1 : 0;
  return count;
}

uint64_t Pools::size(uint64_t ticks) const {
  // Of the event: type, time, duration, distance to the pools before, flush mask, number of pools.
  uint64_t size =
      kSizeBytes + varint_size(kCheckpointEvent) + varint_size(ticks) + 3 + varint_size(pool_count());
  for (uint32_t i = 0; i < kKinds; i++) {
    if (pools_[i].count == 0) continue;
    size += varint_size(kPoolTypes[i]) + varint_size(pools_[i].count) + pools_[i].entries.size();
  }
  for (const FrameType& type : kFrameTypes) size += 3 + std::strlen(type.name);
  return size + 6 + size_of_words(kStates) + size_of_words(kWhen);
}

void Pools::write(JfrOut& out, uint64_t ticks) const {
  out.size(size(ticks));
  out.varint(kCheckpointEvent);
  out.varint(ticks);
  out.varint(0);
  out.varint(0);
  out.u1(1);
  out.varint(pool_count());
  for (uint32_t i = 0; i < kKinds; i++) {
    if (pools_[i].count == 0) continue;
    out.varint(kPoolTypes[i]);
    out.varint(pools_[i].count);
    out.bytes(pools_[i].entries.data(), pools_[i].entries.size());
  }
  out.varint(kFrameType);
  out.varint(sizeof kFrameTypes / sizeof kFrameTypes[0]);
  for (const FrameType& type : kFrameTypes) {
    out.varint(type.number);
    out.words(type.name);
  }
  write_words(out, kThreadState, kStates);
  write_words(out, kGcWhen, kWhen);
}

}  // namespace hprof::jfr
