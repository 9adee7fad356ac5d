// The virtual thread mounted on a carrier, whose stack shows the carrier's frames only. An extension function
// of JVMTI (21+) finds it and needs can_support_virtual_threads. A separate environment requests that
// capability, so that runs with signals do not pay for it (switching gets slower on 21 and 22).
#pragma once

#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::samples {

class MountedThreads {
 public:
  void open(const Services& services);  // [control]
  void close();                         // no more queries [control]
  // A local reference to the virtual thread, null: there is none, or it is not known.
  jthread find(jthread carrier) const;

 private:
  jvmtiEnv* env_ = nullptr;
  jvmtiExtensionFunction get_virtual_thread_ = nullptr;
};

}  // namespace hprof::samples
