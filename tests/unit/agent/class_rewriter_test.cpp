// Class files on their way into the VM, and the classes with targets.
#include "core/agent/vm/class_rewriter.h"

#include <algorithm>
#include <doctest/doctest.h>

#include <hprof/cpp/services.hpp>

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

jlong JNICALL begins(JNIEnv*, jclass, jlong, jint) { return 1; }
void JNICALL ends(JNIEnv*, jclass, jlong, jlong) {}
void JNICALL made(JNIEnv*, jclass, jlong, jobject) {}

const hprof_target kCalls[] = {
    {HPROF_POINT_BEGIN, 0, nullptr, reinterpret_cast<void (*)()>(&begins)},
    {HPROF_POINT_END, 0, nullptr, reinterpret_cast<void (*)()>(&ends)},
    {HPROF_POINT_UNWIND, 0, nullptr, reinterpret_cast<void (*)()>(&ends)},
    {HPROF_POINT_MADE, 0, nullptr, reinterpret_cast<void (*)()>(&made)},
};

// A user with native targets of calls.
hprof_probe_user of_calls(uint32_t flags) {
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = flags;
  user.targets = kCalls;
  user.target_count = 3;
  return user;
}

constexpr const char* kBridge = "java/lang/HprofBridge_watcher";
constexpr const char* kLive = "HprofBridge_watcher.isLive";

