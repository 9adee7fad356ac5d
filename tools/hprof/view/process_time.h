// What 100 % of a table of CPU time is: the CPU time of the whole process, by what used it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// What a report's notes say of the CPU time of the process while cpu=samples or cpu=times ran.
struct ProcessTime {
  double seconds = 0;                                 // of the whole process
  double wall_seconds = 0;                            // 0: not known
  uint64_t samples = 0;                               // of cpu=samples; 0: not known
  std::vector<std::pair<std::string, double>> parts;  // name and seconds; the first is that of the table
};

// Reads the last such note. False: there is none.
bool read_process_time(const std::vector<std::string>& notes, ProcessTime* time);
// True: the table has the first part, and not that of a choice of windows or threads, or of another file.
bool is_of_table(const ProcessTime& time, const ProfileTable& table);
// "the process used 31.8 s of CPU time in 20.0 s: Java threads 13.4 (the 100 % below), JIT 16.0, GC 2.0"
std::string text_of(const ProcessTime& time);

// "the process used 1.60 s of CPU time in 1.76 s before, 3.00 s in 3.24 s after: GC +0.91, Java threads
// +0.37": the parts that changed, the largest change first.
std::string change_text(const ProcessTime& before, const ProcessTime& after);

// The key in Profile::about of what ran and how.
constexpr char kSession[] = "session";
constexpr char kAttached[] = " processors, attached;";  // in it
// Moves the note that says that, "program Shop, process 4711, ...", there, out of the notes and those of
// windows.
void take_session(Profile* profile);
// "program Shop, process 4711 on host", of a report that says it; else "".
std::string process_of(const Profile& profile);

}  // namespace hprof::tool
