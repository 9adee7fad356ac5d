// Class files on their way into the VM, and the tracker class.
#include "core/agent/class_rewriter.h"

#include <algorithm>
#include <doctest/doctest.h>

#include <hprof/cpp/services.hpp>
#include <hprof/service/allocations.h>
#include <hprof/service/calls.h>
#include <hprof/service/exceptions.h>

#include "tests/unit/agent/session_fixture.h"
#include "tests/unit/bytecode/class_builder.h"

using namespace hprof;

namespace {

// The class file of a class with one static method m(), which returns.
std::string small_class(const std::string& name) {
  test::ClassBuilder builder(name);
  test::Method method;
  method.code = {0xb1};  // return
  builder.add(method);
  const test::Bytes bytes = builder.build();
  return std::string(bytes.begin(), bytes.end());
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The watcher asks for probes of calls on demand; 100 classes are loaded.
struct OnDemand : SessionFixture {
  OnDemand() {
    heard().on_create = [this](const hprof_host* host) {
      hprof_probe_user user = {};
      user.size = sizeof user;
      user.probes = HPROF_PROBE_CALLS | HPROF_PROBE_ON_DEMAND;
      user.self = this;
      user.include = include;
      user.exclude = exclude;
      asked = Services(host).bytecode->ask(host, &user);
    };
    jvm.class_file = small_class;
    for (int i = 0; i < 100; i++) jvm.loaded.push_back("C" + std::to_string(i));
  }
  hprof_status go() {
    hprof_status status = HPROF_OK;
    jvm.on(main, [&] { status = session->rewriter().go(jvm.jni(), HPROF_PROBE_CALLS); });
    return status;
  }
  void halt() {
    jvm.on(main, [&] { session->rewriter().halt(jvm.jni(), HPROF_PROBE_CALLS); });
  }
  bool gets_probes(const std::string& name) {
    return jvm.post_class_file(name, small_class(name)) != nullptr;
  }
  std::vector<std::string> retransformed() const {
    std::vector<std::string> all;
    for (const auto& names : jvm.retransformed) all.insert(all.end(), names.begin(), names.end());
    return all;
  }

  const char *include = nullptr, *exclude = nullptr;
  hprof_status asked = HPROF_FAILED;
};

jlong JNICALL timed_begins(JNIEnv*, jclass, jint) { return 1; }
void JNICALL timed_ends(JNIEnv*, jclass, jlong) {}

// The watcher asks for probes that time calls of the classes C1*; 100 classes are loaded.
struct Timed : SessionFixture {
  Timed() {
    heard().on_create = [this](const hprof_host* host) {
      hprof_probe_user user = {};
      user.size = sizeof user;
      user.probes = HPROF_PROBE_TIMED | HPROF_PROBE_ON_DEMAND;
      user.self = this;
      user.include = include;
      user.call_begins = reinterpret_cast<void*>(&timed_begins);
      user.call_ends = reinterpret_cast<void*>(&timed_ends);
      CHECK(Services(host).bytecode->ask(host, &user) == HPROF_FAILED);
      user.number = [](void* self, hprof_method_id) -> uint32_t {
        return ++static_cast<Timed*>(self)->numbers;
      };
      CHECK(Services(host).bytecode->ask(host, &user) == HPROF_OK);
      CHECK(Services(host).bytecode->ask(host, &user) == HPROF_FAILED);
    };
    jvm.class_file = calling_class;
    for (int i = 0; i < 100; i++) jvm.loaded.push_back("C" + std::to_string(i));
  }
  // The class file of a class whose m() calls itself.
  static std::string calling_class(const std::string& name) {
    test::ClassBuilder builder(name);
    test::Method method;
    const unsigned self = builder.method_ref(name, "m", "()V");
    method.code = {0xb8, static_cast<uint8_t>(self >> 8), static_cast<uint8_t>(self), 0xb1};
    builder.add(method);
    const test::Bytes bytes = builder.build();
    return std::string(bytes.begin(), bytes.end());
  }
  hprof_status go() {
    hprof_status status = HPROF_OK;
    jvm.on(main, [&] { status = session->rewriter().go(jvm.jni(), HPROF_PROBE_TIMED); });
    return status;
  }
  bool gets_probes(const std::string& name) {
    return jvm.post_class_file(name, calling_class(name)) != nullptr;
  }
  size_t retransformed() const {
    size_t count = 0;
    for (const auto& names : jvm.retransformed) count += names.size();
    return count;
  }

  const char* include = "C1*:D.m:E.other";
  uint32_t numbers = 0;
};

}  // namespace

TEST_CASE("each kind of probes has one user, and only who asked for them has any") {
  SessionFixture f;
  heard().on_create = [](const hprof_host* host) {
    const auto* calls = find_service<hprof_calls_service>(host, HPROF_SERVICE_CALLS);
    const auto* exceptions = find_service<hprof_exceptions_service>(host, HPROF_SERVICE_EXCEPTIONS);
    hprof_call_probes of_calls = {};
    of_calls.size = sizeof of_calls;
    CHECK(calls->ask(host, &of_calls) == HPROF_FAILED);
    of_calls.begins = [](void*, void*, hprof_method_id) -> uint64_t { return 0; };
    CHECK(calls->ask(host, &of_calls) == HPROF_FAILED);
    of_calls.ends = [](void*, void*, uint64_t, uint32_t) {};
    of_calls.size = offsetof(hprof_call_probes, ends);
    CHECK(calls->ask(host, &of_calls) == HPROF_FAILED);
    of_calls.size = sizeof of_calls;
    CHECK(calls->ask(host, nullptr) == HPROF_FAILED);
    CHECK(calls->ask(host, &of_calls) == HPROF_OK);
    CHECK(calls->ask(host, &of_calls) == HPROF_FAILED);
    hprof_probe_user on_demand = {};
    on_demand.size = sizeof on_demand;
    on_demand.probes = HPROF_PROBE_CALLS | HPROF_PROBE_ON_DEMAND;
    CHECK(Services(host).bytecode->ask(host, &on_demand) == HPROF_FAILED);
    hprof_exception_probes of_exceptions = {};
    of_exceptions.size = sizeof of_exceptions;
    CHECK(exceptions->ask(host, &of_exceptions) == HPROF_FAILED);
    of_exceptions.made = [](void*, void*, void*) {};
    CHECK(exceptions->ask(host, &of_exceptions) == HPROF_OK);
    of_exceptions.caught = [](void*, void*, void*, hprof_method_id) {};
    CHECK(exceptions->ask(host, &of_exceptions) == HPROF_FAILED);
  };
  f.jvm.java_version = 8;  // with early hooks, whatever a unit wants
  REQUIRE(f.load("watch=y"));
  f.start();
  f.die();
}

TEST_CASE("classes are hooked only where a collector wants probes") {
  SessionFixture f;
  f.run("watch=y");
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  CHECK(f.jvm.defined.empty());
  CHECK_FALSE(f.session->rewriter().is_active());
  CHECK(f.session->parts().can_be_detached());
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
  REQUIRE(f.session->units().is_collecting());
  f.session->rewriter().set_thread_state(nullptr, nullptr, 1);
  CHECK(f.session->rewriter().thread_state(nullptr, nullptr, 0) == 0);
  f.die();
}

TEST_CASE("the state of a thread is never what GetLongField alone says") {
  SessionFixture f;
  f.run("cpu=times");
  auto& rewriter = f.session->rewriter();
  jobject thread = reinterpret_cast<jobject>(&f.jvm.add_thread("worker"));
  JNIEnv* jni = f.jvm.jni();
  rewriter.set_thread_state(jni, thread, 0x1000);
  for (const uint64_t guess : {0, 0x1000, 0x2000}) CHECK(rewriter.thread_state(jni, thread, guess) == 0x1000);
  f.die();
}

TEST_CASE("a session with probes in classes is not detached") {
  SessionFixture f;
  f.run("cpu=times");
  CHECK_FALSE(f.session->parts().can_be_detached());
  const Answer answer = f.command(CommandKind::kDetach);
  CHECK_FALSE(answer.good);
  CHECK_FALSE(answer.detach);
  f.die();
}

TEST_CASE("without its tracker class a collector of probes does not run, and the program does") {
  SessionFixture f;
  f.jvm.missing_classes = {"java/lang/HprofTracker"};
  f.run("cpu=times");
  CHECK_FALSE(f.session->units().is_collecting());
  CHECK_FALSE(f.command(CommandKind::kStart).good);
  CHECK_FALSE(f.jvm.static_flags["live"]);
  f.die();
  CHECK(f.session->phase() == Session::Phase::kDead);
}

TEST_CASE("on demand no class is looked at before the first go, which reaches all that are loaded") {
  OnDemand f;
  f.run("watch=y");
  REQUIRE(f.asked == HPROF_OK);
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  CHECK(f.jvm.defined.empty());
  CHECK(f.jvm.retransformed.empty());
  CHECK(f.go() == HPROF_OK);
  CHECK(has(f.jvm.defined, "java/lang/HprofTracker"));
  CHECK(f.jvm.static_flags["calling"]);
  CHECK(f.retransformed() == f.jvm.loaded);
  for (const auto& names : f.jvm.retransformed) CHECK(names.size() <= 64);
  CHECK(f.gets_probes("Later"));
  hprof_probe_totals totals = {};
  totals.size = sizeof totals;
  f.session->rewriter().totals(&totals);
  CHECK(totals.classes_changed == 101);
  f.die();
}

TEST_CASE("classes get probes as the patterns say") {
  OnDemand f;
  f.include = "C*";
  f.exclude = "C1*";
  f.run("watch=y");
  REQUIRE(f.go() == HPROF_OK);
  CHECK(f.gets_probes("C5"));
  CHECK_FALSE(f.gets_probes("C12"));
  CHECK_FALSE(f.gets_probes("D"));
  f.die();
}

TEST_CASE("on demand a second go only switches the probes on again") {
  OnDemand f;
  f.run("watch=y");
  REQUIRE(f.go() == HPROF_OK);
  f.halt();
  CHECK_FALSE(f.jvm.static_flags["calling"]);
  CHECK(f.gets_probes("Later"));
  CHECK(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags["calling"]);
  CHECK(f.retransformed().size() == 100);
  CHECK(std::count(f.jvm.defined.begin(), f.jvm.defined.end(), "java/lang/HprofTracker") == 1);
  f.die();
}

TEST_CASE("on demand classes that the VM refuses stay as they are, and the others get probes") {
  OnDemand f;
  f.jvm.fixed_classes = {"C3", "C99"};
  f.jvm.refused_classes = {"C0", "C50", "C51"};
  f.run("watch=y");
  CHECK(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags["calling"]);
  std::vector<std::string> expected;
  for (const std::string& name : f.jvm.loaded) {
    if (f.jvm.fixed_classes.count(name) == 0 && f.jvm.refused_classes.count(name) == 0)
      expected.push_back(name);
  }
  CHECK(f.retransformed() == expected);
  CHECK(f.jvm.blocks == 0);
  f.die();
}

TEST_CASE("on demand a go without the tracker class fails, for good, and no class is changed") {
  OnDemand f;
  f.jvm.missing_classes = {"java/lang/HprofTracker"};
  f.run("watch=y");
  CHECK(f.go() == HPROF_FAILED);
  f.jvm.missing_classes.clear();
  CHECK(f.go() == HPROF_FAILED);
  CHECK(f.jvm.retransformed.empty());
  CHECK_FALSE(f.gets_probes("Later"));
  f.die();
}

TEST_CASE("on demand a thread that the VM does not know gets none") {
  OnDemand f;
  f.run("watch=y");
  CHECK(f.session->rewriter().go(nullptr, HPROF_PROBE_CALLS) == HPROF_FAILED);
  CHECK(f.jvm.retransformed.empty());
  f.die();
}

TEST_CASE("on demand there are none beside a collector that has probes") {
  OnDemand f;
  f.run("cpu=times,watch=y");
  CHECK(f.go() == HPROF_FAILED);
  CHECK(f.jvm.retransformed.empty());
  CHECK_FALSE(f.jvm.static_flags["calling"]);
  CHECK(f.gets_probes("Later"));
  f.die();
}

TEST_CASE("only the classes and methods to be timed are changed, and no class before the first go") {
  Timed f;
  f.run("watch=y");
  CHECK(f.jvm.defined.empty());
  CHECK(f.jvm.retransformed.empty());
  REQUIRE(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags["timing"]);
  CHECK(f.jvm.natives["begins"] == reinterpret_cast<void*>(&timed_begins));
  CHECK(f.jvm.natives["ends"] == reinterpret_cast<void*>(&timed_ends));
  CHECK(f.retransformed() == 11);  // C1, C10 .. C19
  CHECK(f.numbers == 11);
  CHECK(f.gets_probes("C123"));
  CHECK_FALSE(f.gets_probes("C2"));
  CHECK(f.gets_probes("D"));
  CHECK_FALSE(f.gets_probes("E"));
  CHECK(f.jvm.post_class_file("C1", small_class("C1")) == nullptr);  // it calls nothing
  CHECK(f.jvm.blocks == 0);
  f.die();
}

TEST_CASE("probes that time calls are taken out at a detach") {
  Timed f;
  f.run("watch=y");
  CHECK(f.session->parts().can_be_detached());
  REQUIRE(f.go() == HPROF_OK);
  CHECK(f.session->parts().can_be_detached());
  CHECK(f.detach());
  CHECK_FALSE(f.jvm.static_flags["timing"]);
  CHECK(f.retransformed() == 22);
  CHECK(f.numbers == 11);
  CHECK(f.jvm.natives["ends"] != reinterpret_cast<void*>(&timed_ends));
  CHECK(f.jvm.global_refs == 0);
}

TEST_CASE("beside other probes a method gets those that time it, too, and stays as it is at the end") {
  Timed f;
  f.run("cpu=times,watch=y");
  REQUIRE(f.go() == HPROF_OK);
  CHECK_FALSE(f.session->parts().can_be_detached());
  const auto both = f.jvm.post_class_file("C1", Timed::calling_class("C1"));
  REQUIRE(both != nullptr);
  CHECK(both->find("enterTimed") != std::string::npos);
  const auto times = f.jvm.post_class_file("C2", Timed::calling_class("C2"));
  REQUIRE(times != nullptr);
  CHECK(times->find("enterTimed") == std::string::npos);
  CHECK(both->size() > times->size());
  f.die();
}
