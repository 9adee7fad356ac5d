// The checker of text files.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/seeds.h"
#include "tools/hprof/check/ascii_checker.h"

using namespace hprof::tool;

std::vector<std::string> fuzz_seeds() {
  std::string start = "JAVA PROFILE 1.0.1, created Sat Nov 21 05:00:02 2026\n\n--------\n\n";
  return {
      start +
          "THREAD START (obj=50000181, id = 200001, name=\"main\", group=\"main\")\nTRACE 300001: "
          "(thread=200001)\n"
          "\tMain.work(Main.java:12)\nTRACE 300002:\n\t<empty>\nTHREAD END (id = 200001)\n"
          "CPU SAMPLES BEGIN (total = 8) Sat Nov 21 05:00:02 2026\nrank   self  accum   count trace method\n"
          "   1 62.50% 62.50%       5 300001 Main.work\nCPU SAMPLES END\n"
          "CPU TIME (ms) BEGIN (total = 8) Sat Nov 21 05:00:02 2026\nrank   self  accum   count trace "
          "method\n"
          "   1 62.50% 62.50%       5 300001 Main.work\nCPU TIME (ms) END\n",
      start +
          "TRACE 300000:\n\t<empty>\nSITES BEGIN (ordered by live bytes) Sat Nov  1 05:00:02 2026\n"
          "          percent          live          alloc'ed  stack class\n"
          " rank   self  accum     bytes objs     bytes  objs trace name\n"
          "    1 17.43% 17.43%     97216  490     97216   490 300000 byte[]\nSITES END\n",
      start +
          "HEAP DUMP BEGIN (3 objects, 60 bytes) Sat Nov 21 05:00:02 2026\nROOT a1 (kind=<thread>, "
          "id=200001, trace=300000)\n"
          "ROOT c1 (kind=<system class>, name=Node)\nROOT a1 (kind=<JNI local ref>, thread=200001, "
          "frame=-1)\n"
          "CLS c1 (name=Node, trace=300000)\n\tsuper\t\tc2\n\tstatic SHARED\ta1\n\tconstant pool entry "
          "7\tc2\n"
          "OBJ a1 (sz=20, trace=300000, class=Node@c1)\n\tnext\t\ta1\n"
          "ARR a2 (sz=24, trace=300000, nelems=2, elem type=java.lang.Object[]@c2)\n\t[1]\t\ta1\nHEAP DUMP "
          "END\n",
      start +
          "WAIT: MONITOR LMain$1;, timeout=0, thread 200001\nEXIT: MONITOR LMain;, thread 200001\n"
          "SLEEP: timeout=5, <unknown thread>\nMONITOR TIME BEGIN (total = 30 ms) Sat Nov 21 05:00:02 2026\n"
          "rank   self  accum   count trace monitor\n   1 99.99% 99.99%      12 300000 LMain; "
          "(Java)\nMONITOR TIME END\n"
          "MONITOR DUMP BEGIN\n    THREAD 200001, trace 300000, status: S|intr|native|MW\n    MONITOR "
          "LMain;\n"
          "\towner: thread 200001, entry count: 2\n\twaiting to enter: thread 200001\n\twaiting to be "
          "notified:\n"
          "MONITOR DUMP END\n",
      "count callee caller time\n3 A.b(I)V <unknown caller> 5\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string results[2];
  for (size_t i = 0; i < 2; ++i) {
    std::ostringstream out;
    MemorySource source(data, size);
    is_text(source);
    Input in(source, i == 0 ? 16 : 4096);
    ProblemLog::Options options;
    options.readers = kEverybody;
    ProblemLog log(out, "f", options);
    AsciiChecker(in, log).run();
    log.summarize();
    results[i] = out.str();
  }
  // The size of the buffer must not show.
  if (results[0] != results[1]) __builtin_trap();
  return 0;
}
