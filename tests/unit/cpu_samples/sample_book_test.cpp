#include "plugins/cpu_samples/sample_book.h"

#include <doctest/doctest.h>
#include <map>
#include <string>
#include <vector>

#include "plugins/cpu_samples/samples_report.h"
#include "rows_of.h"
#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::samples;

namespace {

struct Book {
  MockHost mock;
  Services services{mock.host()};
  SampleBook book;
  std::vector<char> methods = std::vector<char>(64);  // their addresses are the jmethodIDs
  uint32_t method_count = 0;

  ~Book() {
    book.close();
    CHECK(mock.memory_used == 0);
  }
  void* method(const std::string& owner, const std::string& name) {
    void* raw = &methods.at(method_count++);
    mock.raw_methods[raw] = mock.add_method(mock.add_class(owner, "L" + owner + ";"), name, "()V");
    return raw;
  }
  void add(const std::vector<void*>& stack, uint64_t weight = 1, uint32_t thread = 1) {
    std::vector<hprof_raw_frame> frames;
    for (void* m : stack) frames.push_back({m, 3});
    book.add_stack(nullptr, {thread}, frames.data(), static_cast<uint32_t>(frames.size()), weight);
  }
  // "inner<outer" -> samples
  std::map<std::string, uint64_t> counted() {
    std::vector<SampleRow> rows = rows_of(book.counts());
    std::map<std::string, uint64_t> found;
    for (auto& row : rows) {
      std::string text;
      for (auto& line : mock.trace_text(row.trace)) {
        text += (text.empty() ? "" : "<") + line.substr(0, line.find('('));
      }
      found[text] += row.count;
    }
    return found;
  }
  size_t traces() { return book.counts().size(); }
};

using Counted = std::map<std::string, uint64_t>;

}  // namespace

TEST_CASE("equal stacks are one trace, weights add up") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  void* f = b.method("A", "f");
  void* g = b.method("A", "g");
  b.add({f, g}, 3);
  b.add({f, g}, 2);
  b.add({g}, 1);
  CHECK(b.counted() == Counted{{"A.f<A.g", 5}, {"A.g", 1}});
  CHECK(b.book.total() == 6);
}

TEST_CASE("samples of one weight count as they are, those of different weights as fewer") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  CHECK(b.book.effective_samples() == 0);
  void* f = b.method("A", "f");
  for (int i = 0; i < 100; i++) b.add({f}, 4);
  CHECK(b.book.samples() == 100);
  CHECK(b.book.effective_samples() == 100);
  b.add({f}, 400);  // 800^2 / (100 * 16 + 160,000) = 3.96
  CHECK(b.book.samples() == 101);
  CHECK(b.book.effective_samples() == 4);
  b.book.clear();
  CHECK(b.book.effective_samples() == 0);
}

TEST_CASE("what is drawn together counts as one sample") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  void* f = b.method("A", "f");
  for (int draw = 0; draw < 10; draw++) {
    b.book.begin_draw();
    for (int i = 0; i < 5; i++) b.add({f}, 2);
    b.book.end_draw();
  }
  CHECK(b.book.samples() == 50);
  CHECK(b.book.effective_samples() == 10);
  for (int i = 0; i < 100; i++) b.add({f}, 10);
  CHECK(b.book.effective_samples() == 110);
}

TEST_CASE("stacks are told apart by thread with thread=y only") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  void* f = b.method("A", "f");
  b.add({f}, 1, 1);
  b.add({f}, 1, 2);
  CHECK(b.traces() == 1);
  b.mock.settings.thread_in_traces = 1;
  b.add({f}, 1, 1);
  b.add({f}, 1, 2);
  b.book.add_reason({1}, kGcActive, 1);
  b.book.add_reason({2}, kGcActive, 1);
  CHECK(b.traces() == 5);
}

TEST_CASE("more frames than the depth are cut, a frame without a method gets a synthetic one") {
  Book b;
  REQUIRE(b.book.open(b.services, 2) == HPROF_OK);
  void* f = b.method("A", "f");
  b.add({f, nullptr, f});
  CHECK(b.counted() == Counted{{"A.f<JVM.unknown_method", 1}});
}

