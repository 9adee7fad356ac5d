#include "tests/unit/monitor/fake_vm.h"

#include <cstdlib>
#include <cstring>

#include <hprof/cpp/names.hpp>

extern "C" const hprof_module* hprof_module_monitor(const hprof_offer*, const char**);

namespace hprof {

FakeVm* FakeVm::current = nullptr;

static FakeVm::Object* object_of(jobject ref) { return reinterpret_cast<FakeVm::Object*>(ref); }
static jobject ref_of(void* object) { return static_cast<jobject>(object); }
static FakeVm::JavaThread* thread_of(jthread ref) { return reinterpret_cast<FakeVm::JavaThread*>(ref); }

struct FakeFunctions {
  static FakeVm& vm() { return *FakeVm::current; }

  static void* java_vm(const hprof_host*) { return nullptr; }
  static void* jvmti(const hprof_host*) { return &vm().jvmti_env_; }
  static void* jni(const hprof_host*) { return &vm().jni_env_; }

  // --- JVMTI
  static jvmtiError JNICALL capabilities(jvmtiEnv*, jvmtiCapabilities* held) {
    memset(held, 0, sizeof *held);
    held->can_get_monitor_info = 1;
    held->can_get_current_contended_monitor = vm().tells_monitors ? 1 : 0;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL current_thread(jvmtiEnv*, jthread* thread) {
    *thread = ref_of(vm().running_);
    return JVMTI_ERROR_NONE;
  }
  static jint copy(const std::vector<jvmtiFrameInfo>& from, jint most, jvmtiFrameInfo* to) {
    jint count = 0;
    for (; count < most && count < static_cast<jint>(from.size()); count++)
      to[count] = from[static_cast<size_t>(count)];
    return count;
  }
  static jvmtiError JNICALL stack_trace(jvmtiEnv*, jthread thread, jint, jint most, jvmtiFrameInfo* frames,
                                        jint* count) {
    vm().stack_walks++;
    FakeVm::JavaThread* of = thread == nullptr ? vm().running_ : thread_of(thread);
    *count = copy(of->stack, most, frames);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL list_stack_traces(jvmtiEnv*, jint count, const jthread* threads, jint most,
                                              jvmtiStackInfo** out) {
    auto number = static_cast<size_t>(count), depth = static_cast<size_t>(most);
    size_t head = number * sizeof(jvmtiStackInfo);
    auto* infos = static_cast<jvmtiStackInfo*>(calloc(1, head + number * depth * sizeof(jvmtiFrameInfo) + 1));
    auto* frames = reinterpret_cast<jvmtiFrameInfo*>(reinterpret_cast<char*>(infos) + head);
    for (jint i = 0; i < count; i++, frames += most) {
      infos[i] = {threads[i], thread_of(threads[i])->state, frames, 0};
      infos[i].frame_count = copy(thread_of(threads[i])->stack, most, frames);
    }
    *out = infos;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL loaded_classes(jvmtiEnv*, jint* count, jclass** classes) {
    *count = 0;
    *classes = nullptr;
    if (vm().collections_while_holding-- > 0) vm().collect();
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL thread_state(jvmtiEnv*, jthread thread, jint* state) {
    *state = thread_of(thread)->state;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL contended(jvmtiEnv*, jthread thread, jobject* object) {
    if (!vm().tells_monitors) return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    *object = ref_of(thread_of(thread)->on);
    return JVMTI_ERROR_NONE;
  }
  // All objects have the same: who compares hashes only gets it wrong.
  static jvmtiError JNICALL hash_code(jvmtiEnv*, jobject, jint* hash) {
    *hash = 42;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL monitor_usage(jvmtiEnv*, jobject object, jvmtiMonitorUsage* usage) {
    if (!vm().tells_owners) return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    memset(usage, 0, sizeof *usage);
    usage->owner = object_of(object)->owner;
    usage->entry_count = object_of(object)->entry_count;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL deallocate(jvmtiEnv*, unsigned char* memory) {
    free(memory);
    return JVMTI_ERROR_NONE;
  }

  // --- JNI
  static jclass JNICALL object_class(JNIEnv*, jobject object) {
    return static_cast<jclass>(ref_of(object_of(object)->of));
  }
  static jobject JNICALL same_ref(JNIEnv*, jobject object) { return object; }
  static jobject JNICALL new_global(JNIEnv*, jobject object) { return vm().global_refs++, object; }
  static void JNICALL delete_global(JNIEnv*, jobject) { vm().global_refs--; }
  static void JNICALL nothing(JNIEnv*, jobject) {}
  static jweak JNICALL new_weak(JNIEnv*, jobject object) {
    vm().weak_refs.insert(object);
    return static_cast<jweak>(object);
  }
  static void JNICALL delete_weak(JNIEnv*, jweak ref) {
    auto found = vm().weak_refs.find(ref);
    if (found == vm().weak_refs.end()) abort();
    vm().weak_refs.erase(found);
  }
  static jboolean JNICALL no_exception(JNIEnv*) { return JNI_FALSE; }
  static void JNICALL clear_exception(JNIEnv*) {}
  static jint JNICALL push_frame(JNIEnv*, jint) { return vm().local_frames++, 0; }
  static jobject JNICALL pop_frame(JNIEnv*, jobject) { return vm().local_frames--, nullptr; }
  static jint JNICALL ensure_capacity(JNIEnv*, jint) { return 0; }
  static jboolean JNICALL is_same(JNIEnv*, jobject a, jobject b) { return a == b; }
  static jclass JNICALL find_class(JNIEnv*, const char* name) {
    std::string text(name);
    if (!vm().has_aqs && text.find("Synchronizer") != std::string::npos) return nullptr;
    for (char& c : text) c = c == '/' ? '.' : c;
    return static_cast<jclass>(ref_of(vm().class_named(text)));
  }
  // An id is the first letter of the field's name.
  static jfieldID JNICALL field_id(JNIEnv*, jclass, const char* name, const char*) {
    return reinterpret_cast<jfieldID>(static_cast<uintptr_t>(name[0]));
  }
  static bool is_field(jfieldID field, char letter) {
    return reinterpret_cast<uintptr_t>(field) == static_cast<uintptr_t>(letter);
  }
  static jobject JNICALL object_field(JNIEnv*, jobject object, jfieldID field) {
    if (is_field(field, 'e')) return object_of(object)->owner;
    return ref_of(thread_of(object)->blocker);
  }
  // As Unsafe.getInt() reads it.
  static jint JNICALL call_int(JNIEnv*, jobject, jmethodID, const jvalue* arguments) {
    return object_of(arguments->l)->entry_count;
  }
  static jlong JNICALL call_long(JNIEnv*, jobject, jmethodID, const jvalue*) { return 16; }
  static jmethodID JNICALL method_id(JNIEnv*, jclass, const char*, const char*) {
    return reinterpret_cast<jmethodID>(vm().class_named("java.lang.reflect.Method"));
  }
  static jobject JNICALL reflected_field(JNIEnv*, jclass, jfieldID, jboolean) {
    return ref_of(vm().class_named("java.lang.reflect.Field"));
  }
  static jobject JNICALL static_field(JNIEnv*, jclass of, jfieldID) { return of; }
  static jboolean JNICALL is_instance(JNIEnv*, jobject object, jclass of) {
    return object_of(object)->kinds.count(of) != 0;
  }
};

static const hprof_jvm_service kJvm = {sizeof(hprof_jvm_service), 0, FakeFunctions::java_vm,
                                       FakeFunctions::jvmti, FakeFunctions::jni};

FakeVm::FakeVm() {
  current = this;
  memset(&jni_functions_, 0, sizeof jni_functions_);
  memset(&jvmti_functions_, 0, sizeof jvmti_functions_);
  jvmti_functions_.GetCapabilities = FakeFunctions::capabilities;
  jvmti_functions_.GetCurrentThread = FakeFunctions::current_thread;
  jvmti_functions_.GetStackTrace = FakeFunctions::stack_trace;
  jvmti_functions_.GetThreadListStackTraces = FakeFunctions::list_stack_traces;
  jvmti_functions_.GetLoadedClasses = FakeFunctions::loaded_classes;
  jvmti_functions_.GetThreadState = FakeFunctions::thread_state;
  jvmti_functions_.GetCurrentContendedMonitor = FakeFunctions::contended;
  jvmti_functions_.GetObjectHashCode = FakeFunctions::hash_code;
  jvmti_functions_.GetObjectMonitorUsage = FakeFunctions::monitor_usage;
  jvmti_functions_.Deallocate = FakeFunctions::deallocate;
  jni_functions_.GetObjectClass = FakeFunctions::object_class;
  jni_functions_.NewLocalRef = FakeFunctions::same_ref;
  jni_functions_.DeleteLocalRef = FakeFunctions::nothing;
  jni_functions_.NewGlobalRef = FakeFunctions::new_global;
  jni_functions_.DeleteGlobalRef = FakeFunctions::delete_global;
  jni_functions_.NewWeakGlobalRef = FakeFunctions::new_weak;
  jni_functions_.DeleteWeakGlobalRef = FakeFunctions::delete_weak;
  jni_functions_.ExceptionCheck = FakeFunctions::no_exception;
  jni_functions_.ExceptionClear = FakeFunctions::clear_exception;
  jni_functions_.PushLocalFrame = FakeFunctions::push_frame;
  jni_functions_.PopLocalFrame = FakeFunctions::pop_frame;
  jni_functions_.EnsureLocalCapacity = FakeFunctions::ensure_capacity;
  jni_functions_.IsSameObject = FakeFunctions::is_same;
  jni_functions_.FindClass = FakeFunctions::find_class;
  jni_functions_.GetFieldID = FakeFunctions::field_id;
  jni_functions_.GetObjectField = FakeFunctions::object_field;
  jni_functions_.CallIntMethodA = FakeFunctions::call_int;
  jni_functions_.CallLongMethodA = FakeFunctions::call_long;
  jni_functions_.GetMethodID = FakeFunctions::method_id;
  jni_functions_.GetStaticFieldID = FakeFunctions::field_id;
  jni_functions_.ToReflectedField = FakeFunctions::reflected_field;
  jni_functions_.GetStaticObjectField = FakeFunctions::static_field;
  jni_functions_.IsInstanceOf = FakeFunctions::is_instance;
  jni_env_.functions = &jni_functions_;
  jvmti_env_.functions = &jvmti_functions_;
  mock.set_service(HPROF_SERVICE_JVM, &kJvm);
}

FakeVm::~FakeVm() {
  if (self != nullptr) destroy();
  current = nullptr;
}

void* FakeVm::class_named(const std::string& name) {
  auto& place = classes_[name];
  if (!place) {
    place.reset(new char);
    mock.raw_classes[place.get()] = mock.add_class(name, "L" + name + ";");
  }
  return place.get();
}

void* FakeVm::method_named(const std::string& name) {
  auto& place = methods_[name];
  if (!place) {
    place.reset(new char);
    size_t dot = name.rfind('.');
    mock.raw_methods[place.get()] =
        mock.add_method(mock.raw_classes[class_named(name.substr(0, dot))], name.substr(dot + 1), "()V");
  }
  return place.get();
}

FakeVm::Object* FakeVm::add_object(const std::string& class_name) {
  objects_.emplace_back();
  objects_.back().of = class_named(class_name);
  return &objects_.back();
}

FakeVm::JavaThread* FakeVm::add_thread(hprof_thread_serial serial, const std::string& method,
                                       uint32_t flags) {
  threads_.emplace_back();
  JavaThread* thread = &threads_.back();
  if (!method.empty()) thread->stack = {{static_cast<jmethodID>(method_named(method)), 1}};
  thread->view = mock.add_app_thread(serial, 100 + serial, thread, flags);
  if ((flags & HPROF_THREAD_VIRTUAL) == 0) return thread;
  // Virtual threads are known, but not visited.
  static std::deque<hprof_thread> views;
  views.push_back(*thread->view);
  thread->view = &views.back();
  mock.app_threads.pop_back();
  return thread;
}

void FakeVm::create(const std::string& unit_id, const std::map<std::string, std::string>& options) {
  const hprof_unit& unit = mock_unit(hprof_module_monitor, unit_id);
  config_.reset(new MockConfig(unit, options));
  ops = static_cast<const hprof_collector_ops*>(unit.ops);
  char error[256] = "";
  if (ops->create(mock.host(), config_->data(), &self, error, sizeof error) != HPROF_OK) self = nullptr;
}

void FakeVm::destroy() {
  ops->stop(self);
  ops->destroy(self);
  self = nullptr;
}

hprof_status FakeVm::report(double cutoff) {
  hprof_report report = {};
  report.size = sizeof report;
  report.reason = HPROF_REPORT_REQUEST;
  report.cutoff = cutoff;
  mock.written.clear();
  return ops->report(self, &report);
}

std::string FakeVm::class_text(hprof_class_serial serial) const {
  const auto info = find_class(mock_ids_service(), mock.host(), serial);
  return info ? mock.text(info->name) : "?";
}

std::vector<FakeVm::Row> FakeVm::rows() const {
  std::vector<Row> rows;
  for (auto& record : mock.written) {
    if (!is_table(record, HPROF_TABLE_MONITOR_TIME)) continue;
    for (const hprof_monitor_row& row : rows_of<hprof_monitor_row>(record.as<hprof_rec_table>())) {
      auto lines = mock.trace_text(static_cast<hprof_trace_serial>(row.trace));
      std::string label = row.label == 0 ? "" : " " + mock.text(static_cast<hprof_string_id>(row.label));
      rows.push_back({row.count, row.time_ns / 1000000,
                      lines.empty() ? "" : lines[0].substr(0, lines[0].find('(')),
                      class_text(static_cast<hprof_class_serial>(row.monitor)) + label});
    }
  }
  return rows;
}

const hprof_rec_monitor_dump* FakeVm::dump() const {
  for (auto& record : mock.written) {
    if (record.kind() == HPROF_RECORD_MONITOR_DUMP) return &record.as<hprof_rec_monitor_dump>();
  }
  return nullptr;
}

std::string FakeVm::notes() const {
  std::string text;
  for (auto& record : mock.written) {
    if (record.kind() != HPROF_RECORD_NOTE) continue;
    auto& note = record.as<hprof_rec_note>();
    text += std::string(note.text.data, note.text.size) + "\n";
  }
  return text;
}

std::vector<std::string> FakeVm::events() const {
  std::vector<std::string> found;
  for (auto& record : mock.events) {
    auto& event = record.as<hprof_rec_monitor_event>();
    found.push_back(std::string(record.kind() == HPROF_RECORD_MONITOR_WAIT ? "WAIT " : "WAITED ") +
                    std::to_string(event.thread) + " " + class_text(event.monitor) + " " +
                    std::to_string(event.time_ms));
  }
  return found;
}

}  // namespace hprof
