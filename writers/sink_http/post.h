// Posts one request over one connection.
#pragma once

#include <cstdint>

#include <hprof/cpp/services.hpp>
#include <hprof/cpp/text.hpp>

#include "address.h"
#include "answer.h"

namespace hprof::http {

enum class Outcome : uint32_t {
  kTaken,    // the server has it
  kRefused,  // it will never take it
  kAgain,    // it may take it later
  kMaybe,    // 500: its disk may be full, or it fails on this request
  kStopped,  // asked to stop
};

struct Request {
  const char* method;
  const Url* url;
  const char* target;
  const char* headers;       // lines, from http-header=
  const char* content_type;  // "": none
  const uint8_t* bytes;
  uint64_t size;
};

struct Patience {
  uint64_t timeout_ns;  // for connecting; without progress while sending; for the answer
  bool (*stops)(const void* context);
  const void* context;
};

// Sends the request. *why: a few words unless it was accepted. A request of OTLP has its content type.
Outcome post(const Services& services, const Request& request, const Patience& patience, TextBuffer* why,
             Answer* answer);

}  // namespace hprof::http
