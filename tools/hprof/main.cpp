// bin/hprof: runs and attaches the agent, talks to it, and checks, prints and analyses its files.
#include "tools/hprof/command.h"
#include "tools/hprof/terminal.h"

int main(int count, char** values) {
  using namespace hprof::tool;
  const PrintableStreams streams;
  const int status = run_command_line(Arguments(values + 1, values + count));
  const bool is_told = status == kFailed;
  return PrintableStreams::flush() || is_told ? status : fail("cannot write to stdout");
}
