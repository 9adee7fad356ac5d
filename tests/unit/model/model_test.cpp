// The model: equal in, equal out; what folds; what happens when it is full.
#include "core/model/model.h"

#include <algorithm>
#include <set>

#include <hprof/service/ids.h>

#include "tests/unit/model/model_fixture.h"

using namespace hprof;
using namespace hprof::test;

TEST_CASE("strings are kept once, as they are, and terminated") {
  ModelFixture f;
  const StringId a = f.model->string("java.lang.String");
  CHECK(raw(a) == 1);
  CHECK(f.model->string(std::string("java.lang.String").c_str()) == a);
  CHECK(f.model->string("java.lang.StrinG") != a);
  const StringId empty = f.model->string("");
  CHECK(empty != StringId::kNone);
  CHECK(f.text(raw(empty)) == "");
  const char binary[] = {'a', '\0', 'b'};
  const StringId zero = f.model->string(Str(binary, 3));
  CHECK(f.text(raw(zero)) == std::string(binary, 3));
  CHECK(f.model->string("a") != zero);
  CHECK(f.model->text(a).data[16] == '\0');
  CHECK(f.model->text(StringId{1000}).data == nullptr);
  CHECK(f.model->text(StringId::kNone).data == nullptr);
  CHECK(f.lost(Loss::kLostStrings) == 0);
}

TEST_CASE("an absent string has no number, and that is no loss") {
  ModelFixture f;
  CHECK(f.model->string(Str()) == StringId::kNone);
  CHECK(f.lost(Loss::kLostStrings) == 0);
}

TEST_CASE("a string that is too long is a loss, the longest is not") {
  ModelFixture f;
  const std::string longest(StringTable::kLongest, 'x');
  CHECK(f.model->string(longest.c_str()) != StringId::kNone);
  CHECK(f.model->string((longest + "x").c_str()) == StringId::kNone);
  CHECK(f.lost(Loss::kLostStrings) == 1);
}

TEST_CASE("classes are told apart by signature and identity") {
  ModelFixture f;
  const ClassSerial a = f.model->class_serial("Ljava/util/Map$Entry;", 1);
  CHECK(raw(a) == 1);
  CHECK(f.model->class_serial("Ljava/util/Map$Entry;", 1) == a);
  const ClassSerial b = f.model->class_serial("Ljava/util/Map$Entry;", 2);
  CHECK(b != a);
  CHECK(f.name_of(a) == "java.util.Map$Entry");
  CHECK(f.text(f.model->class_info(a)->signature) == "Ljava/util/Map$Entry;");
  CHECK(f.model->class_info(b)->name == f.model->class_info(a)->name);
  CHECK(f.model->class_info(a)->serial == raw(a));
  CHECK(f.name_of(f.model->class_serial("[[I", 0)) == "int[][]");
  CHECK(f.model->class_info(ClassSerial{99}) == nullptr);
  CHECK(f.model->class_serial(Str(), 1) == ClassSerial::kNone);
}

TEST_CASE("what is learned of a class later is seen in its info") {
  ModelFixture f;
  const ClassSerial a = f.model->class_serial("LFoo;", 1);
  CHECK(f.model->class_info(a)->source == 0);
  f.model->classes().set_source(a, f.model->string("Foo.java"));
  f.model->classes().set_object(a, 0x1122334455667788);
  CHECK(f.text(f.model->class_info(a)->source) == "Foo.java");
  CHECK(f.model->class_info(a)->object == 0x1122334455667788);
  f.model->classes().set_source(ClassSerial{99}, StringId{1});
}

TEST_CASE("class names of any length are kept whole") {
  ModelFixture f;
  const std::string name(60000, 'n');
  const ClassSerial a = f.model->class_serial(("[Lp/" + name + ";").c_str(), 1);
  CHECK(f.name_of(a) == "p." + name + "[]");
  CHECK(f.model->class_serial(("[Lp/" + name + ";").c_str(), 1) == a);
  CHECK(held_blocks == 0);
  out_of_blocks = true;
  CHECK(f.model->class_serial(("[Lq/" + name + ";").c_str(), 1) == ClassSerial::kNone);
  out_of_blocks = false;
  CHECK(f.lost(Loss::kLostClasses) == 1);
}

