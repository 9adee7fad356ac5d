// compress=gzip: members of one size that any reader of gzip takes.
#include <doctest/doctest.h>
#include <string>
#include <vector>
#include <zlib.h>

#include <hprof/filter.h>
#include <hprof/record.h>

#include "tools/mock/mock_host.h"

HPROF_EXTERN_C const hprof_module* hprof_module_filter_gzip(const hprof_offer*, const char**);

namespace hprof {
namespace {

constexpr size_t kMember = 1 << 20;

const hprof_filter_ops& ops() {
  return *static_cast<const hprof_filter_ops*>(hprof_module_filter_gzip(nullptr, nullptr)->units[0]->ops);
}

hprof_status append(void* to, const uint8_t* bytes, uint64_t size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  return HPROF_OK;
}

// What the members of a file hold, one by one.
std::vector<std::string> members(const std::string& file, std::string* comment) {
  std::vector<std::string> found;
  size_t at = 0;
  while (at < file.size()) {
    std::string text(4 * kMember, '\0');
    char said[100] = "";
    gz_header header = {};
    header.comment = reinterpret_cast<Bytef*>(said);
    header.comm_max = sizeof said;
    z_stream stream = {};
    REQUIRE(inflateInit2(&stream, 31) == Z_OK);
    inflateGetHeader(&stream, &header);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data() + at));
    stream.avail_in = static_cast<uInt>(file.size() - at);
    stream.next_out = reinterpret_cast<Bytef*>(&text[0]);
    stream.avail_out = static_cast<uInt>(text.size());
    REQUIRE(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    at += stream.total_in;
    text.resize(stream.total_out);
    found.push_back(text);
    if (found.size() == 1) *comment = said;
    if (found.size() > 1) CHECK(std::string(said).empty());
    inflateEnd(&stream);
  }
  return found;
}

std::string sample(size_t size) {
  std::string text;
  for (uint32_t i = 0; text.size() < size; i++) text += "line " + std::to_string(i * 2654435761u) + "\n";
  text.resize(size);
  return text;
}

std::string compressed(const std::string& text, const char* option, size_t piece,
                       uint32_t form = HPROF_HEAP_AS_BYTES) {
  MockHost host;
  host.settings.heap_form = form;
  const char* config = option;
  void* self = nullptr;
  char error[100] = "";
  REQUIRE(ops().create(host.host(), &config, &self, error, sizeof error) == HPROF_OK);
  std::string file;
  for (size_t at = 0; at < text.size(); at += piece) {
    const size_t n = piece < text.size() - at ? piece : text.size() - at;
    REQUIRE(ops().write(self, reinterpret_cast<const uint8_t*>(text.data()) + at, n, &file, append) ==
            HPROF_OK);
  }
  REQUIRE(ops().finish(self, &file, append) == HPROF_OK);
  ops().destroy(self);
  CHECK(host.memory_used == 0);
  return file;
}

}  // namespace

TEST_CASE("what is no binary dump is one member: browsers read no second one") {
  const std::string text = sample(3 * kMember + 12345);
  for (size_t piece : {size_t{1000}, size_t{3000000}}) {
    std::string comment;
    CHECK(members(compressed(text, "gzip", piece, HPROF_HEAP_AS_FIELDS), &comment) ==
          std::vector<std::string>{text});
    CHECK(comment.empty());
  }
}

TEST_CASE("members of 1 MiB hold a dump's bytes in their order; the first one's comment says so") {
  const std::string text = sample(3 * kMember + 12345);
  for (size_t piece : {size_t{1000}, kMember, size_t{3000000}}) {
    std::string comment;
    const auto found = members(compressed(text, "gzip", piece), &comment);
    CHECK(comment == "HPROF BLOCKSIZE=1048576");
    REQUIRE(found.size() == 4);
    std::string all;
    for (size_t i = 0; i < 4; i++) {
      CHECK(found[i].size() == (i < 3 ? kMember : 12345));
      all += found[i];
    }
    CHECK(all == text);
  }
}

TEST_CASE("a whole number of members has no empty one behind it, and nothing is nothing") {
  std::string comment;
  CHECK(members(compressed(sample(2 * kMember), "gzip", 65536), &comment).size() == 2);
  CHECK(compressed("", "gzip", 1).empty());
}

TEST_CASE("a level makes it smaller") {
  const std::string text = sample(500000);
  const size_t fast = compressed(text, "gzip:1", 65536).size();
  CHECK(fast < text.size());
  CHECK(compressed(text, "gzip:9", 65536).size() < fast);
  CHECK(compressed(text, "gzip", 65536).size() == fast);
  CHECK(compressed(text, nullptr, 65536).size() == fast);
}

TEST_CASE("anything else is refused with a word") {
  MockHost host;
  for (const char* option : {"", "zip", "gzi", "gzip:", "gzip:0", "gzip:10", "gzip9", "gzip:a"}) {
    CAPTURE(option);
    void* self = nullptr;
    char error[100] = "";
    CHECK(ops().create(host.host(), &option, &self, error, sizeof error) == HPROF_FAILED);
    CHECK(std::string(error) == "compress option value must be gzip or gzip:<1..9>");
  }
}

TEST_CASE("without memory it is not made, and what was taken is given back") {
  for (uint64_t limit : {100u, 100000u, 530000u}) {
    MockHost host;
    host.memory_limit = limit;
    const char* option = "gzip";
    void* self = nullptr;
    char error[100] = "";
    CHECK(ops().create(host.host(), &option, &self, error, sizeof error) == HPROF_NO_MEMORY);
    CHECK(host.memory_used == 0);
  }
}

TEST_CASE("an output that is gone stops it") {
  MockHost host;
  const char* option = "gzip";
  void* self = nullptr;
  char error[100] = "";
  REQUIRE(ops().create(host.host(), &option, &self, error, sizeof error) == HPROF_OK);
  const std::string text = sample(2 * kMember);
  const auto gone = [](void*, const uint8_t*, uint64_t) -> hprof_status { return HPROF_ABORTED; };
  CHECK(ops().write(self, reinterpret_cast<const uint8_t*>(text.data()), text.size(), nullptr, gone) ==
        HPROF_ABORTED);
  ops().destroy(self);
}

}  // namespace hprof