TEST_CASE("samples without a stack are counted by reason, under a frame that names it") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  b.book.add_reason({1}, reason_of(-2), 2);
  b.book.add_reason({1}, reason_of(0), 1);
  CHECK(b.counted() == Counted{{"JVM.gc_active", 2}, {"JVM.no_java_frame", 1}});
  CHECK(b.book.by_reason(kGcActive) == 2);
  CHECK(b.book.by_reason(kNoJavaFrame) == 1);
  CHECK(b.book.total() == 3);
  b.book.clear();
  CHECK(b.book.by_reason(kGcActive) == 0);
  CHECK(b.book.total() == 0);
  CHECK(b.counted().empty());
}

TEST_CASE(
    "samples whose traces find no memory are counted under a frame that says so, never without frames") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  void *f = b.method("A", "f"), *g = b.method("A", "g");
  b.add({f}, 1);
  b.mock.tables_are_full = true;
  b.add({g, f}, 2);
  b.book.add_reason({1}, kGcActive, 3);
  CHECK(b.counted() == Counted{{"A.f", 1}, {"JVM.no_memory_for_the_trace", 5}});
  CHECK(b.book.synthetic_trace("other_traces") != 0);
}

TEST_CASE("every result code of the walk has a name of its own, without blanks") {
  std::map<std::string, int> names;
  for (int32_t code = 0; code > -static_cast<int32_t>(kReasonCount); code--) {
    std::string name = reason_method(reason_of(code));
    CHECK(name.find(' ') == std::string::npos);
    names[name]++;
  }
  CHECK(names.size() == kReasonCount);
  CHECK(std::string(reason_method(reason_of(-1))) == "no_class_load_events");
  CHECK(std::string(reason_method(reason_of(-5))) == "unknown_java_code");
  CHECK(std::string(reason_method(reason_of(-8))) == "thread_exit");
  CHECK(std::string(reason_method(reason_of(-10))) == "safepoint");
  CHECK(reason_of(-99) == kUnknownCode);
  CHECK(reason_of(INT32_MIN) == kUnknownCode);
  CHECK(reason_of(1) == kUnknownCode);
}

TEST_CASE("a virtual thread's stack ends where its carrier's begins") {
  Book b;
  b.mock.settings.java_version = 21;
  REQUIRE(b.book.open(b.services, 16) == HPROF_OK);
  void* work = b.method("App", "work");
  void* run = b.method("java.lang.VirtualThread", "run");
  std::vector<void*> carrier = {b.method("jdk.internal.vm.Continuation", "run"),
                                b.method("java.lang.VirtualThread", "runContinuation")};
  for (const char* entry : {"enter", "enter0"}) {
    std::vector<void*> stack = {work, run, b.method("jdk.internal.vm.Continuation", entry)};
    stack.insert(stack.end(), carrier.begin(), carrier.end());
    b.add(stack);
  }
  CHECK(b.counted() == Counted{{"App.work<java.lang.VirtualThread.run", 2}});
}

TEST_CASE(
    "a yielding virtual thread keeps the frames of the yield; a carrier between threads keeps its own") {
  Book b;
  b.mock.settings.java_version = 21;
  REQUIRE(b.book.open(b.services, 16) == HPROF_OK);
  void* yield = b.method("jdk.internal.vm.Continuation", "yield");
  void* park = b.method("java.lang.VirtualThread", "park");
  void* enter = b.method("jdk.internal.vm.Continuation", "enter");
  void* run = b.method("jdk.internal.vm.Continuation", "run");
  void* carrier = b.method("java.lang.VirtualThread", "runContinuation");
  b.add({yield, park, enter, run, carrier});
  b.add({run, carrier});
  b.add({b.method("jdk.internal.vm.Continuation", "mount"), run, carrier});
  CHECK(b.counted() ==
        Counted{{"jdk.internal.vm.Continuation.mount<jdk.internal.vm.Continuation.run<"
                 "java.lang.VirtualThread.runContinuation",
                 1},
                {"jdk.internal.vm.Continuation.run<java.lang.VirtualThread.runContinuation", 1},
                {"jdk.internal.vm.Continuation.yield<java.lang.VirtualThread.park", 1}});
}

TEST_CASE("VMs without virtual threads are not searched for them") {
  Book b;
  b.mock.settings.java_version = 17;
  REQUIRE(b.book.open(b.services, 16) == HPROF_OK);
  b.add({b.method("App", "work"), b.method("jdk.internal.vm.Continuation", "enter")});
  CHECK(b.counted() == Counted{{"App.work<jdk.internal.vm.Continuation.enter", 1}});
}

