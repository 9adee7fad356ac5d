// Fuzz target: the lines by which the ends of net= prove their secret to each other. Without the secret no
// line is a proof.
#include <cstdlib>
#include <cstring>

#include "core/protocol/peer_proof.h"
#include "tests/fuzz/seeds.h"

using namespace hprof;

namespace {

void expect(bool holds) {
  if (!holds) abort();
}

const Str kSecret = "correct horse battery staple";

std::string line(void (*put)(TextWriter*)) {
  char text[kPeerLineMost + 1];
  TextWriter out(text, sizeof text);
  put(&out);
  const Str all = out.text();
  return std::string(all.data, all.size);
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  static constexpr PeerNonces kNonces = {};
  return {line([](TextWriter* out) { put_peer_greeting(kNonces, out); }),
          line([](TextWriter* out) { put_peer_proof(PeerPart::kListener, "another secret", kNonces, out); }),
          line([](TextWriter* out) { put_peer_proof(PeerPart::kAgent, "another secret", kNonces, out); }),
          "AUTH ", "HPROF-NET 2 00"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Memory of its own size, so that a byte beyond it is seen.
  const std::vector<char> bytes(data, data + size);
  const Str text = {bytes.data(), bytes.size()};
  PeerNonces nonces = {};
  if (parse_peer_greeting(text, &nonces)) {
    PeerNonces again = {};
    char room[kPeerLineMost + 1];
    TextWriter out(room, sizeof room);
    put_peer_greeting(nonces, &out);
    expect(parse_peer_greeting(out.text().part(0, out.text().size - 1), &again));
    expect(memcmp(again.agent, nonces.agent, sizeof nonces.agent) == 0);
  }
  // The nonce of each run is that of no seed.
  memset(nonces.agent, 0x5a, sizeof nonces.agent);
  expect(!take_peer_proof(PeerPart::kListener, text, kSecret, &nonces));
  expect(!take_peer_proof(PeerPart::kAgent, text, kSecret, &nonces));
  return 0;
}
