// Checks the classes that a collector brings for its probes, as far as their files show it without a VM.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/probe_users.h"
#include "core/modules/bytecode/engine/target_check.h"
#include "tools/hprof/plugin/check_parts.h"

namespace hprof::tool {

namespace {

constexpr uint16_t kVersion = 52;  // of the class files that every VM since JDK 8 takes
constexpr size_t kScratchMost = 16u << 20;
constexpr const char* kUnsafe = "sun/misc/Unsafe";
constexpr const char* kPrimitives = "ZBCSIJFD";

std::string text_of(Span span) { return std::string(reinterpret_cast<const char*>(span.data), span.size); }

void* allocate(void*, size_t size) { return std::malloc(size); }
void release(void*, void* block, size_t) { std::free(block); }

struct Method {
  std::string key;  // name and descriptor
  uint16_t access;
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
    check_user(
        &asked_, {nullptr, allocate, release},
        [](void* self, const char* text, bool) { static_cast<TargetCheck*>(self)->host_.fault(text); }, this);
    if (asked_.classes == nullptr || asked_.class_count == 0) return;
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

  // False: check_user() has said why, or a fault does.
  bool read(const hprof_probe_class& brought) {
    if (brought.name == nullptr || brought.bytes == nullptr) return false;
    const std::string name = brought.name;
    auto made = std::make_unique<Brought>();
    if (parse_class({brought.bytes, brought.byte_count}, made->scratch, &made->view) != Reason::kRewritten)
      return false;
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
      to.methods.push_back({text_of(method.name) + text_of(method.descriptor), method.access});
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
        name = name.size() > 2 ? name.substr(1, name.size() - 2) : text_of(found);
      }
      if (name.rfind("java/", 0) != 0 && name != kUnsafe && !is_own(name))
        fault(owner, "names the class " + name + ", which the boot loader may not have");
    }
  }

  void check_natives(const hprof_probe_class& of, const Brought& file) {
    std::set<std::string> registered;
    if (of.natives == nullptr && of.native_count != 0)
      return fault(of.name, "counts native methods but has none");
    for (uint32_t i = 0; i < of.native_count; i++) {
      const hprof_native& native = of.natives[i];
      if (native.name == nullptr || native.type == nullptr) {
        fault(of.name, "has a native method without a name or type, which the unit registers");
        continue;
      }
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

  void check_members() {
    const std::string owner = asked_.classes[0].name;
    const Brought& first = *read_.at(owner);
    if (asked_.live != nullptr && first.static_fields.count(std::string(asked_.live) + " " + kLiveType) == 0)
      fault(owner, std::string("has no static boolean field ") + asked_.live);
    const Method* prime =
        asked_.prime != nullptr ? first.find(std::string(asked_.prime) + kPrimeType) : nullptr;
    if (asked_.prime != nullptr && (prime == nullptr || (prime->access & kAccStatic) == 0))
      fault(owner, std::string("has no static method ") + asked_.prime + kPrimeType);
  }

  CheckedHost& host_;
  const hprof_probe_user& asked_;
  std::map<std::string, std::unique_ptr<Brought>> read_;  // by name
};

}  // namespace

void check_targets(CheckedHost& host) {
  host.findings.doing("the classes of its probes");
  for (const hprof_probe_user& asked : host.mock.probe_users) TargetCheck(host, asked).run();
}

}  // namespace hprof::tool
