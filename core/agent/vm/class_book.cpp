#include "core/agent/vm/class_book.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

#include "core/agent/vm/class_rewriter.h"
#include "core/agent/vm/jvmti_text.h"
#include "core/base/atomic.h"

namespace hprof {

namespace {

constexpr uint32_t kMostClasses = 1u << 20;  // loaded at a time; 16 bytes of lazily touched memory each
constexpr uint32_t kFewestClasses = 1u << 14;
constexpr uint32_t kFewestFixed = 1u << 9;  // where each takes its memory at once
constexpr uint64_t kMemoryPerClass = 1024;  // of max-memory=: 256m, the default, has room for 262144
constexpr uint64_t kMuchMemory = 1u << 24;  // of max-memory=, for what only makes it faster
constexpr jint kMostLocals = 65000;         // the most local references requested from the VM
constexpr uint64_t kByObject = 1ull << 63;  // marks an identity by object id, not by a loader's number
// Between two scans of all loaded classes: the first, after one that found something, and the longest.
constexpr jint kMostFrames = 1024;  // of the stacks that are searched for replaced methods
constexpr uint32_t kFirstPauseS = 1;
constexpr uint32_t kLongestPauseS = 64;
constexpr const char* kVmClass = "JVM";
constexpr const char* kUnloadedMethod = "unloaded_method";
constexpr const char* kProbe = "hprof_probe";

}  // namespace

bool ClassBook::create(jvmtiEnv* jvmti, MemoryAccount* memory, Model* model, LoaderBook* loaders,
                       UnloadWatch* watch, LossCounters* losses, const ClassRewriter* rewriter,
                       const Options& options, uint64_t max_memory) {
  jvmti_ = jvmti;
  memory_ = memory;
  model_ = model;
  loaders_ = loaders;
  watch_ = watch;
  losses_ = losses;
  rewriter_ = rewriter;
  options_ = options;
  most_classes_ = kMostClasses;
  const uint32_t fewest = memory->is_fixed() ? kFewestFixed : kFewestClasses;
  while (max_memory != 0 && most_classes_ > fewest && most_classes_ > max_memory / kMemoryPerClass) {
    most_classes_ /= 2;
  }
  if (max_memory == 0 || max_memory >= kMuchMemory) recent_.create(*memory);
  return entries_region_.create(*memory, most_classes_ * sizeof(Entry), Backing::kLazy);
}

void ClassBook::destroy(JNIEnv* jni) {
  for (uint32_t token = 1; jni != nullptr && token < entry_count_; token++) {
    if (entries()[token].state == kUsed && entries()[token].reference != nullptr) {
      jni->DeleteWeakGlobalRef(entries()[token].reference);
    }
  }
  entry_count_ = 1;
  first_free_ = 0;
  entries_region_.destroy();
  recent_.destroy();
}

// First removes classes that were unloaded while the book was not kept: the VM may have reused their method
// ids.
void ClassBook::keep(JNIEnv* jni) {
  if (is_kept()) return;
  remove_gone(jni);
  entered_loaded_.store(false, std::memory_order_release);
  kept_.store(true, std::memory_order_release);
}

template <typename Visit>
void ClassBook::each_loaded(JNIEnv* jni, Visit visit) {
  jint count = 0;
  jclass* loaded = nullptr;
  if (jvmti_->GetLoadedClasses(&count, &loaded) != JVMTI_ERROR_NONE) return;
  // -Xcheck:jni requires EnsureLocalCapacity for them, though they exist already.
  if (count < kMostLocals && jni->EnsureLocalCapacity(count + 16) != 0) clear_exception(jni);
  for (jint i = 0; i < count; i++) {
    visit(loaded[i]);
    jni->DeleteLocalRef(loaded[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(loaded));
}

void ClassBook::watch_loaded(JNIEnv* jni) {
  each_loaded(jni, [&](jclass of) { describe_class(jni, of); });
}

// Enters classes loaded before the book was kept. Called by the first thread that needs a name, or by the
// control thread, not by the thread that starts the program.
void ClassBook::enter_loaded(JNIEnv* jni) {
  if (jni == nullptr || !is_kept() || entered_loaded_.load(std::memory_order_acquire)) return;
  platform::MutexLock hold(resolve_lock_);
  if (entered_loaded_.load(std::memory_order_relaxed)) return;
  scan(jni);
  entered_loaded_.store(true, std::memory_order_release);
}

void ClassBook::prepared(JNIEnv* jni, jclass prepared) {
  if (is_kept()) enter(jni, prepared);
  if (watch_->watches_every_class()) describe_class(jni, prepared);
}

uint32_t ClassBook::take_entry() {
  platform::MutexLock hold(entry_lock_);
  uint32_t token = first_free_;
  if (token != 0) {
    first_free_ = entries()[token].next_free;
  } else if (entry_count_ < most_classes_ && entries_region_.cover((entry_count_ + 1) * sizeof(Entry))) {
    token = entry_count_++;
  }
  return token;
}

void ClassBook::give_back_entry(uint32_t token) {
  platform::MutexLock hold(entry_lock_);
  entries()[token].state = kFree;
  entries()[token].next_free = first_free_;
  first_free_ = token;
}

// Enters what threads run of classes that have been redefined, also by a session before. The VM makes the ids
// of such methods when it is asked for a stack that they are on. Not those of virtual threads.
void ClassBook::enter_running(JNIEnv* jni) {
  jint count = 0;
  jvmtiStackInfo* stacks = nullptr;
  if (jvmti_->GetAllStackTraces(kMostFrames, &stacks, &count) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; i++) {
    for (jint at = 0; at < stacks[i].frame_count; at++) {
      auto* method = stacks[i].frame_buffer[at].method;
      MethodEntry known;
      jclass owner = nullptr;
      if (model_->method_map().find(method, &known) ||
          jvmti_->GetMethodDeclaringClass(method, &owner) != JVMTI_ERROR_NONE)
        continue;
      enter(jni, owner, method);
      jni->DeleteLocalRef(owner);
    }
    jni->DeleteLocalRef(stacks[i].thread);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(stacks));
}

// Enters the loaded classes of which no event has come, and what runs of redefined ones. True: a class was
// new. It takes some microseconds for each class and thread. Under resolve_lock_.
bool ClassBook::scan(JNIEnv* jni) {
  bool found = false;
  each_loaded(jni, [&](jclass of) {
    if (!enter(jni, of)) return;
    found = true;
    if (watch_->watches_every_class()) describe_class(jni, of);
  });
  enter_running(jni);
  return found;
}

// Scans again, at most once a second, and less often while no class is new. False: not so soon.
bool ClassBook::enter_missed(JNIEnv* jni) {
  if (jni == nullptr || !is_kept()) return false;
  platform::MutexLock hold(resolve_lock_);
  if (platform::monotonic_ns() < next_scan_ns_) return false;
  if (scan(jni)) scan_pause_s_ = kFirstPauseS;
  next_scan_ns_ = platform::monotonic_ns() + scan_pause_s_ * platform::kNanosPerSecond;
  if (scan_pause_s_ < kLongestPauseS) scan_pause_s_ *= 2;
  return true;
}

// GetClassMethods makes the VM create the method ids. A class may be entered twice: its methods keep their
// token. replaced: one of its methods that it has no more since it was redefined, or nullptr. True: it was
// not entered yet.
bool ClassBook::enter(JNIEnv* jni, jclass loaded, jmethodID replaced) {
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti_->GetClassMethods(loaded, &count, &methods) != JVMTI_ERROR_NONE)
    return false;  // array, or not prepared yet
  MethodMap& map = model_->method_map();
  MethodEntry known;
  const bool is_new = count != 0 && !map.find(methods[0], &known);
  if (is_new) {
    uint32_t token = take_entry();
    jint entered = 0;
    if (token != 0) {
      entries()[token].reference = jni->NewWeakGlobalRef(loaded);
      if (entries()[token].reference == nullptr) jni->ExceptionClear();
      entries()[token].state = kUsed;
      while (entered < count && model_->enter_method(methods[entered], {MethodId::kNone, ClassToken{token}}))
        entered++;
    }
    if (token == 0) losses_->add(Loss::kLostMethodBook, static_cast<uint64_t>(count));
  } else if (count != 0 && replaced != nullptr) {
    model_->enter_method(replaced, {MethodId::kNone, known.owner});
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(methods));
  return is_new;
}

void ClassBook::sweep(JNIEnv* jni) {
  enter_loaded(jni);
  uint32_t collections = collections_.load(std::memory_order_relaxed);
  if (collections == swept_at_ || !is_kept()) return;
  swept_at_ = collections;
  remove_gone(jni);
}

// Finds the unloaded classes, removes their methods from the map in one pass, and frees their entries.
void ClassBook::remove_gone(JNIEnv* jni) {
  uint32_t end;
  {
    platform::MutexLock hold(entry_lock_);
    end = entry_count_;
  }
  platform::MutexLock hold(resolve_lock_);
  uint32_t gone = 0;
  for (uint32_t token = 1; token < end; token++) {
    Entry& entry = entries()[token];
    if (entry.state != kUsed || entry.reference == nullptr || !jni->IsSameObject(entry.reference, nullptr))
      continue;
    entry.state = kGone;
    gone++;
  }
  if (gone == 0) return;
  model_->method_map().sweep(
      [this](ClassToken token) { return entries()[static_cast<uint32_t>(token)].state == kGone; });
  for (uint32_t token = 1; token < end; token++) {
    if (entries()[token].state != kGone) continue;
    jni->DeleteWeakGlobalRef(entries()[token].reference);
    entries()[token].reference = nullptr;
    give_back_entry(token);
  }
}

ClassSerial ClassBook::intern(jclass of, uint64_t identity) {
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(of, &signature, nullptr) != JVMTI_ERROR_NONE) return ClassSerial::kNone;
  JvmtiText text(jvmti_, signature);
  return model_->class_serial(text.str(), identity);
}

void ClassBook::watch(JNIEnv* jni, jclass of, ClassSerial serial) {
  const ClassInfo* info = jni != nullptr && watch_->is_on() ? model_->classes().info(serial) : nullptr;
  if (info == nullptr) return;
  const Str signature = model_->text(StringId{info->signature});
  if (signature.empty() || signature[0] == '[') return;
  if (!watch_->add(jni, of, raw(serial))) losses_->add(Loss::kLostUnloads);
}

// Numbers the class by name and loader, which has one class of a name at a time.
uint32_t ClassBook::describe_class(JNIEnv* jni, jclass owner) {
  ClassSerial serial = intern(owner, loaders_->number_of(jni, owner));
  const ClassInfo* info = model_->classes().info(serial);
  if (info != nullptr && load_relaxed(&info->source) == 0 && options_.can_get_source) {
    char* source = nullptr;
    if (jvmti_->GetSourceFileName(owner, &source) == JVMTI_ERROR_NONE) {
      JvmtiText name(jvmti_, source);
      model_->classes().set_source(serial, model_->string(name.str()));
    }
  }
  watch(jni, owner, serial);
  return raw(serial);
}

void ClassBook::add_lines(MethodId id, jmethodID method) {
  if (!options_.line_numbers || !options_.can_get_lines) return;
  jint count = 0;
  jvmtiLineNumberEntry* rows = nullptr;
  jvmtiError error = jvmti_->GetLineNumberTable(method, &count, &rows);
  if (error != JVMTI_ERROR_NONE) {
    model_->set_lines(id, nullptr, 0);
    return;
  }
  // The rows are made in the VM's memory, since they are smaller than the VM's.
  static_assert(sizeof(LineStart) <= sizeof(jvmtiLineNumberEntry),
                "rows are written over those that were read");
  auto* bytes = reinterpret_cast<unsigned char*>(rows);
  for (jint i = 0; i < count; i++) {
    const LineStart start = {static_cast<uint16_t>(rows[i].start_location),
                             static_cast<uint16_t>(rows[i].line_number)};
    memcpy(bytes + static_cast<size_t>(i) * sizeof(start), &start, sizeof(start));
  }
  model_->set_lines(id, reinterpret_cast<const LineStart*>(bytes), static_cast<uint32_t>(count));
  jvmti_->Deallocate(bytes);
}

// The caller keeps the class loaded.
MethodId ClassBook::describe(JNIEnv* jni, jclass owner, jmethodID method) {
  char* name = nullptr;
  char* signature = nullptr;
  if (jvmti_->GetMethodName(method, &name, &signature, nullptr) != JVMTI_ERROR_NONE) return MethodId::kNone;
  JvmtiText name_text(jvmti_, name);
  JvmtiText signature_text(jvmti_, signature);
  ClassSerial serial{describe_class(jni, owner)};
  const ClassInfo* info = model_->class_info(serial);
  // The agent's probes get one frame of their own, apart from the program's methods.
  const Str text = info != nullptr ? model_->text(StringId{info->signature}) : Str();
  if (text.size > 2 && rewriter_->has_targets(text.part(1, text.size - 1))) {
    const MethodId probe = model_->synthetic_method(kVmClass, kProbe);
    probe_.store(probe, std::memory_order_relaxed);
    return probe;
  }
  MethodId id = model_->method(serial, name_text.str(), signature_text.str());
  if (id != MethodId::kNone) add_lines(id, method);
  return id;
}

MethodId ClassBook::name_running(JNIEnv* jni, jmethodID method) {
  jclass owner = nullptr;
  if (jvmti_->GetMethodDeclaringClass(method, &owner) != JVMTI_ERROR_NONE) return MethodId::kNone;
  MethodId id = describe(jni, owner, method);
  if (jni != nullptr) jni->DeleteLocalRef(owner);
  return id;
}

MethodId ClassBook::name_held(JNIEnv* jni, jmethodID method) {
  if (jni == nullptr) return MethodId::kNone;
  enter_loaded(jni);
  bool entered = false;
  const MethodId id = name_entered(jni, method, &entered);
  return entered || !enter_missed(jni) ? id : name_entered(jni, method, &entered);
}

// Names the method while the class is held: if the weak reference still gives it, it is loaded.
MethodId ClassBook::name_entered(JNIEnv* jni, jmethodID method, bool* entered) {
  platform::MutexLock hold(resolve_lock_);
  MethodEntry found;
  *entered = model_->method_map().find(method, &found);
  if (!*entered) return MethodId::kNone;
  if (found.method != MethodId::kNone) return found.method;
  const jweak held = entries()[static_cast<uint32_t>(found.owner)].reference;
  auto owner = static_cast<jclass>(without_exception(jni, jni->NewLocalRef(held)));
  if (owner == nullptr) return MethodId::kNone;
  MethodId id = describe(jni, owner, method);
  jni->DeleteLocalRef(owner);
  if (id != MethodId::kNone) model_->method_map().insert(method, {id, found.owner});
  return id;
}

void ClassBook::follow_collections(bool follows) {
  if (follows_collections_.exchange(follows, std::memory_order_relaxed) != follows) forget_recent();
}

// The method is running, so its class is loaded, and the id means what it meant earlier in this epoch.
MethodId ClassBook::name_recent(JNIEnv* jni, jmethodID method) {
  if (!follows_collections_.load(std::memory_order_relaxed)) return name_running(jni, method);
  const uint32_t epoch = recent_epoch_.load(std::memory_order_relaxed);
  MethodId id = recent_.find(method, epoch);
  if (id != MethodId::kNone) return id;
  id = name_running(jni, method);
  if (id != MethodId::kNone) recent_.put(method, epoch, id);
  return id;
}

uint32_t ClassBook::frame(JNIEnv* jni, const hprof_raw_frame& raw_frame, bool running) {
  auto method = static_cast<jmethodID>(raw_frame.method);
  if (method == nullptr) {
    if (entered_loaded_.load(std::memory_order_acquire)) {
      enter_missed(jni);
    } else {
      enter_loaded(jni);
    }
    return 0;
  }
  MethodEntry found;
  MethodId id = model_->method_map().find(method, &found) ? found.method : MethodId::kNone;
  if (id == MethodId::kNone) id = running ? name_recent(jni, method) : name_held(jni, method);
  if (id == MethodId::kNone) return raw(model_->synthetic_frame(Str(kVmClass), Str(kUnloadedMethod)));
  if (id == probe_.load(std::memory_order_relaxed)) return raw(model_->frame(id, HPROF_LINE_UNKNOWN));
  return raw(model_->frame_at(id, raw_frame.location, options_.line_numbers));
}

uint32_t ClassBook::class_serial(JNIEnv* jni, jclass of) { return describe_class(jni, of); }

// A class that replaces one of the same loader and name gets a new serial.
uint32_t ClassBook::dumped_class(JNIEnv* jni, jclass of, uint64_t object) {
  ClassSerial serial = intern(of, loaders_->number_of(jni, of));
  const ClassInfo* info = model_->classes().info(serial);
  const uint64_t known = info != nullptr ? load_relaxed(&info->object) : 0;
  if (known != 0 && known != object) serial = intern(of, kByObject | object);
  if (serial != ClassSerial::kNone) model_->classes().set_object(serial, object);
  watch(jni, of, serial);
  return raw(serial);
}

}  // namespace hprof
