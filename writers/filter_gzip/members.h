// Compresses bytes to gzip members. All members of a binary dump but the last have the same number of bytes,
// as in HotSpot's compressed dumps; the first member's comment has that number, so that readers can seek.
// Other outputs are one member: some readers (pako, so speedscope, and browsers) ignore a second one.
#pragma once

#include <cstdint>
#include <zlib.h>

#include <hprof/filter.h>
#include <hprof/service/mem.h>

namespace hprof::gzip {

class Members {
 public:
  static constexpr uint32_t kMemberBytes = 1u << 20;

  // False: no memory. level: 1 (fast) to 9 (small). is_one: one member in all.
  bool open(const hprof_host* host, const hprof_mem_service* mem, int level, bool is_one);
  void close();
  hprof_status write(const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass);
  hprof_status finish(void* context, hprof_filter_pass pass);

 private:
  static constexpr uint32_t kStateBytes = 512 * 1024;  // of zlib, a little over 268 KiB
  static constexpr uint32_t kOutBytes = 64 * 1024;
  static voidpf take_state(voidpf self, uInt items, uInt size);
  hprof_status begin_member();
  hprof_status deflate_some(const uint8_t* bytes, uint32_t size, int flush, void* context,
                            hprof_filter_pass pass);

  const hprof_host* host_ = nullptr;
  const hprof_mem_service* mem_ = nullptr;
  uint8_t* state_ = nullptr;  // all of zlib's memory, allocated once
  uint32_t state_used_ = 0;
  uint8_t* out_ = nullptr;
  z_stream stream_ = {};
  gz_header header_ = {};
  char comment_[40] = "";
  bool open_ = false;
  bool first_ = true;
  uint64_t member_bytes_ = kMemberBytes;  // bytes of a full member
  uint64_t member_used_ = 0;              // of the current member; 0: none is begun
};

}  // namespace hprof::gzip
