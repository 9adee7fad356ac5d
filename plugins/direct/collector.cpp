#include "collector.h"

#include <cstring>
#include <jvmti.h>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/session_gate.hpp>
#include <hprof/cpp/text.hpp>

#include "direct_report.h"
#include "java_classes.h"

namespace hprof::direct {

namespace {

// What a method does, by the number that its probe passes: as in HprofDirect.java.
enum Number : uint32_t {
  kFrees = 1,    // the block whose address is its first argument
  kUnmaps,       // what its object has the address of
  kAllocates,    // a block: its last argument is the size, its result the address
  kReallocates,  // frees its first argument, too
  kReserves,     // its first argument is the size of the block that the thread takes next
  kMakesBuffer,  // a constructor: its first argument is the address, the object has the size
  kMaps,         // the same
};
// From JDK `since` on, before `until`.
struct Method {
  const char* owner;
  const char* name;
  Number number;
  uint32_t since, until;
};
constexpr uint32_t kEver = UINT32_MAX;
constexpr const char* kUnmapper = "sun.nio.ch.FileChannelImpl$Unmapper";
constexpr const char* kDeallocator = "java.nio.DirectByteBuffer$Deallocator";
constexpr const char* kUnsafeClass = "jdk.internal.misc.Unsafe";
constexpr Method kMethods[] = {
    {kUnsafeClass, "allocateMemory", kAllocates, 9, kEver},
    {kUnsafeClass, "reallocateMemory", kReallocates, 9, kEver},
    {kUnsafeClass, "freeMemory", kFrees, 9, kEver},
    {"java.nio.Bits", "reserveMemory", kReserves, 9, kEver},
    {kDeallocator, "<init>", kMakesBuffer, 0, 9},
    {kDeallocator, "run", kUnmaps, 0, 9},
    {kUnmapper, "<init>", kMaps, 0, kEver},
    {kUnmapper, "run", kUnmaps, 0, 14},
    {kUnmapper, "unmap", kUnmaps, 14, kEver},
};
TextLine<512> patterns;  // of those of this JDK

constexpr uint32_t kSizeBits = 56;  // of a call's word; the method's number is above
constexpr uint64_t kSizeMask = (uint64_t{1} << kSizeBits) - 1;

constexpr uint64_t kFirstSites = 256, kMostSites = 1u << 20;
constexpr uint64_t kFirstThreads = 256, kMostThreads = 1u << 16;
constexpr uint32_t kOwnFrames = 2;  // HprofDirect's, on top of the stack

SessionGate gate;
Collector* session = nullptr;

template <class Use>
void in_session(const Use& use) {
  gate.enter([&] { use(*session); });
}

void JNICALL on_frees(JNIEnv* jni, jclass, jobject self, jlong address) {
  in_session([&](Collector& now) { now.frees(jni, self, static_cast<uint64_t>(address)); });
}
void JNICALL on_ends(JNIEnv* jni, jclass, jlong call, jobject result, jlong value, jobject thread) {
  in_session([&](Collector& now) {
    now.ends(jni, static_cast<uint64_t>(call), result, static_cast<uint64_t>(value), thread);
  });
}
void JNICALL on_fails(JNIEnv*, jclass, jlong call) {
  if (static_cast<uint64_t>(call) >> kSizeBits == kReallocates)
    in_session([](Collector& now) { now.fails(); });
}

const hprof_native kNatives[] = {
    {"frees", "(Ljava/lang/Object;J)V", reinterpret_cast<void (*)()>(&on_frees)},
    {"ends", "(JLjava/lang/Object;JLjava/lang/Thread;)V", reinterpret_cast<void (*)()>(&on_ends)},
    {"fails", "(J)V", reinterpret_cast<void (*)()>(&on_fails)},
};
const hprof_probe_class kClass = {"java/lang/HprofDirect", kHprofDirect, sizeof kHprofDirect, 3, kNatives};
const hprof_target kTargets[] = {
    {HPROF_POINT_ARGUMENTS, 0, "enter", nullptr},
    {HPROF_POINT_RESULT, 0, "result", nullptr},
    {HPROF_POINT_UNWIND, 0, "unwind", nullptr},
};

// A long of the object; 0: it has no such field.
uint64_t field(JNIEnv* jni, jobject object, const char* name) {
  if (object == nullptr) return 0;
  jclass of = jni->GetObjectClass(object);
  jfieldID id = without_exception(jni, jni->GetFieldID(of, name, "J"));
  jni->DeleteLocalRef(of);
  return id != nullptr ? static_cast<uint64_t>(jni->GetLongField(object, id)) : 0;
}

void count_freed(const Block& block) {
  block.site->freed_blocks.fetch_add(1, std::memory_order_release);
  block.site->freed_bytes.fetch_add(block.size, std::memory_order_release);
}

}  // namespace

hprof_status Collector::open(char* error, uint32_t error_size) {
  const Services& s = services_;
  lost_sites_ = s.log->loss_counter(s.host, "blocks of memory: no room for their stacks (direct=y)");
  lost_blocks_ =
      s.log->loss_counter(s.host, "blocks of memory that count as freed: no room for more (direct=y)");
  lost_failed_ =
      s.log->loss_counter(s.host, "blocks of memory that count as freed: reallocateMemory failed (direct=y)");
  if (!sites_.open(s, kFirstSites, kMostSites) || !blocks_.open(s) ||
      !reserved_.open(s, kFirstThreads, kMostThreads) || !stacks_.open(s, "direct=y", kOwnFrames)) {
    TextBuffer(error, error_size).add("no memory");
    return HPROF_NO_MEMORY;
  }
  const uint32_t version = s.settings().java_version;
  patterns.clear();
  for (const Method& method : kMethods) {
    if (version < method.since || version >= method.until) continue;
    patterns.add(patterns.size() == 0 ? "" : ":").add(method.owner).add(".").add(method.name);
  }
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED;
  user.targets = kTargets;
  user.target_count = sizeof kTargets / sizeof kTargets[0];
  user.class_count = 1;
  user.classes = &kClass;
  user.live = "live";
  user.self = this;
  user.include = patterns.c_str();
  user.number = [](void* self, hprof_method_id method) {
    return static_cast<const Collector*>(self)->number(method);
  };
  return s.probes != nullptr ? s.probes->ask(s.host, &user, &probes_) : HPROF_UNSUPPORTED;
}

hprof_status Collector::start() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  if (carrier_ == nullptr && s.settings().java_version >= 19) {
    jclass found = without_exception(jni, jni->FindClass("jdk/internal/misc/CarrierThread"));
    if (found != nullptr) carrier_ = static_cast<jclass>(jni->NewGlobalRef(found));
    if (found != nullptr) jni->DeleteLocalRef(found);
  }
  session = this;
  stacks_.start();
  gate.open();
  return s.probes->start(s.host, probes_);
}

