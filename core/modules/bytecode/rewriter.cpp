#include <cstring>
#include <initializer_list>
#include <new>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/base/region.h"
#include "core/base/scratch_text.h"
#include "core/bytecode/debug_info.h"
#include "core/bytecode/engine.h"
#include "core/bytecode/tracker_classes.h"
#include "core/modules/bytecode/make_rewriter.h"

namespace hprof {

namespace {

constexpr size_t kScratchLimit = 16u << 20;
constexpr uint32_t kDefineTries = 3;
constexpr const char* kTracker = "java/lang/HprofTracker";
constexpr const char* kThreadClass = "java/lang/Thread";
constexpr const char* kThreadField = "$hq";
constexpr uint32_t kFirstPreviewVirtual = 19;  // JDK with virtual threads as a preview
constexpr uint32_t kFirstVirtual = 21;         // and without
constexpr uint32_t kTimer = user_of(HPROF_PROBE_TIMED);
// Of the engine.
constexpr uint32_t kMainUser = 0, kTimingUser = 1;

Str str_of(Span text) { return Str(reinterpret_cast<const char*>(text.data), text.size); }

// The number of loaded classes, without arrays.
uint64_t count_classes(jvmtiEnv* jvmti, JNIEnv* jni) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return 0;
  uint64_t result = 0;
  for (jint i = 0; i < count; i++) {
    jboolean is_array = JNI_FALSE;
    jvmti->IsArrayClass(classes[i], &is_array);
    result += is_array == JNI_FALSE;
    jni->DeleteLocalRef(classes[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return result;
}

// True: the name matches. The pattern has dots or slashes; the name slashes.
bool matches(Str pattern, Str name) {
  size_t i = 0;
  for (; i < pattern.size; i++) {
    if (pattern[i] == '*') return true;
    if (i == name.size || (pattern[i] == '.' ? '/' : pattern[i]) != name[i]) return false;
  }
  return i == name.size || name[i] == '$';
}

// True: the pattern is that class, a dot, and `method` or '*'; with an empty `method`, any word.
bool matches_method(Str pattern, Str name, Str method) {
  if (pattern.size <= name.size + 1 || pattern[name.size] != '.') return false;
  const Str last = pattern.part(name.size + 1);
  for (size_t i = 0; i < name.size; i++) {
    if ((pattern[i] == '.' ? '/' : pattern[i]) != name[i]) return false;
  }
  return method.empty() || last == method || last == "*";
}

template <class Matches>
bool any_part(const char* patterns, const Matches& matches) {
  Str rest(patterns);
  Str pattern;
  while (next_part(&rest, ':', &pattern)) {
    if (!pattern.empty() && matches(pattern)) return true;
  }
  return false;
}

bool matches_any(const char* patterns, Str name) {
  return any_part(patterns, [name](Str pattern) { return matches(pattern, name); });
}

jlong JNICALL no_call_begins(JNIEnv*, jclass, jint) { return 0; }
jlong JNICALL no_call_constructed(JNIEnv*, jclass, jlong) { return 0; }
void JNICALL no_call_ends(JNIEnv*, jclass, jlong) {}

uint8_t* allocate(void* jvmti, uint32_t size) {
  unsigned char* bytes = nullptr;
  return static_cast<jvmtiEnv*>(jvmti)->Allocate(size, &bytes) == JVMTI_ERROR_NONE ? bytes : nullptr;
}

// Retransforms classes; the VM does all or none, so if it refuses, each half is tried. Returns how many were
// refused.
uint64_t retransform(jvmtiEnv* jvmti, const jclass* classes, jint count) {
  if (count == 0 || jvmti->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return 0;
  if (count == 1) return 1;
  return retransform(jvmti, classes, count / 2) + retransform(jvmti, classes + count / 2, count - count / 2);
}

// JDK 8's compilers do not support an exception handler in Object.<init>.
bool has_no_handlers(const MethodSite& site) {
  return site.class_name.equals("java/lang/Object") && site.name.equals("<init>");
}

// A class' signature made of its name; empty: no memory.
class Signature {
 public:
  Signature(MemoryAccount& memory, Span class_name) : room_(memory, class_name.size + 3) {
    if (room_.data() == nullptr) return;
    TextWriter text(room_.data(), class_name.size + 3);
    str_ = text.put('L').put(str_of(class_name)).put(';').text();
  }
  Str str() const { return str_; }

 private:
  ScratchText room_;
  Str str_;
};

class ModuleRewriter final : public Rewriter {
 public:
  explicit ModuleRewriter(const RewriterUse& use) : use_(use) {}

  bool make_engine(uint32_t asked) override;
  void class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes, jint* new_size,
                  unsigned char** new_bytes) override;
  bool define_tracker(JNIEnv* jni) override;
  bool prepare_tracker(jvmtiEnv* jvmti, JNIEnv* jni) override;
  void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) override { passed_ = count_classes(jvmti, jni); }
  bool catch_up(jvmtiEnv* jvmti, JNIEnv* jni) override;
  bool rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni) override;
  void undo(jvmtiEnv* jvmti, JNIEnv* jni) override;
  void destroy() override;
  hprof_status set_flags(JNIEnv* jni, uint32_t probes, bool on, int64_t header_at) override;
  uint64_t thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const override;
  void set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const override;
  void store_state(JNIEnv* jni, jobject thread, uint64_t state) const override;
  uint32_t first_line(uint32_t method) const override;
  void totals(hprof_probe_totals* totals) const override;
  void each_left(bool timed, void* argument,
                 void (*visit)(void*, const char*, uint64_t, uint64_t)) const override;

 private:
  bool wants(uint32_t probe, Span class_name) const;
  bool find_fields(JNIEnv* jni, jclass tracker);
  bool has_state(JNIEnv* jni, jobject thread) const {
    return tracker_ != nullptr && thread_field_ != nullptr && jni != nullptr && thread != nullptr;
  }
  static bool include_class(void* self, Span name, uint16_t access);
  static uint32_t include_method(void* self, const MethodSite& site, uint32_t user, uint32_t probes);
  static int32_t method_id(void* self, const MethodSite& site, uint32_t user);
  bool times(Str class_name, Str method) const;
  uint32_t times_method(const MethodSite& site, uint32_t probes) const;
  bool is_timing() const { return (asked_ & HPROF_PROBE_TIMED) != 0; }
  ProbesOfUser main_probes() const;
  bool register_timed(JNIEnv* jni, void* begins, void* constructed, void* ends) const;
  bool let_tracker_time(jvmtiEnv* jvmti, JNIEnv* jni, jclass tracker) const;
  bool includes(jvmtiEnv* jvmti, jclass loaded) const;
  bool define(JNIEnv* jni, uint32_t index) const;
  uint32_t class_of(const MethodSite& site);
  int32_t number(const MethodSite& site);
  bool is_generated(Span class_name) const;
  uint16_t* line_of(uint32_t method) const {
    return reinterpret_cast<uint16_t*>(first_lines_.base()) + method;
  }

  RewriterUse use_;
  Engine* engine_ = nullptr;
  uint32_t asked_ = 0;
  uint64_t passed_ = 0;             // classes loaded before class files were seen
  uint64_t refused_ = 0;            // classes that the VM refuses to retransform for HPROF_PROBE_TIMED
  Region first_lines_;              // by method id
  bool tells_constructed_ = false;  // the user wants it; a tracker of an earlier version cannot
  jclass tracker_ = nullptr;        // global references and ids, from VMInit on
  jfieldID thread_field_ = nullptr;
  jmethodID state_at_ = nullptr;
  jfieldID switches_[kProbeUsers] = {};  // static boolean fields
  jfieldID header_at_field_ = nullptr;
  jfieldID carriers_field_ = nullptr;
};

// The probes of all users but that of HPROF_PROBE_TIMED.
ProbesOfUser ModuleRewriter::main_probes() const {
  ProbesOfUser main;
  main.owner = kTracker;
  const char* targets[kTargets] = {"enter",           "exit", "unwind", "sync", "leaf", "allocated",
                                   "allocatedArrays", "made", "caught"};
  if ((asked_ & HPROF_PROBE_METHODS) != 0) {
    main.probes |= kProbesOfTimes & ~static_cast<uint32_t>(kProbeUnwind);
    main.field = {kThreadClass, kThreadField, "J", 0};
    const bool virtuals = use_.settings->java_version >= kFirstPreviewVirtual;
    if (!virtuals && (asked_ & HPROF_PROBE_CLOCK) == 0) targets[kTargetEnd] = "exitQuickly";
  }
  if ((asked_ & HPROF_PROBE_CALLS) != 0) {
    main.probes |= kProbeBegin | kProbeEnd | kProbeUnwind;
    targets[kTargetBegin] = "enterCall";
    targets[kTargetEnd] = "exitCall";
    targets[kTargetUnwind] = "unwindCall";
  }
  if ((asked_ & HPROF_PROBE_ALLOCATIONS) != 0) main.probes |= kProbesOfSites;
  if ((asked_ & kUserCaught) != 0) main.probes |= kProbeCaught;
  if ((asked_ & kUserMade) != 0) main.probes |= kProbeMade;
  std::memcpy(main.targets, targets, sizeof targets);
  return main;
}

bool ModuleRewriter::make_engine(uint32_t asked) {
  asked_ = asked;
  EngineUse use;
  use.probes.context = this;
  use.memory = use_.memory->functions();
  use.scratch_limit = kScratchLimit;
  use.internal_unsafe = use_.settings->java_version >= 9;
  use.probes.users[kMainUser] = main_probes();
  use.probes.user_count = kMainUser + 1;
  if (is_timing()) {
    ProbesOfUser& timing = use.probes.users[kTimingUser];
    timing.owner = kTracker;
    timing.probes = kProbeBegin | kProbeEnd | kProbeUnwind | kProbeConstructed;
    timing.targets[kTargetConstructed] = "constructedTimed";
    timing.targets[kTargetBegin] = "enterTimed";
    timing.targets[kTargetEnd] = timing.targets[kTargetUnwind] = "exitTimed";
    timing.leaves_out_leaves = true;
    use.probes.user_count = kTimingUser + 1;
  }
  use.probes.include_class = &ModuleRewriter::include_class;
  use.probes.include_method = &ModuleRewriter::include_method;
  use.probes.method_id = &ModuleRewriter::method_id;
  // Without this memory, frames have no lines.
  first_lines_.create(*use_.memory, (uint64_t{use_.most_methods} + 1) * sizeof(uint16_t), Backing::kLazy);
  engine_ = engine_create(use);
  return engine_ != nullptr;
}

// method: empty: any of that class.
bool ModuleRewriter::times(Str class_name, Str method) const {
  const ProbeUser& user = use_.users[kTimer];
  if (user.exclude != nullptr && matches_any(user.exclude, class_name)) return false;
  return user.include == nullptr || user.include[0] == '\0' || any_part(user.include, [&](Str pattern) {
           return matches(pattern, class_name) || matches_method(pattern, class_name, method);
         });
}

uint32_t ModuleRewriter::times_method(const MethodSite& site, uint32_t probes) const {
  if (has_no_handlers(site) || !times(str_of(site.class_name), str_of(site.name))) return 0;
  return tells_constructed_ ? probes : probes & ~static_cast<uint32_t>(kProbeConstructed);
}

bool ModuleRewriter::wants(uint32_t probe, Span class_name) const {
  if ((asked_ & probe) == 0) return false;
  const ProbeUser& user = use_.users[user_of(probe)];
  Str text = str_of(class_name);
  if (user.include != nullptr && user.include[0] != '\0' && !matches_any(user.include, text)) return false;
  return user.exclude == nullptr || !matches_any(user.exclude, text);
}

// java.lang.Thread gets its field, and Throwable its probe, whatever the patterns say.
bool ModuleRewriter::include_class(void* self, Span name, uint16_t) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  for (const TrackerClass& tracker : kTrackerClasses) {
    if (name.equals(tracker.name)) return false;
  }
  if (rewriter->is_timing() && rewriter->times(str_of(name), Str())) return true;
  if ((rewriter->asked_ & HPROF_PROBE_ALLOCATIONS) != 0 || name.equals(kThreadClass)) return true;
  if ((rewriter->asked_ & kUserMade) != 0 && name.equals("java/lang/Throwable")) return true;
  for (uint32_t probe : {HPROF_PROBE_METHODS, HPROF_PROBE_CALLS, kUserCaught}) {
    if (rewriter->wants(probe, name)) return true;
  }
  return false;
}

uint32_t ModuleRewriter::include_method(void* self, const MethodSite& site, uint32_t user, uint32_t probes) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  if (user == kTimingUser) return rewriter->times_method(site, probes);
  if (!rewriter->wants(HPROF_PROBE_METHODS, site.class_name) &&
      !rewriter->wants(HPROF_PROBE_CALLS, site.class_name))
    probes &= ~kProbesOfTimes;
  // Classes that the VM generates share method numbers by stable name, but users of calls need the exact
  // method.
  if ((rewriter->asked_ & HPROF_PROBE_CALLS) != 0 &&
      (has_no_handlers(site) || rewriter->is_generated(site.class_name)))
    probes &= ~kProbesOfTimes;
  if (!rewriter->wants(kUserCaught, site.class_name)) probes &= ~static_cast<uint32_t>(kProbeCaught);
  return probes;
}