TEST_CASE("a deeper book keeps what was counted") {
  Book b;
  REQUIRE(b.book.open(b.services, 1) == HPROF_OK);
  void* f = b.method("A", "f");
  b.add({f, f});
  REQUIRE(b.book.open(b.services, 2) == HPROF_OK);
  b.add({f, f});
  CHECK(b.counted() == Counted{{"A.f", 1}, {"A.f<A.f", 1}});
}

TEST_CASE("a stack with as many frames as were asked for is cut, a shorter one is whole") {
  Book b;
  b.mock.settings.depth = 2;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  void *f = b.method("A", "f"), *g = b.method("A", "g");
  b.add({f});
  b.add({f, g});
  std::vector<SampleRow> rows = rows_of(b.book.counts());
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) CHECK(b.mock.is_cut(row.trace) == (b.mock.trace_text(row.trace).size() == 2));
}

TEST_CASE("a frame stands for frames of a virtual thread that are in the heap, before its carrier's") {
  Book b;
  b.mock.settings.java_version = 25;
  b.mock.settings.depth = 8;
  REQUIRE(b.book.open(b.services, 8) == HPROF_OK);
  const hprof_raw_frame frames[] = {{b.method("A", "f"), 3},
                                    {b.method("jdk.internal.vm.Continuation", "enterSpecial"), 0},
                                    {b.method("Carrier", "run"), 1}};
  CHECK(b.book.add_stack(nullptr, {1}, frames, 3, 1, true));
  // That of enter, too, without which enterSpecial is called by none.
  CHECK(b.book.add_stack(nullptr, {1}, frames, 3, 1, false));
  // Of the carrier's own stack none are missing.
  CHECK(!b.book.add_stack(nullptr, {1}, frames + 1, 2, 1, true));
  CHECK(b.counted() == Counted{{"A.f<JVM.frames_in_the_heap", 2},
                               {"jdk.internal.vm.Continuation.enterSpecial<Carrier.run", 1}});
}

TEST_CASE("frames of probes are one, and count for the depth each") {
  Book b;
  b.mock.settings.depth = 4;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  void *f = b.method("A", "f"), *probe = &b.methods.back();
  const hprof_host* host = b.mock.host();
  const hprof_ids_service* ids = b.services.ids;
  b.mock.raw_methods[probe] = find_frame(ids, host, ids->synthetic_frame(host, "JVM", "hprof_probe"))->method;
  const int64_t nowhere = static_cast<uint32_t>(HPROF_LINE_UNKNOWN);
  const hprof_raw_frame frames[] = {{probe, nowhere}, {probe, nowhere}, {f, 3}, {f, 4}};
  b.book.add_stack(nullptr, {1}, frames, 4, 1);
  CHECK(b.counted() == Counted{{"JVM.hprof_probe<A.f<A.f", 1}});
  CHECK(b.mock.is_cut(static_cast<hprof_trace_serial>(rows_of(b.book.counts())[0].trace)));
}

TEST_CASE(
    "a snapshot without memory for all rows has the largest, and the samples of the others in one row") {
  Book b;
  REQUIRE(b.book.open(b.services, 4) == HPROF_OK);
  std::vector<void*> methods;
  for (int i = 0; i < 20; i++) methods.push_back(b.method("A", "m" + std::to_string(i)));
  for (uint64_t i = 1; i <= 300; i++) b.add({methods[i % 20], methods[i / 20]}, i);
  b.mock.memory_limit = b.mock.memory_used + 75 * sizeof(SampleRow);
  Snapshot snapshot(b.services);
  snapshot.take(b.book);
  CHECK(rank_rows(snapshot.rows, snapshot.row_count, snapshot.total, 0) == 75);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < snapshot.row_count; i++) sum += snapshot.rows[i].count;
  CHECK(sum == snapshot.total);
  CHECK(sum == 300 * 301 / 2);
  CHECK(b.mock.trace_text(static_cast<hprof_trace_serial>(snapshot.rows[0].trace))[0].find("other_traces") !=
        std::string::npos);
  for (uint64_t i = 1; i < 75; i++) CHECK(snapshot.rows[i].count == 301 - i);
}
