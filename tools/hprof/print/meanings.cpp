#include "tools/hprof/print/meanings.h"

#include <set>

namespace hprof::tool {

namespace {

struct Meaning {
  const char* method;  // of the class JVM
  const char* text;
};
// Frames of other classes.
constexpr struct {
  const char* class_name;
  const char* text;
} kClasses[] = {
    {"[kernel]", "in a system call, named by the function that makes it (write: a file, a socket, ...)"},
    {"STATE",
     "what the thread did (clock=wall): blocked: waits to enter a monitor; waiting: in Object.wait;\n"
     "  parked: for a lock or task of java.util.concurrent; queued: ready, but no carrier is free;\n"
     "  native: in native code, waits in the kernel included"},
};
constexpr Meaning kMeanings[] = {
    {"no_java_frame", "in native code that no Java method called"},
    {"no_class_load_events", "the VM cannot read stacks: it posts no ClassLoad events"},
    {"gc_active", "during a garbage collection, when the VM reads no stacks"},
    {"unknown_native_code", "in native code or the VM, where the VM could not find the caller"},
    {"unwalkable_native_code", "in native code or the VM, where the VM could not read the Java frames below"},
    {"unknown_java_code", "in Java code, where the VM could not name the method"},
    {"unwalkable_java_code",
     "in Java code, as on entry and exit of a method, where the VM could not find the caller"},
    {"unknown_state", "in a state of the thread in which the VM reads no stack"},
    {"thread_exit", "at the end of the thread"},
    {"deoptimization", "while the VM replaced a compiled method by its interpreted code"},
    {"safepoint", "at a safepoint, where the VM could not read the stack"},
    {"walk_fault", "the stack led to memory that is not mapped"},
    {"not_a_java_thread", "in a thread that is not attached to the VM, or no longer"},
    {"depth_zero", "depth=0 takes no frames"},
    {"not_seen_running", "CPU time of a thread after its last sample, or that no sample met running"},
    {"not_sampled", "time of a thread from its last sample to its end"},
    {"unknown_walk_result", "the VM gave a reason that the agent does not know"},
    {"no_samples", "there were no samples"},
    {"no_calls", "there were no calls"},
    {"nothing_in_this_window", "nothing was new in this window (every=)"},
    {"all_below_cutoff", "each row is below cutoff="},
    {"other_traces", "stacks for which the table had no room (max-memory=)"},
    {"no_memory_for_the_table", "the agent had no memory for the rows (max-memory=)"},
    {"no_memory_for_the_trace", "the agent had no memory for the stack (max-memory=)"},
    {"hprof_probe", "in what cpu=times or heap=sites adds to the method below"},
    {"frames_in_the_heap", "frames of a virtual thread that the VM keeps in the heap"},
    {"unloaded_method", "a method whose class was unloaded before it was named"},
    {"unknown_method", "a method that the VM did not name"},
    {"code_of_no_library", "machine code in no library"},
    {"holder_went_on", "who held the lock had let go before its stack was taken"},
    {"unknown_holder", "the VM does not tell who held the lock"},
};

// True: the note lists reasons, as "gc_active 2 walk_fault 1".
bool lists(const std::string& note, const std::string& method) {
  return note.find(" without a stack (class JVM") != std::string::npos &&
         note.find(' ' + method + ' ') != std::string::npos;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> meanings_in(const Profile& profile) {
  std::set<std::string> methods, classes;
  for (const auto& [number, frames] : profile.traces) {
    for (const ProfileFrame& frame : frames) {
      if (frame.class_name == "JVM") methods.insert(frame.method);
      classes.insert(frame.class_name);
    }
  }
  std::vector<std::pair<std::string, std::string>> found;
  for (const Meaning& meaning : kMeanings) {
    bool is_there = methods.count(meaning.method) != 0;
    for (const std::string& note : profile.notes) is_there = is_there || lists(note, meaning.method);
    if (is_there) found.emplace_back(std::string("JVM.") + meaning.method, meaning.text);
  }
  for (const auto& each : kClasses)
    if (classes.count(each.class_name) != 0) found.emplace_back(each.class_name, each.text);
  return found;
}

}  // namespace hprof::tool