int32_t ModuleRewriter::method_id(void* self, const MethodSite& site, uint32_t user) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  const int32_t method = rewriter->number(site);
  if (user != kTimingUser || method == 0) return method;
  const ProbeUser& timer = rewriter->use_.users[kTimer];
  return static_cast<int32_t>(timer.number(timer.self, static_cast<uint32_t>(method)));
}

bool ModuleRewriter::is_generated(Span class_name) const {
  const Signature signature(*use_.memory, class_name);
  return use_.is_generated(use_.core, signature.str());
}

uint32_t ModuleRewriter::class_of(const MethodSite& site) {
  const Signature signature(*use_.memory, site.class_name);
  if (signature.str().empty()) return 0;
  bool has_source = false;
  const uint32_t owner = use_.class_serial(use_.core, signature.str(), site.loader, &has_source);
  if (!has_source && site.view != nullptr) {
    const Span source = source_file(*site.view);
    if (source.size != 0) use_.set_source(use_.core, owner, str_of(source));
  }
  return owner;
}

// 0: the model is full; the plugin gets an unknown method, and reports that.
int32_t ModuleRewriter::number(const MethodSite& site) {
  uint32_t owner = site.note != nullptr ? *site.note : 0;
  if (owner == 0) owner = class_of(site);
  if (site.note != nullptr) *site.note = owner;
  const uint32_t id = use_.method(use_.core, owner, str_of(site.name), str_of(site.descriptor));
  if (id != 0 && site.view != nullptr && first_lines_.cover((uint64_t{id} + 1) * sizeof(uint16_t)) &&
      *line_of(id) == 0) {
    *line_of(id) = static_cast<uint16_t>(hprof::first_line(*site.view, *site.method));
  }
  return static_cast<int32_t>(id);
}

