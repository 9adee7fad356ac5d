// Keeps the signals of failed writes (SIGPIPE, SIGXFSZ) from the process for a scope: they are blocked on
// this thread and, if the write raised one, taken back before the mask is restored. Keeps errno. [signal]
#pragma once

#include <signal.h>

namespace hprof::platform {

class WriteSignals {
 public:
  WriteSignals();
  ~WriteSignals();
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;

 private:
  sigset_t before_;
  sigset_t pending_;
};

}  // namespace hprof::platform
