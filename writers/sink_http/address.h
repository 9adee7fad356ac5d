// Where reports are posted: url= and http-header= as typed, and their values for one report.
#pragma once

#include <cstdint>

#include <hprof/cpp/text.hpp>

namespace hprof::http {

constexpr uint32_t kUrlMost = 2048;     // as typed
constexpr uint32_t kTargetMost = 4096;  // the path with everything filled in
constexpr uint32_t kHostMost = 300;     // a host name has at most 253 characters

// http://host[:port][/path][?query], the path and query with {name}s in them.
struct Url {
  char connect[kHostMost];  // host:port
  char host[kHostMost];     // as the header Host: without the port if that is 80
  const char* pattern;      // from the first '/' or '?' on; "" if there is none. A part of what was parsed
  char shown[kUrlMost];     // for messages: without the query, which may contain secrets
};

// False: it is not a URL, and error says why in one line.
bool parse_url(const char* text, Url* url, char* error, uint32_t error_size);

// The values to fill in.
struct Facts {
  const char* unit;      // {unit}: id of the collector
  const char* labels;    // labels= as typed: {name} is the service's (or "java"), {labels} all others
  const char* host;      // {host}
  uint64_t from, until;  // {from}, {until}: of the window, seconds since 1970
  uint64_t pid;          // {pid}
  uint64_t sequence;     // {sequence}
};

// The request's target. False: it is too long.
bool fill_in(const char* pattern, const Facts& facts, char (&target)[kTargetMost]);

// "Name:value|Name:value" as lines of a request. False: malformed; error says why. The text may be empty.
bool put_headers(const char* text, TextBuffer* lines, char* error, uint32_t error_size);
// True: the lines have a header of that name (given in lower case).
bool has_header(const char* lines, const char* name);

}  // namespace hprof::http
