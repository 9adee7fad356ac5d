// The module `hotspot` as the core uses it: what is known of HotSpot beyond its tables and flags, for the
// units that ask for one of its services. The core opens it then.
#pragma once

#include <jni.h>

#include "core/plugin/core_module.h"
#include "platform/platform.h"

namespace hprof {

constexpr const char* kHotSpotModule = "hotspot";
constexpr uint32_t kHotSpotVersion = 1;

struct HotSpotTable {
  CoreTable head;
  // The table of one of its services; nullptr: it has none of that id. [any] but [signal]
  const void* (*service)(const char* id);
  // See field_filter.h. [control]
  const char* (*hide_field)(JNIEnv* jni, jclass owner, const char* field);
  platform::GuardedReads* (*reads)();  // of its library
};

}  // namespace hprof
