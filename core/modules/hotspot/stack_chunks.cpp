#include "core/modules/hotspot/stack_chunks.h"

#include <atomic>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/vm_tables/hotspot.h"

namespace hprof {

static const void* static_of(const VmStructs& structs, const char* type, const char* name,
                             const char* older) {
  const void* found = structs.address(type, name);
  return found != nullptr ? found : structs.address(type, older);
}

const char* StackChunks::open(HotSpot& home, int64_t to_thread, const Fields& fields) {
  constexpr uint32_t kMostShift = 8;
  const VmStructs& structs = home.structs();
  if (FrameSlots::kLocals == 0) return "frames in the heap are not known on this processor";
  if (!home.flags().has_plain_heap()) return "this garbage collector moves objects at any time";
  LayoutReader layout(structs);
  mounted_from_env_ = to_thread + layout.offset("JavaThread", "_vthread");
  heap_at_ = layout.address("Universe", "_collectedHeap");
  collections_at_ = layout.offset("CollectedHeap", "_total_collections");
  const bool is_older = structs.offset("CollectedHeap", "_is_stw_gc_active") < 0;
  pause_at_ = layout.offset("CollectedHeap", is_older ? "_is_gc_active" : "_is_stw_gc_active");
  if (!layout.complete()) return layout.missing();
  is_compressed_ = home.flags().is_on("UseCompressedOops");
  if (is_compressed_) {
    const void* base = static_of(structs, "CompressedOops", "_base", "_narrow_oop._base");
    const void* shift = static_of(structs, "CompressedOops", "_shift", "_narrow_oop._shift");
    if (base == nullptr || shift == nullptr) return "the base of compressed references";
    base_ = guarded_read<uintptr_t>(base);
    shift_ = guarded_read<uint32_t>(shift);
    if (shift_ > kMostShift) return "the base of compressed references";
  }
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
  } wanted[] = {{"java/lang/VirtualThread", "cont", kOfContinuation, &fields->continuation},
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
  if (fields->enter == nullptr || fields->yields == nullptr) return kWhyNot;
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

uint64_t StackChunks::reference_at(uint64_t place) const {
  if (!is_compressed_) return guarded_at<uint64_t>(place);
  const auto reference = uint64_t{guarded_at<uint32_t>(place)};
  return reference != 0 ? base_ + (reference << shift_) : 0;
}

uint64_t StackChunks::first_of(const void* env) const {
  const uint64_t handle = guarded_at<uint64_t>(address_of(env) + static_cast<uint64_t>(mounted_from_env_));
  const uint64_t thread = handle != 0 ? guarded_at<uint64_t>(handle) : 0;
  const uint64_t continuation = thread != 0 ? reference_at(thread + fields_.continuation) : 0;
  return continuation != 0 ? reference_at(continuation + fields_.tail) : 0;
}

// True: no collection is moving objects.
bool StackChunks::is_quiet(uint32_t* collections) const {
  const uint64_t heap = guarded_read<uintptr_t>(heap_at_);
  if (heap == 0) return false;
  *collections = guarded_at<uint32_t>(heap + collections_at_);
  return guarded_at<uint8_t>(heap + pause_at_) == 0;
}

bool StackChunks::read(uint64_t place, Chunk* chunk) const {
  constexpr uint32_t kMostWords = 1u << 26;
  if (place == 0 || place % kWord != 0) return false;
  const auto size = guarded_at<uint32_t>(place + fields_.size), sp = guarded_at<uint32_t>(place + fields_.sp),
             bottom = guarded_at<uint32_t>(place + fields_.bottom);
  if (size > kMostWords || bottom > size || sp > size) return false;
  const uint64_t start = place + fields_.stack;
  *chunk = {place, start + sp * kWord, start + bottom * kWord, start + size * kWord,
            reference_at(place + fields_.parent)};
  return true;
}

bool StackChunks::find(const void* env, Chunk* chunk, Moment* moment) const {
  if (!is_quiet(&moment->collections)) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  moment->first = first_of(env);
  if (!read(moment->first, chunk)) return false;
  moment->sp = chunk->sp;
  return true;
}

bool StackChunks::is_still(const void* env, const Moment& moment) const {
  uint32_t collections = 0;
  Chunk chunk;
  const bool is_same = first_of(env) == moment.first && read(moment.first, &chunk) && chunk.sp == moment.sp;
  std::atomic_thread_fence(std::memory_order_acquire);
  return is_quiet(&collections) && is_same && collections == moment.collections;
}

}  // namespace hprof
