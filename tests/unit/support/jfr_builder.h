// Builds recordings of JDK Flight Recorder for the tests of what reads them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hprof::test {

// Values as a chunk has them. packed: integers have as many bytes as they need.
class JfrValues {
 public:
  explicit JfrValues(bool packed = true) : packed_(packed) {}

  JfrValues& fixed(uint64_t value, unsigned size) {
    while (size-- > 0) bytes_.push_back(static_cast<char>(value >> 8 * size));
    return *this;
  }
  JfrValues& number(uint64_t value, unsigned size) {
    if (!packed_) return fixed(value, size);
    for (unsigned i = 0; i < 8 && value > 0x7f; ++i, value >>= 7)
      bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
    return *this;
  }
  JfrValues& u1(unsigned value) { return fixed(value, 1); }
  JfrValues& u4(uint64_t value) { return number(value, 4); }
  JfrValues& u8(uint64_t value) { return number(value, 8); }
  JfrValues& text(const std::string& utf8) {
    u1(3).u4(utf8.size());
    bytes_ += utf8;
    return *this;
  }
  JfrValues& add(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  bool packed_;
  std::string bytes_;
};

class JfrBuilder {
 public:
  struct Field {
    const char* name;
    unsigned type;
    bool is_in_pool = false, is_array = false;
  };
  struct Type {
    unsigned id;
    const char* name;
    std::vector<Field> fields;
  };

  explicit JfrBuilder(bool packed = true) : packed_(packed) {}

  JfrValues values() const { return JfrValues(packed_); }
  // Types, pools and events in any order; end_chunk() puts them together.
  JfrBuilder& type(Type type) {
    types_.push_back(std::move(type));
    return *this;
  }
  // pools: their number, and then each: type, count, and each value: number, bytes.
  JfrBuilder& pools(const JfrValues& pools) {
    return add_event(1, values().u8(0).u8(0).u8(0).u1(0).add(pools.bytes()));
  }
  JfrBuilder& event(unsigned type, const JfrValues& fields) { return add_event(type, fields); }

