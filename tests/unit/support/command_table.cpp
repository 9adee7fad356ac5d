// Prints the commands of core/control as Markdown, for the manual: `text` as lines of the control socket,
// `binary` as net= takes them, `typed` as hprof listen does.
#include "core/control/command_table.h"

#include <cstdio>
#include <cstring>
#include <string>

using namespace hprof;

namespace {

std::string usage(const CommandRow& row) {
  char text[100];
  TextWriter out(text, sizeof(text));
  put_usage(row, &out);
  return text;
}

// What the body holds, after the u2 of a control option.
std::string body(CommandForm form) {
  switch (form) {
    case CommandForm::kSites:
      return "u2 flags (0x1 incremental, 0x2 by allocation, 0x4 force GC first), f4 cutoff; or none";
    case CommandForm::kSamples:
      return "u2 ignored, f4 cutoff; or none";
    case CommandForm::kThread:
      return "a thread object's id of 4 or 8 bytes, or none; 0 or none is all threads";
    case CommandForm::kDepth:
      return "u2 frames";
    case CommandForm::kPlain:
    case CommandForm::kDetach:
      break;
  }
  return "";
}

std::string number(unsigned value) {
  char text[20];
  snprintf(text, sizeof(text), "0x%02x", value);
  return text;
}

void print_text() {
  puts("| command | what it does |\n| --- | --- |");
  for (const CommandRow& row : kCommands) printf("| `%s` | %s |\n", usage(row).c_str(), row.help);
}

void print_binary() {
  puts("| tag | command | body |\n| --- | --- | --- |");
  for (const CommandRow& row : kCommands) {
    if (row.tag == kTagNone || row.tag == kTagControl) continue;
    printf("| %s | %s | %s |\n", number(row.tag).c_str(), row.name, body(row.form).c_str());
  }
  printf("| %s | control | u2 option, and what follows it: |\n", number(kTagControl).c_str());
  for (const CommandRow& row : kCommands) {
    if (row.tag != kTagControl) continue;
    const std::string rest = body(row.form);
    printf("| | | %u: %s%s%s%s |\n", row.option, row.words, rest.empty() ? "" : "; ", rest.c_str(),
           row.option == kControlClearSites ? "; with u2: depth, as the manual has it" : "");
  }
}

void print_typed() {
  puts("| typed | on the wire | |\n| --- | --- | --- |");
  for (const CommandRow& row : kCommands) {
    if (row.tag == kTagNone) continue;
    const std::string option = row.tag == kTagControl ? " " + std::to_string(row.option) : "";
    printf("| `%s` | %s%s | %s |\n", usage(row).c_str(), number(row.tag).c_str(), option.c_str(), row.help);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string which = count == 2 ? arguments[1] : "";
  if (which == "text") {
    print_text();
  } else if (which == "binary") {
    print_binary();
  } else if (which == "typed") {
    print_typed();
  } else {
    fputs("hprof_command_table text|binary|typed\n", stderr);
    return 2;
  }
  return 0;
}
