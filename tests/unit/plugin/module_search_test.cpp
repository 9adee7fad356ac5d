#include "core/plugin/module_search.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/support/fake_modules.h"

using namespace hprof;

namespace {
std::string found_in(const ModuleSearch& search, const char* module) {
  char path[kPathMost];
  return search.find(module, path) ? path : "(none)";
}
}  // namespace

TEST_CASE("the folders are searched in their order") {
  fake::Folders folders;
  ModuleSearch search = fake::search(&folders);
  search.plugin_folders = "/opt/a:/opt/b";
  CHECK(found_in(search, "x") == "(none)");
  folders.add("/opt/b/x.so", fake::open_monitor);
  CHECK(found_in(search, "x") == "/opt/b/x.so");
  folders.add("/opt/a/x.so", fake::open_monitor);
  CHECK(found_in(search, "x") == "/opt/a/x.so");
  folders.add("/jdk/lib/x.so", fake::open_monitor);
  CHECK(found_in(search, "x") == "/jdk/lib/x.so");
  folders.add("/jdk/lib/hprof/plugins/x.so", fake::open_monitor);
  CHECK(found_in(search, "x") == "/jdk/lib/hprof/plugins/x.so");
}

TEST_CASE("empty folders of plugins= are left out, so that the current one is never meant by accident") {
  fake::Folders folders;
  ModuleSearch search = fake::search(&folders);
  search.agent_folder = "";
  search.plugin_folders = "::/opt/a:";
  char text[256];
  TextWriter out(text, sizeof(text));
  search.put_folders(&out);
  CHECK(std::string(text) == "/opt/a");
}

TEST_CASE("a folder that is too long for a path is left out") {
  fake::Folders folders;
  ModuleSearch search = fake::search(&folders);
  const std::string plugins = std::string(5000, 'd') + ":/opt/a";
  search.plugin_folders = Str(plugins.data(), plugins.size());
  folders.add("/opt/a/x.so", fake::open_monitor);
  CHECK(found_in(search, "x") == "/opt/a/x.so");
}

TEST_CASE("modules are listed by name, once, and no other library of the agent's folder") {
  fake::Folders folders;
  for (const char* path :
       {"/jdk/lib/hprof/plugins/b.so", "/jdk/lib/hprof/plugins/a.so", "/jdk/lib/hprof/plugins/ab.so",
        "/opt/a/a.so", "/opt/a/c.so", "/opt/a/libother.so", "/opt/a/readme.txt", "/opt/a/.so",
        "/opt/a/we-ird.so", "/opt/a/d.so.bak", "/jdk/lib/awt.so"}) {
    folders.add(path, fake::open_monitor);
  }
  ModuleSearch search = fake::search(&folders);
  search.plugin_folders = "/opt/a";
  auto found = std::make_unique<FoundModules>();
  list_modules(search, found.get());
  std::vector<std::string> names(found->names, found->names + found->count);
  CHECK(names == std::vector<std::string>{"a", "ab", "b", "c"});
}

TEST_CASE("more modules than the table holds are counted") {
  fake::Folders folders;
  for (int i = 0; i < 70; ++i) folders.add("/opt/a/m" + std::to_string(i) + ".so", fake::open_monitor);
  ModuleSearch search = fake::search(&folders);
  search.plugin_folders = "/opt/a";
  auto found = std::make_unique<FoundModules>();
  list_modules(search, found.get());
  CHECK(found->count == kModulesMost);
  CHECK(found->left_out == 6);
}

TEST_CASE("the folder of a path") {
  CHECK(folder_of("/a/b/libhprof.so") == "/a/b");
  CHECK(folder_of("libhprof.so") == ".");
  CHECK(folder_of("/libhprof.so") == "/");
  CHECK(folder_of("C:\\jdk\\bin\\hprof.dll") == "C:\\jdk\\bin");
}
