#include "hooks.h"

#include <cstring>

#include <hprof/cpp/text.hpp>

namespace hprof::io_calls {

namespace {

constexpr const char* kInput = "java/io/FileInputStream";
constexpr const char* kOutput = "java/io/FileOutputStream";
constexpr const char* kRandom = "java/io/RandomAccessFile";
constexpr const char* kFile = "sun/nio/ch/FileChannelImpl";
constexpr const char* kSocketChannel = "sun/nio/ch/SocketChannelImpl";
constexpr const char* kSocket = "sun/nio/ch/NioSocketImpl";  // since JDK 13; the old ones are the streams

constexpr Hook kHooks[] = {
    {kInput, "read", "()I", kFileRead, Bytes::kByte},
    {kInput, "read", nullptr, kFileRead, Bytes::kResult},
    {kOutput, "write", "(I)V", kFileWrite, Bytes::kOne},
    {kOutput, "write", "([B)V", kFileWrite, Bytes::kArray},
    {kOutput, "write", "([BII)V", kFileWrite, Bytes::kLast},
    {kRandom, "read", "()I", kFileRead, Bytes::kByte},
    {kRandom, "read", nullptr, kFileRead, Bytes::kResult},
    {kRandom, "write", "(I)V", kFileWrite, Bytes::kOne},
    {kRandom, "write", "([B)V", kFileWrite, Bytes::kArray},
    {kRandom, "write", "([BII)V", kFileWrite, Bytes::kLast},
    // These call a private writeBytes(byte[], int, int), which is native before JDK 21.
    {kRandom, "writeBytes", "(Ljava/lang/String;)V", kFileWrite, Bytes::kString},
    {kRandom, "writeChars", "(Ljava/lang/String;)V", kFileWrite, Bytes::kChars},
    {kFile, "read", nullptr, kFileRead, Bytes::kResult},
    {kFile, "write", nullptr, kFileWrite, Bytes::kResult},
    // Transfers inside of the kernel; others call read or write. The names are those of JDK 8 to 21, then
    // of 25.
    {kFile, "transferToDirectlyInternal", nullptr, kFileRead, Bytes::kTransferTo},
    {kFile, "transferToDirectInternal", nullptr, kFileRead, Bytes::kTransferTo},
    {kFile, "transferFromDirectly", nullptr, kFileWrite, Bytes::kTransferred},
    {kFile, "transferFromDirect", nullptr, kFileWrite, Bytes::kTransferred},
    {kSocketChannel, "read", nullptr, kSocketRead, Bytes::kResult},
    {kSocketChannel, "write", nullptr, kSocketWrite, Bytes::kResult},
    // Of the streams of a channel's socket.
    {kSocketChannel, "blockingRead", nullptr, kSocketRead, Bytes::kResult},
    {kSocketChannel, "blockingWriteFully", nullptr, kSocketWrite, Bytes::kLast},
    {kSocket, "read", nullptr, kSocketRead, Bytes::kResult},
    {kSocket, "write", nullptr, kSocketWrite, Bytes::kLast},
    {"java/net/SocketInputStream", "socketRead", nullptr, kSocketRead, Bytes::kResult},
    {"java/net/SocketOutputStream", "socketWrite", nullptr, kSocketWrite, Bytes::kLast},
};
constexpr uint32_t kHookCount = sizeof kHooks / sizeof kHooks[0];

bool is(hprof_text text, const char* wanted) {
  return text.size == std::strlen(wanted) && std::memcmp(text.data, wanted, text.size) == 0;
}

// signature: of a class, Ljava/io/File;
bool is_class(hprof_text signature, const char* owner) {
  return signature.size == std::strlen(owner) + 2 &&
         std::memcmp(signature.data + 1, owner, signature.size - 2) == 0;
}

}  // namespace

const char* hook_patterns() {
  static char patterns[1536];
  TextBuffer text(patterns, sizeof patterns);
  const Hook* before = nullptr;
  for (const Hook& hook : kHooks) {
    const bool is_again = before != nullptr && std::strcmp(before->owner, hook.owner) == 0 &&
                          std::strcmp(before->method, hook.method) == 0;
    if (!is_again) text.add(before != nullptr ? ":" : "").add(hook.owner).add(".").add(hook.method);
    before = &hook;
  }
  return patterns;
}

uint32_t hook_number(const Services& services, hprof_method_id method) {
  const auto info = find_method(services.ids, services.host, method);
  const auto text = [&](hprof_string_id id) { return services.ids->string_text(services.host, id); };
  const hprof_text owner = text(find_class(services.ids, services.host, info->owner)->signature);
  for (uint32_t i = 0; i < kHookCount; i++) {
    const Hook& hook = kHooks[i];
    if (is_class(owner, hook.owner) && is(text(info->name), hook.method) &&
        (hook.type == nullptr || is(text(info->signature), hook.type)))
      return i + 1;
  }
  return 0;
}

const Hook* hook_of(uint32_t number) { return number - 1 < kHookCount ? &kHooks[number - 1] : nullptr; }

}  // namespace hprof::io_calls
