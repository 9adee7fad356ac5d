#include "tools/hprof/diff/class_histogram.h"

#include "tools/hprof/format/ascii_lines.h"

namespace hprof::tool {

bool read_class_histogram(const std::string& path, ClassHistogram* histogram, std::string* error) {
  std::unique_ptr<ByteSource> source = open_source(path, error);
  if (source == nullptr) return false;
  if (!is_text(*source)) return false;
  Input in(*source);
  LineReader lines(in);
  std::string_view line;
  while (lines.next(&line)) {
    Scan scan(line);
    uint64_t rank = 0, objects = 0, bytes = 0;
    const bool row = scan.blanks() && scan.decimal(&rank) && scan.literal(":") && scan.blanks() &&
                     scan.decimal(&objects) && scan.blanks() && scan.decimal(&bytes) && scan.blanks();
    if (!row || scan.rest().empty()) continue;
    ClassCount& count = (*histogram)[std::string(scan.rest().substr(0, scan.rest().find(" (")))];
    count.objects += objects;
    count.bytes += bytes;
  }
  *error = source->error();
  return error->empty() && !histogram->empty();
}

}  // namespace hprof::tool
