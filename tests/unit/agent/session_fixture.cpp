#include "tests/unit/agent/session_fixture.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "core/agent/vm/environment.h"

namespace hprof {

namespace {

// A session is never given back by itself: late callbacks may look at it. What its end leaves stays reachable
// here.
std::vector<Session*>& all_sessions() {
  static std::vector<Session*> sessions;
  return sessions;
}

}  // namespace

void wait_until(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

SessionFixture::SessionFixture() : main(jvm.add_thread("main")), session(&(new SessionBlock)->session) {
  all_sessions().push_back(session);
  char pattern[] = "/tmp/hprof-agent-test-XXXXXX";
  folder = mkdtemp(pattern);
  file = folder + "/out.txt";
  heard().clear();
  heard().start_status = heard().report_status = heard().create_status = HPROF_OK;
  heard().on_start = heard().on_report = heard().on_wait = nullptr;
  heard().on_create = nullptr;
  heard().reports.clear();
  heard().ends.clear();
  heard().lost_at_end = 0;
}

SessionFixture::~SessionFixture() {
  detach();
  take_environment(jvm.vm());  // so that the next VM has none of this
  heard().on_start = heard().on_report = heard().on_wait = nullptr;
  heard().on_create = nullptr;
  unlink(file.c_str());
  rmdir(folder.c_str());
}

bool SessionFixture::load(const std::string& options) {
  bool loaded = false;
  jvm.on(main, [&] {
    const std::string all = options + ",verbose=n,file=" + file;
    loaded = session->configure(jvm.vm(), all.c_str(), false) == Configured::kRun && session->load();
  });
  return loaded;
}

void SessionFixture::start() {
  jvm.on(main, [&] { jvm.post_vm_start(); });
  jvm.post_vm_init(main);
}

void SessionFixture::run(const std::string& options) {
  REQUIRE(load(options));
  start();
}

void SessionFixture::die() {
  jvm.on(main, [&] { jvm.post_vm_death(); });
}

bool SessionFixture::detach() {
  bool ended = false;
  jvm.on(main, [&] { ended = session->detach(jvm.jni()); });
  return ended;
}

Answer SessionFixture::command(CommandKind kind, uint32_t value) {
  Answer answer;
  Command command;
  command.kind = kind;
  command.value = value;
  session->open_commands();
  REQUIRE(session->parts().control.perform(command, &answer));
  return answer;
}

std::string SessionFixture::written() const {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void SessionFixture::wait_for(const std::string& line) {
  wait_until([&] {
    for (const std::string& more : heard().take()) heard_.push_back(more);
    return std::find(heard_.begin(), heard_.end(), line) != heard_.end();
  });
}

std::vector<std::string> SessionFixture::take_heard() {
  for (const std::string& more : heard().take()) heard_.push_back(more);
  std::vector<std::string> taken;
  taken.swap(heard_);
  return taken;
}

}  // namespace hprof
