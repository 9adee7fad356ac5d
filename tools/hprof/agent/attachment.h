// Loads an agent into a running JVM, or talks to one, by the VM's attach mechanism.
//
// The VM passes at most 1023 bytes to an agent and returns only a number. So the agent gets the path of a
// socket in a private folder, from which it reads its options, and to which it writes its answer
// (core/agent/session/attach_reply.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/hprof/agent/options.h"
#include "tools/os/attach.h"

namespace hprof::tool {

struct AttachAnswer {
  bool good = false;
  std::vector<std::string> messages;          // for the user, one a line
  std::map<std::string, std::string> fields;  // collectors, state, output, mode, control
  std::string problem;                        // the agent's or the VM's error message
  bool too_early = false;                     // the VM refused it, because it is still starting
};

class Attachment {
 public:
  // Finds the process and the library, and becomes the JVM's user. `agent` as given by --agent=; as_is: it is
  // a path in the JVM's own file system. False with *error.
  bool open(int pid, const std::string& agent, bool as_is, std::string* error);

  const os::Jvm& jvm() const { return jvm_; }
  os::MeetingPlace& place() { return place_; }
  // True: the JVM sees the caller's working folder, and may write there.
  bool shares_folder() const { return shares_folder_; }
  std::string name() const { return os::name_of(jvm_); }

  // Passes options or command=LINE to the agent, loaded if need be, and gets its answer. Waits vm_seconds for
  // the VM, then seconds for the agent. False with *error: no answer.
  bool ask(const std::string& options, const std::string& folder, double vm_seconds, double seconds,
           AttachAnswer* answer, std::string* error);

  // True: an agent is loaded and has a session, *there says which.
  bool has_session(double vm_seconds, AttachAnswer* there);

 private:
  bool find_library(const std::string& agent, bool as_is, std::string* error);
  bool stage(const std::string& library, std::string* error);
  bool hear_agent(int listener, const std::string& request, double deadline, AttachAnswer* answer,
                  std::string* error);
  bool converse(int vm, int listener, const std::string& request, double seconds, AttachAnswer* answer,
                std::string* error);

  os::Jvm jvm_;
  os::MeetingPlace place_;
  os::StagedFiles staged_;
  std::string library_;  // as the JVM sees it
  bool shares_folder_ = false;
};

// Chooses the folder of relative file names: the caller's working folder, if the JVM may write there, else
// the JVM's /tmp; then a relative file= is refused with *error.
bool choose_folder(const Attachment& attachment, const std::string& options, std::string* folder,
                   std::string* error);

}  // namespace hprof::tool
