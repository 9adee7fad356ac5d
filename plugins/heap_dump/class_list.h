// The loaded classes: numbered, described, and tagged for one dump.
//
// A weak reference to each is kept between dumps, so that a class keeps its number; tags are not kept.
#pragma once

#include "class_layouts.h"
#include "dump_env.h"
#include "heap_writer.h"

namespace hprof::dump {

class ClassList {
 public:
  explicit ClassList(ClassLayouts* table) : table_(table) {}

  // Tags every loaded class with its number and describes those that are new. References keep the classes
  // loaded and their method ids valid until release. [control]
  hprof_status take(const DumpEnv& vm);
  void release(const DumpEnv& vm);
  void free_loaders();
  // Deletes the weak references. [control]
  void forget(JNIEnv* jni);
  // Writes the definitions of all classes and of their fields' names. [control]
  hprof_status define(const Services& services) const;

  // Makes a local frame whose references are the known classes, so that a walk from the roots reports each.
  // A full heap has room for it. drop_frame ends it. [control]
  bool make_frame(const DumpEnv& vm) const;
  static void drop_frame(const DumpEnv& vm) { vm.jni->PopLocalFrame(nullptr); }

  // Tags of the class loaders by class number; 0: the boot loader. Valid until free_loaders.
  const uint64_t* loaders() const { return loaders_.data(); }
  // Tags class loaders, from *next on, and has the writer expect them.
  bool tag_loaders(const DumpEnv& vm, uint64_t* next, HeapWriter* writer);

 private:
  bool list(const DumpEnv& vm);
  bool tag_known(const DumpEnv& vm);
  void tag_new(const DumpEnv& vm, jclass loaded);
  void describe(const DumpEnv& vm, jclass loaded, uint32_t number);
  bool describe_fields(const DumpEnv& vm, jclass loaded, ClassEntry& entry);
  bool describe_interfaces(const DumpEnv& vm, jclass loaded, ClassEntry& entry);
  void prepare_links(const DumpEnv& vm, jclass class_class);
  bool link(const DumpEnv& vm, jclass loaded);
  uint32_t number_of(const DumpEnv& vm, jobject object) const;

  ClassLayouts* table_;
  jclass* held_ = nullptr;  // JVMTI's memory, local references
  jint held_count_ = 0;
  LazyTable<uint64_t> loaders_;
  const DumpServices* services_ = nullptr;
  jmethodID get_declared_fields_ = nullptr;  // nullptr: no class is linked
  const uint32_t* collections_ = nullptr;    // the VM's count; nullptr: not known
  uint32_t collections_before_ = 0;
  uint32_t links_ = 0;
};

}  // namespace hprof::dump
