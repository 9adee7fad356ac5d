// Facts about this host and a JVM on it, for `hprof doctor`, which judges them (tools/hprof/doctor).
//
// Thread: any. Changes nothing on the host or in the process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hprof::os {

constexpr int64_t kFactUnknown = -1;

struct HostFacts {
  std::string system;                   // "Linux 6.1.0 x86_64"
  uint32_t user = 0;                    // effective user id
  int64_t processors = kFactUnknown;    // that this process may use
  int64_t tick_ns = kFactUnknown;       // how often the kernel checks timers on CPU clocks
  int64_t signal_limit = kFactUnknown;  // RLIMIT_SIGPENDING: timers and queued signals of this user
  bool cpu_timers = false;          // a timer on a thread's CPU clock can be made, and its tick is recognised
  bool cpu_timers_refused = false;  // the system call fails
  std::string cpu_timers_error;     // why not
  int64_t perf_paranoid = kFactUnknown;  // kernel.perf_event_paranoid
  bool perf_events = false;              // this process may count its own CPU time in user mode
  std::string folder;                    // working folder
  bool folder_writable = false;
  int64_t folder_free = kFactUnknown;  // bytes
};
HostFacts host_facts();

struct JvmFacts {
  int pid = 0;
  bool exists = false;
  uint32_t user = 0;                  // effective user id
  bool readable = false;              // its files in /proc can be read: same user, or root
  bool other_namespace = false;       // it has another file system or process ids: a container
  bool catches_quit = false;          // SIGQUIT starts the attach mechanism
  std::string libjvm;                 // path as the process sees it; empty: no JVM
  std::string home;                   // JDK or JRE, as the process sees it
  std::string version;                // JAVA_VERSION of its file `release`; empty when there is none
  std::vector<std::string> command;   // options of the VM: command line, JAVA_TOOL_OPTIONS and the like
  std::string agent;                  // path of a loaded libhprof; empty: none
  bool attach_socket = false;         // the VM listens already
  bool async_get_call_trace = false;  // libjvm exports it
  std::string folder;                 // its working folder, where reports go by default
  bool folder_known = false;
  bool folder_writable = false;  // for the process's own user
  int64_t folder_free = kFactUnknown;
  int64_t resident_bytes = kFactUnknown;
};
// True: the options of a VM set the flag to that value; the last -XX:+<name> or -XX:-<name> counts.
inline bool vm_flag_is(const std::vector<std::string>& options, const std::string& name, bool value) {
  for (size_t i = options.size(); i-- > 0;) {
    if (options[i] == "-XX:+" + name) return value;
    if (options[i] == "-XX:-" + name) return !value;
  }
  return false;
}

// False with *error: the system does not tell (only Linux and Windows do).
bool jvm_facts(int pid, JvmFacts* facts, std::string* error);

}  // namespace hprof::os
