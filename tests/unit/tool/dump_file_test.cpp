// hprof threads: what jcmd's Thread.dump_to_file says of virtual threads and their locks.
#include "tools/hprof/threads/dump_file.h"

#include <doctest/doctest.h>

#include "tests/unit/tool/command_support.h"
#include "tools/hprof/threads/lock_owners.h"
#include "tools/hprof/threads/threads_report.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

const std::string kHead = "4711\n2026-11-29T10:09:54Z\n27.0.1+3\n\n";
const std::string kSync = "java.util.concurrent.locks.ReentrantLock$NonfairSync";

template <typename Reader>
ThreadDump read(const std::string& text) {
  Reader reader;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    reader.take(text.substr(at, end - at));
  }
  return reader.finish();
}
ThreadDump read_file(const std::string& text) { return read<DumpFileReader>(text); }

std::string thread(int number, const std::string& name, const std::string& state, const std::string& lines) {
  return "#" + std::to_string(number) + " \"" + name + "\" " + state + " 2026-11-29T10:09:54Z\n" + lines +
         "\n";
}
std::string parked(int number, const std::string& name, const std::string& for_what) {
  return thread(number, name, "virtual WAITING",
                "    at demo.A.lock(A.java:2)\n    - parking to wait for <" + for_what + ">\n");
}

}  // namespace

TEST_CASE("virtual threads stand together by state and stack, with their names") {
  const ThreadDump dump = read_file(kHead + thread(3, "main", "RUNNABLE", "    at demo.A.main(A.java:1)\n") +
                                    parked(32, "", "demo.A@1") + parked(33, "x", "demo.A@2") +
                                    "#34 \"old\" virtual\n      demo.B.b(A.java:3)\n");
  CHECK(dump.vm == "Java 27.0.1+3");
  CHECK(dump.threads.size() == 1);
  CHECK(dump.virtual_count == 3);
  REQUIRE(dump.virtual_groups.size() == 2);
  const std::string text = virtual_threads_text(dump);
  has(text, "VIRTUAL THREADS: 3\n  2 threads: #32, \"x\" #33, WAITING\n    at demo.A.lock(A.java:2)\n");
  has(text, "  1 thread: \"old\" #34\n    at demo.B.b(A.java:3)\n");
}

TEST_CASE("the lock that virtual threads wait for is said with its owner") {
  const std::string lock = kSync + "@7f";
  std::string text = kHead + thread(21, "holder", "virtual TIMED_WAITING", "    at demo.A.hold(A.java:9)\n");
  for (int i = 0; i < 20; ++i) text += parked(30 + i, "w" + std::to_string(i), lock + ">, owner #21<");
  const std::string said = hang_text(read_file(text), Blocked::kAll);
  has(said, "BLOCKED: 20 virtual threads wait for " + lock + ", held by virtual thread \"holder\" #21\n");
  has(said, "\"w0\" #30, \"w1\" #31, ");
  has(said, "\"w7\" #37 and 12 more\n");
  has(said, "at demo.A.hold(A.java:9)");
}

TEST_CASE("a monitor's owner is the thread that has locked it, platform or virtual") {
  const std::string blocked = "    at demo.A.enter(A.java:2)\n    - waiting to lock <demo.L@1>\n";
  for (const char* state : {"TIMED_WAITING", "virtual TIMED_WAITING"}) {
    const ThreadDump dump =
        read_file(kHead + thread(5, "has", state, "    at demo.A.hold(A.java:9)\n    - locked <demo.L@1>\n") +
                  thread(6, "v", "virtual BLOCKED", blocked) + thread(7, "p", "BLOCKED", blocked));
    const std::string text = hang_text(dump, Blocked::kAll);
    has(text, "BLOCKED: 1 thread and 1 virtual thread wait for demo.L@1, held by ");
    has(text, "\"has\" #5\n");
    has(counts_text(dump), "1 waits for locks");
  }
}

