// Writes a heap dump of any size: trees, hash chains, strings and a long list, at the addresses that HotSpot
// with compressed references would give them.
//
//   hprof_make_dump OBJECTS FILE
//
// About 100 bytes per object. The same numbers give the same file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr uint64_t kName = 0x1000, kClassName = 0x2000;
enum ClassId : uint64_t {
  kObject = 0x90000000,
  kClass = 0x90000200,
  kString = 0x90000400,
  kNode = 0x90000600,
  kEntry = 0x90000800,
  kObjects = 0x90000a00,
  kBytes = 0x90000c00,
  kHolder = 0x90000e00
};

class Writer {
 public:
  explicit Writer(std::FILE* file) : file_(file) { buffer_.reserve(kSegment + 4096); }

  Writer& u1(uint64_t v) { return put(v, 1); }
  Writer& u2(uint64_t v) { return put(v, 2); }
  Writer& u4(uint64_t v) { return put(v, 4); }
  Writer& u8(uint64_t v) { return put(v, 8); }
  Writer& text(const std::string& text) {
    buffer_ += text;
    return *this;
  }
  void flush() {
    ok_ = ok_ && std::fwrite(buffer_.data(), 1, buffer_.size(), file_) == buffer_.size();
    buffer_.clear();
  }
  // The buffer becomes the body of a record.
  void record(uint8_t tag) {
    std::string body;
    body.swap(buffer_);
    u1(tag).u4(0).u4(body.size());
    flush();
    buffer_.swap(body);
    flush();
  }
  // After each object of a segment.
  void maybe_segment() {
    if (buffer_.size() >= kSegment) record(0x1c);
  }
  bool ok() const { return ok_; }

 private:
  static constexpr size_t kSegment = 1 << 20;
  Writer& put(uint64_t value, unsigned size) {
    char bytes[8];
    for (unsigned i = 0; i < size; ++i) bytes[i] = static_cast<char>(value >> (8 * (size - 1 - i)));
    buffer_.append(bytes, size);
    return *this;
  }
  std::FILE* file_;
  std::string buffer_;
  bool ok_ = true;
};

class Heap {
 public:
  Heap(Writer& out, uint64_t objects) : out_(out), left_(objects) {}

  void write() {
    header();
    std::vector<uint64_t> groups;
    uint64_t list = 0;
    while (left_ > 64) {
      groups.push_back(group());
      list = entry(groups.back(), list);
    }
    uint64_t all = array(groups);
    out_.u1(0x20).u8(kHolder).u4(0).u8(kObject).u8(0).u8(0).u8(0).u8(0).u8(0).u4(0).u2(0).u2(2);
    out_.u8(kName).u1(2).u8(all).u8(kName).u1(2).u8(list).u2(0);
    out_.record(0x1c);
    out_.record(0x2c);
  }

 private:
  void name(uint64_t id, const char* text) {
    out_.u8(id).text(text);
    out_.record(1);
  }

  void header() {
    out_.text("JAVA PROFILE 1.0.2").u1(0).u4(8).u8(1700000000000u);
    out_.flush();
    name(kName, "field");
    name(kName + 1, "value");
    static constexpr struct {
      uint64_t id;
      const char* name;
    } kClasses[] = {{kObject, "java/lang/Object"},
                    {kClass, "java/lang/Class"},
                    {kString, "java/lang/String"},
                    {kNode, "made/Node"},
                    {kEntry, "made/Entry"},
                    {kObjects, "[Ljava/lang/Object;"},
                    {kBytes, "[B"},
                    {kHolder, "made/Holder"}};
    uint32_t serial = 0;
    for (const auto& each : kClasses) {
      name(kClassName + serial, each.name);
      out_.u4(serial + 1).u8(each.id).u4(0).u8(kClassName + serial);
      out_.record(2);
      ++serial;
    }
    for (const auto& each : kClasses) {
      if (each.id != kHolder) class_dump(each.id);
      out_.u1(5).u8(each.id);
    }
  }

