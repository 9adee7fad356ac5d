// Libraries and symbols by address.
#include "platform/native_code.h"

#include <string>

#include "platform/library.h"
#include "tests/unit/platform/fixture.h"

using namespace hprof::platform;

TEST_CASE("a library and its functions are found by an address") {
  const uint64_t before = library_changes();
  Library library;
  char reason[512];
  REQUIRE(library_open(HPROF_TEST_LIBRARY, &library, reason, sizeof reason) == 0);
  const auto address =
      static_cast<uint64_t>(reinterpret_cast<uintptr_t>(library_symbol(library, "hprof_test_loadable")));
  LoadedLibrary loaded;
  SymbolTable table;
#ifdef __linux__
  CHECK(library_changes() >= before);
  REQUIRE(find_library(address, &loaded, &table));
  const std::string path = HPROF_TEST_LIBRARY;
  CHECK(path.substr(path.rfind('/') + 1) == loaded.name);
  CHECK(loaded.begin <= address);
  CHECK(address < loaded.end);
  uint32_t found = 0;
  for (uint32_t i = 0; i < table.count; i++) {
    Symbol symbol = {};
    if (!symbol_at(table, i, &symbol) || std::string(symbol.name) != "hprof_test_loadable") continue;
    found++;
    CHECK(symbol.offset + loaded.base == address);
    CHECK(symbol.bytes > 0);
    CHECK(symbol.is_global);
  }
  CHECK(found == 1);
  close_symbols(&table);
  CHECK(table.count == 0);
  CHECK_FALSE(find_library(16, &loaded, &table));
#else
  CHECK(library_changes() == before);
  CHECK_FALSE(find_library(address, &loaded, &table));
#endif
}
