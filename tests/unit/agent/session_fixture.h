// A session in a scripted VM, with a watcher among its units and a file as its output.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/agent/session/session_block.h"
#include "core/protocol/answer.h"
#include "core/protocol/command.h"
#include "tests/unit/agent/watcher.h"
#include "tests/unit/support/fake_vm.h"

namespace hprof {

struct SessionFixture {
  SessionFixture();
  ~SessionFixture();  // detaches what still lives

  // Agent_OnLoad's part: false where it fails.
  bool load(const std::string& options);
  // The VM starts.
  void start();
  void run(const std::string& options);  // both
  // The VM ends.
  void die();
  bool detach();
  Answer command(CommandKind kind, uint32_t value = 0);
  // What was written; empty: no file.
  std::string written() const;
  // Until the watcher has heard that line; what it heard is kept for take_heard.
  void wait_for(const std::string& line);
  std::vector<std::string> take_heard();

  FakeVm jvm;
  FakeVm::Thread& main;
  Session* session;
  std::string folder, file;

 private:
  std::vector<std::string> heard_;
};

// Polls; far beyond what anything takes, the test ends.
void wait_until(const std::function<bool()>& condition);

}  // namespace hprof
