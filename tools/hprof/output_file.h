// -o FILE and --force, the same in all commands: the suffix says the format, and a file that is there is kept
// unless --force is given.
#pragma once

#include <string>

#include "tools/hprof/command.h"

namespace hprof::tool {

constexpr OptionRow kForceOption = {"--force", nullptr, "replace an existing file"};

// True: the name ends so, and there is something before it.
bool has_suffix(const std::string& path, const std::string& suffix);
// "app.pb" of "app.pb.gz".
std::string without_gz(const std::string& path);
// The end of a file name that names a format: ".txt", ".svg", ".pb" of "app.pb.gz"; "": none, as in "app" and
// "app-1.2".
std::string suffix_of_name(const std::string& path);
// "a.txt" with 2: "a.2.txt", if the suffix is ".txt"; other names get the number at their end, as in the
// agent.
std::string numbered(const std::string& name, const std::string& suffix, unsigned number);

// True: a regular file that can be read.
bool is_file(const std::string& path);

enum class Taken {
  kFiles,     // regular files are kept; devices and pipes are written to
  kAnything,  // anything of that name is kept
};
// *path: the file to write, which is `wanted` or, if one of that name is kept, the name with the next free
// number before the suffix. "-" and "" stay. False with *error: a folder, or no name is free.
bool choose_file(const std::string& wanted, const std::string& suffix, bool force, Taken taken,
                 std::string* path, std::string* error);
// Prints on stderr that `wanted` is kept, if another file was chosen.
void say_kept(const std::string& wanted, const std::string& path);

// Creates the file that choose_file() chooses for `wanted`, which only this user can read. *path: what was
// chosen. Returns its handle; -1: a message has said why not.
int create_output(const Given& given, std::string wanted, const std::string& suffix, std::string* path);
// The same, and writes it. Returns an ExitStatus.
int write_output(const Given& given, const std::string& wanted, const std::string& suffix,
                 const std::string& bytes, std::string* path);

}  // namespace hprof::tool
