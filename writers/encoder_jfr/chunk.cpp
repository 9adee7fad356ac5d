#include "chunk.h"

namespace hprof::jfr {

namespace {

constexpr uint64_t kHeaderBytes = 68;
constexpr uint64_t kTicksPerSecond = 1'000'000'000;
constexpr uint32_t kMajor = 2, kMinor = 0, kHasVarints = 1;
constexpr uint64_t kEnoughBytes = uint64_t{4} << 20;

}  // namespace

bool Event::keep() {
  if (!ok() || !chunk_.pools.ok()) return false;
  Bytes& events = chunk_.events_;
  const uint64_t before = events.size();
  events.keep();
  const uint64_t size = events.size() - before;
  uint8_t* at = events.data() + before;
  if (size_bytes_ == 1) {
    *at = static_cast<uint8_t>(size);
  } else {
    put_size(at, size);
  }
  return true;
}

bool Chunk::open(const Services& services) {
  enough_ = entries_in_budget(services, 1, kEnoughBytes / 64, kEnoughBytes, 16);
  return metadata_.open(services) && events_.open(services) && pools.open(services);
}

void Chunk::close() {
  metadata_.close();
  events_.close();
  pools.close();
}

void Chunk::begin_file(const hprof_rec_file_begin& begin) {
  created_ms_ = begin.created_ms;
  created_ns_ = HPROF_REACHES(&begin.head, hprof_rec_file_begin, created_ns) ? begin.created_ns : 0;
  began_ns_ = created_ns_;
}

void Chunk::clear() {
  events_.clear();
  pools.clear();
}

void Chunk::write(JfrOut& out, uint64_t now_ns) {
  // No two chunks of a file begin at the same time: some readers drop one of them.
  pools.finish();
  const uint64_t end_ns = now_ns > began_ns_ ? now_ns : began_ns_ + 1;
  const uint64_t end = ticks(end_ns);
  const uint64_t pools_at = kHeaderBytes + events_.size();
  const uint64_t metadata_at = pools_at + pools.size(end);
  out.bytes("FLR", 4);
  out.u2(kMajor);
  out.u2(kMinor);
  out.u8(metadata_at + metadata_.size(end));
  out.u8(pools_at);
  out.u8(metadata_at);
  out.u8(created_ms_ * 1'000'000 + ticks(began_ns_));
  out.u8(end_ns - began_ns_);
  out.u8(ticks(began_ns_));
  out.u8(kTicksPerSecond);
  out.u4(kHasVarints);
  out.bytes(events_.data(), events_.size());
  pools.write(out, end);
  metadata_.write(out, end);
  began_ns_ = end_ns;
}

}  // namespace hprof::jfr