// The watcher asks for probes of calls on demand; 100 classes are loaded.
struct OnDemand : SessionFixture {
  OnDemand() {
    heard().on_create = [this](const hprof_host* host) {
      hprof_probe_user user = of_calls(HPROF_PROBES_ON_DEMAND);
      user.include = include;
      user.exclude = exclude;
      asked = Services(host).probes->ask(host, &user, &number);
    };
    jvm.class_file = small_class;
    for (int i = 0; i < 100; i++) jvm.loaded.push_back("C" + std::to_string(i));
  }
  hprof_status go() {
    hprof_status status = HPROF_OK;
    jvm.on(main, [&] { status = session->parts().rewriter.start(jvm.jni(), number); });
    return status;
  }
  void halt() {
    jvm.on(main, [&] { session->parts().rewriter.stop(jvm.jni(), number); });
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
  uint32_t number = 0;
};

// The watcher asks for probes that time calls of the classes C1*; 100 classes are loaded.
struct Timed : SessionFixture {
  Timed() {
    heard().on_create = [this](const hprof_host* host) {
      hprof_probe_user user =
          of_calls(HPROF_PROBES_ON_DEMAND | HPROF_PROBES_ATTACHED | HPROF_PROBES_NO_LEAVES);
      user.self = this;
      user.include = include;
      user.number = [](void* self, hprof_method_id) -> uint32_t {
        return ++static_cast<Timed*>(self)->numbers;
      };
      CHECK(Services(host).probes->ask(host, &user, &number) == HPROF_OK);
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
    jvm.on(main, [&] { status = session->parts().rewriter.start(jvm.jni(), number); });
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
  uint32_t number = 0;
};

}  // namespace

TEST_CASE("a user of probes whose targets do not fit together is refused, and so is the ninth") {
  SessionFixture f;
  heard().on_create = [](const hprof_host* host) {
    const auto ask = [host](const hprof_probe_user& user) {
      uint32_t number = 7;
      const hprof_status status = Services(host).probes->ask(host, &user, &number);
      CHECK((number != 0) == (status == HPROF_OK));
      return status;
    };
    const hprof_probe_user good = of_calls(0);
    hprof_probe_user user = good;
    user.target_count = 0;
    CHECK(ask(user) == HPROF_FAILED);
    user = good;
    user.size = offsetof(hprof_probe_user, number);
    CHECK(ask(user) == HPROF_FAILED);
    user = good;
    user.targets = kCalls + 1;  // ends without a beginning
    CHECK(ask(user) == HPROF_FAILED);
    hprof_target targets[] = {kCalls[3], kCalls[3]};
    user.targets = targets;
    user.target_count = 2;
    CHECK(ask(user) == HPROF_FAILED);
    targets[1] = {HPROF_POINT_ARRAYS, 0, nullptr, kCalls[3].function};
    CHECK(ask(user) == HPROF_FAILED);
    targets[1] = {HPROF_POINTS, 0, nullptr, kCalls[3].function};
    CHECK(ask(user) == HPROF_FAILED);
    targets[1] = {HPROF_POINT_CAUGHT, 0, "caught", nullptr};
    CHECK(ask(user) == HPROF_FAILED);
    for (const uint32_t point : {HPROF_POINT_BEGIN, HPROF_POINT_RESULT}) {  // beside ARGUMENTS and END
      hprof_target both[] = {kCalls[0], kCalls[1], kCalls[0]};
      both[point == HPROF_POINT_BEGIN ? 0 : 2].point = HPROF_POINT_ARGUMENTS;
      both[point == HPROF_POINT_BEGIN ? 2 : 0].point = point;
      user.targets = both;
      user.target_count = 3;
      CHECK(ask(user) == HPROF_FAILED);
    }
    user.targets = targets;
    targets[0] = {HPROF_POINT_RESULT, 0, nullptr, kCalls[1].function};
    user.target_count = 1;
    CHECK(ask(user) == HPROF_FAILED);  // without ARGUMENTS
    // In Java.
    const uint8_t bytes[] = {0};
    hprof_probe_class brought = {"java/lang/HprofAcme", bytes, 1, 0, nullptr};
    targets[0] = {HPROF_POINT_LEAF, 0, "leaf", nullptr};
    user.target_count = user.class_count = 1;
    user.classes = &brought;
    CHECK(ask(user) == HPROF_FAILED);  // without a switch
    user.live = "live";
    for (const char* name : {"com/acme/HprofAcme", "java/lang/Acme", "java/lang/Hprof"}) {
      brought.name = name;
      CHECK(ask(user) == HPROF_FAILED);
    }
    user = of_calls(HPROF_PROBES_ATTACHED);
    CHECK(ask(user) == HPROF_FAILED);
    user = of_calls(HPROF_PROBES_ON_DEMAND);
    user.thread_field = "$acme";
    CHECK(ask(user) == HPROF_FAILED);
    user = good;
    for (const char* pattern : {"C1:C2#m", "C1.m()", "*C.run", "C1 ", "C[]"}) {
      user.include = pattern;
      CHECK_MESSAGE(ask(user) == HPROF_FAILED, pattern);
    }
    user.include = "C1:com/acme/C2.<init>:C$A*:\xc3\x84.run:";
    CHECK(ask(user) == HPROF_OK);
    for (uint32_t i = 0; i < 15; i++) CHECK(ask(good) == HPROF_OK);
    CHECK(ask(good) == HPROF_FAILED);
  };
  f.jvm.java_version = 8;  // with early hooks, whatever a unit wants
  REQUIRE(f.load("watch=y"));
  f.start();
  CHECK(has(f.jvm.defined, kBridge));
  CHECK(has(f.jvm.defined, "java/lang/HprofBridge_watcher_15"));
  f.die();
}

TEST_CASE("a class without the targets that its unit names is refused, and the VM goes on") {
  static const char* method;
  static const hprof_target* targets;
  for (const char* name : {"m", "n"}) {
    SessionFixture f;
    method = name;
    heard().on_create = [](const hprof_host* host) {
      static std::string file;
      static hprof_probe_class brought;
      static hprof_target target;
      file = small_class("java/lang/HprofAcme");
      brought = {"java/lang/HprofAcme", reinterpret_cast<const uint8_t*>(file.data()),
                 static_cast<uint32_t>(file.size()), 0, nullptr};
      target = {HPROF_POINT_END, 0, method, nullptr};
      targets = &target;
      hprof_probe_user user = {};
      user.size = sizeof user;
      user.targets = targets;
      user.target_count = user.class_count = 1;
      user.classes = &brought;
      user.live = "live";
      uint32_t number = 0;
      CHECK(Services(host).probes->ask(host, &user, &number) == HPROF_FAILED);  // ends without a beginning
      target.point = HPROF_POINT_LEAF;
      // m() takes no number.
      CHECK(Services(host).probes->ask(host, &user, &number) == HPROF_FAILED);
    };
    f.jvm.java_version = 8;
    CHECK(f.load("watch=y"));
    f.die();
  }
}

TEST_CASE("classes are hooked only where a collector wants probes") {
  SessionFixture f;
  f.run("watch=y");
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  CHECK(f.jvm.defined.empty());
  CHECK_FALSE(f.session->parts().rewriter.is_active());
  CHECK(f.session->parts().can_be_detached());
}

TEST_CASE("the targets are there before the program, and their probes work while a collector runs") {
  SessionFixture f;
  REQUIRE(f.load("cpu=times,start=n"));
  CHECK(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  f.start();
  CHECK(has(f.jvm.defined, "java/lang/HprofCalls"));
  CHECK_FALSE(f.jvm.static_flags["HprofCalls.live"]);
  CHECK(f.command(CommandKind::kStart).good);
  CHECK(f.jvm.static_flags["HprofCalls.live"]);
  CHECK(f.command(CommandKind::kStop).good);
  CHECK_FALSE(f.jvm.static_flags["HprofCalls.live"]);
  f.die();
}

TEST_CASE("a class gets probes, and what cannot be read stays as it is") {
  SessionFixture f;
  f.run("cpu=times");
  const std::string good = small_class("Small");
  auto changed = f.jvm.post_class_file("Small", good);
  REQUIRE(changed != nullptr);
  CHECK(*changed != good);
  CHECK(changed->find("HprofCalls") != std::string::npos);
  for (size_t size : {size_t{0}, size_t{4}, size_t{40}, good.size() - 1})
    CHECK(f.jvm.post_class_file("Small", good.substr(0, size)) == nullptr);
  std::string garbage(300, '\xca');
  CHECK(f.jvm.post_class_file("Garbage", garbage) == nullptr);
  hprof_probe_totals totals = {};
  totals.size = sizeof totals;
  f.session->parts().rewriter.totals(1, &totals);
  CHECK(totals.classes >= 2);
  CHECK(totals.classes_changed == 1);
  CHECK(f.jvm.blocks == 0);
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

TEST_CASE("without its class a collector of probes does not run, and the program does") {
  SessionFixture f;
  f.jvm.missing_classes = {"java/lang/HprofCalls"};
  f.run("cpu=times");
  CHECK_FALSE(f.session->parts().units.is_collecting());
  CHECK_FALSE(f.command(CommandKind::kStart).good);
  CHECK_FALSE(f.jvm.static_flags["HprofCalls.live"]);
  f.die();
  CHECK(f.session->phase() == Session::Phase::kDead);
}

TEST_CASE("on demand no class is rewritten before the first go, which reaches all that are loaded") {
  OnDemand f;
  f.run("watch=y");
  REQUIRE(f.asked == HPROF_OK);
  CHECK_FALSE(f.jvm.is_enabled(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK));
  CHECK(f.jvm.defined.empty());
  CHECK(f.jvm.retransformed.empty());
  CHECK(f.go() == HPROF_OK);
  CHECK(has(f.jvm.defined, kBridge));
  CHECK(f.jvm.static_flags[kLive]);
  CHECK(f.retransformed() == f.jvm.loaded);
  for (const auto& names : f.jvm.retransformed) CHECK(names.size() <= 64);
  CHECK(f.gets_probes("Later"));
  hprof_probe_totals totals = {};
  totals.size = sizeof totals;
  f.session->parts().rewriter.totals(1, &totals);
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

TEST_CASE("patterns that no loaded class or method matches are named") {
  OnDemand f;
  f.include = "C1*:C5.m:C5.none:com.acme.D:C7";
  f.run("watch=y");
  REQUIRE(f.asked == HPROF_OK);
  const auto left = [&f] {
    std::vector<std::string> reasons;
    f.session->parts().rewriter.each_left(
        f.number, &reasons, [](void* to, const char* reason, uint64_t classes, uint64_t methods) {
          if (classes == 0 && methods == 0) static_cast<std::vector<std::string>*>(to)->push_back(reason);
        });
    return reasons;
  };
  CHECK(left().empty());
  REQUIRE(f.go() == HPROF_OK);
  for (const char* name : {"C10", "C5", "C6"}) f.gets_probes(name);
  CHECK(left() == std::vector<std::string>{"no loaded class or method is C5.none",
                                           "no loaded class or method is com.acme.D"});
  f.die();
}

TEST_CASE("on demand a second go only switches the probes on again") {
  OnDemand f;
  f.run("watch=y");
  REQUIRE(f.go() == HPROF_OK);
  f.halt();
  CHECK_FALSE(f.jvm.static_flags[kLive]);
  CHECK(f.gets_probes("Later"));
  CHECK(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags[kLive]);
  CHECK(f.retransformed().size() == 100);
  CHECK(std::count(f.jvm.defined.begin(), f.jvm.defined.end(), kBridge) == 1);
  f.die();
}

TEST_CASE("on demand classes that the VM refuses stay as they are, and the others get probes") {
  OnDemand f;
  f.jvm.fixed_classes = {"C3", "C99"};
  f.jvm.refused_classes = {"C0", "C50", "C51"};
  f.run("watch=y");
  CHECK(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags[kLive]);
  std::vector<std::string> expected;
  for (const std::string& name : f.jvm.loaded) {
    if (f.jvm.fixed_classes.count(name) == 0 && f.jvm.refused_classes.count(name) == 0)
      expected.push_back(name);
  }
  CHECK(f.retransformed() == expected);
  CHECK(f.jvm.blocks == 0);
  f.die();
}

TEST_CASE("on demand a start without the targets fails, for good, and no class is changed") {
  OnDemand f;
  f.jvm.missing_classes = {kBridge};
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
  CHECK(f.session->parts().rewriter.start(nullptr, f.number) == HPROF_FAILED);
  CHECK(f.jvm.retransformed.empty());
  f.die();
}

TEST_CASE("on demand they go beside those of a collector, each with its own target") {
  OnDemand f;
  f.run("cpu=times,watch=y");
  CHECK_FALSE(f.jvm.post_class_file("Before", small_class("Before"))->find("HprofBridge") !=
              std::string::npos);
  CHECK(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags[kLive]);
  const auto both = f.jvm.post_class_file("Later", small_class("Later"));
  REQUIRE(both != nullptr);
  CHECK(both->find(kBridge) != std::string::npos);
  CHECK(both->find("java/lang/HprofCalls") != std::string::npos);
  f.die();
}

TEST_CASE("only the classes and methods to be timed are changed, and no class before the first go") {
  Timed f;
  f.run("watch=y");
  CHECK(f.jvm.defined.empty());
  CHECK(f.jvm.retransformed.empty());
  REQUIRE(f.go() == HPROF_OK);
  CHECK(f.jvm.static_flags[kLive]);
  CHECK(f.jvm.natives["begin"] == reinterpret_cast<void*>(&begins));
  CHECK(f.jvm.natives["end"] == reinterpret_cast<void*>(&ends));
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
  CHECK_FALSE(f.jvm.static_flags[kLive]);
  CHECK(f.retransformed() == 22);
  CHECK(f.numbers == 11);
  CHECK(f.jvm.global_refs == 0);
}

TEST_CASE("beside other probes a method gets those that time it, too, and stays as it is at the end") {
  Timed f;
  f.run("cpu=times,watch=y");
  REQUIRE(f.go() == HPROF_OK);
  CHECK_FALSE(f.session->parts().can_be_detached());
  const auto both = f.jvm.post_class_file("C1", Timed::calling_class("C1"));
  REQUIRE(both != nullptr);
  CHECK(both->find(kBridge) != std::string::npos);
  const auto times = f.jvm.post_class_file("C2", Timed::calling_class("C2"));
  REQUIRE(times != nullptr);
  CHECK(times->find(kBridge) == std::string::npos);
  CHECK(both->size() > times->size());
  f.die();
}
