#include "core/modules/bytecode/engine/target_check.h"

#include "core/base/text.h"
#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/opcodes.h"
#include "core/modules/bytecode/engine/probe_users.h"

namespace hprof {

namespace {

constexpr uint16_t kAccPublic = 0x0001;
constexpr size_t kScratchMost = 16u << 20;
constexpr size_t kTextMost = 320;
constexpr const char* kUnsafe = "sun/misc/Unsafe";

// Native in sun.misc.Unsafe of JDK 8 and, by the names that rename_class() gives, in jdk.internal.misc.Unsafe
// of all later JDKs; get and put also as getIntVolatile.
#define HPROF_ACCESS(name, type) \
  "get" name "(Ljava/lang/Object;J)" type " put" name "(Ljava/lang/Object;J" type ")V "
constexpr const char* kUnsafeMethods =
    HPROF_ACCESS("Boolean", "Z") HPROF_ACCESS("Byte", "B") HPROF_ACCESS("Char", "C") HPROF_ACCESS("Short", "S")
        HPROF_ACCESS("Int", "I") HPROF_ACCESS("Long", "J") HPROF_ACCESS("Float", "F")
            HPROF_ACCESS("Double", "D") "compareAndSwapInt(Ljava/lang/Object;JII)Z "
                                        "compareAndSwapLong(Ljava/lang/Object;JJJ)Z fullFence()V";
#undef HPROF_ACCESS
// Native in all JDKs that have them.
constexpr const char* kNativeMethods =
    "java/lang/Double.doubleToRawLongBits(D)J java/lang/Double.longBitsToDouble(J)D "
    "java/lang/Float.floatToRawIntBits(F)I java/lang/Float.intBitsToFloat(I)F "
    "java/lang/Object.getClass()Ljava/lang/Class; java/lang/Object.hashCode()I "
    "java/lang/System.arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V "
    "java/lang/System.currentTimeMillis()J java/lang/System.identityHashCode(Ljava/lang/Object;)I "
    "java/lang/System.nanoTime()J java/lang/Thread.currentThread()Ljava/lang/Thread; "
    "java/lang/Thread.holdsLock(Ljava/lang/Object;)Z "
    "java/lang/Thread.currentCarrierThread()Ljava/lang/Thread;";  // since 19

Str str_of(Span text) { return Str(reinterpret_cast<const char*>(text.data), text.size); }

bool has_word(const char* words, Str wanted) {
  Str rest(words), word;
  while (next_part(&rest, ' ', &word)) {
    if (word == wanted) return true;
  }
  return false;
}

bool is_native_everywhere(const MemberRef& called) {
  constexpr Str kVolatile("Volatile");
  const bool is_unsafe = called.owner.equals(kUnsafe);
  char key[128];
  TextWriter to(key, sizeof(key));
  Str name = str_of(called.name);
  if (!is_unsafe) to.put(str_of(called.owner)).put('.');
  const size_t stem = name.size > kVolatile.size ? name.size - kVolatile.size : 0;
  if (is_unsafe && name.part(stem) == kVolatile) name = name.part(0, stem);
  to.put(name).put(str_of(called.descriptor));
  return has_word(is_unsafe ? kUnsafeMethods : kNativeMethods, to.text());
}

// Returns the rule of probes.h that the members break; nullptr: none.
const char* fault_of_members(const hprof_probe_user* user) {
  if (!HPROF_REACHES(user, hprof_probe_user, number)) return "by a struct that is too short";
  const bool is_native = user->classes == nullptr;
  uint32_t points = 0;
  for (uint32_t i = 0; i < user->target_count; i++) {
    const hprof_target& target = user->targets[i];
    if (target.point >= HPROF_POINTS) return "at a point that does not exist";
    if ((points >> target.point & 1) != 0) return "twice at a point";
    if (is_native ? target.function == nullptr : target.method == nullptr)
      return is_native ? "with a native target without a function" : "with a Java target without a method";
    points |= 1u << target.point;
  }
  const auto has = [points](uint32_t point) { return (points >> point & 1) != 0; };
  if (points == 0) return "without a target";
  if (has(HPROF_POINT_ARRAYS) != (has(HPROF_POINT_OBJECT) && !is_native))
    return is_native                 ? "with ARRAYS, which only Java has"
           : has(HPROF_POINT_OBJECT) ? "with OBJECT in Java, without ARRAYS"
                                     : "with ARRAYS, without OBJECT";
  const bool begins = has(HPROF_POINT_BEGIN), passes = has(HPROF_POINT_ARGUMENTS);
  const bool ends = has(HPROF_POINT_END), returns = has(HPROF_POINT_RESULT);
  if ((begins && passes) || (ends && returns)) return "with BEGIN and ARGUMENTS, or END and RESULT";
  if (!begins && !passes && (ends || returns || has(HPROF_POINT_UNWIND) || has(HPROF_POINT_HANDLER)))
    return "with END, RESULT, UNWIND or HANDLER, without BEGIN or ARGUMENTS";
  if (has(HPROF_POINT_CONSTRUCTED) && !has(HPROF_POINT_UNWIND)) return "with CONSTRUCTED, without UNWIND";
  if (!is_native && (user->class_count == 0 || user->live == nullptr))
    return user->live == nullptr ? "in Java, without the field `live`" : "in Java, without a class";
  const bool on_demand = (user->flags & HPROF_PROBES_ON_DEMAND) != 0;
  if (!on_demand)
    return (user->flags & HPROF_PROBES_ATTACHED) != 0 ? "with ATTACHED, without ON_DEMAND" : nullptr;
  if (user->thread_field != nullptr) return "with ON_DEMAND and a thread_field";
  return (user->flags & HPROF_PROBES_LATE) != 0 ? "with ON_DEMAND and LATE" : nullptr;
}

// A class file that is read. Out of line, for its size.
struct ClassFile {
  [[gnu::noinline]] ClassFile(const hprof_probe_class& brought, const Memory& memory)
      : scratch(memory, kScratchMost),
        reason(parse_class({brought.bytes, brought.byte_count}, scratch, &view)) {}
  [[gnu::noinline]] ~ClassFile() {}
  Scratch scratch;
  ClassView view;
  Reason reason;
};

class TargetCheck {
 public:
  TargetCheck(const hprof_probe_user& user, const Memory& memory, SayFault say, void* context)
      : user_(user), memory_(memory), budget_{memory, kScratchMost}, say_(say), context_(context) {}

