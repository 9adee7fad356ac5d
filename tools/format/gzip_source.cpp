#include "tools/format/gzip_source.h"

#include <algorithm>

#if HPROF_TOOL_ZLIB
#include <zlib.h>
#endif

namespace hprof::tool {

#if HPROF_TOOL_ZLIB

namespace {

constexpr size_t kPackedBytes = size_t{1} << 18;
constexpr unsigned kWindowBytes = 1 << 15, kTrailerBytes = 8;
// Windows take at most 16 MiB: with more of them every second one goes.
constexpr size_t kMostWindows = 512;
constexpr uint64_t kLeastSpan = uint64_t{1} << 20;  // the members of dumps have as much
constexpr int kGzip = 16 + MAX_WBITS, kRaw = -MAX_WBITS;

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, std::shared_ptr<GzipPoints> points)
      : packed_(std::move(packed)),
        points_(std::move(points)),
        notes_(points_->points.empty()),
        buffer_(kPackedBytes) {
    good_ = inflateInit2(&stream_, kGzip) == Z_OK;
  }
  ~GzipSource() override {
    if (good_) inflateEnd(&stream_);
  }
  bool good() const { return good_; }
  uint64_t size() const override { return points_->size; }

  size_t read(uint8_t* to, size_t size) override {
    const auto whole = static_cast<unsigned>(std::min<size_t>(size, 1u << 30));
    stream_.next_out = to;
    stream_.avail_out = whole;
    while (stream_.avail_out > 0 && !ended_) step();
    return whole - stream_.avail_out;
  }

  bool seek(uint64_t offset) override {
    if (points_->size != kUnknownSize && offset > points_->size) return false;
    const std::vector<Point>& all = points_->points;
    auto next = std::upper_bound(all.begin(), all.end(), offset,
                                 [](uint64_t wanted, const Point& each) { return wanted < each.out; });
    const Point* point = next == all.begin() ? nullptr : &*(next - 1);
    if ((offset < at_ || (point != nullptr && point->out > at_)) && !begin_at(point)) return false;
    std::vector<uint8_t> skipped(kPackedBytes);
    while (at_ < offset) {
      if (read(skipped.data(), static_cast<size_t>(std::min<uint64_t>(skipped.size(), offset - at_))) == 0)
        return false;
    }
    return true;
  }

 private:
  using Point = GzipPoints::Point;

  void fail(const char* text) {
    error_ = text;
    ended_ = true;
  }

  // False: the file ends.
  bool fill() {
    if (stream_.avail_in > 0) return true;
    stream_.next_in = buffer_.data();
    stream_.avail_in = static_cast<unsigned>(packed_->read(buffer_.data(), buffer_.size()));
    packed_at_ += stream_.avail_in;
    if (!packed_->error().empty()) error_ = packed_->error();
    return stream_.avail_in > 0;
  }

  void step() {
    if (!fill()) {
      if (!between_ && error_.empty()) error_ = "the gzip file ends unexpectedly";
      return end();
    }
    if (between_ && !begin_member()) return;
    const unsigned room = stream_.avail_out;
    const int code = inflate(&stream_, notes_ ? Z_BLOCK : Z_NO_FLUSH);
    at_ += room - stream_.avail_out;
    if (code == Z_STREAM_END) {
      end_member();
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      fail(stream_.msg != nullptr ? stream_.msg : "the gzip file is damaged");
    } else if (notes_ && (stream_.data_type & 0xc0) == 0x80) {  // between two blocks of one member
      note(static_cast<unsigned>(stream_.data_type & 7), false);
    }
  }

  void end() {
    ended_ = true;
    if (notes_ && error_.empty()) points_->size = at_;
    notes_ = false;
  }

  // False: what is left is no member.
  bool begin_member() {
    if (*stream_.next_in != 0x1f && packed_at_ > stream_.avail_in) {
      end();
      return false;
    }
    between_ = raw_ = false;
    if (notes_) note(0, true);
    inflateReset2(&stream_, kGzip);
    return true;
  }

  void end_member() {
    between_ = true;
    for (unsigned left = raw_ ? kTrailerBytes : 0; left > 0 && fill();) {
      const unsigned step = std::min(left, stream_.avail_in);
      stream_.next_in += step;
      stream_.avail_in -= step;
      left -= step;
    }
  }

