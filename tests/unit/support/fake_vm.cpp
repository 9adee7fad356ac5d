#include "tests/unit/support/fake_vm.h"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace hprof {

namespace {

unsigned char* copied(FakeVm& vm, const std::string& text) {
  auto* copy = static_cast<unsigned char*>(malloc(text.size() + 1));
  memcpy(copy, text.c_str(), text.size() + 1);
  vm.blocks++;
  return copy;
}

char* text_of(FakeVm& vm, const std::string& text) { return reinterpret_cast<char*>(copied(vm, text)); }

}  // namespace

FakeVm* FakeVm::the_one;

FakeVm::Thread*& FakeVm::current() {
  static thread_local Thread* thread;
  return thread;
}

struct FakeVm::Functions {
  static FakeVm& vm() { return *the_one; }
  static Thread* of(jthread thread) {
    return thread != nullptr ? reinterpret_cast<Thread*>(thread) : FakeVm::current();
  }
  static Object* object_of(jobject ref) { return reinterpret_cast<Object*>(ref); }
  static const std::string& text_of_id(const void* id) { return static_cast<const Object*>(id)->text; }

  // --- JavaVM

  static jint JNICALL get_env(JavaVM*, void** env, jint version) {
    const bool wants_jvmti = (version & 0x30000000) == 0x30000000;
    *env = wants_jvmti ? static_cast<void*>(&vm().jvmti_) : static_cast<void*>(&vm().jni_);
    if (wants_jvmti || current() != nullptr) return JNI_OK;
    *env = nullptr;
    return JNI_EDETACHED;
  }
  static jint JNICALL destroy_vm(JavaVM*) { return JNI_OK; }

  // --- JVMTI

