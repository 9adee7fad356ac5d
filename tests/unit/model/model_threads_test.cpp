// The model under many threads at once.
#include <algorithm>
#include <set>

#include "tests/unit/model/model_fixture.h"

using namespace hprof;
using namespace hprof::test;

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
  CHECK(f.model->classes().count() == kClasses);
  f.losses->each_nonzero([](const char* words, uint64_t) { FAIL_CHECK(words); });
}

TEST_CASE("eight threads that exhaust the budget are refused, not harmed") {
  ModelFixture f(ModelLimits::standard(), false, 3 * 1024 * 1024);
  REQUIRE(f.status.ok());
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
