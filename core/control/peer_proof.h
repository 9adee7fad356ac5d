// Both ends of net= prove to each other that they know the same secret, before a byte of the profile is sent.
// The secret itself is never sent. Recorded messages cannot be used again, at the other end, or for listen=:
// each end sends a number that it has never sent before, and signs both numbers together with the name of its
// part.
//
//   agent:    HPROF-NET 1 <64 hex digits of the agent's nonce>\n
//   listener: AUTH <64 hex digits of HMAC-SHA-256(secret, "HPROF-NET 1 listener" nonces)> <the listener's
//             nonce in hex>\n
//   agent:    AUTH <64 hex digits of HMAC-SHA-256(secret, "HPROF-NET 1 agent" nonces)>\n, then the profile
//
// nonces: the agent's 32 bytes, then the listener's. What follows is neither encrypted nor signed.
#pragma once

#include "core/control/challenge.h"

namespace hprof {

enum class PeerPart { kListener, kAgent };

struct PeerNonces {
  uint8_t agent[kNonceSize];
  uint8_t listener[kNonceSize];
};

constexpr size_t kPeerLineMost = 160;  // bytes of any of the lines, with its "\n"

void put_peer_greeting(const PeerNonces& nonces, TextWriter* out);  // [any]
// The agent's nonce out of its line, which has no "\n" any more. [any]
bool parse_peer_greeting(Str line, PeerNonces* nonces);
void put_peer_proof(PeerPart part, Str secret, const PeerNonces& nonces, TextWriter* out);  // [any]
// Is `line` the proof of that part? The listener's says its nonce, which goes to *nonces. [any]
bool take_peer_proof(PeerPart part, Str line, Str secret, PeerNonces* nonces);

}  // namespace hprof
