#include "tools/hprof/threads/live_threads.h"

#include "tools/format/source_file.h"
#include "tools/hprof/threads/lock_owners.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr size_t kMostSaid = 1024;  // of an answer in an error
constexpr char kVirtualFile[] = "threads.txt";

// What a VM answers, until a deadline.
class Answer : public ByteSource {
 public:
  Answer(int vm, double seconds) : vm_(vm), deadline_(os::monotonic_seconds() + seconds) {}
  size_t read(uint8_t* to, size_t size) override {
    const long got = os::receive_some(vm_, to, size, deadline_ - os::monotonic_seconds(), &error_);
    return got < 0 ? 0 : static_cast<size_t>(got);
  }
  bool seek(uint64_t) override { return false; }
  uint64_t size() const override { return kUnknownSize; }

 private:
  const int vm_;
  const double deadline_;
};

// Reads the VM's whole answer; its first line is a result code. False with *error.
bool read_answer(const os::Jvm& jvm, int vm, double seconds, const TakeLine& take, std::string* error) {
  Answer answer(vm, seconds);
  std::string code;
  bool first = true;
  const auto take_rest = [&](const std::string& line) {
    if (first) {
      code = line;
    } else {
      take(line);
    }
    first = false;
  };
  if (!read_lines(answer, take_rest, error)) {
    if (answer.error().empty()) *error = os::name_of(jvm) + " answers with " + *error;
    return false;
  }
  if (code != "0") *error = os::name_of(jvm) + " refuses to answer: result code " + code;
  return code == "0";
}

bool ask(const os::Jvm& jvm, double seconds, const os::VmOperation& operation, const TakeLine& take,
         std::string* error) {
  const int vm = os::ask_vm(jvm, seconds, operation, error);
  if (vm < 0) return false;
  const bool good = read_answer(jvm, vm, seconds, take, error);
  os::close_socket(vm);
  return good;
}

}  // namespace

bool ask_threads(const os::Jvm& jvm, bool with_owners, double seconds, ThreadDump* dump, std::string* error) {
  ThreadDumpReader reader;
  const auto take = [&](const std::string& line) { reader.take(line); };
  if (!ask(jvm, seconds, {"threaddump", {with_owners ? "-l" : "", "", ""}}, take, error)) return false;
  *dump = reader.finish();
  if (dump->vm.empty()) *error = os::name_of(jvm) + " answers without a thread dump";
  return !dump->vm.empty();
}

bool ask_virtual_threads(const os::Jvm& jvm, double seconds, ThreadDump* dump, std::string* error) {
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
  DumpFileReader reader;
  const auto take = [&](const std::string& line) { reader.take(line); };
  if (!read_lines(*file_source(file), take, error)) return false;
  add_virtual_threads(reader.finish(), dump);
  return true;
}

}  // namespace hprof::tool
