#include "core/protocol/peer_proof.h"

namespace hprof {

namespace {

constexpr Str kGreeting = "HPROF-NET 1 ";
constexpr Str kAuth = "AUTH ";
constexpr size_t kHexSize = 2 * kNonceSize;

static_assert(kSha256Size == kNonceSize, "digests and nonces have as many digits");
static_assert(5 + 2 * kHexSize + 2 < kPeerLineMost, "the longest line fits");

void sign(PeerPart part, Str secret, const PeerNonces& nonces, uint8_t (&digest)[kSha256Size]) {
  char message[32 + 2 * kNonceSize];
  TextWriter text(message, sizeof(message));
  text.put(kGreeting).put(part == PeerPart::kListener ? "listener" : "agent");
  text.put(Str(reinterpret_cast<const char*>(nonces.agent), kNonceSize));
  text.put(Str(reinterpret_cast<const char*>(nonces.listener), kNonceSize));
  hmac_sha256(secret.data, secret.size, message, text.size(), digest);
}

}  // namespace

void put_peer_greeting(const PeerNonces& nonces, TextWriter* out) {
  out->put(kGreeting);
  put_hex(nonces.agent, kNonceSize, out);
  out->put('\n');
}

bool parse_peer_greeting(Str line, PeerNonces* nonces) {
  return line.part(0, kGreeting.size) == kGreeting && parse_nonce(line.part(kGreeting.size), nonces->agent);
}

void put_peer_proof(PeerPart part, Str secret, const PeerNonces& nonces, TextWriter* out) {
  uint8_t digest[kSha256Size];
  sign(part, secret, nonces, digest);
  out->put(kAuth);
  put_hex(digest, sizeof(digest), out);
  if (part == PeerPart::kListener) {
    out->put(' ');
    put_hex(nonces.listener, kNonceSize, out);
  }
  out->put('\n');
}

bool take_peer_proof(PeerPart part, Str line, Str secret, PeerNonces* nonces) {
  const size_t proof_end = kAuth.size + kHexSize;
  if (part == PeerPart::kListener) {
    const Str rest = line.part(proof_end);
    if (rest.empty() || rest[0] != ' ' || !parse_nonce(rest.part(1), nonces->listener)) return false;
    line = line.part(0, proof_end);
  }
  uint8_t digest[kSha256Size];
  sign(part, secret, *nonces, digest);
  char text[kPeerLineMost];
  TextWriter wanted(text, sizeof(text));
  wanted.put(kAuth);
  put_hex(digest, sizeof(digest), &wanted);
  return line.size == wanted.size() && equal_in_constant_time(line.data, text, line.size);
}

}  // namespace hprof
