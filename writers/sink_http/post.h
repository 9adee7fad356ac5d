// One request over one connection.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

#include "address.h"

namespace hprof::http {

enum class Outcome : uint32_t {
  kTaken,    // the server has it
  kRefused,  // it will never take it
  kAgain,    // it may take it later
  kStopped,  // we were told to stop
};

struct Request {
  const char* method;
  const Url* url;
  const char* target;
  const char* headers;       // lines, as http-header= says
  const char* content_type;  // "": not said
  const uint8_t* bytes;
  uint64_t size;
};

struct Patience {
  uint64_t timeout_ns;  // for connecting; without progress while sending; for the answer
  bool (*stops)(const void* context);
  const void* context;
};

// The result; *why has a few words unless it was accepted.
Outcome post(const Services& services, const Request& request, const Patience& patience, TextBuffer* why);

// The status of an answer, once its first line has arrived. 0: not yet; -1: not an HTTP answer. An interim
// one (1xx) and its headers are skipped: *used is moved past it.
int32_t status_of(const char* answer, uint64_t size, uint64_t* used);

}  // namespace hprof::http
