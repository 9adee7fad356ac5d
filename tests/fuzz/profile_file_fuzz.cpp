// The readers of profiles: text, binary, folded stacks and pprof; the page made of what they
// read, and what hprof convert makes of it.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/seeds.h"
#include "tests/unit/support/hprof_builder.h"
#include "tests/unit/support/proto_text.h"
#include "tools/hprof/convert/convert.h"
#include "tools/hprof/view/page.h"
#include "tools/hprof/view/process_time.h"
#include "tools/hprof/view/windows.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

using Reader = bool (*)(Input&, Profile*, std::string*);
constexpr Reader kReaders[] = {read_text_profile, read_binary_profile, read_folded_profile,
                               read_pprof_profile};

struct Format {
  const char* name;
  Reader reader;  // nullptr: it is only written
};
constexpr Format kFormats[] = {{"collapsed", read_folded_profile},
                               {"pprof", read_pprof_profile},
                               {"json", nullptr},
                               {"ascii", read_text_profile}};
constexpr size_t kBuffer = 4096;  // small: a large one is what most of the time would go to

// What is written can be read again.
void convert(const Profile& profile, const Format& format) {
  std::string bytes, error;
  std::vector<std::string> said;
  if (profile.tables.empty() ||
      !convert_profile(profile, *encoder_of(format.name), {}, &bytes, &said, &error))
    return;
  MemorySource source(bytes.data(), bytes.size());
  Input in(source, kBuffer);
  Profile again;
  if (format.reader != nullptr && !format.reader(in, &again, &error)) __builtin_trap();
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  const std::string text =
      "THREAD START (obj=1, id = 200001, name=\"main\", group=\"main\")\nTRACE 300001: (thread=200001)\n"
      "\tMain.work(Main.java:12)\nCPU SAMPLES BEGIN (total = 5) Sat Nov 21 05:00:02 2026\n"
      "rank   self  accum   count trace method\n   1 62.50% 62.50%       5 300001 Main.work\nCPU SAMPLES "
      "END\nHPROF NOTE: cpu=samples: engine signal, interval 10 ms, 5 samples in 2.004 s\n"
      "HPROF NOTE: cpu=samples: the process used 3.5 s of CPU time meanwhile, the Java threads in the table "
      "0.05 s, the C2 compiler 1.5 s; the rest, 0.2 s, went to other threads\n"
      "HPROF NOTE: window 1: 20261128170610 to 20261128170620, 10.000 s\n";
  hprof::test::HprofBuilder binary(8, "JAVA PROFILE 1.0.1");
  binary.string(1, "demo/A").string(2, "inner").string(3, "()V").string(4, "A.java");
  binary.load_class(1, 100, 0, 1).frame(7, 2, 3, 4, 1, 12).trace(300001, 200001, {7});
  binary.begin(0x0d).u4(20).u4(1).u4(20).u4(300001).end();
  const std::string pprof = proto(1, proto(1, 1) + proto(2, 2)) +
                            proto(2, proto(1, 1) + proto(2, 5) + proto(3, proto(1, 3) + proto(2, 4))) +
                            proto(4, proto(1, 1) + proto(4, proto(1, 1) + proto(2, 12))) +
                            proto(5, proto(1, 1) + proto(2, 3)) + proto(6, std::string()) +
                            proto(6, std::string("samples")) + proto(6, std::string("count")) +
                            proto(6, std::string("class")) + proto(6, std::string("a.A.b"));
  // The last byte chooses the reader, and what it is converted to.
  return {text + '\0', binary.bytes() + '\1', std::string("a;b.c 3\n[cut];d 4\n") + '\2', pprof + '\3'};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr size_t kReaderCount = sizeof kReaders / sizeof kReaders[0];
  constexpr size_t kFormatCount = sizeof kFormats / sizeof kFormats[0];
  const Reader reader = kReaders[data[size - 1] % kReaderCount];
  const Format& format = kFormats[data[size - 1] / kReaderCount % kFormatCount];
  std::string pages[2];
  for (size_t i = 0; i < 2; ++i) {
    MemorySource source(data, size - 1);
    Input in(source, i == 0 ? 16 : kBuffer);
    Profile profile;
    std::string error;
    if (!reader(in, &profile, &error)) {
      if (error.find("line ") == std::string::npos && error.find("byte ") == std::string::npos)
        __builtin_trap();
      pages[i] = error;
      continue;
    }
    // All windows, and the last one, added up.
    Profile last = profile;
    const uint64_t number = profile.windows.empty() ? 1 : profile.windows.back().number;
    if (!add_windows({}, &profile, &error)) __builtin_trap();
    add_windows({number, "12:00", "13:00"}, &last, &error);
    for (const ProfileTable& table : profile.tables) {
      for (const ProfileRow& row : table.rows) {
        if (row.values.size() != table.weights.size()) __builtin_trap();
      }
    }
    ProcessTime time;
    if (read_process_time(profile.notes, &time) && text_of(time).empty()) __builtin_trap();
    for (const ProfileTable& table : profile.tables)
      if (!time.parts.empty()) is_of_table(time, table);
    std::ostringstream out;
    write_page({profile}, out);
    pages[i] = out.str();
    if (i == 0) convert(profile, format);
  }
  // The size of the buffer must not show.
  if (pages[0] != pages[1]) __builtin_trap();
  return 0;
}
