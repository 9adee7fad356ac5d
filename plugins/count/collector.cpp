#include "collector.h"

#include <atomic>
#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/session_gate.hpp>
#include <hprof/cpp/text.hpp>

#include "java_classes.h"

namespace hprof::count {

namespace {

constexpr const char* kName = "hprof/Counter";
constexpr const char* kUnitIds[kCountingUnits] = {"calls", "heap_sites"};
constexpr uint32_t kShortName = 1024;
constexpr uint64_t kMostName = 256 * 1024;  // a class, a method and a source have 64 KiB each

// As in hprof.Agent.
enum : jlong { kEnded = 0, kNoMemory = -1, kVirtual = -2 };
enum : jint { kMethodName, kClassName, kFrameName };
constexpr jlong kCalls = 1, kObjects = 2, kSession = 4;

SessionGate gate;              // of the native methods
Collector* session = nullptr;  // theirs while they are inside

// Returns use(session), or else `ended` if it has ended.
template <class Answer, class Use>
Answer in_session(Answer ended, const Use& use) {
  gate.enter([&] { ended = use(*session); });
  return ended;
}

jboolean JNICALL is_running(JNIEnv*, jclass) { return gate.is_open() ? JNI_TRUE : JNI_FALSE; }

jlong JNICALL begin_count(JNIEnv* jni, jclass, jint threads, jobject thread) {
  return in_session(jlong{kEnded}, [&](Collector& now) { return now.begin(jni, threads, thread); });
}

jlongArray JNICALL end_count(JNIEnv* jni, jclass, jlong handle) {
  return in_session(jlongArray{}, [&](Collector& now) { return now.end(jni, handle); });
}

jstring JNICALL name_of(JNIEnv* jni, jclass, jlong of, jint kind, jlong number) {
  return in_session(jstring{}, [&](Collector& now) { return now.name(jni, of, kind, number); });
}

jlongArray JNICALL frames_of(JNIEnv* jni, jclass, jlong of, jlong trace) {
  return in_session(jlongArray{}, [&](Collector& now) { return now.frames(jni, of, trace); });
}

jboolean JNICALL counts_method(JNIEnv* jni, jclass, jstring name) {
  return in_session(jboolean{JNI_FALSE}, [&](Collector& now) { return now.counts_method(jni, name); });
}

jboolean JNICALL bind(JNIEnv* jni, jclass, jclass agent) {
  char running[] = "isRunning", running_type[] = "()Z";
  char begin[] = "begin", begin_type[] = "(ILjava/lang/Thread;)J";
  char end[] = "end", end_type[] = "(J)[J";
  char name[] = "name", name_type[] = "(JIJ)Ljava/lang/String;";
  char frames[] = "frames", frames_type[] = "(JJ)[J";
  char counts[] = "counts", counts_type[] = "(Ljava/lang/String;)Z";
  const JNINativeMethod methods[] = {{running, running_type, reinterpret_cast<void*>(&is_running)},
                                     {begin, begin_type, reinterpret_cast<void*>(&begin_count)},
                                     {end, end_type, reinterpret_cast<void*>(&end_count)},
                                     {name, name_type, reinterpret_cast<void*>(&name_of)},
                                     {frames, frames_type, reinterpret_cast<void*>(&frames_of)},
                                     {counts, counts_type, reinterpret_cast<void*>(&counts_method)}};
  const bool is_bound = agent != nullptr && jni->RegisterNatives(agent, methods, 6) == JNI_OK;
  clear_exception(jni);
  return is_bound ? JNI_TRUE : JNI_FALSE;
}

bool make_class(JNIEnv* jni) {
  // Asked for first, it might be one of the program's.
  jclass made =
      without_exception(jni, jni->DefineClass(kName, nullptr, reinterpret_cast<const jbyte*>(kCounter),
                                              static_cast<jsize>(sizeof kCounter)));
  if (made == nullptr) made = without_exception(jni, jni->FindClass(kName));  // of an earlier session
  if (made == nullptr) return false;
  char name[] = "bind", type[] = "(Ljava/lang/Class;)Z";
  const JNINativeMethod method = {name, type, reinterpret_cast<void*>(&bind)};
  const bool is_bound = jni->RegisterNatives(made, &method, 1) == JNI_OK;
  clear_exception(jni);
  return is_bound;
}

}  // namespace

hprof_status Collector::start() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  const LocalFrame frame(jni, 16);
  if (!frame.is_open()) return HPROF_NO_MEMORY;
  for (uint32_t i = 0; i < kCountingUnits; i++)
    units_[i] = static_cast<const hprof_thread_counts*>(
        s.host->find_extension(s.host, kUnitIds[i], HPROF_EXTENSION_THREAD_COUNTS));
  if (!make_class(jni)) {
    s.log->message(s.host, "count=y: the VM does not define the class hprof.Counter");
    return HPROF_FAILED;
  }
  static std::atomic<jlong> sessions{0};
  session_ = ++sessions;
  session = this;
  gate.open();
  return HPROF_OK;
}

