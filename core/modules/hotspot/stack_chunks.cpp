#include "core/modules/hotspot/stack_chunks.h"

#include <atomic>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/vm_tables/hotspot.h"

namespace hprof {

const char* StackChunks::open(HotSpot& home, int64_t to_thread, const Fields& fields) {
  const VmStructs& structs = home.structs();
  if (FrameSlots::kLocals == 0) return "frames in the heap are not known on this processor";
  LayoutReader layout(structs);
  carrier_from_env_ = to_thread + layout.offset("JavaThread", "_threadObj");
  heap_at_ = layout.address("Universe", "_collectedHeap");
  collections_at_ = layout.offset("CollectedHeap", "_total_collections");
  const bool is_older = structs.offset("CollectedHeap", "_is_stw_gc_active") < 0;
  pause_at_ = layout.offset("CollectedHeap", is_older ? "_is_gc_active" : "_is_stw_gc_active");
  if (!layout.complete()) return layout.missing();
  if (const char* why = references_.open(home)) return why;
  fields_ = fields;
  return nullptr;
}

const char* StackChunks::find_fields(const VmStructs& structs, JNIEnv* jni, Fields* fields) {
  static constexpr const char kContinuation[] = "jdk/internal/vm/Continuation",
                              kChunk[] = "jdk/internal/vm/StackChunk",
                              kOfContinuation[] = "Ljdk/internal/vm/Continuation;",
                              kOfChunk[] = "Ljdk/internal/vm/StackChunk;";
  static constexpr const char kWhyNot[] = "the JDK's classes have other fields";
  constexpr jlong kMost = 256;  // bytes of an object
  const LocalFrame frame(jni, 64);
  if (!frame.is_open()) return "no memory";
  const struct {
    const char *owner, *name, *descriptor;
    uint64_t* offset;
  } wanted[] = {{"java/lang/Thread", "cont", kOfContinuation, &fields->continuation},
                {kContinuation, "tail", kOfChunk, &fields->tail},
                {kChunk, "parent", kOfChunk, &fields->parent},
                {kChunk, "size", "I", &fields->size},
                {kChunk, "sp", "I", &fields->sp},
                {kChunk, "bottom", "I", &fields->bottom}};
  FieldReader<jlong> reader;
  for (const auto& field : wanted) {
    const bool is_there = reader.open(jni, field.owner, field.name, field.descriptor);
    if (!is_there || reader.offset() <= 0 || reader.offset() > kMost) return kWhyNot;
    *field.offset = static_cast<uint64_t>(reader.offset());
  }
  jclass chunk = without_exception(jni, jni->FindClass(kChunk));
  jclass continuation = without_exception(jni, jni->FindClass(kContinuation));
  if (chunk == nullptr || continuation == nullptr) return kWhyNot;
  fields->enter = without_exception(
      jni, jni->GetStaticMethodID(continuation, "enter", "(Ljdk/internal/vm/Continuation;Z)V"));
  fields->yields = without_exception(jni, jni->GetStaticMethodID(continuation, "doYield", "()I"));
  fields->special = without_exception(
      jni, jni->GetStaticMethodID(continuation, "enterSpecial", "(Ljdk/internal/vm/Continuation;ZZ)V"));
  if (fields->enter == nullptr || fields->yields == nullptr || fields->special == nullptr) return kWhyNot;
  // The stack begins at the size of an instance without it; the low bits of a layout helper are flags.
  LayoutReader layout(structs);
  const void* klass_at = layout.address("java_lang_Class", "_klass_offset");
  const uint32_t helper_at = layout.offset("Klass", "_layout_helper");
  if (!layout.complete()) return layout.missing();
  const auto klass = static_cast<uint64_t>(reader.read_at(jni, chunk, guarded_read<int32_t>(klass_at)));
  int32_t size = 0;
  if (klass == 0 || !guarded([&] { size = guarded_at<int32_t>(klass + helper_at); })) return kWhyNot;
  fields->stack = static_cast<uint64_t>(size) & ~(kWord - 1);
  const bool is_sound = size > 0 && size <= kMost && fields->stack > fields->bottom &&
                        fields->stack > fields->sp && fields->stack > fields->size &&
                        fields->stack > fields->parent;
  return is_sound ? nullptr : kWhyNot;
}

uint64_t StackChunks::first_of(const void* env) const {
  const uint64_t handle = guarded_at<uint64_t>(address_of(env) + static_cast<uint64_t>(carrier_from_env_));
  const uint64_t thread = handle != 0 ? references_.in_handle(handle) : 0;
  if (!HeapReferences::is_object(thread)) return thread;
  const uint64_t continuation = references_.in_heap(thread + fields_.continuation);
  if (!HeapReferences::is_object(continuation)) return continuation;
  return references_.in_heap(continuation + fields_.tail);
}

// True: there is no pause in which a collector moves objects.
bool StackChunks::is_quiet(uint32_t* collections) const {
  const uint64_t heap = guarded_read<uintptr_t>(heap_at_);
  if (heap == 0) return false;
  *collections = guarded_at<uint32_t>(heap + collections_at_);
  return guarded_at<uint8_t>(heap + pause_at_) == 0;
}

bool StackChunks::read(uint64_t place, Chunk* chunk, Moment* moment) const {
  constexpr uint32_t kMostWords = 1u << 26;
  constexpr uint64_t kFactor = 31;
  if (place == 0) return false;
  moment->chunks++;
  if (!HeapReferences::is_object(place)) return false;
  const auto size = guarded_at<uint32_t>(place + fields_.size), sp = guarded_at<uint32_t>(place + fields_.sp),
             bottom = guarded_at<uint32_t>(place + fields_.bottom);
  if (size > kMostWords || bottom > size || sp > size) return false;
  const uint64_t start = place + fields_.stack;
  *chunk = {place, start + sp * kWord, start + bottom * kWord, start + size * kWord,
            references_.in_heap(place + fields_.parent)};
  moment->sum = (moment->sum * kFactor + place) * kFactor + chunk->sp;
  return true;
}

bool StackChunks::find(const void* env, Chunk* chunk, Moment* moment) const {
  moment->phase = references_.phase();
  if (!is_quiet(&moment->collections)) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return read(first_of(env), chunk, moment);
}

bool StackChunks::find_parent(Chunk* chunk, Moment* moment) const {
  return read(chunk->parent, chunk, moment);
}

bool StackChunks::is_still(const void* env, const Moment& moment) const {
  Chunk chunk = {};
  Moment again = {}, last = {};
  if (!find(env, &chunk, &again)) return false;
  while (again.chunks < moment.chunks) {
    if (!find_parent(&chunk, &again)) return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  last.phase = references_.phase();
  return is_quiet(&last.collections) && again.sum == moment.sum && last.collections == moment.collections &&
         last.phase == moment.phase;
}

}  // namespace hprof
