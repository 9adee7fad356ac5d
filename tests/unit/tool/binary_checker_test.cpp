// hprof check on binary files: a file that everyone reads, and one for each way to break it.
#include <doctest/doctest.h>
#include <set>

#include "tests/unit/support/hprof_builder.h"
#include "tests/unit/tool/check_support.h"
#include "tools/format/id_set.h"
#include "tools/hprof/listen/stream_watch.h"

using namespace hprof::test;
using namespace hprof::tool;

namespace {

// Every reader of binary files selected, and every warning an error.
ProblemLog::Options strictest() {
  ProblemLog::Options options;
  options.readers = kMat | kVisualvm | kJhat | kIntellij | kShark | kSlurp;
  options.strict = true;
  return options;
}

// The rule and no other is broken, `times` times.
void breaks_only(const DumpRecipe& recipe, Rule rule, uint64_t times = 1) {
  Checked checked = check(recipe.build(), strictest());
  INFO(checked.text);
  CHECK(checked.count(rule) == times);
  CHECK(checked.errors == times);
}

DumpRecipe with(DumpRecipe::Hook DumpRecipe::*place, DumpRecipe::Hook hook) {
  DumpRecipe recipe;
  recipe.*place = std::move(hook);
  return recipe;
}

void sites(HprofBuilder& b, uint32_t cutoff, uint16_t flags, uint32_t live_bytes, uint32_t live,
           const std::vector<std::vector<uint32_t>>& rows) {
  b.begin(0x06).u2(flags).u4(cutoff).u4(live_bytes).u4(live).u8(1000).u8(100).u4(rows.size());
  for (const auto& row : rows) {
    b.u1(row[0]);
    for (size_t i = 1; i < row.size(); ++i) b.u4(row[i]);
  }
  b.end();
}

constexpr uint32_t kCutoffBits = 0x38d1b717;  // 0.0001f

}  // namespace

TEST_CASE("a sound dump breaks no rule, with 4-byte and 8-byte ids and any buffer size") {
  for (unsigned id_size : {4u, 8u}) {
    DumpRecipe recipe;
    recipe.id_size = id_size;
    for (size_t buffer : {size_t{16}, size_t{17}, size_t{64}, size_t{1000}, Input::kBufferSize}) {
      Checked checked = check(recipe.build(), strictest(), buffer);
      INFO(checked.text);
      CHECK(checked.errors == 0);
      CHECK(checked.warnings == 0);
    }
  }
}

TEST_CASE("a file with sites, samples, summary, settings and threads breaks no rule") {
  DumpRecipe recipe;
  recipe.first = [](HprofBuilder& b) { b.begin(0x0e).u4(3).u2(4).end(); };
  recipe.definitions = [](HprofBuilder& b) { b.start_thread(9, DumpRecipe::kThread, 1, 0x10); };
  recipe.last = [](HprofBuilder& b) {
    sites(b, kCutoffBits, 0, 100, 10, {{0, 4, 1, 60, 5, 70, 6}, {2, 6, 1, 40, 5, 90, 9}});
    b.begin(0x07).u4(1).u4(1).u8(1).u8(1).end();
    b.begin(0x0b).u4(9).end();
  };
  Checked checked = check(recipe.build(), strictest());
  INFO(checked.text);
  CHECK(checked.errors == 0);
}

TEST_CASE("header faults") {
  DumpRecipe recipe;
  recipe.version = "JAVA PROFILE 1.0.3";
  breaks_only(recipe, Rule::kHeaderVersion);
  recipe.version = "JAVA PROFILE 1.0.1";
  breaks_only(recipe, Rule::kHeaderSegments, 2);
  CHECK(check(HprofBuilder(2).bytes()).count(Rule::kHeaderIdSize) == 1);
  CHECK(check(std::string("JAVA PROFIT 1.0.2\0\0\0\0\4", 22)).count(Rule::kHeader) == 1);
  CHECK(check(std::string("JAVA PROFILE 1.0.2\0\0\0", 21)).errors == 1);
}