TEST_CASE("methods are told apart by class, name and signature") {
  ModelFixture f;
  const ClassSerial a = f.model->class_serial("LFoo;", 1);
  const ClassSerial b = f.model->class_serial("LFoo;", 2);
  const MethodId m = f.model->method(a, "run", "()V");
  CHECK(f.model->method(a, "run", "()V") == m);
  std::set<MethodId> all{m, f.model->method(b, "run", "()V"), f.model->method(a, "run", "(I)V"),
                         f.model->method(a, "runs", "()V")};
  CHECK(all.size() == 4);
  CHECK(f.model->method_info(m)->owner == raw(a));
  CHECK(f.text(f.model->method_info(m)->name) == "run");
  CHECK(f.text(f.model->method_info(m)->signature) == "()V");
  CHECK(f.model->method_info(MethodId{99}) == nullptr);
  CHECK(f.model->method(ClassSerial{99}, "run", "()V") == MethodId::kNone);
}

TEST_CASE("frames are told apart by method and line") {
  ModelFixture f;
  const MethodId m = f.model->method(f.model->class_serial("LFoo;", 1), "run", "()V");
  const MethodId n = f.model->method(f.model->class_serial("LFoo;", 1), "stop", "()V");
  const FrameId frame = f.model->frame(m, 12);
  CHECK(f.model->frame(m, 12) == frame);
  std::set<FrameId> all{frame,
                        f.model->frame(m, 13),
                        f.model->frame(n, 12),
                        f.model->frame(m, HPROF_LINE_NONE),
                        f.model->frame(m, HPROF_LINE_UNKNOWN),
                        f.model->frame(m, HPROF_LINE_NATIVE)};
  CHECK(all.size() == 6);
  CHECK(f.model->frame_info(frame)->method == raw(m));
  CHECK(f.model->frame_info(frame)->line == 12);
  CHECK(f.model->frame(MethodId::kNone, 1) == FrameId::kNone);
}

TEST_CASE("a frame at a bytecode index has its line, if lines are wanted and known") {
  ModelFixture f;
  const MethodId m = f.model->method(f.model->class_serial("LFoo;", 1), "run", "()V");
  const auto line = [&](int64_t bci, bool wanted) {
    return f.model->frame_info(f.model->frame_at(m, bci, wanted))->line;
  };
  CHECK(line(0, true) == HPROF_LINE_UNKNOWN);
  const LineStart rows[] = {{0, 20}, {5, 21}};
  CHECK(f.model->set_lines(m, rows, 2));
  CHECK(line(0, true) == 20);
  CHECK(line(6, true) == 21);
  CHECK(line(70000, true) == HPROF_LINE_UNKNOWN);
  CHECK(line(0, false) == HPROF_LINE_NONE);
  CHECK(line(-1, true) == HPROF_LINE_NATIVE);
  CHECK(line(-1, false) == HPROF_LINE_NATIVE);
}

TEST_CASE("a method without a line table is not one that was not asked for") {
  ModelFixture f;
  const MethodId m = f.model->method(f.model->class_serial("LFoo;", 1), "run", "()V");
  CHECK(f.model->set_lines(m, nullptr, 0));
  CHECK(f.model->methods().line_of(m, 3) == HPROF_LINE_UNKNOWN);
  const LineStart rows[] = {{0, 20}};
  CHECK(f.model->set_lines(m, rows, 1));
  CHECK(f.model->methods().line_of(m, 3) == HPROF_LINE_UNKNOWN);
}

TEST_CASE("traces are told apart by thread, frames, order and length") {
  ModelFixture f;
  const hprof_frame_id frames[] = {1, 2, 3};
  const hprof_frame_id turned[] = {3, 2, 1};
  const TraceSerial t = f.model->trace(ThreadSerial{1}, frames, 3);
  CHECK(f.model->trace(ThreadSerial{1}, frames, 3) == t);
  std::set<TraceSerial> all{t,
                            f.model->trace(ThreadSerial{2}, frames, 3),
                            f.model->trace(ThreadSerial::kNone, frames, 3),
                            f.model->trace(ThreadSerial{1}, frames, 2),
                            f.model->trace(ThreadSerial{1}, frames + 1, 2),
                            f.model->trace(ThreadSerial{1}, turned, 3),
                            f.model->trace(ThreadSerial{1}, nullptr, 0),
                            f.model->trace(ThreadSerial::kNone, nullptr, 0)};
  CHECK(all.size() == 8);
  CHECK(all.count(TraceSerial::kNone) == 0);
  const TraceInfo* info = f.model->trace_info(t);
  CHECK(info->serial == raw(t));
  CHECK(info->thread == 1);
  REQUIRE(info->frame_count == 3);
  CHECK(info->frames[0] == 1);
  CHECK(info->frames[2] == 3);
  CHECK(f.model->trace_info(f.model->trace(ThreadSerial{1}, nullptr, 0))->frame_count == 0);
}

