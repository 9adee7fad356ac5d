#include "core/modules/hotspot/thread_contexts.h"

#include <hprof/cpp/byte_order.hpp>
#include <hprof/cpp/jni_exception.hpp>

namespace hprof {

const char* ThreadContexts::find_ids(HotSpot& hotspot, JNIEnv* jni, jthread current, uint64_t thread) {
  if (!hotspot.is_on(Item::kMountedIds)) return nullptr;
  const int64_t owner = hotspot.structs().offset("JavaThread", "_monitor_owner_id");
  const int64_t object = hotspot.structs().offset("JavaThread", "_vthread");
  if (owner < 0 && object < 0) return "the VM does not say where they are";
  if (thread == 0) return "the JavaThread is not known";
  Key key = Key::kOwner;
  from_env_ = to_thread_ + static_cast<uint64_t>(owner);
  if (owner < 0) {
    if (hotspot.flags().is_on("ZGenerational")) return "this collector's references are no addresses";
    if (!hotspot.hold_guard()) return "there is no guard against memory faults";
    FieldReader<jlong> ids;
    if (!ids.open(jni, "java/lang/Thread", "tid")) return "the VM does not say where they are";
    id_at_ = static_cast<uint64_t>(ids.offset());
    from_env_ = to_thread_ + static_cast<uint64_t>(object);
    key = Key::kObject;
  }
  key_.store(key, std::memory_order_release);
  return key_of(jni) == id_of(jni, current) ? nullptr : "that of the calling thread was wrong";
}

uint64_t ThreadContexts::id_of(JNIEnv* jni, jobject thread) const {
  const jlong id = jni->CallLongMethod(thread, thread_id_);
  clear_exception(jni);
  return static_cast<uint64_t>(id);
}

uint64_t ThreadContexts::bytes_of(uint64_t budget) {
  uint64_t slots = kMostSlots;
  while (budget != 0 && slots > kFewestSlots && slots * sizeof(Slots::Slot) > budget / kShare) slots /= 2;
  return slots * sizeof(Slots::Slot);
}

bool ThreadContexts::open(HotSpot& hotspot, JNIEnv* jni, jthread current, uint64_t thread, uint64_t bytes) {
  if (room_ == nullptr) {
    room_ = static_cast<Slots::Slot*>(platform::reserve_lazy(bytes));
    if (room_ == nullptr) return false;
    slots_.use(room_, static_cast<uint32_t>(bytes / sizeof(Slots::Slot)));
  }
  slots_.forget();
  return is_open_ = find_mounted(hotspot, jni, current, thread);
}

// False: no memory.
bool ThreadContexts::find_mounted(HotSpot& hotspot, JNIEnv* jni, jthread current, uint64_t thread) {
  proofs_.store(0, std::memory_order_relaxed);
  wrong_.store(0, std::memory_order_relaxed);
  to_thread_ = thread - reinterpret_cast<uintptr_t>(jni);
  why_ = nullptr;
  if (hotspot.java_version() < kFirstWithIds) {
    key_.store(Key::kEnv, std::memory_order_release);
    hotspot.settle(Item::kMountedIds, "this VM has no virtual threads");
    return true;
  }
  jclass type = without_exception(jni, jni->FindClass("java/lang/Thread"));
  const int64_t entry = hotspot.structs().offset("JavaThread", "_cont_entry");
  const int64_t own = hotspot.structs().offset("JavaThread", "_threadObj");
  own_from_env_ = own < 0 || thread == 0 ? 0 : to_thread_ + static_cast<uint64_t>(own);
  continuation_from_env_ = entry < 0 || thread == 0 ? 0 : to_thread_ + static_cast<uint64_t>(entry);
  thread_id_ = type != nullptr ? without_exception(jni, jni->GetMethodID(type, "threadId", "()J")) : nullptr;
  if (thread_id_ == nullptr) return false;
  why_ = find_ids(hotspot, jni, current, thread);
  if (hotspot.settle(Item::kMountedIds, why_)) return true;
  key_.store(Key::kUnknown, std::memory_order_release);
  if (why_ == nullptr) why_ = hotspot.why_off(Item::kMountedIds);
  return true;
}

// A collector that moves the object meanwhile changes the handle, too, so it is read again.
uint64_t ThreadContexts::id_in_object(const void* env) const {
  constexpr uint32_t kTries = 3;
  uint64_t id = 0;
  const auto handle = of_env<const void*>(env, from_env_);
  const bool fine = handle != nullptr && guarded([&] {
                      const auto* object = guarded_read<const void*>(handle);
                      for (uint32_t i = 0; object != nullptr && i < kTries; i++) {
                        id = guarded_read<uint64_t>(object, id_at_);
                        const auto* now = guarded_read<const void*>(handle);
                        if (now == object) return;
                        object = now;
                      }
                    });
  return fine ? id : 0;
}

// A collector may move the object meanwhile, so some may be wrong.
void ThreadContexts::prove(const void* env, uint64_t thread) {
  const uint32_t proofs = proofs_.load(std::memory_order_relaxed);
  if (proofs >= kProofs) return;
  proofs_.store(proofs + 1, std::memory_order_relaxed);
  if (key_of(env) == thread) return;
  const uint32_t wrong = wrong_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (wrong >= kFewest && wrong > proofs / 4) key_.store(Key::kUnknown, std::memory_order_release);
}

hprof_status ThreadContexts::set(const void* env, uint64_t thread, const hprof_context* context) {
  if (key_.load(std::memory_order_relaxed) == Key::kEnv)
    thread = reinterpret_cast<uintptr_t>(env);
  else
    prove(env, thread);
  return put(thread, context);
}

hprof_status ThreadContexts::put(uint64_t key, const hprof_context* context) {
  if (context == nullptr) {
    slots_.clear(key);
    return HPROF_OK;
  }
  return slots_.set(key, *context) ? HPROF_OK : HPROF_DROPPED;
}

hprof_status ThreadContexts::set_running(const void* env, const hprof_context* context) {
  const bool is_known = env != nullptr && key_.load(std::memory_order_acquire) != Key::kUnknown;
  return is_known && has_virtual(env) ? put(key_of(env), context) : HPROF_UNSUPPORTED;
}

bool ThreadContexts::running(const void* env, hprof_context* context) const {
  return slots_.read(key_of(env), context) || (!has_virtual(env) && read_variable(context));
}

// With an unknown layout any thread may be running one. JDK 21 does not say where the continuation is, but
// both Thread objects.
bool ThreadContexts::has_virtual(const void* env) const {
  if (key_.load(std::memory_order_relaxed) == Key::kEnv) return false;
  if (continuation_from_env_ != 0) return of_env<const void*>(env, continuation_from_env_) != nullptr;
  if (key_.load(std::memory_order_acquire) != Key::kObject || own_from_env_ == 0) return true;
  const auto *mounted = of_env<const void*>(env, from_env_), *own = of_env<const void*>(env, own_from_env_);
  bool is_own = false;
  const bool fine = mounted != nullptr && own != nullptr &&
                    guarded([&] { is_own = guarded_read<uint64_t>(mounted) == guarded_read<uint64_t>(own); });
  return !fine || !is_own;
}

bool ThreadContexts::find_variable(HotSpot& hotspot) {
  if (variable_.load(std::memory_order_relaxed) != nullptr) return true;
  if (!hotspot.hold_guard() || !platform::find_thread_variable("otel_thread_ctx_v1", &found_)) return false;
  variable_.store(&found_, std::memory_order_release);
  return true;
}

bool ThreadContexts::read_variable(hprof_context* context) const {
  constexpr uint64_t kValid = 24;  // offset in the record, behind the trace id and the span id
  const platform::ThreadVariable* variable = variable_.load(std::memory_order_acquire);
  const void* at = variable != nullptr ? platform::thread_variable(*variable) : nullptr;
  uint64_t ids[3] = {};
  uint8_t valid = 0;
  const bool fine = at != nullptr && guarded([&] {
                      const auto* record = guarded_read<const void*>(at);
                      valid = record != nullptr ? guarded_read<uint8_t>(record, kValid) : 0;
                      if (valid != 1) return;
                      for (uint64_t i = 0; i < 3; i++)
                        ids[i] = guarded_read<uint64_t>(record, i * sizeof(uint64_t));
                    });
  if (!fine || valid != 1) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(ids);
  *context = {sizeof(hprof_context), 0, get_u8(bytes), get_u8(bytes + 8), get_u8(bytes + 16)};
  return (context->trace_high | context->trace_low | context->span) != 0;
}

bool ThreadContexts::of(JNIEnv* jni, jobject thread, hprof_context* context) const {
  if (key_.load(std::memory_order_relaxed) != Key::kEnv)
    return thread_id_ != nullptr && slots_.read(id_of(jni, thread), context);
  FieldReader<jlong> addresses;
  const auto address =
      static_cast<uint64_t>(open_addresses(jni, addresses) ? addresses.read(jni, thread) : 0);
  return address != 0 && slots_.read(address - to_thread_, context);
}

}  // namespace hprof
