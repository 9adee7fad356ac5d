// The bytes of a heap dump of JVMPI.
#include "plugins/jvmpi/dump_bytes.h"

#include <doctest/doctest.h>
#include <string>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::jvmpi;

TEST_CASE("numbers are big-endian, and bytes grow at both ends, up to their room") {
  MockHost host;
  Services services(host.host());
  DumpBytes bytes(services);
  REQUIRE(bytes.open(1000));
  const uint64_t later = bytes.append(4);
  bytes.number(0x0102, 2);
  bytes.prepend("head", 4);
  bytes.put_number(later, 0x0a0b0c0d, 4);
  CHECK(std::string(bytes.begin(), bytes.end()) == "head\x0a\x0b\x0c\x0d\x01\x02");
  CHECK_FALSE(bytes.failed());
  bytes.append(1000);
  CHECK(bytes.failed());
  CHECK(bytes.size() == 10);
}
