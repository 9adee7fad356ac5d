// hprof doctor [PID]: what this host and a JVM on it allow.
#include <algorithm>
#include <iostream>

#include "tools/heap/output/document.h"
#include "tools/hprof/command.h"
#include "tools/hprof/doctor/findings.h"

namespace hprof::tool {

namespace {

const char* word_of(Verdict verdict) {
  return verdict == Verdict::kYes       ? "yes"
         : verdict == Verdict::kLimited ? "limited"
         : verdict == Verdict::kAtStart ? "at start"
                                        : "no";
}

void print(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::string verdict = word_of(finding.verdict), subject = finding.subject;
    verdict.resize(8, ' ');
    subject.resize(12, ' ');
    std::cout << "  " << verdict << ' ' << subject << ' ' << finding.text << '\n';
    if (!finding.fix.empty()) std::cout << std::string(24, ' ') << "-> " << finding.fix << '\n';
  }
}

Section section_of(const char* key, const std::string& title, const std::vector<Finding>& findings) {
  Section section{key, title};
  Table table{"findings", "", {{"verdict", ""}, {"subject", ""}, {"text", ""}, {"fix", ""}}};
  for (const Finding& finding : findings)
    table.rows.push_back(
        {std::string(word_of(finding.verdict)), finding.subject, finding.text, text_or_null(finding.fix)});
  section.tables.push_back(std::move(table));
  return section;
}

// kFoundProblems: a finding is a no.
int status_of(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.verdict == Verdict::kNo; })
             ? kFoundProblems
             : kDone;
}

int doctor(const Given& given) {
  Arguments words = given.words;
  int pid = 0;
  if (!words.empty() && !take_process(&words, &pid)) return given.misuse(words[0] + " is not a process id");
  const bool as_json = given.has("--json");
  const os::HostFacts host = os::host_facts();
  const std::vector<Finding> of_host = judge_host(host);
  int status = status_of(of_host);
  Document document = {{}, {section_of("host", host.system, of_host)}, kDoctorSchema};
  document.sections[0].facts = {
      data_fact("system", host.system),
      data_fact("processors", host.processors > 0 ? Cell(static_cast<uint64_t>(host.processors)) : Cell()),
      data_fact("user", static_cast<uint64_t>(host.user))};
  if (!as_json) {
    std::cout << "This host: " << host.system;
    if (host.processors > 0) std::cout << ", " << host.processors << " processors";
    std::cout << ", user " << host.user << '\n';
    print(of_host);
  }
  if (pid != 0) {
    os::JvmFacts jvm;
    std::string error;
    if (!os::jvm_facts(pid, &jvm, &error)) return fail(error);
    const std::vector<Finding> of_jvm = judge_jvm(host, jvm);
    status = std::max(status, status_of(of_jvm));
    const std::string title = "Process " + std::to_string(pid);
    document.sections.push_back(section_of("process", title, of_jvm));
    document.sections.back().facts = {data_fact("pid", static_cast<uint64_t>(pid))};
    if (!as_json) std::cout << title << ":\n";
    if (!as_json) print(of_jvm);
  }
  if (as_json) write_json(document, std::cout);
  return status;
}

constexpr OptionRow kOptions[] = {kJsonOption};
constexpr Verb kVerbs[] = {{"", "[PID]", "", doctor, kOptions}};

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
