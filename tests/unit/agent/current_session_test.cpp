// The sessions of a process, what they leave to later ones, and where two would meet.
#include "core/agent/session/current_session.h"

#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include "core/agent/session/quarantine.h"
#include "core/agent/vm/environment.h"
#include "tests/unit/agent/environments.h"
#include "tests/unit/agent/session_fixture.h"

using namespace hprof;

namespace {

// Sessions that the VM has not seen.
struct Sessions {
  std::vector<Session*> all;

  ~Sessions() {
    for (Session* session : all) {
      set_aside(session, false);
      discard_block(&session->block());
    }
  }
  Session* make() {
    all.push_back(make_session());
    REQUIRE(all.back() != nullptr);
    return all.back();
  }
  static uint32_t known() {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kMostSessions; i++) count += session_at(i) != nullptr ? 1 : 0;
    return count;
  }
};

}  // namespace

TEST_CASE("a session beside the current one leaves it what it is") {
  Sessions s;
  Session *first = s.make(), *beside = s.make();
  REQUIRE(add_session(first, false));
  REQUIRE(add_session(beside, true));
  CHECK(current_session() == first);
  CHECK(Sessions::known() == 2);
  set_aside(first, false);
  CHECK(current_session() == nullptr);
  CHECK(Sessions::known() == 1);
  set_aside(beside, false);
  CHECK(Sessions::known() == 0);
}

TEST_CASE("a session that becomes the current one keeps the one before beside it") {
  Sessions s;
  Session *first = s.make(), *second = s.make();
  REQUIRE(add_session(first, false));
  REQUIRE(add_session(second, false));
  CHECK(current_session() == second);
  CHECK(Sessions::known() == 2);
  set_aside(second, false);
  CHECK(current_session() == nullptr);
  CHECK(Sessions::known() == 1);
}

TEST_CASE("there is room for so many sessions, and again for one that has ended") {
  Sessions s;
  REQUIRE(add_session(s.make(), false));
  for (uint32_t i = 1; i < kMostSessions; i++) REQUIRE(add_session(s.make(), true));
  Session* more = s.make();
  CHECK_FALSE(add_session(more, true));
  set_aside(s.all[3], false);
  CHECK(add_session(more, true));
  CHECK(current_session() == s.all[0]);
}

TEST_CASE("sessions that ran at a time leave an environment each") {
  FakeVm jvm;
  while (take_environment(jvm.vm()) != jvm.jvmti()) {
  }
  test::Environments one, two;
  for (test::Environments* each : {&one, &two}) {
    each->jvmti_functions.GetCapabilities = [](jvmtiEnv*, jvmtiCapabilities*) {
      return JVMTI_ERROR_NOT_AVAILABLE;
    };
    each->jvmti_functions.SetEventCallbacks = [](jvmtiEnv*, const jvmtiEventCallbacks*, jint) {
      return JVMTI_ERROR_NONE;
    };
    each->jvmti_functions.SetEnvironmentLocalStorage = [](jvmtiEnv*, const void*) {
      return JVMTI_ERROR_NONE;
    };
  }
  leave_environment(&one.jvmti, true);
  leave_environment(&two.jvmti, true);
  CHECK(take_environment(jvm.vm()) == &one.jvmti);
  CHECK(take_environment(jvm.vm()) == &two.jvmti);
  leave_environment(&two.jvmti, false);
  CHECK(take_environment(jvm.vm()) == jvm.jvmti());
}

TEST_CASE("two sessions meet in a collector that an option for profiles of both has chosen") {
  SessionFixture f;
  Sessions s;
  const auto chosen = [&](const char* options) -> const Setup& {
    Session* session = s.make();
    f.jvm.on(f.main, [&] { REQUIRE(session->configure(f.jvm.vm(), options, true) == Configured::kRun); });
    return session->parts().setup;
  };
  const Setup& watch = chosen("watch=y");
  const Setup& both = chosen("cpu=times,watch=y,file=other.txt");
  const Setup& times = chosen("cpu=times");
  const Setup& besides = chosen("cpu=times,lineno=n");
  CHECK(watch.common_profile(besides) == nullptr);
  CHECK(watch.common_profile(times) == nullptr);
  CHECK(times.common_profile(watch) == nullptr);
  CHECK(Str(watch.common_profile(both)) == "watcher");
  CHECK(Str(both.common_profile(times)) == "cpu_times");
}

TEST_CASE("an attach waits while another session is detached, but not for ever") {
  REQUIRE(begin_change());
  CHECK_FALSE(begin_change_within(0));
  CHECK_FALSE(begin_change_within(2));
  std::thread detaching([] {
    platform::sleep_ns(10 * platform::kNanosPerMilli);
    end_change();
  });
  CHECK(begin_change_within(UINT32_MAX));
  detaching.join();
  end_change();
}
