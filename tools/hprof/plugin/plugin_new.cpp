// hprof plugin new: copies an example into a folder of another name.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/hprof/plugin/plugin_command.h"
#include "tools/hprof/plugin/templates.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

struct Kind {
  const char* name;
  const char* example;  // the smallest of the kind
  const char* title;    // of its tables, which becomes the unit's name in capitals; null: it has none
  const char* options;  // that run it; % is the unit's name
};
const Kind kKinds[] = {{"collector", "gc_pauses", "GC PAUSES", "%=y file=%.txt"},
                       {"encoder", "csv", nullptr, "cpu=samples format=% file=%.out"},
                       {"filter", "byte_count", nullptr, "cpu=samples compress=% file=%.out"},
                       {"sink", "own_file", nullptr, "cpu=samples %=%.out"}};
constexpr size_t kNameMost = 24;  // option names contain it, and have at most 32 bytes
// Names of targets that CMake or its generators define.
const char* const kReserved[] = {"all", "clean", "help", "hprof", "install", "package", "test"};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// The problem with the name, or "".
std::string complaint_on(const std::string& name) {
  const bool spelt = !name.empty() && name.size() <= kNameMost && is_lower(name[0]) &&
                     std::all_of(name.begin(), name.end(),
                                 [](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; });
  if (!spelt)
    return "NAME is a lower-case letter and up to " + std::to_string(kNameMost - 1) +
           " lower-case letters, digits and '_'";
  if (name.rfind("lib", 0) == 0) return "the agent takes no file lib* for a module";
  const bool reserved =
      std::any_of(std::begin(kReserved), std::end(kReserved), [&](const char* word) { return name == word; });
  return reserved ? "CMake has a target of that name: " + name : "";
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file.good();
}

std::string in_capitals(std::string name) {
  for (char& letter : name)
    letter = is_lower(letter) ? static_cast<char>(letter - 'a' + 'A') : letter == '_' ? ' ' : letter;
  return name;
}

// A word of a command line.
std::string shell_word(const std::string& text) {
  if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+-") ==
      std::string::npos)
    return text;
  return '\'' + replaced(text, "'", "'\\''") + '\'';
}

// Prints the commands that build, test, check and run the unit, to be typed where it was made.
void print_next(const Kind& kind, const std::string& name) {
  const std::filesystem::path program = os::program_path(), prefix = program.parent_path().parent_path();
  const bool is_installed = std::filesystem::exists(prefix / "lib/cmake/hprof/hprofConfig.cmake");
  const std::string hprof = program.empty() ? "hprof" : shell_word(program.string()), build = name + "/build";
  std::cout << "Next:\n  cmake -S " << name << " -B " << build
            << " -DCMAKE_PREFIX_PATH=" << (is_installed ? shell_word(prefix.string()) : "PREFIX")
            << "\n  cmake --build " << build << "\n  ctest --test-dir " << build << "\n  " << hprof
            << " plugin check --run " << build << '/' << name << os::kLibrarySuffix << "\n  " << hprof
            << " run plugins=" << build << ' ' << replaced(kind.options, "%", name) << " -- java -version\n";
  if (!is_installed) std::cout << "PREFIX is where hprof was installed with its headers.\n";
}

}  // namespace

int plugin_new(const Given& given) {
  const Arguments& words = given.words;
  const Kind* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& each) { return words[0] == each.name; });
  if (kind == std::end(kKinds))
    return given.misuse("new takes collector, encoder, filter or sink, and a name");
  const std::string& name = words[1];
  const std::string complaint = complaint_on(name);
  if (!complaint.empty()) return given.misuse(complaint);

  std::error_code error;
  if (!std::filesystem::create_directory(name, error))
    return fail("cannot make the folder " + name + ": " + (error ? error.message() : "it is there already"));
  for (const Template* each = kTemplates; each->path != nullptr; each++) {
    const std::string from(each->path);
    if (from.rfind(std::string(kind->example) + '/', 0) != 0) continue;
    const std::filesystem::path path = replaced(from, kind->example, name);
    std::string text = replaced(each->text, kind->example, name);
    if (kind->title != nullptr) text = replaced(text, kind->title, in_capitals(name));
    if (!write_file(path, text)) return fail("cannot write " + path.string());
    std::cout << path.string() << '\n';
  }
  print_next(*kind, name);
  return kDone;
}

}  // namespace hprof::tool
