// The virtual thread on top of a carrier, which shows its own frames only: an extension function of JVMTI
// (21+) tells it, and wants can_support_virtual_threads. An environment of our own asks for it, so that a run
// with signals does not pay for it (switching gets slower on 21 and 22).
#pragma once

#include <jvmti.h>

#include <hprof/cpp/services.hpp>

namespace hprof::samples {

class MountedThreads {
 public:
  void open(const Services& services);  // [control]
  void close();                         // nobody asks any more [control]
  // A local reference to the virtual thread, null: there is none, or that cannot be told.
  jthread find(jthread carrier) const;

 private:
  jvmtiEnv* env_ = nullptr;
  jvmtiExtensionFunction get_virtual_thread_ = nullptr;
};

}  // namespace hprof::samples
