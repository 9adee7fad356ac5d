// The heap=dump collector: picks a dumper for each dump.
#pragma once

#include <hprof/collector.h>

#include "config.h"
#include "jvmti_dumper.h"
#include "vm_dumper.h"

namespace hprof::dump {

class Collector {
 public:
  Collector(const hprof_host* host, const Config& config);

  hprof_status report(const hprof_report& report);
  void reported() { jvmti_.give_back(); }
  bool close() {
    jvmti_.close();
    return true;
  }

 private:
  bool vm_dumper_fits(uint32_t reason, const ObjectTraces& traces, char* why, uint32_t why_size) const;
  hprof_status dump(uint32_t reason, ObjectTraces* traces);
  hprof_status write_traces_note(const ObjectTraces& traces);
  hprof_status write_engine_note(const char* engine, const char* why);
  uint64_t used_heap() const;

  DumpServices services_;
  Config config_;
  JvmtiDumper jvmti_;
  VmDumper vm_;
};

}  // namespace hprof::dump
