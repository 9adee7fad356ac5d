// The readers of recordings: JDK Flight Recorder, lines of JSON, OTLP.
#include <sstream>

#include "tests/fuzz/seeds.h"
#include "tests/unit/support/jfr_builder.h"
#include "tests/unit/support/proto_text.h"
#include "tools/hprof/view/page.h"
#include "tools/hprof/view/windows.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

using Reader = bool (*)(Input&, Profile*, std::string*);
constexpr Reader kReaders[] = {read_jfr_profile, read_json_profile, read_otlp_profile};

std::string otlp() {
  const std::string type = proto(1, 1) + proto(2, 2);
  const std::string sample = proto(1, 1) + proto(2, std::string("\1")) + proto(4, std::string("\5"));
  std::string strings;
  for (const char* text : {"", "samples", "count", "a.A.b", "A.java", "thread.name"})
    strings += proto(5, std::string(text));
  const std::string dictionary = proto(2, std::string()) + proto(2, proto(3, proto(1, 1) + proto(2, 12))) +
                                 proto(3, std::string()) + proto(3, proto(1, 3) + proto(3, 4)) + strings +
                                 proto(6, std::string()) +
                                 proto(6, proto(1, 5) + proto(2, proto(1, std::string("main")))) +
                                 proto(7, std::string()) + proto(7, proto(1, std::string("\1")));
  return proto(1, proto(2, proto(2, proto(1, type) + proto(2, sample) + proto(4, 7)))) + proto(2, dictionary);
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  const std::string json =
      "{\"record\":\"begin\",\"version\":1,\"created_ms\":0}\n"
      "{\"record\":\"frame\",\"id\":1,\"class\":\"a.A\",\"method\":\"b\",\"source\":null,\"line\":12}\n"
      "{\"record\":\"trace\",\"id\":2,\"thread\":{\"id\":1,\"name\":\"main\"},\"frames\":[1],\"cut\":false}\n"
      "{\"record\":\"report_begin\",\"reason\":\"window\",\"begin_wall_ns\":1,\"end_wall_ns\":9000000}\n"
      "{\"record\":\"table\",\"name\":\"x/"
      "1\",\"title\":\"X\",\"order\":\"n\",\"flags\":[\"events\"],\"columns\":["
      "{\"name\":\"n\",\"type\":\"count\",\"flags\":[\"weight\"]},{\"name\":\"t\",\"type\":\"trace\","
      "\"flags\":[]}],"
      "\"totals\":null}\n"
      "{\"record\":\"row\",\"table\":\"x/1\",\"cells\":{\"n\":3,\"t\":2}}\n"
      "{\"record\":\"report_end\",\"whole\":true}\n";
  // The last byte chooses the reader.
  std::vector<std::string> seeds = {json + '\1', otlp() + '\2'};
  for (const bool packed : {true, false}) {
    JfrBuilder builder(packed);
    add_jfr_chunk(builder, 1000000000);
    add_jfr_chunk(builder, 3000000000, "other");
    seeds.push_back(builder.bytes() + '\0');
  }
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Reader reader = kReaders[data[size - 1] % (sizeof kReaders / sizeof kReaders[0])];
  std::string pages[2];
  for (size_t i = 0; i < 2; ++i) {
    MemorySource source(data, size - 1);
    Input in(source, i == 0 ? 16 : 4096);
    Profile profile;
    std::string error;
    if (!reader(in, &profile, &error)) {
      if (error.find("line ") == std::string::npos && error.find("byte ") == std::string::npos)
        __builtin_trap();
      pages[i] = error;
      continue;
    }
    if (!add_windows({}, &profile, &error)) __builtin_trap();
    for (const ProfileTable& table : profile.tables) {
      for (const ProfileRow& row : table.rows) {
        if (row.values.size() != table.weights.size()) __builtin_trap();
      }
    }
    std::ostringstream out;
    write_page({profile}, out);
    pages[i] = out.str();
  }
  // The size of the buffer must not show.
  if (pages[0] != pages[1]) __builtin_trap();
  return 0;
}
