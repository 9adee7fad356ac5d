#include "plugins/cpu_samples/name_pattern.h"

#include <cstring>
#include <doctest/doctest.h>

using hprof::samples::covers;

static bool covers_name(const char* pattern, const char* name) {
  return covers(pattern, {name, strlen(name)});
}

TEST_CASE("a pattern covers a whole name") {
  CHECK(covers_name("main", "main"));
  CHECK_FALSE(covers_name("main", "main-2"));
  CHECK_FALSE(covers_name("main", "mai"));
  CHECK_FALSE(covers_name("main", ""));
}

TEST_CASE("an empty pattern, and none, covers all") {
  CHECK(covers_name("", "main"));
  CHECK(covers_name(nullptr, ""));
}

TEST_CASE("a star stands for any text, also for none") {
  CHECK(covers_name("*", ""));
  CHECK(covers_name("http-*-exec-*", "http-nio-8080-exec-12"));
  CHECK(covers_name("*worker*", "worker"));
  CHECK(covers_name("a*b*c", "aXbYbZc"));
  CHECK(covers_name("**a", "a"));
  CHECK_FALSE(covers_name("a*b*c", "aXbYbZ"));
  CHECK_FALSE(covers_name("http-*", "https"));
}

TEST_CASE("one of several patterns is enough") {
  CHECK(covers_name("main:pool-*", "main"));
  CHECK(covers_name("main:pool-*", "pool-1"));
  CHECK_FALSE(covers_name("main:pool-*", "pool"));
  CHECK_FALSE(covers_name("main:pool-*", "main:pool-1"));
  CHECK(covers_name("a:", ""));
}

TEST_CASE("a name without characters of its own is no text to read") {
  CHECK(covers("*", {nullptr, 0}));
  CHECK_FALSE(covers("a", {nullptr, 0}));
}
