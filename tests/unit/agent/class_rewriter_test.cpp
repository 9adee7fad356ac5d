// Class files on their way into the VM, and the tracker class.
#include "core/agent/class_rewriter.h"

#include <algorithm>
#include <doctest/doctest.h>

#include "tests/unit/agent/session_fixture.h"
#include "tests/unit/agent/small_class.h"

using namespace hprof;

namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("classes are hooked only where a collector wants probes") {
  SessionFixture f;
  f.run("watch=y");
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  CHECK(f.jvm.defined.empty());
  CHECK_FALSE(f.session->rewriter().is_active());
  CHECK(f.session->can_be_detached());
}

TEST_CASE("the tracker class is there before the program, and its probes work while a collector runs") {
  SessionFixture f;
  REQUIRE(f.load("cpu=times,start=n"));
  CHECK(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  f.start();
  CHECK(has(f.jvm.defined, "java/lang/HprofTracker"));
  CHECK_FALSE(f.jvm.static_flags["live"]);
  CHECK(f.command(CommandKind::kStart).good);
  CHECK(f.jvm.static_flags["live"]);
  CHECK(f.command(CommandKind::kStop).good);
  CHECK_FALSE(f.jvm.static_flags["live"]);
  CHECK_FALSE(f.jvm.static_flags["sites"]);
  f.die();
}

TEST_CASE("a class gets probes, and what cannot be read stays as it is") {
  SessionFixture f;
  f.run("cpu=times");
  const std::string good = small_class("Small");
  auto changed = f.jvm.post_class_file("Small", good);
  REQUIRE(changed != nullptr);
  CHECK(*changed != good);
  CHECK(changed->find("HprofTracker") != std::string::npos);
  for (size_t size : {size_t{0}, size_t{4}, size_t{40}, good.size() - 1})
    CHECK(f.jvm.post_class_file("Small", good.substr(0, size)) == nullptr);
  std::string garbage(300, '\xca');
  CHECK(f.jvm.post_class_file("Garbage", garbage) == nullptr);
  hprof_probe_totals totals = {};
  totals.size = sizeof totals;
  f.session->rewriter().totals(&totals);
  CHECK(totals.classes >= 2);
  CHECK(totals.classes_changed == 1);
  CHECK(f.jvm.blocks == 0);
  f.die();
}

TEST_CASE("a thread that the VM does not know has no state") {
  SessionFixture f;
  f.run("cpu=times");
  REQUIRE(f.session->is_collecting());
  f.session->rewriter().set_thread_state(nullptr, nullptr, 1);
  CHECK(f.session->rewriter().thread_state(nullptr, nullptr) == 0);
  f.die();
}

TEST_CASE("a session with probes in classes is not detached") {
  SessionFixture f;
  f.run("cpu=times");
  CHECK_FALSE(f.session->can_be_detached());
  const Answer answer = f.command(CommandKind::kDetach);
  CHECK_FALSE(answer.good);
  CHECK_FALSE(answer.detach);
  f.die();
}

TEST_CASE("without its tracker class a collector of probes does not run, and the program does") {
  SessionFixture f;
  f.jvm.missing_classes = {"java/lang/HprofTracker"};
  f.run("cpu=times");
  CHECK_FALSE(f.session->is_collecting());
  CHECK_FALSE(f.command(CommandKind::kStart).good);
  CHECK_FALSE(f.jvm.static_flags["live"]);
  f.die();
  CHECK(f.session->phase() == Session::Phase::kDead);
}
