#include "targets.h"

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/local_frame.hpp>

namespace hprof::io_calls {

namespace {

using Text = TextLine<1024>;
constexpr jsize kMostUnits = 300;            // of a name, the last ones; each has at most three bytes
constexpr uint64_t kFirstEphemeral = 32768;  // port that a client gets from the system, by Linux' default

// The fields of one object, and what they refer to, in a local frame of the caller.
class Fields {
 public:
  Fields(JNIEnv* jni, const char* owner, jobject object) : jni_(jni), object_(object) {
    if (object != nullptr) class_ = without_exception(jni, jni->FindClass(owner));
  }
  // Null: there is none, or it is null.
  jobject reference(const char* name, const char* type) const {
    const jfieldID field = id(name, type);
    return field != nullptr ? jni_->GetObjectField(object_, field) : nullptr;
  }
  jint number(const char* name) const {
    const jfieldID field = id(name, "I");
    return field != nullptr ? jni_->GetIntField(object_, field) : -1;
  }

 private:
  jfieldID id(const char* name, const char* type) const {
    return class_ != nullptr ? without_exception(jni_, jni_->GetFieldID(class_, name, type)) : nullptr;
  }

  JNIEnv* const jni_;
  const jobject object_;
  jclass class_ = nullptr;
};

void add_string(JNIEnv* jni, jobject string, TextBuffer* text) {
  char bytes[3 * kMostUnits + 1];
  const auto name = static_cast<jstring>(string);
  const jsize size = jni->GetStringLength(name), begin = size > kMostUnits ? size - kMostUnits : 0;
  jni->GetStringUTFRegion(name, begin, size - begin, bytes);
  bytes[sizeof bytes - 1] = 0;
  text->add(begin != 0 ? "..." : "").add(bytes);
}

// What the object's toString() returns; nothing if it throws.
void add_object(JNIEnv* jni, jobject object, TextBuffer* text) {
  const jmethodID to_string = without_exception(
      jni, jni->GetMethodID(jni->GetObjectClass(object), "toString", "()Ljava/lang/String;"));
  if (to_string == nullptr) return;
  jobject string = jni->CallObjectMethod(object, to_string);
  if (jni->ExceptionCheck()) {
    jni->ExceptionClear();
  } else if (string != nullptr) {
    add_string(jni, string, text);
  }
}

uint64_t port_of(const TextBuffer& address) {
  const char* colon = std::strrchr(address.c_str(), ':');
  uint64_t port = 0;
  for (const char* at = colon; at != nullptr && *++at >= '0' && *at <= '9';)
    port = port * 10 + static_cast<uint64_t>(*at - '0');
  return port;
}

// address: "name/1.2.3.4:80", "/1.2.3.4:80". A peer with a port of clients, of a socket with a port of
// servers, has connected to this program: all such peers of a host are one target.
void add_peer(const TextBuffer& address, uint64_t local_port, TextBuffer* text) {
  const char* const begin = address.c_str();
  const char* const colon = std::strrchr(begin, ':');
  const char* const slash = std::strchr(begin, '/');
  if (colon == nullptr || slash == nullptr || slash > colon) return void(text->add(begin));
  const bool has_name = slash != begin;
  const char* const host = has_name ? begin : slash + 1;
  const auto size = static_cast<uint64_t>((has_name ? slash : colon) - host);
  const bool is_bare = !has_name && *host != '[' && std::memchr(host, ':', size) != nullptr;
  text->add(is_bare ? "[" : "").add(host, size).add(is_bare ? "]" : "");
  if (local_port != 0 && local_port < kFirstEphemeral && port_of(address) >= kFirstEphemeral)
    text->add(":*");
  else
    text->add(colon);
}

// False: it may get an address later.
bool add_channel(JNIEnv* jni, const Fields& channel, TextBuffer* text) {
  const auto address = [&](const char* name) {
    jobject found = channel.reference(name, "Ljava/net/SocketAddress;");
    return found != nullptr ? found : channel.reference(name, "Ljava/net/InetSocketAddress;");
  };
  jobject remote = address("remoteAddress"), local = address("localAddress");
  if (remote == nullptr) return false;
  Text of_remote, of_local;
  add_object(jni, remote, &of_remote);
  if (local != nullptr) add_object(jni, local, &of_local);
  add_peer(of_remote, port_of(of_local), text);
  return true;
}

bool add_socket(JNIEnv* jni, jobject socket, TextBuffer* text) {
  const Fields fields(jni, "java/net/SocketImpl", socket);
  jobject address = fields.reference("address", "Ljava/net/InetAddress;");
  const jint port = fields.number("port"), local_port = fields.number("localport");
  if (address == nullptr || port <= 0) return false;
  Text of_remote;
  add_object(jni, address, &of_remote);
  of_remote.add(":").add(static_cast<uint64_t>(port));
  add_peer(of_remote, local_port > 0 ? static_cast<uint64_t>(local_port) : 0, text);
  return true;
}

void add_file(JNIEnv* jni, const Fields& file, TextBuffer* text) {
  constexpr const char* kStandard[] = {"<stdin>", "<stdout>", "<stderr>"};
  jobject path = file.reference("path", "Ljava/lang/String;");
  if (path != nullptr) return add_string(jni, path, text);
  const jint fd =
      Fields(jni, "java/io/FileDescriptor", file.reference("fd", "Ljava/io/FileDescriptor;")).number("fd");
  text->add(fd >= 0 && fd < 3 ? kStandard[fd] : "<no path>");
}

// False: the answer is not for later calls.
bool describe(JNIEnv* jni, const char* owner, jobject object, TextBuffer* text) {
  const LocalFrame frame(jni, 16);
  if (!frame.is_open()) return false;
  const Fields fields(jni, owner, object);
  bool is_final = true;
  if (std::strcmp(owner, "sun/nio/ch/SocketChannelImpl") == 0) {
    is_final = add_channel(jni, fields, text);
  } else if (std::strcmp(owner, "sun/nio/ch/NioSocketImpl") == 0) {
    is_final = add_socket(jni, object, text);
  } else if (std::strncmp(owner, "java/net/", 9) == 0) {
    is_final = add_socket(jni, fields.reference("impl", "Ljava/net/AbstractPlainSocketImpl;"), text);
  } else {
    add_file(jni, fields, text);
  }
  if (text->size() == 0) text->add(is_final ? "<no name>" : "<not connected>");
  return is_final;
}

}  // namespace

bool Targets::open(const Services& services, bool is_redacted) {
  services_ = services;
  jvmti_ = static_cast<jvmtiEnv*>(services.jvm->jvmti(services.host));
  is_redacted_ = is_redacted;
  slots_ = services.allocate<Slot>(kSlots);
  constexpr const char kOther[] = "<other targets>";
  other_ = services.ids->string(services.host, {kOther, sizeof kOther - 1});
  return slots_ != nullptr && targets_.open(services, 256, kMostTargets * 2);
}

hprof_string_id Targets::string_of(const TextBuffer& text) {
  uint64_t hash = 1;
  for (uint64_t i = 0; i < text.size(); i++) hash = mix(hash, static_cast<uint8_t>(text.c_str()[i]));
  if (hash == 0) hash = 1;
  Target* target = targets_.find(hash);
  if (target == nullptr && targets_.size() < kMostTargets) target = targets_.make(hash);
  if (target == nullptr) return other_;
  uint32_t string = target->string.load(std::memory_order_acquire);
  if (string != 0) return string;
  TextLine<kNumberMost + 2> number;
  if (is_redacted_) number.add("#").add(uint64_t{numbers_.fetch_add(1, std::memory_order_relaxed)} + 1);
  const TextBuffer& shown = is_redacted_ ? static_cast<const TextBuffer&>(number) : text;
  uint32_t fresh = services_.ids->string(services_.host, {shown.c_str(), shown.size()});
  if (fresh == 0) fresh = other_;
  return target->string.compare_exchange_strong(string, fresh, std::memory_order_acq_rel) ? fresh : string;
}

hprof_string_id Targets::of(JNIEnv* jni, const char* owner, jobject object) {
  jint hash = 0;
  jvmti_->GetObjectHashCode(object, &hash);
  Slot& slot = slots_[mix(0, static_cast<uint32_t>(hash)) >> 52];
  static_assert(kSlots == 1u << (64 - 52), "the hash's upper bits");
  hprof_string_id target = 0;
  if ((slot.users.fetch_add(1, std::memory_order_acquire) & kTaken) == 0 && slot.object != nullptr &&
      jni->IsSameObject(object, slot.object) == JNI_TRUE)
    target = slot.target;
  slot.users.fetch_sub(1, std::memory_order_release);
  if (target != 0) return target;

  Text text;
  const bool is_final = describe(jni, owner, object, &text);
  target = string_of(text);
  uint32_t nobody = 0;
  if (!is_final || !slot.users.compare_exchange_strong(nobody, kTaken, std::memory_order_acquire))
    return target;
  if (slot.object != nullptr) jni->DeleteWeakGlobalRef(slot.object);
  slot.object = without_exception(jni, jni->NewWeakGlobalRef(object));
  slot.target = target;
  slot.users.fetch_sub(kTaken, std::memory_order_release);
  return target;
}

}  // namespace hprof::io_calls
