// Shared libraries and symbols.
#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

TEST_CASE("a library is loaded by path with its symbols to itself") {
  Library library;
  char reason[512];
  REQUIRE(library_open(HPROF_TEST_LIBRARY, &library, reason, sizeof reason) == 0);
  CHECK(reason[0] == 0);
  void* symbol = library_symbol(library, "hprof_test_loadable");
  REQUIRE(symbol != nullptr);
  CHECK(reinterpret_cast<int (*)()>(symbol)() == 42);
  CHECK(library_symbol(library, "no_such_symbol") == nullptr);
  CHECK(symbol_in_process("hprof_test_loadable") == nullptr);
  CHECK(symbol_in_library_of(symbol, "hprof_test_loadable") == symbol);
  CHECK(symbol_in_library_of(symbol, "no_such_symbol") == nullptr);
}

TEST_CASE("a library that cannot be loaded gives the loader's words") {
  TemporaryFolder folder;
  Library library;
  char reason[512] = "";
  CHECK(library_open(folder.in("absent.so").c_str(), &library, reason, sizeof reason) != 0);
  CHECK(std::string(reason).find("absent.so") != std::string::npos);
  CHECK(library.handle == nullptr);
  CHECK(library_symbol(library, "anything") == nullptr);
  put_file(folder.in("text.so"), "not a library");
  CHECK(library_open(folder.in("text.so").c_str(), &library, reason, sizeof reason) != 0);
  char small[5];
  CHECK(library_open(folder.in("text.so").c_str(), &library, small, sizeof small) != 0);
  CHECK(std::string(small).size() == 4);
}

TEST_CASE("a library that was copied in part is refused, whatever its length is") {
  TemporaryFolder folder;
  Library library;
  char reason[512] = "";
  const std::string part = folder.in("part.so");
  for (uint64_t size = std::filesystem::file_size(HPROF_TEST_LIBRARY) / 8 * 4; size > 64; size /= 2) {
    std::filesystem::copy_file(HPROF_TEST_LIBRARY, part, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(part, size);
    CAPTURE(size);
    CHECK(library_open(part.c_str(), &library, reason, sizeof reason) != 0);
    CHECK(library.handle == nullptr);
  }
}

TEST_CASE("the path of a library is found from an address in it, with links resolved") {
  TemporaryFolder folder;
  const std::string link = folder.in("linked.so");
  std::filesystem::create_symlink(HPROF_TEST_LIBRARY, link);
  Library library;
  char text[4096];
  REQUIRE(library_open(link.c_str(), &library, text, sizeof text) == 0);
  void* symbol = library_symbol(library, "hprof_test_loadable");
  const size_t length = library_path_of(symbol, text, sizeof text);
  CHECK(std::string(text, length) == std::filesystem::canonical(HPROF_TEST_LIBRARY).string());
  CHECK(library_path_of(symbol, text, 4) == 0);
  CHECK(text[0] == 0);
  int on_stack = 0;
  CHECK(library_path_of(&on_stack, text, sizeof text) == 0);
  CHECK(symbol_in_library_of(&on_stack, "malloc") == nullptr);
}

TEST_CASE("another library that exports the same symbol is found") {
  TemporaryFolder folder;
  const auto any = [](const void*) { return true; };
  Library library, copy;
  char text[4096];
  REQUIRE(library_open(HPROF_TEST_LIBRARY, &library, text, sizeof text) == 0);
  void* symbol = library_symbol(library, "hprof_test_loadable");
  CHECK_FALSE(any_other("hprof_test_loadable", symbol, any));
  CHECK(any_other("hprof_test_loadable", nullptr, any));
  CHECK_FALSE(any_other("no_such_symbol", nullptr, any));
  CHECK_FALSE(any_other("hprof_test_loadable", nullptr, [](const void*) { return false; }));
  std::filesystem::copy(HPROF_TEST_LIBRARY, folder.in("copy.so"));
  REQUIRE(library_open(folder.in("copy.so").c_str(), &copy, text, sizeof text) == 0);
  CHECK(any_other("hprof_test_loadable", symbol, any));
  CHECK(any_other("hprof_test_loadable", library_symbol(copy, "hprof_test_loadable"), any));
}

TEST_CASE("symbols of the whole process are found") { CHECK(symbol_in_process("malloc") != nullptr); }