void Collector::stop() {
  const Services& s = services_;
  is_held_ = !gate.close(s, "count=y");
  if (!is_held_) counts_.close(s);
  if (open_ != 0) run(false);
  open_ = 0;
}

void Collector::run(bool on) {
  for (const hprof_thread_counts* unit : units_) {
    if (unit != nullptr) unit->run(on ? 1 : 0);
  }
}

// The first count lets the units count; its thread sees that, since it is in a native method.
void Collector::open_one(JNIEnv* jni, bool all) {
  tell(all ? nullptr : jni, 1);
  LockGuard guard(lock_, services_);
  if (open_++ == 0) run(true);
}

void Collector::close_one(JNIEnv* jni, bool all) {
  tell(all ? nullptr : jni, 0);
  LockGuard guard(lock_, services_);
  if (--open_ == 0) run(false);
}

void Collector::tell(JNIEnv* jni, uint32_t open) const {
  for (const hprof_thread_counts* unit : units_) {
    if (unit != nullptr && HPROF_HAS(unit, hprof_thread_counts, open)) unit->open(jni, open);
  }
}

jlong Collector::begin(JNIEnv* jni, jint threads, jobject thread) {
  const Services& s = services_;
  const bool all = threads != 0;
  if (!all && (s.probes->thread(s.host, jni, thread, nullptr) & HPROF_THREAD_VIRTUAL) != 0) return kVirtual;
  open_one(jni, all);
  Snapshot begun;
  jlong handle = 0;
  if (begun.take(s, units_, jni, all)) {
    handle = counts_.add(s, begun, all);
    if (handle == 0) begun.close(s);
  }
  if (handle == 0) close_one(jni, all);
  return handle != 0 ? handle : kNoMemory;
}

jlongArray Collector::end(JNIEnv* jni, jlong handle) {
  const Services& s = services_;
  Snapshot begun, ended;
  bool all = false;
  if (!counts_.remove(s, handle, &begun, &all)) return nullptr;
  bool is_whole = ended.take(s, units_, jni, all);
  close_one(jni, all);
  for (uint32_t i = 0; is_whole && i < kCountingUnits; i++) {
    ended.of[i].subtract(begun.of[i]);
    is_whole = ended.of[i].is_whole();
  }
  jlongArray rows = is_whole ? rows_of(jni, ended) : nullptr;
  begun.close(s);
  ended.close(s);
  return rows;
}

// Null: no memory.
jlongArray Collector::rows_of(JNIEnv* jni, const Snapshot& counted) const {
  const Services& s = services_;
  const Numbers &calls = counted.of[0], &objects = counted.of[1];
  const uint64_t size = 2 + 2 * calls.size() + 4 * objects.size();
  auto* words = size <= INT32_MAX ? s.allocate<jlong>(size) : nullptr;
  if (words == nullptr) return nullptr;
  jlong* at = words;
  *at++ = (units_[0] != nullptr ? kCalls : 0) | (units_[1] != nullptr ? kObjects : 0) | session_ * kSession;
  *at++ = static_cast<jlong>(calls.size());
  for (uint64_t i = 0; i < calls.size(); i++) {
    *at++ = calls[i].what;
    *at++ = static_cast<jlong>(calls[i].count);
  }
  for (uint64_t i = 0; i < objects.size(); i++) {
    const hprof_thread_count& row = objects[i];
    *at++ = row.what;
    *at++ = row.trace;
    *at++ = static_cast<jlong>(row.count);
    *at++ = static_cast<jlong>(row.bytes);
  }
  // The array is none of an outer count's objects.
  hide(jni, 1);
  jlongArray rows = without_exception(jni, jni->NewLongArray(static_cast<jsize>(size)));
  hide(jni, 0);
  if (rows != nullptr) jni->SetLongArrayRegion(rows, 0, static_cast<jsize>(size), words);
  s.release(words, size);
  return rows;
}