  void note(unsigned bits, bool member) {
    std::vector<Point>& all = points_->points;
    if (!all.empty() && at_ - all.back().out < (member ? kLeastSpan : span_)) return;
    Point point{at_, packed_at_ - stream_.avail_in, bits, member, {}};
    if (!member) {
      point.window.resize(kWindowBytes);
      unsigned size = kWindowBytes;
      if (inflateGetDictionary(&stream_, point.window.data(), &size) != Z_OK) return;
      point.window.resize(size);
      if (++windows_ > kMostWindows) thin_out();
    }
    all.push_back(std::move(point));
  }

  void thin_out() {
    bool keep = false;
    auto gone = [&](const Point& each) { return !each.member && (keep = !keep); };
    std::vector<Point>& all = points_->points;
    all.erase(std::remove_if(all.begin(), all.end(), gone), all.end());
    windows_ /= 2;
    span_ *= 2;
  }

  bool begin_at(const Point* point) {
    const uint64_t in = point == nullptr ? 0 : point->in;
    const unsigned bits = point == nullptr ? 0 : point->bits;
    if (!packed_->seek(in - (bits != 0))) return false;
    packed_at_ = in - (bits != 0);
    stream_.avail_in = 0;
    at_ = point == nullptr ? 0 : point->out;
    ended_ = notes_ = false;
    error_.clear();
    between_ = point == nullptr || point->member;
    raw_ = !between_;
    if (!raw_) return true;
    inflateReset2(&stream_, kRaw);
    if (bits != 0) {
      if (!fill()) return false;
      inflatePrime(&stream_, static_cast<int>(bits), *stream_.next_in >> (8 - bits));
      ++stream_.next_in;
      --stream_.avail_in;
    }
    return point->window.empty() || inflateSetDictionary(&stream_, point->window.data(),
                                                         static_cast<unsigned>(point->window.size())) == Z_OK;
  }

  std::unique_ptr<ByteSource> packed_;
  std::shared_ptr<GzipPoints> points_;
  bool notes_;  // this source is the first, and notes the points
  std::vector<uint8_t> buffer_;
  z_stream stream_{};
  uint64_t at_ = 0;         // offset in the inflated bytes
  uint64_t packed_at_ = 0;  // offset in the file behind the buffer
  uint64_t span_ = 4 * kLeastSpan;
  size_t windows_ = 0;
  bool between_ = true;  // a header comes next
  bool raw_ = false;     // began within a member, whose trailer zlib does not see
  bool ended_ = false, good_ = false;
};

}  // namespace

const bool kInflates = true;

std::unique_ptr<ByteSource> inflate_source(std::unique_ptr<ByteSource> packed,
                                           std::shared_ptr<GzipPoints> points) {
  auto source = std::make_unique<GzipSource>(std::move(packed), std::move(points));
  if (!source->good()) return nullptr;
  return source;
}

bool deflate_gzip(std::string* bytes) {
  z_stream stream{};
  constexpr int kMemoryLevel = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return false;
  std::string packed;
  std::vector<uint8_t> buffer(kPackedBytes);
  int code = Z_OK;
  for (size_t at = 0; code == Z_OK;) {
    const size_t piece = std::min(bytes->size() - at, kPackedBytes);
    stream.next_in = reinterpret_cast<uint8_t*>(&(*bytes)[at]);
    stream.avail_in = static_cast<unsigned>(piece);
    stream.next_out = buffer.data();
    stream.avail_out = static_cast<unsigned>(buffer.size());
    code = deflate(&stream, at + piece == bytes->size() ? Z_FINISH : Z_NO_FLUSH);
    at += piece - stream.avail_in;
    packed.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  *bytes = std::move(packed);
  return code == Z_STREAM_END;
}

#else

const bool kInflates = false;

bool deflate_gzip(std::string*) { return false; }

std::unique_ptr<ByteSource> inflate_source(std::unique_ptr<ByteSource>, std::shared_ptr<GzipPoints>) {
  return nullptr;
}

#endif

}  // namespace hprof::tool
