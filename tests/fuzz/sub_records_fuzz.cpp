// The binary encoder reads what the VM writes into its dump: any bytes as sub-records of heap segments. The
// first byte chooses the size of identifiers, what is redacted, and in pieces of which size they come; whole
// and in pieces must give the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include "tests/fuzz/seeds.h"
#include "tests/unit/support/hprof_builder.h"
#include "tools/mock/mock_host.h"
#include "writers/encoder_binary/sub_records.h"

using namespace hprof::binary;
using hprof::MockHost;
using hprof::Services;
using hprof::test::HprofBuilder;

namespace {

// Large tables of which little is touched, as the agent reserves them: calloc() would write zeroes, and a
// sanitizer's mark every byte.
#if __has_include(<sys/mman.h>)
void* reserve(const hprof_host*, uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}
void unreserve(const hprof_host*, void* memory, uint64_t bytes) { munmap(memory, bytes); }
#else
void* reserve(const hprof_host*, uint64_t bytes) { return calloc(1, bytes); }
void unreserve(const hprof_host*, void* memory, uint64_t) { free(memory); }
#endif

const hprof_mem_service kMem = {sizeof(hprof_mem_service),
                                0,
                                [](const hprof_host*, uint64_t bytes) { return calloc(1, bytes); },
                                [](const hprof_host*, void* memory, uint64_t) { free(memory); },
                                reserve,
                                unreserve,
                                [](const hprof_host*, uint64_t) { return uint32_t{1}; },
                                [](const hprof_host*, uint64_t) {}};

void expect(bool holds) {
  if (!holds) abort();
}

struct Result {
  std::vector<uint8_t> bytes;  // up to where it failed
  bool failed = false;
  bool between = false;
  uint32_t classes = 0;
  uint64_t objects = 0;
  std::vector<uint64_t> names, missing;

  bool operator==(const Result& other) const {
    // A sub-record that fails may have been rewritten up to any piece.
    return failed == other.failed && classes == other.classes && objects == other.objects &&
           names == other.names && missing == other.missing &&
           (failed || (bytes == other.bytes && between == other.between));
  }
};

Result read(std::vector<uint8_t> bytes, uint8_t choice, size_t piece) {
  static MockHost host;
  host.set_service(HPROF_SERVICE_MEM, &kMem);
  const Services services(host.host());
  hprof_foreign_dump dump = {};
  dump.size = sizeof dump;
  const uint32_t redact = choice / 2 % 3u;
  if (redact == 2 || choice / 8 % 2u == 0) dump.flags |= HPROF_FOREIGN_NO_FIELDS;
  if (redact == 2 || choice / 16 % 2u == 0) dump.flags |= HPROF_FOREIGN_NO_ARRAYS;
  if (redact != 0) dump.flags |= HPROF_FOREIGN_NO_TEXT;
  SubRecords records;
  Result result;
  expect(records.open(services, &dump, choice % 2 != 0 ? 8 : 4));
  records.mark = choice / 32 % 2;
  records.on_name = [](void* to, uint64_t name) { static_cast<Result*>(to)->names.push_back(name); };
  records.name_context = &result;
  // A copy for each piece: a byte behind it is found.
  for (size_t at = 0; at < bytes.size() && !records.failed();) {
    const size_t size = piece < bytes.size() - at ? piece : bytes.size() - at;
    std::vector<uint8_t> part(bytes.begin() + at, bytes.begin() + at + size);
    const uint64_t taken = records.feed(part.data(), part.size(), false);
    expect(taken == size || (records.failed() && taken <= size));
    result.bytes.insert(result.bytes.end(), part.begin(), part.end());
    at += size;
  }
  result.failed = records.failed();
  expect(!result.failed || records.failure() != nullptr);
  result.between = records.is_between();
  result.classes = records.class_count();
  result.objects = records.objects();
  for (uint32_t i = 1; i <= result.classes; i++) {
    const DumpedClass& of = records.class_at(i);
    expect(records.find_class(of.id) != nullptr);
  }
  records.mirrors().each_missing([&](uint64_t id) { result.missing.push_back(id); });
  records.close();
  return result;
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (unsigned id_size : {4u, 8u}) {
    for (unsigned redact : {0u, 1u, 2u}) {
      HprofBuilder b(id_size);
      const size_t header = b.bytes().size();
      // Object; a class with statics and fields of each kind; an instance of it; arrays; roots.
      b.u1(0x20).id(0x1000).u4(1).id(0).id(0).id(0).id(0).id(0).id(0).u4(0).u2(0).u2(0).u2(0);
      b.u1(0x20).id(0x1008).u4(1).id(0x1000).id(0).id(0).id(0).id(0).id(0).u4(12 + id_size);
      b.u2(1).u2(3).u1(10).u4(5).u2(2).id(0x70).u1(10).u4(7).id(0x71).u1(2).id(0x1000);
      b.u2(3).id(0x72).u1(10).id(0x73).u1(2).id(0x74).u1(11);
      b.u1(0x21).id(0x900000).u4(1).id(0x1008).u4(12 + id_size).u4(1).id(0x1018).u4(2).u4(3);
      b.u1(0x22).id(0x900040).u4(1).u4(2).id(0x1000).id(0x1018).id(0x1020);
      b.u1(0x23).id(0x900080).u4(1).u4(3).u1(8).u1('a').u1('b').u1('c');
      b.u1(0x01).id(0x900000).id(0x99).u1(0x03).id(0x900040).u4(7).u4(0).u1(0xff).id(0x900080);
      b.u1(0x08).id(0x900000).u4(7).u4(1);
      // A class that is its own super, and an instance of it.
      b.class_dump(0x1010, 0x1010, 8, {}).instance(0x9000c0, 0x1010, 8).u8(1);
      const char choice = static_cast<char>((id_size == 8 ? 1 : 0) + redact * 2 + 8 + 16);
      seeds.push_back(choice + b.bytes().substr(header));
    }
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t choice = data[0];
  const std::vector<uint8_t> bytes(data + 1, data + size);
  const Result whole = read(bytes, choice, bytes.size());
  const size_t piece = 1 + data[1] % 17;
  expect(whole == read(bytes, choice, piece));
  return 0;
}
