// Every command as a row. The parsers, the help, the tags of net= and a table of docs/control.md
// (scripts/check readme --write) come from these rows.
//
// Tags and bodies are those of the original's manual (HPROF Agent, binary format, commands on the socket) and
// what the original accepts beyond it. The agent reads them, bin/hprof writes them.
#pragma once

#include <cstdint>

#include "core/base/text.h"
#include "core/protocol/command.h"

namespace hprof {

enum CommandTag : uint8_t {
  kTagNone = 0,  // a line of text only
  kTagForceGc = 0x01,
  kTagDumpHeap = 0x02,
  kTagSites = 0x03,
  kTagHeapSummary = 0x04,
  kTagExit = 0x05,
  kTagDumpTraces = 0x06,
  kTagSamples = 0x07,
  kTagControl = 0x08,  // u2 ControlOption, then what this one takes
  kTagEof = 0xff,
};

enum ControlOption : uint16_t {
  kControlAllocOn = 1,
  kControlAllocOff = 2,
  kControlCpuOn = 3,
  kControlCpuOff = 4,
  kControlClearCpu = 5,
  kControlClearSites = 6,  // without a value; with u2 it is the manual's way to set the depth
  kControlDepth = 7,       // the original's way
};

// The parameters of a command, and its body on the wire.
enum class CommandForm : uint8_t {
  kPlain,    // nothing
  kSites,    // flags and a cutoff: u2 HPROF_SITES_*, f4; or nothing
  kSamples,  // a cutoff: an unused u2, f4; or nothing
  kThread,   // thread=ID: the id of a thread object, of 4 or 8 bytes, 0 or nothing: all threads
  kDepth,    // a number of frames: u2
  kDetach,   // nodump
};

struct CommandRow {
  CommandKind kind;
  CommandForm form;
  CommandTag tag;
  uint16_t option;  // ControlOption of kTagControl
  uint32_t value;   // Command::value, if the words imply it
  const char* words;
  const char* parameters;  // "": none
  const char* name;        // in messages and answers on the stream
  const char* help;
};

constexpr uint32_t kCommandCount = 22;
extern const CommandRow kCommands[kCommandCount];

// The row of a tag and, with kTagControl, its option; nullptr: none. [any]
const CommandRow* find_command(uint8_t tag, uint32_t option);

// "sites [alloc] [cutoff=F]": the typed form. [any]
void put_usage(const CommandRow& row, TextWriter* out);

// All commands, one a line. [any]
void put_command_help(TextWriter* out);

}  // namespace hprof
