// hprof view FILE: shows a profile as an HTML page.
#include <fstream>
#include <iostream>

#include "tools/hprof/command.h"
#include "tools/hprof/view/page.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

bool has_common_table(const Profile& one, const Profile& other) {
  for (const ProfileTable& table : one.tables)
    for (const ProfileTable& candidate : other.tables)
      if (table.name == candidate.name) return true;
  return false;
}

// A host without a desktop is not an error: the page has been written.
void open_page(const std::string& page) {
  std::string error;
  os::bound_memory(0);  // what is started here inherits it
  const std::string path = os::absolute_path(page, &error);
  if (!path.empty() && os::open_on_desktop(path, &error)) return;
  std::cerr << "hprof: not opened: " << error << "; open " << (path.empty() ? page : path)
            << " in a browser\n";
}

}  // namespace

int view_command(const Arguments& arguments) {
  std::vector<std::string> files;
  std::string target;
  bool compare = false, open = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-o") {
      if (++i == arguments.size()) return misuse("view", "-o needs a file");
      target = arguments[i];
    } else if (argument == "--diff") {
      compare = true;
    } else if (argument == "--open") {
      open = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return misuse("view", "unknown option " + argument);
    } else {
      files.push_back(argument);
    }
  }
  if (files.empty()) return misuse("view", "which FILE?");
  if (files.size() != (compare ? 2u : 1u))
    return misuse("view", compare ? "--diff compares two files" : "one FILE, or two with --diff");
  std::vector<Profile> profiles(files.size());
  std::string error;
  for (size_t i = 0; i < files.size(); ++i) {
    if (!read_profile(files[i], &profiles[i], &error)) {
      std::cerr << "hprof: " << error << '\n';
      return kFoundProblems;
    }
  }
  if (compare && !has_common_table(profiles[0], profiles[1]))
    return fail("the two files have no table of the same kind");
  if (target.empty()) target = files.back() + ".html";
  const int file = os::create_private_file(target, true, &error);
  if (file < 0) return fail(error);
  os::close_file(file);
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  write_page(profiles, out);
  out.close();
  if (!out) return fail("cannot write " + target);
  std::cout << target << '\n';
  if (open) open_page(target);
  return kDone;
}

}  // namespace hprof::tool
