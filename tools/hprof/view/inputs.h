// The files of a command line, read as one profile, and the options that choose windows of it.
#pragma once

#include <string>

#include "tools/hprof/command.h"
#include "tools/hprof/view/windows.h"

namespace hprof::tool {

constexpr OptionRow kWindowOption = {"--window",         "N", "take one window of every=, by its number",
                                     ValueKind::kNumber, 1,   UINT32_MAX};
constexpr OptionRow kFromOption = {
    "--from", "TIME", "take windows, or events of a recording, from this time of day on: 12:03:10"};
constexpr OptionRow kToOption = {"--to", "TIME", "take them until this time of day"};

enum class Which { kFirst, kLast };
// What --window, --from and --to say, of several values the first or last ones. format: where a value of --to
// goes that is no time of day. False: there is such a value, as a message has said.
bool read_choice(const Given& given, WindowChoice* choice, Which which = Which::kLast,
                 std::string* format = nullptr);

// What the name of an output begins with: the first word.
std::string output_base(const Arguments& words);

// What a command can use: tables with stacks; tables with rows; also the title of a table alone.
enum class Usable { kStacks, kRows, kTitles };
// Reads the files as if they were one, and adds up its windows and processes. Of several files the traces get
// new numbers; what is no profile in a folder is left out, as a message says. False with *error: one cannot
// be read, or there is nothing usable.
bool read_inputs(const Arguments& words, const WindowChoice& choice, Usable usable, Profile* profile,
                 std::string* error);

}  // namespace hprof::tool