  // A chunk that begins at that time, and lasts a second; a tick is a microsecond.
  JfrBuilder& end_chunk(uint64_t start_ns) {
    constexpr unsigned kHead = 68;
    const size_t metadata = kHead + events_.size();
    write_metadata();
    JfrValues head(packed_);
    head.add(std::string("FLR\0", 4)).fixed(2, 2).fixed(1, 2).fixed(kHead + events_.size(), 8).fixed(0, 8);
    head.fixed(metadata, 8).fixed(start_ns, 8).fixed(1000000000, 8).fixed(0, 8).fixed(1000000, 8);
    head.fixed(packed_ ? 1 : 0, 4);
    bytes_ += head.bytes() + events_;
    events_.clear();
    types_.clear();
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  JfrBuilder& add_event(unsigned type, const JfrValues& fields) {
    const std::string body = values().u8(type).add(fields.bytes()).bytes();
    // The size counts itself.
    size_t size = body.size();
    while (values().u4(size).bytes().size() + body.size() != size) ++size;
    events_ += values().u4(size).bytes() + body;
    return *this;
  }

  void write_metadata() {
    std::vector<std::string> words;
    JfrValues tree(packed_);
    const auto word = [&](const std::string& text) {
      size_t i = 0;
      while (i < words.size() && words[i] != text) ++i;
      if (i == words.size()) words.push_back(text);
      tree.u4(i);
    };
    const auto begin = [&](const char* name, const std::vector<std::pair<std::string, std::string>>& facts,
                           size_t children) {
      word(name);
      tree.u4(facts.size());
      for (const auto& [key, value] : facts) {
        word(key);
        word(value);
      }
      tree.u4(children);
    };
    begin("root", {}, 1);
    begin("metadata", {}, types_.size());
    for (const Type& type : types_) {
      begin("class", {{"id", std::to_string(type.id)}, {"name", type.name}}, type.fields.size());
      for (const Field& field : type.fields) {
        std::vector<std::pair<std::string, std::string>> facts = {{"name", field.name},
                                                                  {"class", std::to_string(field.type)}};
        if (field.is_in_pool) facts.emplace_back("constantPool", "true");
        if (field.is_array) facts.emplace_back("dimension", "1");
        begin("field", facts, 0);
      }
    }
    JfrValues event(packed_);
    event.u8(0).u8(0).u8(1).u4(words.size());
    for (const std::string& each : words) event.text(each);
    add_event(0, event.add(tree.bytes()));
  }

  bool packed_;
  std::vector<Type> types_;
  std::string events_, bytes_;
};

// Numbers of the types of jfr_chunk().
enum JfrTypes : unsigned {
  kJfrBoolean = 10,
  kJfrInt,
  kJfrLong,
  kJfrString,
  kJfrSymbol,
  kJfrClass,
  kJfrMethod,
  kJfrFrame,
  kJfrStack,
  kJfrThread,
  kJfrSample,
  kJfrBlocked,
  kJfrOther,
};

// Adds a chunk like those of the JDK. Its samples: two of a.A.inner, called by a.A$B.outer, in thread "main";
// one of the same stack in another thread; one without a stack; one blocked for 1500 ticks by an a.A[]; and
// an event of another kind.
inline void add_jfr_chunk(JfrBuilder& to, uint64_t start_ns, const char* inner = "inner") {
  using Fields = std::vector<JfrBuilder::Field>;
  to.type({kJfrBoolean, "boolean", {}}).type({kJfrInt, "int", {}}).type({kJfrLong, "long", {}});
  to.type({kJfrString, "java.lang.String", {}});
  to.type({kJfrSymbol, "jdk.types.Symbol", {{"string", kJfrString}}});
  to.type({kJfrClass, "java.lang.Class", {{"name", kJfrSymbol, true}}});
  to.type({kJfrMethod, "jdk.types.Method", {{"type", kJfrClass, true}, {"name", kJfrSymbol, true}}});
  to.type({kJfrFrame, "jdk.types.StackFrame", {{"method", kJfrMethod, true}, {"lineNumber", kJfrInt}}});
  to.type(
      {kJfrStack, "jdk.types.StackTrace", {{"truncated", kJfrBoolean}, {"frames", kJfrFrame, false, true}}});
  to.type({kJfrThread, "java.lang.Thread", {{"osName", kJfrString}, {"javaName", kJfrString}}});
  const Fields sample = {
      {"startTime", kJfrLong}, {"sampledThread", kJfrThread, true}, {"stackTrace", kJfrStack, true}};
  to.type({kJfrSample, "jdk.ExecutionSample", sample});
  to.type({kJfrBlocked,
           "jdk.JavaMonitorEnter",
           {{"startTime", kJfrLong},
            {"duration", kJfrLong},
            {"eventThread", kJfrThread, true},
            {"stackTrace", kJfrStack, true},
            {"monitorClass", kJfrClass, true}}});
  to.type({kJfrOther, "jdk.GCPhasePause", {{"startTime", kJfrLong}, {"name", kJfrString}}});
  const auto fields = [&] { return to.values(); };
  to.event(kJfrSample, fields().u8(1).u8(1).u8(1)).event(kJfrSample, fields().u8(2).u8(1).u8(1));
  to.event(kJfrSample, fields().u8(3).u8(2).u8(1)).event(kJfrSample, fields().u8(4).u8(1).u8(0));
  to.event(kJfrBlocked, fields().u8(5).u8(1500).u8(1).u8(2).u8(3));
  to.event(kJfrOther, fields().u8(6).text("pause"));
  JfrValues pools = fields();
  pools.u4(5);
  pools.u8(kJfrSymbol).u4(5).u8(1).text("a/A").u8(2).text("a/A$B").u8(3).text("[La/A;");
  pools.u8(4).text(inner).u8(5).text("outer");
  pools.u8(kJfrClass).u4(3).u8(1).u8(1).u8(2).u8(2).u8(3).u8(3);
  pools.u8(kJfrMethod).u4(2).u8(1).u8(1).u8(4).u8(2).u8(2).u8(5);
  pools.u8(kJfrStack).u4(2);
  pools.u8(1).u1(0).u4(2).u8(1).u4(12).u8(2).u4(0xffffffff);
  pools.u8(2).u1(1).u4(1).u8(1).u4(13);
  pools.u8(kJfrThread).u4(2).u8(1).text("main").text("main").u8(2).text("C1").u1(0);
  to.pools(pools).end_chunk(start_ns);
}

}  // namespace hprof::test
