// The engine as the core opens it: its tracker classes are there before it rewrites anything.
#include "core/bytecode/engine.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <set>
#include <string>

#include "core/bytecode/tracker_classes.h"

using namespace hprof;

namespace {

struct Source {
  std::set<void*> held;
  uint32_t calls = 0;
  uint32_t failing = 0;  // the call that fails; 0: none

  Memory functions() {
    return {this,
            [](void* self, size_t size) -> void* {
              auto* source = static_cast<Source*>(self);
              if (++source->calls == source->failing) return nullptr;
              return *source->held.insert(calloc(1, size)).first;
            },
            [](void* self, void* block, size_t) {
              REQUIRE(static_cast<Source*>(self)->held.erase(block) == 1);
              free(block);
            }};
  }
  ~Source() {
    for (void* block : held) free(block);
  }
};

}  // namespace

TEST_CASE("an engine without memory for its tracker is not made, whichever call is refused") {
  uint32_t refused = 0;
  for (uint32_t failing = 1;; failing++) {
    Source source;
    source.failing = failing;
    EngineUse use = {};
    use.memory = source.functions();
    use.scratch_limit = 1u << 20;
    use.internal_unsafe = true;
    Engine* engine = engine_create(use);
    if (engine == nullptr) {
      refused++;
      CHECK(source.held.empty());
      continue;
    }
    CHECK(source.calls < failing);
    const char* name = nullptr;
    Span bytes;
    for (uint32_t i = 0; i < kTrackerClassCount; i++) {
      REQUIRE(engine_tracker(engine, i, &name, &bytes));
      CHECK(std::string(name) == kTrackerClasses[i].name);
      CHECK(bytes.size > 100);
    }
    CHECK_FALSE(engine_tracker(engine, kTrackerClassCount, &name, &bytes));
    break;
  }
  CHECK(refused > 3);
}
