// A checked view of the bytes of a class file (JVMS 4); only the positions of the constants are copied. All
// accesses are in bounds for any input that parse_class() has accepted.
#pragma once

#include "core/modules/bytecode/engine/reason.h"
#include "core/modules/bytecode/engine/scratch.h"

namespace hprof {

enum PoolTag : uint8_t {
  kTagUtf8 = 1,
  kTagInteger = 3,
  kTagLong = 5,
  kTagDouble = 6,
  kTagClass = 7,
  kTagFieldref = 9,
  kTagMethodref = 10,
  kTagInterfaceMethodref = 11,
  kTagNameAndType = 12,
  kTagPackage = 20,
};

// Names of attributes that the rewriter knows, looked up once per constant.
enum class Word : uint8_t {
  kNone,
  kCode,
  kStackMapTable,
  kLineNumberTable,
  kLocalVariableTable,
  kLocalVariableTypeTable,
  kTypeAnnotations,  // RuntimeVisible- and RuntimeInvisibleTypeAnnotations
};

struct MemberRef {
  Span owner;
  Span name;
  Span descriptor;
};

struct ConstantPool {
  const uint8_t* file = nullptr;
  const uint32_t* offsets = nullptr;  // of the tag byte; 0 for index 0 and after a long or double
  const Word* words = nullptr;
  uint32_t count = 0;

  // 0 for an index that names no constant.
  uint8_t tag(uint32_t index) const {
    return index < count && offsets[index] != 0 ? file[offsets[index]] : 0;
  }
  bool utf8(uint32_t index, Span* text) const {
    if (tag(index) != kTagUtf8) return false;
    const uint8_t* at = file + offsets[index];
    *text = {at + 3, load_be16(at + 1)};
    return true;
  }
  Word word(uint32_t index) const { return index < count ? words[index] : Word::kNone; }
  bool class_name(uint32_t index, Span* name) const {
    return tag(index) == kTagClass && utf8(load_be16(file + offsets[index] + 1), name);
  }
  // A Fieldref, Methodref or InterfaceMethodref.
  bool member(uint32_t index, MemberRef* ref) const;
};

// Reads forward; after the first read past the end `ok` is false and every value is 0.
struct Cursor {
  const uint8_t* file;
  uint32_t at;
  uint32_t end;
  bool ok = true;

  bool need(uint32_t count) {
    if (ok && count <= end - at) return true;
    ok = false;
    return false;
  }
  uint8_t u1() { return need(1) ? file[at++] : 0; }
  uint16_t u2() {
    if (!need(2)) return 0;
    at += 2;
    return load_be16(file + at - 2);
  }
  uint32_t u4() {
    if (!need(4)) return 0;
    at += 4;
    return load_be32(file + at - 4);
  }
  void skip(uint32_t count) {
    if (need(count)) at += count;
  }
};

struct ClassView {
  Span file;
  uint32_t loader = 0;  // the caller's number of the class loader
  ConstantPool pool;
  uint16_t minor = 0;
  uint16_t major = 0;
  uint16_t access = 0;
  uint16_t this_class = 0;
  uint16_t super_class = 0;
  Span name;
  Span super_name;                  // empty for java/lang/Object and module-info
  uint32_t pool_begin = 0;          // position of the first constant
  uint32_t pool_end = 0;            // position of access_flags
  uint32_t fields = 0;              // position of fields_count
  uint32_t methods = 0;             // position of methods_count
  uint32_t methods_end = 0;         // position of the attributes of the class
  mutable uint32_t class_word = 0;  // MethodSite::class_word
};

struct MethodView {
  uint32_t begin = 0;  // position of access_flags
  uint32_t end = 0;
  uint16_t access = 0;
  Span name;
  Span descriptor;
  uint32_t code_begin = 0;  // position of the Code attribute's name index; 0: none
  uint32_t code_end = 0;
};

// The Code attribute (JVMS 4.7.3).
struct CodeView {
  uint16_t max_stack = 0;
  uint16_t max_locals = 0;
  Span code;
  uint32_t handler_count = 0;
  const uint8_t* handlers = nullptr;  // 8 bytes each
  uint32_t attribute_count = 0;
  uint32_t attributes = 0;  // position of the first attribute
  uint32_t end = 0;
};

constexpr uint16_t kAccStatic = 0x0008;
constexpr uint16_t kAccSynchronized = 0x0020;
constexpr uint16_t kAccNative = 0x0100;

// kRewritten if the outline of the file is sound (attributes are not read), else what is wrong.
Reason parse_class(Span file, Scratch& scratch, ClassView* view);

// Reads the method at *at and moves *at to the next one. False: it is malformed.
bool parse_method(const ClassView& view, uint32_t* at, MethodView* method);

bool parse_code(const ClassView& view, const MethodView& method, CodeView* code);

// The type of the next parameter in a method's descriptor, and moves *at, 0 at first, past it: its letter,
// 'L' for arrays, too; ')' after the last one; 0: the descriptor is malformed.
uint8_t next_parameter(Span descriptor, uint32_t* at);

}  // namespace hprof