TEST_CASE("framing faults") {
  breaks_only(with(&DumpRecipe::last, [](HprofBuilder& b) { b.begin(0x33).u4(1).end(); }), Rule::kRecordTag);
  breaks_only(with(&DumpRecipe::last, [](HprofBuilder& b) { b.u1(0x07).u4(0); }), Rule::kRecordTruncated);
  breaks_only(with(&DumpRecipe::last, [](HprofBuilder& b) { b.u1(0x01).u4(0).u4(99).u4(0x99).raw("cut"); }),
              Rule::kRecordTruncated);
  breaks_only(with(&DumpRecipe::last, [](HprofBuilder& b) { b.begin(0x07).u4(1).end(); }),
              Rule::kRecordLength);
  DumpRecipe empty = with(&DumpRecipe::last, [](HprofBuilder& b) { b.begin(0x0c).end(); });
  CHECK(check(empty.build(), strictest()).count(Rule::kRecordEmpty) == 1);
  DumpRecipe back =
      with(&DumpRecipe::first, [](HprofBuilder& b) { b.begin(0x01, 5).id(0x77).raw("late").end(); });
  breaks_only(back, Rule::kRecordTime);
}

TEST_CASE("a truncation at any byte is told and does no harm") {
  std::string whole = DumpRecipe().build();
  for (size_t size = 0; size < whole.size(); ++size) {
    Checked checked = check(whole.substr(0, size), {}, 64);
    CAPTURE(size);
    StreamWatch watch;
    watch.add(whole.data(), size);
    // Between two records only a file that has begun its dump is short of something.
    if (!watch.complete()) CHECK(checked.errors > 0);
  }
}

TEST_CASE("definition faults") {
  using B = HprofBuilder;
  auto defined = [](void (*hook)(B&)) { return with(&DumpRecipe::definitions, hook); };
  breaks_only(defined([](B& b) { b.string(0x10, "other"); }), Rule::kStringRedefined);
  breaks_only(defined([](B& b) { b.string(0x10, "field"); }), Rule::kStringRepeated);
  breaks_only(defined([](B& b) { b.string(0x77, "\xff"); }), Rule::kStringUtf8);
  breaks_only(defined([](B& b) { b.load_class(0, 0x1000, 0, 0x20); }), Rule::kClassSerial);
  breaks_only(defined([](B& b) { b.load_class(1, 0x1000, 0, 0x20); }), Rule::kClassSerial);
  breaks_only(defined([](B& b) { b.begin(0x03).u4(77).end(); }), Rule::kClassUnload);
  breaks_only(defined([](B& b) {
                b.load_class(77, 0x1000, 0, 0x20).begin(0x03).u4(77).end();
                b.begin(0x03).u4(77).end();
              }),
              Rule::kClassUnload);
  breaks_only(defined([](B& b) { b.frame(0x30, 0x11, 0x12, 0x13, 4, 1); }), Rule::kFrameRedefined);
  breaks_only(defined([](B& b) { b.frame(0x31, 0x11, 0x12, 0x13, 99, 1); }), Rule::kClassUndefined);
  breaks_only(defined([](B& b) { b.frame(0x31, 0x99, 0x12, 0x13, 4, 1); }), Rule::kStringUndefined);
  breaks_only(defined([](B& b) { b.frame(0x31, 0x99, 0x12, 0x13, 4, 1).string(0x99, "m"); }),
              Rule::kStringOrder);
  breaks_only(defined([](B& b) { b.frame(0x31, 0x11, 0x12, 0x13, 4, -4); }), Rule::kFrameLine);
  breaks_only(defined([](B& b) { b.frame(0x31, 0x11, 0x12, 0x13, 99, 1).load_class(99, 0x1000, 0, 0x20); }),
              Rule::kClassOrder);
  breaks_only(defined([](B& b) { b.trace(1, 7, {0x30}); }), Rule::kTraceRedefined);
  breaks_only(defined([](B& b) { b.trace(2, 7, {0x66}); }), Rule::kFrameUndefined);
  breaks_only(defined([](B& b) { b.trace(2, 7, {0x66}).frame(0x66, 0x11, 0x12, 0, 4, 1); }),
              Rule::kFrameOrder);
  breaks_only(defined([](B& b) { b.trace(2, 55, {0x30}); }), Rule::kThreadUnknown);
  breaks_only(defined([](B& b) { b.begin(0x05).u4(2).u4(7).u4(3).id(0x30).end(); }), Rule::kRecordLength);
  breaks_only(defined([](B& b) { b.start_thread(0, 0x2020, 1, 0x10); }), Rule::kThreadSerial);
  breaks_only(defined([](B& b) { b.start_thread(9, 0x2020, 1, 0x10).start_thread(9, 0x2021, 1, 0x10); }),
              Rule::kThreadSerial);
  DumpRecipe renamed =
      defined([](B& b) { b.start_thread(9, 0x2020, 1, 0x10).start_thread(9, 0x2020, 1, 0x11); });
  CHECK(check(renamed.build(), strictest()).errors == 0);
  DumpRecipe renamed_in_dump =
      defined([](B& b) { b.start_thread(9, 0x2020, 1, 0x10).start_thread(9, 0x2021, 1, 0x11); });
  CHECK(check(renamed_in_dump.build(), strictest()).errors == 0);
  breaks_only(defined([](B& b) { b.begin(0x0b).u4(77).end(); }), Rule::kThreadUnstarted);
  breaks_only(defined([](B& b) {
                b.start_thread(9, 0x2020, 1, 0x10).begin(0x0b).u4(9).end();
                b.begin(0x0b).u4(9).end();
              }),
              Rule::kThreadEnd);
  breaks_only(defined([](B& b) { b.start_thread(9, 0x2020, 88, 0x10); }), Rule::kTraceMissing);
  breaks_only(defined([](B& b) { b.load_class(98, 0x1000, 2, 0x20).trace(2, 7, {0x30}); }), Rule::kTraceLate);
}

