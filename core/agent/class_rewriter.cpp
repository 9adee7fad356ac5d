#include "core/agent/class_rewriter.h"

#include <cstring>

#include "core/agent/jvmti_text.h"
#include "core/agent/session.h"

namespace hprof {

namespace {

constexpr size_t kScratchLimit = 16u << 20;
constexpr const char* kThreadClass = "java/lang/Thread";

Str str_of(Span text) { return Str(reinterpret_cast<const char*>(text.data), text.size); }

// The pattern has dots or slashes; the name slashes.
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

void clear_exception(JNIEnv* jni) {
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

}  // namespace

hprof_status ClassRewriter::ask(const hprof_probe_user* user) {
  if (table_ == nullptr || session_->settings().attached != 0) return HPROF_UNSUPPORTED;
  constexpr uint64_t kEarly = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  // JDK 8 hooks early without being asked to.
  if (session_->settings().java_version >= 9 && (session_->settings().granted & kEarly) != kEarly)
    return HPROF_UNSUPPORTED;
  if ((asked_ & user->probes) != 0) return HPROF_FAILED;
  asked_ |= user->probes;
  if ((user->probes & HPROF_PROBE_METHODS) != 0) methods_ = *user;
  if ((user->probes & HPROF_PROBE_ALLOCATIONS) != 0) allocations_ = *user;
  return HPROF_OK;
}

bool ClassRewriter::begin() {
  if (asked_ == 0) return true;
  EngineUse use;
  if ((asked_ & HPROF_PROBE_METHODS) != 0) {
    use.probes.probes |= kProbesOfTimes & ~static_cast<uint32_t>(kProbeUnwind);
    use.probes.field = {kThreadClass, "$hq", "J", 0};
    if ((asked_ & HPROF_PROBE_CLOCK) != 0) {
      use.probes.tracker.enter = "enterClock";
      use.probes.tracker.exit = "exitClock";
      use.probes.tracker.sync = "syncClock";
    }
  }
  if ((asked_ & HPROF_PROBE_ALLOCATIONS) != 0) use.probes.probes |= kProbesOfSites;
  use.probes.context = this;
  use.probes.include_class = &ClassRewriter::include_class;
  use.probes.include_method = &ClassRewriter::include_method;
  use.probes.method_id = &ClassRewriter::method_id;
  use.memory = session_->memory().functions();
  use.scratch_limit = kScratchLimit;
  engine_ = table_->create(use);
  first_line_count_ = session_->model().limits().methods + 1;
  first_lines_ = static_cast<uint16_t*>(session_->memory().reserve(first_line_count_ * sizeof(uint16_t)));
  return engine_ != nullptr;
}

bool ClassRewriter::wants_methods(Span name) const {
  Str text = str_of(name);
  if (methods_.include != nullptr && methods_.include[0] != '\0' && !matches_any(methods_.include, text))
    return false;
  return methods_.exclude == nullptr || !matches_any(methods_.exclude, text);
}

// Thread gets its field whatever the patterns say.
bool ClassRewriter::include_class(void* self, Span name, uint16_t) {
  auto* rewriter = static_cast<ClassRewriter*>(self);
  return (rewriter->asked_ & HPROF_PROBE_ALLOCATIONS) != 0 || name.equals(kThreadClass) ||
         rewriter->wants_methods(name);
}

uint32_t ClassRewriter::include_method(void* self, const MethodSite& site, uint32_t probes) {
  return static_cast<ClassRewriter*>(self)->wants_methods(site.class_name) ? probes : probes & kProbesOfSites;
}

int32_t ClassRewriter::method_id(void* self, const MethodSite& site) {
  return static_cast<ClassRewriter*>(self)->number(site);
}

// 0 when the model is full: the plugin is asked for a method that nobody knows, and says so in the report.
int32_t ClassRewriter::number(const MethodSite& site) {
  char signature[512];
  if (site.class_name.size + 3 > sizeof(signature)) return 0;
  signature[0] = 'L';
  memcpy(signature + 1, site.class_name.data, site.class_name.size);
  signature[site.class_name.size + 1] = ';';
  Model& model = session_->model();
  ClassSerial owner = model.class_serial(Str(signature, site.class_name.size + 2), 0);
  const hprof_class_info* info = model.class_info(owner);
  if (info != nullptr && info->source == 0 && site.view != nullptr) {
    Span source = table_->source_file(site);
    if (source.size != 0) model.classes().set_source(owner, model.string(str_of(source)));
  }
  uint32_t id = raw(model.method(owner, str_of(site.name), str_of(site.descriptor)));
  if (id != 0 && id < first_line_count_ && first_lines_ != nullptr && first_lines_[id] == 0 &&
      site.view != nullptr) {
    first_lines_[id] = static_cast<uint16_t>(table_->first_line(site));
  }
  return static_cast<int32_t>(id);
}

void ClassRewriter::class_file(jvmtiEnv* jvmti, jint size, const unsigned char* bytes, jint* new_size,
                               unsigned char** new_bytes) {
  if (engine_ == nullptr || size <= 0) return;
  NewClass made = table_->rewrite(engine_, {bytes, static_cast<uint32_t>(size)}, jvmti, &allocate);
  if (made.bytes == nullptr) return;
  *new_bytes = made.bytes;
  *new_size = static_cast<jint>(made.size);
}

// Of the boot loader, in java.lang: the one place that classes of every loader can reach.
void ClassRewriter::on_vm_start(JNIEnv* jni) {
  if (engine_ == nullptr) return;
  const char* name = nullptr;
  Span bytes;
  bool internal_unsafe = session_->settings().java_version >= 9;
  for (uint32_t i = 0; table_->tracker(engine_, i, internal_unsafe, &name, &bytes); i++) {
    jclass made = jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data),
                                   static_cast<jsize>(bytes.size));
    clear_exception(jni);
    if (made != nullptr) jni->DeleteLocalRef(made);
  }
}

