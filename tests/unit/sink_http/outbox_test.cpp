// Reports that wait to be posted.
#include "writers/sink_http/outbox.h"

#include <doctest/doctest.h>
#include <string>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::http;

namespace {

constexpr uint64_t kPiece = 64 * 1024;

struct Fixture {
  MockHost host;
  Services services{host.host()};
  Outbox outbox;

  explicit Fixture(uint64_t most) { REQUIRE(outbox.open(services, most)); }
  ~Fixture() { outbox.close(); }

  uint64_t add(uint64_t sequence, uint64_t size = kPiece) {
    Report head = {};
    head.sequence = sequence;
    outbox.begin(head);
    const std::string bytes(size, 'x');
    if (!outbox.add(reinterpret_cast<const uint8_t*>(bytes.data()), size)) return UINT64_MAX;
    return outbox.end();
  }
  // Of the oldest, which is then gone; 0: none.
  uint64_t take() {
    Report* report = outbox.front();
    const uint64_t sequence = report != nullptr ? report->sequence : 0;
    if (report != nullptr) outbox.done();
    return sequence;
  }
};

}  // namespace

TEST_CASE("reports come out as they went in") {
  Fixture f(10 * kPiece);
  for (uint64_t i = 1; i <= 3; i++) CHECK(f.add(i) == 0);
  CHECK(f.outbox.count() == 3);
  for (uint64_t i = 1; i <= 3; i++) CHECK(f.take() == i);
  CHECK(f.take() == 0);
}

TEST_CASE("when there is too much the oldest go") {
  Fixture f(3 * kPiece);
  for (uint64_t i = 1; i <= 3; i++) CHECK(f.add(i) == 0);
  CHECK(f.add(4) == 1);
  CHECK(f.add(5, 2 * kPiece) == 2);
  CHECK(f.take() == 4);
  CHECK(f.take() == 5);
  CHECK(f.take() == 0);
}

TEST_CASE("one that is on its way stays") {
  Fixture f(2 * kPiece);
  f.add(1);
  f.add(2);
  REQUIRE(f.outbox.front()->sequence == 1);
  CHECK(f.add(3) == 1);
  CHECK(f.add(4, 2 * kPiece) == UINT64_MAX);
  f.outbox.done();
  CHECK(f.take() == 3);
  f.add(5);
  REQUIRE(f.outbox.front()->sequence == 5);
  f.outbox.release_front();
  CHECK(f.add(6, 2 * kPiece) == 1);
  CHECK(f.take() == 6);
}

TEST_CASE("one that is too large, or not whole, is not taken") {
  Fixture f(2 * kPiece);
  CHECK(f.add(1, 2 * kPiece + 1) == UINT64_MAX);
  f.outbox.begin({});
  f.outbox.drop();
  CHECK(f.outbox.end() == UINT64_MAX);
  CHECK(f.outbox.count() == 0);
  CHECK(f.add(2, 2 * kPiece) == 0);
  CHECK(f.take() == 2);
}
