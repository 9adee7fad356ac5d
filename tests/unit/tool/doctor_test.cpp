// What facts about a host and a JVM mean.
#include <doctest/doctest.h>
#include <string>

#include "tools/hprof/doctor/findings.h"

using namespace hprof;
using tool::Finding;
using tool::judge_host;
using tool::judge_jvm;
using tool::Verdict;

namespace {
os::HostFacts host() {
  os::HostFacts facts;
  facts.system = "Linux 6.1 x86_64";
  facts.user = 1000;
  facts.tick_ns = 4000000;
  facts.signal_limit = 60000;
  facts.cpu_timers = true;
  facts.folder = "/srv";
  facts.folder_writable = true;
  facts.folder_free = 100ll << 30;
  return facts;
}
os::JvmFacts jvm(const char* version) {
  os::JvmFacts facts;
  facts.pid = 4711;
  facts.exists = facts.readable = facts.catches_quit = true;
  facts.user = 1000;
  facts.libjvm = "/jdk/lib/server/libjvm.so";
  facts.home = "/jdk";
  facts.version = version;
  facts.async_get_call_trace = true;
  return facts;
}
Finding find(const std::vector<Finding>& findings, const std::string& subject) {
  for (const Finding& finding : findings)
    if (finding.subject == subject) return finding;
  FAIL("no finding about ", subject);
  return {};
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("versions are read in all their spellings") {
  CHECK(tool::feature_version("1.8.0_402") == 8);
  CHECK(tool::feature_version("11.0.2") == 11);
  CHECK(tool::feature_version("27-ea") == 27);
  CHECK(tool::feature_version("") == 0);
}

TEST_CASE("a host says its tick, and what a missing timer means") {
  Finding found = find(judge_host(host()), "cpu=samples");
  CHECK(found.verdict == Verdict::kYes);
  CHECK(has(found.text, "every 4 ms"));
  CHECK(has(found.fix, "interval="));
  os::HostFacts facts = host();
  facts.cpu_timers = false;
  facts.cpu_timers_refused = true;
  facts.cpu_timers_error = "Operation not permitted";
  found = find(judge_host(facts), "cpu=samples");
  CHECK(found.verdict == Verdict::kLimited);
  CHECK(has(found.text, "Operation not permitted"));
  CHECK(has(found.fix, "seccomp"));
}

TEST_CASE("a host with few signals, little space or a read-only folder says so") {
  os::HostFacts facts = host();
  facts.signal_limit = 100;
  facts.folder_free = 1000;
  CHECK(find(judge_host(facts), "threads").verdict == Verdict::kLimited);
  CHECK(find(judge_host(facts), "output").verdict == Verdict::kLimited);
  facts.folder_writable = false;
  CHECK(find(judge_host(facts), "output").verdict == Verdict::kNo);
  CHECK(find(judge_host(host()), "output").verdict == Verdict::kYes);
}

TEST_CASE("a process that is none, of somebody else or no JVM ends the examination") {
  os::JvmFacts facts = jvm("17.0.2");
  facts.exists = false;
  CHECK(judge_jvm(host(), facts).size() == 1);
  facts = jvm("17.0.2");
  facts.readable = false;
  facts.user = 33;
  std::vector<Finding> findings = judge_jvm(host(), facts);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].verdict == Verdict::kNo);
  CHECK(has(findings[0].text, "user 33"));
  CHECK(has(findings[0].fix, "root"));
  facts.user = host().user;
  findings = judge_jvm(host(), facts);
  REQUIRE(findings.size() == 1);
  CHECK(has(findings[0].fix, "CAP_SYS_PTRACE"));
  CHECK(!has(findings[0].fix, "as that user"));
  os::HostFacts root = host();
  root.user = 0;
  facts.user = 33;
  findings = judge_jvm(root, facts);
  REQUIRE(findings.size() == 1);
  CHECK(has(findings[0].fix, "run this as that user, or outside of"));
  facts = jvm("17.0.2");
  facts.libjvm.clear();
  CHECK(judge_jvm(host(), facts).size() == 1);
}

