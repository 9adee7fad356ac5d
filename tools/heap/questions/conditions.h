// Conditions of --fail-if, for scripts and CI: 'instances(com.acme.Session)>100', 'calls>+0.5%'.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hprof::tool {

// What a condition may be about.
struct Measure {
  enum Unit : uint8_t { kCount, kBytes, kPercent };
  enum Of : uint8_t {
    kAll,
    kNamed,
    kEither
  };  // whether (NAME) stands behind it: never, always, or if wanted
  const char* name;
  Of of;
  Unit unit;
  bool changes = false;  // takes a limit with a sign, too
};

struct Measures {
  template <size_t kCount>
  constexpr Measures(const Measure (&rows)[kCount], const char* what)
      : first(rows), count(kCount), named(what) {}
  const Measure& operator[](size_t row) const { return first[row]; }

  const Measure* first;
  size_t count;
  const char* named;  // what NAME is: "class"
};

struct Condition {
  enum Kind : uint8_t { kValue, kChange, kShare };  // "100", "+100", "+5%" of what was before
  std::string text;                                 // as given
  std::string name;                                 // "": of all
  size_t measure = 0;                               // its row in Measures
  Kind kind = kValue;
  bool above = true, or_equal = false;  // the condition is: value > limit, >=, < or <=
  double limit = 0;                     // a count, bytes, percent

  bool holds(double value) const {
    return (or_equal && value == limit) || (above ? value > limit : value < limit);
  }
};

// "MEASURE>N" or "MEASURE(NAME)>N", with >, >=, < or <=. False with *error, which names the byte from 1.
bool parse_condition(const std::string& text, const Measures& measures, Condition* condition,
                     std::string* error);

}  // namespace hprof::tool
