#include "collector.h"

#include <cstring>

#include <hprof/cpp/events.hpp>
#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>
#include <hprof/cpp/text.hpp>

#include "java_classes.h"
#include "label_sets.h"

namespace hprof::context {

namespace {

constexpr const char* kName = "hprof/Context";
constexpr const char* kWriter = "java/lang/HprofContext";
constexpr jsize kMostChars = 64;  // of a label's name, and of its value
constexpr uint32_t kMostText = 512;
constexpr char kOther[] = "labels:other";
constexpr uint64_t kSearchEveryNs = 1'000'000'000;
constexpr uint64_t kPauseNs = 1'000'000;
constexpr uint32_t kChecked = 1024;  // contexts that pass the checks of the service before Java writes others

// Values of Context.mode.
enum Mode : jint { kOff, kByEnv, kById, kInJava };

// What the native methods use. They may run when the session has ended: it is theirs only while they are
// counted as inside.
std::atomic<const hprof_thread_context_service*> service{nullptr};
std::atomic<const Session*> session{nullptr};
std::atomic<uint32_t> inside{0};
std::atomic<uint32_t> unchecked{0};  // contexts until Java writes them
LabelSets sets;

// Calls use(session) unless it has ended.
template <class Use>
void in_session(const Use& use) {
  inside.fetch_add(1, std::memory_order_seq_cst);
  if (const Session* now = session.load(std::memory_order_seq_cst)) use(*now);
  inside.fetch_sub(1, std::memory_order_release);
}

void JNICALL store(JNIEnv* jni, jclass, jlong thread, jlong high, jlong low, jlong span, jint labels) {
  const hprof_thread_context_service* contexts = service.load(std::memory_order_acquire);
  if (contexts == nullptr) return;
  const hprof_context context = {sizeof context, sets.text_of(static_cast<uint32_t>(labels)),
                                 static_cast<uint64_t>(high), static_cast<uint64_t>(low),
                                 static_cast<uint64_t>(span)};
  const bool is_none = (high | low | span) == 0 && context.labels == 0;
  if (contexts->set(jni, static_cast<uint64_t>(thread), is_none ? nullptr : &context) != HPROF_OK)
    in_session([](const Session& now) { count_loss(now.lost); });
  const uint32_t left = unchecked.load(std::memory_order_relaxed);
  if (left == 0) return;
  unchecked.store(left - 1, std::memory_order_relaxed);
  if (left == 1) in_session([&](const Session& now) { jni->SetStaticIntField(now.type, now.mode, kInJava); });
}

// Adds the text, without what separates labels from each other.
void add_text(JNIEnv* jni, jstring from, char separator, TextBuffer* to) {
  char room[3 * kMostChars + 1] = "";
  const jsize length = from != nullptr ? jni->GetStringLength(from) : 0;
  jni->GetStringUTFRegion(from, 0, length < kMostChars ? length : kMostChars, room);
  for (char* at = room; *at != '\0'; at++) {
    if (*at == ';' || *at == separator || static_cast<unsigned char>(*at) < ' ') *at = '_';
  }
  to->add(room);
}

// True: the list, names between colons, is empty or has the name of a label "name:value".
bool is_kept(const char* list, const char* label) {
  if (list == nullptr || *list == '\0') return true;
  const size_t size = std::strcspn(label, ":");
  for (const char* at = list;; at++) {
    const size_t next = std::strcspn(at, ":");
    if (next == size && std::memcmp(at, label, size) == 0) return true;
    at += next;
    if (*at == '\0') return false;
  }
}

uint32_t add_to(const Session& now, JNIEnv* jni, uint32_t labels, jstring name, jstring value) {
  const Services& s = now.services;
  TextLine<6 * kMostChars + 2> label;
  add_text(jni, name, ':', &label);
  if (!is_kept(now.by, label.c_str())) return labels;
  add_text(jni, value, '\0', &label.add(":"));
  TextLine<kMostText> text;
  if (const hprof_string_id before = sets.text_of(labels)) {
    const hprof_text known = s.ids->string_text(s.host, before);
    if (known.size + 1 + label.size() >= kMostText) {
      count_loss(now.too_long);
      return labels;
    }
    text.add(known.data, known.size).add(";");
  }
  text.add(label.c_str(), label.size());
  const uint32_t number =
      sets.number_of(s.ids->string(s.host, {text.c_str(), text.size()}), LabelSets::kMost);
  if (number != 0) return number;
  count_loss(now.other);
  return sets.number_of(s.ids->string(s.host, {kOther, sizeof kOther - 1}), LabelSets::kMost + 1);
}

jint JNICALL add(JNIEnv* jni, jclass, jint labels, jstring name, jstring value) {
  uint32_t number = 0;
  in_session([&](const Session& now) {
    if (name != nullptr && value != nullptr)
      number = add_to(now, jni, static_cast<uint32_t>(labels), name, value);
  });
  return static_cast<jint>(number);
}

// The class, which the boot loader defines unless it has it of an earlier session. Asked for first, it might
// be one of the program's. Null: it does not define it.
jclass define(JNIEnv* jni, const char* name, const uint8_t* bytes, size_t size) {
  jclass made = without_exception(
      jni, jni->DefineClass(name, nullptr, reinterpret_cast<const jbyte*>(bytes), static_cast<jsize>(size)));
  return made != nullptr ? made : without_exception(jni, jni->FindClass(name));
}

}  // namespace

hprof_status Collector::open(char* error, uint32_t error_size) {
  const hprof_host* host = services_.host;
  const auto* of_threads = find_service<hprof_context_service>(host, HPROF_SERVICE_CONTEXT);
  contexts_ = find_service<hprof_thread_context_service>(host, HPROF_SERVICE_THREAD_CONTEXT);
  if (contexts_ == nullptr || of_threads == nullptr) {
    TextBuffer(error, error_size).add("the module hotspot is not there");
    return HPROF_UNSUPPORTED;
  }
  session_ = {
      services_, config_.by,
      services_.log->loss_counter(host, "contexts: the context table was full (max-memory=)"),
      services_.log->loss_counter(host, "label sets: there are 65,535 already, so labels:other counts"),
      services_.log->loss_counter(host, "labels: a set holds 512 bytes")};
  return of_threads->enable(host);
}

bool Collector::make_class(JNIEnv* jni) {
  jclass made = define(jni, kName, kContext, sizeof kContext);
  if (made == nullptr) return false;
  char store_name[] = "store", store_type[] = "(JJJJI)V";
  char add_name[] = "add", add_type[] = "(ILjava/lang/String;Ljava/lang/String;)I";
  const JNINativeMethod methods[] = {{store_name, store_type, reinterpret_cast<void*>(&store)},
                                     {add_name, add_type, reinterpret_cast<void*>(&add)}};
  const bool is_bound = jni->RegisterNatives(made, methods, 2) == JNI_OK;
  clear_exception(jni);
  session_.mode = is_bound ? without_exception(jni, jni->GetStaticFieldID(made, "mode", "I")) : nullptr;
  if (session_.mode != nullptr)
    session_.type = without_exception(jni, static_cast<jclass>(jni->NewGlobalRef(made)));
  return session_.type != nullptr;
}

// False: contexts are written by native code.
bool Collector::make_writer(JNIEnv* jni) const {
  static_assert(LabelSets::kSlotBits == 17, "as HprofContext has it");
  constexpr uint32_t kSlotBytes = 48;  // likewise; a release whose contexts are larger has others
  uint32_t count = 0, bytes = 0;
  const uint64_t slots =
      HPROF_HAS(contexts_, hprof_thread_context_service, slots) ? contexts_->slots(&count, &bytes) : 0;
  jclass writer =
      slots != 0 && bytes == kSlotBytes ? define(jni, kWriter, kHprofContext, sizeof kHprofContext) : nullptr;
  if (writer == nullptr) return false;
  const struct {
    const char* name;
    uint64_t value;
  } fields[] = {{"slots", slots}, {"mask", count - 1}, {"texts", reinterpret_cast<uintptr_t>(sets.texts())}};
  for (const auto& field : fields) {
    jfieldID id = without_exception(jni, jni->GetStaticFieldID(writer, field.name, "J"));
    if (id == nullptr) return false;
    jni->SetStaticLongField(writer, id, static_cast<jlong>(field.value));
  }
  jfieldID id = without_exception(jni, jni->GetStaticFieldID(writer, "session", "I"));
  if (id != nullptr) jni->SetStaticIntField(writer, id, static_cast<jint>(sets.session()));
  return id != nullptr;
}

hprof_status Collector::start() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  const LocalFrame frame(jni, 16);
  if (!frame.is_open()) return HPROF_NO_MEMORY;
  if (session_.type == nullptr && !make_class(jni)) {
    s.log->message(s.host, "context: the VM does not define the class hprof.Context");
    return HPROF_FAILED;
  }
  if (!is_open_) {
    const char* why = nullptr;
    if (contexts_->open(s.host, jni, &why) == 0) return HPROF_NO_MEMORY;
    if (why != nullptr) {
      TextLine<256> line;
      line.add("context: samples by signals have none of contexts set in Java: ").add(why);
      s.log->message(s.host, line.c_str());
    }
    if (!takes_events(s.host))
      s.log->message(s.host,
                     "context: this output has no events, so it has labels, but no ids of traces and spans; "
                     "format=jfr has both, and json and otlp with events=y");
    sets.begin();
    is_open_ = true;
  }
  unchecked.store(make_writer(jni) ? kChecked : 0, std::memory_order_relaxed);
  session.store(&session_, std::memory_order_seq_cst);
  service.store(contexts_, std::memory_order_release);
  jni->SetStaticIntField(session_.type, session_.mode,
                         s.settings().java_version >= contexts_->first_with_ids ? kById : kByEnv);
  watcher_ = s.threads->start(s.host, "HPROF context", &Collector::watch, this);
  return HPROF_OK;
}

