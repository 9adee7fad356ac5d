#include "waiting_threads.h"

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

namespace hprof::samples {

static constexpr uint32_t kFirstWithVirtualThreads = 21;
static constexpr uint64_t kFirstPopulation = 1u << 20;  // the first turn is careful

jclass WaitingThreads::find_class(JNIEnv* jni, const char* name) {
  jclass found = without_exception(jni, jni->FindClass(name));
  if (found == nullptr || kept_count_ == kMostKept) return nullptr;
  auto* kept = static_cast<jclass>(without_exception(jni, jni->NewGlobalRef(found)));
  if (kept != nullptr) kept_[kept_count_++] = kept;
  return kept;
}

bool WaitingThreads::open(const Services& services, JNIEnv* jni, uint64_t seed) {
  if (services.settings().java_version < kFirstWithVirtualThreads) return false;
  const LocalFrame frame(jni, 64);
  if (!frame.is_open()) return false;
  coin_.seed(seed);
  const auto field = [&](jclass of, const char* name, const char* type) {
    return of == nullptr ? nullptr : without_exception(jni, jni->GetFieldID(of, name, type));
  };
  const auto method = [&](jclass of, const char* name, const char* type) {
    return of == nullptr ? nullptr : without_exception(jni, jni->GetMethodID(of, name, type));
  };
  // Initializes the class, which is safe once the VM has started.
  const auto set = [&](const char* of, const char* name) -> jobject {
    jclass type = find_class(jni, of);
    jfieldID id = type == nullptr
                      ? nullptr
                      : without_exception(jni, jni->GetStaticFieldID(type, name, "Ljava/util/Set;"));
    jobject found = id == nullptr ? nullptr : jni->GetStaticObjectField(type, id);
    if (found == nullptr || kept_count_ == kMostKept) return nullptr;
    jobject kept = without_exception(jni, jni->NewGlobalRef(found));
    if (kept != nullptr) kept_[kept_count_++] = kept;
    return kept;
  };
  virtual_thread_ = find_class(jni, "java/lang/VirtualThread");
  executor_ = find_class(jni, "java/util/concurrent/ThreadPerTaskExecutor");
  shared_ = find_class(jni, "jdk/internal/vm/SharedThreadContainer");
  scope_ = find_class(jni, "jdk/internal/misc/ThreadFlock$ThreadContainerImpl");
  spliterators_ = find_class(jni, "java/util/Spliterators");
  jclass sets = find_class(jni, "java/util/Set"), halves = find_class(jni, "java/util/Spliterator"),
         iterator = find_class(jni, "java/util/Iterator"),
         reference = find_class(jni, "java/lang/ref/Reference");
  carrier_ = field(virtual_thread_, "carrierThread", "Ljava/lang/Thread;");
  executor_threads_ = field(executor_, "threads", "Ljava/util/Set;");
  shared_threads_ = field(shared_, "virtualThreads", "Ljava/util/Set;");
  flock_ = field(scope_, "flock", "Ljdk/internal/misc/ThreadFlock;");
  flock_threads_ = field(find_class(jni, "jdk/internal/misc/ThreadFlock"), "threads", "Ljava/util/Set;");
  scopes_ =
      field(find_class(jni, "java/lang/Thread"), "headStackableScopes", "Ljdk/internal/vm/StackableScope;");
  previous_scope_ = field(find_class(jni, "jdk/internal/vm/StackableScope"), "previous",
                          "Ljdk/internal/vm/StackableScope;");
  size_ = method(sets, "size", "()I");
  spliterator_ = method(sets, "spliterator", "()Ljava/util/Spliterator;");
  try_split_ = method(halves, "trySplit", "()Ljava/util/Spliterator;");
  has_next_ = method(iterator, "hasNext", "()Z");
  next_ = method(iterator, "next", "()Ljava/lang/Object;");
  get_ = method(reference, "get", "()Ljava/lang/Object;");
  iterator_ =
      spliterators_ == nullptr
          ? nullptr
          : without_exception(jni, jni->GetStaticMethodID(spliterators_, "iterator",
                                                          "(Ljava/util/Spliterator;)Ljava/util/Iterator;"));
  const bool is_whole = carrier_ != nullptr && size_ != nullptr && spliterator_ != nullptr &&
                        try_split_ != nullptr && has_next_ != nullptr && next_ != nullptr &&
                        get_ != nullptr && iterator_ != nullptr;
  root_ = set("jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer", "VTHREADS");
  registry_ = is_whole ? set("jdk/internal/vm/ThreadContainers", "CONTAINER_REGISTRY") : nullptr;
  population_ = kFirstPopulation;
  if (!is_open()) close(jni);
  return is_open();
}

void WaitingThreads::close(JNIEnv* jni) {
  for (uint32_t i = 0; i < kept_count_; i++) jni->DeleteGlobalRef(kept_[i]);
  kept_count_ = 0;
  root_ = registry_ = nullptr;
}

jobject WaitingThreads::call(JNIEnv* jni, jobject on, jmethodID method) const {
  return without_exception(jni, jni->CallObjectMethodA(on, method, nullptr));
}

uint64_t WaitingThreads::size_of(JNIEnv* jni, jobject set) const {
  const jint size = jni->CallIntMethodA(set, size_, nullptr);
  clear_exception(jni);
  return size > 0 ? static_cast<uint64_t>(size) : 0;
}

uint32_t WaitingThreads::splits_for(uint64_t size, uint64_t most) {
  uint32_t splits = 0;
  while (size >> splits > (most != 0 ? most : 1)) splits++;
  return splits;
}

// Calls each(element) for those that are left after so many tosses. A part that cannot be split is kept or
// dropped whole.
template <class Each>
void WaitingThreads::draw(JNIEnv* jni, jobject set, uint32_t splits, const Each& each) {
  const LocalFrame frame(jni, static_cast<jint>(2 * splits + 16));
  if (!frame.is_open()) return;
  jobject part = call(jni, set, spliterator_);
  for (uint32_t i = 0; i < splits && part != nullptr; i++) {
    jobject other = call(jni, part, try_split_);
    if (coin_.next() % 2 == 0) part = other;
  }
  if (part == nullptr) return;
  jvalue argument = {};
  argument.l = part;
  jobject iterator =
      without_exception(jni, jni->CallStaticObjectMethodA(spliterators_, iterator_, &argument));
  while (iterator != nullptr && jni->CallBooleanMethodA(iterator, has_next_, nullptr) == JNI_TRUE) {
    jobject element = call(jni, iterator, next_);
    if (element == nullptr) break;
    each(element);
    jni->DeleteLocalRef(element);
  }
  clear_exception(jni);
}

// Threads of a set that stands for so many.
void WaitingThreads::count(uint64_t size, double stands_for) {
  if (stands_for > 1) {
    estimated_ += static_cast<double>(size) * stands_for;
  } else {
    known_ += size;
  }
}

void WaitingThreads::meet(JNIEnv* jni, jthread thread, double stands_for) {
  const LocalFrame frame(jni, 16);
  if (!frame.is_open() || jni->IsInstanceOf(thread, virtual_thread_) == JNI_FALSE) return;
  met_++;
  met_weight_ += stands_for;
  // A mounted one is sampled through its carrier.
  if (jni->GetObjectField(thread, carrier_) == nullptr) visit_(argument_, jni, thread, stands_for);
  follow_scopes(jni, thread, stands_for);
}

void WaitingThreads::draw_threads(JNIEnv* jni, jobject set, uint32_t splits, double stands_for) {
  stands_for *= static_cast<double>(uint64_t{1} << splits);
  draw(jni, set, splits, [&](jobject thread) { meet(jni, static_cast<jthread>(thread), stands_for); });
}

void WaitingThreads::draw_scope(JNIEnv* jni, jobject scope, double stands_for) {
  const LocalFrame frame(jni, 16);
  if (!frame.is_open() || jni->IsInstanceOf(scope, scope_) == JNI_FALSE) return;
  jobject flock = jni->GetObjectField(scope, flock_);
  jobject set = flock != nullptr ? jni->GetObjectField(flock, flock_threads_) : nullptr;
  if (set == nullptr) return;
  const uint64_t size = size_of(jni, set);
  count(size, stands_for);
  draw_threads(jni, set, splits_for(size, kMostOfScope), stands_for);
}

void WaitingThreads::follow_scopes(JNIEnv* jni, jthread owner, double stands_for) {
  if (scopes_ == nullptr || previous_scope_ == nullptr || flock_ == nullptr || flock_threads_ == nullptr ||
      nested_ == kMostNested)
    return;
  nested_++;
  jobject scope = jni->GetObjectField(owner, scopes_);
  for (uint32_t i = 0; scope != nullptr && i < kMostNested; i++) {
    draw_scope(jni, scope, stands_for);
    jobject outer = jni->GetObjectField(scope, previous_scope_);
    jni->DeleteLocalRef(scope);
    scope = outer;
  }
  if (scope != nullptr) jni->DeleteLocalRef(scope);
  nested_--;
}

// The threads of an executor; null: it is of another kind.
jobject WaitingThreads::threads_of(JNIEnv* jni, jobject container) const {
  if (executor_threads_ != nullptr && jni->IsInstanceOf(container, executor_) == JNI_TRUE)
    return jni->GetObjectField(container, executor_threads_);
  if (shared_threads_ != nullptr && jni->IsInstanceOf(container, shared_) == JNI_TRUE)
    return jni->GetObjectField(container, shared_threads_);
  return nullptr;
}

uint32_t WaitingThreads::turn(JNIEnv* jni, uint32_t most, Visit visit, void* argument) {
  visit_ = visit;
  argument_ = argument;
  met_ = 0;
  met_weight_ = 0;
  known_ = root_ != nullptr ? size_of(jni, root_) : 0;
  estimated_ = 0;
  // The same probability for all, whatever the sizes of their sets.
  const uint32_t splits = splits_for(population_ > known_ ? population_ : known_, most);
  if (known_ != 0) draw_threads(jni, root_, splits, 1);
  const uint32_t skips = splits_for(size_of(jni, registry_), kMostContainers);
  const auto each = static_cast<double>(uint64_t{1} << skips);
  draw(jni, registry_, skips, [&](jobject reference) {
    const LocalFrame frame(jni, 16);
    jobject container = frame.is_open() ? call(jni, reference, get_) : nullptr;
    jobject set = container != nullptr ? threads_of(jni, container) : nullptr;
    if (set == nullptr) return;
    const uint64_t size = size_of(jni, set);
    count(size, each);
    if (size != 0) draw_threads(jni, set, splits > skips ? splits - skips : 0, each);
  });
  return met_;
}

void WaitingThreads::end_turn() {
  const bool is_first = population_ == kFirstPopulation;
  const uint64_t counted = known_ + static_cast<uint64_t>(estimated_);
  population_ = is_first ? counted : (15 * population_ + counted) / 16;
}

}  // namespace hprof::samples
