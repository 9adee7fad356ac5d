// The connection to `hprof attach`, whose options are "reply=<path>", a local socket in a private folder. It
// carries options that do not fit into the VM's request, and messages that the VM does not pass on.
//
//   tool:  "HPROF ATTACH 1\n"
//          "folder <absolute path>\n" relative file names are relative to it; optional "options <text>\n" the
//          agent's options, or command=<line> "\n"
//   agent: lines that begin with one blank: messages, and fields as " =<name> <value>"
//          "OK\n" or "ERROR text\n"
#pragma once

#include <jni.h>

#include "core/base/text.h"
#include "core/option/option_list.h"
#include "platform/platform.h"

namespace hprof {

// About 12 KiB on the stack of Agent_OnAttach; only that thread uses it.
class AttachReply {
 public:
  // The path in "reply=<path>", else empty. [any]
  static Str path_in(Str options);

  // Connects and reads the request. False: *problem says why, and no answer can be sent. [onload]
  bool open(Str path, TextWriter* problem);
  const char* options() const { return options_; }  // as long as this object lives
  Str folder() const { return folder_; }

  // Sends one line of the answer. [onload]
  void line(Str text);
  void field(const char* name, Str value);
  // Sends lines, each with its line feed. [onload]
  void lines(Str lines);
  // Sets the text of ERROR. [onload]
  void problem(Str text);
  // Sends OK or ERROR, and closes. [onload]
  void close(bool good);

 private:
  static constexpr size_t kRequestMost = OptionList::kTextMost + 4096 + 64;
  static constexpr size_t kProblemMost = 600;

  bool read_request(TextWriter* problem);
  void send(Str text);

  platform::Socket socket_;
  char request_[kRequestMost];
  size_t size_ = 0;
  const char* options_ = "";
  Str folder_;
  char problem_[kProblemMost] = "";
};

// Sends a refusal to the client that asked; nullptr: to the VM's stderr. Returns JNI_ERR. [onload]
jint refuse(AttachReply* reply, const char* text);

}  // namespace hprof
