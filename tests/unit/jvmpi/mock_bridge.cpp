#include "tests/unit/jvmpi/mock_bridge.h"

#include <cstring>
#include <doctest/doctest.h>

namespace hprof::jvmpi {

MockBridge* MockBridge::one;

struct MockBridge::Functions {
  static hprof_status ask(const hprof_host*, const hprof_probe_user* user, uint32_t* probes) {
    if (one->ask_status != HPROF_OK) return one->ask_status;
    *probes = 1;
    for (uint32_t i = 0; i < user->target_count; i++) {
      const hprof_target& target = user->targets[i];
      if (target.point == HPROF_POINT_BEGIN)
        std::memcpy(&one->begins_, &target.function, sizeof one->begins_);
      if (target.point == HPROF_POINT_END) std::memcpy(&one->ends_, &target.function, sizeof one->ends_);
    }
    return HPROF_OK;
  }
  static hprof_status start(const hprof_host*, uint32_t) {
    one->done_.emplace_back("start");
    if (one->in_start) one->in_start();
    return one->start_status;
  }
  static void stop(const hprof_host*, uint32_t) { one->done_.emplace_back("stop"); }
  static jint JNICALL get_env(JavaVM*, void** env, jint) {
    *env = one->is_attached ? one->jni : nullptr;
    return one->is_attached ? JNI_OK : JNI_EDETACHED;
  }
  static jvmtiError JNICALL set_mode(jvmtiEnv*, jvmtiEventMode mode, jvmtiEvent event, jthread, ...) {
    if (event == JVMTI_EVENT_METHOD_ENTRY)
      one->done_.emplace_back(mode == JVMTI_ENABLE ? "events on" : "events off");
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL frame_location(jvmtiEnv*, jthread, jint, jmethodID* method, jlocation* location) {
    *method = one->on_top_;
    *location = 0;
    return JVMTI_ERROR_NONE;
  }
  static jvmtiError JNICALL modifiers(jvmtiEnv*, jmethodID, jint* modifiers) {
    *modifiers = 0;
    return JVMTI_ERROR_NONE;
  }
  static void notify(JVMPI_Event* event) {
    const char* what = event->event_type == JVMPI_EVENT_METHOD_ENTRY  ? "entry "
                       : event->event_type == JVMPI_EVENT_METHOD_EXIT ? "exit "
                                                                      : nullptr;
    REQUIRE(what != nullptr);
    CHECK(event->env_id == one->jni);
    one->done_.push_back(what + std::to_string(reinterpret_cast<uintptr_t>(event->u.method.method_id)));
  }
};

// Before the bridge, which looks for the services once.
bool MockBridge::prepare() {
  one = this;
  Services services(host.host());
  jni = static_cast<JNIEnv*>(services.jvm->jni(host.host()));
  probes_ = *services.probes;
  probes_.ask = &Functions::ask;
  probes_.start = &Functions::start;
  probes_.stop = &Functions::stop;
  host.set_service(HPROF_SERVICE_PROBES, &probes_);
  jvmti_functions_ = *static_cast<jvmtiEnv*>(services.jvm->jvmti(host.host()))->functions;
  jvmti_functions_.SetEventNotificationMode = &Functions::set_mode;
  jvmti_functions_.GetFrameLocation = &Functions::frame_location;
  jvmti_functions_.GetMethodModifiers = &Functions::modifiers;
  jvmti_.functions = &jvmti_functions_;
  vm_functions_ = *static_cast<JavaVM*>(services.jvm->java_vm(host.host()))->functions;
  vm_functions_.GetEnv = &Functions::get_env;
  return true;
}

MockBridge::MockBridge() {
  Vm& vm = bridge_.vm;
  vm.java_vm = static_cast<JavaVM*>(vm.services.jvm->java_vm(host.host()));
  vm.invoke = &vm_functions_;
  vm.jvmti = &jvmti_;
  vm.can.can_generate_method_entry_events = 1;
  vm.can.can_generate_method_exit_events = 1;
  REQUIRE(bridge_.classes.open());
  REQUIRE(bridge_.threads.open());
  bridge_.notifier.functions().NotifyEvent = &Functions::notify;
  bridge_.was_asked = true;
  the_bridge = &bridge_;
}

MockBridge::~MockBridge() {
  the_bridge = nullptr;
  bridge_.release_memory();
  one = nullptr;
}

Lines MockBridge::take() {
  Lines taken;
  taken.swap(done_);
  return taken;
}

jlong MockBridge::begins(int method) {
  on_top_ = reinterpret_cast<jmethodID>(static_cast<uintptr_t>(method));
  return begins_(jni, nullptr, 0, method);
}

}  // namespace hprof::jvmpi
