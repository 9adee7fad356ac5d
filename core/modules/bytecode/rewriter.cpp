#include <atomic>
#include <cstring>
#include <new>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

#include "core/base/region.h"
#include "core/base/scratch_text.h"
#include "core/modules/bytecode/engine/class_reader.h"
#include "core/modules/bytecode/engine/engine.h"
#include "core/modules/bytecode/make_rewriter.h"
#include "core/modules/bytecode/target_classes.h"

namespace hprof {

namespace {

constexpr size_t kScratchLimit = 16u << 20;
constexpr const char* kThreadClass = "java/lang/Thread";
// Points in methods, which the patterns choose; objects and exceptions are made in any class.
constexpr uint32_t kChosen =
    kProbesOfTimes | kProbeCaught | kProbeConstructed | kProbeArguments | kProbeResult;
static_assert(kMostProbeUsers == kMostUsers, "one for each");

Str str_of(Span text) { return Str(reinterpret_cast<const char*>(text.data), text.size); }

// The name in the SourceFile attribute (JVMS 4.7.10); empty: none.
Span source_file(const ClassView& view) {
  Cursor in{view.file.data, view.methods_end, view.file.size};
  for (uint32_t count = in.u2(); count != 0 && in.ok; count--) {
    Span name;
    bool known = view.pool.utf8(in.u2(), &name);
    uint32_t size = in.u4();
    Span text;
    if (known && size == 2 && name.equals("SourceFile") && view.pool.utf8(in.u2(), &text)) return text;
    if (!(known && size == 2 && name.equals("SourceFile"))) in.skip(size);
  }
  return {};
}

// The first line of the method's LineNumberTable, that of the lowest position; 0: none.
uint32_t first_line(const ClassView& view, const MethodView& method) {
  CodeView code;
  if (method.code_begin == 0 || !parse_code(view, method, &code)) return 0;
  uint32_t line = 0, lowest = UINT32_MAX;
  Cursor in{view.file.data, code.attributes, code.end};
  for (uint32_t i = 0; i < code.attribute_count && in.ok; i++) {
    bool lines = view.pool.word(in.u2()) == Word::kLineNumberTable;
    uint32_t size = in.u4();
    Cursor rows{view.file.data, in.at, in.at};
    if (lines && in.need(size)) rows.end = in.at + size;
    for (uint32_t count = rows.u2(); count != 0 && rows.ok && lowest != 0; count--) {
      uint32_t pc = rows.u2(), row_line = rows.u2();
      if (!rows.ok || pc >= lowest) continue;
      lowest = pc;
      line = row_line;
    }
    in.skip(size);
  }
  return line;
}

// The number of loaded classes, without arrays.
uint64_t count_classes(jvmtiEnv* jvmti, JNIEnv* jni) {
  jint count = 0;
  jclass* classes = nullptr;
  if (jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return 0;
  uint64_t result = 0;
  for (jint i = 0; i < count; i++) {
    jboolean is_array = JNI_FALSE;
    jvmti->IsArrayClass(classes[i], &is_array);
    result += is_array == JNI_FALSE;
    jni->DeleteLocalRef(classes[i]);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return result;
}

// True: the name matches. The pattern has dots or slashes; the name slashes.
bool matches(Str pattern, Str name) {
  size_t i = 0;
  for (; i < pattern.size; i++) {
    if (pattern[i] == '*') return true;
    if (i == name.size || (pattern[i] == '.' ? '/' : pattern[i]) != name[i]) return false;
  }
  return i == name.size || name[i] == '$';
}

// True: the pattern is that class, a dot, and `method` or '*'; with an empty `method`, any word.
bool matches_method(Str pattern, Str name, Str method) {
  if (pattern.size <= name.size + 1 || pattern[name.size] != '.') return false;
  const Str last = pattern.part(name.size + 1);
  for (size_t i = 0; i < name.size; i++) {
    if ((pattern[i] == '.' ? '/' : pattern[i]) != name[i]) return false;
  }
  return method.empty() || last == method || last == "*";
}

template <class Matches>
bool any_part(const char* patterns, const Matches& matches) {
  Str rest(patterns);
  Str pattern;
  while (next_part(&rest, ':', &pattern)) {
    if (!pattern.empty() && matches(pattern)) return true;
  }
  return false;
}

bool matches_any(const char* patterns, Str name) {
  return any_part(patterns, [name](Str pattern) { return matches(pattern, name); });
}

uint8_t* allocate(void* jvmti, uint32_t size) {
  unsigned char* bytes = nullptr;
  return static_cast<jvmtiEnv*>(jvmti)->Allocate(size, &bytes) == JVMTI_ERROR_NONE ? bytes : nullptr;
}

// True: the VM's name of an anonymous class, "java/lang/invoke/LambdaForm$MH/1234". JDK 8 calls them
// modifiable, and a retransformation ends it.
bool is_anonymous(Span name) {
  uint32_t digits = 0;
  while (digits < name.size && name.data[name.size - 1 - digits] >= '0' &&
         name.data[name.size - 1 - digits] <= '9')
    digits++;
  return digits != 0 && digits < name.size && name.data[name.size - 1 - digits] == '/';
}

// Retransforms classes; the VM does all or none, so if it refuses, each half is tried. Returns how many were
// refused.
uint64_t retransform(jvmtiEnv* jvmti, const jclass* classes, jint count) {
  if (count == 0 || jvmti->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return 0;
  if (count == 1) return 1;
  return retransform(jvmti, classes, count / 2) + retransform(jvmti, classes + count / 2, count - count / 2);
}

// JDK 8's compilers do not support an exception handler in Object.<init>.
bool has_no_handlers(const MethodSite& site) {
  return site.class_name.equals("java/lang/Object") && site.name.equals("<init>");
}

// A class' signature made of its name; empty: no memory.
class Signature {
 public:
  Signature(MemoryAccount& memory, Span class_name) : room_(memory, class_name.size + 3) {
    if (room_.data() == nullptr) return;
    TextWriter text(room_.data(), class_name.size + 3);
    str_ = text.put('L').put(str_of(class_name)).put(';').text();
  }
  Str str() const { return str_; }

 private:
  ScratchText room_;
  Str str_;
};

class ModuleRewriter final : public Rewriter {
 public:
  explicit ModuleRewriter(const RewriterUse& use) : use_(use), targets_(use_) {
    for (uint32_t i = 0; i < use.user_count; i++) users_[i] = use.users[i];
    use_.users = users_;
  }

  hprof_status make_engine() override;
  void arm(uint32_t user) override { armed_.fetch_or(1u << user, std::memory_order_release); }
  void class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes, jint* new_size,
                  unsigned char** new_bytes) override;
  bool define_classes(JNIEnv* jni) override { return targets_.define(jni, may_exist()); }
  bool prepare_classes(JNIEnv* jni) override { return targets_.prepare(jni, may_exist()); }
  bool has_targets(Str class_name) const override { return targets_.has(span_of(class_name)); }
  void count_passed(jvmtiEnv* jvmti, JNIEnv* jni) override { passed_ = count_classes(jvmti, jni); }
  bool catch_up(jvmtiEnv* jvmti, JNIEnv* jni) override;
  bool rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni, uint32_t user) override;
  void undo(jvmtiEnv* jvmti, JNIEnv* jni) override;
  void destroy() override;
  hprof_status set_live(JNIEnv* jni, uint32_t user, bool on) override {
    return targets_.set_live(jni, user, on) ? HPROF_OK : HPROF_FAILED;
  }
  uint32_t first_line(uint32_t method) const override;
  void totals(uint32_t user, hprof_probe_totals* totals) const override;
  void each_left(uint32_t user, void* argument,
                 void (*visit)(void*, const char*, uint64_t, uint64_t)) const override;

 private:
  static Span span_of(Str text) {
    return {reinterpret_cast<const uint8_t*>(text.data), static_cast<uint32_t>(text.size)};
  }
  bool is_armed(uint32_t user) const { return (armed_.load(std::memory_order_acquire) >> user & 1) != 0; }
  bool may_exist() const;
  bool wants(uint32_t user, Str class_name, Str method) const;
  void each_unmatched(uint32_t user, void* argument,
                      void (*visit)(void*, const char*, uint64_t, uint64_t)) const;
  bool wants_class(uint32_t user, Span name) const;
  static bool include_class(void* self, Span name, uint16_t access);
  static uint32_t include_method(void* self, const MethodSite& site, uint32_t user, uint32_t probes);
  static int32_t method_id(void* self, const MethodSite& site, uint32_t user);
  bool includes(jvmtiEnv* jvmti, jclass loaded, uint32_t user) const;
  uint32_t class_of(const MethodSite& site);
  int32_t number(const MethodSite& site);
  bool is_generated(Span class_name) const;
  uint16_t* line_of(uint32_t method) const {
    return reinterpret_cast<uint16_t*>(first_lines_.base()) + method;
  }

  RewriterUse use_;
  ProbeUser users_[kMostProbeUsers] = {};
  ProbesOfUser probes_[kMostProbeUsers];
  TargetClasses targets_;
  Engine* engine_ = nullptr;
  std::atomic<uint32_t> armed_{0};  // a bit for each user
  std::atomic<uint64_t> own_{0};    // files seen of classes with targets, which get no probes
  uint64_t passed_ = 0;             // classes loaded before class files were seen
  mutable std::atomic<uint64_t> matched_[kMostProbeUsers] = {};  // a bit for each of the first 64 patterns
  uint64_t refused_[kMostProbeUsers] = {};                       // classes that the VM refuses to retransform
  Region first_lines_;                                           // by method id
};

hprof_status ModuleRewriter::make_engine() {
  const hprof_status status = targets_.make();
  if (status != HPROF_OK) return status;
  EngineUse use;
  use.probes.context = this;
  use.memory = use_.memory->functions();
  use.scratch_limit = kScratchLimit;
  use.probes.user_count = use_.user_count;
  for (uint32_t i = 0; i < use_.user_count; i++) use.probes.users[i] = probes_[i] = targets_.probes_of(i);
  use.probes.include_class = &ModuleRewriter::include_class;
  use.probes.include_method = &ModuleRewriter::include_method;
  use.probes.method_id = &ModuleRewriter::method_id;
  // Without this memory, frames have no lines.
  first_lines_.create(*use_.memory, (uint64_t{use_.most_methods} + 1) * sizeof(uint16_t), Backing::kLazy);
  engine_ = engine_create(use);
  return engine_ != nullptr ? HPROF_OK : HPROF_NO_MEMORY;
}

// An earlier session, which was detached, may have defined the classes.
bool ModuleRewriter::may_exist() const {
  for (uint32_t i = 0; i < use_.user_count; i++) {
    if (!users_[i].has(HPROF_PROBES_ATTACHED)) return false;
  }
  return true;
}

// method: empty: any of that class. Marks the patterns of include that match; a method's, if it has its name.
bool ModuleRewriter::wants(uint32_t user, Str class_name, Str method) const {
  const hprof_probe_user& asked = users_[user].asked;
  if (asked.exclude != nullptr && matches_any(asked.exclude, class_name)) return false;
  if (asked.include == nullptr || asked.include[0] == '\0') return true;
  uint64_t found = 0, bit = 1;
  bool is_wanted = false;
  any_part(asked.include, [&](Str pattern) {
    const bool is_class = matches(pattern, class_name);
    const bool is_method = !is_class && matches_method(pattern, class_name, method);
    if (is_class || (is_method && !method.empty())) found |= bit;
    is_wanted = is_wanted || is_class || is_method;
    bit <<= 1;
    return false;
  });
  std::atomic<uint64_t>& matched = matched_[user];
  if ((found & ~matched.load(std::memory_order_relaxed)) != 0)
    matched.fetch_or(found, std::memory_order_relaxed);
  return is_wanted;
}

// The text, "no loaded class or method is com.acme.None", is gone after the visit.
void ModuleRewriter::each_unmatched(uint32_t user, void* argument,
                                    void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
  const char* include = users_[user].asked.include;
  if (include == nullptr || !is_armed(user)) return;
  const uint64_t matched = matched_[user].load(std::memory_order_relaxed);
  uint64_t bit = 1;
  any_part(include, [&](Str pattern) {
    char text[200];
    TextWriter line(text, sizeof(text));
    line.put("no loaded class or method is ").put(pattern);
    if ((matched & bit) == 0) visit(argument, text, 0, 0);
    bit <<= 1;
    return bit == 0;
  });
}

bool ModuleRewriter::wants_class(uint32_t user, Span name) const {
  const ProbesOfUser& of = probes_[user];
  return (of.probes & kProbesOfSites) != 0 || (of.field.owner != nullptr && name.equals(kThreadClass)) ||
         ((of.probes & kProbeMade) != 0 && name.equals("java/lang/Throwable")) ||
         ((of.probes & kChosen) != 0 && wants(user, str_of(name), Str()));
}

bool ModuleRewriter::include_class(void* self, Span name, uint16_t) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  if (rewriter->targets_.has(name)) {
    rewriter->own_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  for (uint32_t i = 0; i < rewriter->use_.user_count; i++) {
    if (rewriter->is_armed(i) && rewriter->wants_class(i, name)) return true;
  }
  return false;
}

uint32_t ModuleRewriter::include_method(void* self, const MethodSite& site, uint32_t user, uint32_t probes) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  if (!rewriter->is_armed(user)) return 0;
  if ((probes & kChosen) == 0) return probes;
  const bool is_left_out =
      !rewriter->wants(user, str_of(site.class_name), str_of(site.name)) ||
      ((probes & kProbeUnwind) != 0 && has_no_handlers(site)) ||
      (rewriter->users_[user].has(HPROF_PROBES_NO_GENERATED) && rewriter->is_generated(site.class_name));
  return is_left_out ? probes & ~kChosen : probes;
}

int32_t ModuleRewriter::method_id(void* self, const MethodSite& site, uint32_t user) {
  auto* rewriter = static_cast<ModuleRewriter*>(self);
  const int32_t method = rewriter->number(site);
  const hprof_probe_user& asked = rewriter->users_[user].asked;
  if (asked.number == nullptr || method == 0) return method;
  return static_cast<int32_t>(asked.number(asked.self, static_cast<uint32_t>(method)));
}

bool ModuleRewriter::is_generated(Span class_name) const {
  const Signature signature(*use_.memory, class_name);
  return use_.is_generated(use_.core, signature.str());
}

uint32_t ModuleRewriter::class_of(const MethodSite& site) {
  const Signature signature(*use_.memory, site.class_name);
  if (signature.str().empty()) return 0;
  bool has_source = false;
  const uint32_t owner = use_.class_serial(use_.core, signature.str(), site.loader, &has_source);
  if (!has_source && site.view != nullptr) {
    const Span source = source_file(*site.view);
    if (source.size != 0) use_.set_source(use_.core, owner, str_of(source));
  }
  return owner;
}

// 0: the model is full; the plugin gets an unknown method, and reports that.
int32_t ModuleRewriter::number(const MethodSite& site) {
  uint32_t owner = site.class_word != nullptr ? *site.class_word : 0;
  if (owner == 0) owner = class_of(site);
  if (site.class_word != nullptr) *site.class_word = owner;
  const uint32_t id = use_.method(use_.core, owner, str_of(site.name), str_of(site.descriptor));
  if (id != 0 && site.view != nullptr && first_lines_.cover((uint64_t{id} + 1) * sizeof(uint16_t)) &&
      *line_of(id) == 0) {
    *line_of(id) = static_cast<uint16_t>(hprof::first_line(*site.view, *site.method));
  }
  return static_cast<int32_t>(id);
}

void ModuleRewriter::class_file(jvmtiEnv* jvmti, uint32_t loader, jint size, const unsigned char* bytes,
                                jint* new_size, unsigned char** new_bytes) {
  const Span file = {bytes, static_cast<uint32_t>(size)};
  const NewClass made = engine_rewrite(engine_, file, loader, jvmti, &allocate);
  if (made.bytes == nullptr) return;
  *new_bytes = made.bytes;
  *new_size = static_cast<jint>(made.size);
}

bool ModuleRewriter::catch_up(jvmtiEnv* jvmti, JNIEnv* jni) {
  jclass object = jni->FindClass("java/lang/Object");
  const bool done = object != nullptr && jvmti->RetransformClasses(1, &object) == JVMTI_ERROR_NONE;
  clear_exception(jni);
  if (object != nullptr) jni->DeleteLocalRef(object);
  return done;
}

bool ModuleRewriter::includes(jvmtiEnv* jvmti, jclass loaded, uint32_t user) const {
  jboolean can = JNI_FALSE;
  char* signature = nullptr;
  if (jvmti->IsModifiableClass(loaded, &can) != JVMTI_ERROR_NONE || can == JNI_FALSE ||
      jvmti->GetClassSignature(loaded, &signature, nullptr) != JVMTI_ERROR_NONE)
    return false;
  const Str text(signature);
  bool result = false;
  if (text.size > 2 && text[0] == 'L') {
    const Span name = span_of(text.part(1, text.size - 1));
    result = wants_class(user, name) && !targets_.has(name) && !is_anonymous(name);
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  return result;
}

// Retransforms in batches, with a safepoint each, and by global references: the VM calls back on this thread
// meanwhile, with room for few local ones.
bool ModuleRewriter::rewrite_loaded(jvmtiEnv* jvmti, JNIEnv* jni, uint32_t user) {
  constexpr jint kPiece = 64;
  jint count = 0, taken = 0;
  jclass* classes = nullptr;
  {
    const LocalFrame locals(jni, LocalFrame::kMost);
    if (!locals.is_open() || jvmti->GetLoadedClasses(&count, &classes) != JVMTI_ERROR_NONE) return false;
    for (jint i = 0; i < count; i++) {
      if (!includes(jvmti, classes[i], user)) continue;
      auto* kept = static_cast<jclass>(jni->NewGlobalRef(classes[i]));
      if (kept != nullptr) classes[taken++] = kept;
    }
  }
  uint64_t refused = 0;
  for (jint i = 0; i < taken; i += kPiece)
    refused += retransform(jvmti, classes + i, taken - i < kPiece ? taken - i : kPiece);
  refused_[user] += refused;
  for (jint i = 0; i < taken; i++) jni->DeleteGlobalRef(classes[i]);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  return true;
}

void ModuleRewriter::undo(jvmtiEnv* jvmti, JNIEnv* jni) {
  const uint32_t armed = armed_.exchange(0, std::memory_order_acq_rel);
  for (uint32_t i = 0; i < use_.user_count; i++) {
    if ((armed >> i & 1) == 0) continue;
    set_live(jni, i, false);
    rewrite_loaded(jvmti, jni, i);
  }
  targets_.forget(jni);
}

void ModuleRewriter::destroy() {
  MemoryAccount& memory = *use_.memory;
  engine_destroy(engine_);
  first_lines_.destroy();
  this->~ModuleRewriter();
  memory.release(this, sizeof(ModuleRewriter));
}

uint32_t ModuleRewriter::first_line(uint32_t method) const {
  return (uint64_t{method} + 1) * sizeof(uint16_t) <= first_lines_.charged() ? *line_of(method) : 0;
}

void ModuleRewriter::totals(uint32_t user, hprof_probe_totals* totals) const {
  EngineTotals all;
  engine_totals(engine_, &all);
  const EngineTotals::OfUser& of = all.users[user];
  const hprof_probe_totals known = {sizeof(known), 0,        all.classes, all.classes_changed, all.bytes_read,
                                    all.methods,   of.begun, of.leaves,   all.allocations};
  hprof_copy_sized(totals, totals->size, &known, sizeof(known));
}

// Of classes and methods that were not chosen on demand there is nothing to say, and of those without code
// only if they were. An empty finalizer makes no object.
void ModuleRewriter::each_left(uint32_t user, void* argument,
                               void (*visit)(void*, const char*, uint64_t, uint64_t)) const {
  const bool on_demand = users_[user].has(HPROF_PROBES_ON_DEMAND);
  each_unmatched(user, argument, visit);
  EngineTotals all;
  engine_totals(engine_, &all);
  const EngineTotals::OfUser& of = all.users[user];
  for (uint32_t i = static_cast<uint32_t>(Reason::kExcluded) + (on_demand ? 1 : 0); i < kReasonCount; i++) {
    const bool has_no_code = i >= static_cast<uint32_t>(Reason::kNative);
    const auto reason = static_cast<Reason>(i);
    if (reason == Reason::kEmptyFinalizer && (probes_[user].probes & kChosen) == 0) continue;
    const uint64_t own = reason == Reason::kExcluded ? own_.load(std::memory_order_relaxed) : 0;
    const uint64_t classes = all.classes_left[i] > own ? all.classes_left[i] - own : 0;
    if ((classes == 0 && of.methods_left[i] == 0) || (has_no_code && !on_demand)) continue;
    visit(argument, reason_text(reason), classes, of.methods_left[i]);
  }
  if (refused_[user] != 0) visit(argument, "the VM does not change them", refused_[user], 0);
  // without java.lang.Object
  if (!on_demand && passed_ > 1) visit(argument, "loaded before the probes", passed_ - 1, 0);
}

}  // namespace

Rewriter* make_rewriter(const RewriterUse& use) {
  void* memory = use.memory->allocate(sizeof(ModuleRewriter));
  return memory != nullptr ? new (memory) ModuleRewriter(use) : nullptr;
}

}  // namespace hprof
