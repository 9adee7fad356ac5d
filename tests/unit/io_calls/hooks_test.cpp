// The methods that the unit io_calls has probes in.
#include "plugins/io_calls/hooks.h"

#include <doctest/doctest.h>
#include <set>
#include <string>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::io_calls;

namespace {

struct Methods {
  MockHost host;
  Services services{host.host()};

  const Hook* hook(const std::string& owner, const char* name, const char* type) {
    const hprof_class_serial serial = host.add_class(owner, "L" + owner + ";");
    return hook_of(hook_number(services, host.add_method(serial, name, type)));
  }
};

std::set<std::string> patterns() {
  std::set<std::string> found;
  std::string part;
  for (const char* at = hook_patterns();; at++) {
    if (*at != ':' && *at != 0) {
      part += *at;
      continue;
    }
    CHECK(found.insert(part).second);
    part.clear();
    if (*at == 0) return found;
  }
}

}  // namespace

TEST_CASE("an overload has its own way to tell the bytes") {
  Methods methods;
  const char* output = "java/io/FileOutputStream";
  CHECK(methods.hook(output, "write", "(I)V")->bytes == Bytes::kOne);
  CHECK(methods.hook(output, "write", "([B)V")->bytes == Bytes::kArray);
  CHECK(methods.hook(output, "write", "([BII)V")->bytes == Bytes::kLast);
  CHECK(methods.hook("java/io/RandomAccessFile", "read", "()I")->bytes == Bytes::kByte);
  CHECK(methods.hook("java/io/RandomAccessFile", "read", "([BII)I")->bytes == Bytes::kResult);
  CHECK(methods.hook("java/io/RandomAccessFile", "writeChars", "(Ljava/lang/String;)V")->bytes ==
        Bytes::kChars);
  CHECK(methods.hook("sun/nio/ch/SocketChannelImpl", "read", "(Ljava/nio/ByteBuffer;)I")->operation ==
        kSocketRead);
}

TEST_CASE("methods that another one calls have none") {
  Methods methods;
  CHECK(methods.hook("java/io/RandomAccessFile", "writeBytes", "([BII)V") == nullptr);
  CHECK(methods.hook("java/io/FileOutputStream", "write", "(IZ)V") == nullptr);
  CHECK(methods.hook("java/io/FileOutputStreams", "write", "(I)V") == nullptr);
  CHECK(methods.hook("app/Stream", "write", "(I)V") == nullptr);
  CHECK(hook_of(0) == nullptr);
  CHECK(hook_of(UINT32_MAX) == nullptr);
}

TEST_CASE("each method is in the patterns, once") {
  const std::set<std::string> found = patterns();
  for (uint32_t i = 1; hook_of(i) != nullptr; i++)
    CHECK(found.count(std::string(hook_of(i)->owner) + "." + hook_of(i)->method) == 1);
  CHECK(found.count("java/net/SocketOutputStream.socketWrite") == 1);
}
