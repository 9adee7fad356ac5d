// Assembles small class files byte by byte, for tests of what no compiler makes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/modules/bytecode/engine/alloc_sites.h"
#include "core/modules/bytecode/engine/injector.h"

namespace hprof::test {

using Bytes = std::vector<uint8_t>;

inline void put2(Bytes& to, uint32_t value) {
  to.push_back(static_cast<uint8_t>(value >> 8));
  to.push_back(static_cast<uint8_t>(value));
}
inline void put4(Bytes& to, uint32_t value) {
  put2(to, value >> 16);
  put2(to, value & 0xffff);
}
inline void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

struct Attribute {
  std::string name;
  Bytes content;
};

struct Handler {
  uint16_t start, end, handler, type;
};

struct Method {
  std::string name = "m";
  std::string descriptor = "()V";
  uint16_t access = 0x0008;
  Bytes code;
  uint16_t stack = 2;
  uint16_t locals = 0;
  std::vector<Handler> handlers;
  std::vector<Attribute> attributes;  // of the code
  Bytes annotations = {};             // content of RuntimeVisibleAnnotations; empty: it has none
};

class ClassBuilder {
 public:
  explicit ClassBuilder(const std::string& name = "T", const std::string& super = "java/lang/Object",
                        uint16_t major = 52)
      : major_(major), this_(class_of(name)), super_(super.empty() ? 0 : class_of(super)) {}

  uint16_t utf8(const std::string& text) {
    pool_.push_back(1);
    put2(pool_, static_cast<uint32_t>(text.size()));
    append(pool_, Bytes(text.begin(), text.end()));
    return count_++;
  }
  uint16_t class_of(const std::string& name) {
    uint16_t text = utf8(name);
    pool_.push_back(7);
    put2(pool_, text);
    return count_++;
  }
  uint16_t method_ref(const std::string& owner, const std::string& name, const std::string& descriptor) {
    uint16_t type = class_of(owner);
    uint16_t name_index = utf8(name);
    uint16_t descriptor_index = utf8(descriptor);
    pool_.push_back(12);
    put2(pool_, name_index);
    put2(pool_, descriptor_index);
    uint16_t name_and_type = count_++;
    pool_.push_back(10);
    put2(pool_, type);
    put2(pool_, name_and_type);
    return count_++;
  }
  void raw_constant(const Bytes& bytes) {
    append(pool_, bytes);
    count_++;
  }
  void add(const Method& method) {
    Bytes code;
    put2(code, method.stack);
    put2(code, method.locals);
    put4(code, static_cast<uint32_t>(method.code.size()));
    append(code, method.code);
    put2(code, static_cast<uint32_t>(method.handlers.size()));
    for (const Handler& handler : method.handlers) {
      put2(code, handler.start);
      put2(code, handler.end);
      put2(code, handler.handler);
      put2(code, handler.type);
    }
    put2(code, static_cast<uint32_t>(method.attributes.size()));
    for (const Attribute& attribute : method.attributes) put(code, attribute);
    put2(methods_, method.access);
    put2(methods_, utf8(method.name));
    put2(methods_, utf8(method.descriptor));
    put2(methods_, (method.code.empty() ? 0 : 1) + (method.annotations.empty() ? 0 : 1));
    if (!method.annotations.empty()) put(methods_, {"RuntimeVisibleAnnotations", method.annotations});
    if (!method.code.empty()) put(methods_, {"Code", code});
    method_count_++;
  }
  Bytes build() const {
    Bytes file;
    put4(file, 0xCAFEBABE);
    put2(file, major_ == 45 ? 3 : 0);
    put2(file, major_);
    put2(file, count_);
    append(file, pool_);
    put2(file, 0x21);
    put2(file, this_);
    put2(file, super_);
    put2(file, 0);
    put2(file, 0);
    put2(file, method_count_);
    append(file, methods_);
    put2(file, 0);
    return file;
  }

 private:
  void put(Bytes& to, const Attribute& attribute) {
    put2(to, utf8(attribute.name));
    put4(to, static_cast<uint32_t>(attribute.content.size()));
    append(to, attribute.content);
  }

  Bytes pool_;
  uint16_t count_ = 1;
  uint16_t major_;
  uint16_t this_;
  uint16_t super_;
  Bytes methods_;
  uint16_t method_count_ = 0;
};

inline void* test_allocate(void* context, size_t size) {
  if (context != nullptr) ++*static_cast<int*>(context);
  return std::malloc(size);
}
inline void test_release(void*, void* block, size_t) { std::free(block); }

// A rewrite, and the first method of the new class taken apart again.
struct Rewritten {
  explicit Rewritten(const Bytes& file, const ProbeSet& probes, size_t limit = 16u << 20)
      : scratch({nullptr, test_allocate, test_release}, limit) {
    rewrite({file.data(), static_cast<uint32_t>(file.size())}, 0, probes, scratch, &result);
    bytes = file;
    if (result.reason == Reason::kRewritten) {
      bytes.resize(result.size);
      copy_result(result, bytes.data());
    }
    parsed = parse_class({bytes.data(), static_cast<uint32_t>(bytes.size())}, scratch, &view);
    if (parsed != Reason::kRewritten) return;
    uint32_t at = view.methods + 2;
    if (load_be16(view.file.data + view.methods) != 0 && parse_method(view, &at, &method) &&
        method.code_begin != 0) {
      has_code = parse_code(view, method, &code);
    }
  }
  uint32_t left(Reason reason) const { return result.counts.users[0].left[static_cast<uint32_t>(reason)]; }
  Bytes attribute(Word word) const {
    Cursor in{view.file.data, code.attributes, code.end};
    for (uint32_t i = 0; i < code.attribute_count; i++) {
      bool wanted = view.pool.word(in.u2()) == word;
      uint32_t size = in.u4();
      if (wanted) return Bytes(view.file.data + in.at, view.file.data + in.at + size);
      in.skip(size);
    }
    return {};
  }

  Scratch scratch;
  RewriteResult result;
  Bytes bytes;
  Reason parsed;
  ClassView view;
  MethodView method;
  CodeView code;
  bool has_code = false;
};

// As Object's is.
inline Method empty_constructor() {
  Method method;
  method.name = "<init>";
  method.access = 1;
  method.locals = 1;
  method.code = {177};
  return method;
}

inline ProbesOfUser user_of(uint32_t mask, const char* owner) {
  ProbesOfUser user;
  user.probes = mask;
  user.owner = owner;
  const char* names[kTargets] = {"begin",  "end",  "unwind", "handler",     "leaf",      "object",
                                 "arrays", "made", "caught", "constructed", "arguments", "result"};
  std::memcpy(user.targets, names, sizeof names);
  return user;
}

inline ProbeSet probes_of(uint32_t mask) {
  ProbeSet probes;
  if (mask & kProbesOfSites) add_allocation_probes(&probes);
  probes.users[0] = user_of(mask, "Targets");
  probes.user_count = 1;
  return probes;
}

}  // namespace hprof::test
