// Passes class files that the VM loads to the units' handlers (draft/class_file.h), then to the rewriter.
#pragma once

#include <cstdint>
#include <jvmti.h>

#include <hprof/draft/class_file.h>

#include "core/agent/session/unit_slot.h"
#include "core/base/build.h"

namespace hprof {

class ClassRewriter;
class LoaderBook;

// The arguments of ClassFileLoadHook.
struct LoadedFile {
  JNIEnv* jni;
  jclass redefined;
  jobject loader;
  const char* name;
  jobject domain;
  uint32_t size;
  const unsigned char* bytes;
};

class ClassFiles {
 public:
  using Handler = uint8_t* (*)(void* self, const hprof_class_file* file, uint32_t* new_size);

  // False: the unit has one already. [onload]
  bool add(const UnitSlot* unit, void* self, Handler handler);
  bool has_handlers() const { return kHasBytecode && count_ != 0; }
  // Calls the handlers, then the rewriter. *bytes: the new file, from JVMTI; nullptr: unchanged. [app]
  void load(jvmtiEnv* jvmti, const LoadedFile& file, LoaderBook& loaders, ClassRewriter& rewriter,
            unsigned char** bytes, jint* size) const;

 private:
  struct Row {
    const UnitSlot* unit;
    void* self;
    Handler handler;
  };
  // Written before the first class can be loaded with it.
  Row rows_[kMostCollectors] = {};
  uint32_t count_ = 0;
};

}  // namespace hprof
