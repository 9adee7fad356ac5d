// What hprof print says of the process and of its threads, and which options keep threads.
#include <doctest/doctest.h>

#include "tests/unit/support/hprof_builder.h"
#include "tests/unit/tool/command_support.h"
#include "tools/hprof/agent/options.h"
#include "tools/hprof/view/process_time.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

const std::string kUsed =
    "cpu=samples: the process used 31.8 s of CPU time meanwhile, the Java threads in the table 13.4 s, the "
    "C2 compiler "
    "14.05 s, the C1 compiler 1.95 s, garbage collection 2 s, the VM thread 0 s; the rest, 0.4 s, went to "
    "other threads, "
    "some of which have ended";

std::string note(const std::string& text) { return "HPROF NOTE: " + text + "\n"; }
std::string started(int serial, const std::string& name) {
  return "THREAD START (obj=" + std::to_string(serial) + ", id = 20000" + std::to_string(serial) +
         ", name=\"" + name + "\", group=\"main\")\n";
}

// Two threads of one name, and one of another, which has ended.
std::string report(const std::string& notes, int total = 1340) {
  return "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n--------\n\n" + started(1, "main") +
         started(2, "pool") + started(3, "pool") +
         "THREAD END (id = 200001)\n"
         "TRACE 300001: (thread=200001)\n\tdemo.A.inner(A.java:12)\n\tdemo.A.outer(A.java:20)\n"
         "TRACE 300002: (thread=200002)\n\tdemo.A.inner(A.java:12)\n"
         "TRACE 300003: (thread=200003)\n\tdemo.B.other(B.java:2)\n"
         "TRACE 300004: (thread=200003)\n\tdemo.A.inner(A.java:12)\n"
         "CPU SAMPLES BEGIN (total = " +
         std::to_string(total) +
         ") Thu Jan  1 00:00:01 1970\n"
         "rank   self  accum   count trace method\n"
         "   1 50.00% 50.00%     670 300001 demo.A.inner\n"
         "   2 30.00% 80.00%     402 300003 demo.B.other\n"
         "   3 15.00% 95.00%     201 300002 demo.A.inner\n"
         "   4  5.00% 100.00%      67 300004 demo.A.inner\n"
         "CPU SAMPLES END\n" +
         notes;
}

const std::string kNotes =
    note("cpu=samples: engine signal, interval 10 ms, 1340 samples in 20.004 s") + note(kUsed);

bool lacks(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  CHECK_MESSAGE(!found, text);
  return !found;
}

}  // namespace

TEST_CASE("print begins with what the process used") {
  Files files;
  const std::string text = said({"print", files.put("a.txt", report(kNotes))});
  CHECK(has(text,
            "\nthe process used 31.8 s of CPU time in 20.0 s: Java threads 13.4 (the 100 % below), JIT 16.0, "
            "GC 2.0, "
            "other threads 0.4\n\nCPU SAMPLES"));
  CHECK(has(text, "\nnote: cpu=samples: the process used 31.8 s"));
}

TEST_CASE("print says what the process used only of a table that is of the same time") {
  Files files;
  const std::string of_more =
      note("cpu=samples: engine signal, interval 10 ms, 2000 samples in 20.004 s") + note(kUsed);
  CHECK(lacks(said({"print", files.put("a.txt", report(of_more))}), "the 100 %"));
  CHECK(lacks(said({"print", "--thread=main", files.put("b.txt", report(kNotes))}), "the 100 %"));
  ProcessTime time;
  CHECK_FALSE(read_process_time({}, &time));
  for (size_t size = 0; size < kUsed.size(); ++size)
    if (read_process_time({kUsed.substr(0, size)}, &time)) CHECK(time.parts.size() == 5);
}

