#include "core/control/command.h"

namespace hprof {

const char* command_name(CommandKind kind) {
  switch (kind) {
    case CommandKind::kForceGc:
      return "force gc";
    case CommandKind::kDumpHeap:
      return "dump heap";
    case CommandKind::kSites:
      return "alloc sites";
    case CommandKind::kHeapSummary:
      return "heap summary";
    case CommandKind::kExit:
      return "exit";
    case CommandKind::kDumpTraces:
      return "dump traces";
    case CommandKind::kSamples:
      return "cpu samples";
    case CommandKind::kAllocTraces:
      return "alloc traces on or off";
    case CommandKind::kCpuSampling:
      return "cpu sampling on or off";
    case CommandKind::kClearCpu:
      return "clear cpu samples";
    case CommandKind::kClearSites:
      return "clear alloc sites";
    case CommandKind::kDepth:
      return "depth";
    case CommandKind::kEof:
      return "eof";
    case CommandKind::kStart:
      return "start";
    case CommandKind::kStop:
      return "stop";
    case CommandKind::kReport:
      return "report";
    case CommandKind::kReset:
      return "reset";
    case CommandKind::kStatus:
      return "status";
    case CommandKind::kHelp:
      return "help";
    case CommandKind::kDetach:
      return "detach";
  }
  return "?";
}

}  // namespace hprof
