// Output that people read in diffs: a file of this folder that a test compares with.
//
// HPROF_REGENERATE=1 in the environment writes the files anew instead of comparing; look at the diff before
// committing.
#pragma once

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <sstream>
#include <string>

namespace hprof {

inline void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(HPROF_GOLDEN_DIR) + "/" + name;
  const char* regenerate = std::getenv("HPROF_REGENERATE");
  if (regenerate != nullptr && std::string(regenerate) == "1") {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  std::stringstream wanted;
  wanted << file.rdbuf();
  std::istringstream want(wanted.str()), got(text);
  std::string want_line, got_line;
  for (int line = 1; std::getline(want, want_line); line++) {
    REQUIRE_MESSAGE(std::getline(got, got_line), name << " ends before line " << line << ": " << want_line);
    REQUIRE_MESSAGE(want_line == got_line,
                    name << ":" << line << ": want <" << want_line << "> got <" << got_line << ">");
  }
  CHECK(wanted.str() == text);
}

}  // namespace hprof