TEST_CASE("its output is judged by what its own user may write") {
  os::JvmFacts facts = jvm("17.0.2");
  facts.folder = "/srv/app";
  facts.folder_known = facts.folder_writable = true;
  facts.folder_free = 5ll << 30;
  CHECK(find(judge_jvm(host(), facts), "its output").verdict == Verdict::kYes);
  facts.folder_writable = false;
  const Finding found = find(judge_jvm(host(), facts), "its output");
  CHECK(found.verdict == Verdict::kLimited);
  CHECK(has(found.text, "/srv/app is not writable for user 1000"));
  CHECK(has(found.fix, "file="));
}

TEST_CASE("attaching: what the flags of the VM allow") {
  CHECK(find(judge_jvm(host(), jvm("17.0.2")), "attach").verdict == Verdict::kYes);
  CHECK(find(judge_jvm(host(), jvm("17.0.2")), "attach").fix.empty());
  Finding found = find(judge_jvm(host(), jvm("21.0.1")), "attach");
  CHECK(found.verdict == Verdict::kYes);
  CHECK(has(found.text, "warning"));
  os::JvmFacts facts = jvm("21.0.1");
  facts.command = {"java", "-XX:+EnableDynamicAgentLoading", "Main"};
  CHECK(find(judge_jvm(host(), facts), "attach").fix.empty());
  facts.command = {"java", "-XX:-EnableDynamicAgentLoading", "Main"};
  CHECK(find(judge_jvm(host(), facts), "attach").verdict == Verdict::kNo);
  CHECK(has(find(judge_jvm(host(), facts), "attach").fix, " JFR.start "));
  facts.command = {"java", "-XX:+DisableAttachMechanism", "Main"};
  CHECK(find(judge_jvm(host(), facts), "attach").verdict == Verdict::kNo);
  // The last one counts.
  facts.command = {"java", "-XX:+DisableAttachMechanism", "-XX:-DisableAttachMechanism", "Main"};
  CHECK(find(judge_jvm(host(), facts), "attach").verdict == Verdict::kYes);
  facts.command = {"java", "-Xrs", "Main"};
  CHECK(find(judge_jvm(host(), facts), "attach").verdict == Verdict::kNo);
  facts.attach_socket = true;  // somebody has started the mechanism before
  CHECK(find(judge_jvm(host(), facts), "attach").verdict == Verdict::kYes);
  facts.agent = "/opt/hprof/lib/libhprof.so";
  CHECK(has(find(judge_jvm(host(), facts), "attach").text, "already loaded"));
}

TEST_CASE("collectors: at start only where nothing can attach") {
  os::JvmFacts facts = jvm("21.0.1");
  facts.command = {"java", "-XX:-EnableDynamicAgentLoading", "Main"};
  for (const char* collector :
       {"cpu=samples", "cpu=times", "calls=y", "heap=sites", "heap=dump", "monitor=y"})
    CHECK(find(judge_jvm(host(), facts), collector).verdict == Verdict::kAtStart);
}

TEST_CASE("collectors: what a late agent can do on this version") {
  CHECK(find(judge_jvm(host(), jvm("17.0.2")), "heap=sites").verdict == Verdict::kLimited);
  CHECK(find(judge_jvm(host(), jvm("1.8.0_402")), "heap=sites").verdict == Verdict::kAtStart);
  CHECK(find(judge_jvm(host(), jvm("17.0.2")), "cpu=times").verdict == Verdict::kAtStart);
  CHECK(find(judge_jvm(host(), jvm("17.0.2")), "cpu=samples").verdict == Verdict::kYes);
  CHECK(has(find(judge_jvm(host(), jvm("17.0.2")), "calls=y").text, "from the attach on"));
  CHECK(has(find(judge_jvm(host(), jvm("1.8.0_402")), "calls=y").text, "intrinsics"));
  os::JvmFacts facts = jvm("17.0.2");
  facts.async_get_call_trace = false;
  CHECK(find(judge_jvm(host(), facts), "cpu=samples").verdict == Verdict::kLimited);
  CHECK(find(judge_jvm(host(), jvm("1.7.0_80")), "JVM").verdict == Verdict::kNo);
  facts.other_namespace = true;
  CHECK(has(find(judge_jvm(host(), facts), "agent file").fix, "--as-is"));
}
