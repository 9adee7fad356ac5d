#include "core/protocol/command_table.h"

namespace hprof {

namespace {

constexpr size_t kHelpColumn = 24;

using Kind = CommandKind;
using Form = CommandForm;

}  // namespace

const CommandRow kCommands[kCommandCount] = {
    {Kind::kStart, Form::kPlain, kTagNone, 0, 0, "start", "", "start", "start all chosen collectors"},
    {Kind::kStop, Form::kPlain, kTagNone, 0, 0, "stop", "", "stop", "stop them; their data is kept"},
    {Kind::kReport, Form::kPlain, kTagNone, 0, 0, "report", "", "report",
     "write the reports of all collectors that have data"},
    {Kind::kReset, Form::kPlain, kTagNone, 0, 0, "reset", "", "reset", "discard the data of all collectors"},
    {Kind::kStatus, Form::kPlain, kTagNone, 0, 0, "status", "", "status",
     "show what runs, where the output goes, and what was lost"},
    {Kind::kDumpHeap, Form::kPlain, kTagDumpHeap, 0, 0, "dump heap", "", "dump heap",
     "write a heap dump; its collector need not run"},
    {Kind::kSites, Form::kSites, kTagSites, 0, 0, "sites", "[incremental] [alloc] [gc] [cutoff=F]",
     "alloc sites", "write the allocation sites"},
    {Kind::kSamples, Form::kSamples, kTagSamples, 0, 0, "samples", "[cutoff=F]", "cpu samples",
     "write the CPU samples, or the times of calls"},
    {Kind::kHeapSummary, Form::kPlain, kTagHeapSummary, 0, 0, "summary", "", "heap summary",
     "write the size of the heap"},
    {Kind::kDumpTraces, Form::kPlain, kTagDumpTraces, 0, 0, "traces", "", "dump traces",
     "write all traces that the output does not have yet"},
    {Kind::kForceGc, Form::kPlain, kTagForceGc, 0, 0, "gc", "", "force gc", "force a garbage collection"},
    {Kind::kAllocTraces, Form::kPlain, kTagControl, kControlAllocOn, 1, "alloc on", "",
     "alloc traces on or off", "record allocation sites; starts their collector"},
    {Kind::kAllocTraces, Form::kPlain, kTagControl, kControlAllocOff, 0, "alloc off", "",
     "alloc traces on or off", "stop recording allocation sites"},
    {Kind::kCpuSampling, Form::kThread, kTagControl, kControlCpuOn, 1, "cpu on", "[thread=ID]",
     "cpu sampling on or off", "sample all threads, or that one; starts the collector"},
    {Kind::kCpuSampling, Form::kThread, kTagControl, kControlCpuOff, 0, "cpu off", "[thread=ID]",
     "cpu sampling on or off", "stop sampling all threads, or that one"},
    {Kind::kClearCpu, Form::kPlain, kTagControl, kControlClearCpu, 0, "clear cpu", "", "clear cpu samples",
     "discard the CPU samples"},
    {Kind::kClearSites, Form::kPlain, kTagControl, kControlClearSites, 0, "clear sites", "",
     "clear alloc sites", "discard the allocation sites"},
    {Kind::kDepth, Form::kDepth, kTagControl, kControlDepth, 0, "depth", "N", "depth",
     "keep this many frames of a stack, up to 2048"},
    {Kind::kDetach, Form::kDetach, kTagNone, 0, 0, "detach", "[nodump]", "detach",
     "write the report that is due, unless nodump, and release everything"},
    {Kind::kExit, Form::kPlain, kTagExit, 0, 0, "exit", "", "exit",
     "end the VM; needs the option allow=exit"},
    {Kind::kEof, Form::kPlain, kTagEof, 0, 0, "eof", "", "eof", "end the connection; the program continues"},
    {Kind::kHelp, Form::kPlain, kTagNone, 0, 0, "help", "", "help", "this list"},
};

const CommandRow* find_command(uint8_t tag, uint32_t option) {
  for (const CommandRow& row : kCommands) {
    if (row.tag == tag && tag != kTagNone && (tag != kTagControl || row.option == option)) return &row;
  }
  return nullptr;
}

const char* command_name(CommandKind kind) {
  for (const CommandRow& row : kCommands) {
    if (row.kind == kind) return row.name;
  }
  return "?";
}

void put_usage(const CommandRow& row, TextWriter* out) {
  out->put(row.words);
  if (row.parameters[0] != '\0') out->put(' ').put(row.parameters);
}

void put_command_help(TextWriter* out) {
  for (const CommandRow& row : kCommands) {
    const size_t begin = out->size();
    put_usage(row, out);
    do {
      out->put(' ');
    } while (out->size() - begin < kHelpColumn && !out->cut());
    out->put(row.help).put('\n');
  }
}

}  // namespace hprof