TEST_CASE("faults of tables") {
  using B = HprofBuilder;
  auto last = [](void (*hook)(B&)) { return with(&DumpRecipe::last, hook); };
  breaks_only(last([](B& b) { sites(b, kCutoffBits, 8, 100, 10, {}); }), Rule::kSitesFlags);
  breaks_only(last([](B& b) { sites(b, 0xeb1c432d, 0, 100, 10, {}); }), Rule::kCutoff);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 0, 100, 10, {{3, 4, 1, 6, 5, 7, 6}});
              }),
              Rule::kSitesArray);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 0, 100, 10, {{0, 99, 1, 6, 5, 7, 6}});
              }),
              Rule::kSitesClass);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 0, 100, 10, {{0, 4, 99, 6, 5, 7, 6}});
              }),
              Rule::kTraceUndefined);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 0, 100, 10, {{0, 4, 1, 6, 5, 5, 6}});
              }),
              Rule::kLiveOverAllocated);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 0, 5, 10, {{0, 4, 1, 6, 5, 7, 6}});
              }),
              Rule::kTableTotal);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 0, 99, 10, {{0, 4, 1, 6, 5, 9, 6}, {0, 4, 1, 7, 5, 8, 6}});
              }),
              Rule::kTableOrder);
  breaks_only(last([](B& b) {
                sites(b, kCutoffBits, 2, 99, 10, {{0, 4, 1, 7, 5, 8, 6}, {0, 4, 1, 6, 5, 9, 6}});
              }),
              Rule::kTableOrder);
  breaks_only(last([](B& b) { b.begin(0x0e).u4(3).u2(4).end(); }), Rule::kControlFirst);
  breaks_only(with(&DumpRecipe::first, [](B& b) { b.begin(0x0e).u4(4).u2(4).end(); }), Rule::kControlFlags);

  B samples;
  samples.begin(0x0d).u4(3).u4(2).u4(1).u4(9).u4(4).u4(9).end();
  Checked checked = check(samples.bytes());
  CHECK(checked.count(Rule::kTraceUndefined) == 1);
  CHECK(checked.count(Rule::kTableOrder) == 1);
  CHECK(checked.count(Rule::kTableTotal) == 1);
}

TEST_CASE("a saturated total of live bytes is no fault") {
  DumpRecipe recipe = with(&DumpRecipe::last, [](HprofBuilder& b) {
    sites(b, kCutoffBits, 0, 0xffffffff, 10,
          {{0, 4, 1, 0xffffffff, 5, 0xffffffff, 6}, {0, 4, 1, 9, 5, 9, 6}});
  });
  // The allocated total of 1000 is too low for these rows, and that alone is told.
  breaks_only(recipe, Rule::kTableTotal);
}

