#include <cstring>
#include <initializer_list>
#include <new>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/base/region.h"
#include "core/base/scratch_text.h"
#include "core/bytecode/debug_info.h"
#include "core/bytecode/engine.h"
#include "core/modules/bytecode/make_rewriter.h"

namespace hprof {

namespace {

constexpr size_t kScratchLimit = 16u << 20;
constexpr uint32_t kDefineTries = 3;
constexpr const char* kThreadClass = "java/lang/Thread";
constexpr const char* kThreadField = "$hq";
constexpr uint32_t kFirstPreviewVirtual = 19;  // JDK with virtual threads as a preview
constexpr uint32_t kFirstVirtual = 21;         // and without

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

bool matches_any(const char* patterns, Str name) {
  Str rest(patterns);
  Str pattern;
  while (next_part(&rest, ':', &pattern)) {
    if (!pattern.empty() && matches(pattern, name)) return true;
  }
  return false;
}

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
  bool prepare_tracker(JNIEnv* jni) override;
  void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) override { passed_ = count_classes(jvmti, jni); }
  bool catch_up(jvmtiEnv* jvmti, JNIEnv* jni) override;
  bool rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni) override;
  hprof_status set_flags(JNIEnv* jni, uint32_t probes, bool on, int64_t header_at) override;
  uint64_t thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const override;
  void set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const override;
  void store_state(JNIEnv* jni, jobject thread, uint64_t state) const override;
  uint32_t first_line(uint32_t method) const override;
  void totals(hprof_probe_totals* totals) const override;
  void each_left(void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) const override;

 private:
  bool wants(uint32_t probe, Span class_name) const;
  bool find_fields(JNIEnv* jni, jclass tracker);
  bool has_state(JNIEnv* jni, jobject thread) const {
    return tracker_ != nullptr && thread_field_ != nullptr && jni != nullptr && thread != nullptr;
  }
  static bool include_class(void* self, Span name, uint16_t access);
  static uint32_t include_method(void* self, const MethodSite& site, uint32_t probes);
  static int32_t method_id(void* self, const MethodSite& site);
  uint32_t class_of(const MethodSite& site);
  int32_t number(const MethodSite& site);
  bool is_generated(Span class_name) const;
  uint16_t* line_of(uint32_t method) const {
    return reinterpret_cast<uint16_t*>(first_lines_.base()) + method;
  }

  RewriterUse use_;
  Engine* engine_ = nullptr;
  uint32_t asked_ = 0;
  uint64_t passed_ = 0;       // classes loaded before class files were seen
  Region first_lines_;        // by method id
  jclass tracker_ = nullptr;  // global references and ids, from VMInit on
  jfieldID thread_field_ = nullptr;
  jmethodID state_at_ = nullptr;
  jfieldID switches_[kProbeUsers] = {};  // static boolean fields
  jfieldID header_at_field_ = nullptr;
  jfieldID carriers_field_ = nullptr;
};

bool ModuleRewriter::make_engine(uint32_t asked) {
  asked_ = asked;
  EngineUse use;
  if ((asked_ & HPROF_PROBE_METHODS) != 0) {
    use.probes.probes |= kProbesOfTimes & ~static_cast<uint32_t>(kProbeUnwind);
    use.probes.field = {kThreadClass, kThreadField, "J", 0};
    const bool virtuals = use_.settings->java_version >= kFirstPreviewVirtual;
    if (!virtuals && (asked_ & HPROF_PROBE_CLOCK) == 0) use.probes.tracker.exit = "exitQuickly";
  }
  if ((asked_ & HPROF_PROBE_CALLS) != 0) {
    use.probes.probes |= kProbeEnter | kProbeExit | kProbeUnwind;
    use.probes.tracker.enter = "enterCall";
    use.probes.tracker.exit = "exitCall";
    use.probes.tracker.unwind = "unwindCall";
  }
  if ((asked_ & HPROF_PROBE_ALLOCATIONS) != 0) use.probes.probes |= kProbesOfSites;
  if ((asked_ & kUserCaught) != 0) use.probes.probes |= kProbeCaught;
  if ((asked_ & kUserMade) != 0) use.probes.probes |= kProbeMade;
  use.probes.context = this;
  use.probes.include_class = &ModuleRewriter::include_class;
  use.probes.include_method = &ModuleRewriter::include_method;
  use.probes.method_id = &ModuleRewriter::method_id;
  use.memory = use_.memory->functions();
  use.scratch_limit = kScratchLimit;
  use.internal_unsafe = use_.settings->java_version >= 9;
  // Without this memory, frames have no lines.
  first_lines_.create(*use_.memory, (uint64_t{use_.most_methods} + 1) * sizeof(uint16_t), Backing::kLazy);
  engine_ = engine_create(use);
  return engine_ != nullptr;
}