TEST_CASE("a trace that is too deep is a loss") {
  ModelFixture f;
  const std::vector<hprof_frame_id> frames(TraceTable::kDeepest + 1, 5);
  CHECK(f.model->trace(ThreadSerial{1}, frames.data(), TraceTable::kDeepest) != TraceSerial::kNone);
  CHECK(f.model->trace(ThreadSerial{1}, frames.data(), TraceTable::kDeepest + 1) == TraceSerial::kNone);
  CHECK(f.lost(Loss::kLostTraces) == 1);
}

TEST_CASE("a synthetic frame is named as asked and is not the application's class of that name") {
  ModelFixture f;
  const FrameId frame = f.model->synthetic_frame("com.acme.JVM", "unloaded_method");
  CHECK(f.model->synthetic_frame("com.acme.JVM", "unloaded_method") == frame);
  CHECK(f.model->synthetic_frame("com.acme.JVM", "gc") != frame);
  CHECK(f.model->frame_info(frame)->line == HPROF_LINE_UNKNOWN);
  const MethodInfo* method = f.model->method_info(MethodId{f.model->frame_info(frame)->method});
  CHECK(f.text(method->name) == "unloaded_method");
  CHECK(f.name_of(ClassSerial{method->owner}) == "com.acme.JVM");
  CHECK(method->owner != raw(f.model->class_serial("Lcom/acme/JVM;", 1)));
}

TEST_CASE("copies of a lambda stay different classes but their code is one") {
  ModelFixture f;
  const ClassSerial a = f.model->class_serial("LFoo$$Lambda.0x0001;", 7);
  const ClassSerial b = f.model->class_serial("LFoo$$Lambda.0x0002;", 7);
  CHECK(a != b);
  CHECK(f.model->class_serial("LFoo$$Lambda.0x0001;", 7) == a);
  CHECK(f.name_of(a) == "Foo$$Lambda");
  CHECK(f.name_of(b) == "Foo$$Lambda");
  CHECK(f.text(f.model->class_info(b)->signature) == "LFoo$$Lambda;");
  const MethodId m = f.model->method(b, "run", "()V");
  CHECK(f.model->method(a, "run", "()V") == m);
  CHECK(f.model->method_info(m)->owner == raw(f.model->classes().representative(a)));
  CHECK(f.model->classes().representative(a) == f.model->classes().representative(b));
  const hprof_frame_id first[] = {raw(f.model->frame(f.model->method(a, "run", "()V"), 1))};
  const hprof_frame_id second[] = {raw(f.model->frame(f.model->method(b, "run", "()V"), 1))};
  CHECK(f.model->trace(ThreadSerial{1}, first, 1) == f.model->trace(ThreadSerial{1}, second, 1));
}

TEST_CASE("a hidden class does not fold into the class file class of its name") {
  ModelFixture f;
  const ClassSerial real = f.model->class_serial("LFoo;", 7);
  const ClassSerial hidden = f.model->class_serial("LFoo.0x0001;", 7);
  CHECK(real != hidden);
  CHECK(f.model->method(real, "run", "()V") != f.model->method(hidden, "run", "()V"));
  CHECK(f.model->classes().representative(real) == real);
}

TEST_CASE("hidden classes take no string each") {
  ModelFixture f;
  for (int i = 0; i < 1000; ++i)
    f.model->class_serial(("LFoo$$Lambda.0x" + std::to_string(i) + ";").c_str(), 7);
  CHECK(f.model->class_info(ClassSerial{1000}) != nullptr);
  CHECK(f.model->class_info(ClassSerial{1001}) == nullptr);
  CHECK(raw(f.model->string("the next string")) == 3);
}

