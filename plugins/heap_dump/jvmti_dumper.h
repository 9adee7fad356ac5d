// Heap dumps with JVMTI's FollowReferences, on any VM: one object at a time from its callbacks.
//
// The classes are written first, by a walk of their own: readers of one pass need a class before its objects.
//
// Ids are tags from 1 up: classes, then threads and class loaders, then objects in the order of first
// reference; where possible, the ids of objects that no class refers to are their addresses. The tags are in
// a jvmtiEnv of their own, disposed of after the dump, so that they do not slow down the VM's collections.
#pragma once

#include "class_list.h"
#include "dump_env.h"
#include "heap_writer.h"
#include "object_traces.h"
#include "progress.h"
#include "thread_list.h"

namespace hprof::dump {

class JvmtiDumper {
 public:
  explicit JvmtiDumper(const DumpServices* services) : services_(services), list_(&classes_) {}

  // Makes one dump. traces: of objects, or not is_used(). [control]
  hprof_status dump(const Config& config, ObjectTraces* traces, Progress* progress);
  // Frees the tags of the last dump: up to 0.5 us per object, while the program runs. Not needed at the VM's
  // end. [control]
  void give_back();
  void close();  // [control]

 private:
  static constexpr uint64_t kFirstAddress = 1u << 24;  // tags of classes, threads and loaders stay below

  struct Callbacks;
  struct Walk;

  hprof_status dump_with(const DumpEnv& vm, const Config& config, ObjectTraces* traces, Progress* progress);
  bool names_by_address(const DumpEnv& vm, const ObjectTraces& traces, hprof_object_offsets* offsets) const;
  hprof_status prepare(const DumpEnv& vm, Walk& walk);
  hprof_status write(const DumpEnv& vm, const Config& config, Walk& walk);
  hprof_status walk_classes(const DumpEnv& vm, const Config& config, Walk& walk);
  hprof_status walk(const DumpEnv& vm, const Config& config, Walk& walk, bool counting);

  const DumpServices* services_;
  ClassLayouts classes_;
  ClassList list_;
  jvmtiEnv* tagged_ = nullptr;  // has the tags of the last dump
  bool is_open_ = false;
};

}  // namespace hprof::dump
