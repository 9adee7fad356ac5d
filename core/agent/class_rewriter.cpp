#include "core/agent/class_rewriter.h"

#include <cstring>

#include "core/agent/jvmti_text.h"
#include "core/agent/session_parts.h"
#include "core/agent/thread_book.h"
#include "core/base/atomic.h"
#include "core/base/scratch_text.h"
#include "core/hotspot/hotspot.h"
#include "core/model/class_names.h"
#include "core/model/model.h"

namespace hprof {

namespace {

// Both replace enter() and exit().
constexpr uint32_t kEnters = HPROF_PROBE_METHODS | HPROF_PROBE_CALLS;

// Of users_.
constexpr uint32_t kOfMethods = user_of(HPROF_PROBE_METHODS);
constexpr uint32_t kOfAllocations = user_of(HPROF_PROBE_ALLOCATIONS);
constexpr uint32_t kOfCaught = user_of(kUserCaught);
constexpr uint32_t kOfMade = user_of(kUserMade);

jlong JNICALL no_call_begins(JNIEnv*, jclass, jint) { return 0; }
void JNICALL no_call_ends(JNIEnv*, jclass, jlong, jboolean) {}

Model& model_of(void* core) { return static_cast<const SessionParts*>(core)->model; }

uint32_t class_serial(void* core, Str signature, uint32_t loader, bool* has_source) {
  const ClassSerial serial = model_of(core).class_serial(signature, loader);
  const ClassInfo* info = model_of(core).class_info(serial);
  *has_source = info == nullptr || load_relaxed(&info->source) != 0;
  return raw(serial);
}

void set_source(void* core, uint32_t serial, Str source) {
  model_of(core).classes().set_source(ClassSerial{serial}, model_of(core).string(source));
}

uint32_t method(void* core, uint32_t owner, Str name, Str descriptor) {
  return raw(model_of(core).method(ClassSerial{owner}, name, descriptor));
}

bool is_generated(void* core, Str signature) {
  ScratchText stable(static_cast<const SessionParts*>(core)->memory, signature.size + 1);
  if (stable.data() == nullptr) return false;
  TextWriter to(stable.data(), signature.size + 1);
  return write_stable_signature(signature, to);
}

void hide_field(void* core, JNIEnv* jni, jclass owner, const char* field) {
  static_cast<const SessionParts*>(core)->hotspot.hide_field(jni, owner, field);
}

}  // namespace

std::atomic<CallNatives::Begins> CallNatives::begins{&no_call_begins};
std::atomic<CallNatives::Ends> CallNatives::ends{&no_call_ends};

hprof_status ClassRewriter::ask(const ProbeUser& user) {
  const bool timed = user.probes == (HPROF_PROBE_TIMED | HPROF_PROBE_ON_DEMAND);
  const bool on_demand = timed || user.probes == (HPROF_PROBE_CALLS | HPROF_PROBE_ON_DEMAND);
  if (sits_out_ && (timed || !on_demand)) return HPROF_OK;
  if (table_ == nullptr || (parts_->settings.attached != 0 && !timed)) return HPROF_UNSUPPORTED;
  constexpr uint64_t kEarly = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  // JDK 8 has early class hooks without a capability.
  const bool early = parts_->settings.java_version < 9 || (parts_->settings.granted & kEarly) == kEarly;
  if (!early && !on_demand && (user.probes & HPROF_PROBE_LATE) == 0) return HPROF_UNSUPPORTED;
  const uint32_t kinds = (user.probes & kUserExceptions) != 0 ? user.probes | kUserExceptions : user.probes;
  if ((kinds & ~kOfAskAlone) == 0 || ((asked_ | on_demand_.probes) & kinds) != 0) return HPROF_FAILED;
  if ((kinds & HPROF_PROBE_TIMED) != 0 && (!timed || user.number == nullptr)) return HPROF_FAILED;
  if (on_demand) {
    if ((parts_->settings.granted & HPROF_NEED_CLASS_HOOKS) == 0) return HPROF_UNSUPPORTED;
    if (!timed && may_rewrite()) return HPROF_FAILED;
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
  for (uint32_t i = 0; i < kProbeUsers; i++) {
    if ((user.probes & kProbeSwitches[i].probe) != 0) users_[i] = user;
  }
}

bool ClassRewriter::begin() {
  if (asked_ == 0) return true;
  if ((on_demand_.probes & HPROF_PROBE_TIMED) != 0) add_user(on_demand_);
  if (make_rewriter()) active_.store(made_, std::memory_order_release);
  return is_active();
}

bool ClassRewriter::make_rewriter() {
  const RewriterUse use = {const_cast<SessionParts*>(parts_),
                           &parts_->memory,
                           &parts_->settings,
                           users_,
                           parts_->model.limits().methods,
                           &class_serial,
                           &set_source,
                           &method,
                           &is_generated,
                           &hide_field};
  made_ = table_->make(use);
  return made_ != nullptr && made_->make_engine(asked_);
}

// Classes loaded earlier call the tracker already, so the VM cannot start without it.
const char* ClassRewriter::on_vm_start(JNIEnv* jni) {
  if (!is_active() || made_->define_tracker(jni)) return nullptr;
  return "the VM does not define the agent's tracker class";
}

void ClassRewriter::on_vm_init(JNIEnv* jni) {
  if (!made_->prepare_tracker(parts_->jvmti, jni))
    parts_->messages.message("the tracker class could not be made: methods and allocations are not counted");
}

void ClassRewriter::catch_up(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (!made_->catch_up(jvmti, jni))
    parts_->messages.message(
        "java.lang.Object gets no probe: of its subclasses no objects are counted, only arrays");
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

// Defines the tracker before the first class calls it. Beside other probes it is there, and only classes that
// were loaded before these have none.
hprof_status ClassRewriter::meet_demand(jvmtiEnv* jvmti, JNIEnv* jni) {
  if ((asked_ & HPROF_PROBE_TIMED) != 0) {
    if (!is_active()) return HPROF_FAILED;
    return !is_late_ || made_->rewrite_loaded(jvmti, jni) ? HPROF_OK : HPROF_NO_MEMORY;
  }
  if (asked_ != 0 || !help_.is_alone(help_.session)) return HPROF_FAILED;
  add_user(on_demand_);
  if (!make_rewriter() || !made_->define_tracker(jni) || !made_->prepare_tracker(jvmti, jni))
    return HPROF_FAILED;
  active_.store(made_, std::memory_order_release);
  help_.see_files(help_.session);
  return made_->rewrite_loaded(jvmti, jni) ? HPROF_OK : HPROF_NO_MEMORY;
}

hprof_status ClassRewriter::set_flags(JNIEnv* jni, uint32_t probes, bool on) {
  if (sits_out_) return HPROF_OK;
  return made_ != nullptr ? made_->set_flags(jni, probes, on, header_at_) : hprof_status{HPROF_FAILED};
}

uint32_t ClassRewriter::frame(uint32_t method, bool entry) const {
  Model& model = parts_->model;
  if (method == 0) return raw(model.synthetic_frame(Str("JVM"), Str("method_without_number")));
  const bool has_line = entry && parts_->settings.line_numbers != 0 && made_ != nullptr;
  const uint32_t line = has_line ? made_->first_line(method) : 0;
  return raw(model.frame(MethodId{method}, line != 0 ? static_cast<int32_t>(line) : HPROF_LINE_UNKNOWN));
}

bool ClassRewriter::undo(JNIEnv* jni, int64_t deadline_ns) {
  if (!is_active() || !can_undo()) return true;
  if (jni == nullptr) return false;
  active_.store(nullptr, std::memory_order_seq_cst);
  made_->undo(parts_->jvmti, jni);
  while (visits_.load(std::memory_order_seq_cst) != 0) {
    if (platform::monotonic_ns() > deadline_ns) return false;
    platform::sleep_ns(platform::kNanosPerMilli);
  }
  is_undone_ = true;
  return true;
}

void ClassRewriter::destroy() {
  if (!is_undone_) return;
  made_->destroy();
  made_ = nullptr;
}

void ClassRewriter::totals(hprof_probe_totals* totals) const {
  if (is_active()) return made_->totals(totals);
  const hprof_probe_totals none = {sizeof(none), 0, 0, 0, 0, 0, 0, 0, 0};
  hprof_copy_sized(totals, totals->size, &none, sizeof(none));
}

// The Thread object of a starting thread is not complete, so only IsVirtualThread is called. The agent's own
// threads are known by then and are not counted.
jlong ClassRewriter::attach(JNIEnv* jni, jobject thread) {
  const ProbeUser& user = users_[kOfMethods];
  if (thread == nullptr || user.attach == nullptr) return 0;
  bool is_virtual = is_virtual_thread(jni, thread);
  if (!is_virtual && parts_->threads.is_agent()) return 0;
  uint64_t os_id = is_virtual ? 0 : static_cast<uint64_t>(platform::current_thread_id());
  uint64_t word = user.attach(user.self, jni, thread, is_virtual ? 1 : 0, os_id);
  if (word != 0) made_->store_state(jni, thread, word);
  return static_cast<jlong>(word);
}

jlong ClassRewriter::miss(jlong state, jlong node, jint method) {
  const ProbeUser& user = users_[kOfMethods];
  if (state == 0 || user.miss == nullptr) return 0;
  return static_cast<jlong>(user.miss(user.self, static_cast<uint64_t>(state), static_cast<uint64_t>(node),
                                      static_cast<uint32_t>(method)));
}

void ClassRewriter::release(jlong state) {
  const ProbeUser& user = users_[kOfMethods];
  if (state != 0 && user.release != nullptr) user.release(user.self, static_cast<uint64_t>(state));
}

void ClassRewriter::allocated(JNIEnv* jni, jobject object, jlong header) {
  const ProbeUser& user = users_[kOfAllocations];
  if (object == nullptr) return;
  if (user.allocated != nullptr) {
    user.allocated(user.self, jni, object, static_cast<uint64_t>(header));
  } else if (user.new_object != nullptr && !parts_->threads.is_agent()) {
    user.new_object(user.self, jni, object);
  }
}

void ClassRewriter::caught(JNIEnv* jni, jobject exception, jint method) {
  const ProbeUser& user = users_[kOfCaught];
  if (exception != nullptr && user.caught != nullptr && !parts_->threads.is_agent())
    user.caught(user.self, jni, exception, static_cast<uint32_t>(method));
}

void ClassRewriter::made(JNIEnv* jni, jobject exception) {
  const ProbeUser& user = users_[kOfMade];
  if (exception != nullptr && user.made != nullptr && !parts_->threads.is_agent())
    user.made(user.self, jni, exception);
}

}  // namespace hprof
