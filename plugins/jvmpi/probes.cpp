#include "probes.h"

#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>

#include "bridge.h"

namespace hprof::jvmpi {

// Native methods of the tracker class. They may be called even after the bridge has ended.
jlong JNICALL Probes::call_begins(JNIEnv* jni, jclass, jint method) {
  Bridge* b = bridge();
  return b != nullptr && method > 0 ? static_cast<jlong>(b->probes.begin(jni, static_cast<uint32_t>(method)))
                                    : 0;
}

void JNICALL Probes::call_ends(JNIEnv* jni, jclass, jlong call, jboolean) {
  Bridge* b = bridge();
  if (b != nullptr && call != 0) b->probes.end(jni, reinterpret_cast<Call*>(static_cast<uintptr_t>(call)));
}

hprof_status Probes::ask_for(uint32_t probes) {
  const Services& services = bridge_.vm.services;
  hprof_probe_user user = {};
  user.size = sizeof(user);
  user.probes = probes;
  user.self = this;
  user.call_begins = reinterpret_cast<void*>(&call_begins);
  user.call_ends = reinterpret_cast<void*>(&call_ends);
  user.allocated = [](void* self, void* jni, void* object, uint64_t header) {
    static_cast<Probes*>(self)->allocated(static_cast<JNIEnv*>(jni), static_cast<jobject>(object), header);
  };
  objects_ = find_service<hprof_objects_service>(services.host, HPROF_SERVICE_OBJECTS);
  pages_ = services.allocate<std::atomic<Page*>>(kPages);
  if (pages_ == nullptr) return HPROF_NO_MEMORY;
  return services.bytecode != nullptr ? services.bytecode->ask(services.host, &user) : HPROF_UNSUPPORTED;
}

bool Probes::ask(uint32_t probes, char* error, uint32_t error_size) {
  if (probes == 0) return true;
  const hprof_status status = ask_for(probes);
  if (status != HPROF_OK) {
    TextBuffer(error, error_size)
        .add(status == HPROF_FAILED
                 ? "another collector has the probes that jvmpi= needs: cpu=times or heap=sites"
                 : "this VM or build has no probes: use jvmpi-methods=events, jvmpi-allocs=y");
    return false;
  }
  asked_ = probes;
  return true;
}

void Probes::ask_on_demand() {
  on_demand_ = ask_for(HPROF_PROBE_CALLS | HPROF_PROBE_ON_DEMAND) == HPROF_OK;
  if (on_demand_) asked_ = HPROF_PROBE_CALLS;
}

hprof_status Probes::start() {
  const Services& services = bridge_.vm.services;
  const uint32_t allocations = asked_ & HPROF_PROBE_ALLOCATIONS;
  header_.size = sizeof(header_);
  has_header_ = allocations != 0 && objects_ != nullptr &&
                HPROF_HAS(services.bytecode, hprof_bytecode_service, header_at) &&
                objects_->header(services.host, &header_) != 0;
  if (has_header_) services.bytecode->header_at(services.host, header_.at);
  if (allocations != 0 && services.bytecode->go(services.host, allocations) != HPROF_OK) return HPROF_FAILED;
  runs_.store(true, std::memory_order_seq_cst);
  if (has(HPROF_PROBE_CALLS) && !follow()) bridge_.set_modes();
  return HPROF_OK;
}

void Probes::stop() {
  const Services& services = bridge_.vm.services;
  runs_.store(false, std::memory_order_seq_cst);
  if (has(HPROF_PROBE_CALLS)) follow();
  const uint32_t allocations = asked_ & HPROF_PROBE_ALLOCATIONS;
  if (allocations != 0) services.bytecode->halt(services.host, allocations);
}

bool Probes::switch_calls(bool on) {
  if (!has(HPROF_PROBE_CALLS)) return false;
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
      are_on_ = services.bytecode->go(services.host, HPROF_PROBE_CALLS) == HPROF_OK;
      refused_.store(!are_on_, std::memory_order_relaxed);
      if (are_on_) were_put_in_.store(true, std::memory_order_relaxed);
      JNIEnv* jni = are_on_ ? bridge_.vm.jni() : nullptr;
      if (jni != nullptr) bridge_.classes.meet_hidden(jni);
    } else if (!on && are_on_) {
      services.bytecode->halt(services.host, HPROF_PROBE_CALLS);
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
  if (jvmti->GetFrameLocation(nullptr, HPROF_CALL_FRAMES, &id, &location) != JVMTI_ERROR_NONE ||
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
    if (HPROF_HAS(services.bytecode, hprof_bytecode_service, is_own_thread) &&
        services.bytecode->is_own_thread(services.host) != 0)
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
    b.method_of_receiver(jni, id, called->is_static.load(std::memory_order_relaxed) ? -1 : HPROF_CALL_FRAMES);
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