void ModuleRewriter::class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes,
                                jint* new_size, unsigned char** new_bytes) {
  const Span file = {bytes, static_cast<uint32_t>(size)};
  const NewClass made = engine_rewrite(engine_, file, loader, jvmti, &allocate);
  if (made.bytes == nullptr) return;
  *new_bytes = made.bytes;
  *new_size = static_cast<jint>(made.size);
}

bool ModuleRewriter::define(JNIEnv* jni, uint32_t index) const {
  const char* name = nullptr;
  Span bytes;
  engine_tracker(engine_, index, &name, &bytes);
  jclass made = nullptr;
  for (uint32_t tries = 0; made == nullptr && tries < kDefineTries; tries++) {
    made = jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data),
                            static_cast<jsize>(bytes.size));
    clear_exception(jni);
  }
  // An earlier session, which has been detached, may have defined it.
  if (made == nullptr && asked_ == HPROF_PROBE_TIMED) made = jni->FindClass(name);
  clear_exception(jni);
  if (made != nullptr) jni->DeleteLocalRef(made);
  return made != nullptr;
}

bool ModuleRewriter::define_tracker(JNIEnv* jni) {
  for (uint32_t i = 0; i < kTimerClass; i++) {
    if (!define(jni, i)) return false;
  }
  return true;
}

