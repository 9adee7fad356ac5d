// The core's interface to the module `hotspot`, which the core opens when a unit asks for one of its
// services.
#pragma once

#include <jni.h>

#include "core/plugin/core_module.h"
#include "platform/platform.h"

namespace hprof {

constexpr const char* kHotSpotModule = "hotspot";
constexpr uint32_t kHotSpotVersion = 1;

struct HotSpotTable {
  CoreTable head;
  // The table of one of the module's services; nullptr: no such service. [any] but [signal]
  const void* (*service)(const char* id);
  // See field_filter.h. [control]
  const char* (*hide_field)(JNIEnv* jni, jclass owner, const char* field);
  platform::GuardedReads* (*reads)();  // those of the module's library
};

}  // namespace hprof
