// The commands of net= as numbers: the socket part of the original's manual (HPROF Agent, binary format) and
// what the original understands beyond it. The agent reads them, bin/hprof writes them.
#pragma once

#include <cstdint>

namespace hprof {

enum CommandTag : uint8_t {
  kTagForceGc = 0x01,
  kTagDumpHeap = 0x02,
  kTagSites = 0x03,  // u2 HPROF_SITES_*, f4 cutoff
  kTagHeapSummary = 0x04,
  kTagExit = 0x05,
  kTagDumpTraces = 0x06,
  kTagSamples = 0x07,  // u2 that means nothing, f4 cutoff
  kTagControl = 0x08,  // u2 ControlOption, then what this one takes
  kTagEof = 0xff,
};

enum ControlOption : uint16_t {
  kControlAllocOn = 1,
  kControlAllocOff = 2,
  kControlCpuOn = 3,   // id of a thread object, 0: all threads
  kControlCpuOff = 4,  // the same
  kControlClearCpu = 5,
  kControlClearSites = 6,  // without a value; with u2 it is the manual's way to set the depth
  kControlDepth = 7,       // u2, the original's way
};

}  // namespace hprof
