#include "tests/unit/support/unit_vm.h"

#include <hprof/cpp/service.hpp>
#include <hprof/service/ids.h>

namespace hprof {

UnitVm* UnitVm::current = nullptr;

UnitVm::UnitVm() {
  static const hprof_jvm_service jvm = {
      sizeof jvm, 0, [](const hprof_host*) -> void* { return nullptr; },
      [](const hprof_host*) -> void* { return current->has_jvmti ? current->jvmti() : nullptr; },
      [](const hprof_host*) -> void* { return current->jni(); }};
  current = this;
  reflects = true;
  mock.set_service(HPROF_SERVICE_JVM, &jvm);
  probes = *find_service<hprof_probes_service>(mock.host(), HPROF_SERVICE_PROBES);
  probes.frame = [](const hprof_host* host, hprof_method_id method, uint32_t) {
    const std::string name = "m" + std::to_string(method);
    return find_service<hprof_ids_service>(host, HPROF_SERVICE_IDS)
        ->synthetic_frame(host, "App", name.c_str());
  };
  mock.set_service(HPROF_SERVICE_PROBES, &probes);
}

UnitVm::~UnitVm() {
  if (self != nullptr) destroy();
  current = nullptr;
}

void UnitVm::made_class(Object& of) {
  mock.raw_classes[of.ref()] = mock.add_class(of.text, "L" + of.text + ";");
}

jmethodID UnitVm::method(const std::string& name) {
  auto& place = methods_[name];
  if (place == nullptr) {
    place = std::make_unique<char>();
    const size_t dot = name.rfind('.');
    const hprof_class_serial owner = mock.raw_classes[class_named(name.substr(0, dot))];
    mock.raw_methods[place.get()] = mock.add_method(owner, name.substr(dot + 1), "()V");
  }
  return reinterpret_cast<jmethodID>(place.get());
}

FakeVm::Thread& UnitVm::add_thread(hprof_thread_serial serial, uint64_t os_id, const std::string& name,
                                   uint32_t flags) {
  Thread& thread = FakeVm::add_thread(name, (flags & HPROF_THREAD_VIRTUAL) != 0);
  if (!name.empty()) thread.stack = {{method(name), 1}};
  thread.view = mock.add_app_thread(serial, os_id, thread.ref(), flags);
  return thread;
}

void UnitVm::create(hprof_module_entry entry, const std::string& id,
                    const std::map<std::string, std::string>& options) {
  const hprof_unit& unit = mock_unit(entry, id);
  config_ = std::make_unique<MockConfig>(unit, options);
  ops = static_cast<const hprof_collector_ops*>(unit.ops);
  char error[256] = "";
  if (ops->create(mock.host(), config_->data(), &self, error, sizeof error) != HPROF_OK) self = nullptr;
}

void UnitVm::destroy() {
  ops->stop(self);
  ops->destroy(self);
  self = nullptr;
}

hprof_status UnitVm::report(double cutoff) {
  hprof_report report = {};
  report.size = sizeof report;
  report.reason = HPROF_REPORT_REQUEST;
  report.cutoff = cutoff;
  mock.written.clear();
  return ops->report(self, &report);
}

std::string UnitVm::notes() const {
  std::string text;
  for (auto& record : mock.written) {
    if (record.kind() != HPROF_RECORD_NOTE) continue;
    auto& note = record.as<hprof_rec_note>();
    text += std::string(note.text.data, note.text.size) + "\n";
  }
  return text;
}

void UnitVm::run_thread(uint64_t ns, size_t thread_index, uint32_t turns) {
  hprof_agent_thread* thread = mock.agent_threads.at(thread_index).get();
  mock.on_wait = [this, ns](uint64_t) { mock.now_ns += ns; };
  thread->turns_left = turns;
  thread->body(thread->argument, jni(), thread);
}

void (*UnitVm::native_of(const std::string& name) const)() {
  for (const hprof_probe_user& user : mock.probe_users) {
    for (uint32_t i = 0; i < user.class_count; i++) {
      const hprof_probe_class& brought = user.classes[i];
      for (uint32_t n = 0; n < brought.native_count; n++) {
        if (brought.natives[n].name == name) return brought.natives[n].function;
      }
    }
  }
  return nullptr;
}

}  // namespace hprof
