// What the answer to a request says.
#pragma once

#include <cstdint>

#include <hprof/cpp/text.hpp>

namespace hprof::http {

constexpr uint32_t kAnswerMost = 4096;  // bytes that are read of an answer

struct Answer {
  uint64_t retry_after_s = 0;  // Retry-After in seconds; 0: none
  uint64_t rejected = 0;       // OTLP: profiles of the request that were not taken
  TextLine<160> message;       // OTLP: why, or a warning
  TextLine<64> other_type;     // OTLP: the Content-Type, if a receiver of OTLP would not answer with it
};

// The status of an answer. 0: its first line is not complete; -1: no HTTP. Skips interim answers (1xx) with
// their headers: *used is moved past them.
int32_t status_of(const char* answer, uint64_t size, uint64_t* used);

// True: the server may take the same request later.
bool is_later(int32_t status);

// Reads an answer from its status line on. is_otlp: its body is an ExportProfilesServiceResponse. False: it
// is not complete.
bool read_answer(const char* text, uint64_t size, bool is_otlp, Answer* answer);

}  // namespace hprof::http
