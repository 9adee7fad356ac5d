// Names of output files, made from file= or the default.
#pragma once

#include <hprof/cpp/text.hpp>

namespace hprof::file {

constexpr uint32_t kNameMost = 4096;

struct NameParts {
  uint64_t pid;
  const char* timestamp;  // YYYYMMDDHHMMSS
  uint32_t sequence;      // of the output within the session, from 1
  // The end of the file's name, in either case: the format's suffix, then the filter's. "": none.
  const char* format_suffix;
  const char* filter_suffix;
};

// Replaces %p, %t, %n and %% in `pattern`; any other % stays, as in the original. Without %n, later outputs
// get their number in the name, so that they do not overwrite earlier ones; files below /dev/ do not. False:
// the name is too long.
bool expand_name(const char* pattern, const NameParts& parts, char (&name)[kNameMost]);

// A name for when `name` exists and must be kept: java.hprof.txt becomes java.hprof.4711.txt,
// java.hprof becomes java.hprof.4711. Uses the suffixes of `parts` only. False: the name is too long.
bool insert_number(const char* name, uint64_t number, const NameParts& parts, char (&to)[kNameMost]);

// The same with the process id; a name without the format's suffix gets it, as in the original: pre becomes
// pre.4711.txt.
bool insert_pid(const char* name, const NameParts& parts, char (&to)[kNameMost]);

}  // namespace hprof::file
