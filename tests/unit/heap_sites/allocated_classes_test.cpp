#include "plugins/heap_sites/allocated_classes.h"

#include <doctest/doctest.h>

using namespace hprof::sites;

TEST_CASE("elements have the size of their type") {
  const auto shift = [](const char* signature) { return AllocatedClasses::element_shift(signature, 2); };
  CHECK(shift("[Z") == 0);
  CHECK(shift("[C") == 1);
  CHECK(shift("[F") == 2);
  CHECK(shift("[D") == 3);
  CHECK(shift("[[I") == 2);
  CHECK(AllocatedClasses::element_shift("[Ljava/lang/String;", 3) == 3);
}
