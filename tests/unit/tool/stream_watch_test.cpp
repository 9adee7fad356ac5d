// Counting the records of a stream in pieces.
#include "tools/hprof/listen/stream_watch.h"

#include <doctest/doctest.h>

#include "tests/unit/support/hprof_builder.h"

using namespace hprof::tool;
using hprof::test::DumpRecipe;
using hprof::test::HprofBuilder;

TEST_CASE("records are counted however the stream is cut") {
  HprofBuilder b(8);
  b.string(1, "text").begin(0x2c).end();
  b.begin(0x0d).u4(1).u4(0).end();
  const std::string& bytes = b.bytes();
  for (size_t piece : {size_t{1}, size_t{2}, size_t{7}, bytes.size()}) {
    StreamWatch watch;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      watch.add(bytes.data() + at, bytes.size() - at < piece ? bytes.size() - at : piece);
    }
    CHECK(watch.records() == 3);
    CHECK(watch.id_size() == 8);
    CHECK(watch.bytes() == bytes.size());
    CHECK(watch.last_tag() == 0x0d);
    CHECK(watch.complete());
    CHECK_FALSE(watch.is_text());
  }
}

TEST_CASE("a stream that stops within a head or body is not complete") {
  std::string bytes = HprofBuilder().string(1, "text").bytes();
  size_t header = HprofBuilder().bytes().size();
  for (size_t size = 0; size < bytes.size(); ++size) {
    StreamWatch watch;
    watch.add(bytes.data(), size);
    CAPTURE(size);
    CHECK(watch.complete() == (size == header));
  }
}

TEST_CASE("text is told from binary and its lines are counted") {
  std::string text = "JAVA PROFILE 1.0.1, created Sat Nov 21 05:00:02 2026\n\nTRACE 1:\n";
  StreamWatch watch;
  for (char c : text) watch.add(&c, 1);
  CHECK(watch.is_text());
  CHECK(watch.complete());
  CHECK(watch.id_size() == 0);
  CHECK(watch.records() == 3);
  watch.add("x", 1);
  CHECK_FALSE(watch.complete());
}

TEST_CASE("answers to commands are picked out of the stream, in pieces of any size") {
  const std::string binary =
      HprofBuilder().string(1, "hprof command 7 ok: eof").string(2, "java/lang/hprof command 8 ok").bytes();
  const std::string text =
      "JAVA PROFILE 1.0.1, created today\n\nHPROF NOTE: hprof command 7 ok: eof\nhprof command 8 ok\n" +
      std::string(9000, 'x') + "\nHPROF NOTE: lost 3 records\n";
  for (const std::string& bytes : {binary, text}) {
    for (size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
      StreamWatch watch;
      std::vector<std::string> answers;
      for (size_t at = 0; at < bytes.size(); at += piece) {
        watch.add(bytes.data() + at, bytes.size() - at < piece ? bytes.size() - at : piece);
        for (const std::string& answer : watch.take_answers()) answers.push_back(answer);
      }
      CHECK(answers == std::vector<std::string>{"7 ok: eof"});
    }
  }
}
