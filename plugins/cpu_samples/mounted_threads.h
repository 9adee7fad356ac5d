// Finds the virtual thread mounted on a carrier, since JVMTI shows only the carrier's own frames. It calls an
// extension function of JVMTI (21+) that requires can_support_virtual_threads. A jvmtiEnv of its own has that
// capability, so that runs with signals do not pay for it (on 21 and 22 mounting gets slower).
#pragma once

#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::samples {

// The VM's extension function of JVMTI with that id; null: it has none. [control]
jvmtiExtensionFunction find_vm_function(jvmtiEnv* env, const char* id);

class MountedThreads {
 public:
  void open(const Services& services);  // [control]
  void close();                         // find() returns null from now on [control]
  // A local reference to the virtual thread; null: none is mounted, or it is not known.
  jthread find(jthread carrier) const;

 private:
  jvmtiEnv* env_ = nullptr;
  jvmtiExtensionFunction get_virtual_thread_ = nullptr;
};

}  // namespace hprof::samples
