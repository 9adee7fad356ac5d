// Label sets of threads: which rows they have, and their frames in traces.
#include <doctest/doctest.h>
#include <string>

#include <hprof/cpp/labels.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

namespace {

hprof_string_id of_thread = 0, asked = 0;  // what the Java thread has; how often it was asked

struct Fixture {
  explicit Fixture(bool has_contexts = true) {
    service.size = sizeof service;
    service.labels = [](const void*) {
      asked++;
      return of_thread;
    };
    service.of = [](void*, void*, hprof_context* context) -> uint32_t {
      *context = {sizeof *context, of_thread, 0, 0, 0};
      return of_thread != 0 ? 1 : 0;
    };
    of_thread = asked = 0;
    mock.set_service(HPROF_SERVICE_THREAD_CONTEXT, &service);
    mock.contexts_enabled = has_contexts;
    labels.open(Services(mock.host()));
  }
  hprof_string_id string(const std::string& text) { return mock.string(text.c_str()); }

  hprof_thread_context_service service = {};
  MockHost mock;
  Labels labels;
};

}  // namespace

TEST_CASE("where no unit sets contexts nobody is asked") {
  Fixture f(false);
  Labels::Last last;
  of_thread = f.string("a:b");
  CHECK_FALSE(f.labels.are_on());
  CHECK(f.labels.current(nullptr, &last) == 0);
  CHECK(f.labels.current(nullptr, 1) == 0);
  CHECK(f.labels.of(1, nullptr, nullptr) == 0);
  CHECK(f.labels.set_of(1) == 0);
  CHECK(asked == 0);
}

TEST_CASE("a thread has the set of its own context, or of one that a unit has set") {
  Fixture f;
  Labels::Last last;
  CHECK(f.labels.are_on());
  CHECK(f.labels.current(nullptr, &last) == 0);
  of_thread = f.string("a:b");
  CHECK(f.labels.current(nullptr, &last) == of_thread);
  CHECK(f.labels.current(nullptr, 1) == of_thread);
  CHECK(f.labels.of(1, nullptr, nullptr) == of_thread);
  const hprof_string_id other = f.string("c:d");
  f.mock.contexts[1] = {sizeof(hprof_context), other, 0, 0, 0};
  CHECK(f.labels.current(nullptr, 1) == other);
  CHECK(f.labels.of(1, nullptr, nullptr) == other);
  of_thread = 0;
  CHECK(f.labels.current(nullptr, &last) == 0);
}

TEST_CASE("the labels of a set are the outermost frames of its traces, which lead back to it") {
  Fixture f;
  hprof_frame_id frames[1 + Labels::kMostFrames] = {f.labels.other()};
  const Services services(f.mock.host());
  frames[0] = services.ids->synthetic_frame(services.host, "App", "f");
  const hprof_string_id set = f.string("a:b;c:d:e");
  const hprof_trace_serial made = f.labels.trace(0, frames, 1, 0, set);
  const auto lines = f.mock.trace_text(made);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].find("App.f(") == 0);
  CHECK(lines[1].find("LABEL.c:d:e(") == 0);
  CHECK(lines[2].find("LABEL.a:b(") == 0);
  CHECK(f.labels.set_of(made) == set);
  const hprof_trace_serial plain = f.labels.trace(0, frames, 1, 0, 0);
  CHECK(f.labels.set_of(plain) == 0);
  CHECK(f.labels.rooted(plain, set) == made);
  CHECK(f.labels.rooted(plain, 0) == plain);
  CHECK(f.mock.memory_used == 0);
}

TEST_CASE("sets beyond the limit are one, and known ones stay") {
  Fixture f;
  TextLine<200> note;
  f.labels.add_others(&note);
  for (uint32_t round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < Labels::kMostSets + 10; i++) {
      const hprof_string_id set = f.string("user:" + std::to_string(i));
      CHECK(f.labels.counted(set) == (i < Labels::kMostSets ? set : f.labels.other()));
      if (i == Labels::kMostSets - 1 && round == 0) f.labels.add_others(&note);
    }
  }
  CHECK(note.size() == 0);
  f.labels.add_others(&note);
  CHECK(std::string(note.c_str()) == "; label sets beyond 256 are in rows of labels:other");
  CHECK(f.labels.counted(0) == 0);
}
