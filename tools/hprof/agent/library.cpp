#include "tools/hprof/agent/library.h"

#include <algorithm>

#include "core/base/sha256.h"
#include "core/protocol/challenge.h"
#include "tools/format/elf_file.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr char kPlugins[] = "/hprof/plugins";

bool is_module(const std::string& name) {
  const std::string suffix = os::kLibrarySuffix;
  return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool read_all(const std::string& path, std::string* content, std::string* error) {
  const int file = os::open_for_reading(path, error);
  if (file < 0) return false;
  std::string buffer(1 << 16, '\0');
  long got;
  while ((got = os::read_some(file, &buffer[0], buffer.size(), error)) > 0)
    content->append(buffer, 0, static_cast<size_t>(got));
  os::close_file(file);
  return got == 0;
}

}  // namespace

// A VM that is told to load any other file warns on the program's stderr. Only where libraries are ELF.
static bool is_agent(const std::string& path, std::string* error) {
  if (std::string(os::kLibrarySuffix) != ".so") return true;
  std::string content;
  if (!read_all(path, &content, error)) return false;
  ElfFile file(content);
  const std::vector<std::string> exported = file.exported();
  if (file.ok() && std::binary_search(exported.begin(), exported.end(), "Agent_OnAttach")) return true;
  *error = path + " is no agent: it has no Agent_OnAttach";
  return false;
}

std::string agent_library(const std::string& given, std::string* error) {
  if (!given.empty()) {
    const std::string path = os::absolute_path(given, error);
    return !path.empty() && is_agent(path, error) ? path : std::string();
  }
  std::string program = os::program_path();
  size_t bin = program.rfind('/');
  size_t top = bin == std::string::npos || bin == 0 ? std::string::npos : program.rfind('/', bin - 1);
  const std::string name = std::string("/") + os::kAgentName;
  const std::string advice = std::string("; use --agent=<path of ") + os::kAgentName + ">";
  if (top == std::string::npos) {
    *error = "cannot tell where this program is" + advice;
    return {};
  }
  // The installed place first, then that of a build.
  std::string installed = program.substr(0, top) + "/" HPROF_INSTALL_LIB + name;
  if (os::file_exists(installed)) return installed;
  std::string library = program.substr(0, top) + "/lib" + name;
  if (os::file_exists(library)) return library;
  *error = library + " is not there" + advice;
  return {};
}

bool read_agent(const std::string& library, std::vector<os::FileCopy>* files, std::string* error) {
  const size_t slash = library.rfind('/');
  const std::string folder = library.substr(0, slash);
  std::vector<std::string> names = {library.substr(slash + 1)};
  for (const std::string& name : os::names_in_folder(folder + kPlugins)) {
    if (is_module(name)) names.push_back(std::string(kPlugins).substr(1) + "/" + name);
  }
  std::sort(names.begin() + 1, names.end());
  for (const std::string& name : names) {
    os::FileCopy copy = {name, {}};
    if (!read_all(folder + "/" + name, &copy.content, error)) return false;
    files->push_back(std::move(copy));
  }
  return true;
}

std::string identity_of(const std::vector<os::FileCopy>& files) {
  Sha256 hash;
  for (const os::FileCopy& file : files) {
    const std::string head = file.name + '\n' + std::to_string(file.content.size()) + '\n';
    hash.update(head.data(), head.size());
    hash.update(file.content.data(), file.content.size());
  }
  uint8_t digest[kSha256Size];
  hash.finish(digest);
  char text[16 + 1];
  TextWriter out(text, sizeof text);
  put_hex(digest, 8, &out);
  return text;
}

}  // namespace hprof::tool