TEST_CASE("lines of methods that count as one are unknown when their tables differ") {
  ModelLimits limits = small_limits();
  limits.line_table_bytes = 24;  // of two tables with two rows
  ModelFixture f(limits);
  const MethodId m = f.model->method(f.model->class_serial("LFoo.0x0001;", 7), "run", "()V");
  const LineStart rows[] = {{0, 20}, {5, 21}};
  const LineStart turned[] = {{5, 21}, {0, 20}};
  const LineStart others[] = {{0, 20}, {5, 22}};
  CHECK(f.model->set_lines(m, rows, 2));
  CHECK(f.model->set_lines(m, rows, 2));
  CHECK(f.model->set_lines(m, turned, 2));
  CHECK(f.model->methods().line_of(m, 5) == 21);
  CHECK(f.model->set_lines(m, others, 2));
  CHECK(f.model->methods().line_of(m, 5) == HPROF_LINE_UNKNOWN);
  CHECK(f.model->set_lines(m, rows, 2));
  CHECK(f.model->methods().line_of(m, 5) == HPROF_LINE_UNKNOWN);
}

TEST_CASE("full tables answer 0 and count, each its own loss") {
  ModelLimits limits = small_limits();
  limits.strings = 2000;
  limits.classes = 100;
  limits.methods = 200;
  limits.frames = 300;
  limits.traces = 400;
  limits.line_table_bytes = 64;
  ModelFixture f(limits);
  const auto fill = [](int times, auto make) {
    int none = 0;
    for (int i = 0; i < times; ++i) none += raw(make(i)) == 0;
    return none;
  };
  const ClassSerial a = f.model->class_serial("LFoo;", 0);
  const MethodId m = f.model->method(a, "run", "()V");
  CHECK(fill(200, [&](int i) { return f.model->class_serial("LFoo;", static_cast<uint64_t>(i)); }) == 100);
  CHECK(f.lost(Loss::kLostClasses) == 100);
  CHECK(fill(300, [&](int i) { return f.model->method(a, std::to_string(i).c_str(), "()V"); }) == 101);
  CHECK(f.lost(Loss::kLostMethods) == 101);
  CHECK(fill(301, [&](int i) { return f.model->frame(m, i); }) == 1);
  CHECK(f.lost(Loss::kLostFrames) == 1);
  CHECK(fill(500, [&](int i) {
          const hprof_frame_id frame = static_cast<hprof_frame_id>(i);
          return f.model->trace(ThreadSerial{1}, &frame, 1);
        }) == 100);
  CHECK(f.lost(Loss::kLostTraces) == 100);
  const std::vector<LineStart> rows(40, LineStart{1, 1});
  CHECK_FALSE(f.model->set_lines(m, rows.data(), 40));
  CHECK(f.lost(Loss::kLostLineTables) == 1);
  CHECK(f.lost(Loss::kLostStrings) == 0);
  CHECK(fill(2000, [&](int i) { return f.model->string(("s" + std::to_string(i)).c_str()); }) > 0);
  CHECK(f.lost(Loss::kLostStrings) > 0);
  CHECK(f.model->class_serial("LFoo;", 0) == a);
  CHECK(f.model->method(a, "run", "()V") == m);
}

TEST_CASE("when the budget is used up everything that was handed out stays readable") {
  ModelFixture f(ModelLimits::standard(), 2 * 1024 * 1024);
  REQUIRE(f.is_created);
  std::vector<uint32_t> ids;
  for (int i = 0; i < 100000; ++i)
    ids.push_back(raw(f.model->string(("string number " + std::to_string(i)).c_str())));
  CHECK(ids.front() != 0);
  CHECK(ids.back() == 0);
  CHECK(f.lost(Loss::kLostStrings) > 0);
  CHECK(f.memory.used() <= f.memory.budget());
  for (int i = 0; i < 100000; ++i) {
    if (ids[static_cast<size_t>(i)])
      REQUIRE(f.text(ids[static_cast<size_t>(i)]) == "string number " + std::to_string(i));
  }
}

TEST_CASE("a trace is cut as soon as one of its stacks was, and stays the same trace") {
  ModelFixture f;
  const hprof_frame_id frames[] = {1, 2};
  const TraceSerial whole = f.model->trace(ThreadSerial{1}, frames, 2);
  const TraceSerial cut = f.model->trace(ThreadSerial{1}, frames, 1, HPROF_TRACE_CUT);
  CHECK(f.model->trace_info(whole)->flags == 0);
  CHECK(f.model->trace_info(cut)->flags == HPROF_TRACE_CUT);
  CHECK(f.model->trace(ThreadSerial{1}, frames, 2, HPROF_TRACE_CUT) == whole);
  CHECK(f.model->trace_info(whole)->flags == HPROF_TRACE_CUT);
  CHECK(f.model->trace(ThreadSerial{1}, frames, 2) == whole);
  CHECK(f.model->trace_info(whole)->flags == HPROF_TRACE_CUT);
}

