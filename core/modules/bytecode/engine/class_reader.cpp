// The outline of a class file, checked once.
#include "core/modules/bytecode/engine/class_reader.h"

namespace hprof {

const char* reason_text(Reason reason) {
  static const char* const kTexts[] = {
#define HPROF_ROW(name, text) text,
      HPROF_REWRITE_REASONS(HPROF_ROW)
#undef HPROF_ROW
  };
  auto index = static_cast<uint32_t>(reason);
  return index < kReasonCount ? kTexts[index] : "?";
}

bool ConstantPool::member(uint32_t index, MemberRef* ref) const {
  uint8_t kind = tag(index);
  if (kind < kTagFieldref || kind > kTagInterfaceMethodref) return false;
  const uint8_t* at = file + offsets[index];
  uint32_t name_and_type = load_be16(at + 3);
  if (!class_name(load_be16(at + 1), &ref->owner) || tag(name_and_type) != kTagNameAndType) return false;
  at = file + offsets[name_and_type];
  return utf8(load_be16(at + 1), &ref->name) && utf8(load_be16(at + 3), &ref->descriptor);
}

namespace {

// Bytes of a constant after its tag (JVMS 4.4), except for Utf8; 0 for tags that do not exist.
constexpr uint8_t kPoolSizes[21] = {0, 2, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

Word word_of(Span text) {
  switch (text.size) {
    case 4:
      return text.equals("Code", 4) ? Word::kCode : Word::kNone;
    case 13:
      return text.equals("StackMapTable", 13) ? Word::kStackMapTable : Word::kNone;
    case 15:
      return text.equals("LineNumberTable", 15) ? Word::kLineNumberTable : Word::kNone;
    case 18:
      return text.equals("LocalVariableTable", 18) ? Word::kLocalVariableTable : Word::kNone;
    case 22:
      return text.equals("LocalVariableTypeTable", 22) ? Word::kLocalVariableTypeTable : Word::kNone;
    case 29:
      return text.equals("RuntimeVisibleTypeAnnotations", 29) ? Word::kTypeAnnotations : Word::kNone;
    case 31:
      return text.equals("RuntimeInvisibleTypeAnnotations", 31) ? Word::kTypeAnnotations : Word::kNone;
    default:
      return Word::kNone;
  }
}

Reason parse_pool(Cursor& in, Scratch& scratch, ConstantPool* pool) {
  pool->file = in.file;
  pool->count = in.u2();
  if (!in.ok || pool->count == 0) return Reason::kMalformedClass;
  auto* offsets = scratch.pool_offsets.array<uint32_t>(pool->count);
  auto* words = scratch.pool_words.array<Word>(pool->count);
  if (offsets == nullptr || words == nullptr) return Reason::kNoMemory;
  std::memset(offsets, 0, pool->count * sizeof *offsets);
  std::memset(words, 0, pool->count * sizeof *words);
  pool->offsets = offsets;
  pool->words = words;
  for (uint32_t i = 1; i < pool->count; i++) {
    uint32_t start = in.at;
    uint8_t tag = in.u1();
    if (!in.ok) return Reason::kMalformedClass;
    if (tag > kTagPackage || kPoolSizes[tag] == 0) return Reason::kUnknownPoolTag;
    offsets[i] = start;
    if (tag == kTagUtf8) {
      uint32_t length = in.u2();
      in.skip(length);
      if (!in.ok) return Reason::kMalformedClass;
      words[i] = word_of({in.file + start + 3, length});
    } else {
      in.skip(kPoolSizes[tag]);
      if (tag == kTagLong || tag == kTagDouble) i++;
    }
  }
  return in.ok ? Reason::kRewritten : Reason::kMalformedClass;
}

void skip_attributes(Cursor& in) {
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    in.skip(2);
    in.skip(in.u4());
  }
}

void skip_members(Cursor& in) {
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    in.skip(6);
    skip_attributes(in);
  }
}

}  // namespace

