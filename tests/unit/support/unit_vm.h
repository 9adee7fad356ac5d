// A collector in a scripted VM: the mock host, whose jvm service has that VM's functions.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <hprof/service/jvm.h>
#include <hprof/service/probes.h>

#include "tests/unit/support/fake_vm.h"
#include "tools/mock/mock_config.h"
#include "tools/mock/mock_host.h"

namespace hprof {

class UnitVm : public FakeVm {
 public:
  UnitVm();
  ~UnitVm() override;

  MockHost mock;
  bool attached = true;  // the calling thread has a JNIEnv
  bool has_jvmti = true;
  JNIEnv* jni() { return attached ? FakeVm::jni() : nullptr; }

  // The mock host's, but the frame of method 7 is App.m7. Tests replace other functions.
  hprof_probes_service probes;
  // A native method of a class that the collector has brought.
  template <class Function>
  Function native(const std::string& name) const {
    return reinterpret_cast<Function>(native_of(name));
  }

  // A method that the ids service knows, by "Owner.name".
  jmethodID method(const std::string& name);
  // A thread that the core knows, at that method unless it is "".
  Thread& add_thread(hprof_thread_serial serial, uint64_t os_id, const std::string& method,
                     uint32_t flags = 0);

  // The collector with these option values; without `self` where it refuses. Destroyed with the VM.
  void create(hprof_module_entry entry, const std::string& unit,
              const std::map<std::string, std::string>& options);
  hprof_status start() { return ops->start(self); }
  void destroy();
  hprof_status report(double cutoff = 0);
  std::string notes() const;  // of the last report
  bool has_note(const std::string& part) const { return notes().find(part) != std::string::npos; }
  // Runs the body of an agent thread for so many turns, with a wait of so long after each.
  void run_thread(uint64_t ns, size_t thread_index = 0, uint32_t turns = 1);

  const hprof_collector_ops* ops = nullptr;
  void* self = nullptr;

 protected:
  void made_class(Object& of) override;
  static UnitVm* current;

 private:
  void (*native_of(const std::string& name) const)();
  std::map<std::string, std::unique_ptr<char>> methods_;
  std::unique_ptr<MockConfig> config_;
};

}  // namespace hprof
