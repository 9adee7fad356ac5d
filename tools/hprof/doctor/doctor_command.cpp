// hprof doctor [PID]: what this host and a JVM on it allow.
#include <iostream>

#include "tools/hprof/command.h"
#include "tools/hprof/doctor/findings.h"

namespace hprof::tool {

namespace {

const char* word_of(Verdict verdict) {
  return verdict == Verdict::kYes       ? "yes     "
         : verdict == Verdict::kLimited ? "limited "
         : verdict == Verdict::kAtStart ? "at start"
                                        : "no      ";
}

// True: no finding is a no.
bool print(const std::vector<Finding>& findings) {
  bool good = true;
  for (const Finding& finding : findings) {
    std::string subject = finding.subject;
    subject.resize(12, ' ');
    std::cout << "  " << word_of(finding.verdict) << ' ' << subject << ' ' << finding.text << '\n';
    if (!finding.fix.empty()) std::cout << std::string(24, ' ') << "-> " << finding.fix << '\n';
    good = good && finding.verdict != Verdict::kNo;
  }
  return good;
}

int doctor(const Given& given) {
  Arguments words = given.words;
  int pid = 0;
  if (!words.empty() && !take_process(&words, &pid)) return given.misuse(words[0] + " is not a process id");
  const os::HostFacts host = os::host_facts();
  std::cout << "This host: " << host.system;
  if (host.processors > 0) std::cout << ", " << host.processors << " processors";
  std::cout << ", user " << host.user << '\n';
  bool good = print(judge_host(host));
  if (pid == 0) return good ? kDone : kFoundProblems;
  os::JvmFacts jvm;
  std::string error;
  if (!os::jvm_facts(pid, &jvm, &error)) return fail(error);
  std::cout << "Process " << pid << ":\n";
  good = print(judge_jvm(host, jvm)) && good;
  return good ? kDone : kFoundProblems;
}

constexpr Verb kVerbs[] = {{"", "[PID]", "", doctor}};

}  // namespace

const Command kDoctorCommand = {
    "doctor",
    "[PID]",
    "check what this host and a JVM support",
    kVerbs,
    R"(Prints what this host supports, and for a running JVM which collectors can be attached: yes, limited, at start (only
when the program is started with the agent) or no, with the fix. Changes nothing. Exit status 1 when a line says no.
)",
    R"(  hprof doctor
  hprof doctor 4711
)"};

}  // namespace hprof::tool
