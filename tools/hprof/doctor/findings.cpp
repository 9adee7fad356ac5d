#include "tools/hprof/doctor/findings.h"

#include <cstdlib>

#include "tools/hprof/size_text.h"

namespace hprof::tool {

namespace {

// Less space than a heap dump of an ordinary service needs.
constexpr int64_t kLittleSpace = 1ll << 30;

std::string milliseconds(int64_t ns) {
  char text[32];
  snprintf(text, sizeof text, "%g ms", static_cast<double>(ns) / 1e6);
  return text;
}

bool has_word(const std::vector<std::string>& command, const std::string& wanted) {
  for (const std::string& word : command)
    if (word == wanted) return true;
  return false;
}

void judge_tick(const os::HostFacts& host, std::vector<Finding>* findings) {
  if (!host.cpu_timers) {
    findings->push_back(
        {Verdict::kLimited, "cpu=samples",
         "timers on CPU clocks are not available (" + host.cpu_timers_error +
             "): sampler=jvmti is used, at safepoints",
         host.cpu_timers_refused ? "allow timer_create in the container's seccomp profile" : ""});
    return;
  }
  std::string text = "timers on CPU clocks work";
  if (host.tick_ns > 0) text += "; the kernel checks them every " + milliseconds(host.tick_ns);
  const bool coarse = host.tick_ns > 1000000;
  findings->push_back(
      {Verdict::kYes, "cpu=samples", text,
       coarse ? "an interval= below " + milliseconds(host.tick_ns) + " gives no more samples" : ""});
  if (host.signal_limit >= 0 && host.signal_limit < 4096) {
    findings->push_back({Verdict::kLimited, "threads",
                         "this user may have " + std::to_string(host.signal_limit) +
                             " timers and queued signals: threads beyond that are sampled at safepoints",
                         "raise the limit: ulimit -i 16384"});
  }
}

void judge_space(const std::string& subject, const std::string& folder, int64_t free,
                 std::vector<Finding>* findings) {
  if (free < 0) return;
  const bool little = free < kLittleSpace;
  findings->push_back({little ? Verdict::kLimited : Verdict::kYes, subject,
                       size_text(static_cast<uint64_t>(free)) + " free in " + folder,
                       little ? "write heap dumps elsewhere: file=<path>" : ""});
}

// The folder to which an attached agent writes by default.
void judge_folder(const os::JvmFacts& jvm, std::vector<Finding>* findings) {
  if (!jvm.folder_known) return;
  if (jvm.folder_writable) return judge_space("its output", jvm.folder, jvm.folder_free, findings);
  findings->push_back(
      {Verdict::kLimited, "its output",
       jvm.folder + " is not writable for user " + std::to_string(jvm.user) + ": hprof attach writes to /tmp",
       "write reports elsewhere: file=<path>, or take them with hprof profile"});
}

// Can the process be profiled at all? False ends the examination.
bool judge_process(const os::HostFacts& host, const os::JvmFacts& jvm, std::vector<Finding>* findings) {
  const std::string process = "process " + std::to_string(jvm.pid);
  if (!jvm.exists) {
    findings->push_back(
        {Verdict::kNo, "process", "there is no " + process, "find it with: jps -l, or pgrep -a java"});
    return false;
  }
  if (!jvm.readable) {
    const std::string owner = process + " belongs to user " + std::to_string(jvm.user);
    if (host.user == jvm.user || host.user == 0) {
      findings->push_back({Verdict::kNo, "process", owner + ", but its /proc files cannot be read",
                           std::string("run this ") + (host.user != jvm.user ? "as that user, or " : "") +
                               "outside of the sandbox or container that withholds CAP_SYS_PTRACE"});
    } else {
      findings->push_back({Verdict::kNo, "process", owner + ", and this is user " + std::to_string(host.user),
                           "run this as that user or as root"});
    }
    return false;
  }
  if (jvm.libjvm.empty()) {
    findings->push_back(
        {Verdict::kNo, "process", process + " is no Java VM", "find the VM with: jps -l, or pgrep -a java"});
    return false;
  }
  const int version = feature_version(jvm.version);
  std::string text = "Java " + (jvm.version.empty() ? std::string("of unknown version") : jvm.version);
  if (!jvm.home.empty()) text += " in " + jvm.home;
  if (jvm.other_namespace) text += ", in a container";
  const bool supported = version == 0 || version >= 8;
  findings->push_back({supported ? Verdict::kYes : Verdict::kNo, "JVM", text,
                       supported ? "" : "hprof needs Java 8 or later"});
  return supported;
}

// False: nothing can attach to it.
bool judge_attach(const os::JvmFacts& jvm, int version, std::vector<Finding>* findings) {
  if (!jvm.agent.empty()) {
    findings->push_back({Verdict::kYes, "attach",
                         "the agent is already loaded, running or detached: " + jvm.agent,
                         "hprof ctl " + std::to_string(jvm.pid) +
                             " status shows what it does; after detach you can attach it again"});
    return true;
  }
  if (os::vm_flag_is(jvm.command, "DisableAttachMechanism", true)) {
    findings->push_back(
        {Verdict::kNo, "attach", "switched off by -XX:+DisableAttachMechanism",
         "start the program with the agent: hprof run cpu=samples,start=n,control=y -- java ..."});
    return false;
  }
  if (!jvm.attach_socket && (!jvm.catches_quit || has_word(jvm.command, "-Xrs") ||
                             os::vm_flag_is(jvm.command, "ReduceSignalUsage", true))) {
    findings->push_back(
        {Verdict::kNo, "attach", "the VM ignores SIGQUIT (-Xrs): its attach mechanism cannot be started",
         "start the program with the agent: hprof run cpu=samples,start=n,control=y -- java ..."});
    return false;
  }
  if (version >= 21 && os::vm_flag_is(jvm.command, "EnableDynamicAgentLoading", false)) {
    findings->push_back({Verdict::kNo, "attach", "refused by -XX:-EnableDynamicAgentLoading",
                         "remove that flag, or start the program with the agent; until then jcmd " +
                             std::to_string(jvm.pid) +
                             " JFR.start makes recordings, which hprof print and view read"});
    return false;
  }
  const bool warns = version >= 21 && !os::vm_flag_is(jvm.command, "EnableDynamicAgentLoading", true);
  findings->push_back({Verdict::kYes, "attach",
                       warns ? "works; the VM prints a warning on the program's stderr (JEP 451)" : "works",
                       warns ? "-XX:+EnableDynamicAgentLoading silences it" : ""});
  if (jvm.other_namespace) {
    findings->push_back(
        {Verdict::kYes, "agent file", "hprof attach and profile use a temporary copy in the container's /tmp",
         "where /tmp is mounted noexec: hprof attach --as-is --agent=<path in the container> " +
             std::to_string(jvm.pid) + " ..."});
  }
  return true;
}

void judge_collectors(const os::HostFacts& host, const os::JvmFacts& jvm, int version,
                      std::vector<Finding>* findings) {
  const bool signals = host.cpu_timers && jvm.async_get_call_trace;
  findings->push_back({signals ? Verdict::kYes : Verdict::kLimited, "cpu=samples",
                       signals ? "samples by CPU time, wherever a thread runs (sampler=signal)"
                               : "samples at safepoints only (sampler=jvmti): the VM does not export "
                                 "AsyncGetCallTrace, or there are no timers on CPU clocks",
                       ""});
  findings->push_back({Verdict::kAtStart, "cpu=times", "counts calls by rewriting classes as they are loaded",
                       "start the program with the agent: hprof run cpu=times -- java ..."});
  findings->push_back({Verdict::kYes, "calls=y",
                       version == 8 ? "counts the calls of each method from the attach on, but not those "
                                      "of the VM's intrinsics (Math.min) in compiled code"
                                    : "counts the calls of each method from the attach on",
                       "include=com.acme.* makes it cheap, and the report short"});
  if (version == 0 || version >= 11) {
    findings->push_back({Verdict::kLimited, "heap=sites", "sampled, when attached (sites=sampled)",
                         "for exact counts start the program with the agent"});
  } else {
    findings->push_back({Verdict::kAtStart, "heap=sites",
                         "Java " + std::to_string(version) + " cannot sample allocations",
                         "start the program with the agent: hprof run heap=sites -- java ..."});
  }
  std::string dump = os::vm_flag_is(jvm.command, "DisableAttachMechanism", true)
                         ? "by JVMTI (dump=jvmti): slower"
                         : "by the VM's own dumper";
  findings->push_back({Verdict::kYes, "heap=dump",
                       dump + (jvm.resident_bytes > 0
                                   ? "; at most about " + size_text(static_cast<uint64_t>(jvm.resident_bytes))
                                   : ""),
                       ""});
  findings->push_back({Verdict::kYes, "monitor=y",
                       "contention and waits after the attach (monitor=all: locks of java.util.concurrent, "
                       "too); owners only of "
                       "monitors on which threads have blocked since",
                       ""});
  findings->push_back({Verdict::kYes, "latency=", "times each call of the methods that are named", ""});
  findings->push_back({Verdict::kYes, "clock=wall", "with cpu=samples: elapsed time, waits included", ""});
}

}  // namespace

int feature_version(const std::string& version) {
  const char* text = version.c_str();
  if (version.rfind("1.", 0) == 0) text += 2;
  return atoi(text);
}

std::vector<Finding> judge_host(const os::HostFacts& host) {
  std::vector<Finding> findings;
  judge_tick(host, &findings);
  if (host.perf_paranoid != os::kFactUnknown) {
    findings.push_back({host.perf_events ? Verdict::kYes : Verdict::kLimited, "perf events",
                        std::string(host.perf_events ? "allowed" : "not allowed") +
                            " (kernel.perf_event_paranoid=" + std::to_string(host.perf_paranoid) +
                            "); hprof does not need them",
                        ""});
  }
  if (!host.folder.empty()) {
    if (host.folder_writable) {
      judge_space("output", host.folder, host.folder_free, &findings);
    } else {
      findings.push_back(
          {Verdict::kNo, "output", host.folder + " is not writable", "write reports elsewhere: file=<path>"});
    }
  }
  return findings;
}

std::vector<Finding> judge_jvm(const os::HostFacts& host, const os::JvmFacts& jvm) {
  std::vector<Finding> findings;
  if (!judge_process(host, jvm, &findings)) return findings;
  const int version = feature_version(jvm.version);
  const bool attaches = judge_attach(jvm, version, &findings);
  const size_t first = findings.size();
  judge_collectors(host, jvm, version, &findings);
  if (!attaches) {
    for (size_t i = first; i < findings.size(); i++) findings[i].verdict = Verdict::kAtStart;
  }
  judge_folder(jvm, &findings);
  return findings;
}

}  // namespace hprof::tool
