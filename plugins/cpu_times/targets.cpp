#include "targets.h"

#include <jni.h>

#include "collector.h"
#include "java_classes.h"

namespace hprof::times {

namespace {

// One for each process, as the class is; it is there before the first probe.
Collector* the_collector = nullptr;

jlong JNICALL attach(JNIEnv* jni, jclass, jobject thread) {
  return thread != nullptr ? static_cast<jlong>(the_collector->attach(jni, thread)) : 0;
}

jlong JNICALL miss(JNIEnv*, jclass, jlong state, jlong node, jint method) {
  if (state == 0) return 0;
  return static_cast<jlong>(Collector::miss(static_cast<uint64_t>(state), static_cast<uint64_t>(node),
                                            static_cast<uint32_t>(method)));
}

void JNICALL release(JNIEnv*, jclass, jlong state) {
  if (state != 0) the_collector->release(static_cast<uint64_t>(state));
}

jlong JNICALL counter_time(JNIEnv*, jclass) { return static_cast<jlong>(the_collector->counter()); }

template <class Function>
hprof_native native(const char* name, const char* type, Function* function) {
  return {name, type, reinterpret_cast<void (*)()>(function)};
}

const hprof_native kNatives[] = {
    native("attach", "(Ljava/lang/Thread;)J", &attach),
    native("miss", "(JJI)J", &miss),
    native("release", "(J)V", &release),
    native("counterTime", "()J", &counter_time),
};

const hprof_probe_class kClasses[] = {
    {kTargetClass, kHprofCalls, sizeof kHprofCalls, 4, kNatives},
    {"java/lang/HprofCallsMemory", kHprofCallsMemory, sizeof kHprofCallsMemory, 0, nullptr},
};

constexpr hprof_target kTargets[] = {
    {HPROF_POINT_BEGIN, 0, "enter", nullptr},
    {HPROF_POINT_END, 0, "exit", nullptr},
    {HPROF_POINT_HANDLER, 0, "sync", nullptr},
    {HPROF_POINT_LEAF, 0, "leaf", nullptr},
};
constexpr hprof_target kQuickTargets[] = {
    kTargets[0], {HPROF_POINT_END, 0, "exitQuickly", nullptr}, kTargets[2], kTargets[3]};

constexpr uint32_t kFirstPreviewVirtual = 19;  // JDK with virtual threads as a preview

}  // namespace

void fill_in_targets(Collector* collector, bool clocked, hprof_probe_user* user) {
  the_collector = collector;
  const bool is_quick = !clocked && collector->java_version() < kFirstPreviewVirtual;
  user->targets = is_quick ? kQuickTargets : kTargets;
  user->target_count = sizeof kTargets / sizeof kTargets[0];
  user->classes = kClasses;
  user->class_count = sizeof kClasses / sizeof kClasses[0];
  user->live = "live";
  user->prime = "prime";
}

}  // namespace hprof::times