TEST_CASE("virtual threads that wait for each other are a likely deadlock") {
  const auto waits = [](int number, const char* name, const char* has_lock, const char* wants) {
    return thread(number, name, "virtual BLOCKED",
                  std::string("    at demo.A.both(A.java:2)\n    - waiting to lock <") + wants +
                      ">\n    at demo.A.run(A.java:5)\n    - locked <" + has_lock + ">\n");
  };
  const Files files;
  const std::string text = said({"threads", files.put("v.txt", kHead + waits(7, "", "demo.L@1", "demo.L@2") +
                                                                   waits(8, "b", "demo.L@2", "demo.L@1"))},
                                kFoundProblems);
  has(text, "LIKELY DEADLOCK, of threads that were looked at one after the other: 2 threads");
  has(text, "  \"#7\" waits for demo.L@2, held by \"b\"\n");
  CHECK(text.find("BLOCKED: ") == std::string::npos);
}

TEST_CASE("a lock has the name of jstack's dump where a platform thread waits for it in both") {
  ThreadDump dump = read<ThreadDumpReader>(
      "Full thread dump VM (27+1 mixed mode):\n\n\"p\" #9 prio=5 tid=0x1 nid=1 waiting\n"
      "   java.lang.Thread.State: WAITING (parking)\n\tat A.a(A.java:1)\n\t- parking to wait for  <0xabc> "
      "(a " +
      kSync + ")\n\n");
  add_virtual_threads(
      read_file(kHead +
                thread(9, "p", "WAITING",
                       "    at A.a(A.java:1)\n    - parking to wait for <" + kSync + "@7f>, owner #21\n") +
                parked(30, "w", kSync + "@7f") + parked(31, "x", kSync + "@80") +
                parked(32, "y", kSync + "@80") +
                thread(21, "holder", "virtual WAITING", "    at A.h(A.java:1)\n")),
      &dump);
  const std::string text = hang_text(dump, Blocked::kAll);
  has(text,
      "1 thread and 1 virtual thread wait for " + kSync + " <0xabc>, held by virtual thread \"holder\" #21");
  has(text, "2 virtual threads wait for " + kSync + "@80, held by a thread that the dump does not name");
}

TEST_CASE("a file of Thread.dump_to_file is read in both forms, by its content") {
  const Files files;
  const std::string plain = kHead +
                            thread(21, "holder", "virtual WAITING", "    at demo.A.hold(A.java:9)\n") +
                            parked(30, "w\nx", kSync + "@7f>, owner #21<");
  const std::string json =
      "{\"threadDump\": {\"processId\": 1, \"runtimeVersion\": \"27.0.1+3\", \"threadContainers\": [\n"
      "{\"container\": \"<root>[{\", \"threads\": [{\"tid\": \"21\", \"virtual\": true, \"name\": "
      "\"holder\",\n"
      "\"state\": \"WAITING\", \"stack\": [\"demo.A.hold(A.java:9)\"]}]},\n"
      "{\"container\": \"pool\", \"threads\": [], \"threadCount\": 0},\n"
      "{\"container\": \"x\", \"threads\": [{\"tid\": 30, \"virtual\": true, \"name\": \"w\\nx\", \"state\": "
      "\"WAITING\",\n"
      "\"parkBlocker\": {\"object\": \"" +
      kSync +
      "@7f\", \"owner\": 21},\n"
      "\"stack\": [\"demo.A.lock(A.java:2)\"]}, {\"tid\": 3, \"name\": \"}\\\"]\", \"state\": \"RUNNABLE\",\n"
      "\"stack\": [\"demo.A.c(A.java:1)\", \"demo.A.d(A.java:1)\"],\n"
      "\"monitorsOwned\": [{\"depth\": 1, \"locks\": [\"demo.L@1\", null]}]}]}]}}\n";
  for (const std::string& text : {plain, json}) {
    const std::string printed = said({"threads", files.put("dump", text)});
    has(printed, ", Java 27.0.1+3: ");
    has(printed,
        "BLOCKED: 1 virtual thread waits for " + kSync + "@7f, held by virtual thread \"holder\" #21");
    has(printed, "\"w\nx\" #30, WAITING");
  }
  has(said({"threads", files.put("dump", json)}), "    at demo.A.d(A.java:1)\n    - locked <demo.L@1>\n");
  has(complained({"threads", files.put("cut.json", json.substr(0, json.size() - 9))}), "cut.json: byte ");
  has(complained({"threads", files.put("pid.txt", "4711\n")}), "pid.txt: no thread dump");
}

