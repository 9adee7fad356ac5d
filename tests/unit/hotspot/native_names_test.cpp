#include "core/modules/hotspot/native_names.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <string>

using namespace hprof;

static const Memory kMemory = {nullptr, [](void*, size_t size) { return std::malloc(size); },
                               [](void*, void* block, size_t) { std::free(block); }};
static const Memory kNoMemory = {nullptr, [](void*, size_t) -> void* { return nullptr; },
                                 [](void*, void*, size_t) {}};

static std::string written(const char* symbol) {
  char room[64];
  TextWriter to(room, sizeof room);
  NativeNames::write_symbol(symbol, to);
  return room;
}

TEST_CASE("functions of C++ are written as in the source, where their form is a simple one") {
  CHECK(written("deflate") == "deflate");
  CHECK(written("memcpy@@GLIBC_2.14") == "memcpy");
  CHECK(written("_ZN5Parse12do_one_blockEv") == "Parse::do_one_block");
  CHECK(written("_ZNK5frame6senderEP11RegisterMap") == "frame::sender");
  CHECK(written("_ZN5ArenaC2E8MEMFLAGS") == "Arena::Arena");
  CHECK(written("_ZN5ArenaD0Ev") == "Arena::~Arena");
  CHECK(written("_ZL6helperi") == "helper");
  CHECK(written("_Z5startv") == "start");
  CHECK(written("_ZN12_GLOBAL__N_14workEv.cold") == "{anonymous}::work");
  // Those with templates, operators and abbreviations stay as they are, and so does what is cut.
  for (const char* symbol : {"_ZN5StackIiE4pushEi", "_ZN4NodenwEm", "_ZNSt6vectorIiE3endEv", "_ZN7Par",
                             "_ZN99xE", "_ZN", "_Z", "_ZNC1E", "", "_Z4swapIiEvT_S0_"})
    CHECK(written(symbol) == symbol);
}

#ifdef __linux__
TEST_CASE("a function of this program is found by each of its addresses") {
  const auto pc = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(&NativeNames::write_symbol));
  NativeNames names;
  hprof_native_name name = {};
  for (uint64_t at : {pc, pc + 4}) {
    names.find(kMemory, at, &name);
    CHECK(std::string(name.owner).find("test_hotspot") == 0);
    CHECK(std::string(name.symbol) == "hprof::NativeNames::write_symbol");
  }
  // Data of the program, which no function holds, and an address that no library has.
  names.find(kMemory, reinterpret_cast<uintptr_t>(&kMemory), &name);
  CHECK(std::string(name.owner).find("test_hotspot") == 0);
  CHECK(std::string(name.symbol).empty());
  names.find(kMemory, 16, &name);
  CHECK(std::string(name.owner).empty());
  names.close(kMemory);
}

TEST_CASE("without memory for its functions a library has a name all the same") {
  NativeNames names;
  hprof_native_name name = {};
  names.find(kNoMemory, reinterpret_cast<uintptr_t>(&NativeNames::write_symbol), &name);
  CHECK(std::string(name.owner).find("test_hotspot") == 0);
  CHECK(std::string(name.symbol).empty());
  names.close(kNoMemory);
}
#endif