// A native method is looked up by Java code of the JDK when it is first called: that is done here, once,
// while the probes in that code do nothing yet.
void ClassRewriter::on_vm_init(JNIEnv* jni) {
  if (engine_ == nullptr) return;
  jclass tracker = jni->FindClass("java/lang/HprofTracker");
  jclass thread = jni->FindClass(kThreadClass);
  if (tracker != nullptr && thread != nullptr) {
    live_ = jni->GetStaticFieldID(tracker, "live", "Z");
    cpu_ = jni->GetStaticFieldID(tracker, "cpu", "Z");
    sites_ = jni->GetStaticFieldID(tracker, "sites", "Z");
    clear_exception(jni);
    header_at_field_ = jni->GetStaticFieldID(tracker, "headerAt", "J");
    clear_exception(jni);
    if ((asked_ & HPROF_PROBE_METHODS) != 0) thread_field_ = jni->GetFieldID(thread, "$hq", "J");
    clear_exception(jni);
    jmethodID prime = jni->GetStaticMethodID(tracker, "prime", "()V");
    if (prime != nullptr) jni->CallStaticVoidMethod(tracker, prime);
    bool primed = prime != nullptr && !jni->ExceptionCheck();
    clear_exception(jni);
    bool has_field = (asked_ & HPROF_PROBE_METHODS) == 0 || thread_field_ != nullptr;
    if (primed && has_field && live_ != nullptr && cpu_ != nullptr && sites_ != nullptr &&
        header_at_field_ != nullptr)
      tracker_ = static_cast<jclass>(jni->NewGlobalRef(tracker));
  }
  clear_exception(jni);
  if (tracker != nullptr) jni->DeleteLocalRef(tracker);
  if (thread != nullptr) jni->DeleteLocalRef(thread);
  if (tracker_ == nullptr)
    session_->say("the tracker class could not be made: methods and allocations are not counted");
}

