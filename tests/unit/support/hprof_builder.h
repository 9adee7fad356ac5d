// Binary hprof files made in code, for tests of what reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace hprof::test {

// Appends big-endian values and records. Nothing is checked: broken files are made the same way.
class HprofBuilder {
 public:
  explicit HprofBuilder(unsigned id_size = 4, const std::string& version = "JAVA PROFILE 1.0.2")
      : id_size_(id_size) {
    bytes_ = version;
    bytes_.push_back('\0');
    u4(id_size).u8(1700000000000u);
  }

  HprofBuilder& u1(uint64_t v) { return put(v, 1); }
  HprofBuilder& u2(uint64_t v) { return put(v, 2); }
  HprofBuilder& u4(uint64_t v) { return put(v, 4); }
  HprofBuilder& u8(uint64_t v) { return put(v, 8); }
  HprofBuilder& id(uint64_t v) { return put(v, id_size_); }
  HprofBuilder& raw(const std::string& text) {
    bytes_ += text;
    return *this;
  }

  // Everything until end() is the record's body.
  HprofBuilder& begin(uint8_t tag, uint32_t time = 0) {
    u1(tag).u4(time).u4(0);
    body_ = bytes_.size();
    return *this;
  }
  HprofBuilder& end() {
    auto length = static_cast<uint32_t>(bytes_.size() - body_);
    for (int i = 0; i < 4; ++i)
      bytes_[body_ - 4 + static_cast<size_t>(i)] = static_cast<char>(length >> (24 - 8 * i));
    return *this;
  }

  HprofBuilder& string(uint64_t name, const std::string& text) {
    return begin(0x01).id(name).raw(text).end();
  }
  HprofBuilder& load_class(uint32_t serial, uint64_t object, uint32_t trace, uint64_t name) {
    return begin(0x02).u4(serial).id(object).u4(trace).id(name).end();
  }
  HprofBuilder& frame(uint64_t frame, uint64_t method, uint64_t signature, uint64_t source, uint32_t serial,
                      int32_t line) {
    begin(0x04).id(frame).id(method).id(signature).id(source).u4(serial);
    return u4(static_cast<uint32_t>(line)).end();
  }
  HprofBuilder& trace(uint32_t serial, uint32_t thread, const std::vector<uint64_t>& frames) {
    begin(0x05).u4(serial).u4(thread).u4(frames.size());
    for (uint64_t frame : frames) id(frame);
    return end();
  }
  HprofBuilder& start_thread(uint32_t serial, uint64_t object, uint32_t trace, uint64_t name) {
    return begin(0x0a).u4(serial).id(object).u4(trace).id(name).id(name).id(name).end();
  }

  using Fields = std::vector<std::pair<uint64_t, uint8_t>>;  // name, type
  // A sub-record of a heap dump: no statics, no constants.
  HprofBuilder& class_dump(uint64_t object, uint64_t super, uint32_t size, const Fields& fields,
                           uint32_t trace = 1) {
    u1(0x20).id(object).u4(trace).id(super).id(0).id(0).id(0).id(0).id(0).u4(size).u2(0).u2(0).u2(
        fields.size());
    for (const auto& field : fields) id(field.first).u1(field.second);
    return *this;
  }
  HprofBuilder& instance(uint64_t object, uint64_t class_id, uint32_t size, uint32_t trace = 1) {
    return u1(0x21).id(object).u4(trace).id(class_id).u4(size);
  }

  const std::string& bytes() const { return bytes_; }
  unsigned id_size() const { return id_size_; }

 private:
  HprofBuilder& put(uint64_t value, unsigned size) {
    while (size-- > 0) bytes_.push_back(static_cast<char>(value >> (8 * size)));
    return *this;
  }

  unsigned id_size_;
  std::string bytes_;
  size_t body_ = 0;
};

// A small file that every reader takes: a heap dump in two segments. The members hold what tests break.
struct DumpRecipe {
  static constexpr uint64_t kObjectClass = 0x1000, kClassClass = 0x1008, kLoaderClass = 0x1010,
                            kNodeClass = 0x1018, kSubClass = 0x1020, kArrayClass = 0x1028,
                            kFirstPrimitive = 0x1100;
  static constexpr uint64_t kNode = 0x2000, kSub = 0x2008, kArray = 0x2010, kInts = 0x2018, kThread = 0x2020;
  static constexpr uint64_t kName = 0x10;  // string "field"

