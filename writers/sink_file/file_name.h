// Names of output files, made from what the user types.
#pragma once

#include <hprof/cpp/text.hpp>

namespace hprof::file {

constexpr uint32_t kNameMost = 4096;

struct NameParts {
  uint64_t pid;
  const char* timestamp;  // YYYYMMDDHHMMSS
  uint32_t sequence;      // of the output within the session, from 1
};

// `pattern` with %p, %t, %n and %% replaced; any other % is kept, as in the original. If the pattern has no
// %n, later outputs get their number in the name, so that they do not overwrite the one before; files below
// /dev/ do not. False: the name is too long.
bool expand_name(const char* pattern, const NameParts& parts, char (&name)[kNameMost]);

// The name that is taken when `name` exists and has to be kept: java.hprof.txt becomes java.hprof.4711.txt,
// java.hprof becomes java.hprof.4711; so do the other suffixes of this project's formats. False: the name is
// too long.
bool insert_number(const char* name, uint64_t number, char (&to)[kNameMost]);

}  // namespace hprof::file
