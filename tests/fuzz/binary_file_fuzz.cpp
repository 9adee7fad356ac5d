// The readers of binary files: check, print, and the counter of streams.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/seeds.h"
#include "tests/unit/support/hprof_builder.h"
#include "tools/hprof/check/binary_checker.h"
#include "tools/hprof/listen/stream_watch.h"
#include "tools/hprof/print/print.h"

using namespace hprof::tool;
using hprof::test::DumpRecipe;
using hprof::test::HprofBuilder;

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (unsigned id_size : {4u, 8u}) {
    DumpRecipe recipe;
    recipe.id_size = id_size;
    recipe.first = [](HprofBuilder& b) { b.begin(0x0e).u4(3).u2(4).end(); };
    recipe.in_segment = [](HprofBuilder& b) {
      b.u1(0x20).id(0x5000).u4(1).id(0x1000).id(0).id(0).id(0).id(0).id(0).u4(0);
      b.u2(1).u2(3).u1(10).u4(5).u2(1).id(0x10).u1(2).id(0x2000).u2(0);
    };
    recipe.last = [](HprofBuilder& b) {
      b.start_thread(9, 0x2020, 1, 0x10).begin(0x0b).u4(9).end();
      b.begin(0x0d).u4(4).u4(1).u4(3).u4(1).end();
      b.begin(0x06).u2(0).u4(0).u4(100).u4(9).u8(200).u8(20).u4(1);
      b.u1(0).u4(4).u4(1).u4(60).u4(5).u4(70).u4(6).end();
      b.begin(0x07).u4(1).u4(1).u8(1).u8(1).end();
    };
    seeds.push_back(recipe.build());
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (size_t buffer : {size_t{16}, size_t{4096}}) {
    std::ostringstream out;
    MemorySource source(data, size);
    Input in(source, buffer);
    ProblemLog log(out, "f", {});
    BinaryChecker(in, log).run();
    log.summarize();
  }
  std::ostringstream out;
  std::string error;
  MemorySource first(data, size);
  Input records(first, 64);
  print_records(records, out, &error);
  PrintOptions options;
  options.traces = options.threads = true;
  MemorySource second(data, size);
  Input tables(second, 64);
  print_summary(tables, options, out, &error);
  StreamWatch watch;
  watch.add(data, size / 2);
  watch.add(data + size / 2, size - size / 2);
  // Both framings agree on where records end.
  if (watch.bytes() != size) __builtin_trap();
  return 0;
}
