// Reads class histograms of jcmd GC.class_histogram, jmap -histo, hprof heap histogram (text or CSV) and
// VisualVM (CSV).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hprof::tool {

struct ClassCount {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};
using ClassHistogram = std::map<std::string, ClassCount>;

// Rows "<rank>: <objects> <bytes> <class> (<module>)", those below the heading of `hprof heap histogram`, and
// CSV with a heading; other lines are skipped. Adds up classes of the same name. False: the file cannot be
// read or is incomplete
// (*error), or has no such row (*error is empty).
bool read_class_histogram(const std::string& path, ClassHistogram* histogram, std::string* error);

}  // namespace hprof::tool
