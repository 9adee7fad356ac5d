// Checks the classes that a collector brings for its probes, as far as their files show it without a VM.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/opcodes.h"
#include "core/modules/bytecode/engine/probe_users.h"
#include "tools/hprof/plugin/check_parts.h"

namespace hprof::tool {

namespace {

constexpr uint16_t kVersion = 52;  // of the class files that every VM since JDK 8 takes
constexpr uint16_t kAccPublic = 0x0001, kAccNative = 0x0100;
constexpr size_t kScratchMost = 16u << 20;
constexpr const char* kUnsafe = "sun/misc/Unsafe";
constexpr const char* kPrimitives = "ZBCSIJFD";

// Methods that are native in all JDKs, so that they have no probes.
constexpr const char* kNativeMethods[] = {
    "java/lang/Object.getClass",          "java/lang/Object.hashCode",         "java/lang/System.arraycopy",
    "java/lang/System.currentTimeMillis", "java/lang/System.identityHashCode", "java/lang/System.nanoTime",
    "java/lang/Thread.currentThread",
};

std::string text_of(Span span) { return std::string(reinterpret_cast<const char*>(span.data), span.size); }

void* allocate(void*, size_t size) { return std::malloc(size); }
void release(void*, void* block, size_t) { std::free(block); }

struct Method {
  std::string key;  // name and descriptor
  uint16_t access;
  CodeView code;
  bool has_code;
};

// A class file that was read.
struct Brought {
  Scratch scratch{{nullptr, allocate, release}, kScratchMost};
  ClassView view;
  std::vector<Method> methods;
  std::set<std::string> static_fields;  // name and descriptor

  const Method* find(const std::string& key) const {
    for (const Method& method : methods) {
      if (method.key == key) return &method;
    }
    return nullptr;
  }
};

class TargetCheck {
 public:
  TargetCheck(CheckedHost& host, const hprof_probe_user& asked) : host_(host), asked_(asked) {}

  void run() {
    for (uint32_t i = 0; asked_.classes != nullptr && i < asked_.class_count; i++) {
      const char* name = asked_.classes[i].name;
      if (name != nullptr && !is_name_of_targets(name))
        return fault(name, "does not begin with java/lang/Hprof, by which other copies of the agent know it");
    }
    if (!is_right(asked_)) return host_.fault("asks for probes in a way that the core refuses (probes.h)");
    if (asked_.classes == nullptr) return;
    for (uint32_t i = 0; i < asked_.class_count; i++) {
      if (!read(asked_.classes[i])) return;
    }
    for (uint32_t i = 0; i < asked_.class_count; i++) {
      check_references(asked_.classes[i].name, read_[asked_.classes[i].name]->view.pool);
      check_natives(asked_.classes[i], *read_[asked_.classes[i].name]);
    }
    check_members();
  }

 private:
  void fault(const std::string& where, const std::string& text) { host_.fault(where + " " + text); }

  bool read(const hprof_probe_class& brought) {
    const std::string name = brought.name;
    auto made = std::make_unique<Brought>();
    const Reason reason = parse_class({brought.bytes, brought.byte_count}, made->scratch, &made->view);
    if (reason != Reason::kRewritten) {
      fault(name, std::string("is no class file: ") + reason_text(reason));
      return false;
    }
    if (!made->view.name.equals(brought.name)) fault(name, "is in its file " + text_of(made->view.name));
    if (made->view.major != kVersion)
      fault(name, "has version " + std::to_string(made->view.major) + ", not 52: compile it for Java 8");
    const bool is_sound = read_fields(*made) && read_methods(*made);
    if (!is_sound) fault(name, "has fields or methods that cannot be read");
    read_[name] = std::move(made);
    return is_sound;
  }

  static bool read_fields(Brought& to) {
    const ClassView& view = to.view;
    Cursor in = {view.file.data, view.fields, view.methods};
    for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
      const uint16_t access = in.u2();
      Span name, type;
      if (!view.pool.utf8(in.u2(), &name) || !view.pool.utf8(in.u2(), &type)) return false;
      if ((access & kAccStatic) != 0) to.static_fields.insert(text_of(name) + " " + text_of(type));
      for (uint32_t attributes = in.u2(); attributes != 0 && in.ok; attributes--) {
        in.u2();
        in.skip(in.u4());
      }
    }
    return in.ok;
  }

  static bool read_methods(Brought& to) {
    uint32_t at = to.view.methods + 2;
    for (uint32_t count = load_be16(to.view.file.data + to.view.methods); count != 0; count--) {
      MethodView method;
      if (!parse_method(to.view, &at, &method)) return false;
      CodeView code;
      const bool has_code = method.code_begin != 0;
      if (has_code && !parse_code(to.view, method, &code)) return false;
      to.methods.push_back(
          {text_of(method.name) + text_of(method.descriptor), method.access, code, has_code});
    }
    return true;
  }

