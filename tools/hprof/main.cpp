// bin/hprof: runs and attaches the agent, talks to it, and checks, prints and analyses its files.
#include "tools/hprof/command.h"
#include "tools/hprof/terminal.h"

int main(int count, char** values) {
  const hprof::tool::PrintableStreams streams;
  return hprof::tool::run_command_line(hprof::tool::Arguments(values + 1, values + count));
}