void Collector::hide(JNIEnv* jni, uint32_t on) const {
  for (const hprof_thread_counts* unit : units_) {
    if (unit != nullptr && HPROF_HAS(unit, hprof_thread_counts, hide)) unit->hide(jni, on);
  }
}

void Collector::add_text(hprof_string_id id, TextBuffer* to) const {
  const hprof_text text = services_.ids->string_text(services_.host, id);
  to->add(text.data, text.size);
}

void Collector::add_method(hprof_method_id id, TextBuffer* to) const {
  const auto method = find_method(services_.ids, services_.host, id);
  add_text(find_class(services_.ids, services_.host, method->owner)->name, to);
  add_text(method->name, &to->add("."));
}

void Collector::add_frame(hprof_frame_id id, TextBuffer* to) const {
  const auto frame = find_frame(services_.ids, services_.host, id);
  const auto method = find_method(services_.ids, services_.host, frame->method);
  const hprof_string_id source = find_class(services_.ids, services_.host, method->owner)->source;
  add_method(frame->method, to);
  if (frame->line == HPROF_LINE_NATIVE) {
    to->add("(Native Method)");
    return;
  }
  to->add("(");
  source != 0 ? add_text(source, to) : static_cast<void>(to->add("Unknown Source"));
  if (frame->line > 0) to->add(":").add(static_cast<uint64_t>(frame->line));
  to->add(")");
}

jboolean Collector::counts_method(JNIEnv* jni, jstring name) const {
  struct Search {
    const Collector* collector;
    const char* name;
    bool found;
  };
  const char* chars =
      name != nullptr ? without_exception(jni, jni->GetStringUTFChars(name, nullptr)) : nullptr;
  if (chars == nullptr) return JNI_FALSE;
  Search search = {this, chars, false};
  if (units_[0] != nullptr) {
    units_[0]->each_what(&search, [](void* argument, uint32_t method) {
      auto& of = *static_cast<Search*>(argument);
      TextLine<1024> text;
      if (!of.found) of.collector->add_method(method, &text);
      of.found = of.found || std::strcmp(text.c_str(), of.name) == 0;
    });
  }
  jni->ReleaseStringUTFChars(name, chars);
  return search.found ? JNI_TRUE : JNI_FALSE;
}

void Collector::add_name(jint kind, uint32_t id, TextBuffer* to) const {
  if (kind == kMethodName) add_method(id, to);
  if (kind == kClassName) add_text(find_class(services_.ids, services_.host, id)->name, to);
  if (kind == kFrameName) add_frame(id, to);
}

// Null: the id is of another session, or there is no memory.
jstring Collector::name(JNIEnv* jni, jlong session, jint kind, jlong number) const {
  if (session != session_) return nullptr;
  const auto id = static_cast<uint32_t>(number);
  TextLine<kShortName> line;
  add_name(kind, id, &line);
  if (!line.cut()) return without_exception(jni, jni->NewStringUTF(line.c_str()));
  auto* room = services_.allocate<char>(kMostName);
  if (room == nullptr) return nullptr;
  TextBuffer text(room, kMostName);
  add_name(kind, id, &text);
  jstring made = without_exception(jni, jni->NewStringUTF(text.c_str()));
  services_.release(room, kMostName);
  return made;
}

// The ids of the frames of a trace, the innermost one first. Null: as for name().
jlongArray Collector::frames(JNIEnv* jni, jlong session, jlong trace) const {
  if (session != session_) return nullptr;
  const auto known = find_trace(services_.ids, services_.host, static_cast<uint32_t>(trace));
  const auto count = static_cast<jsize>(known->frame_count);
  jlongArray ids = without_exception(jni, jni->NewLongArray(count));
  for (jsize i = 0; ids != nullptr && i < count; i++) {
    const jlong id = known->frames[i];
    jni->SetLongArrayRegion(ids, i, 1, &id);
  }
  return ids;
}

}  // namespace hprof::count
