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
constexpr jsize kMostChars = 64;  // of a label's name, and of its value
constexpr uint32_t kMostText = 512;
constexpr char kOther[] = "labels:other";
constexpr uint64_t kSearchEveryNs = 1'000'000'000;
constexpr uint64_t kPauseNs = 1'000'000;

// What the native methods use. They may run when the session has ended: it is theirs only while they are
// counted as inside.
std::atomic<const hprof_thread_context_service*> service{nullptr};
std::atomic<const Session*> session{nullptr};
std::atomic<uint32_t> inside{0};
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
  // Asked for first, it might be one of the program's.
  jclass made =
      without_exception(jni, jni->DefineClass(kName, nullptr, reinterpret_cast<const jbyte*>(kContext),
                                              static_cast<jsize>(sizeof kContext)));
  if (made == nullptr) made = without_exception(jni, jni->FindClass(kName));  // of an earlier session
  if (made == nullptr) return false;
  char store_name[] = "store", store_type[] = "(JJJJI)V";
  char add_name[] = "add", add_type[] = "(ILjava/lang/String;Ljava/lang/String;)I";
  const JNINativeMethod methods[] = {{store_name, store_type, reinterpret_cast<void*>(&store)},
                                     {add_name, add_type, reinterpret_cast<void*>(&add)}};
  const bool is_bound = jni->RegisterNatives(made, methods, 2) == JNI_OK;
  clear_exception(jni);
  mode_ = is_bound ? without_exception(jni, jni->GetStaticFieldID(made, "mode", "I")) : nullptr;
  if (mode_ != nullptr) class_ = without_exception(jni, static_cast<jclass>(jni->NewGlobalRef(made)));
  return class_ != nullptr;
}

void Collector::set_mode(JNIEnv* jni, jint mode) const { jni->SetStaticIntField(class_, mode_, mode); }

hprof_status Collector::start() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  const LocalFrame frame(jni, 16);
  if (!frame.is_open()) return HPROF_NO_MEMORY;
  if (class_ == nullptr && !make_class(jni)) {
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
  session.store(&session_, std::memory_order_seq_cst);
  service.store(contexts_, std::memory_order_release);
  set_mode(jni, s.settings().java_version >= contexts_->first_with_ids ? 2 : 1);
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
  if (class_ != nullptr && jni != nullptr) set_mode(jni, 0);
  service.store(nullptr, std::memory_order_release);
  session.store(nullptr, std::memory_order_seq_cst);
  while (inside.load(std::memory_order_seq_cst) != 0) s.threads->pause(s.host, kPauseNs);
  if (watcher_ != nullptr) s.threads->stop(s.host, watcher_);
  watcher_ = nullptr;
  if (is_open_) contexts_->clear(s.host);
}

bool Collector::close() {
  const Services& s = services_;
  auto* jni = static_cast<JNIEnv*>(s.jvm->jni(s.host));
  if (class_ != nullptr && jni != nullptr) jni->DeleteGlobalRef(class_);
  class_ = nullptr;
  return true;
}

void Collector::thread_end(JNIEnv* jni, hprof_thread*) { contexts_->end(jni); }

}  // namespace hprof::context
