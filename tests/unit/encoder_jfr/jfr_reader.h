// Reads a recording by its own metadata, as its readers do, and says what does not fit together.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hprof {

struct JfrValue {
  bool is_null = false;
  int64_t number = 0;
  std::string text;  // of a string, and of simple types
  std::vector<JfrValue> items;
  std::map<std::string, JfrValue> fields;

  const JfrValue& operator[](const std::string& name) const { return fields.at(name); }
};

struct JfrEvent {
  std::string type;
  std::map<std::string, JfrValue> fields;

  const JfrValue& operator[](const std::string& name) const { return fields.at(name); }
  // "pkg/Class.method:line", innermost first, with "..." at the end of a truncated stack; empty: there is
  // none.
  std::vector<std::string> stack() const;
  std::string thread() const;  // "": none
};

struct JfrChunk {
  uint64_t start_ns = 0, duration_ns = 0;
  int64_t start_ticks = 0;
  std::string metadata;                      // the bytes behind the event's head
  std::map<std::string, size_t> pool_sizes;  // by type
  std::vector<JfrEvent> events;
  std::map<std::string, std::string>
      meanings;  // of fields: "jdk.ExecutionSample.startTime" is "Timestamp TICKS"

  std::vector<JfrEvent> of(const std::string& type) const;
};

// "": good; else what is wrong.
std::string read_jfr(const std::string& bytes, std::vector<JfrChunk>* chunks);

}  // namespace hprof
