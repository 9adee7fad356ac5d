#include "core/agent/class_rewriter.h"

#include <cstring>
#include <initializer_list>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/agent/jvmti_text.h"
#include "core/agent/session_parts.h"
#include "core/agent/thread_book.h"
#include "core/base/atomic.h"
#include "core/base/memory_account.h"
#include "core/hotspot/hotspot.h"
#include "core/model/class_names.h"
#include "core/model/model.h"
#include "core/model/scratch_text.h"

namespace hprof {

namespace {

constexpr size_t kScratchLimit = 16u << 20;
constexpr uint32_t kDefineTries = 3;
constexpr const char* kThreadClass = "java/lang/Thread";
constexpr const char* kThreadField = "$hq";

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

// The probes that users can request, and the tracker's field that enables each.
struct Switch {
  uint32_t probe;
  const char* field;
};
constexpr Switch kSwitches[] = {
    {HPROF_PROBE_METHODS, "live"}, {HPROF_PROBE_ALLOCATIONS, "sites"}, {kUserCaught, "catching"},
    {kUserMade, "making"},         {HPROF_PROBE_CALLS, "calling"},
};
// Both replace enter() and exit().
constexpr uint32_t kEnters = HPROF_PROBE_METHODS | HPROF_PROBE_CALLS;
constexpr uint32_t kOfAskAlone = HPROF_PROBE_LATE | HPROF_PROBE_ON_DEMAND;
constexpr uint32_t kFirstPreviewVirtual = 19;  // JDK with virtual threads as a preview
constexpr uint32_t kFirstVirtual = 21;         // and without

jlong JNICALL no_call_begins(JNIEnv*, jclass, jint) { return 0; }
void JNICALL no_call_ends(JNIEnv*, jclass, jlong, jboolean) {}

}  // namespace

std::atomic<CallNatives::Begins> CallNatives::begins{&no_call_begins};
std::atomic<CallNatives::Ends> CallNatives::ends{&no_call_ends};

hprof_status ClassRewriter::ask(const ProbeUser& user) {
  const bool on_demand = user.probes == (HPROF_PROBE_CALLS | HPROF_PROBE_ON_DEMAND);
  if (sits_out_ && !on_demand) return HPROF_OK;
  if (table_ == nullptr || parts_->settings.attached != 0) return HPROF_UNSUPPORTED;
  constexpr uint64_t kEarly = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  // JDK 8 has early class hooks without a capability.
  const bool early = parts_->settings.java_version < 9 || (parts_->settings.granted & kEarly) == kEarly;
  if (!early && !on_demand && (user.probes & HPROF_PROBE_LATE) == 0) return HPROF_UNSUPPORTED;
  const uint32_t kinds = (user.probes & kUserExceptions) != 0 ? user.probes | kUserExceptions : user.probes;
  if ((kinds & ~kOfAskAlone) == 0 || ((asked_ | on_demand_.probes) & kinds) != 0) return HPROF_FAILED;
  if (on_demand) {
    if ((parts_->settings.granted & HPROF_NEED_CLASS_HOOKS) == 0) return HPROF_UNSUPPORTED;
    if (may_rewrite()) return HPROF_FAILED;
    on_demand_ = user;
    return HPROF_OK;
  }
  if (((asked_ | user.probes) & kEnters) == kEnters) return HPROF_FAILED;
  is_late_ = is_late_ || !early;
  add_user(user);
  return HPROF_OK;
}

void ClassRewriter::add_user(const ProbeUser& user) {
  if ((user.probes & HPROF_PROBE_CALLS) != 0 && user.call_begins != nullptr && user.call_ends != nullptr) {
    CallNatives::begins.store(reinterpret_cast<CallNatives::Begins>(user.call_begins),
                              std::memory_order_release);
    CallNatives::ends.store(reinterpret_cast<CallNatives::Ends>(user.call_ends), std::memory_order_release);
  }
  asked_ |= user.probes & ~kOfAskAlone;
  static_assert(sizeof kSwitches / sizeof kSwitches[0] == kUsers, "a user for each");
  for (const Switch& row : kSwitches) {
    if ((user.probes & row.probe) != 0) user_of(row.probe) = user;
  }
}

const ProbeUser& ClassRewriter::user_of(uint32_t probe) const {
  uint32_t at = 0;
  while (kSwitches[at].probe != probe) at++;
  return users_[at];
}

ProbeUser& ClassRewriter::user_of(uint32_t probe) {
  return const_cast<ProbeUser&>(static_cast<const ClassRewriter*>(this)->user_of(probe));
}

bool ClassRewriter::begin() {
  if (asked_ == 0) return true;
  engine_.store(make_engine(), std::memory_order_release);
  return is_active();
}

Engine* ClassRewriter::make_engine() {
  EngineUse use;
  if ((asked_ & HPROF_PROBE_METHODS) != 0) {
    use.probes.probes |= kProbesOfTimes & ~static_cast<uint32_t>(kProbeUnwind);
    use.probes.field = {kThreadClass, kThreadField, "J", 0};
    const bool virtuals = parts_->settings.java_version >= kFirstPreviewVirtual;
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
  use.probes.include_class = &ClassRewriter::include_class;
  use.probes.include_method = &ClassRewriter::include_method;
  use.probes.method_id = &ClassRewriter::method_id;
  use.memory = parts_->memory.functions();
  use.scratch_limit = kScratchLimit;
  use.internal_unsafe = parts_->settings.java_version >= 9;
  // Without this memory, frames have no lines.
  first_lines_.create(parts_->memory, (uint64_t{parts_->model.limits().methods} + 1) * sizeof(uint16_t),
                      Backing::kLazy);
  return table_->create(use);
}

bool ClassRewriter::wants(uint32_t probe, Span class_name) const {
  if ((asked_ & probe) == 0) return false;
  const ProbeUser& user = user_of(probe);
  Str text = str_of(class_name);
  if (user.include != nullptr && user.include[0] != '\0' && !matches_any(user.include, text)) return false;
  return user.exclude == nullptr || !matches_any(user.exclude, text);
}

// java.lang.Thread gets its field, and Throwable its probe, whatever the patterns say.
bool ClassRewriter::include_class(void* self, Span name, uint16_t) {
  auto* rewriter = static_cast<ClassRewriter*>(self);
  if ((rewriter->asked_ & HPROF_PROBE_ALLOCATIONS) != 0 || name.equals(kThreadClass)) return true;
  if ((rewriter->asked_ & kUserMade) != 0 && name.equals("java/lang/Throwable")) return true;
  for (uint32_t probe : {HPROF_PROBE_METHODS, HPROF_PROBE_CALLS, kUserCaught}) {
    if (rewriter->wants(probe, name)) return true;
  }
  return false;
}

uint32_t ClassRewriter::include_method(void* self, const MethodSite& site, uint32_t probes) {
  auto* rewriter = static_cast<ClassRewriter*>(self);
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

int32_t ClassRewriter::method_id(void* self, const MethodSite& site) {
  return static_cast<ClassRewriter*>(self)->number(site);
}

namespace {

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

}  // namespace

bool ClassRewriter::is_generated(Span class_name) const {
  const Signature signature(parts_->memory, class_name);
  ScratchText stable(parts_->memory, class_name.size + 3);
  if (stable.data() == nullptr) return false;
  TextWriter to(stable.data(), class_name.size + 3);
  return write_stable_signature(signature.str(), to);
}

ClassSerial ClassRewriter::serial_of(const MethodSite& site) {
  const Signature signature(parts_->memory, site.class_name);
  if (signature.str().empty()) return ClassSerial::kNone;
  Model& model = parts_->model;
  const ClassSerial owner = model.class_serial(signature.str(), site.loader);
  const ClassInfo* info = model.class_info(owner);
  if (info != nullptr && load_relaxed(&info->source) == 0 && site.view != nullptr) {
    Span source = table_->source_file(site);
    if (source.size != 0) model.classes().set_source(owner, model.string(str_of(source)));
  }
  return owner;
}

// 0: the model is full; the plugin gets an unknown method, and reports that.
int32_t ClassRewriter::number(const MethodSite& site) {
  Model& model = parts_->model;
  ClassSerial owner{site.note != nullptr ? *site.note : 0};
  if (owner == ClassSerial::kNone) owner = serial_of(site);
  if (site.note != nullptr) *site.note = raw(owner);
  uint32_t id = raw(model.method(owner, str_of(site.name), str_of(site.descriptor)));
  if (id != 0 && site.view != nullptr && first_lines_.cover((uint64_t{id} + 1) * sizeof(uint16_t)) &&
      *first_line(id) == 0) {
    *first_line(id) = static_cast<uint16_t>(table_->first_line(site));
  }
  return static_cast<int32_t>(id);
}

void ClassRewriter::class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes,
                               jint* new_size, unsigned char** new_bytes) {
  Engine* engine = engine_.load(std::memory_order_acquire);
  if (engine == nullptr || size <= 0) return;
  NewClass made = table_->rewrite(engine, {bytes, static_cast<uint32_t>(size)}, loader, jvmti, &allocate);
  if (made.bytes == nullptr) return;
  *new_bytes = made.bytes;
  *new_size = static_cast<jint>(made.size);
}

// Defines the tracker in java.lang of the boot loader, which classes of every loader can reach. Classes
// loaded earlier call it already, so the VM cannot start without it.
const char* ClassRewriter::on_vm_start(JNIEnv* jni) {
  if (!is_active() || define_tracker(jni, engine_)) return nullptr;
  return "the VM does not define the agent's tracker class";
}

bool ClassRewriter::define_tracker(JNIEnv* jni, const Engine* engine) {
  const char* name = nullptr;
  Span bytes;
  for (uint32_t i = 0; table_->tracker(engine, i, &name, &bytes); i++) {
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

bool ClassRewriter::find_fields(JNIEnv* jni, jclass tracker) {
  bool has_all = true;
  for (uint32_t i = 0; i < kUsers; i++) {
    switches_[i] = jni->GetStaticFieldID(tracker, kSwitches[i].field, "Z");
    clear_exception(jni);
    has_all = has_all && switches_[i] != nullptr;
  }
  header_at_field_ = jni->GetStaticFieldID(tracker, "headerAt", "J");
  clear_exception(jni);
  carriers_field_ = jni->GetStaticFieldID(tracker, "carriers", "Z");
  clear_exception(jni);
  return has_all && header_at_field_ != nullptr && carriers_field_ != nullptr;
}

// Calls the native methods once while probes are off: the first call of each runs Java code of the JDK, which
// has probes.
void ClassRewriter::on_vm_init(JNIEnv* jni) {
  if (!prepare_tracker(jni))
    parts_->messages.message("the tracker class could not be made: methods and allocations are not counted");
}

bool ClassRewriter::prepare_tracker(JNIEnv* jni) {
  jclass tracker = jni->FindClass("java/lang/HprofTracker");
  jclass thread = jni->FindClass(kThreadClass);
  if (tracker != nullptr && thread != nullptr) {
    const bool has_fields = find_fields(jni, tracker);
    if ((asked_ & HPROF_PROBE_METHODS) != 0) thread_field_ = jni->GetFieldID(thread, kThreadField, "J");
    clear_exception(jni);
    if (thread_field_ != nullptr) parts_->hotspot.hide_field(jni, thread, kThreadField);
    jmethodID prime = jni->GetStaticMethodID(tracker, "prime", "()V");
    state_at_ = jni->GetStaticMethodID(tracker, "stateAt", "(Ljava/lang/Thread;)J");
    if (prime != nullptr) jni->CallStaticVoidMethod(tracker, prime);
    bool primed = prime != nullptr && !jni->ExceptionCheck();
    clear_exception(jni);
    bool has_field =
        (asked_ & HPROF_PROBE_METHODS) == 0 || (thread_field_ != nullptr && state_at_ != nullptr);
    if (primed && has_field && has_fields) {
      const bool carriers = parts_->settings.java_version >= kFirstVirtual;
      jni->SetStaticBooleanField(tracker, carriers_field_, carriers ? JNI_TRUE : JNI_FALSE);
      tracker_ = static_cast<jclass>(jni->NewGlobalRef(tracker));
    }
  }
  clear_exception(jni);
  if (tracker != nullptr) jni->DeleteLocalRef(tracker);
  if (thread != nullptr) jni->DeleteLocalRef(thread);
  return tracker_ != nullptr;
}

// Retransforms java.lang.Object, whose constructor all others call, also those of archived classes. Other
// loaded classes are not changed.
void ClassRewriter::catch_up(jvmtiEnv* jvmti, JNIEnv* jni) {
  jclass object = jni->FindClass("java/lang/Object");
  if (object == nullptr || jvmti->RetransformClasses(1, &object) != JVMTI_ERROR_NONE)
    parts_->messages.message(
        "java.lang.Object gets no probe: of its subclasses no objects are counted, only arrays");
  clear_exception(jni);
  if (object != nullptr) jni->DeleteLocalRef(object);
}

hprof_status ClassRewriter::go(JNIEnv* jni, uint32_t probes) {
  if ((on_demand_.probes & probes) != 0) {
    uint32_t before = kNobody;
    if (demand_.compare_exchange_strong(before, kBegun, std::memory_order_acq_rel)) {
      const hprof_status status =
          jni != nullptr ? meet_demand(parts_->jvmti, jni) : hprof_status{HPROF_FAILED};
      demand_.store(status == HPROF_OK ? kMet : kRefused, std::memory_order_release);
      if (status != HPROF_OK) return status;
    } else if (before != kMet) {
      return HPROF_FAILED;
    }
  }
  return set_flags(jni, probes, true);
}

// Defines the tracker before the first class calls it.
hprof_status ClassRewriter::meet_demand(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (asked_ != 0 || !help_.is_alone(help_.session)) return HPROF_FAILED;
  add_user(on_demand_);
  Engine* engine = make_engine();
  if (engine == nullptr || !define_tracker(jni, engine) || !prepare_tracker(jni)) return HPROF_FAILED;
  engine_.store(engine, std::memory_order_release);
  help_.see_files(help_.session);
  return rewrite_loaded(jvmti, jni) ? HPROF_OK : HPROF_NO_MEMORY;
}

// Retransforms classes; the VM does all or none, so if it refuses, each half is tried. Returns how many were
// refused.
static uint64_t retransform(jvmtiEnv* jvmti, const jclass* classes, jint count) {
  if (count == 0 || jvmti->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return 0;
  if (count == 1) return 1;
  return retransform(jvmti, classes, count / 2) + retransform(jvmti, classes + count / 2, count - count / 2);
}

// Retransforms in batches, with a safepoint each, and by global references: the VM calls back on this thread
// meanwhile, with room for few local ones.
bool ClassRewriter::rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni) {
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

void ClassRewriter::count_passed(jvmtiEnv* jvmti, JNIEnv* jni) { passed_ = count_classes(jvmti, jni); }

hprof_status ClassRewriter::set_flags(JNIEnv* jni, uint32_t probes, bool on) {
  if (sits_out_) return HPROF_OK;
  if (tracker_ == nullptr || jni == nullptr) return HPROF_FAILED;
  if (on && (probes & HPROF_PROBE_ALLOCATIONS) != 0)
    jni->SetStaticLongField(tracker_, header_at_field_, static_cast<jlong>(header_at_));
  for (uint32_t i = 0; i < kUsers; i++) {
    if ((probes & asked_ & kSwitches[i].probe) == 0 || switches_[i] == nullptr) continue;
    jni->SetStaticBooleanField(tracker_, switches_[i], on ? JNI_TRUE : JNI_FALSE);
  }
  return HPROF_OK;
}

// A thread that the VM does not know has neither JNIEnv nor reference. GetLongField may be wrong
// (hprof/cpp/field_reader.hpp), but takes a tenth of the time of a call of Java code.
uint64_t ClassRewriter::thread_state(JNIEnv* jni, jobject thread, uint64_t guess) const {
  if (tracker_ == nullptr || thread_field_ == nullptr || jni == nullptr || thread == nullptr) return 0;
  if (guess != 0 && static_cast<uint64_t>(jni->GetLongField(thread, thread_field_)) == guess) return guess;
  jvalue argument = {};
  argument.l = thread;
  const jlong state = jni->CallStaticLongMethodA(tracker_, state_at_, &argument);
  if (!jni->ExceptionCheck()) return static_cast<uint64_t>(state);
  jni->ExceptionClear();
  return 0;
}

void ClassRewriter::set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const {
  if (tracker_ == nullptr || thread_field_ == nullptr || jni == nullptr || thread == nullptr) return;
  jni->SetLongField(thread, thread_field_, static_cast<jlong>(state));
}

uint32_t ClassRewriter::frame(uint32_t method, bool entry) const {
  Model& model = parts_->model;
  int32_t line = HPROF_LINE_UNKNOWN;
  const bool known = entry && parts_->settings.line_numbers != 0 &&
                     (uint64_t{method} + 1) * sizeof(uint16_t) <= first_lines_.charged() &&
                     *first_line(method) != 0;
  if (known) line = *first_line(method);
  if (method == 0) return raw(model.synthetic_frame(Str("JVM"), Str("method_without_number")));
  return raw(model.frame(MethodId{method}, line));
}

void ClassRewriter::totals(hprof_probe_totals* totals) const {
  EngineTotals all = {};
  if (is_active()) table_->totals(engine_, &all);
  const hprof_probe_totals known = {sizeof(known),  0,           all.classes, all.classes_changed,
                                    all.bytes_read, all.methods, all.entered, all.leaves,
                                    all.allocations};
  hprof_copy_sized(totals, totals->size, &known, sizeof(known));
}

void ClassRewriter::each_left(void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
  if (!is_active()) return;
  EngineTotals all;
  table_->totals(engine_, &all);
  for (uint32_t i = static_cast<uint32_t>(Reason::kExcluded); i < kReasonCount; i++) {
    if (all.classes_left[i] == 0 && all.methods_left[i] == 0) continue;
    visit(argument, table_->reason(static_cast<Reason>(i)), all.classes_left[i], all.methods_left[i]);
  }
  // without java.lang.Object
  if (passed_ > 1) visit(argument, "loaded before the probes", passed_ - 1, 0);
}

// The Thread object of a starting thread is not complete, so only IsVirtualThread is called. The agent's own
// threads are known by then and are not counted.
jlong ClassRewriter::attach(JNIEnv* jni, jobject thread) {
  if (thread == nullptr || user_of(HPROF_PROBE_METHODS).attach == nullptr) return 0;
  bool is_virtual = is_virtual_thread(jni, thread);
  if (!is_virtual && parts_->threads.is_agent()) return 0;
  uint64_t os_id = is_virtual ? 0 : static_cast<uint64_t>(platform::current_thread_id());
  const ProbeUser& user = user_of(HPROF_PROBE_METHODS);
  uint64_t word = user.attach(user.self, jni, thread, is_virtual ? 1 : 0, os_id);
  if (word != 0) jni->SetLongField(thread, thread_field_, static_cast<jlong>(word));
  return static_cast<jlong>(word);
}

jlong ClassRewriter::miss(jlong state, jlong node, jint method) {
  if (state == 0 || user_of(HPROF_PROBE_METHODS).miss == nullptr) return 0;
  return static_cast<jlong>(user_of(HPROF_PROBE_METHODS)
                                .miss(user_of(HPROF_PROBE_METHODS).self, static_cast<uint64_t>(state),
                                      static_cast<uint64_t>(node), static_cast<uint32_t>(method)));
}

void ClassRewriter::release(jlong state) {
  if (state != 0 && user_of(HPROF_PROBE_METHODS).release != nullptr)
    user_of(HPROF_PROBE_METHODS).release(user_of(HPROF_PROBE_METHODS).self, static_cast<uint64_t>(state));
}

void ClassRewriter::allocated(JNIEnv* jni, jobject object, jlong header) {
  const ProbeUser& user = users_[1];
  if (object == nullptr) return;
  if (user.allocated != nullptr) {
    user.allocated(user.self, jni, object, static_cast<uint64_t>(header));
  } else if (user.new_object != nullptr && !parts_->threads.is_agent()) {
    user.new_object(user.self, jni, object);
  }
}

void ClassRewriter::caught(JNIEnv* jni, jobject exception, jint method) {
  const ProbeUser& user = user_of(kUserCaught);
  if (exception != nullptr && user.caught != nullptr && !parts_->threads.is_agent())
    user.caught(user.self, jni, exception, static_cast<uint32_t>(method));
}

void ClassRewriter::made(JNIEnv* jni, jobject exception) {
  const ProbeUser& user = user_of(kUserMade);
  if (exception != nullptr && user.made != nullptr && !parts_->threads.is_agent())
    user.made(user.self, jni, exception);
}

}  // namespace hprof
