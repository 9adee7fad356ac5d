#include "probes.h"

#include <hprof/collector.h>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>

#include "bridge.h"
#include "java_classes.h"

namespace hprof::jvmpi {

constexpr const char* kTargetClass = "java/lang/HprofJvmpi";

// Targets may be called even after the bridge has ended.
jlong JNICALL Probes::call_begins(JNIEnv* jni, jclass, jlong, jint method) {
  Bridge* b = bridge();
  return b != nullptr && method > 0 ? static_cast<jlong>(b->probes.begin(jni, static_cast<uint32_t>(method)))
                                    : 0;
}

void JNICALL Probes::call_ends(JNIEnv* jni, jclass, jlong, jlong call) {
  Bridge* b = bridge();
  if (b != nullptr && call != 0) b->probes.end(jni, reinterpret_cast<Call*>(static_cast<uintptr_t>(call)));
}

void JNICALL Probes::object_made(JNIEnv* jni, jclass, jobject object, jlong header) {
  Bridge* b = bridge();
  if (b != nullptr && object != nullptr) b->probes.allocated(jni, object, static_cast<uint64_t>(header));
}

hprof_status Probes::ask_for_calls(uint32_t flags) {
  static const hprof_target kTargets[] = {
      {HPROF_POINT_BEGIN, 0, nullptr, reinterpret_cast<void (*)()>(&call_begins)},
      {HPROF_POINT_END, 0, nullptr, reinterpret_cast<void (*)()>(&call_ends)},
      {HPROF_POINT_UNWIND, 0, nullptr, reinterpret_cast<void (*)()>(&call_ends)}};
  const Services& services = bridge_.vm.services;
  hprof_probe_user user = {};
  user.size = sizeof(user);
  user.flags = flags | HPROF_PROBES_NO_GENERATED | HPROF_PROBES_PLATFORM;
  user.targets = kTargets;
  user.target_count = 3;
  pages_ = services.allocate<std::atomic<Page*>>(kPages);
  if (pages_ == nullptr) return HPROF_NO_MEMORY;
  return services.probes != nullptr ? services.probes->ask(services.host, &user, &calls_) : HPROF_UNSUPPORTED;
}

hprof_status Probes::ask_for_allocations() {
  static constexpr hprof_target kTargets[] = {{HPROF_POINT_OBJECT, 0, "allocated", nullptr},
                                              {HPROF_POINT_ARRAYS, 0, "allocatedArrays", nullptr}};
  static const hprof_native kNatives[] = {
      {"allocatedObject", "(Ljava/lang/Object;J)V", reinterpret_cast<void (*)()>(&object_made)}};
  static const hprof_probe_class kClasses[] = {
      {kTargetClass, kHprofJvmpi, sizeof kHprofJvmpi, 1, kNatives},
      {"java/lang/HprofJvmpiMemory", kHprofJvmpiMemory, sizeof kHprofJvmpiMemory, 0, nullptr}};
  const Services& services = bridge_.vm.services;
  hprof_probe_user user = {};
  user.size = sizeof(user);
  user.targets = kTargets;
  user.target_count = 2;
  user.classes = kClasses;
  user.class_count = 2;
  user.live = "live";
  user.prime = "prime";
  objects_ = find_service<hprof_objects_service>(services.host, HPROF_SERVICE_OBJECTS);
  return services.probes != nullptr ? services.probes->ask(services.host, &user, &allocations_)
                                    : HPROF_UNSUPPORTED;
}

bool Probes::ask(bool calls, bool allocations, char* error, uint32_t error_size) {
  if ((!calls || ask_for_calls(0) == HPROF_OK) && (!allocations || ask_for_allocations() == HPROF_OK))
    return true;
  TextBuffer(error, error_size)
      .add("this VM or build has no probes: use jvmpi-methods=events, jvmpi-allocs=y");
  return false;
}

void Probes::ask_on_demand() { on_demand_ = ask_for_calls(HPROF_PROBES_ON_DEMAND) == HPROF_OK; }

void Probes::set_header_at() const {
  JNIEnv* jni = bridge_.vm.jni();
  Local<jclass> targets(jni, jni != nullptr ? jni->FindClass(kTargetClass) : nullptr);
  if (targets == nullptr) return;
  jfieldID at = without_exception(jni, jni->GetStaticFieldID(targets, "headerAt", "J"));
  if (at != nullptr) jni->SetStaticLongField(targets, at, static_cast<jlong>(header_.at));
}

hprof_status Probes::start() {
  const Services& services = bridge_.vm.services;
  header_.size = sizeof(header_);
  has_header_ = has_allocations() && objects_ != nullptr && objects_->header(services.host, &header_) != 0;
  if (has_header_) set_header_at();
  if (has_allocations() && services.probes->start(services.host, allocations_) != HPROF_OK)
    return HPROF_FAILED;
  runs_.store(true, std::memory_order_seq_cst);
  if (has_calls() && !follow()) bridge_.set_modes();
  return HPROF_OK;
}

void Probes::stop() {
  const Services& services = bridge_.vm.services;
  runs_.store(false, std::memory_order_seq_cst);
  if (has_calls()) follow();
  if (has_allocations()) services.probes->stop(services.host, allocations_);
}

bool Probes::switch_calls(bool on) {
  if (!has_calls()) return false;
  wanted_.store(on, std::memory_order_seq_cst);
  return follow();
}

// One thread at a time does this, which may take long; others leave it to that thread, which checks again.
bool Probes::follow() {
  const Services& services = bridge_.vm.services;
  bool on = false;
  do {
    if (refused_.load(std::memory_order_relaxed)) return false;
    if (follows_.exchange(true, std::memory_order_seq_cst)) return true;
    on = wanted_.load(std::memory_order_seq_cst) && runs_.load(std::memory_order_seq_cst);
    if (on && !are_on_) {
      are_on_ = services.probes->start(services.host, calls_) == HPROF_OK;
      refused_.store(!are_on_, std::memory_order_relaxed);
      if (are_on_) were_put_in_.store(true, std::memory_order_relaxed);
      JNIEnv* jni = are_on_ ? bridge_.vm.jni() : nullptr;
      if (jni != nullptr) bridge_.classes.meet_hidden(jni);
    } else if (!on && are_on_) {
      services.probes->stop(services.host, calls_);
      are_on_ = false;
    }
    follows_.store(false, std::memory_order_seq_cst);
  } while (on != (wanted_.load(std::memory_order_seq_cst) && runs_.load(std::memory_order_seq_cst)));
  return !refused_.load(std::memory_order_relaxed);
}

void Probes::close() {
  const Services& services = bridge_.vm.services;
  for (uint32_t i = 0; pages_ != nullptr && i < kPages; i++)
    services.release(pages_[i].load(std::memory_order_relaxed), 1);
  services.release(pages_, kPages);
  pages_ = nullptr;
}

// Reads the method from the stack at its first call. Null: no memory, or the VM does not tell.
CalledMethod* Probes::make_method(uint32_t number) {
  constexpr jint kAccStatic = 0x0008;
  if (number >> kPageBits >= kPages) return nullptr;
  const Services& services = bridge_.vm.services;
  std::atomic<Page*>& page = pages_[number >> kPageBits];
  if (page.load(std::memory_order_acquire) == nullptr) {
    Page* fresh = services.allocate<Page>(1);
    Page* none = nullptr;
    if (fresh != nullptr && !page.compare_exchange_strong(none, fresh, std::memory_order_acq_rel))
      services.release(fresh, 1);
  }
  CalledMethod* made = method(number);
  if (made == nullptr || made->id.load(std::memory_order_acquire) != nullptr) return made;
  jmethodID id = nullptr;
  jlocation location = 0;
  jint modifiers = 0;
  jvmtiEnv* jvmti = bridge_.vm.jvmti;
  if (jvmti->GetFrameLocation(nullptr, static_cast<jint>(services.probes->frames), &id, &location) !=
          JVMTI_ERROR_NONE ||
      jvmti->GetMethodModifiers(id, &modifiers) != JVMTI_ERROR_NONE)
    return nullptr;
  made->is_static.store((modifiers & kAccStatic) != 0, std::memory_order_relaxed);
  made->id.store(id, std::memory_order_release);
  return made;
}

// Reports the thread and the method's class, if the agent wants that. False: this thread is not reported.
bool Probes::meet(JNIEnv* jni, ThreadEntry* thread, CalledMethod* method) {
  Bridge& b = bridge_;
  const Services& services = b.vm.services;
  const uint32_t round = b.notifier.round();
  if (thread->met.load(std::memory_order_relaxed) != round) {
    if ((services.probes->thread(services.host, jni, nullptr, nullptr) & HPROF_THREAD_AGENT) != 0)
      return false;
    b.notifier.meet(&thread->own);
    b.threads.tell_current(jni);
    thread->met.store(round, std::memory_order_relaxed);
  }
  jmethodID id = method->id.load(std::memory_order_relaxed);
  if (method->met.load(std::memory_order_relaxed) == round) return true;
  b.objects.tell_class_of(jni, id);
  if (!b.notifier.is_on(JVMPI_EVENT_CLASS_LOAD) || b.classes.is_told_of(id))
    method->met.store(round, std::memory_order_relaxed);
  return true;
}

// Makes calls and appends them to the thread's last one.
bool Probes::make_calls(ThreadEntry* thread) {
  constexpr uint32_t kCalls = 128;
  Call* more = bridge_.vm.services.allocate<Call>(kCalls);
  if (more == nullptr) return false;
  for (uint32_t i = 0; i < kCalls; i++)
    more[i] = {i + 1 < kCalls ? &more[i + 1] : nullptr, i != 0 ? &more[i - 1] : thread->last_call, thread,
               nullptr};
  (thread->last_call != nullptr ? thread->last_call->above : thread->first_call) = more;
  thread->last_call = &more[kCalls - 1];
  thread->next_call = more;
  return true;
}

ThreadEntry* Probes::see(JNIEnv* jni) {
  ThreadEntry* thread = bridge_.threads.current(jni);
  if (thread == nullptr) return nullptr;
  thread->env = jni;
  seen(jni)->store(thread, std::memory_order_release);
  return thread;
}

inline Call* Probes::push(ThreadEntry* thread, CalledMethod* method) {
  Call* call = thread->next_call;
  call->method = method;
  thread->next_call = call->above;
  return call;
}

// Rare cases are out of line, so that few registers are saved on the stack.
uint64_t Probes::begin(JNIEnv* jni, uint32_t number) {
  Notifier& n = bridge_.notifier;
  const uint32_t round = n.round();
  if ((round & Notifier::kCalls) == 0) return 0;
  ThreadEntry* thread = seen(jni)->load(std::memory_order_acquire);
  CalledMethod* called = method(number);
  if (thread == nullptr || thread->env != jni || called == nullptr || thread->next_call == nullptr ||
      thread->met.load(std::memory_order_relaxed) != round ||
      called->met.load(std::memory_order_relaxed) != round || (round & Notifier::kEntry2) != 0)
    return begin_first(jni, number, round);
  Call* call = push(thread, called);
  if ((round & Notifier::kEntry) != 0)
    n.send_call(called->id.load(std::memory_order_relaxed), JVMPI_EVENT_METHOD_ENTRY, Notifier::kEntry, jni,
                &thread->own);
  return reinterpret_cast<uintptr_t>(call);
}

// Handles a new thread or method, and events with the receiver.
uint64_t Probes::begin_first(JNIEnv* jni, uint32_t number, uint32_t round) {
  Bridge& b = bridge_;
  ThreadEntry* thread = seen(jni)->load(std::memory_order_acquire);
  if ((thread == nullptr || thread->env != jni) && (thread = see(jni)) == nullptr) return 0;
  CalledMethod* called = make_method(number);
  if (called == nullptr || !meet(jni, thread, called)) return 0;
  if (thread->next_call == nullptr && !make_calls(thread)) return 0;
  Call* call = push(thread, called);
  jmethodID id = called->id.load(std::memory_order_relaxed);
  if ((round & Notifier::kEntry) != 0)
    b.notifier.send_call(id, JVMPI_EVENT_METHOD_ENTRY, Notifier::kEntry, jni, &thread->own);
  if ((round & Notifier::kEntry2) != 0)
    b.method_of_receiver(jni, id,
                         called->is_static.load(std::memory_order_relaxed)
                             ? -1
                             : static_cast<jint>(b.vm.services.probes->frames));
  return reinterpret_cast<uintptr_t>(call);
}

void Probes::end(JNIEnv* jni, Call* call) {
  Notifier& n = bridge_.notifier;
  const uint32_t round = n.round();
  ThreadEntry* thread = call->thread;
  CalledMethod* called = call->method;
  if (thread->next_call != call->above || thread->met.load(std::memory_order_relaxed) != round ||
      called->met.load(std::memory_order_relaxed) != round)
    return end_unseen(jni, call);
  thread->next_call = call;
  if ((round & Notifier::kExit) != 0)
    n.send_call(called->id.load(std::memory_order_relaxed), JVMPI_EVENT_METHOD_EXIT, Notifier::kExit, jni,
                &thread->own);
}

// Ends the calls above, whose ends were not seen. A call above the thread's current one has ended already.
void Probes::end_unseen(JNIEnv* jni, Call* call) {
  ThreadEntry* thread = call->thread;
  Call* top = call;
  while (top != nullptr && top->above != thread->next_call) top = top->above;
  while (top != nullptr) {
    Call* ends = top;
    top = ends != call ? ends->below : nullptr;
    thread->next_call = ends;
    leave(jni, *ends);
  }
}

void Probes::leave(JNIEnv* jni, const Call& call) {
  Notifier& n = bridge_.notifier;
  if ((n.round() & Notifier::kExit) == 0 || !meet(jni, call.thread, call.method)) return;
  n.send_call(call.method->id.load(std::memory_order_relaxed), JVMPI_EVENT_METHOD_EXIT, Notifier::kExit, jni,
              &call.thread->own);
}

// An object that METHOD_ENTRY2 has named, or a walk over the heap, has an id already.
void Probes::allocated(JNIEnv* jni, jobject object, uint64_t header) {
  Bridge& b = bridge_;
  if (!b.is_live() || !b.notifier.is_on(JVMPI_EVENT_OBJECT_ALLOC)) return;
  const uint32_t round = b.notifier.round();
  const uint64_t key = has_header_ && header != 0 ? hprof_class_key(&header_, header) : 0;
  ThreadEntry* thread = seen(jni)->load(std::memory_order_acquire);
  if (key == 0 || thread == nullptr || thread->env != jni || thread->allocated == nullptr ||
      thread->walks != b.ids.walks() || b.notifier.is_on(JVMPI_EVENT_METHOD_ENTRY2))
    return allocated_first(jni, object, key, round);
  const AllocatedClass& of = thread->allocated[mix(0, key) >> 56];
  if (of.key != key || of.round != round || of.epoch != b.ids.classes_epoch())
    return allocated_first(jni, object, key, round);
  jlong size = of.size;
  if (of.kind != JVMPI_NORMAL_OBJECT) {
    if (header_.length_shift == 0) return allocated_first(jni, object, 0, round);
    size = static_cast<jlong>(hprof_array_size(&header_, header, of.size));
  }
  b.objects.allocated_again(jni, object, of, size);
}

void Probes::allocated_first(JNIEnv* jni, jobject object, uint64_t key, uint32_t round) {
  Bridge& b = bridge_;
  const uint32_t walks = b.ids.walks(), epoch = b.ids.classes_epoch();
  jlong size = 0;
  if (b.vm.jvmti->GetObjectSize(object, &size) != JVMTI_ERROR_NONE) return;
  b.threads.tell_current(jni);
  Local<jclass> cls(jni, jni->GetObjectClass(object));
  b.objects.allocated(jni, object, cls, size);
  ThreadEntry* thread = key != 0 ? see(jni) : nullptr;
  if (thread == nullptr) return;
  thread->walks = walks;
  if (thread->allocated == nullptr)
    thread->allocated = b.vm.services.allocate<AllocatedClass>(kAllocatedClasses);
  AllocatedClass of = {key, 0, round, epoch, 0, 0};
  if (thread->allocated != nullptr && b.objects.describe(jni, cls, size, header_.reference_shift, &of))
    thread->allocated[mix(0, key) >> 56] = of;
}

}  // namespace hprof::jvmpi
