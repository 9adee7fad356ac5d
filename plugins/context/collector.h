// What threads work for, as tracers say it in Java: defines the class hprof.Context and passes on
// what its methods are told. Samplers read it by the services context and thread_context.
#pragma once

#include <atomic>
#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/services.hpp>
#include <hprof/draft/thread_context.h>
#include <hprof/service/context.h>

namespace hprof::context {

struct Config {
  const char* by;  // labels to keep; empty: all
};

// What the class's methods use of a session.
struct Session {
  Services services;
  const char* by = nullptr;
  // May be null. Contexts for which there was no place, label sets, labels.
  uint64_t *lost = nullptr, *other = nullptr, *too_long = nullptr;
  jclass type = nullptr;  // hprof.Context, and its field
  jfieldID mode = nullptr;
};

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {}
  hprof_status open(char* error, uint32_t error_size);
  bool close();

  hprof_status start();
  void stop();
  hprof_status report(const hprof_report&) { return HPROF_OK; }
  void thread_end(JNIEnv* jni, hprof_thread* thread);

 private:
  static void watch(void* self, void* jni, hprof_agent_thread* thread);
  bool make_class(JNIEnv* jni);
  bool make_writer(JNIEnv* jni) const;

  Services services_;
  Config config_;
  const hprof_thread_context_service* contexts_ = nullptr;
  hprof_agent_thread* watcher_ = nullptr;
  Session session_;
  bool is_open_ = false;
};

}  // namespace hprof::context
