// A command to a running agent, from the binary form of net= or from a line of text.
#pragma once

#include <cstdint>

namespace hprof {

enum class CommandKind : uint32_t {
  // Commands of the original's socket
  kForceGc,
  kDumpHeap,
  kSites,  // flags: HPROF_SITES_*
  kHeapSummary,
  kExit,
  kDumpTraces,
  kSamples,
  kAllocTraces,  // value: 1 on, 0 off
  kCpuSampling,  // value: 1 on, 0 off; object: the thread's object id, 0 = all
  kClearCpu,
  kClearSites,
  kDepth,  // value: frames
  kEof,
  // As lines of text only
  kStart,
  kStop,
  kReport,
  kReset,
  kStatus,
  kHelp,
  kDetach,
};

struct Command {
  CommandKind kind = CommandKind::kStatus;
  uint32_t serial = 0;  // of the binary form
  uint32_t flags = 0;
  uint32_t value = 0;  // kDetach: 1: without a last report
  uint64_t object = 0;
  double cutoff = -1;  // 0..1; below 0: not given
};

// "dump heap": the name in messages (command_table.h). [any]
const char* command_name(CommandKind kind);

}  // namespace hprof
