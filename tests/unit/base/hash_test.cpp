// Hashes: every bit counts.
#include "core/base/hash.h"

#include <doctest/doctest.h>
#include <set>
#include <string>

#include "core/base/sha256.h"

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

// SHA-256 against the examples of FIPS 180-4, HMAC against RFC 4231.
namespace {

std::string hex(const uint8_t* bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

std::string sha(const std::string& message, size_t piece = SIZE_MAX) {
  Sha256 hash;
  for (size_t at = 0; at < message.size(); at += piece < message.size() ? piece : message.size()) {
    size_t left = message.size() - at;
    hash.update(message.data() + at, left < piece ? left : piece);
  }
  uint8_t digest[kSha256Size];
  hash.finish(digest);
  return hex(digest, sizeof digest);
}

std::string hmac(const std::string& key, const std::string& message) {
  uint8_t digest[kSha256Size];
  hmac_sha256(key.data(), key.size(), message.data(), message.size(), digest);
  return hex(digest, sizeof digest);
}

}  // namespace

TEST_CASE("SHA-256 of the FIPS messages") {
  CHECK(sha("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
            "mnopqrst"
            "nopqrstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(sha(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("the pieces of a message do not matter") {
  for (size_t size = 0; size < 200; ++size) {
    std::string message(size, 'x');
    CHECK(sha(message, 1) == sha(message));
    CHECK(sha(message, 63) == sha(message));
  }
}

TEST_CASE("HMAC-SHA-256 of RFC 4231") {
  CHECK(hmac(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string key;
  for (char c = 1; c <= 25; ++c) key += c;
  CHECK(hmac(key, std::string(50, '\xcd')) ==
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(hmac(std::string(131, '\xaa'),
             "This is a test using a larger than block-size key and a larger than block-size data. The key "
             "needs to be "
             "hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("comparison looks at every byte") {
  CHECK(equal_in_constant_time("abc", "abc", 3));
  CHECK(equal_in_constant_time("", "", 0));
  CHECK_FALSE(equal_in_constant_time("abc", "abd", 3));
  CHECK_FALSE(equal_in_constant_time("xbc", "abc", 3));
}
