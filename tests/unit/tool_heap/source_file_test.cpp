// Dumps that are compressed or come from the standard input: read twice, in any order, by several threads.
#include "tools/format/source_file.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tools/format/gzip_source.h"

using namespace hprof::tool;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "hprof-source-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& bytes) const {
    std::ofstream(path + "/file", std::ios::binary) << bytes;
    return path + "/file";
  }
  std::string path;
};

std::string some_bytes(size_t size) {
  std::string bytes(size, '\0');
  std::mt19937 random(1);
  for (char& each : bytes) each = static_cast<char>(random());
  return bytes;
}

void put(std::string* to, uint32_t value, unsigned size) {
  for (unsigned i = 0; i < size; ++i) to->push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (char each : bytes) {
    crc ^= static_cast<uint8_t>(each);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

// A gzip member with stored blocks.
std::string member(const std::string& bytes) {
  constexpr size_t kBlock = 60000;
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (size_t at = 0; at == 0 || at < bytes.size(); at += kBlock) {
    const std::string block = bytes.substr(at, kBlock);
    packed.push_back(static_cast<char>(at + kBlock >= bytes.size()));
    put(&packed, static_cast<uint32_t>(block.size()), 2);
    put(&packed, static_cast<uint32_t>(~block.size()), 2);
    packed += block;
  }
  put(&packed, crc_of(bytes), 4);
  put(&packed, static_cast<uint32_t>(bytes.size()), 4);
  return packed;
}

std::string rest_of(ByteSource& source) {
  std::string all;
  std::vector<uint8_t> buffer(100000);
  for (size_t got; (got = source.read(buffer.data(), buffer.size())) > 0;)
    all.append(reinterpret_cast<const char*>(buffer.data()), got);
  return all;
}

// A pipe with `bytes` as the standard input of the process.
class StandardInput {
 public:
  explicit StandardInput(const std::string& bytes) : before_(dup(0)) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    dup2(ends[0], 0);
    close(ends[0]);
    writer_ = std::thread([bytes, to = ends[1]] {
      for (size_t at = 0; at < bytes.size();) {
        const ssize_t put = write(to, bytes.data() + at, bytes.size() - at);
        if (put <= 0) break;
        at += static_cast<size_t>(put);
      }
      close(to);
    });
  }
  ~StandardInput() {
    dup2(before_, 0);
    close(before_);
    writer_.join();
  }

 private:
  const int before_;
  std::thread writer_;
};

// Pieces at random offsets, by two threads.
void check_any_order(SourceFile& file, const std::string& bytes) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(2, 0);
  for (unsigned i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      std::string error;
      const std::unique_ptr<ByteSource> source = file.open(&error);
      if (source == nullptr || source->size() != bytes.size()) {
        wrong[i] = -1;
        return;
      }
      std::mt19937 random(i);
      for (int k = 0; k < 40; ++k) {
        const size_t at = random() % (bytes.size() + 1);
        char piece[200] = {};
        size_t got = 0;
        if (source->seek(at)) got = source->read(reinterpret_cast<uint8_t*>(piece), sizeof piece);
        wrong[i] += std::string(piece, got) != bytes.substr(at, got) || (got == 0) != (at == bytes.size());
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(wrong == std::vector<int>{0, 0});
}

}  // namespace

TEST_CASE("a gzip file is read in any order once it was read to its end") {
  if (!kInflates) return;
  Folder folder;
  const std::string bytes = some_bytes(9 << 20);
  std::string packed;
  SUBCASE("one member") { packed = member(bytes); }
  SUBCASE("members of 1 MiB") {
    for (size_t at = 0; at < bytes.size(); at += 1 << 20) packed += member(bytes.substr(at, 1 << 20));
  }
  SUBCASE("members of other sizes, an empty one, and no member behind them") {
    packed = member(bytes.substr(0, 100)) + member("") + member(bytes.substr(100, 6 << 20)) +
             member(bytes.substr(100 + (6 << 20))) + std::string(512, '\0');
  }
  SourceFile file(folder.file(packed));
  std::string error;
  const std::unique_ptr<ByteSource> first = file.open(&error);
  REQUIRE(first != nullptr);
  CHECK(first->size() == kUnknownSize);
  CHECK((rest_of(*first) == bytes));
  CHECK(first->error() == "");
  check_any_order(file, bytes);
}

TEST_CASE("a gzip file that is cut short or damaged is read as far as it goes") {
  if (!kInflates) return;
  Folder folder;
  const std::string bytes = some_bytes(3 << 20), packed = member(bytes);
  std::string broken = packed;
  SUBCASE("cut short") { broken.resize(packed.size() / 2); }
  SUBCASE("damaged") { broken[10 + 60005 * 20] = 6; }
  SourceFile file(folder.file(broken));
  std::string error;
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<ByteSource> source = file.open(&error);
    REQUIRE(source != nullptr);
    const std::string all = rest_of(*source);
    CHECK(source->error() != "");
    CHECK(source->size() == kUnknownSize);
    CHECK(all.size() > (1 << 20));
    CHECK((all == bytes.substr(0, all.size())));
  }
}

TEST_CASE("what the standard input delivers can be read again") {
  Folder folder;
  const std::string bytes = some_bytes(5 << 20);
  std::string delivered = bytes;
  SUBCASE("as it is") {}
  SUBCASE("compressed") {
    if (!kInflates) return;
    delivered = member(bytes);
  }
  SourceFile file("-", folder.path);
  std::string error;
  {
    StandardInput input(delivered);
    const std::unique_ptr<ByteSource> first = file.open(&error);
    CHECK((first != nullptr && first->size() == kUnknownSize && rest_of(*first) == bytes));
  }
  check_any_order(file, bytes);
}

TEST_CASE("a second source of the standard input has what the first one read") {
  const std::string bytes = some_bytes(300000);
  StandardInput input(bytes);
  std::string error;
  uint8_t start[1000];
  CHECK(open_source("-", &error)->read(start, sizeof start) > 0);
  CHECK((rest_of(*open_source("-", &error)) == bytes));
}
