#include "core/vm_tables/thread_ids.h"

#include "core/vm_tables/guarded.h"

namespace hprof {

bool open_addresses(JNIEnv* jni, FieldReader<jlong>& addresses, const char* field) {
  return addresses.open(jni, "java/lang/Thread", field);
}

const char* NativeThreadIds::prepare(const VmStructs& structs, JNIEnv* jni, jobject current) {
  LayoutReader layout(structs);
  os_thread_at_ = layout.offset("JavaThread|Thread", "_osthread");
  id_at_ = layout.offset("OSThread", "_thread_id");
  FieldReader<jlong> addresses;
  if (!layout.complete() || !open_addresses(jni, addresses)) return "the VM does not say where they are";
  proven_ = read(jni, addresses, current) == static_cast<uint32_t>(platform::current_thread_id());
  return proven_ ? nullptr : "that of the calling thread was wrong";
}

// The JavaThread at eetop lives as long as the native thread. A thread may end after the caller has listed
// it; then the guarded read fails or gives "not known".
uint32_t NativeThreadIds::read(JNIEnv* jni, const FieldReader<jlong>& addresses, jobject thread) const {
  const auto address = static_cast<uintptr_t>(addresses.read(jni, thread));
  if (address == 0) return 0;
  uint32_t id = 0;
  const bool fine = guarded([&] {
    auto* os_thread = guarded_read<const void*>(reinterpret_cast<const void*>(address), os_thread_at_);
    id = os_thread != nullptr ? guarded_read<uint32_t>(os_thread, id_at_) : 0;
  });
  return fine ? id : 0;
}

uint32_t NativeThreadIds::of(JNIEnv* jni, const FieldReader<jlong>& addresses, jobject thread) const {
  return proven_ && thread != nullptr ? read(jni, addresses, thread) : 0;
}

}  // namespace hprof