  bool is_own(const std::string& name) const { return read_.count(name) != 0; }

  // The boot loader defines the class, and sees the JDK's alone.
  void check_references(const std::string& owner, const ConstantPool& pool) {
    for (uint32_t i = 1; i < pool.count; i++) {
      Span found;
      if (!pool.class_name(i, &found)) continue;
      std::string name = text_of(found);
      if (name[0] == '[') {
        name.erase(0, name.find_first_not_of('['));
        if (name.size() == 1 && std::strchr(kPrimitives, name[0]) != nullptr) continue;
        name = name.substr(1, name.size() - 2);
      }
      if (name.rfind("java/", 0) != 0 && name != kUnsafe && !is_own(name))
        fault(owner, "names the class " + name + ", which the boot loader may not have");
    }
  }

  void check_natives(const hprof_probe_class& of, const Brought& file) {
    std::set<std::string> registered;
    for (uint32_t i = 0; i < of.native_count; i++) {
      const hprof_native& native = of.natives[i];
      const std::string key = std::string(native.name) + native.type;
      const Method* method = file.find(key);
      registered.insert(key);
      if (native.function == nullptr) fault(of.name, "has no function for its native method " + key);
      if (method == nullptr || (method->access & kAccNative) == 0)
        fault(of.name, "has no native method " + key + ", which the unit registers");
    }
    for (const Method& method : file.methods) {
      if ((method.access & kAccNative) != 0 && registered.count(method.key) == 0)
        fault(of.name, "has a native method that the unit does not register: " + method.key);
    }
  }

  bool has_static(const std::string& key, uint16_t too) const {
    const Method* method = first().find(key);
    const uint16_t wanted = kAccStatic | too;
    return method != nullptr && (method->access & wanted) == wanted;
  }
  const Brought& first() const { return *read_.at(asked_.classes[0].name); }

  void check_members() {
    const std::string owner = asked_.classes[0].name;
    if ((first().view.access & kAccPublic) == 0) fault(owner, "is not public, so probes cannot call it");
    if (first().static_fields.count(std::string(asked_.live) + " " + kLiveType) == 0)
      fault(owner, std::string("has no static boolean field ") + asked_.live);
    if (asked_.prime != nullptr && !has_static(std::string(asked_.prime) + kPrimeType, 0))
      fault(owner, std::string("has no static method ") + asked_.prime + kPrimeType);
    for (uint32_t i = 0; i < asked_.target_count; i++) {
      const std::string key = std::string(asked_.targets[i].method) + kTargetTypes[asked_.targets[i].point];
      if (has_static(key, kAccPublic)) {
        follow(owner, key);
      } else {
        fault(owner, "has no public static method " + key + ", a target");
      }
    }
    follow(owner, "<clinit>()V");  // the first call of a target runs it
  }

  // Looks at what a target runs: the method, and those of the brought classes that it calls.
  void follow(const std::string& owner, const std::string& key) {
    const Brought& file = *read_[owner];
    const Method* method = file.find(key);
    if (method == nullptr || !method->has_code || !followed_.insert(owner + "." + key).second) return;
    const std::string where = owner + "." + key.substr(0, key.find('('));
    const Span code = method->code.code;
    for (uint32_t pc = 0; pc < code.size;) {
      const uint32_t length = instruction_length(code.data, code.size, pc);
      if (length == 0) return fault(where, "has code that cannot be read");
      const OpKind kind = kOpInfo[code.data[pc]].kind;
      if (kind == OpKind::kNew || kind == OpKind::kNewArray || kind == OpKind::kMultiNewArray)
        fault(where, "makes an object, where there may be a probe that calls it");
      if (kind == OpKind::kThrow) fault(where, "throws, into the program");
      if (kind == OpKind::kInvoke) follow_call(where, file.view.pool, load_be16(code.data + pc + 1));
      pc += length;
    }
  }

  void follow_call(const std::string& where, const ConstantPool& pool, uint32_t index) {
    MemberRef called;
    if (!pool.member(index, &called)) return fault(where, "has a call by invokedynamic, which makes objects");
    const std::string owner = text_of(called.owner), name = owner + "." + text_of(called.name);
    if (is_own(owner)) return follow(owner, text_of(called.name) + text_of(called.descriptor));
    const bool is_native = std::any_of(std::begin(kNativeMethods), std::end(kNativeMethods),
                                       [&](const char* native) { return name == native; });
    if (!is_native && owner != kUnsafe)
      fault(where, "calls " + name + ", which may have a probe that calls it");
  }

  CheckedHost& host_;
  const hprof_probe_user& asked_;
  std::map<std::string, std::unique_ptr<Brought>> read_;  // by name
  std::set<std::string> followed_;
};

}  // namespace

void check_targets(CheckedHost& host) {
  host.findings.doing("the classes of its probes");
  for (const hprof_probe_user& asked : host.mock.probe_users) TargetCheck(host, asked).run();
}

}  // namespace hprof::tool