bool ModuleRewriter::find_fields(JNIEnv* jni, jclass tracker) {
  bool has_all = true;
  for (uint32_t i = 0; i < kProbeUsers; i++) {
    switches_[i] = jni->GetStaticFieldID(tracker, kProbeSwitches[i].field, "Z");
    clear_exception(jni);
    has_all = has_all && switches_[i] != nullptr;
  }
  header_at_field_ = jni->GetStaticFieldID(tracker, "headerAt", "J");
  clear_exception(jni);
  carriers_field_ = jni->GetStaticFieldID(tracker, "carriers", "Z");
  clear_exception(jni);
  return has_all && header_at_field_ != nullptr && carriers_field_ != nullptr;
}

bool ModuleRewriter::prepare_tracker(jvmtiEnv* jvmti, JNIEnv* jni) {
  jclass tracker = jni->FindClass(kTracker);
  jclass thread = jni->FindClass(kThreadClass);
  if (tracker != nullptr && thread != nullptr) {
    const bool has_fields = find_fields(jni, tracker);
    if ((asked_ & HPROF_PROBE_METHODS) != 0) thread_field_ = jni->GetFieldID(thread, kThreadField, "J");
    clear_exception(jni);
    if (thread_field_ != nullptr) use_.hide_field(use_.core, jni, thread, kThreadField);
    const ProbeUser& timer = use_.users[kTimer];
    tells_constructed_ = timer.call_constructed != nullptr &&
                         jni->GetStaticMethodID(tracker, "constructedTimed", "(J)J") != nullptr;
    clear_exception(jni);
    // Not before VMInit: the VM ends if a class outside of java.base is there before its modules.
    bool primed =
        !is_timing() || (define(jni, kTimerClass) &&
                         register_timed(jni, timer.call_begins, timer.call_constructed, timer.call_ends) &&
                         let_tracker_time(jvmti, jni, tracker));
    // Natives of other probes are not called, and not found while an agent attaches.
    const char* first = asked_ != HPROF_PROBE_TIMED ? "prime" : "primeTimed";
    jmethodID prime = jni->GetStaticMethodID(tracker, first, "()V");
    state_at_ = jni->GetStaticMethodID(tracker, "stateAt", "(Ljava/lang/Thread;)J");
    if (prime != nullptr) jni->CallStaticVoidMethodA(tracker, prime, nullptr);
    primed = primed && prime != nullptr && !jni->ExceptionCheck();
    clear_exception(jni);
    bool has_field =
        (asked_ & HPROF_PROBE_METHODS) == 0 || (thread_field_ != nullptr && state_at_ != nullptr);
    if (primed && has_field && has_fields) {
      const bool carriers = use_.settings->java_version >= kFirstVirtual;
      jni->SetStaticBooleanField(tracker, carriers_field_, carriers ? JNI_TRUE : JNI_FALSE);
      tracker_ = static_cast<jclass>(jni->NewGlobalRef(tracker));
    }
  }
  clear_exception(jni);
  if (tracker != nullptr) jni->DeleteLocalRef(tracker);
  if (thread != nullptr) jni->DeleteLocalRef(thread);
  return tracker_ != nullptr;
}

