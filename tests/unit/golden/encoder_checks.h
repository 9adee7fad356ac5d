// What holds for every encoder, whatever it writes.
#pragma once

#include <doctest/doctest.h>

#include "tests/unit/golden/encoder_run.h"
#include "tests/unit/golden/recording.h"

namespace hprof {

inline std::string encode_recording(Recording& recording, const hprof_unit& unit, uint32_t chunk = 65536) {
  EncoderRun run(recording.host, unit, {}, chunk);
  recording.play([&](const hprof_record* record) {
    const hprof_status status = run.encode(record);
    REQUIRE((status == HPROF_OK || status == HPROF_UNSUPPORTED));
  });
  CHECK(run.out.most_needed <= HPROF_OUT_MOST);
  return run.bytes();
}

// The bytes do not depend on how much room the output gives at a time.
inline void check_any_room(const hprof_unit& unit) {
  Recording recording;
  const std::string want = encode_recording(recording, unit);
  for (uint32_t chunk = 1; chunk < 200; chunk++) REQUIRE(encode_recording(recording, unit, chunk) == want);
}

// An output that goes away ends a record at once, wherever it happens.
inline void check_output_that_goes(const hprof_unit& unit) {
  Recording recording;
  const std::string want = encode_recording(recording, unit);
  const uint64_t step = want.size() / 1000 + 7;
  for (uint64_t limit = 0; limit < want.size(); limit += step) {
    EncoderRun run(recording.host, unit, {}, 16);
    run.out.abort_after = limit;
    bool aborted = false;
    recording.play([&](const hprof_record* record) {
      if (!aborted) aborted = run.encode(record) == HPROF_ABORTED;
    });
    // The last pieces may have fitted in the room given before the end.
    const std::string got = run.bytes();
    REQUIRE(got == want.substr(0, got.size()));
    REQUIRE((aborted || got.size() == want.size()));
  }
}

// Without memory or services an encoder is not made.
inline void check_not_made(const hprof_unit& unit) {
  MockHost host;
  host.memory_limit = 0;
  CHECK(EncoderRun(host, unit).created() == HPROF_NO_MEMORY);
  CHECK(host.memory_used == 0);
  MockHost without;
  without.set_service(HPROF_SERVICE_IDS, nullptr);
  CHECK(EncoderRun(without, unit).created() == HPROF_UNSUPPORTED);
}

}  // namespace hprof
