#include "core/agent/session/rewriting_claim.h"

#include <atomic>
#include <cstdint>
#include <jni.h>

#include "core/base/build.h"
#include "platform/platform.h"

// Not 0: a session of this library rewrites classes. Exported for copies of the library in the same process.
extern "C" JNIEXPORT std::atomic<uint32_t> hprof_rewrites_classes;
std::atomic<uint32_t> hprof_rewrites_classes{0};

namespace hprof {

bool claim_rewriting() {
  return hprof_rewrites_classes.exchange(1) == 0 &&
         // Searching other libraries takes dlopen, which a build without modules does not call.
         !(kHasModules &&
           platform::any_other("hprof_rewrites_classes", &hprof_rewrites_classes, [](const void* flag) {
             return static_cast<const std::atomic<uint32_t>*>(flag)->load() != 0;
           }));
}

}  // namespace hprof
