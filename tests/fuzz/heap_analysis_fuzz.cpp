// hprof heap: every command on any bytes as a dump.
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/seeds.h"
#include "tests/unit/support/hprof_builder.h"
#include "tools/heap/output/html_page.h"
#include "tools/heap/questions/heap_report.h"

using namespace hprof::tool;
using hprof::test::DumpRecipe;
using hprof::test::HprofBuilder;

namespace {

class Bytes : public DumpOpener {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  std::unique_ptr<ByteSource> open(std::string*) override {
    return std::make_unique<MemorySource>(data_, size_);
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

using Command = Document (*)(HeapRun&);
constexpr Command kCommands[] = {run_summary,  run_leaks,   run_histogram, run_path,      run_dominators,
                                 run_retained, run_objects, run_show,      run_find,      run_diff,
                                 run_report,   run_threads, run_waste,     run_references};
constexpr size_t kQuestions = sizeof kCommands / sizeof *kCommands;

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::vector<std::string> seeds;
  for (unsigned id_size : {4u, 8u}) {
    DumpRecipe recipe;
    recipe.id_size = id_size;
    recipe.in_segment = [](HprofBuilder& b) {
      b.u1(0x20).id(0x5000).u4(1).id(0x1000).id(0).id(0).id(0).id(0).id(0).u4(0);
      b.u2(1).u2(3).u1(10).u4(5).u2(1).id(0x10).u1(2).id(0x2000).u2(0);
      b.u1(0x01).id(0x2008).id(0x99).u1(0x02).id(0x2010).u4(7).u4(0).u1(0xff).id(0x2018);
    };
    recipe.last = [](HprofBuilder& b) { b.start_thread(7, 0x2020, 1, 0x10); };
    seeds.push_back(recipe.build());
    recipe.dump_end = false;
    seeds.push_back(recipe.build());
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The last byte chooses; a dump ends before it.
  unsigned choice = size == 0 ? 0 : data[size - 1];
  HeapSettings settings;
  settings.snapshot.threads = 1;
  settings.snapshot.follow = static_cast<Follow>(choice / kQuestions % 3);
  settings.snapshot.keep_unreached = choice >= 128;
  settings.subclasses = choice % 2 == 1;
  settings.text = "a";
  settings.top = 5;
  Command command = kCommands[choice % kQuestions];
  auto open = [&](const std::string&) { return std::make_unique<Bytes>(data, size); };
  std::vector<std::string> words = {"dump", command == run_show || command == run_path ? "0x2000"
                                            : choice >= 64                             ? "class:*"
                                                                                       : "*"};
  if (command == run_dominators && choice < 128) words.pop_back();
  std::string wrong;
  settings.limits.resize(2);
  parse_limit("retained(*)>1k", &settings.limits[0], &wrong);
  parse_limit("suspect>1%", &settings.limits[1], &wrong);
  HeapRun run{settings, words, open};
  try {
    Document document = command(run);
    std::ostringstream out;
    write_text(document, out);
    write_json(document, out);
    uint64_t left_out = 0;
    write_csv(document, "", out, &left_out);
    write_html(document, "f", out);
    if (command == run_objects) run_rows(run, "field,field.length,field[0].@class", choice >= 128, out);
  } catch (const OutOfMemory&) {
  }
  return 0;
}
