#include "core/agent/vm/class_rewriter.h"

#include <cstring>

#include "core/agent/session/session_parts.h"
#include "core/base/atomic.h"
#include "core/base/scratch_text.h"
#include "core/model/class_names.h"
#include "core/model/model.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

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

hprof_status ClassRewriter::ask(const char* unit, const hprof_probe_user* user, uint32_t* number) {
  if (number == nullptr) return HPROF_FAILED;
  *number = 0;
  char text[400];
  TextWriter why(text, sizeof(text));
  why.put(unit).put(": ");
  constexpr const char* kHooks = "HPROF_NEED_CLASS_HOOKS";
  const auto refuse = [&](const char* lacks) {
    why.put("no probes without ").put(lacks);
    parts_->messages.say(parts_->messages.context, lacks != kHooks, text);
    return hprof_status{HPROF_UNSUPPORTED};
  };
  if (table_ == nullptr) return sits_out_ ? hprof_status{HPROF_OK} : refuse(kHooks);
  if (!table_->check(user, parts_->memory.functions(), &why)) {
    parts_->messages.message(text);
    return HPROF_FAILED;
  }
  if (sits_out_ || (comes_late_ && user->thread_field != nullptr)) return HPROF_OK;
  constexpr uint64_t kEarly = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  const hprof_settings& settings = parts_->settings;
  // JDK 8 has early class hooks without a capability.
  const bool early = settings.java_version < 9 || (settings.granted & kEarly) == kEarly;
  const auto has = [user](uint32_t flag) { return (user->flags & flag) != 0; };
  const bool on_demand = has(HPROF_PROBES_ON_DEMAND);
  if ((settings.granted & HPROF_NEED_CLASS_HOOKS) == 0) return refuse(kHooks);
  if (settings.attached != 0 && !has(HPROF_PROBES_ATTACHED)) return refuse("HPROF_PROBES_ATTACHED");
  if (!on_demand && !early && !comes_late_ && !has(HPROF_PROBES_LATE)) return refuse("early class hooks");
  if (count_ == kMostProbeUsers) {
    why.put("no more users of probes");
    parts_->messages.message(text);
    return HPROF_FAILED;
  }
  is_late_ = is_late_ || (!on_demand && !early);
  hprof_copy_sized(&users_[count_].asked, sizeof(hprof_probe_user), user, user->size);
  users_[count_].unit = unit;
  *number = ++count_;
  return HPROF_OK;
}

uint32_t ClassRewriter::count(uint32_t flag, bool with) const {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count_; i++) found += users_[i].has(flag) == with;
  return found;
}

bool ClassRewriter::adds_field() const {
  for (uint32_t i = 0; i < count_; i++) {
    if (users_[i].asked.thread_field != nullptr) return true;
  }
  return false;
}

hprof_status ClassRewriter::begin() {
  if (!is_asked()) return HPROF_OK;
  const hprof_status status = make_rewriter();
  if (status != HPROF_OK) return status;
  for (uint32_t i = 0; i < count_; i++) {
    if (!users_[i].has(HPROF_PROBES_ON_DEMAND)) made_->arm(positions_[i]);
  }
  active_.store(made_, std::memory_order_release);
  return HPROF_OK;
}

hprof_status ClassRewriter::make_rewriter() {
  ProbeUser sorted[kMostProbeUsers] = {};
  for (uint32_t i = 0; i < count_; i++) {
    positions_[i] = 0;
    for (uint32_t other = 0; other < count_; other++) {
      const int order = strcmp(users_[other].unit, users_[i].unit);
      positions_[i] += order < 0 || (order == 0 && other < i);
    }
    sorted[positions_[i]] = users_[i];
  }
  const RewriterUse use = {const_cast<SessionParts*>(parts_),
                           &parts_->memory,
                           &parts_->settings,
                           sorted,
                           count_,
                           parts_->model.limits().methods,
                           &class_serial,
                           &set_source,
                           &method,
                           &is_generated,
                           &hide_field,
                           parts_->messages};
  made_ = table_->make(use);
  return made_ != nullptr ? made_->make_engine() : hprof_status{HPROF_NO_MEMORY};
}

// Classes loaded earlier call the targets already, so the VM cannot start without them.
const char* ClassRewriter::on_vm_start(JNIEnv* jni) {
  if (!is_active() || made_->define_classes(jni)) return nullptr;
  return "the VM does not define the classes of the agent's probes";
}

void ClassRewriter::on_vm_init(JNIEnv* jni) { made_->prepare_classes(jni); }

void ClassRewriter::catch_up(jvmtiEnv* jvmti, JNIEnv* jni) {
  if (!made_->catch_up(jvmti, jni))
    parts_->messages.message(
        "java.lang.Object gets no probe: of its subclasses no objects are counted, only arrays");
}

hprof_status ClassRewriter::start(JNIEnv* jni, uint32_t number) {
  if (sits_out_ || (comes_late_ && number == 0)) return HPROF_OK;
  if (!is_user(number) || jni == nullptr) return HPROF_FAILED;
  if (users_[number - 1].has(HPROF_PROBES_ON_DEMAND)) {
    std::atomic<uint32_t>& demand = demands_[number - 1];
    uint32_t before = kNobody;
    if (demand.compare_exchange_strong(before, kBegun, std::memory_order_acq_rel)) {
      const hprof_status status = meet_demand(parts_->jvmti, jni, number);
      demand.store(status == HPROF_OK ? kMet : kRefused, std::memory_order_release);
      if (status != HPROF_OK) return status;
    } else if (before != kMet) {
      return HPROF_FAILED;
    }
  }
  return made_ != nullptr ? made_->set_live(jni, position(number), true) : hprof_status{HPROF_FAILED};
}

void ClassRewriter::stop(JNIEnv* jni, uint32_t number) {
  if (made_ != nullptr && is_user(number) && jni != nullptr) made_->set_live(jni, position(number), false);
}

// Defines the classes with targets before the first class calls them, unless other users have probes: then
// they are there.
hprof_status ClassRewriter::meet_demand(jvmtiEnv* jvmti, JNIEnv* jni, uint32_t number) {
  if (!is_asked()) {
    uint32_t before = kNobody;
    if (demand_.compare_exchange_strong(before, kBegun, std::memory_order_acq_rel)) {
      const bool done =
          make_rewriter() == HPROF_OK && made_->define_classes(jni) && made_->prepare_classes(jni);
      if (done) {
        active_.store(made_, std::memory_order_release);
        help_.see_files(help_.session);
      }
      demand_.store(done ? kMet : kRefused, std::memory_order_release);
    }
    if (demand_.load(std::memory_order_acquire) != kMet) return HPROF_FAILED;
  }
  if (!is_active()) return HPROF_FAILED;
  made_->arm(position(number));
  return made_->rewrite_loaded(jvmti, jni, position(number)) ? HPROF_OK : HPROF_NO_MEMORY;
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

void ClassRewriter::totals(uint32_t number, hprof_probe_totals* totals) const {
  if (is_active() && is_user(number)) return made_->totals(position(number), totals);
  const hprof_probe_totals none = {sizeof(none), 0, 0, 0, 0, 0, 0, 0, 0};
  hprof_copy_sized(totals, totals->size, &none, sizeof(none));
}

}  // namespace hprof
