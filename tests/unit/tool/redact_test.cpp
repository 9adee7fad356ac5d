// hprof heap redact: a copy of a dump without its text.
#include <iterator>

#include "tests/unit/support/hprof_builder.h"
#include "tests/unit/tool/command_support.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A dump with text in arrays of char and byte, and the same text in one of int and in a name.
std::string dump() {
  DumpRecipe recipe;
  recipe.definitions = [](HprofBuilder& b) { b.string(0x99, "secret name"); };
  recipe.in_segment = [](HprofBuilder& b) {
    b.u1(0x23).id(0x3000).u4(1).u4(12).u1(8).raw("secret bytes");
    b.u1(0x23).id(0x3010).u4(1).u4(6).u1(5).raw("secret chars");
    b.u1(0x23).id(0x3020).u4(1).u4(3).u1(10).raw("ints of four");
  };
  return recipe.build();
}

}  // namespace

TEST_CASE("heap redact zeroes arrays of char and byte, and keeps all else") {
  Files files;
  const std::string bytes = dump(), path = files.put("app.hprof", bytes);
  const std::string target = files.folder + "/app.redacted.hprof";
  CHECK(said({"heap", "redact", path}) == target + "\n");
  std::string wanted = bytes;
  for (const char* text : {"secret bytes", "secret chars"}) wanted.replace(wanted.find(text), 12, 12, '\0');
  CHECK(text_of_file(target) == wanted);
  CHECK(text_of_file(path) == bytes);
  // A copy that is there is kept.
  CHECK(said({"heap", "redact", path}) == files.folder + "/app.redacted.2.hprof\n");
  const std::string other = files.folder + "/b.hprof";
  CHECK(said({"heap", "redact", path, "-o", other}) == other + "\n");
}

TEST_CASE("heap redact: of a dump cut anywhere no text is left") {
  Files files;
  const std::string bytes = dump();
  const size_t begin = bytes.find("secret bytes"), end = bytes.find("secret chars") + 12;
  for (size_t size = begin - 4; size <= end; ++size) {
    const std::string path = files.put("cut.hprof", bytes.substr(0, size)),
                      target = files.folder + "/cut.copy.hprof";
    CHECK(has(complained({"heap", "redact", path, "--force", "-o", target}),
              "ends before the dump does: byte "));
    const std::string copy = text_of_file(target);
    CHECK(copy.find("secret b") == std::string::npos);
    CHECK(copy.find("secret c") == std::string::npos);
    CHECK(copy.size() <= size);
  }
  CHECK(has(complained({"heap", "redact", files.put("a.txt", "no dump")}), "a.txt: "));
  std::ifstream none(files.folder + "/a.txt.redacted.hprof");
  CHECK_FALSE(none.good());
}

TEST_CASE("heap: a word that is no command is named") {
  CHECK(has(complained({"heap", "anonymize", "app.hprof"}), "'anonymize' is no command, which are: "));
}