  bool run() {
    for (uint32_t i = 0; i < user_.class_count; i++) {
      const char* name = user_.classes[i].name;
      if (name == nullptr || user_.classes[i].bytes == nullptr) {
        refuse("asks for probes with a class without name or bytes");
      } else if (!is_name_of_targets(name)) {
        refuse(name, " does not begin with java/lang/Hprof, by which other copies of the agent know it");
      } else {
        check_file(i);
      }
    }
    if (is_right_) check_targets();
    return is_right_;
  }

 private:
  void fault(const char* text, bool is_refused) {
    is_right_ = is_right_ && !is_refused;
    say_(context_, text, is_refused);
  }
  void refuse(Str where, const char* what = "", Str more = Str(), const char* rest = "") {
    char text[kTextMost];
    TextWriter(text, sizeof(text)).put_printable(where).put(what).put_printable(more).put(rest);
    fault(text, true);
  }
  // Of code. Before VMInit and in a static initialiser, which runs once, no call comes back for ever.
  void say_of(const ClassView& view, const MethodView& method, bool ends_vm, const char* what,
              const MemberRef& called = {}, const char* rest = "") {
    char text[kTextMost];
    TextWriter to(text, sizeof(text));
    to.put_printable(str_of(view.name)).put('.').put_printable(str_of(method.name)).put(what);
    if (called.owner.size != 0)
      to.put_printable(str_of(called.owner)).put('.').put_printable(str_of(called.name));
    to.put(rest);
    fault(text, ends_vm && !is_initialiser_);
  }

  void check_file(uint32_t number) {
    const Str name(user_.classes[number].name);
    const ClassFile file(user_.classes[number], memory_);
    if (file.reason != Reason::kRewritten)
      return refuse(name, " is no class file: ", Str(reason_text(file.reason)));
    if (str_of(file.view.name) != name) refuse(name, " is in its file ", str_of(file.view.name));
  }

  static bool find(const ClassView& view, Span name, Span type, MethodView* method) {
    uint32_t at = view.methods + 2;
    for (uint32_t count = load_be16(view.file.data + view.methods); count != 0; count--) {
      if (!parse_method(view, &at, method)) return false;
      if (method->name.equals(name) && method->descriptor.equals(type)) return true;
    }
    return false;
  }