void Collector::stop() { services_.probes->stop(services_.host, probes_); }

bool Collector::close() {
  const Services& s = services_;
  if (session == this && !gate.close(s, "direct=y")) return false;
  if (carrier_ != nullptr) static_cast<JNIEnv*>(s.jvm->jni(s.host))->DeleteGlobalRef(carrier_);
  sites_.close();
  blocks_.close();
  reserved_.close();
  stacks_.close();
  return true;
}

// Java 8 has a second constructor, by which another class calls the first.
uint32_t Collector::number(hprof_method_id id) const {
  const Services& s = services_;
  const auto method = find_method(s.ids, s.host, id);
  const auto text = [&](hprof_string_id string) { return s.ids->string_text(s.host, string); };
  const auto is = [](hprof_text a, const char* b) { return a.size == std::strlen(b) && begins_with(a, b); };
  const hprof_text owner = text(find_class(s.ids, s.host, method->owner)->name), name = text(method->name);
  const hprof_text type = text(method->signature);
  if (type.size > 5 && std::memcmp(type.data + type.size - 5, "$1;)V", 5) == 0) return 0;
  for (const Method& known : kMethods) {
    if (is(owner, known.owner) && is(name, known.name)) return known.number;
  }
  return 0;
}

void Collector::frees(JNIEnv* jni, jobject self, uint64_t address) {
  Block block;
  if (blocks_.take(self != nullptr ? field(jni, self, "address") : address, &block)) count_freed(block);
}

// The block lives, but its size is no longer known.
void Collector::fails() { count_loss(lost_failed_); }