TEST_CASE("eight threads that intern the same things get the same numbers, whole") {
  constexpr uint32_t kClasses = 200;
  ModelFixture f;
  struct Result {
    std::vector<uint32_t> classes, methods, frames, traces;
  } results[8];
  std::atomic<uint32_t> bad{0};
  run_threads(8, [&](int who) {
    Model& model = *f.model;
    Result& mine = results[who];
    for (uint32_t c = 0; c < kClasses; ++c) {
      // Every other one is a lambda: four classes of one stable name.
      const std::string number = std::to_string(c);
      const std::string signature =
          c % 2 ? "LFoo" + std::to_string(c / 8) + "$$Lambda.0x" + number + ";" : "LFoo" + number + ";";
      const ClassSerial serial = model.class_serial(signature.c_str(), c);
      const ClassInfo* info = model.class_info(serial);
      if (!info || !model.text(StringId{info->name}).data) {
        bad += 1;
        continue;
      }
      mine.classes.push_back(raw(serial));
      hprof_frame_id frames[10];
      for (uint32_t m = 0; m < 10; ++m) {
        const MethodId method = model.method(serial, ("method" + std::to_string(m)).c_str(), "()V");
        const LineStart rows[] = {{0, static_cast<uint16_t>(m + 1)}};
        model.set_lines(method, rows, 1);
        frames[m] = raw(model.frame_at(method, 5, true));
        const FrameInfo* frame = model.frame_info(FrameId{frames[m]});
        if (!frame || frame->method != raw(method) || frame->line != static_cast<int32_t>(m + 1)) bad += 1;
        mine.methods.push_back(raw(method));
        mine.frames.push_back(frames[m]);
        const TraceSerial trace = model.trace(ThreadSerial{7}, frames, m + 1);
        const TraceInfo* trace_info = model.trace_info(trace);
        if (!trace_info || !std::equal(frames, frames + m + 1, trace_info->frames)) bad += 1;
        mine.traces.push_back(raw(trace));
      }
    }
  });
  CHECK(bad == 0);
  for (const Result& result : results) {
    CHECK(result.classes == results[0].classes);
    CHECK(result.methods == results[0].methods);
    CHECK(result.frames == results[0].frames);
    CHECK(result.traces == results[0].traces);
  }
  const auto different = [](const std::vector<uint32_t>& ids) {
    return std::set<uint32_t>(ids.begin(), ids.end()).size();
  };
  CHECK(different(results[0].classes) == kClasses);
  CHECK(different(results[0].methods) == (kClasses / 2 + kClasses / 8) * 10);
  uint32_t serials = 0;
  for (uint32_t serial = 1; serial <= kClasses + 8; serial++)
    serials += f.model->class_info(ClassSerial{serial}) != nullptr;
  CHECK(serials == kClasses);
  f.losses->each_nonzero([](const char* words, uint64_t) { FAIL_CHECK(words); });
}

TEST_CASE("eight threads that exhaust the budget are refused, not harmed") {
  ModelFixture f(ModelLimits::standard(), 3 * 1024 * 1024);
  REQUIRE(f.is_created);
  std::atomic<uint32_t> bad{0};
  std::atomic<uint32_t> refused{0};
  run_threads(8, [&](int who) {
    for (uint32_t i = 0; i < 20000; ++i) {
      const std::string text = "text " + std::to_string(i * 8 + static_cast<uint32_t>(who));
      const StringId id = f.model->string(text.c_str());
      if (id == StringId::kNone) {
        refused += 1;
        continue;
      }
      const Str kept = f.model->text(id);
      if (!kept.data || std::string(kept.data, kept.size) != text) bad += 1;
    }
  });
  CHECK(bad == 0);
  CHECK(refused > 0);
  CHECK(f.lost(Loss::kLostStrings) == refused);
  CHECK(f.memory.peak() <= f.memory.budget());
}