TEST_CASE("virtual threads of JDK 21 in JSON are known by their last frame") {
  const Files files;
  const std::string printed = said(
      {"threads",
       files.put("21.json",
                 "{ \"threadDump\": { \"runtimeVersion\": \"21\", \"threadContainers\": [ { \"threads\": [\n"
                 "{ \"tid\": \"21\", \"name\": \"v\", \"stack\": [ \"demo.A.a(A.java:1)\",\n"
                 "\"java.base\\/java.lang.VirtualThread.run(VirtualThread.java:329)\" ] } ] } ] } }")});
  has(printed, "1 thread: \"v\" #21\n");
}

TEST_CASE("a hostile file is read to a bound") {
  std::string deep = kHead + "#1 \"deep\" virtual\n";
  for (int i = 0; i < 20000; ++i) deep += "  a.A.a(A.java)\n";
  const ThreadDump dump = read_file(deep);
  CHECK(dump.is_cut);
  CHECK(dump.virtual_groups.at(0).stack.size() == 10000);
  std::string open = kHead + "#1 \"never ends\n";
  for (int i = 0; i < 20000; ++i) open += "\n";
  CHECK(read_file(open + "#2 \"next\" virtual\n").virtual_count == 1);
  const Files files;
  std::string nested = "{\"threadDump\":{\"threadContainers\":[{\"threads\":[";
  nested += std::string(100000, '{');
  has(complained({"threads", files.put("nested.json", nested)}), "no whole thread dump in JSON");
  has(complained({"threads", files.put("lists.json", "{\"threadDump\":" + std::string(100000, '['))}),
      "no whole thread dump in JSON");
}

TEST_CASE("a MONITOR DUMP of more threads than any program has is read to a bound, and that is said") {
  std::string report = "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n--------\nMONITOR DUMP BEGIN\n";
  for (size_t i = 0; i <= kMostThreads; ++i) report += "    THREAD 200001, trace 300000, status: R\n";
  const Files files;
  has(said({"threads", "--json", files.put("r.txt", report + "MONITOR DUMP END\n")}), "\"is_cut\":\"yes\"");
}

TEST_CASE("the last MONITOR DUMP of a report is shown, of text and JSON alike") {
  for (const char* name : {"/ascii.txt", "/json.txt"}) {
    const std::string text = said({"threads", std::string(HPROF_GOLDEN_DIR) + name});
    has(text, ", the last MONITOR DUMP of the report: ");
    has(text, "waiting\n    at demo.List$Node.<init>(List.java:7)\n");
  }
  const Files files;
  const std::string report =
      "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n--------\nTHREAD START (obj=1, id = 200001, "
      "name=\"has\", group=\"main\")\nTHREAD START (obj=2, id = 200002, name=\"wants\", group=\"main\")\n"
      "TRACE 300001:\n\tdemo.A.hold(A.java:9)\nTRACE 300002:\n\tdemo.A.enter(A.java:2)\n";
  const std::string dump =
      "MONITOR DUMP BEGIN\n    THREAD 200001, trace 300001, status: native|R\n"
      "    THREAD 200002, trace 300002, status: MW\n    MONITOR Ljava/lang/Object; unowned\n"
      "\twaiting to enter:\n\twaiting to be notified:\n    MONITOR Ldemo/L;\n\towner: thread 200001, entry "
      "count: "
      "2\n\twaiting to enter: thread 200002, <unknown thread>\n\twaiting to be notified:\nMONITOR DUMP END\n";
  const std::string text =
      said({"threads", files.put("r.txt", report + "MONITOR DUMP BEGIN\nMONITOR DUMP END\n" + dump)});
  has(text, "BLOCKED: 1 thread waits for demo.L <monitor 2 of the report>, held by \"has\" #200001\n");
  has(text, "  \"wants\" #200002, blocked on a monitor\n    at demo.A.enter(A.java:2)\n");
  const std::string samples =
      "CPU SAMPLES BEGIN (total = 3) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n"
      "   1 100.00% 100.00%       3 300001 demo.A.hold\nCPU SAMPLES END\n";
  has(complained({"threads", files.put("s.txt", report + samples)}),
      "s.txt: no MONITOR DUMP, which monitor=y writes as text and JSON; it names 2 threads; it has CPU "
      "SAMPLES, by "
      "thread as hprof print --threads shows it");
  has(complained({"threads", files.put("a.zip", "PK\3\4")}), "a.zip: cannot read a zip archive");
}