hprof_status ClassRewriter::set_flags(JNIEnv* jni, uint32_t probes, bool on) {
  if (tracker_ == nullptr || jni == nullptr) return HPROF_FAILED;
  jboolean value = on ? JNI_TRUE : JNI_FALSE;
  if ((asked_ & HPROF_PROBE_CPU_CLOCK) != 0) jni->SetStaticBooleanField(tracker_, cpu_, JNI_TRUE);
  if ((probes & HPROF_PROBE_METHODS) != 0) jni->SetStaticBooleanField(tracker_, live_, value);
  if ((probes & HPROF_PROBE_ALLOCATIONS) != 0) {
    if (on) jni->SetStaticLongField(tracker_, header_at_field_, static_cast<jlong>(header_at_));
    jni->SetStaticBooleanField(tracker_, sites_, value);
  }
  return HPROF_OK;
}

uint64_t ClassRewriter::thread_state(JNIEnv* jni, jobject thread) const {
  if (tracker_ == nullptr || thread_field_ == nullptr) return 0;
  return static_cast<uint64_t>(jni->GetLongField(thread, thread_field_));
}

void ClassRewriter::set_thread_state(JNIEnv* jni, jobject thread, uint64_t state) const {
  if (tracker_ == nullptr || thread_field_ == nullptr) return;
  jni->SetLongField(thread, thread_field_, static_cast<jlong>(state));
}

uint32_t ClassRewriter::frame(uint32_t method, bool entry) const {
  Model& model = session_->model();
  int32_t line = HPROF_LINE_UNKNOWN;
  bool known = entry && session_->settings().line_numbers != 0 && first_lines_ != nullptr &&
               method < first_line_count_ && first_lines_[method] != 0;
  if (known) line = first_lines_[method];
  if (method == 0) return raw(model.synthetic_frame(Str("JVM"), Str("method_without_number")));
  return raw(model.frame(MethodId{method}, line));
}

void ClassRewriter::totals(hprof_probe_totals* totals) const {
  *totals = {};
  totals->size = sizeof(*totals);
  if (engine_ == nullptr) return;
  EngineTotals all;
  table_->totals(engine_, &all);
  totals->classes = all.classes;
  totals->classes_changed = all.classes_changed;
  totals->bytes_read = all.bytes_read;
  totals->methods = all.methods;
  totals->methods_probed = all.entered;
  totals->leaves = all.leaves;
  totals->allocations = all.allocations;
}

void ClassRewriter::each_left(void* argument, void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
  if (engine_ == nullptr) return;
  EngineTotals all;
  table_->totals(engine_, &all);
  for (uint32_t i = static_cast<uint32_t>(Reason::kExcluded); i < kReasonCount; i++) {
    if (all.classes_left[i] == 0 && all.methods_left[i] == 0) continue;
    visit(argument, table_->reason(static_cast<Reason>(i)), all.classes_left[i], all.methods_left[i]);
  }
}

// A thread that is being made has no proper Thread object yet, so nothing is asked of it but whether it is
// virtual. The agent's own threads are known by then and not counted.
jlong ClassRewriter::attach(JNIEnv* jni, jobject thread) {
  if (thread == nullptr || methods_.attach == nullptr) return 0;
  bool is_virtual = is_virtual_thread(jni, thread);
  if (!is_virtual && session_->threads().is_agent()) return 0;
  uint64_t os_id = is_virtual ? 0 : static_cast<uint64_t>(platform::current_thread_id());
  uint64_t state = methods_.attach(methods_.self, is_virtual ? 1 : 0, os_id);
  if (state != 0) jni->SetLongField(thread, thread_field_, static_cast<jlong>(state));
  return static_cast<jlong>(state);
}

jlong ClassRewriter::miss(jlong state, jlong node, jint method) {
  if (state == 0 || methods_.miss == nullptr) return 0;
  return static_cast<jlong>(methods_.miss(methods_.self, static_cast<uint64_t>(state),
                                          static_cast<uint64_t>(node), static_cast<uint32_t>(method)));
}

void ClassRewriter::release(jlong state) {
  if (state != 0 && methods_.release != nullptr)
    methods_.release(methods_.self, static_cast<uint64_t>(state));
}

void ClassRewriter::allocated(JNIEnv* jni, jobject object, jlong header) {
  if (object != nullptr && allocations_.allocated != nullptr)
    allocations_.allocated(allocations_.self, jni, object, static_cast<uint64_t>(header));
}

}  // namespace hprof