  void check_targets() {
    const ClassFile file(user_.classes[0], memory_);
    const ClassView& view = file.view;
    MethodView method;
    if ((view.access & kAccPublic) == 0)
      refuse(str_of(view.name), " is not public, so probes cannot call it");
    for (uint32_t i = 0; i < user_.target_count; i++) {
      const char *name = user_.targets[i].method, *type = kTargetTypes[user_.targets[i].point];
      constexpr uint16_t kWanted = kAccPublic | kAccStatic;
      if (find(view, span_of(name), span_of(type), &method) && (method.access & kWanted) == kWanted) {
        follow(0, view, method);
        continue;
      }
      char key[kTextMost];
      refuse(str_of(view.name), " has no public static method ",
             TextWriter(key, sizeof(key)).put(name).put(type).text(), ", a target");
    }
    is_initialiser_ = true;  // the first call of a target runs it
    if (find(view, span_of("<clinit>"), span_of("()V"), &method)) follow(0, view, method);
    if (followed_.failed()) refuse(Str(reason_text(Reason::kNoMemory)));
  }

  // True: the method was not there yet.
  bool note(uint32_t number, const MethodView& method) {
    for (size_t i = 0; i < followed_.size(); i += 8) {
      if (load_be32(followed_.data() + i) == number && load_be32(followed_.data() + i + 4) == method.begin)
        return false;
    }
    followed_.put_u4(number);
    followed_.put_u4(method.begin);
    return !followed_.failed();
  }

  void follow(uint32_t number, const ClassView& view, const MethodView& method) {
    CodeView code;
    if (method.code_begin == 0 || !note(number, method)) return;
    const bool is_read = parse_code(view, method, &code);
    uint32_t length = is_read ? 1 : 0;
    for (uint32_t pc = 0; pc < code.code.size && length != 0; pc += length) {
      length = instruction_length(code.code.data, code.code.size, pc);
      const OpKind kind = length != 0 ? kOpInfo[code.code.data[pc]].kind : OpKind::kPlain;
      // Brought classes have no probes at arrays, but their objects' constructors do.
      if (kind == OpKind::kNew || kind == OpKind::kNewArray || kind == OpKind::kMultiNewArray)
        say_of(view, method, kind == OpKind::kNew,
               " makes an object, where there may be a probe that calls it");
      if (kind == OpKind::kThrow) say_of(view, method, false, " throws, into the program");
      if (kind == OpKind::kInvoke) follow_call(number, view, method, load_be16(code.code.data + pc + 1));
    }
    if (length == 0) say_of(view, method, true, " has code that cannot be read");
  }

  void follow_call(uint32_t number, const ClassView& view, const MethodView& method, uint32_t index) {
    MemberRef called;
    if (!view.pool.member(index, &called))
      return say_of(view, method, true, " has a call by invokedynamic, which makes objects");
    const bool is_own = follow_own(number, view, called);
    const bool is_first_unsafe =
        is_initialiser_ && called.owner.equals(kUnsafe) && called.name.equals("getUnsafe");
    if (!is_own && !is_first_unsafe && !is_native_everywhere(called))
      say_of(view, method, true, " calls ", called, ", which may have a probe that calls it");
  }

  // Follows the method into each brought class that has it: one of them may override it. False: the class
  // that is called has not.
  bool follow_own(uint32_t number, const ClassView& view, const MemberRef& called) {
    bool is_brought = false, is_own = false;
    for (uint32_t i = 0; i < user_.class_count; i++)
      is_brought = is_brought || called.owner.equals(user_.classes[i].name);
    for (uint32_t i = 0; i < user_.class_count && is_brought; i++) {
      if (i == number) {
        is_own = follow_in(i, view, called) || is_own;
      } else {
        const ClassFile other(user_.classes[i], memory_);
        is_own = follow_in(i, other.view, called) || is_own;
      }
    }
    return is_own;
  }

  // True: it is the class that is called, and has the method.
  bool follow_in(uint32_t number, const ClassView& view, const MemberRef& called) {
    MethodView method;
    if (!find(view, called.name, called.descriptor, &method)) return false;
    follow(number, view, method);
    return called.owner.equals(view.name);
  }

  const hprof_probe_user& user_;
  const Memory memory_;
  MemoryBudget budget_;
  GrowBuffer followed_{budget_};  // number of the class and MethodView::begin of each method
  bool is_initialiser_ = false;
  bool is_right_ = true;
  SayFault say_;
  void* context_;
};

}  // namespace

bool check_user(const hprof_probe_user* user, const Memory& memory, SayFault say, void* context) {
  if (const char* why = fault_of_members(user)) {
    char text[kTextMost];
    TextWriter(text, sizeof(text)).put("asks for probes ").put(why);
    say(context, text, true);
    return false;
  }
  return user->classes == nullptr || TargetCheck(*user, memory, say, context).run();
}

}  // namespace hprof
