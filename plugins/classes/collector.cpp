#include "collector.h"

#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/depth.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/report_rows.hpp>

#include "generators.h"
#include "metaspace.h"

namespace hprof::classes {

namespace {

constexpr const char* kBoot = "<boot class loader>";  // as the VM's command has it
constexpr uint64_t kSpareRows = 64;                   // for what is counted first during a report
constexpr jint kLocals = 512;

constexpr hprof_column kDefinedColumns[] = {
    {"defined", nullptr, HPROF_COLUMN_COUNT, tables::kFirst, "classes", "loaded, arrays left out"},
    {"generator", nullptr, HPROF_COLUMN_TEXT, 0, nullptr,
     "that made the class; none: it is not known to be generated"},
    {"loader", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, "class of the class loader"},
    {"name", nullptr, HPROF_COLUMN_TEXT, HPROF_COLUMN_LEAF, nullptr, "generator and loader"},
    {"trace", nullptr, HPROF_COLUMN_TRACE, 0, nullptr, "without the frames of the JDK on top"},
};
constexpr hprof_column kLoaderColumns[] = {
    {"loader", nullptr, HPROF_COLUMN_TEXT, 0, nullptr, "class of the class loaders"},
    {"loaders", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_STATE, "loaders", "that live and have classes"},
    {"classes", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_STATE, "classes",
     "of theirs that are loaded, arrays left out"},
    {"generated", nullptr, HPROF_COLUMN_COUNT, HPROF_COLUMN_STATE, "classes", "of these, with a generator"},
    {"metaspace", nullptr, HPROF_COLUMN_BYTES, HPROF_COLUMN_STATE, nullptr,
     "that they hold; 0: the VM does not say"},
};
constexpr auto kDefined =
    tables::schema<hprof_classes_row>(HPROF_TABLE_CLASSES, "CLASSES DEFINED", kDefinedColumns);
constexpr auto kLoaders =
    tables::schema<hprof_loaders_row>(HPROF_TABLE_LOADERS, "CLASS LOADERS", kLoaderColumns);

struct Most {
  bool operator()(const hprof_classes_row& a, const hprof_classes_row& b) const {
    if (a.defined != b.defined) return a.defined > b.defined;
    return a.trace != b.trace ? a.trace < b.trace : a.name < b.name;
  }
  bool operator()(const hprof_loaders_row& a, const hprof_loaders_row& b) const {
    return a.classes != b.classes ? a.classes > b.classes : a.loader < b.loader;
  }
};

bool is_of_jdk(hprof_text name) {
  return begins_with(name, "java.") || begins_with(name, "jdk.") || begins_with(name, "sun.") ||
         begins_with(name, "com.sun.proxy.");
}
bool is_text(hprof_text text, const char* wanted) {
  return text.size == std::strlen(wanted) && begins_with(text, wanted);
}

// A signature of JVMTI.
class Signature {
 public:
  Signature(jvmtiEnv* jvmti, jclass of) : jvmti_(jvmti) {
    if (jvmti->GetClassSignature(of, &text_, nullptr) != JVMTI_ERROR_NONE) text_ = nullptr;
  }
  ~Signature() { jvmti_->Deallocate(reinterpret_cast<unsigned char*>(text_)); }
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;
  const char* text() const { return text_ != nullptr ? text_ : ""; }