void Collector::ends(JNIEnv* jni, uint64_t call, jobject result, uint64_t value, jobject thread) {
  const auto number = static_cast<uint32_t>(call >> kSizeBits);
  uint64_t address = call & kSizeMask, size = address;
  if (number == kReserves) {
    if (auto* reserved = reserved_.make(reinterpret_cast<uintptr_t>(jni)))
      reserved->store(size, std::memory_order_relaxed);
    return;
  }
  const bool allocates = number == kAllocates || number == kReallocates;
  allocates ? address = value : size = field(jni, result, "size");
  if (address == 0 || size == 0) return;
  const bool is_reserved = !allocates || takes_reserved(jni, size);
  Kind kind = Kind::kNone;
  const hprof_trace_serial trace = trace_of(jni, thread, &kind);
  if (number == kMaps) {
    kind = Kind::kMappedFile;
  } else if (kind == Kind::kSegment) {
    kind = is_reserved ? Kind::kReservedSegment : Kind::kSegment;
  } else {
    kind = is_reserved || kind == Kind::kDirectBuffer ? Kind::kDirectBuffer : Kind::kUnsafe;
  }
  add(address, size, kind, trace);
}

bool Collector::takes_reserved(JNIEnv* jni, uint64_t size) {
  auto* reserved = reserved_.find(reinterpret_cast<uintptr_t>(jni));
  if (reserved == nullptr || reserved->load(std::memory_order_relaxed) != size) return false;
  reserved->store(0, std::memory_order_relaxed);
  return true;
}

void Collector::add(uint64_t address, uint64_t size, Kind kind, hprof_trace_serial trace) {
  Block block = {};
  if (blocks_.take(address, &block)) count_freed(block);  // its end was not seen
  block = {size, sites_.make(uint64_t{static_cast<uint32_t>(kind)} << 32 | trace)};
  if (block.site == nullptr) return count_loss(lost_sites_);
  block.site->taken_blocks.fetch_add(1, std::memory_order_relaxed);
  block.site->taken_bytes.fetch_add(size, std::memory_order_relaxed);
  if (blocks_.put(address, block)) return;
  count_freed(block);
  count_loss(lost_blocks_);
}

// What a frame says of the block that is taken; kNone: it is the program's, which begins the trace.
Kind Collector::role_of(hprof_frame_id frame) const {
  const hprof_text name = class_name_of(services_.ids, services_.host, frame);
  if (begins_with(name, "java.nio.DirectByteBuffer")) return Kind::kDirectBuffer;
  if (begins_with(name, "jdk.internal.foreign.")) return Kind::kSegment;
  if (begins_with(name, "sun.nio.ch.FileChannelImpl")) return Kind::kMappedFile;
  const bool is_unsafe = begins_with(name, kUnsafeClass) || begins_with(name, "sun.misc.Unsafe");
  return is_unsafe ? Kind::kUnsafe : Kind::kNone;
}

// The stack without the JDK's inner frames, which tell the kind. A carrier that mounts a virtual thread has
// none: JVMTI would wait.
hprof_trace_serial Collector::trace_of(JNIEnv* jni, jobject thread, Kind* kind) {
  const Services& s = services_;
  if (carrier_ != nullptr && jni->IsInstanceOf(thread, carrier_)) return 0;
  const hprof_thread_serial serial =
      s.settings().thread_in_traces != 0 ? s.threads->serial_of(s.host, thread) : 0;
  const auto is_inner = [&](const jvmtiFrameInfo&, hprof_frame_id frame) {
    const Kind role = role_of(frame);
    if (role != Kind::kNone) *kind = role;
    return role != Kind::kNone;
  };
  const uint64_t known = stacks_.current(jni, serial, is_inner, [&](hprof_trace_serial trace) {
    return uint64_t{static_cast<uint32_t>(*kind)} << 32 | trace;
  });
  *kind = static_cast<Kind>(known >> 32);
  return static_cast<hprof_trace_serial>(known);
}

hprof_status Collector::report(const hprof_report& report) {
  DirectReport to(services_, report);
  hprof_status status = to.write(kDirectMemory, sites_);
  if (status == HPROF_OK) status = to.write(kMappedFiles, sites_);
  return status == HPROF_OK ? to.write_notes(probes_) : status;
}

void Collector::reset() {
  sites_.each([](uint64_t, Site& site) {
    site.before_blocks = site.taken_blocks.load(std::memory_order_relaxed);
    site.before_bytes = site.taken_bytes.load(std::memory_order_relaxed);
  });
}

}  // namespace hprof::direct
