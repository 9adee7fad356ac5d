// hprof profile PID: attaches, waits, fetches the report and detaches.
//
// The agent streams to a local socket in a private folder, and this program writes the file: it belongs to
// the caller, whatever the JVM's user and file system. Until it is whole its name ends with .partial. If this
// program dies, the stream ends and the agent detaches.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "tools/hprof/agent/attachment.h"
#include "tools/hprof/agent/ctl_session.h"
#include "tools/hprof/command.h"
#include "tools/hprof/convert/convert.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/size_text.h"
#include "tools/hprof/terminal.h"
#include "tools/hprof/threads/live_threads.h"
#include "tools/hprof/threads/threads_report.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr char kStream[] = "stream";
constexpr char kControl[] = "control";
constexpr char kPartial[] = ".partial";
constexpr double kTick = 0.5;            // seconds between two lines of progress
constexpr double kReportSeconds = 600;   // for the report and the end of the stream
constexpr double kDumpSeconds = 86400;   // the same for a heap dump
constexpr double kSilenceSeconds = 300;  // without data from the agent after the report was requested
constexpr double kLastWordSeconds = 2;   // for the last words of a session that has ended
constexpr uint64_t kMostOfTables = uint64_t{256} << 20;  // bytes of a report without a heap dump
constexpr uint64_t kMostOfDump = uint64_t{1} << 30;      // bytes of one with a heap dump, and
constexpr uint64_t kDumpPerByte = 8;                     // these for each byte of the JVM's memory

struct ProfileOptions {
  double seconds = -1;  // below 0: not given
  std::string file;
  std::string suffix;  // of the format
  int pid = 0;
  std::string text;  // of the agent
};

bool has_dump(const std::string& options) {
  const auto heap = find_option(options, "heap");
  return heap != nullptr && *heap != "sites";
}

// True: only a heap dump, which needs no waiting.
bool is_dump_alone(const std::string& options) {
  const auto heap = find_option(options, "heap");
  return heap != nullptr && *heap == "dump" && find_option(options, "cpu") == nullptr &&
         find_option(options, "monitor") == nullptr && find_option(options, "plugin") == nullptr;
}

// An option of the agent that this command sets itself; empty: none.
std::string fault_of(const std::string& options) {
  for (const char* name : {"file", "net", "control", "start", "doe", "command"}) {
    if (find_option(options, name) == nullptr) continue;
    return std::string(name) + "= is set by hprof profile" +
           (name == std::string("file") ? "; use -o FILE" : "");
  }
  return "";
}

// The end of the agent's default file name, after java.hprof.
std::string default_suffix(const std::string& format, const hprof_encoder_ops* encoder,
                           const std::string* compress) {
  const std::string suffix = encoder != nullptr ? encoder->file_suffix : "." + format;
  std::string filter = encoder != nullptr && encoder->compress != nullptr ? encoder->compress : "";
  if (compress != nullptr) filter = *compress;
  return filter.empty() || filter == "n" ? suffix : suffix + ".gz";
}

void add_defaults(ProfileOptions* options) {
  std::string& text = options->text;
  if (!chooses_collector(text)) add_option("cpu=samples", &text);
  text += format_option(text, options->file);
  const auto given = find_option(text, "format");
  const std::string format = given != nullptr ? *given : "a";
  const hprof_encoder_ops* encoder = encoder_of_agent(format);
  text += stack_options(text, true);
  if (find_option(text, "verbose") == nullptr) add_option("verbose=n", &text);
  if (options->seconds < 0) options->seconds = is_dump_alone(text) ? 0 : 20;
  options->suffix = default_suffix(format, encoder, find_option(text, "compress").get());
  if (options->file.empty())
    options->file = "java.hprof" + options->suffix;
  else if (!agent_suffix_of_file(options->file).empty())
    options->suffix = agent_suffix_of_file(options->file);
}

class Profiling {
 public:
  Profiling(const Given& given, ProfileOptions options)
      : given_(given),
        options_(std::move(options)),
        vm_seconds_(static_cast<double>(given.number("--timeout", 10))),
        most_(given.number("--most", 0)) {}
  int run();

 private:
  bool create_file(std::string* error);
  bool keep_file(bool good, std::string* error);
  bool attach(std::string* error);
  void say_what_hangs() const;
  int refused(const std::string& error);
  void wait();
  bool fetch(std::string* error);
  bool send(const std::string& command, double deadline, std::string* answer, std::string* error);
  bool read_stream(int milliseconds, std::string* error);
  bool has_room(size_t size, std::string* error);
  void show(bool last);
  bool was_killed() const;
  std::string next_command() const;

