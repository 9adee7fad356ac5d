// The services of the mock host that stand for a VM: jvm, accounting, probes, and the drafts library,
// sampling.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mock_table.h"

namespace hprof {

namespace {

// A VM whose functions all fail, without the headers of a JDK: function tables laid out as the VM's.
constexpr int32_t kJniDetached = -2;
constexpr int32_t kNotAvailable = 98;  // JVMTI_ERROR_NOT_AVAILABLE
constexpr int32_t kJvmtiVersion = 0x30000000;
#ifdef _WIN32
#define HPROF_MOCK_PLAIN_CALLS 0
#else
#define HPROF_MOCK_PLAIN_CALLS 1
#endif
constexpr size_t kJniFunctions = 256, kJvmtiFunctions = 160, kInvokeFunctions = 8;

using Function = void (*)();
struct Interface {
  const Function* functions;
};

intptr_t answer_nothing() { return 0; }
int32_t answer_not_available() { return kNotAvailable; }

// The VM that answers: one class, one object, and a stack of two frames on every thread.
struct Frame {
  void* method;
  int64_t location;
};
char the_class, the_object, the_methods[2];

char* text_of(const char* text) {
  char* copy = static_cast<char*>(std::malloc(std::strlen(text) + 1));
  return copy != nullptr ? std::strcpy(copy, text) : nullptr;
}
void answer_text(char** to, const char* text) {
  if (to != nullptr) *to = text_of(text);
}
int32_t get_stack_trace(void*, void*, int32_t first, int32_t most, Frame* frames, int32_t* count) {
  *count = 0;
  for (int32_t i = first < 0 ? 0 : first; i < 2 && *count < most; i++)
    frames[(*count)++] = {&the_methods[i], i};
  return 0;
}
int32_t allocate(void*, int64_t size, void** memory) {
  *memory = std::malloc(static_cast<size_t>(size));
  return *memory != nullptr ? 0 : kNotAvailable;
}
int32_t deallocate(void*, void* memory) {
  std::free(memory);
  return 0;
}
int32_t get_class_signature(void*, void*, char** signature, char** generic) {
  answer_text(signature, "Lcom/acme/Thing;");
  if (generic != nullptr) *generic = nullptr;
  return 0;
}
int32_t get_method_name(void*, void*, char** name, char** signature, char** generic) {
  answer_text(name, "run");
  answer_text(signature, "()V");
  if (generic != nullptr) *generic = nullptr;
  return 0;
}
int32_t get_declaring_class(void*, void*, void** jclass) {
  *jclass = &the_class;
  return 0;
}
int32_t get_object_size(void*, void*, int64_t* size) {
  *size = 24;
  return 0;
}
int32_t get_tag(void*, void*, int64_t* tag) {
  *tag = 0;
  return 0;
}
int32_t set_tag(void*, void*, int64_t) { return 0; }
void* get_object_class(void*, void*) { return &the_class; }
void* same_reference(void*, void* reference) { return reference; }
intptr_t is_same(void*, void* one, void* other) { return one == other ? 1 : 0; }

struct Answer {
  size_t index;
  Function function;
};
template <typename F>
Function plain(F function) {
  return reinterpret_cast<Function>(function);
}
const Answer kJvmtiAnswers[] = {{45, plain(allocate)},
                                {46, plain(deallocate)},
                                {47, plain(get_class_signature)},
                                {63, plain(get_method_name)},
                                {64, plain(get_declaring_class)},
                                {103, plain(get_stack_trace)},
                                {105, plain(get_tag)},
                                {106, plain(set_tag)},
                                {153, plain(get_object_size)}};
const Answer kJniAnswers[] = {{21, plain(same_reference)},
                              {24, plain(is_same)},
                              {25, plain(same_reference)},
                              {31, plain(get_object_class)},
                              {226, plain(same_reference)}};

struct MockVm {
  Function jni_table[kJniFunctions], jvmti_table[kJvmtiFunctions], invoke_table[kInvokeFunctions];
  Interface jni{jni_table}, jvmti{jvmti_table}, invoke{invoke_table};

