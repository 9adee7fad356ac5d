#include "tools/hprof/other_programs.h"

#include <algorithm>
#include <cctype>

#include "tools/os/os.h"

namespace hprof::tool {

namespace {

struct Row {
  const char* word;  // of the other program
  const char* ours;  // PID is replaced
};

// Words that mean the same wherever they stand: of jcmd, jmap and jstack.
constexpr Row kWords[] = {
    {"JFR.start", "hprof profile -o FILE.jfr PID"},
    {"JFR.dump", "hprof ctl PID report"},
    {"JFR.stop", "hprof ctl PID detach"},
    {"JFR.check", "hprof ctl PID status"},
    {"Thread.print", "hprof threads PID"},
    {"GC.class_histogram", "hprof profile -o FILE.hprof PID heap=dump; hprof heap histogram FILE.hprof"},
    {"GC.heap_dump", "hprof profile -o FILE.hprof PID heap=dump"},
    {"GC.run", "hprof ctl PID gc"},
    {"JVMTI.agent_load", "hprof attach PID"},
    {"JVMTI.data_dump", "hprof ctl PID report"},
    {"VM.version", "hprof doctor PID"},
    {"-histo", "hprof profile -o FILE.hprof PID heap=dump; hprof heap histogram FILE.hprof"},
    {"-dump", "hprof profile -o FILE.hprof PID heap=dump"},
};

// Actions of asprof, its first word.
constexpr Row kActions[] = {{"start", "hprof attach PID EVENT"},   {"resume", "hprof ctl PID start"},
                            {"stop", "hprof ctl PID detach"},      {"dump", "hprof ctl PID report"},
                            {"status", "hprof ctl PID status"},    {"list", "hprof doctor PID"},
                            {"collect", "hprof profile PID EVENT"}};

// Events of asprof, as -e EVENT or --EVENT.
constexpr Row kEvents[] = {{"cpu", "cpu=samples"},    {"itimer", "cpu=samples"}, {"ctimer", "cpu=samples"},
                           {"alloc", "heap=sites"},   {"lock", "monitor=all"},   {"wall", "clock=wall"},
                           {"cycles", "cpu=samples"}, {"live", "heap=sites"}};

template <size_t kCount>
const char* find(const Row (&rows)[kCount], const std::string& word) {
  for (const Row& row : rows)
    if (word == row.word) return row.ours;
  return nullptr;
}

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char letter) {
    return std::isdigit(static_cast<unsigned char>(letter)) != 0;
  });
}

// A command line of asprof: [ACTION] [OPTION VALUE...] PID.
class Asprof {
 public:
  explicit Asprof(const Arguments& line) {
    for (size_t i = 0; i < line.size(); ++i) take(line[i], i + 1 < line.size() ? line[i + 1] : "", &i);
  }

  // Without an action it is `collect`. "": no word of it is asprof's.
  std::string ours() const {
    if (action_ == nullptr && !has_option_ && !is_pid_alone_) return "";
    const std::string row = action_ != nullptr ? action_ : find(kActions, "collect");
    const size_t event = row.find(" EVENT");
    if (event == std::string::npos) return row;
    const std::string own = event_.empty() ? " cpu=samples" : event_;
    const std::string options = row.find(" profile ") != std::string::npos ? seconds_ + file_ : file_;
    std::string text = row.substr(0, event) + own;
    return text.insert(text.find(" PID"), options);
  }
  const std::string& pid() const { return pid_; }

 private:
  void take(const std::string& word, const std::string& next, size_t* at) {
    const char* action = *at == 0 ? find(kActions, word) : nullptr;
    const char* event = word.rfind("--", 0) == 0 ? find(kEvents, word.substr(2)) : nullptr;
    if (action != nullptr) {
      action_ = action;
    } else if (event != nullptr) {
      add_event(event);
    } else if (is_number(word)) {
      pid_ = word;
      is_pid_alone_ = *at == 0;
    } else if (word.size() == 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0) {
      take_option(word[1], next, at);
    } else {
      is_pid_alone_ = false;
    }
  }

  void take_option(char letter, const std::string& value, size_t* at) {
    static const std::string kWithValue = "deifoIXLFP", kTelling = "deift";
    if (kTelling.find(letter) != std::string::npos) has_option_ = true;
    if (kWithValue.find(letter) == std::string::npos) return;
    ++*at;
    if (letter == 'd') seconds_ = " --seconds=" + value;
    if (letter == 'f') file_ = " -o " + value;
    if (letter != 'e') return;
    const char* event = find(kEvents, value);
    if (event != nullptr)
      add_event(event);
    else if (value.find('.') != std::string::npos)
      event_ += " latency=" + value;  // each call of a method
  }

  void add_event(const char* ours) {
    if (event_.find(ours) == std::string::npos) event_ += std::string(" ") + ours;
  }

  const char* action_ = nullptr;
  bool has_option_ = false, is_pid_alone_ = false;
  std::string pid_, seconds_, file_, event_;
};

}  // namespace

std::string ours_for(const Arguments& line) {
  std::string ours;
  const bool is_profile = !line.empty() && line[0] == kProfileCommand.name;
  const Asprof asprof(Arguments(line.begin() + (is_profile ? 1 : 0), line.end()));
  if (is_profile) {
    ours = asprof.ours();
  } else if (std::find(line.begin(), line.end(), "--") != line.end() ||
             (!line.empty() && os::program_name(line[0]) == "java")) {
    return "hprof run [OPTION=VALUE...] -- java ...";
  } else {
    for (const std::string& word : line) {
      const char* found = find(kWords, word.substr(0, std::min(word.find(':'), word.size())));
      if (ours.empty() && found != nullptr) ours = found;
    }
    if (ours.empty()) ours = asprof.ours();
  }
  const std::string pid = " PID";
  for (size_t at = 0; !asprof.pid().empty() && (at = ours.find(pid, at)) != std::string::npos;
       at += asprof.pid().size() + 1)
    ours.replace(at, pid.size(), " " + asprof.pid());
  return ours;
}

}  // namespace hprof::tool
