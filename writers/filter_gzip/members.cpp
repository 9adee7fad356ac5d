#include "members.h"

#include <algorithm>

#include <hprof/cpp/text.hpp>

namespace hprof::gzip {

namespace {

constexpr int kGzipWindow = 15 + 16;  // 32 KiB, with gzip's own header
constexpr int kMemoryLevel = 8;
constexpr uint64_t kMostAtOnce = 1u << 30;  // zlib counts in 32 bits

}  // namespace

voidpf Members::take_state(voidpf self, uInt items, uInt size) {
  auto* members = static_cast<Members*>(self);
  const uint64_t bytes = (uint64_t{items} * size + 15) & ~uint64_t{15};
  if (bytes > kStateBytes - members->state_used_) return nullptr;
  void* memory = members->state_ + members->state_used_;
  members->state_used_ += static_cast<uint32_t>(bytes);
  return memory;
}

bool Members::open(const hprof_host* host, const hprof_mem_service* mem, int level, bool is_one) {
  host_ = host;
  mem_ = mem;
  state_ = static_cast<uint8_t*>(mem->allocate(host, kStateBytes));
  out_ = static_cast<uint8_t*>(mem->allocate(host, kOutBytes));
  if (state_ == nullptr || out_ == nullptr) return false;
  stream_.zalloc = &take_state;
  stream_.zfree = [](voidpf, voidpf) {};
  stream_.opaque = this;
  open_ = deflateInit2(&stream_, level, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
  if (is_one) {
    member_bytes_ = UINT64_MAX;
  } else {
    TextBuffer(comment_, sizeof comment_).add("HPROF BLOCKSIZE=").add(member_bytes_);
    header_.comment = reinterpret_cast<Bytef*>(comment_);
  }
  header_.os = 255;  // unknown
  return open_;
}

void Members::close() {
  if (open_) deflateEnd(&stream_);
  if (state_ != nullptr) mem_->release(host_, state_, kStateBytes);
  if (out_ != nullptr) mem_->release(host_, out_, kOutBytes);
  open_ = false;
  state_ = out_ = nullptr;
}

hprof_status Members::begin_member() {
  if (deflateReset(&stream_) != Z_OK) return HPROF_FAILED;
  if (deflateSetHeader(&stream_, first_ ? &header_ : Z_NULL) != Z_OK) return HPROF_FAILED;
  first_ = false;
  return HPROF_OK;
}

hprof_status Members::deflate_some(const uint8_t* bytes, uint32_t size, int flush, void* context,
                                   hprof_filter_pass pass) {
  stream_.next_in = const_cast<Bytef*>(bytes);
  stream_.avail_in = size;
  int result = Z_OK;
  do {
    stream_.next_out = out_;
    stream_.avail_out = kOutBytes;
    result = deflate(&stream_, flush);
    if (result == Z_STREAM_ERROR) return HPROF_FAILED;
    const uint32_t made = kOutBytes - stream_.avail_out;
    hprof_status status = made != 0 ? pass(context, out_, made) : HPROF_OK;
    if (status != HPROF_OK) return status;
  } while (flush == Z_FINISH ? result != Z_STREAM_END : stream_.avail_in != 0);
  return HPROF_OK;
}

hprof_status Members::write(const uint8_t* bytes, uint64_t size, void* context, hprof_filter_pass pass) {
  hprof_status status = HPROF_OK;
  while (size != 0 && status == HPROF_OK) {
    if (member_used_ == 0) status = begin_member();
    const uint64_t room = member_bytes_ - member_used_;
    const uint64_t n = std::min(std::min(size, room), kMostAtOnce);
    const bool full = n == room;
    if (status == HPROF_OK)
      status = deflate_some(bytes, static_cast<uint32_t>(n), full ? Z_FINISH : Z_NO_FLUSH, context, pass);
    member_used_ = full ? 0 : member_used_ + n;
    bytes += n;
    size -= n;
  }
  return status;
}

hprof_status Members::finish(void* context, hprof_filter_pass pass) {
  if (member_used_ == 0) return HPROF_OK;
  member_used_ = 0;
  return deflate_some(nullptr, 0, Z_FINISH, context, pass);
}

}  // namespace hprof::gzip
