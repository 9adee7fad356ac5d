#include "core/modules/bytecode/target_classes.h"

#include <atomic>
#include <cstring>

#include <hprof/cpp/jni_exception.hpp>

#include "core/modules/bytecode/engine/bridge_classes.h"
#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/class_rename.h"
#include "core/modules/bytecode/engine/probe_users.h"

namespace hprof {

namespace {

constexpr uint32_t kDefineTries = 3;
constexpr uint32_t kFirstVirtual = 21;  // JDK whose virtual threads are no preview
constexpr const char* kBridge = "java/lang/HprofBridge";
constexpr const char* kIsLive = "isLive";
constexpr const char* kBinder = "hprof/Binder";
constexpr const char* kThreadClass = "java/lang/Thread";

struct Point {
  uint32_t probes;
  Target target;
  const char* name;     // of the bridge's method, and of its native one
  const char* bridged;  // of the native one; nullptr: none
};
// By HPROF_POINT_*.
constexpr Point kPoints[HPROF_POINTS] = {
    {kProbeBegin, kTargetBegin, "begin", "(JI)J"},
    {kProbeEnd, kTargetEnd, "end", "(JJ)V"},
    {kProbeUnwind, kTargetUnwind, "unwind", "(JJ)V"},
    {kProbeHandler, kTargetHandler, "handler", "(JJI)V"},
    {kProbeLeaf, kTargetLeaf, "leaf", "(JI)V"},
    {kProbesOfSites, kTargetObject, "object", "(JLjava/lang/Object;)V"},
    {0, kTargetArrays, "arrays", nullptr},
    {kProbeMade, kTargetMade, "made", "(JLjava/lang/Object;)V"},
    {kProbeCaught, kTargetCaught, "caught", "(JLjava/lang/Object;I)V"},
    {kProbeConstructed, kTargetConstructed, "constructed", "(JJ)J"},
    {kProbeBegin | kProbeArguments, kTargetArguments, "arguments",
     "(JILjava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;JJ)J"},
    {kProbeEnd | kProbeResult, kTargetResult, "result", "(JJLjava/lang/Object;J)V"},
};

// Whose natives bind_now() registers; one thread at a time.
std::atomic<TargetClasses*> binding{nullptr};

template <class T>
void drop(JNIEnv* jni, T reference) {
  if (reference != nullptr) jni->DeleteLocalRef(reference);
}

}  // namespace

bool TargetClasses::add(const char* name, Span bytes, const Renaming* renamings, uint32_t renaming_count,
                        const hprof_native* natives, uint32_t count) {
  if (count_ == kMostClasses) return false;
  const auto begin = static_cast<uint32_t>(files_.size());
  Scratch scratch(budget_.memory, budget_.limit);
  GrowBuffer out(scratch.budget);
  if (rename_class(bytes, renamings, renaming_count, scratch, out) != Reason::kRewritten) return false;
  files_.put(out.data(), out.size());
  if (files_.failed()) return false;
  classes_[count_++] = {name, begin, static_cast<uint32_t>(out.size()), natives, count};
  return true;
}

// The copy of the bridge is named after the unit: what an earlier session has left ends in the same unit.
bool TargetClasses::add_bridge(uint32_t user) {
  OfUser& to = users_[user];
  const ProbeUser& of = use_.users[user];
  uint32_t before = 0;
  for (uint32_t i = 0; i < user; i++) before += std::strcmp(use_.users[i].unit, of.unit) == 0;
  TextWriter name(to.bridge, sizeof to.bridge);
  name.put(kBridge).put('_').put(of.unit);
  if (before != 0) name.put('_').put_unsigned(before);
  hprof_native* natives = bridge_natives_[user];
  uint32_t count = 0;
  for (uint32_t i = 0; i < of.asked.target_count; i++) {
    const hprof_target& target = of.asked.targets[i];
    if (kPoints[target.point].bridged == nullptr || count == HPROF_POINTS) return false;
    natives[count++] = {kPoints[target.point].name, kPoints[target.point].bridged, target.function};
  }
  const Renaming renaming = {span_of(kBridge), span_of(to.bridge)};
  return add(to.bridge, {java::kHprofBridge, sizeof java::kHprofBridge}, &renaming, 1, natives, count);
}

hprof_status TargetClasses::make() {
  const Renaming since_9[] = {{span_of("sun/misc/Unsafe"), span_of("jdk/internal/misc/Unsafe")},
                              {span_of("compareAndSwap"), span_of("compareAndSet")}};
  const uint32_t renaming_count = use_.settings->java_version >= 9 ? 2 : 0;
  for (uint32_t i = 0; i < use_.user_count; i++) {
    const hprof_probe_user& asked = use_.users[i].asked;
    users_[i].first = count_;
    if (asked.classes == nullptr && !add_bridge(i)) return HPROF_NO_MEMORY;
    for (uint32_t c = 0; asked.classes != nullptr && c < asked.class_count; c++) {
      const hprof_probe_class& brought = asked.classes[c];
      if (!add(brought.name, {brought.bytes, brought.byte_count}, since_9, renaming_count, brought.natives,
               brought.native_count))
        return HPROF_NO_MEMORY;
    }
    users_[i].end = count_;
  }
  return HPROF_OK;
}

ProbesOfUser TargetClasses::probes_of(uint32_t user) const {
  const hprof_probe_user& asked = use_.users[user].asked;
  ProbesOfUser to;
  to.owner = classes_[users_[user].first].name;
  for (uint32_t i = 0; i < asked.target_count; i++) {
    const Point& point = kPoints[asked.targets[i].point];
    to.probes |= point.probes;
    to.targets[point.target] = asked.classes != nullptr ? asked.targets[i].method : point.name;
  }
  if (asked.classes == nullptr) to.targets[kTargetArrays] = kPoints[HPROF_POINT_ARRAYS].name;
  if (asked.thread_field != nullptr) to.field = {kThreadClass, asked.thread_field, "J", 0};
  to.leaves_out_leaves = (asked.flags & HPROF_PROBES_NO_LEAVES) != 0;
  to.leaves_out_intrinsics = (asked.flags & HPROF_PROBES_NO_INTRINSICS) != 0;
  return to;
}

bool TargetClasses::has(Span name) {
  return name.equals(kBinder) || is_name_of_targets({reinterpret_cast<const char*>(name.data), name.size});
}

jclass TargetClasses::define(JNIEnv* jni, const char* name, Span bytes, bool may_exist) {
  jclass made = nullptr;
  for (uint32_t tries = 0; made == nullptr && tries < kDefineTries; tries++) {
    made = jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes.data),
                            static_cast<jsize>(bytes.size));
    clear_exception(jni);
  }
  if (made == nullptr && may_exist) made = without_exception(jni, jni->FindClass(name));
  return made;
}