TEST_CASE("faults of segments and dumps") {
  using B = HprofBuilder;
  DumpRecipe open;
  open.dump_end = false;
  breaks_only(open, Rule::kSegmentOpen);
  breaks_only(with(&DumpRecipe::last, [](B& b) { b.begin(0x2c).end(); }), Rule::kSegmentEnd);
  breaks_only(with(&DumpRecipe::between_segments, [](B& b) { b.string(0x77, "between"); }),
              Rule::kSegmentBetween);
  breaks_only(with(&DumpRecipe::last, [](B& b) { b.begin(0x0d).u4(1).u4(0).end(); }), Rule::kDumpPure);
  DumpRecipe second = with(&DumpRecipe::last, [](B& b) {
    b.begin(0x1c).u1(0x05).id(0).end();
    b.begin(0x2c).end();
  });
  CHECK(check(second.build()).count(Rule::kDumpSecond) == 1);
  DumpRecipe poor;
  poor.class_dumped = false;
  Checked checked = check(poor.build(), strictest());
  CHECK(checked.count(Rule::kDumpClassesMat) == 1);
  CHECK(checked.count(Rule::kDumpClassesVisualvm) == 1);
  CHECK(checked.count(Rule::kClassNotDumped) == 1);
}

TEST_CASE("two dumps in a file are checked apart: the same ids are no fault") {
  HprofBuilder b(4, "JAVA PROFILE 1.0.1");
  b.string(1, "java/lang/Object").load_class(1, 0x1000, 0, 1);
  for (int i = 0; i < 2; ++i) {
    b.begin(0x0c).class_dump(0x1000, 0, 0, {}, 0).instance(0x2000, 0x1000, 0, 0);
    b.u1(0xff).id(0x2000).end();
  }
  Checked checked = check(b.bytes());
  INFO(checked.text);
  CHECK(checked.errors == 0);
  CHECK(checked.count(Rule::kDumpSecond) == 1);
}

TEST_CASE("faults inside a heap dump") {
  using B = HprofBuilder;
  using R = DumpRecipe;
  auto inside = [](void (*hook)(B&)) { return with(&R::in_segment, hook); };
  breaks_only(inside([](B& b) { b.u1(0x55); }), Rule::kHeapTag);
  breaks_only(inside([](B& b) { b.u1(0x21).id(0x3000); }), Rule::kHeapOverrun);
  breaks_only(inside([](B& b) { b.instance(0x3000, R::kObjectClass, 4000); }), Rule::kHeapOverrun);
  breaks_only(inside([](B& b) { b.u1(0x22).id(0x3000).u4(1).u4(0xffffffff).id(R::kArrayClass); }),
              Rule::kHeapOverrun);
  breaks_only(inside([](B& b) { b.u1(0x23).id(0x3000).u4(1).u4(0).u1(3); }), Rule::kHeapType);
  breaks_only(inside([](B& b) { b.instance(R::kNode, R::kObjectClass, 0); }), Rule::kObjectTwice);
  breaks_only(inside([](B& b) { b.instance(0, R::kObjectClass, 0); }), Rule::kObjectZero);
  breaks_only(inside([](B& b) { b.class_dump(R::kArrayClass, R::kObjectClass, 0, {}); }), Rule::kClassTwice);
  breaks_only(inside([](B& b) { b.class_dump(0x5000, R::kObjectClass, 0, {}); }), Rule::kClassNameless);
  breaks_only(inside([](B& b) { b.instance(0x3000, 0x9990, 0); }), Rule::kInstanceClass);
  breaks_only(inside([](B& b) { b.u1(0x22).id(0x3000).u4(1).u4(0).id(0x9990); }), Rule::kArrayClass);
  breaks_only(inside([](B& b) { b.u1(0xff).id(0x9990); }), Rule::kRoot);
  breaks_only(inside([](B& b) { b.u1(0xff).id(0); }), Rule::kRootZero);
  breaks_only(inside([](B& b) { b.u1(0x02).id(R::kNode).u4(99).u4(0); }), Rule::kRootThread);
  breaks_only(inside([](B& b) { b.u1(0x08).id(R::kNode).u4(99).u4(1); }), Rule::kThreadTrace);
  breaks_only(inside([](B& b) { b.instance(0x3000, R::kObjectClass, 0, 99); }), Rule::kTraceMissing);
}

