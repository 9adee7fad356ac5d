// Paths in another process's file system, whose links would lead elsewhere here.
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/os/linux/proc.h"
#include "tools/os/linux/root.h"

using namespace hprof::os;

namespace {

// <top>/root is the root directory of the process, <top>/outside is beyond it.
struct Target {
  Target() {
    char name[] = "/tmp/hprof-root-XXXXXX";
    top = mkdtemp(name);
    for (const char* folder : {"/root", "/root/tmp", "/outside"}) mkdir((top + folder).c_str(), 0700);
    put("/root/tmp/inside", "inside");
    put("/outside/secret", "outside");
    root = Descriptor(open((top + "/root").c_str(), O_PATH | O_DIRECTORY));
  }
  ~Target() { CHECK(system(("rm -r " + top).c_str()) == 0); }

  void put(const std::string& path, const std::string& text) { std::ofstream(top + path) << text; }
  void link(const std::string& to, const std::string& path) {
    REQUIRE(symlink(to.c_str(), (top + path).c_str()) == 0);
  }
  std::string read(const std::string& path) {
    const Descriptor file = open_inside(root.number(), path);
    return file.is_open() ? small_file(file.path()) : "none";
  }

  std::string top;
  Descriptor root;
};

}  // namespace

TEST_CASE("links of another process's file system stay in it") {
  Target target;
  CHECK(target.read("/tmp/inside") == "inside");
  target.link("/tmp", "/root/absolute");
  CHECK(target.read("/absolute/inside") == "inside");
  target.link("../../../../tmp/inside", "/root/tmp/up");
  CHECK(target.read("/tmp/up") == "inside");
  CHECK(target.read("/../../outside/secret") == "none");
  target.link("../../outside", "/root/tmp/relative");
  target.link(target.top + "/outside", "/root/tmp/out");
  CHECK(target.read("/tmp/relative/secret") == "none");
  CHECK(target.read("/tmp/out/secret") == "none");
  target.link("loop", "/root/loop");
  CHECK(target.read("/loop") == "none");
}

TEST_CASE("only regular files of another process are read, and none is waited for") {
  Target target;
  REQUIRE(mkfifo((target.top + "/root/pipe").c_str(), 0600) == 0);
  CHECK(target.read("/pipe") == "none");
  CHECK(target.read("/tmp") == "none");
  CHECK(find_inside(target.root.number(), "/tmp").is_open());
  CHECK_FALSE(find_inside(target.root.number(), "/tmp/inside/x").is_open());
}

TEST_CASE("a VM's options are those before its program and those of its environment") {
  Target target;
  const std::string zero(1, '\0');
  target.put("/root/cmdline", "java" + zero + "-cp" + zero + "a:b" + zero + "-XX:+One" + zero + "-jar" +
                                  zero + "/x/app.jar" + zero + "-XX:+Two" + zero);
  target.put("/root/environ",
             "HOME=/" + zero + "JAVA_TOOL_OPTIONS=-XX:+Three  -Da=b" + zero + "_JAVA_OPTIONS=-Xrs");
  const CommandLine line = command_line(target.top + "/root");
  CHECK(line.program == "/x/app.jar");
  CHECK(line.options ==
        std::vector<std::string>{"-XX:+Three", "-Da=b", "-cp", "a:b", "-XX:+One", "-jar", "-Xrs"});
}

TEST_CASE("the argument of an option with two words is not the program") {
  Target target;
  for (const std::string option :
       {"--add-opens", "--add-exports", "--patch-module", "--enable-native-access"}) {
    const std::string zero(1, '\0'), argument = "java.base/java.lang=ALL-UNNAMED";
    target.put("/root/cmdline", "java" + zero + option + zero + argument + zero + "-XX:+One" + zero + "Main" +
                                    zero + "-XX:+Two" + zero);
    const CommandLine line = command_line(target.top + "/root");
    CHECK(line.program == "Main");
    CHECK(line.options == std::vector<std::string>{option, argument, "-XX:+One"});
  }
}