  const Given& given_;
  ProfileOptions options_;
  const double vm_seconds_;
  Attachment attachment_;
  AttachAnswer answer_;
  int file_ = -1;
  std::string path_;  // absolute, of the whole report
  int stream_ = -1;
  int control_ = -1;
  bool ended_ = false;    // the agent has closed the stream
  bool stopped_ = false;  // by a signal
  uint64_t bytes_ = 0;
  uint64_t most_;  // limit of bytes_, as far as it was computed
  double began_ = 0;
  double shown_ = 0;     // the last line of progress
  uint64_t memory_ = 0;  // of the JVM, when the report was asked for
  bool fetches_ = false;
  std::string problem_;  // of the file
};

// Creates the file, with a number in its name if it exists. False with *error.
bool Profiling::create_file(std::string* error) {
  const std::string wanted = options_.file;
  const bool force = given_.has("--force");
  if (!choose_file(wanted, options_.suffix, force, Taken::kAnything, &options_.file, error)) return false;
  if (force && os::file_exists(wanted) && !is_file(wanted)) {
    *error = wanted + ": it is there already, and is no file to replace";
    return false;
  }
  const std::string partial = options_.file + kPartial;
  file_ = os::create_private_file(partial, true, error);
  if (file_ < 0) {
    // Say the name that was typed.
    if (error->compare(0, partial.size(), partial) == 0)
      error->erase(options_.file.size(), sizeof kPartial - 1);
    return false;
  }
  path_ = os::absolute_path(partial, error);
  path_.resize(path_.empty() ? 0 : path_.size() - (sizeof kPartial - 1));
  return !path_.empty();
}

// Renames the file if it is whole; removes an empty one. False with *error.
bool Profiling::keep_file(bool good, std::string* error) {
  os::become_caller();
  os::close_file(file_);
  const std::string partial = path_ + kPartial;
  if (good && os::rename_file(partial, path_, error)) return true;
  if (bytes_ == 0) os::remove_file(partial);
  path_ = partial;
  return !good;
}

// A profile of threads that stand still has little to show: their locks say more.
void Profiling::say_what_hangs() const {
  ThreadDump dump;
  std::string ignored;
  if (!ask_threads(attachment_.jvm(), false, vm_seconds_, &dump, &ignored)) return;
  const std::string hang = hang_text(dump, Blocked::kPools);
  if (!hang.empty()) std::cerr << hang << "All threads: hprof threads " << options_.pid << std::endl;
}

// *error is also set when the agent refuses.
bool Profiling::attach(std::string* error) {
  if (!attachment_.open(options_.pid, given_.text("--agent"), given_.has("--as-is"), error)) return false;
  say_what_hangs();
  const int listener = attachment_.place().listen(kStream, error);
  if (listener < 0) return false;
  const os::MeetingPlace& place = attachment_.place();
  const std::string text =
      options_.text + ",net=" + place.path_there(kStream) + ",control=" + place.path_there(kControl);
  const bool answered = attachment_.ask(text, "", vm_seconds_, 60, &answer_, error);
  for (const std::string& line : answer_.messages) std::cerr << line << '\n';
  if (answered && !answer_.good) *error = without_added(answer_.problem, ",net=" + place.path_there(kStream));
  if (answered && answer_.good) {
    stream_ = os::accept_jvm(attachment_.jvm(), listener, 5, error);
    control_ = attachment_.place().connect(kControl, 5, error);
  }
  os::close_socket(listener);
  return stream_ >= 0 && control_ >= 0;
}

void Profiling::show(bool last) {
  const double now = os::monotonic_seconds();
  if (!os::is_terminal(2) || (!last && now - shown_ < kTick)) return;
  shown_ = now;
  char text[120];
  const double passed = now - began_;
  if (!fetches_) {
    std::snprintf(text, sizeof text, "%.0f of %.0f s", passed, options_.seconds);
  } else if (bytes_ == 0) {
    std::snprintf(text, sizeof text, "%.0f s, waits for the report", passed);
  } else {
    std::snprintf(text, sizeof text, "%.0f s", passed);
  }
  steer_terminal("\r");
  std::cerr << attachment_.name() << ": " << text << ", " << size_text(bytes_);
  if (fetches_ && memory_ != 0) std::cerr << "; the JVM has " << size_text(memory_);
  steer_terminal(last ? "\x1b[K\n" : "\x1b[K");
}

// Reads what arrives within this time. False: the stream has ended, or *error.
bool Profiling::read_stream(int milliseconds, std::string* error) {
  if (os::wait_readable({stream_}, milliseconds) != 0) return true;
  char buffer[1 << 16];
  const long got = os::receive_some(stream_, buffer, sizeof buffer, 0, error);
  if (got <= 0) {
    ended_ = true;
    return false;
  }
  if (!has_room(static_cast<size_t>(got), error)) return false;
  if (!os::write_all(file_, buffer, static_cast<size_t>(got), error)) {
    *error = options_.file + ": " + *error;
    return false;
  }
  bytes_ += static_cast<uint64_t>(got);
  return true;
}

