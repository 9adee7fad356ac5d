#include <cstdint>
#include <cstring>
#include <ctime>
#include <doctest/doctest.h>
#include <string>

#include <hprof/cpp/ctime_text.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>

#include "tools/mock/mock_host.h"

using namespace hprof;

TEST_CASE("dates are those that ctime writes") {
  const auto check = [](int64_t seconds) {
    const time_t t = static_cast<time_t>(seconds);
    const std::tm parts = *std::gmtime(&t);
    char day[8], time[16];
    // Piece by piece: the asctime of Windows fills the day with a zero.
    std::strftime(day, sizeof day, "%a %b", &parts);
    std::strftime(time, sizeof time, "%H:%M:%S %Y", &parts);
    const std::string number = std::to_string(parts.tm_mday);
    REQUIRE(std::string(ctime_text(seconds).text) ==
            day + std::string(number.size() == 1 ? "  " : " ") + number + " " + time);
  };
  for (int64_t seconds : {0, 951782400, 1078012800, 1700000000, 2147483647, 1735689599}) check(seconds);
  const int64_t end = sizeof(time_t) < 8 ? int64_t{INT32_MAX} : 253402300799;
  for (int64_t seconds = 0; seconds < end; seconds += 97 * 86400 + 12345) check(seconds);
  CHECK(std::string(ctime_text(-1).text) == "Wed Dec 31 23:59:59 1969");
  CHECK(std::string(ctime_text(-30610224000).text) == "Wed Jan  1 00:00:00 1000");
}

TEST_CASE("years that are not of four digits give a date of the same shape") {
  for (int64_t seconds : {INT64_MIN, int64_t{-30610224001}, int64_t{253402300800}, INT64_MAX}) {
    CHECK(strlen(ctime_text(seconds).text) == 24);
    CHECK(ctime_text(seconds).text[0] == '?');
  }
}

TEST_CASE("local dates are ahead of UTC by what the host says") {
  MockHost host;
  const auto* clock = find_service<hprof_clock_service>(host.host(), HPROF_SERVICE_CLOCK);
  host.utc_offset_s = 7200;
  CHECK(std::string(local_ctime_text(host.host(), clock, 999).text) == "Thu Jan  1 02:00:00 1970");
  CHECK(std::string(local_ctime_text(host.host(), nullptr, 999).text) == "Thu Jan  1 00:00:00 1970");
  hprof_clock_service old = *clock;
  old.size = offsetof(hprof_clock_service, utc_offset);
  CHECK(std::string(local_ctime_text(host.host(), &old, 999).text) == "Thu Jan  1 00:00:00 1970");
}

TEST_CASE("a line of text formats numbers and cuts what does not fit") {
  TextLine<64> line;
  line.add("a ")
      .add(uint64_t{0})
      .add(" ")
      .add(UINT64_MAX)
      .add(" ")
      .decimal(1500, 3)
      .add(" ")
      .decimal(2000, 3);
  line.add(" ").decimal(5, 3);
  CHECK(std::string(line.c_str()) == "a 0 18446744073709551615 1.5 2 0.005");
  CHECK(line.size() == strlen(line.c_str()));
  TextLine<4> small;
  small.add("abcdef").add(12);
  CHECK(std::string(small.c_str()) == "abc");
  small.clear();
  CHECK(small.size() == 0);
  CHECK(std::string(small.c_str()).empty());
}

TEST_CASE("a copy of a line has its own text") {
  TextLine<16> line;
  line.add("one");
  TextLine<16> copy = line;
  copy.add(" two");
  line.clear();
  CHECK(std::string(copy.c_str()) == "one two");
  const auto made = [] { return TextLine<16>(TextLine<16>().seconds(1500000000)); };
  CHECK(std::string(made().c_str()) == "1.5 s");
}

TEST_CASE("text in somebody's buffer stays within it, also where there is none") {
  char buffer[5] = "....";
  TextBuffer text(buffer, 4);
  CHECK(text.size() == 0);
  CHECK(std::string(text.add("ab").add("cd").c_str()) == "abc");
  CHECK(text.cut());
  CHECK(buffer[4] == 0);
  TextBuffer none(nullptr, 0);
  CHECK(std::string(none.add("ab").c_str()).empty());
  CHECK(none.size() == 0);
}

namespace {

std::string last_note(const MockHost& mock) {
  auto& note = mock.written.back().as<hprof_rec_note>();
  return std::string(note.text.data, note.text.size);
}

}  // namespace

TEST_CASE("a note is a record, which an encoder may leave out") {
  MockHost mock;
  Services services(mock.host());
  Note note;
  note.add("monitor: ").add(uint64_t{3}).add(" threads");
  CHECK(write_note(services, note) == HPROF_OK);
  REQUIRE(mock.written.size() == 1);
  CHECK(mock.written[0].kind() == HPROF_RECORD_NOTE);
  CHECK(last_note(mock) == "monitor: 3 threads");
  mock.write_status = HPROF_UNSUPPORTED;
  CHECK(write_note(services, note) == HPROF_OK);
  mock.write_status = HPROF_ABORTED;
  CHECK(write_note(services, note) == HPROF_ABORTED);
}

TEST_CASE("what has no probes is said in one note, if there is anything") {
  static int reasons;
  hprof_probes_service probes = {};
  probes.size = sizeof probes;
  probes.each_left = [](const hprof_host*, uint32_t, void* argument,
                        void (*visit)(void*, const char*, uint64_t, uint64_t)) {
    if (reasons > 0) visit(argument, "too large", 2, 3);
    if (reasons > 1) visit(argument, "native", 0, 1);
    if (reasons > 2) visit(argument, "no loaded class or method is a.B", 0, 0);
  };
  MockHost mock;
  mock.set_service(HPROF_SERVICE_PROBES, &probes);
  Services services(mock.host());
  reasons = 0;
  CHECK(write_note_on_probes(services, 1, "left: ") == HPROF_OK);
  CHECK(mock.written.empty());
  reasons = 2;
  CHECK(write_note_on_probes(services, 1, "left: ") == HPROF_OK);
  CHECK(last_note(mock) == "left: too large (2 classes, 3 methods), native (1 methods)");
  reasons = 3;
  CHECK(write_note_on_probes(services, 1, "left: ") == HPROF_OK);
  CHECK(last_note(mock) ==
        "left: too large (2 classes, 3 methods), native (1 methods), no loaded class or method is a.B");
}
