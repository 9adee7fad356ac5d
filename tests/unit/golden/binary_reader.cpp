// Reading the binary format, record by record.
#include "tests/unit/golden/binary_reader.h"

#include <cstring>
#include <stdexcept>

namespace hprof {

namespace {

class Cursor {
 public:
  Cursor(const std::string& bytes, size_t at, size_t end, uint32_t id_size)
      : bytes_(bytes), at_(at), end_(end), id_size_(id_size) {}
  uint64_t number(uint32_t width) {
    need(width);
    uint64_t v = 0;
    for (uint32_t i = 0; i < width; i++) v = v * 256 + static_cast<unsigned char>(bytes_[at_++]);
    return v;
  }
  uint32_t u1() { return static_cast<uint32_t>(number(1)); }
  uint32_t u2() { return static_cast<uint32_t>(number(2)); }
  uint32_t u4() { return static_cast<uint32_t>(number(4)); }
  uint64_t u8() { return number(8); }
  uint64_t id() { return number(id_size_); }
  std::string text(size_t size) {
    need(size);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  size_t left() const { return end_ - at_; }
  size_t at() const { return at_; }

 private:
  void need(size_t n) const {
    if (left() < n) throw std::runtime_error("a record ends too early");
  }
  const std::string& bytes_;
  size_t at_, end_;
  uint32_t id_size_;
};

class Reader {
 public:
  Reader(const std::string& bytes, BinaryFile& file) : bytes_(bytes), file_(file) {}

  void read(bool tolerate_cut) {
    Cursor top(bytes_, 0, bytes_.size(), 0);
    file_.version = top.text(18);
    if (file_.version != "JAVA PROFILE 1.0.1" && file_.version != "JAVA PROFILE 1.0.2") fail("version");
    if (top.u1() != 0) fail("no NUL after the version");
    file_.id_size = top.u4();
    if (file_.id_size != 4 && file_.id_size != 8) fail("identifier size");
    file_.created_ms = top.u8();
    while (top.left() != 0) {
      if (top.left() < 9 && tolerate_cut) return void(file_.cut_short = true);
      const uint32_t tag = top.u1(), time = top.u4(), length = top.u4();
      if (!file_.records.empty() && time < file_.records.back().time) fail("time runs backwards");
      file_.records.push_back({tag, time, length});
      if (length == 0 && tag != 0x2c) fail("a record of length 0");
      if (top.left() < length && tolerate_cut) return void(file_.cut_short = true);
      if (top.left() < length) fail("a record beyond the end");
      Cursor body(bytes_, top.at(), top.at() + length, file_.id_size);
      read_record(tag, body);
      if (body.left() != 0) fail("a record is longer than its contents: tag " + std::to_string(tag));
      top.text(length);
    }
    if (in_dump_) fail("the dump has no end");
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }

  std::string string(uint64_t id) const {
    if (id == 0) return "";
    const auto found = file_.strings.find(id);
    if (found == file_.strings.end()) fail("a string before its definition");
    return found->second;
  }
  uint32_t trace(uint32_t serial) const {
    if (file_.traces.count(serial) == 0) fail("a trace before its definition: " + std::to_string(serial));
    return serial;
  }
  uint32_t owner(uint32_t serial) const {
    if (file_.classes.count(serial) == 0) fail("a class before its definition");
    return serial;
  }

  void read_record(uint32_t tag, Cursor& body) {
    if (in_dump_ && tag != 0x1c && tag != 0x2c) fail("a record between the segments");
    switch (tag) {
      case 0x01: {
        const uint64_t id = body.id();
        if (!file_.strings.emplace(id, body.text(body.left())).second) fail("a string twice");
        break;
      }
      case 0x02:
        read_class(body);
        break;
      case 0x03:
        file_.unloaded.insert(owner(body.u4()));
        break;
      case 0x04:
        read_frame(body);
        break;
      case 0x05:
        read_trace(body);
        break;
      case 0x06:
        read_sites(body);
        break;
      case 0x07: {
        BinaryFile::Summary s = {};
        s.live_bytes = body.u4();
        s.live_objects = body.u4();
        s.allocated_bytes = body.u8();
        s.allocated_objects = body.u8();
        file_.summaries.push_back(s);
        break;
      }
      case 0x0a:
        read_thread(body);
        break;
      case 0x0b: {
        const auto found = file_.threads.find(body.u4());
        if (found == file_.threads.end()) fail("the end of an unknown thread");
        found->second.ended = true;
        break;
      }
      case 0x0d: {
        BinaryFile::Samples s;
        s.total = body.u4();
        for (uint32_t n = body.u4(); n > 0; n--) {
          const uint32_t count = body.u4();
          s.rows.push_back({count, trace(body.u4())});
        }
        file_.samples.push_back(s);
        break;
      }
      case 0x0e:
        file_.settings = body.u4();
        file_.depth = body.u2();
        break;
      case 0x1c:
        if (file_.version != "JAVA PROFILE 1.0.2") fail("a segment in a 1.0.1 file");
        in_dump_ = true;
        file_.segments.push_back(body.left());
        while (body.left() != 0) read_sub_record(body);
        break;
      case 0x2c:
        in_dump_ = false;
        file_.dumps++;
        break;
      default:
        fail("an unknown tag");
    }
  }

  void read_class(Cursor& body) {
    const uint32_t serial = body.u4();
    BinaryFile::Class c = {};
    c.object = body.id();
    c.trace = trace(body.u4());
    c.name = string(body.id());
    if (serial == 0 || !file_.classes.emplace(serial, c).second) fail("a class serial of 0, or twice");
  }