  void class_dump(uint64_t id) {
    unsigned references = id == kNode ? 3 : id == kEntry ? 2 : id == kString ? 1 : 0;
    uint32_t size = 8 * references + (id == kNode ? 12 : id == kString ? 5 : 0);
    out_.u1(0x20)
        .u8(id)
        .u4(0)
        .u8(id == kObject ? 0 : kObject)
        .u8(0)
        .u8(0)
        .u8(0)
        .u8(0)
        .u8(0)
        .u4(size)
        .u2(0)
        .u2(0);
    out_.u2(references + (id == kNode || id == kString ? 2 : 0));
    for (unsigned i = 0; i < references; ++i) out_.u8(id == kString ? kName + 1 : kName).u1(2);
    if (id == kNode) out_.u8(kName).u1(10).u8(kName).u1(11);
    if (id == kString) out_.u8(kName).u1(10).u8(kName).u1(8);
  }

  uint64_t take(uint64_t size) {
    uint64_t id = next_;
    next_ += (size + 7) / 8 * 8;
    if (left_ > 0) --left_;
    return id;
  }
  uint64_t done(uint64_t id) {
    out_.maybe_segment();
    return id;
  }

  uint64_t node(uint64_t left, uint64_t right, uint64_t payload) {
    uint64_t id = take(40);
    out_.u1(0x21).u8(id).u4(0).u8(kNode).u4(36).u8(left).u8(right).u8(payload).u4(id).u8(id);
    return done(id);
  }
  uint64_t entry(uint64_t value, uint64_t next) {
    uint64_t id = take(24);
    out_.u1(0x21).u8(id).u4(0).u8(kEntry).u4(16).u8(value).u8(next);
    return done(id);
  }
  uint64_t bytes(uint32_t length) {
    uint64_t id = take(16 + length);
    out_.u1(0x23).u8(id).u4(0).u4(length).u1(8);
    uint64_t value = random();
    for (uint32_t i = 0; i < length; ++i) out_.u1(97 + (value >> (i % 16 * 4) & 15));
    return done(id);
  }
  uint64_t string(uint32_t length) {
    uint64_t value = bytes(length), id = take(24);
    out_.u1(0x21).u8(id).u4(0).u8(kString).u4(13).u8(value).u4(0).u1(0);
    return done(id);
  }
  uint64_t array(const std::vector<uint64_t>& elements) {
    uint64_t id = take(16 + 4 * elements.size());
    out_.u1(0x22).u8(id).u4(0).u4(elements.size()).u8(kObjects);
    for (uint64_t element : elements) out_.u8(element);
    return done(id);
  }

  // A tree of nodes with strings, some of which others share.
  uint64_t group() {
    uint64_t shared = string(40 + random() % 100);
    uint64_t left = node(0, 0, string(random() % 64)), right = node(left, 0, shared);
    if (recent_.size() < 100000) {
      recent_.push_back(right);
    } else {
      recent_[random() % recent_.size()] = right;
    }
    uint64_t other = recent_[random() % recent_.size()];
    uint64_t chain = 0;
    for (int i = 0; i < 4; ++i) chain = entry(random() % 8 == 0 ? other : bytes(random() % 480), chain);
    std::vector<uint64_t> all = {left, 0, chain, shared, other, 0};
    return node(right, chain, array(all));
  }

  uint64_t random() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ >> 11;
  }

  Writer& out_;
  uint64_t left_;
  uint64_t next_ = 0x100000000;
  uint64_t state_ = 88172645463325252u;
  std::vector<uint64_t> recent_;
};

}  // namespace

int main(int count, char** values) {
  uint64_t objects = count == 3 ? std::strtoull(values[1], nullptr, 10) : 0;
  if (objects == 0) {
    std::fprintf(stderr, "usage: hprof_make_dump OBJECTS FILE\n");
    return 2;
  }
  std::FILE* file = std::fopen(values[2], "wb");
  if (file == nullptr) {
    std::perror(values[2]);
    return 1;
  }
  Writer out(file);
  Heap(out, objects).write();
  bool ok = out.ok();
  ok = std::fclose(file) == 0 && ok;
  if (!ok) std::perror(values[2]);
  return ok ? 0 : 1;
}
