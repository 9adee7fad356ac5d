#include "core/protocol/challenge.h"

namespace hprof {

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void put_hex(const uint8_t* bytes, size_t size, TextWriter* out) {
  for (size_t i = 0; i < size; i++) {
    out->put("0123456789abcdef"[bytes[i] >> 4]).put("0123456789abcdef"[bytes[i] & 15]);
  }
}

bool parse_nonce(Str hex, uint8_t (&nonce)[kNonceSize]) {
  if (hex.size != 2 * kNonceSize) return false;
  for (size_t i = 0; i < kNonceSize; i++) {
    const int high = digit_of(hex[2 * i]);
    const int low = digit_of(hex[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    nonce[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return true;
}

Str secret_of(Str file) {
  size_t end = file.find('\n'), other = file.find('\r');
  return file.part(0, other < end ? other : end);
}

void put_greeting(const uint8_t (&nonce)[kNonceSize], TextWriter* out) {
  out->put("HPROF 1 ");
  put_hex(nonce, kNonceSize, out);
  out->put('\n');
}

bool is_authentic(Str line, Str secret, const uint8_t (&nonce)[kNonceSize]) {
  uint8_t digest[kSha256Size];
  hmac_sha256(secret.data, secret.size, nonce, kNonceSize, digest);
  char text[5 + 2 * kSha256Size + 1];
  TextWriter wanted(text, sizeof(text));
  wanted.put("AUTH ");
  put_hex(digest, kSha256Size, &wanted);
  return line.size == wanted.size() && equal_in_constant_time(line.data, text, line.size);
}

}  // namespace hprof