  unsigned id_size = 4;
  std::string version = "JAVA PROFILE 1.0.2";
  uint64_t node_super = kObjectClass;
  int node_size_error = 0;   // added to the instance size of the class
  int node_bytes_error = 0;  // added to the bytes of its instance
  uint64_t node_next = kSub;
  uint64_t element = kNode;
  uint32_t trace_thread = 7;
  int32_t line = 42;
  bool class_dumped = true;  // java.lang.Class
  bool dump_end = true;
  using Hook = std::function<void(HprofBuilder&)>;
  Hook first, definitions, in_segment, between_segments, last;

  std::string build() const {
    HprofBuilder b(id_size, version);
    run(first, b);
    define(b);
    run(definitions, b);
    b.begin(0x1c);
    dump_classes(b);
    b.u1(0x08).id(kThread).u4(7).u4(1);
    b.u1(0x03).id(kNode).u4(7).u4(0);
    b.u1(0x05).id(kObjectClass);
    run(in_segment, b);
    b.end();
    run(between_segments, b);
    b.begin(0x1c);
    dump_objects(b);
    b.end();
    if (dump_end) b.begin(0x2c).end();
    run(last, b);
    return b.bytes();
  }

 private:
  static void run(const Hook& hook, HprofBuilder& b) {
    if (hook) hook(b);
  }

  void define(HprofBuilder& b) const {
    static constexpr const char* kNames[] = {
        "java/lang/Object", "java/lang/Class", "java/lang/ClassLoader", "Node", "Sub", "[Ljava/lang/Object;"};
    static constexpr const char* kPrimitives[] = {"[Z", "[C", "[F", "[D", "[B", "[S", "[I", "[J"};
    b.string(kName, "field")
        .string(0x11, "main")
        .string(0x12, "([Ljava/lang/String;)V")
        .string(0x13, "Node.java");
    uint32_t serial = 1;
    uint64_t name = 0x20;
    for (const char* text : kNames) {
      b.string(name, text).load_class(serial, kObjectClass + 8 * (serial - 1), 0, name);
      ++serial;
      ++name;
    }
    for (uint64_t i = 0; i < 8; ++i, ++serial, ++name) {
      b.string(name, kPrimitives[i]).load_class(serial, kFirstPrimitive + 8 * i, 0, name);
    }
    b.frame(0x30, 0x11, 0x12, 0x13, 4, line).trace(1, trace_thread, {0x30});
  }

  void dump_classes(HprofBuilder& b) const {
    uint32_t node_size = 4 + id_size + 1;
    b.class_dump(kObjectClass, 0, 0, {});
    if (class_dumped) b.class_dump(kClassClass, kObjectClass, 0, {});
    b.class_dump(kLoaderClass, kObjectClass, 0, {});
    b.class_dump(kNodeClass, node_super, node_size + static_cast<uint32_t>(node_size_error),
                 {{kName, 10}, {kName, 2}, {kName, 4}});
    b.class_dump(kSubClass, kNodeClass, node_size + 8 + id_size, {{kName, 11}, {kName, 2}});
    b.class_dump(kArrayClass, kObjectClass, 0, {});
    for (uint64_t i = 0; i < 8; ++i) b.class_dump(kFirstPrimitive + 8 * i, kObjectClass, 0, {});
  }

  void dump_objects(HprofBuilder& b) const {
    uint32_t node_size = 4 + id_size + 1;
    b.instance(kNode, kNodeClass, node_size + static_cast<uint32_t>(node_bytes_error))
        .u4(5)
        .id(node_next)
        .u1(1);
    for (int i = 0; i < node_bytes_error; ++i) b.u1(0);
    b.instance(kSub, kSubClass, node_size + 8 + id_size).u8(1).id(kArray).u4(6).id(0).u1(0);
    b.u1(0x22).id(kArray).u4(1).u4(2).id(kArrayClass).id(element).id(0);
    b.u1(0x23).id(kInts).u4(1).u4(3).u1(10).u4(1).u4(2).u4(3);
    b.instance(kThread, kObjectClass, 0);
  }
};

}  // namespace hprof::test
