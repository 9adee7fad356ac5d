// Windows of every= in files: how they are recognised, chosen and added up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/hprof/view/profile.h"

namespace hprof::tool {

// Finds the windows of one file while it is read. After the tables of each collector's report comes a note,
// in binary files a string, that says whether it is a window.
class ReportEnds {
 public:
  explicit ReportEnds(Profile* profile) : profile_(*profile) {}
  // True: the text is such a note. The tables and notes since the report before, if they are a window, are
  // now in Profile::windows.
  bool take(std::string_view text);
  // The same of reports whose end the file says in its own way.
  void take_window(ProfileWindow window);
  void take_other();
  // True: a report was none.
  bool has_others() const { return has_others_; }

 private:
  void move_to(ProfileWindow* window);
  void end_report();

  Profile& profile_;
  bool has_others_ = false;
  size_t tables_ = 0, notes_ = 0;  // of the profile, at the end of the report before
};

// "2026-11-28 17:06:14 to 17:06:15" if the text is the string of a binary file after a window; else "".
std::string window_text(std::string_view text);

// Milliseconds since 1970 by local time.
int64_t local_ms(uint64_t ms);
// "2026-11-28 17:06:14 to 17:06:15", by local time.
std::string stretch_text(uint64_t begin_ms, uint64_t end_ms);
// A time of day, "12:03:10", "12:03" or "12:03:10.5", in milliseconds. False: the text is none.
bool parse_time(const std::string& text, uint64_t* ms_of_day);
// The moment at which it is that time of day: the first one after `began`, or one up to 12 hours before. Both
// in milliseconds since 1970 by local time. A page with events takes the same one.
int64_t moment_of(const std::string& time, int64_t began);

// Which windows to take; by default all. Times of day are checked.
struct WindowChoice {
  uint64_t number = 0;   // 0: any
  std::string from, to;  // the window ends after the one and begins before the other; "": any

  bool is_given() const { return number != 0 || !from.empty() || !to.empty(); }
};
// " from 12:03 to 12:10"; "": at any time.
std::string text_of(const WindowChoice& choice);
// True: nothing of what was recorded from `first` to `last` is between --from and --to, or the only one of
// them lies outside of it. In milliseconds since 1970 by local time.
bool is_outside(const WindowChoice& choice, int64_t began, int64_t first, int64_t last);

// Replaces the windows of a profile by a table for each name, which comes last of its name: what counts is
// added up, what is a state is that of the last window. A choice leaves out tables that have all since the
// start. False with *error: no window is chosen.
bool add_windows(const WindowChoice& choice, Profile* profile, std::string* error);

}  // namespace hprof::tool