  static jvmtiError JNICALL get_storage(jvmtiEnv*, void** data) {
    if (vm().loses_storage) return JVMTI_ERROR_INTERNAL;
    *data = const_cast<void*>(vm().storage_);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL set_storage(jvmtiEnv*, const void* data) {
    vm().storage_ = data;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL set_callbacks(jvmtiEnv*, const jvmtiEventCallbacks* callbacks, jint size) {
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    memset(vm().callbacks_, 0, sizeof vm().callbacks_);
    if (callbacks != nullptr) memcpy(vm().callbacks_, callbacks, static_cast<size_t>(size));
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL set_mode(jvmtiEnv*, jvmtiEventMode mode, jvmtiEvent event, jthread, ...) {
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    if (vm().refused_events.count(event) != 0) return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    if (mode == JVMTI_ENABLE) {
      vm().enabled_.insert(event);
    } else {
      vm().enabled_.erase(event);
    }
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL all_capabilities(jvmtiEnv*, jvmtiCapabilities* to) {
    memset(to, 0xff, sizeof *to);
    to->can_get_current_contended_monitor = vm().tells_monitors ? 1 : 0;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL change_capabilities(jvmtiEnv*, const jvmtiCapabilities*) {
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_property(jvmtiEnv*, const char* name, char** value) {
    if (strcmp(name, "java.vm.specification.version") != 0) return JVMTI_ERROR_NOT_AVAILABLE;
    *value = text_of(vm(), std::to_string(vm().java_version));
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_processors(jvmtiEnv*, jint* count) {
    *count = 2;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL allocate(jvmtiEnv*, jlong size, unsigned char** memory) {
    *memory = static_cast<unsigned char*>(malloc(static_cast<size_t>(size)));
    vm().blocks++;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL deallocate(jvmtiEnv*, unsigned char* memory) {
    if (memory != nullptr) vm().blocks--;
    free(memory);
    return JVMTI_ERROR_NONE;
  }
  static char* copy_of(const std::string& text) {
    unsigned char* copy = nullptr;
    allocate(nullptr, static_cast<jlong>(text.size() + 1), &copy);
    memcpy(copy, text.c_str(), text.size() + 1);
    return reinterpret_cast<char*>(copy);
  }
  static jvmtiError JNICALL extension(jvmtiEnv*, ...) { return JVMTI_ERROR_NONE; }
  // Each with one parameter.
  static jvmtiError JNICALL get_extensions(jvmtiEnv*, jint* count, jvmtiExtensionFunctionInfo** functions) {
    unsigned char* block = nullptr;
    *count = static_cast<jint>(vm().extensions.size());
    allocate(nullptr, *count * static_cast<jint>(sizeof **functions), &block);
    *functions = reinterpret_cast<jvmtiExtensionFunctionInfo*>(block);
    for (jint i = 0; i < *count; i++) {
      unsigned char* parameter = nullptr;
      allocate(nullptr, sizeof(jvmtiParamInfo), &parameter);
      auto* info = new (parameter) jvmtiParamInfo{copy_of("it"), JVMTI_KIND_IN, JVMTI_TYPE_JINT, JNI_FALSE};
      (*functions)[i] = {
          extension, copy_of(vm().extensions[static_cast<size_t>(i)]), copy_of("does it"), 1, info, 0,
          nullptr};
    }
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_thread_storage(jvmtiEnv*, jthread thread, void** data) {
    Thread* of_thread = of(thread);
    if (of_thread == nullptr) return JVMTI_ERROR_THREAD_NOT_ALIVE;
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    *data = of_thread->storage;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL set_thread_storage(jvmtiEnv*, jthread thread, const void* data) {
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    if (vm().refuses_thread_storage) return JVMTI_ERROR_INTERNAL;
    if (vm().ended_.count(of(thread)) != 0) return JVMTI_ERROR_THREAD_NOT_ALIVE;
    of(thread)->storage = const_cast<void*>(data);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_thread_info(jvmtiEnv*, jthread thread, jvmtiThreadInfo* info) {
    memset(info, 0, sizeof *info);
    info->name = text_of(vm(), of(thread)->text);
    info->is_daemon = of(thread)->is_daemon ? JNI_TRUE : JNI_FALSE;
    info->thread_group = vm().object(of(thread)->group)->ref();
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_group_info(jvmtiEnv*, jthreadGroup group, jvmtiThreadGroupInfo* info) {
    memset(info, 0, sizeof *info);
    info->name = text_of(vm(), object_of(group)->text);
    if (object_of(group)->text == "main") info->parent = vm().object("system")->ref();
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_top_groups(jvmtiEnv*, jint* count, jthreadGroup** groups) {
    *groups = reinterpret_cast<jthreadGroup*>(malloc(sizeof(jthreadGroup)));
    vm().blocks++;
    **groups = vm().object("system")->ref();
    *count = 1;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_all_threads(jvmtiEnv*, jint* count, jthread** threads) {
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    *threads = static_cast<jthread*>(malloc((vm().threads_.size() + 1) * sizeof(jthread)));
    vm().blocks++;
    *count = 0;
    for (auto& thread : vm().threads_) {
      if (!thread->is_virtual && vm().ended_.count(thread.get()) == 0) (*threads)[(*count)++] = thread->ref();
    }
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_current_thread(jvmtiEnv*, jthread* thread) {
    *thread = current() != nullptr ? current()->ref() : nullptr;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL run_thread(jvmtiEnv*, jthread thread, jvmtiStartFunction body,
                                       const void* argument, jint) {
    if (vm().refuses_agent_threads) return JVMTI_ERROR_INTERNAL;
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    vm().agent_threads_.emplace_back([thread, body, argument] {
      current() = of(thread);
      vm().post_thread_start(*current());
      body(&vm().jvmti_, &vm().jni_, const_cast<void*>(argument));
      vm().post_thread_end(*current());
      vm().end(*current());
      current() = nullptr;
    });
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL dispose(jvmtiEnv*) {
    vm().disposed++;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL collect(jvmtiEnv*) {
    vm().collections++;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL get_classes(jvmtiEnv*, jint* count, jclass** classes) {
    if (vm().on_loaded_classes) vm().on_loaded_classes();
    *count = 0;
    *classes = static_cast<jclass*>(malloc((vm().loaded.size() + 1) * sizeof(jclass)));
    vm().blocks++;
    for (const std::string& name : vm().loaded)
      (*classes)[(*count)++] = static_cast<jclass>(vm().object(name)->ref());
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL no_stacks(jvmtiEnv*, jint, jvmtiStackInfo** stacks, jint* count) {
    *stacks = nullptr;
    *count = 0;
    return JVMTI_ERROR_NONE;
  }
  static const std::string& name_of(jclass cls) { return object_of(cls)->text; }
  static jvmtiError JNICALL is_modifiable(jvmtiEnv*, jclass cls, jboolean* answer) {
    *answer = vm().fixed_classes.count(name_of(cls)) == 0 ? JNI_TRUE : JNI_FALSE;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL is_array(jvmtiEnv*, jclass, jboolean* answer) {
    *answer = JNI_FALSE;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL class_signature(jvmtiEnv*, jclass of, char** signature, char**) {
    std::string text = "L" + name_of(of) + ";";
    std::replace(text.begin(), text.end(), '.', '/');
    *signature = strdup(text.c_str());
    vm().blocks++;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL add_reads(jvmtiEnv*, jobject, jobject) { return JVMTI_ERROR_NONE; }
  static jvmtiError JNICALL retransform(jvmtiEnv*, jint count, const jclass* classes) {
    for (jint i = 0; i < count; i++) {
      if (vm().refused_classes.count(name_of(classes[i])) != 0) return JVMTI_ERROR_UNSUPPORTED_VERSION;
    }
    std::vector<std::string> names;
    for (jint i = 0; i < count; i++) {
      names.push_back(name_of(classes[i]));
      vm().post_class_file(names.back(), vm().class_file(names.back()));
    }
    vm().retransformed.push_back(names);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL no_heap(jvmtiEnv*, jint, jclass, const jvmtiHeapCallbacks*, const void*) {
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL no_extension_events(jvmtiEnv*, jint*, jvmtiExtensionEventInfo**) {
    return JVMTI_ERROR_NOT_AVAILABLE;
  }
  static jvmtiError JNICALL no_jni_table(jvmtiEnv*, jniNativeInterface**) {
    return JVMTI_ERROR_NOT_AVAILABLE;
  }
  static jint copy(const std::vector<jvmtiFrameInfo>& from, jint most, jvmtiFrameInfo* to) {
    const jint count = std::min(most, static_cast<jint>(from.size()));
    std::copy_n(from.begin(), count, to);
    return count;
  }
  static jvmtiError JNICALL stack_trace(jvmtiEnv*, jthread thread, jint, jint most, jvmtiFrameInfo* frames,
                                        jint* count) {
    vm().single_calls++;
    *count = copy(of(thread)->stack, most, frames);
    if (vm().on_stack) vm().on_stack(*of(thread));
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL list_stack_traces(jvmtiEnv*, jint count, const jthread* threads, jint most,
                                              jvmtiStackInfo** out) {
    vm().list_calls++;
    if (of(threads[0])->is_ending) return JVMTI_ERROR_NONE;
    const size_t head = static_cast<size_t>(count) * sizeof(jvmtiStackInfo);
    const size_t body = static_cast<size_t>(count) * static_cast<size_t>(most) * sizeof(jvmtiFrameInfo);
    auto* infos = static_cast<jvmtiStackInfo*>(calloc(1, head + body + 1));
    vm().blocks++;
    auto* frames = reinterpret_cast<jvmtiFrameInfo*>(reinterpret_cast<char*>(infos) + head);
    for (jint i = 0; i < count; i++, frames += most) {
      infos[i] = {threads[i], of(threads[i])->state, frames, 0};
      infos[i].frame_count = copy(of(threads[i])->stack, most, frames);
    }
    *out = infos;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL thread_state(jvmtiEnv*, jthread thread, jint* state) {
    *state = of(thread)->state;
    if (vm().on_state) vm().on_state(*of(thread));
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL no_cpu_time(jvmtiEnv*, jthread, jlong*) { return JVMTI_ERROR_THREAD_NOT_ALIVE; }
  static jvmtiError JNICALL contended(jvmtiEnv*, jthread thread, jobject* object) {
    if (!vm().tells_monitors) return JVMTI_ERROR_MUST_POSSESS_CAPABILITY;
    *object = reinterpret_cast<jobject>(of(thread)->on);
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL owned(jvmtiEnv*, jthread thread, jint* count, jobject** objects) {
    std::vector<jobject> found;
    for (auto& object : vm().objects_) {  // locks have an owner, too
      if (object->owner == thread && object->kinds.empty()) found.push_back(object->ref());
    }
    *count = static_cast<jint>(found.size());
    *objects = static_cast<jobject*>(malloc(sizeof(jobject) * (found.size() + 1)));
    std::copy(found.begin(), found.end(), *objects);
    vm().blocks++;
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

  // --- JNI

  static jint JNICALL get_version(JNIEnv*) { return vm().java_version >= 21 ? 0x00150000 : 0x000a0000; }
  static jclass JNICALL find_class(JNIEnv*, const char* name) {
    if (vm().missing_classes.count(name) != 0) return nullptr;
    std::string text(name);
    std::replace(text.begin(), text.end(), '/', '.');
    return static_cast<jclass>(vm().class_named(text)->ref());
  }
  static jclass JNICALL define_class(JNIEnv*, const char* name, jobject, const jbyte*, jsize) {
    vm().defined.push_back(name);
    return static_cast<jclass>(vm().object(name)->ref());
  }
  static jmethodID JNICALL get_method(JNIEnv*, jclass, const char* name, const char*) {
    return reinterpret_cast<jmethodID>(vm().object(std::string("method ") + name));
  }
  static jfieldID JNICALL get_field(JNIEnv*, jclass, const char* name, const char*) {
    if (vm().missing_fields.count(name) != 0) return nullptr;
    return reinterpret_cast<jfieldID>(vm().object(name));
  }
  static jobject JNICALL new_object(JNIEnv*, jclass, jmethodID, const jvalue* arguments) {
    FakeVm::Thread& thread = vm().add_thread(object_of(arguments[1].l)->text);
    if (arguments[0].l != nullptr) thread.group = object_of(arguments[0].l)->text;
    return thread.ref();
  }
  static jstring JNICALL new_string(JNIEnv*, const char* text) {
    return static_cast<jstring>(vm().object(text)->ref());
  }
  static jobject JNICALL new_global(JNIEnv*, jobject of) {
    if (vm().refuses_global_refs) return nullptr;
    vm().global_refs++;
    return of;
  }
  static void JNICALL delete_global(JNIEnv*, jobject) { vm().global_refs--; }
  static jweak JNICALL new_weak(JNIEnv*, jobject of) {
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    vm().weak_.insert(of);
    return of;
  }
  static void JNICALL delete_weak(JNIEnv*, jweak ref) {
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    const auto found = vm().weak_.find(ref);
    if (found == vm().weak_.end()) abort();
    vm().weak_.erase(found);
  }
  static jobject JNICALL new_local(JNIEnv*, jobject of) {
    vm().local_refs++;
    return of;
  }
  static void JNICALL delete_local(JNIEnv*, jobject) {}
  static jboolean JNICALL is_same(JNIEnv*, jobject one, jobject other) { return one == other; }
  static jboolean JNICALL no_exception(JNIEnv*) { return JNI_FALSE; }
  static void JNICALL clear_exception(JNIEnv*) {}
  static jobject JNICALL call_object(JNIEnv*, jobject of, jmethodID method, va_list) {
    return text_of_id(method) == "method getModule" ? of : nullptr;
  }
  static jclass JNICALL object_class(JNIEnv*, jobject object) {
    Object* of = object_of(object)->of;
    return static_cast<jclass>(of != nullptr ? of->ref() : object);
  }
  static jint JNICALL push_frame(JNIEnv*, jint) {
    vm().local_frames++;
    return JNI_OK;
  }
  static jobject JNICALL pop_frame(JNIEnv*, jobject) {
    vm().local_frames--;
    vm().local_refs = 0;
    return nullptr;
  }
  static jint JNICALL ensure_capacity(JNIEnv*, jint) { return JNI_OK; }
  static jboolean JNICALL is_instance(JNIEnv*, jobject object, jclass of) {
    return object_of(object)->kinds.count(of) != 0 ? JNI_TRUE : JNI_FALSE;
  }
  static jobject JNICALL object_field(JNIEnv*, jobject object, jfieldID field) {
    if (text_of_id(field) == "exclusiveOwnerThread") return object_of(object)->owner;
    return reinterpret_cast<jobject>(of(static_cast<jthread>(object))->blocker);
  }
  static jobject JNICALL static_field(JNIEnv*, jclass of, jfieldID) { return of; }
  // As Unsafe.getInt() reads the holds of a lock, at what Unsafe.objectFieldOffset() answers.
  static jint JNICALL call_int(JNIEnv*, jobject, jmethodID, const jvalue* arguments) {
    return object_of(arguments->l)->entry_count;
  }
  // Unsafe's: the offset of each field is 16, of a thread the field `tid` is read.
  static jlong JNICALL call_long(JNIEnv*, jobject, jmethodID method, const jvalue* arguments) {
    if (text_of_id(method) != "method getLong") return 16;
    std::lock_guard<std::recursive_mutex> hold(vm().lock_);
    for (const auto& thread : vm().threads_) {
      if (thread->ref() == arguments[0].l && thread->fields.count("tid") != 0) return thread->fields["tid"];
    }
    return 16;
  }
  static jboolean JNICALL is_virtual(JNIEnv*, jobject thread) {
    return of(static_cast<jthread>(thread))->is_virtual ? JNI_TRUE : JNI_FALSE;
  }
  static void JNICALL call_static(JNIEnv*, jclass, jmethodID, va_list) {}
  // hprof.Binder.bind()
  static void JNICALL call_static_with(JNIEnv* jni, jclass of, jmethodID method, const jvalue*) {
    if (text_of_id(method) != "method bind") return;
    reinterpret_cast<void(JNICALL*)(JNIEnv*, jclass)>(vm().natives["bindNow"])(jni, of);
  }
  static jint JNICALL register_natives(JNIEnv*, jclass, const JNINativeMethod* methods, jint count) {
    for (jint i = 0; i < count; i++) vm().natives[methods[i].name] = methods[i].fnPtr;
    return JNI_OK;
  }
  // HprofCalls.live
  static std::string flag(jclass of, jfieldID field) {
    const std::string& name = object_of(of)->text;
    return name.substr(name.find_last_of("./") + 1) + "." + text_of_id(field);
  }
  static void JNICALL set_flag(JNIEnv*, jclass of, jfieldID field, jboolean value) {
    vm().static_flags[flag(of, field)] = value != JNI_FALSE;
  }
  static jboolean JNICALL get_flag(JNIEnv*, jclass of, jfieldID field) {
    return vm().static_flags[flag(of, field)] ? JNI_TRUE : JNI_FALSE;
  }
  static void JNICALL set_static_long(JNIEnv*, jclass, jfieldID, jlong) {}
  // As under single-generation ZGC.
  static jlong JNICALL get_stale_long(JNIEnv*, jobject, jfieldID) { return 0x5ca1ab1e; }
  // HprofCalls.stateAt()
  static jlong JNICALL call_static_long(JNIEnv*, jclass, jmethodID, const jvalue* arguments) {
    const jlong word = of(static_cast<jthread>(arguments->l))->fields["$hprof"];
    if (vm().on_static_long) vm().on_static_long(arguments->l);
    return word;
  }
  static jobject JNICALL reflected_field(JNIEnv*, jclass, jfieldID, jboolean) {
    return vm().reflects ? vm().object("field")->ref() : nullptr;
  }
  static void JNICALL set_long(JNIEnv*, jobject object, jfieldID field, jlong value) {
    of(static_cast<jthread>(object))->fields[text_of_id(field)] = value;
  }

  static void fill(jvmtiInterface_1_& t) {
    t.GetEnvironmentLocalStorage = get_storage;
    t.SetEnvironmentLocalStorage = set_storage;
    t.SetEventCallbacks = set_callbacks;
    t.SetEventNotificationMode = set_mode;
    t.GetPotentialCapabilities = all_capabilities;
    t.GetCapabilities = all_capabilities;
    t.AddCapabilities = change_capabilities;
    t.RelinquishCapabilities = change_capabilities;
    t.GetSystemProperty = get_property;
    t.GetAvailableProcessors = get_processors;
    t.Allocate = allocate;
    t.Deallocate = deallocate;
    t.GetThreadLocalStorage = get_thread_storage;
    t.SetThreadLocalStorage = set_thread_storage;
    t.GetThreadInfo = get_thread_info;
    t.GetThreadGroupInfo = get_group_info;
    t.GetTopThreadGroups = get_top_groups;
    t.GetAllThreads = get_all_threads;
    t.GetCurrentThread = get_current_thread;
    t.RunAgentThread = run_thread;
    t.DisposeEnvironment = dispose;
    t.ForceGarbageCollection = collect;
    t.GetLoadedClasses = get_classes;
    t.IsModifiableClass = is_modifiable;
    t.IsArrayClass = is_array;
    t.RetransformClasses = retransform;
    t.GetClassSignature = class_signature;
    t.AddModuleReads = add_reads;
    t.IterateThroughHeap = no_heap;
    t.GetExtensionEvents = no_extension_events;
    t.GetExtensionFunctions = get_extensions;
    t.GetJNIFunctionTable = no_jni_table;
    t.GetStackTrace = stack_trace;
    t.GetAllStackTraces = no_stacks;
    t.GetThreadListStackTraces = list_stack_traces;
    t.GetThreadState = thread_state;
    t.GetThreadCpuTime = no_cpu_time;
    t.GetCurrentContendedMonitor = contended;
    t.GetOwnedMonitorInfo = owned;
    t.GetObjectHashCode = hash_code;
    t.GetObjectMonitorUsage = monitor_usage;
  }

  static void fill(JNINativeInterface_& t) {
    t.GetVersion = get_version;
    t.FindClass = find_class;
    t.DefineClass = define_class;
    t.GetMethodID = t.GetStaticMethodID = get_method;
    t.GetFieldID = t.GetStaticFieldID = get_field;
    t.NewObjectA = new_object;
    t.NewStringUTF = new_string;
    t.NewGlobalRef = new_global;
    t.DeleteGlobalRef = delete_global;
    t.NewWeakGlobalRef = new_weak;
    t.DeleteWeakGlobalRef = delete_weak;
    t.NewLocalRef = new_local;
    t.DeleteLocalRef = delete_local;
    t.IsSameObject = is_same;
    t.ExceptionCheck = no_exception;
    t.ExceptionClear = clear_exception;
    t.PushLocalFrame = push_frame;
    t.PopLocalFrame = pop_frame;
    t.CallStaticVoidMethodV = call_static;
    t.CallStaticVoidMethodA = call_static_with;
    t.CallObjectMethodV = call_object;
    t.GetObjectClass = object_class;
    t.SetStaticBooleanField = set_flag;
    t.GetStaticBooleanField = get_flag;
    t.RegisterNatives = register_natives;
    t.SetStaticLongField = set_static_long;
    t.GetLongField = get_stale_long;
    t.CallStaticLongMethodA = call_static_long;
    t.ToReflectedField = reflected_field;
    t.SetLongField = set_long;
    t.EnsureLocalCapacity = ensure_capacity;
    t.IsInstanceOf = is_instance;
    t.GetObjectField = object_field;
    t.GetStaticObjectField = static_field;
    t.CallIntMethodA = call_int;
    t.CallLongMethodA = call_long;
  }
};

FakeVm::FakeVm() {
  the_one = this;
  memset(&jni_functions_, 0, sizeof jni_functions_);
  vm_functions_.GetEnv = Functions::get_env;
  vm_functions_.DestroyJavaVM = Functions::destroy_vm;
  Functions::fill(jvmti_functions_);
  Functions::fill(jni_functions_.table);
  jni_functions_.slots[234] = reinterpret_cast<void*>(&Functions::is_virtual);  // IsVirtualThread, of 21
  vm_.functions = &vm_functions_;
  jvmti_.functions = &jvmti_functions_;
  jni_.functions = &jni_functions_.table;
}

FakeVm::~FakeVm() {
  for (std::thread& thread : agent_threads_) thread.join();
  current() = nullptr;
  the_one = nullptr;
}

FakeVm::Thread& FakeVm::add_thread(const std::string& name, bool is_virtual) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  threads_.push_back(std::make_unique<Thread>());
  threads_.back()->text = name;
  threads_.back()->is_virtual = is_virtual;
  return *threads_.back();
}

void FakeVm::end(Thread& thread) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  ended_.insert(&thread);
}

FakeVm::Object* FakeVm::object(const std::string& text) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  auto& place = named_[text];
  if (place == nullptr) place = std::make_unique<Object>();
  place->text = text;
  return place.get();
}

FakeVm::Object* FakeVm::class_named(const std::string& name) {
  std::lock_guard<std::recursive_mutex> hold(lock_);
  auto& place = classes_[name];
  if (place != nullptr) return place.get();
  place = std::make_unique<Object>();
  place->text = name;
  made_class(*place);
  return place.get();
}

FakeVm::Object* FakeVm::add_object(const std::string& class_name) {
  objects_.push_back(std::make_unique<Object>());
  objects_.back()->of = class_named(class_name);
  return objects_.back().get();
}

}  // namespace hprof
