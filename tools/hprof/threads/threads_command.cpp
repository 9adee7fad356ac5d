// hprof threads PID|FILE: all threads of a program, and why it hangs.
#include <iostream>

#include "tools/hprof/command.h"
#include "tools/hprof/threads/file_threads.h"
#include "tools/hprof/threads/live_threads.h"
#include "tools/hprof/threads/lock_owners.h"
#include "tools/hprof/threads/threads_report.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr unsigned kFirstWithVirtualThreads = 21;
constexpr uint64_t kMostMemory = uint64_t{4} << 30;  // of this program, for what a process says of itself

int print(const Given& given, const std::string& name, const ThreadDump& dump, const CpuTimes& before,
          double seconds, const std::string& note) {
  const int status = dump.deadlocks.empty() && dump.likely_deadlocks.empty() ? kDone : kFoundProblems;
  if (given.has("--json")) {
    Document document = {{}, {section_of(name, dump, before, seconds)}, kThreadsSchema};
    if (!note.empty()) document.problems.push_back(note);
    write_json(document, std::cout);
    return status;
  }
  const std::string hang = hang_text(dump, Blocked::kAll), more = virtual_threads_text(dump) + note;
  std::cout << name << ", " << dump.vm << ": " << counts_text(dump) << "\n\n";
  if (!hang.empty()) std::cout << hang << '\n';
  std::cout << threads_text(dump, before, seconds);
  if (!more.empty()) std::cout << '\n' << more;
  return status;
}

int print_file(const Given& given) {
  const std::string& path = given.words[0];
  std::string error, note;
  ThreadDump dump;
  if (!read_threads_of_file(path, &dump, &note, &error)) return fail(error);
  return print(given, path, dump, {}, 0, note);
}

// Waits; false: a signal to stop came.
bool wait(double seconds) {
  return seconds <= 0 || os::wait_readable({}, static_cast<int>(seconds * 1000)) != -2;
}

int print_process(int pid, const Given& given) {
  const auto interval = static_cast<double>(given.number("--seconds", 1));
  const auto patience = static_cast<double>(given.number("--timeout", 10));
  const bool with_owners = given.has("--locks");
  os::Jvm jvm;
  ThreadDump dump;
  std::string error, note;
  CpuTimes before;
  if (!os::find_jvm(pid, &jvm, &error) || !os::become(jvm, &error)) return fail(error);
  const double began = os::monotonic_seconds();
  os::stop_on_signals();
  if (interval > 0) {
    if (!ask_threads(jvm, false, patience, &dump, &error)) return fail(error);
    before = cpu_times(dump);
    if (!wait(interval)) return fail("stopped");
  }
  const double seconds = interval > 0 ? os::monotonic_seconds() - began : 0;
  if (!ask_threads(jvm, with_owners, patience, &dump, &error)) return fail(error);
  if (java_version(dump.vm) >= kFirstWithVirtualThreads) {
    if (ask_virtual_threads(jvm, patience, &dump, &error)) {
      dump.likely_deadlocks = circles_of(dump);
    } else {
      note = "VIRTUAL THREADS: not known: " + error + "\n";
    }
  }
  return print(given, os::name_of(jvm), dump, before, seconds, note);
}

int threads(const Given& given) {
  uint64_t pid = 0;
  os::bound_memory(kMostMemory);
  if (!parse_number(given.words[0], INT32_MAX, &pid)) return print_file(given);
  return pid == 0 ? given.misuse("0 is not a process id") : print_process(static_cast<int>(pid), given);
}

constexpr OptionRow kOptions[] = {
    {"--seconds", "N", "time between two dumps, over which CPU is measured; default 1, 0 = one dump",
     ValueKind::kNumber, 0, 86400},
    {"--locks", nullptr,
     "also say who holds locks of java.util.concurrent; the VM walks its heap for it, while the\n"
     "program stands still"},
    kJsonOption,
    kListenTimeoutOption,
};
constexpr Verb kVerbs[] = {{"", "PID|FILE", "", threads, kOptions}};

}  // namespace

const Command kThreadsCommand = {
    "threads",
    "PID|FILE",
    "show all threads, and why they hang",
    kVerbs,
    R"(Prints all threads of a running JVM: deadlocks and locks that threads wait for first, with their holders, then
threads with the same stack together, with their CPU over the last second and since their start, then virtual
threads. Loads no agent; the program stands still for the dump, as for jstack. Run it as the user of that process,
or as root. FILE is a thread dump (the text of jstack or a log, or what jcmd's Thread.dump_to_file writes), a heap
dump, which also says who holds locks of java.util.concurrent, or a report with a MONITOR DUMP (monitor=y).
)",
    R"(  hprof threads 4711
  hprof threads --locks 4711
  hprof threads jstack.txt
  hprof threads app.hprof

Exit status: 0 done, 1 threads are deadlocked or seem so, 2 wrong usage or failed.
)"};

}  // namespace hprof::tool
