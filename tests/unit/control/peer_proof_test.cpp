// What both ends of net= say before the profile.
#include "core/protocol/peer_proof.h"

#include <doctest/doctest.h>
#include <string>

#include "core/protocol/challenge.h"

using namespace hprof;

namespace {

constexpr Str kSecret = "a secret of some length";

Str text_of(const std::string& text) { return Str(text.data(), text.size()); }

// A line as the other end reads it, without its "\n".
template <typename Put>
std::string line(Put put) {
  char room[kPeerLineMost];
  TextWriter out(room, sizeof(room));
  put(&out);
  REQUIRE_FALSE(out.cut());
  REQUIRE(room[out.size() - 1] == '\n');
  return std::string(room, out.size() - 1);
}

std::string greeting(const PeerNonces& nonces) {
  return line([&](TextWriter* out) { put_peer_greeting(nonces, out); });
}

std::string proof(PeerPart part, const PeerNonces& nonces, Str secret = kSecret) {
  return line([&](TextWriter* out) { put_peer_proof(part, secret, nonces, out); });
}

PeerNonces nonces_from(int agent, int listener) {
  PeerNonces nonces;
  for (size_t i = 0; i < kNonceSize; i++) {
    nonces.agent[i] = static_cast<uint8_t>(static_cast<int>(i) * 3 + agent);
    nonces.listener[i] = static_cast<uint8_t>(static_cast<int>(i) * 5 + listener);
  }
  return nonces;
}

}  // namespace

TEST_CASE("both ends accept each other's proof of one secret") {
  const PeerNonces sent = nonces_from(1, 200);
  PeerNonces listener = nonces_from(0, 200), agent = nonces_from(1, 0);
  REQUIRE(parse_peer_greeting(text_of(greeting(sent)), &listener));
  CHECK(take_peer_proof(PeerPart::kListener, text_of(proof(PeerPart::kListener, listener)), kSecret, &agent));
  CHECK(memcmp(agent.listener, sent.listener, kNonceSize) == 0);
  CHECK(take_peer_proof(PeerPart::kAgent, text_of(proof(PeerPart::kAgent, agent)), kSecret, &listener));
}

TEST_CASE("another secret, another part, other numbers and damaged lines prove nothing") {
  const PeerNonces nonces = nonces_from(1, 2);
  for (PeerPart part : {PeerPart::kListener, PeerPart::kAgent}) {
    const PeerPart other = part == PeerPart::kAgent ? PeerPart::kListener : PeerPart::kAgent;
    const std::string good = proof(part, nonces);
    auto proves = [&](const std::string& text, PeerNonces own) {
      return take_peer_proof(part, text_of(text), kSecret, &own);
    };
    CHECK(proves(good, nonces));
    CHECK_FALSE(proves(proof(part, nonces, "a secret of another kind"), nonces));
    // Its own words, said back to it, with and without the nonce.
    CHECK_FALSE(proves(proof(other, nonces), nonces));
    CHECK_FALSE(proves(proof(other, nonces).substr(0, 5 + 2 * kNonceSize), nonces));
    CHECK_FALSE(proves(good, nonces_from(9, 2)));  // said in another conversation
    CHECK_FALSE(proves("", nonces));
    CHECK_FALSE(proves(good + "0", nonces));
    for (size_t i = 0; i < good.size(); i++) {
      std::string damaged = good;
      damaged[i] = damaged[i] == '0' ? '1' : '0';
      CHECK_FALSE(proves(damaged, nonces));
      CHECK_FALSE(proves(good.substr(0, i), nonces));
    }
  }
  // The agent's proof is of the listener's number of now.
  PeerNonces later = nonces_from(1, 3);
  CHECK_FALSE(take_peer_proof(PeerPart::kAgent, text_of(proof(PeerPart::kAgent, nonces)), kSecret, &later));
}

TEST_CASE("a greeting is one of this version with a nonce of full length") {
  const std::string good = greeting(nonces_from(1, 2));
  PeerNonces nonces;
  CHECK_FALSE(parse_peer_greeting("JAVA PROFILE 1.0.1", &nonces));
  CHECK_FALSE(parse_peer_greeting(text_of("HPROF 1 " + good.substr(12)), &nonces));
  CHECK_FALSE(parse_peer_greeting(text_of(good.substr(0, good.size() - 1)), &nonces));
  CHECK_FALSE(parse_peer_greeting(text_of(good + "0"), &nonces));
  CHECK_FALSE(parse_peer_greeting(text_of(good.substr(0, good.size() - 1) + "g"), &nonces));
  CHECK(parse_peer_greeting(text_of(good), &nonces));
}

// Who gets in at listen=.
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