// False with *error: the report is longer than it can be, so the process may not be what it seems.
bool Profiling::has_room(size_t size, std::string* error) {
  if (bytes_ + size > most_ && !given_.has("--most")) {
    // The memory of a process that has ended is not known.
    const uint64_t now =
        has_dump(options_.text) ? kMostOfDump + kDumpPerByte * os::memory_of(options_.pid) : kMostOfTables;
    most_ = std::max(most_, now);
  }
  if (bytes_ + size <= most_) return true;
  *error = options_.file + ": the agent sends more than " + size_text(most_) + "; --most=SIZE allows more";
  return false;
}

void Profiling::wait() {
  began_ = os::monotonic_seconds();
  const double end = began_ + options_.seconds;
  for (double now = began_; now < end && !stopped_; now = os::monotonic_seconds()) {
    show(false);
    const double left = end - now < kTick ? end - now : kTick;
    if (os::wait_readable({stream_}, static_cast<int>(left * 1000) + 1) == -2) {
      stopped_ = true;
      os::forget_stop();
    }
    if (!stopped_ && !read_stream(0, &problem_)) return;
  }
  if (options_.seconds > 0) show(true);
}

// Sends a command, and reads the stream meanwhile, which the sockets' buffers cannot hold.
bool Profiling::send(const std::string& command, double deadline, std::string* answer, std::string* error) {
  if (!os::send_all(control_, (command + "\n").data(), command.size() + 1, 10, error)) return false;
  double heard = os::monotonic_seconds();
  std::string held = "\n";
  while (held.back() != '\n' ||
         (held.find("\nOK") == std::string::npos && held.find("\nERROR") == std::string::npos)) {
    show(false);
    const int ready = os::wait_readable({control_, ended_ ? -1 : stream_}, 1000);
    const double now = os::monotonic_seconds();
    if (ready >= 0) heard = now;
    if (ready == -2 || now > deadline || now - heard > kSilenceSeconds) {
      *error = ready == -2 ? "stopped" : "the agent does not answer";
      return false;
    }
    if (ready == 1 && !read_stream(0, error) && !ended_) return false;
    if (ready != 0) continue;
    char bytes[4096];
    const long got = os::receive_some(control_, bytes, sizeof bytes, 0, error);
    if (got <= 0) {
      if (error->empty()) *error = "the agent is gone";
      return false;
    }
    held.append(bytes, static_cast<size_t>(got));
    if (held.size() > kControlAnswerMax) {
      *error = "the agent's answer has more than " + size_text(kControlAnswerMax);
      return false;
    }
  }
  const size_t begin = held.rfind('\n', held.size() - 2) + 1;
  const std::string line = held.substr(begin, held.size() - 1 - begin);
  if (classify_answer(line, answer) == Answer::kOk) return true;
  *error = !answer->empty() ? *answer : "the agent's answer is empty";
  return false;
}

// Fetches the report and ends the agent. False with *error.
bool Profiling::fetch(std::string* error) {
  fetches_ = true;
  if (has_dump(options_.text)) memory_ = os::memory_of(options_.pid);
  const double deadline = os::monotonic_seconds() + (has_dump(options_.text) ? kDumpSeconds : kReportSeconds);
  std::string said, ignored;
  const bool reported = send("report", deadline, &said, error);
  if (!send("detach nodump", deadline, &said, &ignored)) {
    if (reported) *error = ignored;
    return false;
  }
  for (double heard = os::monotonic_seconds(); !ended_;) {
    const double now = os::monotonic_seconds();
    if (now > deadline || now - heard > kSilenceSeconds) {
      *error = "the agent does not end the stream";
      return false;
    }
    const uint64_t before = bytes_;
    show(false);
    if (!read_stream(1000, error) && !ended_) return false;
    if (bytes_ != before) heard = now;
  }
  show(true);
  return reported;
}

// Removes what a refused report has left: the caller's file; the attachment removes its own in the JVM's
// /tmp.
int Profiling::refused(const std::string& error) {
  std::string ignored;
  if (file_ >= 0) keep_file(false, &ignored);
  std::cerr << "hprof: " << error << '\n';
  return answer_.problem.empty() ? kFailed : kFoundProblems;
}

// After the end of the stream. A session that ends says so on its control connection before; the system
// closes that of a process which was killed.
bool Profiling::was_killed() const {
  std::string said, ignored;
  char bytes[256];
  long got;
  while (said.size() < kControlLineMax &&
         (got = os::receive_some(control_, bytes, sizeof bytes, kLastWordSeconds, &ignored)) > 0)
    said.append(bytes, static_cast<size_t>(got));
  return said.empty();
}

