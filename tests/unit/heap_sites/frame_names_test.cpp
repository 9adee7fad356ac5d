#include "plugins/heap_sites/frame_names.h"

#include <doctest/doctest.h>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::sites;

namespace {

hprof_raw_frame frame_of(uint32_t i) {
  return {reinterpret_cast<void*>(static_cast<uintptr_t>(0x7f0000000000u + i / 5 * 8)), int64_t{i % 5} - 1};
}

}  // namespace

TEST_CASE("a frame's number is found until it is overwritten, or there was a collection") {
  constexpr uint32_t kFrames = 4 * FrameNames::kPairs;
  MockHost mock;
  const Services services(mock.host());
  FrameNames names;
  CHECK(names.find(frame_of(1)) == 0);
  names.put(frame_of(1), 5);  // without memory
  CHECK(names.find(frame_of(1)) == 0);
  names.open(services);
  names.set_epoch(1);
  uint32_t found = 0, wrong = 0;
  for (uint32_t i = 0; i < kFrames; i++) {
    names.put(frame_of(i), i + 1);
    CHECK(names.find(frame_of(i)) == i + 1);
  }
  for (uint32_t i = 0; i < kFrames; i++) {
    const hprof_frame_id id = names.find(frame_of(i));
    found += id != 0 ? 1 : 0;
    wrong += id != 0 && id != i + 1 ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(found > FrameNames::kPairs);
  names.put(frame_of(3), 77);
  names.set_epoch(1);
  CHECK(names.find(frame_of(3)) == 77);
  names.set_epoch(2);
  CHECK(names.find(frame_of(3)) == 0);
  names.put({frame_of(3).method, int64_t{1} << 40}, 78);  // no position
  CHECK(names.find({frame_of(3).method, int64_t{1} << 40}) == 0);
  names.close(services);
  CHECK(mock.memory_used == 0);
}

TEST_CASE("a method's id is found until it is overwritten, or there was a collection") {
  MockHost mock;
  const Services services(mock.host());
  FrameNames names;
  const auto at = [](uintptr_t address) { return reinterpret_cast<void*>(address); };
  names.put_id(at(0x7f0000000000u), at(8));  // without memory
  CHECK(names.id_of(at(0x7f0000000000u)) == nullptr);
  names.open(services);
  names.set_epoch(1);
  uint32_t found = 0, wrong = 0;
  for (uintptr_t i = 1; i <= FrameNames::kMethods; i++) names.put_id(at(0x7f0000000000u + i * 88), at(i * 8));
  for (uintptr_t i = 1; i <= FrameNames::kMethods; i++) {
    const void* id = names.id_of(at(0x7f0000000000u + i * 88));
    found += id != nullptr ? 1 : 0;
    wrong += id != nullptr && id != at(i * 8) ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(found > FrameNames::kMethods / 2);
  names.set_epoch(2);
  CHECK(names.id_of(at(0x7f0000000000u + FrameNames::kMethods * 88)) == nullptr);
  names.close(services);
  CHECK(mock.memory_used == 0);
}