 private:
  jvmtiEnv* jvmti_;
  char* text_ = nullptr;
};

}  // namespace

hprof_status Collector::open(char*, uint32_t) {
  jvmti_ = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  lost_ = services_.log->loss_counter(services_.host, "classes: too many stacks, loaders and generators");
  depth_ = depth_within(services_, "classes=y", services_.settings().depth, kMostFrames);
  return defined_.open(services_, kFewestRows, kMostRows) ? HPROF_OK : HPROF_NO_MEMORY;
}

bool Collector::close() {
  defined_.close();
  return true;
}

void Collector::reset() {
  defined_.each([](uint64_t, Defined& defined) { defined.count.store(0, std::memory_order_relaxed); });
}

hprof_string_id Collector::string(const char* text) const {
  return services_.ids->string(services_.host, {text, std::strlen(text)});
}

hprof_string_id Collector::loader_name(JNIEnv* jni, jobject loader) const {
  if (loader == nullptr) return string(kBoot);
  jclass type = jni->GetObjectClass(loader);
  const hprof_class_serial serial = services_.ids->class_serial(services_.host, jni, type);
  jni->DeleteLocalRef(type);
  return find_class(services_.ids, services_.host, serial)->name;
}

// The stack from the first frame on that is none of the JDK's; if all are, the whole stack.
Collector::Stack Collector::stack(JNIEnv* jni) const {
  jvmtiFrameInfo raw[kMostFrames];
  jint found = 0;
  if (jvmti_->GetStackTrace(nullptr, 0, kMostFrames, raw, &found) != JVMTI_ERROR_NONE) found = 0;
  const auto count = static_cast<uint32_t>(found);
  hprof_frame_id ids[kMostFrames];
  uint32_t made = 0, begin = 0;
  hprof_text definer = {nullptr, 0};
  bool is_looked_for = false, is_found = false;
  for (uint32_t i = 0; i < count && (!is_found || i < begin + depth_); i++) {
    const hprof_raw_frame frame = {raw[i].method, raw[i].location};
    ids[made++] = services_.ids->frame(services_.host, jni, &frame, 1);
    if (is_found) continue;
    const auto method =
        find_method(services_.ids, services_.host, find_frame(services_.ids, services_.host, ids[i])->method);
    const hprof_text owner = class_name_of(services_.ids, services_.host, ids[i]);
    const hprof_text name = services_.ids->string_text(services_.host, method->name);
    is_found = !is_of_jdk(owner);
    is_looked_for = is_looked_for || is_text(name, "loadClass") || (i == 0 && !begins_with(name, "define"));
    if (is_found) begin = i;
    if (is_found && !is_looked_for) definer = owner;
  }
  const uint32_t kept = made - begin < depth_ ? made - begin : depth_;
  if (kept == 0) return {0, definer};
  const uint32_t flags = begin + kept < count ? HPROF_TRACE_CUT : trace_flags(count, kMostFrames);
  return {services_.ids->trace(services_.host, 0, ids + begin, kept, flags), definer};
}

void Collector::class_load(JNIEnv* jni, hprof_thread* thread, jclass loaded) {
  if (thread != nullptr && (thread->flags & HPROF_THREAD_AGENT) != 0) return;
  jobject loader = nullptr;
  if (jvmti_->GetClassLoader(loaded, &loader) != JVMTI_ERROR_NONE) return count_loss(lost_);
  const hprof_string_id loader_text = loader_name(jni, loader);
  const bool is_of_boot = loader == nullptr;
  jni->DeleteLocalRef(loader);
  const Stack defined_by = stack(jni);
  const Signature signature(jvmti_, loaded);
  // What the boot loader has, such as a superclass, the VM has looked for.
  const char* generator = generator_of(signature.text(), is_of_boot ? hprof_text{} : defined_by.definer);
  const hprof_text in = services_.ids->string_text(services_.host, loader_text);
  TextLine<kNoteSize> name;
  name.add(generator != nullptr ? generator : "class").add(" in ");
  if (in.data != nullptr) name.add(in.data, in.size);
  const uint64_t key = uint64_t{services_.ids->string(services_.host, {name.c_str(), name.size()})} << 32;
  Defined* defined = defined_.make(key | defined_by.trace);
  if (defined == nullptr) return count_loss(lost_);
  defined->loader.store(loader_text, std::memory_order_relaxed);
  if (generator != nullptr) defined->generator.store(string(generator), std::memory_order_relaxed);
  defined->count.fetch_add(1, std::memory_order_relaxed);
}

hprof_status Collector::write_defined(uint64_t created_ms) const {
  ReportRows<hprof_classes_row, Most> rows(services_);
  if (!rows.open(defined_.size() + kSpareRows)) return HPROF_NO_MEMORY;
  hprof_classes_row totals = {};
  defined_.each([&](uint64_t key, Defined& defined) {
    const hprof_classes_row row = {
        defined.count.load(std::memory_order_relaxed), defined.generator.load(std::memory_order_relaxed),
        defined.loader.load(std::memory_order_relaxed), key >> 32, key & UINT32_MAX};
    if (row.defined != 0) rows.add(row);
    totals.defined += row.defined;
  });
  rows.sort();
  hprof_rec_table table = table_of(kDefined, rows.data(), rows.size());
  table.created_ms = created_ms;
  table.totals = cells_of(&totals);
  table.order = 0;
  return services_.emit->write(services_.host, &table.head);
}

// What is loaded, by loader (identity hash), then by the name of the loader's class.
struct Collector::Live {
  explicit Live(const Services& of) : services(of) {}
  ~Live() {
    objects.close();
    loaders.close();
  }
  bool open() {
    return objects.open(services, kFewestRows, kMostRows) && loaders.open(services, kFewestRows, kMostRows);
  }