bool ModuleRewriter::wants(uint32_t probe, Span class_name) const {
  if ((asked_ & probe) == 0) return false;
  uint32_t at = 0;
  while (kProbeSwitches[at].probe != probe) at++;
  const ProbeUser& user = use_.users[at];
  Str text = str_of(class_name);
  if (user.include != nullptr && user.include[0] != '\0' && !matches_any(user.include, text)) return false;
  return user.exclude == nullptr || !matches_any(user.exclude, text);
}

// java.lang.Thread gets its field, and Throwable its probe, whatever the patterns say.
bool ModuleRewriter::include_class(void* self, Span name, uint16_t) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  if ((rewriter->asked_ & HPROF_PROBE_ALLOCATIONS) != 0 || name.equals(kThreadClass)) return true;
  if ((rewriter->asked_ & kUserMade) != 0 && name.equals("java/lang/Throwable")) return true;
  for (uint32_t probe : {HPROF_PROBE_METHODS, HPROF_PROBE_CALLS, kUserCaught}) {
    if (rewriter->wants(probe, name)) return true;
  }
  return false;
}

uint32_t ModuleRewriter::include_method(void* self, const MethodSite& site, uint32_t probes) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  if (!rewriter->wants(HPROF_PROBE_METHODS, site.class_name) &&
      !rewriter->wants(HPROF_PROBE_CALLS, site.class_name))
    probes &= ~kProbesOfTimes;
  // JDK 8's compilers do not support an exception handler in Object.<init>. Classes that the VM generates
  // share method numbers by stable name, but users of calls need the exact method.
  if ((rewriter->asked_ & HPROF_PROBE_CALLS) != 0 &&
      ((site.class_name.equals("java/lang/Object") && site.name.equals("<init>")) ||
       rewriter->is_generated(site.class_name)))
    probes &= ~kProbesOfTimes;
  if (!rewriter->wants(kUserCaught, site.class_name)) probes &= ~static_cast<uint32_t>(kProbeCaught);
  return probes;
}

int32_t ModuleRewriter::method_id(void* self, const MethodSite& site) {
  return static_cast<ModuleRewriter*>(self)->number(site);
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
  const NewClass made =
      engine_rewrite(engine_, {bytes, static_cast<uint32_t>(size)}, loader, jvmti, &allocate);
  if (made.bytes == nullptr) return;
  *new_bytes = made.bytes;
  *new_size = static_cast<jint>(made.size);
}

bool ModuleRewriter::define_tracker(JNIEnv* jni) {
  const char* name = nullptr;
  Span bytes;
  for (uint32_t i = 0; engine_tracker(engine_, i, &name, &bytes); i++) {
    jclass made = nullptr;
    for (uint32_t tries = 0; made == nullptr && tries < kDefineTries; tries++) {
      made = jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data),
                              static_cast<jsize>(bytes.size));
      clear_exception(jni);
    }
    if (made == nullptr) return false;
    jni->DeleteLocalRef(made);
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

bool ModuleRewriter::prepare_tracker(JNIEnv* jni) {
  jclass tracker = jni->FindClass("java/lang/HprofTracker");
  jclass thread = jni->FindClass(kThreadClass);
  if (tracker != nullptr && thread != nullptr) {
    const bool has_fields = find_fields(jni, tracker);
    if ((asked_ & HPROF_PROBE_METHODS) != 0) thread_field_ = jni->GetFieldID(thread, kThreadField, "J");
    clear_exception(jni);
    if (thread_field_ != nullptr) use_.hide_field(use_.core, jni, thread, kThreadField);
    jmethodID prime = jni->GetStaticMethodID(tracker, "prime", "()V");
    state_at_ = jni->GetStaticMethodID(tracker, "stateAt", "(Ljava/lang/Thread;)J");
    if (prime != nullptr) jni->CallStaticVoidMethod(tracker, prime);
    bool primed = prime != nullptr && !jni->ExceptionCheck();
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
      jboolean can = JNI_FALSE;
      if (jvmti->IsModifiableClass(classes[i], &can) != JVMTI_ERROR_NONE || can == JNI_FALSE) continue;
      auto* kept = static_cast<jclass>(jni->NewGlobalRef(classes[i]));
      if (kept != nullptr) classes[taken++] = kept;
    }
  }
  for (jint i = 0; i < taken; i += kPiece)
    passed_ += retransform(jvmti, classes + i, taken - i < kPiece ? taken - i : kPiece);
  for (jint i = 0; i < taken; i++) jni->DeleteGlobalRef(classes[i]);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return true;
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
  const hprof_probe_totals known = {sizeof(known),  0,           all.classes, all.classes_changed,
                                    all.bytes_read, all.methods, all.entered, all.leaves,
                                    all.allocations};
  hprof_copy_sized(totals, totals->size, &known, sizeof(known));
}

void ModuleRewriter::each_left(void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
  EngineTotals all;
  engine_totals(engine_, &all);
  for (uint32_t i = static_cast<uint32_t>(Reason::kExcluded); i < kReasonCount; i++) {
    if (all.classes_left[i] == 0 && all.methods_left[i] == 0) continue;
    visit(argument, reason_text(static_cast<Reason>(i)), all.classes_left[i], all.methods_left[i]);
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
