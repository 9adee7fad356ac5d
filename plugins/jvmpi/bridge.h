// JVMPI over JVMTI: owns the parts, and does what needs several of them.
//
// JVMPI's functions have no context argument: there is one bridge in a process, found by bridge(). Its memory
// is never freed, since threads of the agent may still be inside a function.
#pragma once

#include <hprof/draft/class_file.h>

#include "agent_library.h"
#include "collections.h"
#include "instructions.h"
#include "probes.h"
#include "raw_monitors.h"

namespace hprof::jvmpi {

struct Config {
  const char* agent;     // y, n, or <library>[:<options>]
  uint32_t methods;      // kBy*
  uint32_t allocations;  // kBy*
};
// kByEither: by probes, if they are available when an agent wants the events.
constexpr uint32_t kByNothing = 0, kByEvents = 1, kByProbes = 2, kByEither = 3;

class HeapDump;

class Bridge {
 public:
  explicit Bridge(const hprof_host* host) { vm.services = Services(host); }

  // Makes a jvmtiEnv with all capabilities that the VM grants, and answers GetEnv. [onload]
  hprof_status open(const Config& config, char* error, uint32_t error_size);
  // Stops sending and answering, when the agent is detached. [control]
  void close();
  // Frees the memory of open(), after a refusal. [onload]
  void release_memory();

  jint enable(jint type);
  jint disable(jint type);
  jint request(jint type, void* argument);
  // Enables exactly those of the VM's events that the enabled JVMPI events need. [app]
  void set_modes();
  // Calls set_modes() for a thread that could not. Called regularly on a thread of the agent's.
  void set_modes_if_due();

  // JVMTI's events. jni: of the calling thread.
  void vm_init(JNIEnv* jni);
  void vm_death(JNIEnv* jni);
  void class_file(JNIEnv* jni, const char* name, jint size, const unsigned char* bytes, jint* new_size,
                  unsigned char** new_bytes);
  void method(JNIEnv* jni, jmethodID method, bool entry);
  // METHOD_ENTRY2. depth: frames above the method on the stack; -1: it is static.
  void method_of_receiver(JNIEnv* jni, jmethodID method, jint depth);
  void step(JNIEnv* jni, jmethodID method, jlocation location);
  void monitor(JNIEnv* jni, jobject object, bool entered);
  void wait(JNIEnv* jni, jobject object, jlong timeout_ms);
  void waited(JNIEnv* jni, jobject object);
  void compiled(jmethodID method, jint size, const void* code, jint map_size,
                const jvmtiAddrLocationMap* map);
  void uncompiled(jmethodID method, const void* code);
  void data_request(bool dump, bool reset);
  void reference_made(JNIEnv* jni, jint type, jobject reference);
  void reference_goes(JNIEnv* jni, jint type, jobject reference);

  void get_call_trace(JVMPI_CallTrace* trace, jint depth);
  // Counts the uses of ids that were never given out.
  bool check_id(jobjectID id);
  bool is_live() const { return live_.load(std::memory_order_acquire); }

  Vm vm;
  Ids ids{vm};
  Notifier notifier{vm};
  Classes classes{vm, &ids, &notifier};
  ObjectFacts facts{vm.services};
  Objects objects{vm, &ids, &notifier, &classes, &facts};
  Threads threads{vm, &notifier, &objects};
  RawMonitors monitors{vm, &notifier, &threads};
  LastFreed last_freed{vm, &ids};
  Collections collections{vm, &notifier, &classes, &threads, &last_freed};
  Instructions instructions{vm, &notifier, &classes};
  Probes probes{this};
  AgentLibrary library{vm};
  std::atomic<bool> was_asked{false};   // an agent has got the interface
  std::atomic<bool> wanted_jni{false};  // an agent asked for JNI when there was none

 private:
  bool make_environment(const Config& config, char* error, uint32_t error_size);
  void add_capabilities(const Config& config);
  jint availability(jint type) const;
  void see_class_files();
  uint8_t* class_file(const hprof_class_file& file, uint32_t* new_size);
  bool can_step() const;
  void say_that_code_is_interpreted();
  void say_that_allocations_are_missed();
  void say_that_allocations_are_refused();
  void begin_buffers();
  void set_method_modes();
  void mode(jvmtiEvent event, bool on);
  bool sends(JNIEnv* jni, jint type) { return sends_any(jni, {type}); }
  bool sends_any(JNIEnv* jni, std::initializer_list<jint> types);
  bool dump(JNIEnv* jni, jint type, void* argument);
  bool dump_monitors(JNIEnv* jni);
  bool dump_heap(JNIEnv* jni, const JVMPI_HeapDumpArg* argument);
  bool dump_object(JNIEnv* jni, jobjectID id);
  bool send_dump(const HeapDump& dump, JVMPI_Event* event, jint type, JNIEnv* jni, bool taken);
  // Prints why a request failed. Returns false.
  bool refuse(jint type, const char* why);

  std::atomic<bool> live_{false};
  std::atomic<bool> said_interpreted_{false};
  std::atomic<bool> modes_due_{false};
  std::atomic<bool> frees_on_{false};  // JVMTI's ObjectFree is on
  std::atomic<bool> samples_{false};   // OBJECT_ALLOC is on, and comes from the VM
  std::atomic<bool> runs_{false};      // the VM has started: threads have TLABs
  std::atomic<bool> said_missed_{false};
  std::atomic<bool> said_refused_{false};
  std::atomic<bool> said_no_steps_{false};
  bool wants_samples_ = false;
  std::atomic<uint64_t> refused_{0};  // bit n: a refusal of event type n was printed
  std::atomic<bool> said_beyond_{false};
  bool sees_class_files_ = false;  // class files come from the core, before probes; else from this jvmtiEnv
  uint64_t* unknown_ids_ = nullptr;
};

extern std::atomic<Bridge*> the_bridge;
// Null: there is none, or it is closed. [any]
inline Bridge* bridge() { return the_bridge.load(std::memory_order_acquire); }
// The callbacks of the bridge's jvmtiEnv. [onload]
void set_callbacks(jvmtiEnv* jvmti);
// The functions that agents call. [onload]
void fill_in(JVMPI_Interface* functions);

}  // namespace hprof::jvmpi