  const Services& services;
  HashTable<LoaderObject, Growth::kMoves> objects;
  HashTable<Loaders, Growth::kMoves> loaders;  // by name
};

// A class of a loader for which there is no room is lost.
void Collector::look_at(JNIEnv* jni, jclass loaded, Live* live) const {
  const Signature signature(jvmti_, loaded);
  if (signature.text()[0] != 'L') return;
  jobject loader = nullptr;
  jint hash = 0;
  if (jvmti_->GetClassLoader(loaded, &loader) != JVMTI_ERROR_NONE) return count_loss(lost_);
  if (loader != nullptr && jvmti_->GetObjectHashCode(loader, &hash) != JVMTI_ERROR_NONE) hash = 0;
  LoaderObject* object = live->objects.make(uint64_t{static_cast<uint32_t>(hash)} + 1);
  const bool is_new = object != nullptr && object->name == 0;
  if (is_new) object->name = loader_name(jni, loader);
  jni->DeleteLocalRef(loader);
  Loaders* of = object != nullptr ? live->loaders.make(object->name) : nullptr;
  if (of == nullptr) return count_loss(lost_);
  of->loaders += is_new ? 1 : 0;
  of->classes++;
  of->generated += generator_of(signature.text(), {nullptr, 0}) != nullptr ? 1 : 0;
}

hprof_status Collector::write_loaders(uint64_t created_ms) const {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  Live live(services_);
  jint count = 0;
  jclass* loaded = nullptr;
  if (jni == nullptr || !live.open()) return HPROF_NO_MEMORY;
  const LocalFrame frame(jni, kLocals);
  if (jvmti_->GetLoadedClasses(&count, &loaded) != JVMTI_ERROR_NONE) return HPROF_NO_MEMORY;
  for (jint i = 0; i < count; i++) {
    look_at(jni, loaded[i], &live);
    jni->DeleteLocalRef(loaded[i]);
  }
  jvmti_->Deallocate(reinterpret_cast<unsigned char*>(loaded));
  const bool says = each_metaspace(jni, &live, [](void* to, hprof_text name, uint64_t bytes) {
    const auto* all = static_cast<Live*>(to);
    Loaders* of = all->loaders.find(all->services.ids->string(all->services.host, name));
    if (of != nullptr) of->metaspace += bytes;
  });
  ReportRows<hprof_loaders_row, Most> rows(services_);
  if (!rows.open(live.loaders.size())) return HPROF_NO_MEMORY;
  live.loaders.each([&](uint64_t key, Loaders& of) {
    rows.add({key, of.loaders, of.classes, of.generated, of.metaspace});
  });
  rows.sort();
  hprof_rec_table table = table_of(kLoaders, rows.data(), rows.size());
  table.created_ms = created_ms;
  const hprof_status status = services_.emit->write(services_.host, &table.head);
  if (status != HPROF_OK || says) return status;
  Note note;
  return write_note(services_, note.add("classes: this VM does not say how much metaspace loaders hold"));
}

hprof_status Collector::report(const hprof_report&) {
  const uint64_t created_ms = services_.clock->wall_ms(services_.host);
  const hprof_status status = write_defined(created_ms);
  return status == HPROF_OK ? write_loaders(created_ms) : status;
}

}  // namespace hprof::classes
