// Heap dumps by the VM's own dumper, passed through the encoder.
#pragma once

#include "config.h"
#include "object_traces.h"
#include "progress.h"

namespace hprof::dump {

class VmDumper {
 public:
  explicit VmDumper(const DumpServices* services) : services_(services) {}

  // True: the addresses of weak references' objects can be read. [control]
  bool reads_addresses() const;
  // Makes one dump. traces: of objects, by address, or not is_used(). HPROF_UNSUPPORTED: nothing was written;
  // the reason is in why. [control]
  hprof_status dump(const Config& config, ObjectTraces* traces, Progress* progress, char* why,
                    uint32_t why_size);

 private:
  const DumpServices* services_;
};

}  // namespace hprof::dump