TEST_CASE("the words of cpu=times are read, too") {
  ProcessTime time;
  REQUIRE(read_process_time(
      {"cpu=times: the process used 3 s of CPU time meanwhile, the methods in the table 1.5 s, methods "
       "that are not counted 0.25 s; the rest, 1.25 s, went to the VM's own threads (garbage "
       "collection, compilation) and to the profiler"},
      &time));
  CHECK(text_of(time) ==
        "the process used 3.00 s of CPU time: methods 1.50 (the 100 % below), methods that are not counted "
        "0.25, JIT, GC, VM "
        "and profiler 1.25");
  ProfileTable table = times_table();
  table.rows.push_back({1, {1500000000, 7}});
  CHECK(is_of_table(time, table));
  table.rows[0].values[0] = 1200000000;
  CHECK_FALSE(is_of_table(time, table));
}

TEST_CASE("what ran and how stands in the head, not among the notes") {
  Files files;
  const std::string path = files.put(
      "a.txt",
      report(note("program Shop, process 4711, OpenJDK 64-Bit Server VM 17.0.1, 2 processors; options "
                  "cpu=samples interval=1")));
  const std::string text = said({"print", path});
  CHECK(has(text,
            "1970\nprogram Shop, process 4711, OpenJDK 64-Bit Server VM 17.0.1, 2 processors; options "
            "cpu=samples interval=1\n"));
  CHECK(lacks(text, "note:"));
  for (const char* name : {"/b.txt", "/b.json", "/b.pb"}) {
    const std::string converted = files.folder + name;
    said({"convert", path, "-o", converted});
    const std::string head = said({"print", converted});
    CHECK(has(head, "\nprogram Shop, process 4711"));
    CHECK(lacks(head, "note: program"));
  }
}

TEST_CASE("print --threads has the share, the nid and the top method of each thread") {
  Files files;
  const std::string nids = note("cpu=samples: threads, each with its nid: 200002 4712, 200003 4713");
  const std::string text = said({"print", "--threads", files.put("a.txt", report(nids))});
  CHECK(
      has(text,
          "   share            samples          nid  thread        top method, and its share of the thread\n"
          "  50.00%                670               main (ended)  demo.A.inner 100.00%\n"
          "  35.00%                469  4713 0x1269  pool          demo.B.other  85.71%\n"
          "  15.00%                201  4712 0x1268  pool          demo.A.inner 100.00%\n"));
  CHECK(lacks(text, "note:"));
  CHECK(has(said({"print", "--threads", "--top=1", files.put("b.txt", report(""))}), "\n  ... 2 more\n"));
}

TEST_CASE("print --thread takes threads by name, by pattern and by nid") {
  Files files;
  const std::string nids = note("cpu=samples: threads, each with its nid: 200002 4712, 200003 4713");
  const std::string path = files.put("a.txt", report(nids));
  CHECK(has(said({"print", "--thread=main", path}), "CPU SAMPLES, samples 670 in the rows"));
  CHECK(has(said({"print", "--thread=x,p*", path}), "CPU SAMPLES, samples 670 in the rows"));
  CHECK(has(said({"print", "--thread=4713", path}), "CPU SAMPLES, samples 469 in the rows"));
  CHECK(has(said({"print", "--thread=0x1268", path}), "only the threads 0x1268\n"));
  CHECK(
      has(complained({"print", "--thread=none", path}), "has nothing of a thread none, but of main, pool\n"));
  const std::string without = files.put("b.txt", "a;b 3\n");
  CHECK(has(complained({"print", "--thread=main", without}), "does not name threads"));
}

TEST_CASE("JSON has nids, too, and no more the note of them") {
  Files files;
  const std::string row =
      "{\"record\":\"row\",\"table\":\"hprof.cpu_samples/1\",\"cells\":{\"count\":3,\"trace\":2}}\n";
  const std::string path = files.put(
      "a.json",
      "{\"record\":\"begin\",\"version\":1,\"created_ms\":0}\n"
      "{\"record\":\"thread_start\",\"id\":9,\"name\":\"early\"}\n"
      "{\"record\":\"thread_start\",\"id\":9,\"name\":\"busy\"}\n"
      "{\"record\":\"frame\",\"id\":1,\"class\":\"demo.A\",\"method\":\"inner\",\"source\":null,\"line\":1}\n"
      "{\"record\":\"trace\",\"id\":2,\"thread\":{\"id\":9,\"name\":\"early\"},\"frames\":[1],\"cut\":false}"
      "\n"
      "{\"record\":\"table\",\"name\":\"hprof.cpu_samples/"
      "1\",\"title\":\"CPU\",\"order\":\"count\",\"flags\":[],"
      "\"columns\":[{\"name\":\"count\",\"type\":\"count\",\"flags\":[\"weight\"]},"
      "{\"name\":\"trace\",\"type\":\"trace\",\"flags\":[]}],\"totals\":{\"count\":3}}\n" +
          row + "{\"record\":\"note\",\"text\":\"cpu=samples: threads, each with its nid: 200009 4711\"}\n");
  const std::string text = said({"print", "--threads", path});
  CHECK(has(text, "3  4711 0x1267  busy    demo.A.inner 100.00%\n"));
  CHECK(lacks(text, "note:"));
  CHECK(has(said({"print", "--thread=4711", path}), " 3 in the rows"));
}