  explicit MockVm(bool answers) {
    for (Function& each : jni_table) each = reinterpret_cast<Function>(&answer_nothing);
    for (Function& each : jvmti_table) each = reinterpret_cast<Function>(&answer_not_available);
    for (Function& each : invoke_table) each = reinterpret_cast<Function>(&answer_nothing);
    invoke_table[4] = reinterpret_cast<Function>(&attach);
    invoke_table[6] = reinterpret_cast<Function>(&get_env);
    invoke_table[7] = reinterpret_cast<Function>(&attach);
    if (!answers) return;
    for (const Answer& each : kJvmtiAnswers) jvmti_table[each.index] = each.function;
    for (const Answer& each : kJniAnswers) jni_table[each.index] = each.function;
  }
  static int32_t get_env(void* vm, void** env, int32_t version);
  static int32_t attach(void* vm, void** env, void*) { return get_env(vm, env, 0); }
};

MockVm& mock_vm(bool answers) {
  static MockVm silent(false), answering(true);
  return answers ? answering : silent;
}

int32_t MockVm::get_env(void* vm, void** env, int32_t version) {
  if (env == nullptr) return kJniDetached;
  MockVm& of = mock_vm(vm == &mock_vm(true).invoke);
  *env = (version & 0x70000000) == kJvmtiVersion ? &of.jvmti : &of.jni;
  return 0;
}

}  // namespace

struct MockJvm {
  static MockVm& of(const hprof_host* host) { return mock_vm(MockHost::of(host)->vm_answers_); }
  static void* java_vm(const hprof_host* host) { return &of(host).invoke; }
  static void* jvmti(const hprof_host* host) { return &of(host).jvmti; }
  static void* jni(const hprof_host* host) { return &of(host).jni; }
};

void* MockHost::vm_class() { return &the_class; }
void* MockHost::vm_object() { return &the_object; }

void MockHost::let_vm_answer() {
  vm_answers_ = true;
  raw_classes[&the_class] = add_class("com.acme.Thing", "Lcom/acme/Thing;");
  for (char& method : the_methods)
    raw_methods[&method] =
        add_method(raw_classes[&the_class], &method == the_methods ? "run" : "main", "()V");
}

struct MockAccounting {
  static uint32_t column(const hprof_host* host, uint32_t index, hprof_accounting_column* column) {
    const auto& names = MockHost::of(host)->accounting_columns;
    if (index >= names.size()) return 0;
    const hprof_accounting_column filled = {sizeof filled, 1, names[index].c_str(), "of the mock host"};
    hprof_copy_sized(column, column->size, &filled, sizeof filled);
    return 1;
  }
  static hprof_status start(const hprof_host* host) {
    return MockHost::of(host)->is_refused() ? HPROF_UNSUPPORTED : HPROF_OK;
  }
  static hprof_status read(const hprof_host* host, uint64_t os_id, uint64_t* values, uint32_t count) {
    const auto& books = MockHost::of(host)->accounting;
    const auto found = books.find(os_id);
    if (found == books.end()) return HPROF_FAILED;
    for (uint32_t i = 0; i < count; i++)
      values[i] = i < found->second.size() ? found->second[i] : HPROF_NOT_ACCOUNTED;
    return HPROF_OK;
  }
  static const char* missing(const hprof_host*) { return ""; }
};

struct MockProbes {
  static hprof_status ask(const hprof_host* host, const hprof_probe_user* user, uint32_t* probes) {
    MockHost* self = MockHost::of(host);
    *probes = 0;
    if (self->probe_status != HPROF_OK) return self->probe_status;
    hprof_probe_user kept = {};
    hprof_copy_sized(&kept, sizeof kept, user, user->size);
    kept.size = user->size;
    self->probe_users.push_back(kept);
    *probes = static_cast<uint32_t>(self->probe_users.size());
    return HPROF_OK;
  }
  static hprof_status start(const hprof_host* host, uint32_t probes) {
    MockHost* self = MockHost::of(host);
    if (probes == 0 || probes > self->probe_users.size() || self->is_refused()) return HPROF_FAILED;
    self->probes_started.insert(probes);
    return HPROF_OK;
  }
  static void stop(const hprof_host* host, uint32_t probes) {
    MockHost::of(host)->probes_started.erase(probes);
  }
  static hprof_frame_id frame(const hprof_host* host, hprof_method_id method, uint32_t) {
    return MockHost::of(host)->add_frame(method, HPROF_LINE_UNKNOWN);
  }
  static void each_left(const hprof_host*, uint32_t, void*,
                        void (*)(void*, const char*, uint64_t, uint64_t)) {}
  static void totals(const hprof_host*, uint32_t, hprof_probe_totals* totals) {
    const hprof_probe_totals none = {};
    hprof_copy_sized(totals, totals->size, &none, sizeof none);
  }
  static uint32_t thread(const hprof_host*, void*, void*, uint64_t* os_id) {
    if (os_id != nullptr) *os_id = 0;
    return 0;
  }
  static uint32_t has_targets(const hprof_host* host, const char* class_name) {
    for (const hprof_probe_user& user : MockHost::of(host)->probe_users) {
      for (uint32_t i = 0; user.classes != nullptr && i < user.class_count; i++) {
        if (std::strcmp(user.classes[i].name, class_name) == 0) return 1;
      }
    }
    return 0;
  }
  static const uint32_t* redefinitions(const hprof_host*) {
    static const uint32_t none = 0;
    return &none;
  }
};

void (*MockHost::probe_target(uint32_t probes, uint32_t point) const)() {
  if (probes == 0 || probes > probe_users.size()) return nullptr;
  const hprof_probe_user& user = probe_users[probes - 1];
  for (uint32_t i = 0; i < user.target_count; i++) {
    if (user.targets[i].point == point) return user.targets[i].function;
  }
  return nullptr;
}

struct MockLibrary {
  static const hprof_library* open(const hprof_host* host, const char* path, char* error,
                                   uint32_t error_size) {
    auto& libraries = MockHost::of(host)->libraries;
    const auto found = libraries.find(path);
    if (found == libraries.end()) {
      if (error_size != 0) std::snprintf(error, error_size, "%s: not in MockHost::libraries", path);
      return nullptr;
    }
    return reinterpret_cast<const hprof_library*>(&found->second);
  }
  static void* symbol(const hprof_host* host, const hprof_library* library, const char* name) {
    const auto* symbols = library != nullptr ? reinterpret_cast<const std::map<std::string, void*>*>(library)
                                             : &MockHost::of(host)->libraries[""];
    const auto found = symbols->find(name);
    return found == symbols->end() ? nullptr : found->second;
  }
};

struct MockSampling {
  static hprof_status install(const hprof_host* host, void (*handler)(void*, void*, void*, uint32_t),
                              void* argument) {
    if (MockHost::of(host)->is_refused()) return HPROF_UNSUPPORTED;
    MockHost::of(host)->tick_handler_ = [=](void* timer, void* context, uint32_t ticks) {
      handler(argument, timer, context, ticks);
    };
    return HPROF_OK;
  }
  static void uninstall(const hprof_host* host) { MockHost::of(host)->tick_handler_ = nullptr; }
  static hprof_cpu_timer* start(const hprof_host* host, uint64_t os_id, uint64_t, void* timer_argument,
                                hprof_status* why) {
    *why = HPROF_UNSUPPORTED;
    if (MockHost::of(host)->is_refused()) return nullptr;
    auto& timer = MockHost::of(host)->timers_[os_id];
    timer = timer_argument;
    return reinterpret_cast<hprof_cpu_timer*>(&timer);
  }
  static void stop(const hprof_host* host, hprof_cpu_timer* timer) {
    auto& timers = MockHost::of(host)->timers_;
    for (auto each = timers.begin(); each != timers.end(); ++each) {
      if (reinterpret_cast<hprof_cpu_timer*>(&each->second) != timer) continue;
      timers.erase(each);
      return;
    }
  }
  static uint32_t guarded(const hprof_host*, void (*body)(void* argument), void* argument) {
    body(argument);
    return 1;
  }
  static uint32_t read_registers(const hprof_host*, const void*, hprof_registers*) { return 0; }
  static void write_registers(const hprof_host*, void*, const hprof_registers*) {}
  static uint64_t timer_number(const hprof_host*, const hprof_cpu_timer*) { return 0; }
  static void set_interval(const hprof_host*, uint64_t, uint64_t) {}
  static uint32_t is_blocked(const hprof_host*, uint64_t) { return 0; }
  static uint64_t tick_length(const hprof_host*) { return 0; }
  static uint64_t add_moments(const hprof_host*, hprof_cpu_timer*) { return 0; }
  static void signal_after(const hprof_host*, uint64_t, uint64_t) {}
  static uint32_t interrupted_call(const hprof_host*, const void*) { return HPROF_CALL_NONE; }
  static void each_thread(const hprof_host*, void*, void (*)(void*, uint64_t, const char*)) {}
};

void MockHost::tick(uint64_t os_id, uint32_t ticks, void* ucontext) {
  const auto timer = timers_.find(os_id);
  if (tick_handler_ && timer != timers_.end()) tick_handler_(timer->second, ucontext, ticks);
}

void MockHost::add_vm_services() {
  static const hprof_probes_service probes = [] {
    hprof_probes_service table = *mock_table<hprof_probes_service, MockProbes>();
    table.frames = 2;
    return table;
  }();
  // A 32-bit Windows VM has another calling convention than these functions.
  if (sizeof(void*) == 8 || HPROF_MOCK_PLAIN_CALLS)
    services_[HPROF_SERVICE_JVM] = mock_table<hprof_jvm_service, MockJvm>();
  services_[HPROF_SERVICE_ACCOUNTING] = mock_table<hprof_accounting_service, MockAccounting>();
  services_[HPROF_SERVICE_PROBES] = &probes;
  services_[HPROF_SERVICE_LIBRARY] = mock_table<hprof_library_service, MockLibrary>();
  services_[HPROF_SERVICE_SAMPLING] = mock_table<hprof_sampling_service, MockSampling>();
}

}  // namespace hprof