bool TargetClasses::define(JNIEnv* jni, bool may_exist) const {
  for (uint32_t i = 0; i < count_; i++) {
    jclass made = define(jni, classes_[i].name, bytes_of(classes_[i]), may_exist);
    if (made == nullptr) {
      say("the VM does not define ", classes_[i].name);
      return false;
    }
    drop(jni, made);
  }
  return true;
}

void TargetClasses::say(const char* what, const char* name, const char* rest) const {
  char text[256];
  TextWriter(text, sizeof(text)).put(what).put_printable(Str(name)).put(rest);
  use_.messages.message(text);
}

bool TargetClasses::register_natives(JNIEnv* jni, const File& file) {
  constexpr uint32_t kMostNatives = 16;
  if (file.native_count == 0) return true;
  if (file.native_count > kMostNatives) return false;
  JNINativeMethod methods[kMostNatives];
  for (uint32_t n = 0; n < file.native_count; n++) {
    methods[n] = {const_cast<char*>(file.natives[n].name), const_cast<char*>(file.natives[n].type),
                  reinterpret_cast<void*>(file.natives[n].function)};
  }
  jclass owner = without_exception(jni, jni->FindClass(file.name));
  const bool done = owner != nullptr &&
                    jni->RegisterNatives(owner, methods, static_cast<jint>(file.native_count)) == JNI_OK;
  clear_exception(jni);
  drop(jni, owner);
  return done;
}

void JNICALL TargetClasses::bind_now(JNIEnv* jni, jclass) {
  TargetClasses* classes = binding.load(std::memory_order_acquire);
  for (uint32_t i = 0; classes != nullptr && i < classes->use_.user_count; i++) {
    OfUser& user = classes->users_[i];
    user.is_bound = true;
    for (uint32_t c = user.first; c < user.end; c++)
      user.is_bound = user.is_bound && register_natives(jni, classes->classes_[c]);
  }
}

// HotSpot warns when native methods of java.base are registered, unless a class of the boot loader calls. The
// Binder is one, and not in java.base, so that nobody is warned of its own.
bool TargetClasses::bind(JNIEnv* jni) {
  // An earlier session, or another agent, may have defined it.
  jclass binder = define(jni, kBinder, {java::kBinder, sizeof java::kBinder}, true);
  if (binder == nullptr) return false;
  char name[] = "bindNow", type[] = "()V";
  const JNINativeMethod method = {name, type, reinterpret_cast<void*>(&bind_now)};
  bool done = jni->RegisterNatives(binder, &method, 1) == JNI_OK;
  clear_exception(jni);
  jmethodID bind = done ? without_exception(jni, jni->GetStaticMethodID(binder, "bind", type)) : nullptr;
  TargetClasses* nobody = nullptr;
  done = bind != nullptr && binding.compare_exchange_strong(nobody, this, std::memory_order_acq_rel);
  if (done) {
    jni->CallStaticVoidMethodA(binder, bind, nullptr);
    binding.store(nullptr, std::memory_order_release);
  }
  clear_exception(jni);
  drop(jni, binder);
  return done;
}

