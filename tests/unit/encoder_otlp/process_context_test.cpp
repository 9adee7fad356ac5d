// The process context (OTEP 4719): what a publisher in this process says, and what is none.
#include "writers/encoder_otlp/process_context.h"

#include <cstring>
#include <doctest/doctest.h>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using hprof::otlp::Field;
using hprof::otlp::ProcessContext;

namespace {

std::string part(char field, const std::string& bytes) {
  std::string text(1, static_cast<char>(field << 3 | 2));
  size_t size = bytes.size();
  for (; size >= 0x80; size >>= 7) text += static_cast<char>(size | 0x80);
  return text + static_cast<char>(size) + bytes;
}

std::string attribute(const std::string& name, const std::string& value) {
  return part(1, part(1, name) + part(2, value));
}

// A publisher, by the steps of the specification.
class Publisher {
 public:
  explicit Publisher(const std::string& payload) : payload_(payload) {
    const int file = static_cast<int>(syscall(SYS_memfd_create, "OTEL_CTX", 1));
    REQUIRE(file >= 0);
    REQUIRE(ftruncate(file, kSize) == 0);
    at_ = static_cast<char*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
    close(file);
    REQUIRE(at_ != MAP_FAILED);
    put(12, static_cast<uint32_t>(payload_.size()));
    put(16, uint64_t{1});
    put(24, reinterpret_cast<uint64_t>(payload_.data()));
    put(8, uint32_t{2});
    memcpy(at_, "OTEL_CTX", 8);
  }
  ~Publisher() { munmap(at_, kSize); }
  template <class T>
  void put(size_t offset, T value) {
    memcpy(at_ + offset, &value, sizeof value);
  }

 private:
  static constexpr size_t kSize = 4096;
  std::string payload_;
  char* at_;
};

std::string read() {
  static ProcessContext context;
  context.read();
  std::string text;
  context.each([&](hprof_text name, const Field& value) {
    text += std::string(name.data, name.size) + "=" +
            (value.text.data != nullptr ? std::string(value.text.data, value.text.size)
                                        : std::to_string(value.number)) +
            " ";
  });
  return text;
}

const std::string kShop = attribute("service.name", part(1, "shop"));

}  // namespace

TEST_CASE("attributes of the resource are read, texts and integers") {
  CHECK(read().empty());
  const std::string number("\x18\xac\x02", 3), truth("\x10\x01", 2), real("\x21........", 9);
  const std::string resource = kShop + attribute("process.pid", number) + attribute("is", truth) +
                               attribute("share", real) + attribute("zone", part(1, "")) +
                               attribute("", part(1, "nameless"));
  const Publisher publisher(part(1, resource) + part(2, part(1, "threadlocal.schema_version")));
  CHECK(read() == "service.name=shop process.pid=300 zone= ");
}

TEST_CASE("what changes, is of another version or too large is no context") {
  Publisher publisher(part(1, kShop));
  CHECK(read() == "service.name=shop ");
  publisher.put(16, uint64_t{0});
  CHECK(read().empty());
  publisher.put(16, uint64_t{2});
  publisher.put(8, uint32_t{1});
  CHECK(read().empty());
  publisher.put(8, uint32_t{2});
  publisher.put(12, uint32_t{1} << 20);
  CHECK(read().empty());
  publisher.put(12, static_cast<uint32_t>(part(1, kShop).size()));
  publisher.put(24, uint64_t{16});
  CHECK(read().empty());
  publisher.put(24, ~uint64_t{0});
  CHECK(read().empty());
}

TEST_CASE("a payload that is cut anywhere ends there") {
  const std::string whole = part(1, kShop + attribute("zone", part(1, "b")));
  for (size_t size = 0; size < whole.size(); size++) {
    const Publisher publisher(whole.substr(0, size));
    CHECK(read().empty());
  }
}
#endif
