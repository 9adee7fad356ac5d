// classes=y: which stacks define classes, in loaders of which classes; and the loaders that live, with what
// they hold.
//
// A class is counted when the VM has loaded it (ClassLoad), hidden ones included. What lives is looked up for
// each report.
#pragma once

#include <atomic>
#include <jvmti.h>

#include <hprof/collector.h>
#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/services.hpp>

namespace hprof::classes {

struct Config {
  uint32_t classes;
};

// Any number of threads count at the same time, without a lock.
class Collector {
 public:
  Collector(const hprof_host* host, const Config&) : services_(host) {}
  hprof_status open(char* error, uint32_t error_size);
  bool close();
  void class_load(JNIEnv* jni, hprof_thread* thread, jclass loaded);
  void reset();
  hprof_status report(const hprof_report& report);

 private:
  struct Defined {
    std::atomic<uint64_t> count;
    std::atomic<uint32_t> loader, generator;  // hprof_string_id
  };
  struct Stack {
    hprof_trace_serial trace;
    hprof_text definer;  // see generator_of
  };
  // Loaders of one class.
  struct Loaders {
    uint64_t loaders, classes, generated, metaspace;
  };
  struct LoaderObject {
    hprof_string_id name;
  };
  struct Live;

  Stack stack(JNIEnv* jni) const;
  hprof_string_id loader_name(JNIEnv* jni, jobject loader) const;
  hprof_string_id string(const char* text) const;
  hprof_status write_defined(uint64_t created_ms) const;
  hprof_status write_loaders(uint64_t created_ms) const;
  void look_at(JNIEnv* jni, jclass loaded, Live* live) const;

  static constexpr uint32_t kMostFrames = 256;
  static constexpr uint64_t kFewestRows = 256, kMostRows = 65536;

  Services services_;
  jvmtiEnv* jvmti_ = nullptr;
  uint32_t depth_ = 0;
  uint64_t* lost_ = nullptr;
  HashTable<Defined, Growth::kLevels> defined_;  // by loader and generator (a text), and trace
};

}  // namespace hprof::classes