// Libraries may be loaded at any time.
void Collector::watch(void* self, void*, hprof_agent_thread* thread) {
  const auto* collector = static_cast<const Collector*>(self);
  const Services& s = collector->services_;
  while (collector->contexts_->find_variable(s.host) == 0) {
    if (s.threads->wait(thread, kSearchEveryNs) == 0) return;
  }
  s.log->detail(s.host, "context: a tracer in native code is read (otel_thread_ctx_v1)");
}

void Collector::stop() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  if (watcher_ != nullptr) s.threads->stop(s.host, watcher_);
  watcher_ = nullptr;
  session.store(nullptr, std::memory_order_seq_cst);
  while (inside.load(std::memory_order_seq_cst) != 0) s.threads->pause(s.host, kPauseNs);
  // Nobody sets another mode any more. What threads go on to do must not count for the contexts that they
  // had.
  service.store(nullptr, std::memory_order_release);
  if (session_.type != nullptr && jni != nullptr) jni->SetStaticIntField(session_.type, session_.mode, kOff);
  if (is_open_) contexts_->clear(s.host);
}

bool Collector::close() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  if (session_.type != nullptr && jni != nullptr) jni->DeleteGlobalRef(session_.type);
  session_.type = nullptr;
  return true;
}

void Collector::thread_end(JNIEnv* jni, hprof_thread*) { contexts_->end(jni); }

}  // namespace hprof::context
