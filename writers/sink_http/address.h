// Parses url= and http-header=, and fills in their values for one report.
#pragma once

#include <cstdint>

#include <hprof/cpp/text.hpp>

namespace hprof::http {

constexpr uint32_t kUrlMost = 2048;     // as typed
constexpr uint32_t kTargetMost = 4096;  // the path with all values
constexpr uint32_t kHostMost = 300;     // a host name has at most 253 characters

// http://host[:port][/path][?query], where path and query may contain {name}.
struct Url {
  char connect[kHostMost];  // host:port
  char host[kHostMost];     // for the header Host: without the port if that is 80
  const char* pattern;      // the part of the text from the first '/' or '?' on; "" if there is none
  char shown[kUrlMost];     // for messages: without the query, which may contain secrets
};

// False: not a URL; error says why, in one line.
bool parse_url(const char* text, Url* url, char* error, uint32_t error_size);

// The values of {name}s.
struct Facts {
  const char* unit;      // {unit}: id of the collector
  const char* labels;    // labels= as typed: {name} is the label `service` (or "java"), {labels} all others
  const char* host;      // {host}
  uint64_t from, until;  // {from}, {until}: of the window, seconds since 1970
  uint64_t pid;          // {pid}
  uint64_t sequence;     // {sequence}
};

// Makes the request's target. False: it is too long.
bool fill_in(const char* pattern, const Facts& facts, char (&target)[kTargetMost]);

// "Name:value|Name:value" (or "") as lines of a request. False: malformed; error says why.
bool put_headers(const char* text, TextBuffer* lines, char* error, uint32_t error_size);
// The value of the header `name` (lower case) in these lines, and what follows it; nullptr: there is none.
const char* header_value(const char* lines, const char* name);

}  // namespace hprof::http