  void read_frame(Cursor& body) {
    const uint64_t id = body.id();
    BinaryFile::Frame f;
    f.method = string(body.id());
    f.signature = string(body.id());
    f.source = string(body.id());
    f.owner = owner(body.u4());
    f.line = static_cast<int32_t>(body.u4());
    if (!file_.frames.emplace(id, f).second) fail("a frame twice");
  }

  void read_trace(Cursor& body) {
    const uint32_t serial = body.u4();
    BinaryFile::Trace t;
    t.thread = body.u4();
    for (uint32_t n = body.u4(); n > 0; n--) {
      t.frames.push_back(body.id());
      if (file_.frames.count(t.frames.back()) == 0) fail("a frame before its definition");
    }
    if (!file_.traces.emplace(serial, t).second) fail("a trace twice");
  }

  void read_thread(Cursor& body) {
    const uint32_t serial = body.u4();
    BinaryFile::Thread t;
    t.object = body.id();
    t.trace = trace(body.u4());
    t.name = string(body.id());
    t.group = string(body.id());
    t.parent_group = string(body.id());
    t.ended = false;
    file_.threads[serial] = t;
  }

  void read_sites(Cursor& body) {
    BinaryFile::Sites s;
    s.flags = body.u2();
    const uint32_t bits = body.u4();
    std::memcpy(&s.cutoff, &bits, 4);
    s.live_bytes = body.u4();
    s.live_objects = body.u4();
    s.allocated_bytes = body.u8();
    s.allocated_objects = body.u8();
    for (uint32_t n = body.u4(); n > 0; n--) {
      BinaryFile::Site row = {};
      row.array = body.u1();
      row.owner = owner(body.u4());
      row.trace = trace(body.u4());
      row.live_bytes = body.u4();
      row.live_objects = body.u4();
      row.allocated_bytes = body.u4();
      row.allocated_objects = body.u4();
      s.rows.push_back(row);
    }
    file_.sites.push_back(s);
  }

  uint32_t width(uint32_t type) const {
    switch (type) {
      case 2:
        return file_.id_size;
      case 4:
      case 8:
        return 1;
      case 5:
      case 9:
        return 2;
      case 6:
      case 10:
        return 4;
      case 7:
      case 11:
        return 8;
      default:
        fail("an unknown type");
    }
  }

  void read_sub_record(Cursor& body) {
    const uint32_t tag = body.u1();
    switch (tag) {
      case 0x20:
        return read_class_dump(body);
      case 0x21:
      case 0x22:
      case 0x23:
        return read_object(tag, body);
      default:
        return read_root(tag, body);
    }
  }

  void read_root(uint32_t tag, Cursor& body) {
    BinaryFile::Root root = {};
    root.kind = tag;
    root.object = body.id();
    if (tag == 0x01) root.reference = body.id();
    if (tag == 0x02 || tag == 0x03 || tag == 0x04 || tag == 0x06 || tag == 0x08) root.thread = body.u4();
    if (tag == 0x08) {
      root.trace = trace(body.u4());
      rooted_threads_.insert(root.thread);
    } else if (root.thread != 0 && rooted_threads_.count(root.thread) == 0) {
      fail("a root of a thread that has no thread root yet");
    } else if (tag == 0x02 || tag == 0x03 || tag == 0x04 || tag == 0x06) {
      if (root.thread == 0) fail("a root of no thread");
    }
    if (tag == 0x02 || tag == 0x03) root.frame = static_cast<int32_t>(body.u4());
    if (tag != 0xff && tag > 0x08) fail("an unknown sub-record");
    file_.roots.push_back(root);
  }

  void read_class_dump(Cursor& body) {
    const uint64_t object = body.id();
    BinaryFile::ClassDump dump;
    dump.trace = trace(body.u4());
    dump.super = body.id();
    dump.loader = body.id();
    dump.signers = body.id();
    dump.domain = body.id();
    if (body.id() != 0 || body.id() != 0) fail("the reserved fields are in use");
    dump.instance_size = body.u4();
    for (uint32_t n = body.u2(); n > 0; n--) {
      const uint32_t index = body.u2(), type = body.u1();
      dump.constants.push_back({"", index, type, body.number(width(type))});
    }
    for (uint32_t n = body.u2(); n > 0; n--) {
      const std::string name = string(body.id());
      const uint32_t type = body.u1();
      dump.statics.push_back({name, 0, type, body.number(width(type))});
    }
    for (uint32_t n = body.u2(); n > 0; n--) {
      const std::string name = string(body.id());
      const uint32_t type = body.u1();
      width(type);
      dump.fields.push_back({name, 0, type, 0});
    }
    if (!file_.class_dumps.emplace(object, dump).second) fail("a class dump twice");
  }

  void read_object(uint32_t tag, Cursor& body) {
    const uint64_t id = body.id();
    BinaryFile::Object object = {};
    object.sub_tag = tag;
    object.trace = trace(body.u4());
    uint64_t size = 0;
    if (tag == 0x21) {
      object.class_object = body.id();
      size = object.length = body.u4();
    } else {
      object.length = body.u4();
      if (tag == 0x22) {
        object.class_object = body.id();
        object.type = 2;
      } else {
        object.type = body.u1();
        if (object.type == 2) fail("a primitive array of objects");
      }
      size = uint64_t{object.length} * width(object.type);
    }
    object.bytes = body.text(size);
    if (!file_.objects.emplace(id, object).second) fail("an object twice");
  }

  const std::string& bytes_;
  BinaryFile& file_;
  bool in_dump_ = false;
  std::set<uint32_t> rooted_threads_;
};

}  // namespace

BinaryFile read_binary(const std::string& bytes, bool tolerate_cut) {
  BinaryFile file;
  try {
    Reader(bytes, file).read(tolerate_cut);
  } catch (const std::runtime_error& error) {
    file.error = error.what();
  }
  return file;
}

}  // namespace hprof