TEST_CASE("faults of layouts and references") {
  for (unsigned id_size : {4u, 8u}) {
    DumpRecipe recipe;
    recipe.id_size = id_size;
    DumpRecipe size = recipe;
    size.node_size_error = 1;
    breaks_only(size, Rule::kClassSize);
    DumpRecipe bytes = recipe;
    bytes.node_bytes_error = 2;
    breaks_only(bytes, Rule::kInstanceSize);
    DumpRecipe field = recipe;
    field.node_next = 0x9990;
    breaks_only(field, Rule::kReference);
    DumpRecipe element = recipe;
    element.element = 0x9990;
    breaks_only(element, Rule::kReference);
    // The super that is missing is a dangling reference too.
    DumpRecipe super = recipe;
    super.node_super = 0x9990;
    Checked checked = check(super.build(), strictest());
    CHECK(checked.count(Rule::kClassSuper) == 1);
    CHECK(checked.count(Rule::kReference) == 1);
    CHECK(checked.errors == 2);
    DumpRecipe circle = recipe;
    circle.node_super = DumpRecipe::kSubClass;
    CHECK(check(circle.build(), strictest()).count(Rule::kClassSuper) == 1);
  }
}

TEST_CASE("a dangling reference is found at its own byte, behind primitive fields and in a super's part") {
  DumpRecipe recipe;
  recipe.node_next = 0x99909990;
  std::string bytes = recipe.build();
  size_t place = bytes.find("\x99\x90\x99\x90");
  CHECK(check(bytes).text.find("byte " + std::to_string(place) + ": warning: reference: field of Node") !=
        std::string::npos);
}

TEST_CASE("static fields, constants and loaders are references too") {
  DumpRecipe recipe = with(&DumpRecipe::in_segment, [](HprofBuilder& b) {
    b.u1(0x20)
        .id(0x5000)
        .u4(1)
        .id(DumpRecipe::kObjectClass)
        .id(0x9991)
        .id(0x9992)
        .id(0x9993)
        .id(0)
        .id(0)
        .u4(0);
    b.u2(1).u2(3).u1(2).id(0x9994);
    b.u2(2).id(0x10).u1(2).id(0x9995).id(0x10).u1(10).u4(0x9996);
    b.u2(0);
  });
  recipe.definitions = [](HprofBuilder& b) { b.string(0x70, "Extra").load_class(50, 0x5000, 1, 0x70); };
  breaks_only(recipe, Rule::kReference, 5);
}

TEST_CASE("a long chain of supers and a wide class need no deep stack") {
  HprofBuilder b;
  b.string(1, "C");
  constexpr uint32_t kDepth = 20000;
  for (uint32_t i = 1; i <= kDepth; ++i) b.load_class(i, 0x10000 + 8 * i, 0, 1);
  b.begin(0x1c);
  for (uint32_t i = kDepth; i >= 1; --i)
    b.class_dump(0x10000 + 8 * i, i == 1 ? 0 : 0x10000 + 8 * (i - 1), 0, {}, 0);
  b.instance(0x99999, 0x10000 + 8 * kDepth, 0, 0).end();
  b.begin(0x2c).end();
  Checked checked = check(b.bytes());
  INFO(checked.text);
  CHECK(checked.errors == 0);
}

// The set of ids against std::set.
namespace {
void same_as_std_set(uint64_t mask, uint64_t step, uint64_t count) {
  IdSet ids;
  std::set<uint64_t> expected;
  uint64_t x = 12345;
  for (uint64_t i = 0; i < count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    uint64_t id = (x >> 11 & mask) * step;
    CHECK(ids.insert(id) == expected.insert(id).second);
  }
  CHECK(ids.size() == expected.size());
  for (uint64_t i = 0; i < 4 * count; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    uint64_t id = (x >> 11 & mask) * step + (i & 1);
    if (ids.contains(id) != (expected.count(id) != 0)) FAIL(id);
  }
}
}  // namespace

TEST_CASE("aligned addresses, sequential numbers and scattered ids") {
  same_as_std_set(0xffff, 8, 20000);
  same_as_std_set(0x7fff, 1, 20000);
  same_as_std_set(~uint64_t{0}, 1, 5000);
  same_as_std_set(0x3ff, 0x1000000, 3000);
}

TEST_CASE("the largest ids and a cleared set") {
  IdSet ids;
  CHECK(ids.insert(UINT64_MAX));
  CHECK_FALSE(ids.insert(UINT64_MAX));
  CHECK(ids.contains(UINT64_MAX));
  CHECK_FALSE(ids.contains(0));
  ids.clear();
  CHECK_FALSE(ids.contains(UINT64_MAX));
  CHECK(ids.insert(0));
}