TEST_CASE("a binary file has its threads") {
  Files files;
  HprofBuilder file(8, "JAVA PROFILE 1.0.1");
  file.string(1, "demo/A")
      .string(2, "inner")
      .string(3, "()V")
      .string(4, "A.java")
      .string(5, "main")
      .string(6, "pool");
  for (const uint32_t serial : {1u, 2u})
    file.start_thread(200000 + serial, uint64_t{64} * serial, 0, uint64_t{4} + serial);
  file.load_class(1, 100, 0, 1)
      .frame(7, 2, 3, 4, 1, 12)
      .trace(300001, 200001, {7})
      .trace(300002, 200002, {7});
  file.begin(0x0d).u4(20).u4(2).u4(15).u4(300001).u4(5).u4(300002).end();
  const std::string path = files.put("a.hprof", file.bytes());
  CHECK(
      has(said({"print", "--threads", path}), "  75.00%                 15  main    demo.A.inner 100.00%\n"));
  CHECK(has(said({"print", "--thread=pool", path}), "CPU SAMPLES, samples 5 in the rows"));
}

TEST_CASE("cpu=samples keeps threads unless that costs, disturbs a reader or is said otherwise") {
  const auto keeps = [](const std::string& options) {
    return stack_options(options, false).find(",thread=y") != std::string::npos;
  };
  for (const char* options : {"cpu=samples", "cpu=y,monitor=y", "cpu=samples,clock=wall"}) {
    for (const char* format : {"flamegraph", "pprof", "json", "otlp"})
      CHECK_MESSAGE(keeps(options + std::string(",format=") + format), options, format);
    for (const char* format : {"a", "collapsed"})
      CHECK_MESSAGE(!keeps(options + std::string(",format=") + format), options, format);
    CHECK_MESSAGE(!keeps(options), options);
  }
  for (const char* options : {"cpu=samples,thread=n", "cpu=samples,heap=sites", "cpu=samples,every=60",
                              "cpu=times", "heap=sites", "monitor=all"})
    CHECK_MESSAGE(!keeps(options + std::string(",format=pprof")), options);
}

TEST_CASE("exact sites keep those of which nothing lives") {
  const auto keeps = [](const std::string& options, bool attached) {
    return stack_options(options, attached).find(",cutoff=0") != std::string::npos;
  };
  CHECK(keeps("heap=sites,depth=8", false));
  for (const char* options :
       {"heap=sites,cutoff=0.1", "heap=sites,sites=sampled", "cpu=times", "cpu=samples"})
    CHECK_MESSAGE(!keeps(options, false), options);
  CHECK(!keeps("heap=sites", true));
}

TEST_CASE("stacks are whole but with exact collectors") {
  const auto is_whole = [](const std::string& options) {
    return stack_options(options, false).find(",depth=512") != std::string::npos;
  };
  for (const char* options :
       {"cpu=samples", "monitor=y", "io=y", "exceptions=y", "classes=y", "direct=y", "queues=y"})
    CHECK_MESSAGE(is_whole(options), options);
  for (const char* options :
       {"cpu=times", "cpu=times,io=y", "heap=sites", "io=y,depth=8", "io=n", "calls=y", "heap=dump"})
    CHECK_MESSAGE(!is_whole(options), options);
}
