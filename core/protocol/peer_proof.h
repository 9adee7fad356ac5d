// Before any byte of the profile both ends of net= prove to each other that they know the same secret, which
// is never sent. Each end sends a nonce, and signs both nonces with the name of its part, so that recorded
// messages are useless, also at the other end and for listen=.
//
//   agent:    HPROF-NET 1 <64 hex digits of the agent's nonce>\n
//   listener: AUTH <64 hex digits of HMAC-SHA-256(secret, "HPROF-NET 1 listener" nonces)> <the listener's
//             nonce in hex>\n
//   agent:    AUTH <64 hex digits of HMAC-SHA-256(secret, "HPROF-NET 1 agent" nonces)>\n, then the profile
//
// nonces: the agent's 32 bytes, then the listener's. What follows is neither encrypted nor signed.
#pragma once

#include "core/protocol/challenge.h"

namespace hprof {

enum class PeerPart { kListener, kAgent };

struct PeerNonces {
  uint8_t agent[kNonceSize];
  uint8_t listener[kNonceSize];
};

constexpr size_t kPeerLineMost = 160;  // bytes of any of the lines, with its "\n"

void put_peer_greeting(const PeerNonces& nonces, TextWriter* out);  // [any]
// Parses the agent's nonce in its line, without "\n". [any]
bool parse_peer_greeting(Str line, PeerNonces* nonces);
void put_peer_proof(PeerPart part, Str secret, const PeerNonces& nonces, TextWriter* out);  // [any]
// True: `line` is the proof of that part. The listener's contains its nonce, which goes to *nonces. [any]
bool take_peer_proof(PeerPart part, Str line, Str secret, PeerNonces* nonces);

}  // namespace hprof
