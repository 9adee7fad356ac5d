// Authentication of TCP clients by a secret that is never sent: the server sends a nonce, and the client
// answers with its HMAC-SHA-256 under the secret.
//
//   server: HPROF 1 <64 hex digits of the nonce>\n
//   client: AUTH <64 hex digits of HMAC-SHA-256(secret, nonce bytes)>\n
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hprof {

constexpr size_t kNonceSize = 32;
constexpr size_t kSecretLeast = 16;  // bytes; shorter ones can be guessed
constexpr size_t kSecretMost = 4096;
constexpr size_t kGreetingSize = 8 + 2 * kNonceSize + 1;  // with its "\n", without NUL

// The secret is the first line of a secret file, up to its "\r" or "\n". [any]
Str secret_of(Str file);

void put_hex(const uint8_t* bytes, size_t size, TextWriter* out);
// False: it is not the hex of a nonce, as put_hex() writes it.
bool parse_nonce(Str hex, uint8_t (&nonce)[kNonceSize]);

void put_greeting(const uint8_t (&nonce)[kNonceSize], TextWriter* out);

// True: `line` is the right answer. The time does not depend on where it differs. [any]
bool is_authentic(Str line, Str secret, const uint8_t (&nonce)[kNonceSize]);

}  // namespace hprof