bool TargetClasses::set_bridge(JNIEnv* jni, const ProbeUser& user, jclass bridge) const {
  jfieldID self = without_exception(jni, jni->GetStaticFieldID(bridge, "self", "J"));
  jfieldID carriers = without_exception(jni, jni->GetStaticFieldID(bridge, "carriers", "Z"));
  jfieldID platform = without_exception(jni, jni->GetStaticFieldID(bridge, "platform", "Z"));
  if (self == nullptr || carriers == nullptr || platform == nullptr) return false;
  jni->SetStaticLongField(bridge, self, static_cast<jlong>(reinterpret_cast<uintptr_t>(user.asked.self)));
  jni->SetStaticBooleanField(bridge, carriers, use_.settings->java_version >= kFirstVirtual);
  jni->SetStaticBooleanField(bridge, platform, user.has(HPROF_PROBES_PLATFORM));
  return true;
}

// Returns what fails; nullptr: nothing.
const char* TargetClasses::prepare_user(JNIEnv* jni, uint32_t user) {
  const ProbeUser& of = use_.users[user];
  const hprof_probe_user& asked = of.asked;
  const bool is_bridge = asked.classes == nullptr;
  OfUser& to = users_[user];
  jclass owner = without_exception(jni, jni->FindClass(classes_[to.first].name));
  if (owner == nullptr || !to.is_bound) {
    drop(jni, owner);
    return owner == nullptr ? " is not found" : ": its native methods cannot be registered";
  }
  bool done = !is_bridge || set_bridge(jni, of, owner);
  to.live = without_exception(jni, jni->GetStaticFieldID(owner, is_bridge ? kIsLive : asked.live, kLiveType));
  if (!is_bridge && asked.prime != nullptr) {
    jmethodID prime = without_exception(jni, jni->GetStaticMethodID(owner, asked.prime, kPrimeType));
    if (prime != nullptr) jni->CallStaticVoidMethodA(owner, prime, nullptr);
    done = done && prime != nullptr && !jni->ExceptionCheck();
    clear_exception(jni);
  }
  if (done && to.live != nullptr)
    to.owner = static_cast<jclass>(without_exception(jni, jni->NewGlobalRef(owner)));
  drop(jni, owner);
  if (to.owner == nullptr)
    return to.live == nullptr ? " has no static boolean field `live`" : ": its method `prime` fails";
  if (asked.thread_field == nullptr) return nullptr;
  jclass thread = without_exception(jni, jni->FindClass(kThreadClass));
  if (thread != nullptr) use_.hide_field(use_.core, jni, thread, asked.thread_field);
  drop(jni, thread);
  return nullptr;
}

// False: another agent uses the class now, or one of another version has left it.
bool TargetClasses::is_free(JNIEnv* jni, uint32_t user) const {
  const hprof_probe_user& asked = use_.users[user].asked;
  jclass owner = without_exception(jni, jni->FindClass(classes_[users_[user].first].name));
  jfieldID live = nullptr;
  if (owner != nullptr)
    live = without_exception(
        jni, jni->GetStaticFieldID(owner, asked.classes == nullptr ? kIsLive : asked.live, kLiveType));
  bool is_free = live != nullptr && jni->GetStaticBooleanField(owner, live) == JNI_FALSE;
  for (uint32_t i = 0; asked.classes != nullptr && i < asked.target_count && is_free; i++) {
    const hprof_target& target = asked.targets[i];
    is_free = without_exception(
                  jni, jni->GetStaticMethodID(owner, target.method, kTargetTypes[target.point])) != nullptr;
  }
  drop(jni, owner);
  return is_free;
}

bool TargetClasses::prepare(JNIEnv* jni, bool may_exist) {
  for (uint32_t i = 0; may_exist && i < use_.user_count; i++) {
    if (is_free(jni, i)) continue;
    say("another agent in this VM uses ", classes_[users_[i].first].name,
        ", or one of another version has left it");
    return false;
  }
  if (!bind(jni)) {
    say("no probes run: the VM refuses ", kBinder);
    return false;
  }
  bool all = true;
  for (uint32_t i = 0; i < use_.user_count; i++) {
    const char* why = prepare_user(jni, i);
    all = all && why == nullptr;
    if (why == nullptr) continue;
    char name[kMostName + 40];
    TextWriter(name, sizeof(name))
        .put(use_.users[i].unit)
        .put(" does not run: ")
        .put(classes_[users_[i].first].name);
    say("", name, why);
  }
  return all;
}

bool TargetClasses::set_live(JNIEnv* jni, uint32_t user, bool on) {
  if (users_[user].owner == nullptr || jni == nullptr) return false;
  jni->SetStaticBooleanField(users_[user].owner, users_[user].live, on ? JNI_TRUE : JNI_FALSE);
  return true;
}

void TargetClasses::forget(JNIEnv* jni) {
  for (OfUser& user : users_) {
    if (user.owner != nullptr) jni->DeleteGlobalRef(user.owner);
    user.owner = nullptr;
  }
}

}  // namespace hprof