Reason parse_class(Span file, Scratch& scratch, ClassView* view) {
  Cursor in{file.data, 0, file.size};
  view->file = file;
  if (in.u4() != 0xCAFEBABE) return Reason::kMalformedClass;
  view->minor = in.u2();
  view->major = in.u2();
  if (!in.ok) return Reason::kMalformedClass;
  // Before 45.3 the Code attribute had narrower fields; no current class has that.
  if (view->major < 45 || (view->major == 45 && view->minor < 3)) return Reason::kOldFormat;
  view->pool_begin = in.at + 2;
  Reason reason = parse_pool(in, scratch, &view->pool);
  if (reason != Reason::kRewritten) return reason;
  view->pool_end = in.at;
  view->access = in.u2();
  view->this_class = in.u2();
  view->super_class = in.u2();
  in.skip(in.u2() * 2u);
  view->fields = in.at;
  skip_members(in);
  view->methods = in.at;
  skip_members(in);
  view->methods_end = in.at;
  skip_attributes(in);
  if (!in.ok || in.at != file.size) return Reason::kMalformedClass;
  if (!view->pool.class_name(view->this_class, &view->name)) return Reason::kMalformedClass;
  view->super_name = {};
  if (view->super_class != 0 && !view->pool.class_name(view->super_class, &view->super_name)) {
    return Reason::kMalformedClass;
  }
  return Reason::kRewritten;
}

bool parse_method(const ClassView& view, uint32_t* at, MethodView* method) {
  Cursor in{view.file.data, *at, view.methods_end};
  *method = {};
  method->begin = in.at;
  method->access = in.u2();
  uint32_t name = in.u2();
  uint32_t descriptor = in.u2();
  bool plain = view.pool.utf8(name, &method->name) && view.pool.utf8(descriptor, &method->descriptor);
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    uint32_t begin = in.at;
    uint32_t word = in.u2();
    in.skip(in.u4());
    if (view.pool.word(word) != Word::kCode) continue;
    if (method->code_begin != 0) plain = false;  // two Code attributes
    method->code_begin = begin;
    method->code_end = in.at;
  }
  method->end = in.at;
  *at = in.at;
  return plain && in.ok;
}

bool parse_code(const ClassView& view, const MethodView& method, CodeView* code) {
  Cursor in{view.file.data, method.code_begin + 6, method.code_end};
  code->max_stack = in.u2();
  code->max_locals = in.u2();
  uint32_t length = in.u4();
  code->code = {view.file.data + in.at, length};
  if (length == 0 || length > 65535) return false;
  in.skip(length);
  code->handler_count = in.u2();
  code->handlers = view.file.data + in.at;
  in.skip(code->handler_count * 8);
  code->attribute_count = in.u2();
  code->attributes = in.at;
  for (uint32_t i = 0; i < code->attribute_count && in.ok; i++) {
    in.skip(2);
    in.skip(in.u4());
  }
  code->end = in.at;
  return in.ok && in.at == method.code_end;
}

uint8_t next_parameter(Span descriptor, uint32_t* at) {
  uint32_t next = *at;
  if (next == 0 && (descriptor.size == 0 || descriptor.data[next++] != '(')) return 0;
  bool is_array = false;
  for (; next < descriptor.size && descriptor.data[next] == '['; next++) is_array = true;
  if (next == descriptor.size) return 0;
  const uint8_t letter = descriptor.data[next++];
  if (letter == 'L') {
    while (next < descriptor.size && descriptor.data[next] != ';') next++;
    if (next++ == descriptor.size) return 0;
  } else if (std::memchr(is_array ? "ZBCSIJFD" : ")ZBCSIJFD", letter, is_array ? 8 : 9) == nullptr) {
    return 0;
  }
  *at = next;
  return is_array ? 'L' : letter;
}

}  // namespace hprof
