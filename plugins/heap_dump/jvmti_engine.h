// Heap dumps with JVMTI's FollowReferences, on any VM: one object at a time out of its callbacks.
//
// Ids are tags from 1 up: classes, then threads and class loaders, then objects as they are first referred
// to; or, where that is possible, these have their addresses. An environment of its own holds the tags and
// takes them with it, so that they do not slow the VM's collections down.
#pragma once

#include "plugins/heap_dump/class_list.h"
#include "plugins/heap_dump/heap_writer.h"
#include "plugins/heap_dump/object_traces.h"
#include "plugins/heap_dump/progress.h"
#include "plugins/heap_dump/thread_list.h"
#include "plugins/heap_dump/vm.h"

namespace hprof::dump {

class JvmtiEngine {
 public:
  explicit JvmtiEngine(const Services* services) : services_(services), list_(&classes_) {}

  // One dump. traces: of objects, or not is_used(). [control]
  hprof_status dump(const Config& config, ObjectTraces* traces, Progress* progress);
  // Frees the tags of the last dump: up to half a microsecond for each object, while the program runs. A VM
  // that ends need not. [control]
  void give_back();
  void close();  // [control]

 private:
  static constexpr uint64_t kFirstAddress = 1u << 24;  // tags of classes, threads and loaders stay below

  struct Callbacks;
  struct Walk;

  hprof_status dump_with(const Vm& vm, const Config& config, ObjectTraces* traces, Progress* progress);
  bool names_by_address(const Vm& vm, const Config& config, const ObjectTraces& traces,
                        hprof_object_places* places) const;
  hprof_status prepare(const Vm& vm, const Config& config, Walk& walk);
  hprof_status write(const Vm& vm, const Config& config, Walk& walk);
  hprof_status walk(const Vm& vm, const Config& config, Walk& walk, bool counting);

  const Services* services_;
  ClassLayouts classes_;
  ClassList list_;
  jvmtiEnv* tagged_ = nullptr;  // the environment that holds the tags of the last dump
  bool is_open_ = false;
};

}  // namespace hprof::dump
