// Drives a fuzz target without libFuzzer: changes seeds at random, a bounded number of times.
//
//   <target> [-runs=N] [-seed=N] [-keep] [FILE_OR_DIRECTORY...]
//
// -keep writes each input to ./crash-input before it is tried, so the last one is there after an abort.
// Without files the seeds are those of the target (fuzz_seed), or a few bytes of text.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// A target may have seeds of its own: the size of the one of that number, and where it is; 0 when there are
// no more.
extern "C" __attribute__((weak)) size_t fuzz_seed(size_t number, const uint8_t** data);

namespace {

Bytes read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), {});
}

bool add_files(const char* place, std::vector<Bytes>* corpus) {
  if (fs::is_regular_file(place)) corpus->push_back(read(place));
  if (!fs::is_directory(place)) return fs::is_regular_file(place);
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_regular_file() && entry.file_size() != 0) corpus->push_back(read(entry.path()));
  }
  return true;
}

void add_own_seeds(std::vector<Bytes>* corpus) {
  const uint8_t* data = nullptr;
  for (size_t i = 0; fuzz_seed != nullptr; i++) {
    size_t size = fuzz_seed(i, &data);
    if (size == 0) break;
    corpus->emplace_back(data, data + size);
  }
  if (!corpus->empty()) return;
  for (const char* text : {"a=b,c=d", "a", "cpu=samples,depth=4\n", "a\tb,c\"d"}) {
    corpus->emplace_back(text, text + std::strlen(text));
  }
}

Bytes mutate(Bytes bytes, const Bytes& other, std::mt19937_64& random) {
  static const uint8_t kValues[] = {0, 1, 2, 3, 127, 128, 254, 255};
  for (uint64_t changes = 1 + random() % 4; changes != 0 && !bytes.empty(); changes--) {
    size_t at = random() % bytes.size();
    auto position = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 7) {
      case 0:
        bytes[at] = static_cast<uint8_t>(random());
        break;
      case 1:
        bytes[at] = kValues[random() % sizeof kValues];
        break;
      case 2:
        bytes[at] ^= static_cast<uint8_t>(1u << random() % 8);
        break;
      case 3:
        bytes.insert(position, static_cast<uint8_t>(random()));
        break;
      case 4:
        bytes.erase(position);
        break;
      case 5:
        bytes[at] = static_cast<uint8_t>(bytes[at] + (random() % 2 == 0 ? 1 : -1));
        break;
      default:
        if (other.empty()) break;
        for (size_t i = 0, from = random() % other.size(); i < 16 && at + i < bytes.size(); i++) {
          bytes[at + i] = other[(from + i) % other.size()];
        }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 20000;
  uint64_t seed = 1;
  bool keep = false;
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; i++) {
    if (std::strncmp(argv[i], "-runs=", 6) == 0) {
      runs = std::strtoull(argv[i] + 6, nullptr, 10);
    } else if (std::strncmp(argv[i], "-seed=", 6) == 0) {
      seed = std::strtoull(argv[i] + 6, nullptr, 10);
    } else if (std::strcmp(argv[i], "-keep") == 0) {
      keep = true;
    } else if (!add_files(argv[i], &corpus)) {
      std::fprintf(stderr, "cannot read %s\n", argv[i]);
      return 2;
    }
  }
  add_own_seeds(&corpus);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < runs; i++) {
    Bytes bytes = mutate(corpus[random() % corpus.size()], corpus[random() % corpus.size()], random);
    if (keep) {
      std::ofstream("crash-input", std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%llu inputs from %zu files\n", static_cast<unsigned long long>(runs), corpus.size());
  return 0;
}
