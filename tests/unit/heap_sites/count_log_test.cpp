// Which counts of a thread grew since a count of the program began.
#include "plugins/heap_sites/count_log.h"

#include <doctest/doctest.h>
#include <map>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

struct Logged {
  void grow(uint32_t site, uint64_t objects) {
    counts[site].site = site;
    log.note(Services(mock.host()), &counts[site]);
    counts[site].add({objects, 10 * objects});
  }
  // Objects of each site that grew, in the order of the log.
  std::vector<std::pair<uint32_t, uint64_t>> grown() {
    std::vector<std::pair<uint32_t, uint64_t>> found;
    log.each([&](uint32_t site, Amount amount) {
      CHECK(amount.bytes == 10 * amount.objects);
      found.emplace_back(site, amount.objects);
    });
    return found;
  }

  MockHost mock;
  CountLog log;
  std::map<uint32_t, Count> counts;  // by site
};

using Rows = std::vector<std::pair<uint32_t, uint64_t>>;

}  // namespace

TEST_CASE("what grows while a count is open is in the log, from when the first began") {
  Logged of;
  of.grow(3, 5);
  CHECK(of.grown().empty());
  of.log.begin();
  CHECK(of.grown().empty());
  of.grow(7, 1);
  of.grow(3, 2);
  of.grow(7, 1);
  CHECK(of.grown() == Rows{{7, 2}, {3, 2}});
  of.log.begin();
  of.grow(9, 4);
  of.grow(3, 1);
  CHECK(of.grown() == Rows{{7, 2}, {3, 3}, {9, 4}});
  of.log.end();
  of.log.end();
  of.grow(3, 100);
  of.grow(1, 100);
  of.log.begin();
  of.grow(9, 1);
  of.grow(7, 1);
  CHECK(of.grown() == Rows{{9, 1}, {7, 1}});
  CHECK(of.log.lost() == 0);
  of.log.end_all();
  of.log.begin();
  CHECK(of.grown().empty());
  of.log.close(Services(of.mock.host()));
  CHECK(of.mock.memory_used == 0);
}

TEST_CASE("an end without a beginning is none") {
  Logged of;
  of.log.end();
  of.log.begin();
  of.grow(1, 1);
  CHECK(of.grown() == Rows{{1, 1}});
  of.log.close(Services(of.mock.host()));
}

TEST_CASE("the log grows, and says when there is no memory for that") {
  Logged of;
  of.log.begin();
  for (uint32_t site = 1; site <= 1000; site++) of.grow(site, site);
  const Rows rows = of.grown();
  REQUIRE(rows.size() == 1000);
  CHECK(rows[999] == std::pair<uint32_t, uint64_t>(1000, 1000));
  CHECK(of.log.lost() == 0);
  of.mock.memory_limit = of.mock.memory_used;
  for (uint32_t site = 1001; site <= 2000; site++) of.grow(site, 1);
  const uint64_t lost = of.log.lost();
  CHECK(lost != 0);
  of.log.end();
  of.log.begin();
  of.grow(5, 1);
  CHECK(of.grown() == Rows{{5, 1}});
  CHECK(of.log.lost() == lost);
  of.log.close(Services(of.mock.host()));
  CHECK(of.mock.memory_used == 0);
}
