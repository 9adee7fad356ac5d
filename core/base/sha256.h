// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for the challenge of the control socket.
//
// Thread: any. No allocation; needs nothing but memcpy and memset. Not hardened against anything but timing
// of the comparison: the hashing itself has no secret-dependent branch or index.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hprof {

constexpr size_t kSha256Size = 32;

class Sha256 {
 public:
  Sha256();
  // Adds bytes; any number of calls with any sizes.
  void update(const void* bytes, size_t size);
  // The digest of all bytes added. Afterwards the object may only be destroyed.
  void finish(uint8_t digest[kSha256Size]);

 private:
  void block(const uint8_t* bytes);

  uint32_t state_[8];
  uint64_t length_ = 0;  // bytes so far
  uint8_t pending_[64];
};

// `key` of any size, empty included.
void hmac_sha256(const void* key, size_t key_size, const void* message, size_t size,
                 uint8_t digest[kSha256Size]);

// Compares in a time that depends on `size` only.
bool equal_in_constant_time(const void* a, const void* b, size_t size);

}  // namespace hprof
