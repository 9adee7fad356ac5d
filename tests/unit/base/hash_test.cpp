// Hashes: every bit counts.
#include "core/base/hash.h"

#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace hprof;

TEST_CASE("texts that differ in one bit or in length have different hashes") {
  for (size_t size : {1, 7, 8, 9, 31, 64, 100}) {
    std::string text(size, 'a');
    std::set<uint64_t> hashes{hash_bytes(text.data(), text.size())};
    for (size_t bit = 0; bit < size * 8; ++bit) {
      std::string other = text;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
      hashes.insert(hash_bytes(other.data(), other.size()));
    }
    for (size_t shorter = 0; shorter < size; ++shorter) hashes.insert(hash_bytes(text.data(), shorter));
    CHECK(hashes.size() == 1 + size * 9);
  }
}

TEST_CASE("zeros of different length have different hashes") {
  const char zeros[64] = {};
  std::set<uint64_t> hashes;
  for (size_t size = 0; size <= sizeof zeros; ++size) hashes.insert(hash_bytes(zeros, size));
  CHECK(hashes.size() == sizeof zeros + 1);
}

TEST_CASE("the bits of hashes of neighbours are spread evenly") {
  // Of 65536 small numbers each of 1024 values of the top bits gets 64 on average; 8 standard deviations are
  // 64.
  uint32_t top[1024] = {};
  uint32_t low[1024] = {};
  for (uint64_t i = 0; i < 65536; ++i) {
    const uint64_t hash = hash_bytes(&i, sizeof i);
    ++top[hash >> 54];
    ++low[hash & 1023];
  }
  for (int i = 0; i < 1024; ++i) {
    REQUIRE(top[i] < 128);
    REQUIRE(low[i] < 128);
  }
}

TEST_CASE("a pair's hash depends on the order") {
  CHECK(hash_pair(1, 2) != hash_pair(2, 1));
  CHECK(hash_pair(0, 0) != 0);
}