// "": the format is not one of ours.
std::string Profiling::next_command() const {
  const std::string& text = options_.text;
  const auto format = find_option(text, "format");
  const hprof_encoder_ops* encoder = encoder_of_agent(format != nullptr ? *format : "a");
  if (encoder == nullptr) return "";
  const std::string content = encoder->content_type != nullptr ? encoder->content_type : "";
  if (content == "text/html") return "open " + path_ + " in a browser";
  if (is_dump_alone(text) && format != nullptr && *format == "b")
    return "hprof heap " + path_ + ", hprof heap leaks " + path_;
  const bool has_stacks = find_option(text, "cpu") != nullptr || find_option(text, "heap") != nullptr ||
                          find_option(text, "monitor") != nullptr;
  return "hprof print " + path_ + (has_stacks ? ", hprof view " + path_ : "");
}

int Profiling::run() {
  std::string error;
  const std::string wanted = options_.file;
  if (!create_file(&error)) return fail(error);
  os::stop_on_signals();
  if (!attach(&error)) return refused(error);
  say_kept(wanted, options_.file);
  std::cerr << attachment_.name() << ": " << options_.text << ", " << options_.seconds << " s" << std::endl;
  wait();
  const bool ended_early = ended_;
  if (ended_ && problem_.empty() && was_killed())
    problem_ = attachment_.name() + " was killed, or its agent broke off: its last report is missing";
  bool good = problem_.empty() && (ended_early || fetch(&error));
  if (!problem_.empty()) error = problem_;
  os::close_socket(stream_);
  os::close_socket(control_);
  good = keep_file(good, &error) && good;
  if (good && ended_early)
    std::cerr << attachment_.name() << " ended, or its agent did; this is its last report\n";
  if (!good) std::cerr << "hprof: " << error << '\n';
  if (good || bytes_ != 0) std::cout << path_ << " (" << size_text(bytes_) << ")" << std::endl;
  const std::string next = good ? next_command() : "";
  if (!next.empty()) std::cerr << "next: " << next << '\n';
  return good ? kDone : kFoundProblems;
}

int profile(const Given& given) {
  ProfileOptions options;
  Arguments words = given.words;
  if (!take_process(&words, &options.pid)) return given.misuse(words[0] + " is not a process id");
  options.text = join_options(words);
  const std::string wrong = fault_of(options.text);
  if (!wrong.empty()) return given.misuse(wrong);
  options.file = given.text("-o");
  const std::string unknown = fault_of_file(options.text, options.file);
  if (!unknown.empty()) return given.misuse(unknown);
  if (given.has("--seconds")) options.seconds = static_cast<double>(given.number("--seconds", 0));
  add_defaults(&options);
  return Profiling(given, options).run();
}

constexpr OptionRow kOptions[] = {
    {"--seconds", "N", "duration, default 20; 0 when only heap=dump is given", ValueKind::kNumber, 0,
     10000000},
    {"-o", "FILE",
     "default java.hprof and the format's suffix (.txt); without format= its suffix says the format\n"
     "(.html, .pb.gz, .jfr, .hprof)"},
    kForceOption,
    {"--most", "SIZE",
     "what the report may have at most (700m, 4g): 256m, with a heap dump 1g and eight times\n"
     "the memory of the JVM",
     ValueKind::kSize},
    kAgentOption,
    kAsIsOption,
    kListenTimeoutOption,
};
constexpr Verb kVerbs[] = {{"", "PID [OPTION=VALUE...]", "", profile, kOptions}};

}  // namespace

const Command kProfileCommand = {
    "profile",
    "PID [OPTIONS]",
    "profile a running program",
    kVerbs,
    R"(Profiles a running JVM: loads the agent, waits, fetches the report, and unloads the agent. The report is a file
of yours, in this folder; its path and size are printed. Deadlocks, and pools whose threads all wait for locks, are
said first. An agent that is there goes on beside it. The JVM may be in a container. Run it as the user of that
process, or as root. Ctrl-C ends the wait and fetches the report; a report that is not whole keeps the name
FILE.partial. OPTION=VALUE are the agent's options, default cpu=samples. Stacks are whole, up to 512 frames, unless
depth= is given.
)",
    R"(  hprof profile 4711
  hprof profile --seconds=60 -o sites.txt 4711 heap=sites
  hprof profile -o app.hprof 4711 heap=dump

Exit status: 0 done, 1 refused by the agent, or the report failed or the JVM was killed, 2 wrong usage or failed.
)"};

}  // namespace hprof::tool
