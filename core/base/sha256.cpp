#include "core/base/sha256.h"

#include <cstring>

namespace hprof {

namespace {

// FIPS 180-4, 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

uint32_t rotate(uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

uint32_t load(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

void store(uint8_t* at, uint32_t value) {
  for (int i = 3; i >= 0; --i, value >>= 8) at[i] = static_cast<uint8_t>(value);
}

}  // namespace

Sha256::Sha256() { std::memcpy(state_, kStart, sizeof state_); }

void Sha256::block(const uint8_t* bytes) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = load(bytes + 4 * i);
  for (int i = 16; i < 64; ++i) {
    uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  uint32_t e = state_[4], f = state_[5], g = state_[6], h = state_[7];
  for (int i = 0; i < 64; ++i) {
    uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += added[i];
}

void Sha256::update(const void* bytes, size_t size) {
  auto* at = static_cast<const uint8_t*>(bytes);
  size_t held = static_cast<size_t>(length_ % 64);
  length_ += size;
  while (size > 0) {
    if (held == 0 && size >= 64) {
      block(at);
      at += 64;
      size -= 64;
      continue;
    }
    size_t step = size < 64 - held ? size : 64 - held;
    std::memcpy(pending_ + held, at, step);
    at += step;
    size -= step;
    held += step;
    if (held < 64) break;
    block(pending_);
    held = 0;
  }
}

void Sha256::finish(uint8_t digest[kSha256Size]) {
  uint64_t bits = length_ * 8;
  uint8_t padding[72] = {0x80};
  size_t held = static_cast<size_t>(length_ % 64);
  size_t zeros = (held < 56 ? 56 : 120) - held;
  store(padding + zeros, static_cast<uint32_t>(bits >> 32));
  store(padding + zeros + 4, static_cast<uint32_t>(bits));
  update(padding, zeros + 8);
  for (int i = 0; i < 8; ++i) store(digest + 4 * i, state_[i]);
}

void hmac_sha256(const void* key, size_t key_size, const void* message, size_t size,
                 uint8_t digest[kSha256Size]) {
  uint8_t block[64] = {};
  if (key_size > sizeof block) {
    Sha256 hash;
    hash.update(key, key_size);
    hash.finish(block);
  } else if (key_size > 0) {
    std::memcpy(block, key, key_size);
  }
  uint8_t pad[64];
  for (size_t i = 0; i < sizeof pad; ++i) pad[i] = block[i] ^ 0x36;
  Sha256 inner;
  inner.update(pad, sizeof pad);
  inner.update(message, size);
  inner.finish(digest);
  for (size_t i = 0; i < sizeof pad; ++i) pad[i] = block[i] ^ 0x5c;
  Sha256 outer;
  outer.update(pad, sizeof pad);
  outer.update(digest, kSha256Size);
  outer.finish(digest);
}

bool equal_in_constant_time(const void* a, const void* b, size_t size) {
  auto* left = static_cast<const volatile uint8_t*>(a);
  auto* right = static_cast<const volatile uint8_t*>(b);
  uint8_t difference = 0;
  for (size_t i = 0; i < size; ++i) difference = static_cast<uint8_t>(difference | (left[i] ^ right[i]));
  return difference == 0;
}

}  // namespace hprof
