#include "plugins/heap_sites/sampling.h"

#include <cmath>
#include <doctest/doctest.h>
#include <initializer_list>

using namespace hprof::sites;

TEST_CASE("the mode is exact unless it says otherwise") {
  SitesMode mode;
  for (const char* text : {"", "auto", "exact", static_cast<const char*>(nullptr)}) {
    REQUIRE(parse_mode(text, &mode));
    CHECK(!mode.sampled);
    CHECK((mode.asked == Sampling::kExact) == (text != nullptr && *text == 'e'));
  }
}

TEST_CASE("sampled has an interval of its own or the usual one") {
  SitesMode mode;
  REQUIRE(parse_mode("sampled", &mode));
  CHECK(mode.sampled);
  CHECK(mode.interval == 512 * 1024);
  REQUIRE(parse_mode("sampled:64k", &mode));
  CHECK(mode.interval == 64 * 1024);
  REQUIRE(parse_mode("sampled:3M", &mode));
  CHECK(mode.interval == 3 << 20);
  REQUIRE(parse_mode("sampled:1g", &mode));
  CHECK(mode.interval == 1 << 30);
  REQUIRE(parse_mode("sampled:1", &mode));
  CHECK(mode.interval == 1);
}

TEST_CASE("other modes and intervals that the VM cannot have are refused") {
  SitesMode mode;
  for (const char* text :
       {"all", "sample", "sampled:", "sampled:k", "sampled:0", "sampled:-1", "sampled:4x", "sampled:4kk",
        "sampled:2g", "sampled:99999999999999999999", "exact:4", "sampledx"}) {
    CAPTURE(text);
    CHECK(!parse_mode(text, &mode));
  }
}

TEST_CASE("a sample stands for size / interval as many objects as exp says") {
  for (uint64_t interval : {1ull, 100ull, 4096ull, 524288ull}) {
    for (uint64_t size : {16ull, 24ull, 1000ull, 65536ull, 1ull << 20, 1ull << 32}) {
      double p = -std::expm1(-static_cast<double>(size) / static_cast<double>(interval));
      double wanted = 1024 / p;
      double got = static_cast<double>(objects_of_sample(size, interval));
      CAPTURE(interval);
      CAPTURE(size);
      CHECK(std::fabs(got - wanted) <= wanted * 1e-6 + 0.5);
    }
  }
}

TEST_CASE("an object that is always sampled stands for itself") {
  CHECK(objects_of_sample(1ull << 40, 1024) == 1024);
}
