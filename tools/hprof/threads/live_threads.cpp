#include "tools/hprof/threads/live_threads.h"

#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of an answer or a file
constexpr size_t kMostLine = 1 << 20;               // of a line; what is longer is cut
constexpr size_t kMostSaid = 1024;                  // of an answer in an error
constexpr char kVirtualFile[] = "threads.txt";

// Passes on whole lines of text that arrives in pieces.
class Lines {
 public:
  explicit Lines(std::function<void(const std::string&)> take) : take_(std::move(take)) {}
  // False: there were more bytes than any VM sends.
  bool add(const char* text, size_t size) {
    bytes_ += size;
    for (size_t i = 0; i < size; ++i) {
      if (text[i] == '\n') {
        end();
      } else if (line_.size() < kMostLine) {
        line_ += text[i];
      }
    }
    return bytes_ <= kMostBytes;
  }
  void end() {
    take_(line_);
    line_.clear();
  }

 private:
  const std::function<void(const std::string&)> take_;
  std::string line_;
  uint64_t bytes_ = 0;
};

// Reads the VM's whole answer; its first line is a result code. False with *error.
bool read_answer(const os::Jvm& jvm, int vm, double seconds,
                 const std::function<void(const std::string&)>& take, std::string* error) {
  const double deadline = os::monotonic_seconds() + seconds;
  std::string code;
  bool first = true;
  Lines lines([&](const std::string& line) {
    if (first) {
      code = line;
    } else {
      take(line);
    }
    first = false;
  });
  char bytes[1 << 16];
  long got;
  while ((got = os::receive_some(vm, bytes, sizeof bytes, deadline - os::monotonic_seconds(), error)) > 0) {
    if (lines.add(bytes, static_cast<size_t>(got))) continue;
    *error = os::name_of(jvm) + " answers with more than a gigabyte";
    return false;
  }
  lines.end();
  if (got < 0) return false;
  if (code != "0") *error = os::name_of(jvm) + " refuses to answer: result code " + code;
  return code == "0";
}

bool ask(const os::Jvm& jvm, double seconds, const os::VmOperation& operation,
         const std::function<void(const std::string&)>& take, std::string* error) {
  const int vm = os::ask_vm(jvm, seconds, operation, error);
  if (vm < 0) return false;
  const bool good = read_answer(jvm, vm, seconds, take, error);
  os::close_socket(vm);
  return good;
}

}  // namespace

bool read_lines(int file, const std::function<void(const std::string&)>& take, std::string* error) {
  Lines lines(take);
  char bytes[1 << 16];
  long got;
  while ((got = os::read_some(file, bytes, sizeof bytes, error)) > 0) {
    if (lines.add(bytes, static_cast<size_t>(got))) continue;
    *error = "more than a gigabyte";
    return false;
  }
  lines.end();
  return got == 0;
}

bool ask_threads(const os::Jvm& jvm, bool with_owners, double seconds, ThreadDump* dump, std::string* error) {
  ThreadDumpReader reader;
  const auto take = [&](const std::string& line) { reader.take(line); };
  if (!ask(jvm, seconds, {"threaddump", {with_owners ? "-l" : "", "", ""}}, take, error)) return false;
  *dump = reader.finish();
  if (dump->vm.empty()) *error = os::name_of(jvm) + " answers without a thread dump";
  return !dump->vm.empty();
}

bool ask_virtual_threads(const os::Jvm& jvm, double seconds, VirtualThreadReader* reader,
                         std::string* error) {
  os::MeetingPlace place;
  if (!os::MeetingPlace::kHasFiles) *error = "they are read on Linux only";
  if (!os::MeetingPlace::kHasFiles || !place.open(jvm, error)) return false;
  const std::string command = "Thread.dump_to_file -format=plain " + place.path_there(kVirtualFile);
  std::string said;
  const auto keep = [&](const std::string& line) {
    if (said.size() < kMostSaid) said += line.substr(0, kMostSaid);
  };
  const bool asked = ask(jvm, seconds, {"jcmd", {command, "", ""}}, keep, error);
  const int file = asked ? place.open_file(kVirtualFile, error) : -1;
  if (file < 0) {
    if (!said.empty()) *error += " (the VM says: " + said + ")";
    return false;
  }
  const bool good = read_lines(
      file, [&](const std::string& line) { reader->take(line); }, error);
  os::close_file(file);
  return good;
}

}  // namespace hprof::tool
