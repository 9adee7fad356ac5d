// Runs commands of bin/hprof on files.
#pragma once

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>

#include "tools/hprof/command.h"

namespace hprof::test {

struct Files {
  std::string folder;
  Files() {
    char name[] = "/tmp/hprof-test-XXXXXX";
    REQUIRE(mkdtemp(name) != nullptr);
    folder = name;
  }
  ~Files() { REQUIRE(std::system(("rm -rf " + folder).c_str()) == 0); }
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
};

// What the command prints on stdout.
inline std::string said(const tool::Arguments& line, int status = tool::kDone) {
  std::ostringstream out, err;
  std::streambuf* old_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* old_err = std::cerr.rdbuf(err.rdbuf());
  const int got = tool::run_command_line(line);
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  CHECK_MESSAGE(got == status, err.str());
  return out.str();
}

// What it prints on stderr.
inline std::string complained(const tool::Arguments& line) {
  std::ostringstream out, err;
  std::streambuf* old_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* old_err = std::cerr.rdbuf(err.rdbuf());
  tool::run_command_line(line);
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  return err.str();
}

inline bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  CHECK_MESSAGE(found, text);
  return found;
}

// One blank for several.
inline std::string squeezed(const std::string& text) {
  std::string made;
  for (const char letter : text)
    if (letter != ' ' || made.empty() || made.back() != ' ') made += letter;
  return made;
}

}  // namespace hprof::test
