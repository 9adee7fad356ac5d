// Who gets in.
#include "core/control/challenge.h"

#include <doctest/doctest.h>
#include <string>

using namespace hprof;

namespace {

std::string hex(const uint8_t* bytes, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; i++) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

}  // namespace

// RFC 4231, test case 2, and FIPS 180-4's "abc".
TEST_CASE("SHA-256 and its HMAC give the published results") {
  Sha256 hash;
  uint8_t digest[kSha256Size];
  hash.update("abc", 3);
  hash.finish(digest);
  CHECK(hex(digest, sizeof digest) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, digest);
  CHECK(hex(digest, sizeof digest) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("the answer to the greeting opens, any other does not") {
  uint8_t nonce[kNonceSize];
  for (size_t i = 0; i < kNonceSize; i++) nonce[i] = static_cast<uint8_t>(i * 7);
  char text[kGreetingSize + 1];
  TextWriter greeting(text, sizeof(text));
  put_greeting(nonce, &greeting);
  CHECK(std::string(text) == "HPROF 1 " + hex(nonce, kNonceSize) + "\n");
  uint8_t digest[kSha256Size];
  hmac_sha256("a secret of some length", 23, nonce, kNonceSize, digest);
  std::string answer = "AUTH " + hex(digest, sizeof digest);
  Str secret = "a secret of some length";
  CHECK(is_authentic(answer.c_str(), secret, nonce));
  for (size_t i = 0; i < answer.size(); i++) {
    std::string wrong = answer;
    wrong[i] = wrong[i] == '0' ? '1' : '0';
    CHECK_FALSE(is_authentic(wrong.c_str(), secret, nonce));
  }
  CHECK_FALSE(is_authentic((answer + "0").c_str(), secret, nonce));
  CHECK_FALSE(is_authentic(answer.substr(0, 10).c_str(), secret, nonce));
  CHECK_FALSE(is_authentic("", secret, nonce));
  CHECK_FALSE(is_authentic(answer.c_str(), "another secret", nonce));
  nonce[0] ^= 1;
  CHECK_FALSE(is_authentic(answer.c_str(), secret, nonce));
}

TEST_CASE("the secret is the first line of its file") {
  CHECK(secret_of("swordfish\n") == Str("swordfish"));
  CHECK(secret_of("swordfish\r\nmore") == Str("swordfish"));
  CHECK(secret_of("swordfish") == Str("swordfish"));
  CHECK(secret_of("\nswordfish").empty());
}
