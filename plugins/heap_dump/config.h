// The options of heap_dump.
#pragma once

#include <cstdint>

namespace hprof::dump {

enum class Engine : uint32_t { kAuto, kJvmti, kVm };    // as in the option's choices
enum class Redact : uint32_t { kNone, kBasic, kFull };  // as in the option's choices

struct Config {
  uint32_t engine;  // Engine
  uint32_t redact;  // Redact
  uint32_t live;
  uint32_t primitive_fields;
  uint32_t primitive_arrays;

  bool wants_fields() const {
    return primitive_fields != 0 && redact != static_cast<uint32_t>(Redact::kFull);
  }
  bool wants_arrays() const {
    return primitive_arrays != 0 && redact != static_cast<uint32_t>(Redact::kFull);
  }
  bool wants_text() const { return redact == static_cast<uint32_t>(Redact::kNone); }  // in char[] and byte[]
  // False: no strings that name no class, method or field (constants of the program).
  bool wants_strings() const { return redact != static_cast<uint32_t>(Redact::kFull); }
};

}  // namespace hprof::dump