bool ModuleRewriter::catch_up(jvmtiEnv* jvmti, JNIEnv* jni) {
  jclass object = jni->FindClass("java/lang/Object");
  const bool done = object != nullptr && jvmti->RetransformClasses(1, &object) == JVMTI_ERROR_NONE;
  clear_exception(jni);
  if (object != nullptr) jni->DeleteLocalRef(object);
  return done;
}

bool ModuleRewriter::includes(jvmtiEnv* jvmti, jclass loaded) const {
  jboolean can = JNI_FALSE;
  char* signature = nullptr;
  if (jvmti->IsModifiableClass(loaded, &can) != JVMTI_ERROR_NONE || can == JNI_FALSE ||
      jvmti->GetClassSignature(loaded, &signature, nullptr) != JVMTI_ERROR_NONE)
    return false;
  const Str text(signature);
  bool result = false;
  if (text.size > 2 && text[0] == 'L') {
    const Str name = text.part(1, text.size - 1);
    const Span span = {reinterpret_cast<const uint8_t*>(name.data), static_cast<uint32_t>(name.size)};
    result = is_timing() ? times(name, Str()) : wants(HPROF_PROBE_CALLS, span);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  return result;
}

// Retransforms in batches, with a safepoint each, and by global references: the VM calls back on this thread
// meanwhile, with room for few local ones.
bool ModuleRewriter::rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni) {
  constexpr jint kPiece = 64;
  jint count = 0, taken = 0;
  jclass* classes = nullptr;
  {
    const LocalFrame locals(jni, LocalFrame::kMost);
    if (!locals.is_open() || jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return false;
    for (jint i = 0; i < count; i++) {
      if (!includes(jvmti, classes[i])) continue;
      auto* kept = static_cast<jclass>(jni->NewGlobalRef(classes[i]));
      if (kept != nullptr) classes[taken++] = kept;
    }
  }
  uint64_t refused = 0;
  for (jint i = 0; i < taken; i += kPiece)
    refused += retransform(jvmti, classes + i, taken - i < kPiece ? taken - i : kPiece);
  (is_timing() ? refused_ : passed_) += refused;
  for (jint i = 0; i < taken; i++) jni->DeleteGlobalRef(classes[i]);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return true;
}

bool ModuleRewriter::register_timed(JNIEnv* jni, void* begins, void* constructed, void* ends) const {
  char names[3][12] = {"begins", "ends", "constructed"}, types[3][5] = {"(I)J", "(J)V", "(J)J"};
  const JNINativeMethod methods[] = {
      {names[0], types[0], begins}, {names[1], types[1], ends}, {names[2], types[2], constructed}};
  jclass timer = jni->FindClass("hprof/Timer");
  const bool done =
      timer != nullptr && jni->RegisterNatives(timer, methods, tells_constructed_ ? 3 : 2) == JNI_OK;
  clear_exception(jni);
  if (timer != nullptr) jni->DeleteLocalRef(timer);
  return done;
}

// Lets the tracker, in java.base, use hprof.Timer, in the unnamed module of its loader.
bool ModuleRewriter::let_tracker_time(jvmtiEnv* jvmti, JNIEnv* jni, jclass tracker) const {
  if (use_.settings->java_version < 9) return true;
  jclass timer = jni->FindClass("hprof/Timer");
  jclass type = jni->FindClass("java/lang/Class");
  jmethodID module_of =
      type != nullptr ? jni->GetMethodID(type, "getModule", "()Ljava/lang/Module;") : nullptr;
  bool done = false;
  if (timer != nullptr && module_of != nullptr) {
    jobject from = jni->CallObjectMethod(tracker, module_of), to = jni->CallObjectMethod(timer, module_of);
    done = from != nullptr && to != nullptr && jvmti->AddModuleReads(from, to) == JVMTI_ERROR_NONE;
  }
  clear_exception(jni);
  return done;
}

void ModuleRewriter::undo(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (tracker_ == nullptr) return;
  set_flags(jni, HPROF_PROBE_TIMED, false, 0);
  rewrite_loaded(jvmti, jni);
  register_timed(jni, reinterpret_cast<void*>(&no_call_begins), reinterpret_cast<void*>(&no_call_constructed),
                 reinterpret_cast<void*>(&no_call_ends));
  jni->DeleteGlobalRef(tracker_);
  tracker_ = nullptr;
}

void ModuleRewriter::destroy() {
  MemoryAccount& memory = *use_.memory;
  engine_destroy(engine_);
  first_lines_.destroy();
  this->~ModuleRewriter();
  memory.release(this, sizeof(ModuleRewriter));
}

hprof_status ModuleRewriter::set_flags(JNIEnv* jni, uint32_t probes, bool on, int64_t header_at) {
  if (tracker_ == nullptr || jni == nullptr) return HPROF_FAILED;
  if (on && (probes & HPROF_PROBE_ALLOCATIONS) != 0)
    jni->SetStaticLongField(tracker_, header_at_field_, static_cast<jlong>(header_at));
  for (uint32_t i = 0; i < kProbeUsers; i++) {
    if ((probes & asked_ & kProbeSwitches[i].probe) == 0 || switches_[i] == nullptr) continue;
    jni->SetStaticBooleanField(tracker_, switches_[i], on ? JNI_TRUE : JNI_FALSE);
  }
  return HPROF_OK;
}

// A thread that the VM does not know has neither JNIEnv nor reference. GetLongField may be wrong
// (hprof/cpp/field_reader.hpp), but takes a tenth of the time of a call of Java code.
uint64_t ModuleRewriter::thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const {
  if (!has_state(jni, thread)) return 0;
  if (guess != 0 && static_cast<uint64_t>(jni->GetLongField(thread, thread_field_)) == guess) return guess;
  jvalue argument = {};
  argument.l = thread;
  const jlong state = jni->CallStaticLongMethodA(tracker_, state_at_, &argument);
  if (!jni->ExceptionCheck()) return static_cast<uint64_t>(state);
  jni->ExceptionClear();
  return 0;
}

void ModuleRewriter::set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const {
  if (!has_state(jni, thread)) return;
  jni->SetLongField(thread, thread_field_, static_cast<jlong>(state));
}

void ModuleRewriter::store_state(JNIEnv* jni, jobject thread, uint64_t state) const {
  jni->SetLongField(thread, thread_field_, static_cast<jlong>(state));
}

uint32_t ModuleRewriter::first_line(uint32_t method) const {
  return (uint64_t{method} + 1) * sizeof(uint16_t) <= first_lines_.charged() ? *line_of(method) : 0;
}

void ModuleRewriter::totals(hprof_probe_totals* totals) const {
  EngineTotals all;
  engine_totals(engine_, &all);
  const hprof_probe_totals known = {sizeof(known),
                                    0,
                                    all.classes,
                                    all.classes_changed,
                                    all.bytes_read,
                                    all.methods,
                                    all.users[kMainUser].begun,
                                    all.users[kMainUser].leaves,
                                    all.allocations};
  hprof_copy_sized(totals, totals->size, &known, sizeof(known));
}

// Of classes and methods that are not to be timed there is nothing to say.
void ModuleRewriter::each_left(bool timed, void* argument,
                               void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
  if (timed && !is_timing()) return;
  EngineTotals all;
  engine_totals(engine_, &all);
  const EngineTotals::OfUser& of = all.users[timed ? kTimingUser : kMainUser];
  for (uint32_t i = static_cast<uint32_t>(Reason::kExcluded) + (timed ? 1 : 0); i < kReasonCount; i++) {
    if (all.classes_left[i] == 0 && of.methods_left[i] == 0) continue;
    visit(argument, reason_text(static_cast<Reason>(i)), all.classes_left[i], of.methods_left[i]);
  }
  if (timed) {
    if (refused_ != 0) visit(argument, "the VM does not change them", refused_, 0);
    return;
  }
  // without java.lang.Object
  if (passed_ > 1) visit(argument, "loaded before the probes", passed_ - 1, 0);
}

}  // namespace

Rewriter* make_rewriter(const RewriterUse& use) {
  void* memory = use.memory->allocate(sizeof(ModuleRewriter));
  return memory != nullptr ? new (memory) ModuleRewriter(use) : nullptr;
}

}  // namespace hprof
