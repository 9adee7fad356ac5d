// hprof plugin new: makes a folder with a simple unit.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tools/hprof/plugin/plugin_command.h"
#include "tools/hprof/plugin/templates.h"

namespace hprof::tool {

namespace {

const char* const kKinds[] = {"collector", "encoder", "filter", "sink"};
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

// "HeatMap" for "heat_map".
std::string camel_case(const std::string& name) {
  std::string text;
  bool upper = true;
  for (char c : name) {
    if (c != '_') text += upper && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return text;
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (is_lower(c)) c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string with_name(const std::string& text, const std::string& name) {
  return replaced(replaced(replaced(text, "my_unit", name), "MyUnit", camel_case(name)), "MY_UNIT",
                  upper_case(name));
}

// True: the file belongs to a unit of that kind and language.
bool belongs(const std::string& folder, const std::string& file, const std::string& kind, bool cpp) {
  if (folder == (cpp ? "cpp" : "c")) return true;
  return folder == kind && file != (cpp ? "my_unit.c" : "my_unit.cpp");
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file.good();
}

}  // namespace

int plugin_new(const Given& given) {
  const Arguments& words = given.words;
  const bool cpp = given.has("--cpp");
  if (std::none_of(std::begin(kKinds), std::end(kKinds), [&](const char* kind) { return words[0] == kind; }))
    return given.misuse("new takes collector, encoder, filter or sink, and a name");
  const std::string& name = words[1];
  const std::string complaint = complaint_on(name);
  if (!complaint.empty()) return given.misuse(complaint);

  std::error_code error;
  if (!std::filesystem::create_directory(name, error))
    return fail("cannot make the folder " + name + ": " + (error ? error.message() : "it is there already"));
  for (const Template* each = kTemplates; each->path != nullptr; each++) {
    const char* slash = std::strchr(each->path, '/');
    const std::string file = slash + 1;
    if (!belongs(std::string(each->path, slash), file, words[0], cpp)) continue;
    const std::filesystem::path path = std::filesystem::path(name) / with_name(file, name);
    if (!write_file(path, with_name(each->text, name))) return fail("cannot write " + path.string());
    std::cout << path.string() << '\n';
  }
  return kDone;
}

}  // namespace hprof::tool
