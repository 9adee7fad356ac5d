#include "tools/hprof/diff/class_histogram.h"

#include "tools/format/ascii_lines.h"

namespace hprof::tool {

namespace {

// "1,234,567", as `hprof heap` prints counts.
bool grouped(Scan& scan, uint64_t* value) {
  constexpr uint64_t kThousand = 1000;
  if (!scan.decimal(value)) return false;
  uint64_t group = 0;
  while (scan.maybe(",")) {
    if (!scan.decimal(&group) || group >= kThousand || *value > (UINT64_MAX - group) / kThousand)
      return false;
    *value = *value * kThousand + group;
  }
  return true;
}

bool is_heading(std::string_view line) {
  Scan scan(line);
  return scan.blanks() && scan.literal("objects ") && scan.blanks() && scan.literal("bytes ") &&
         scan.blanks() && scan.literal("class") && scan.done();
}

// True: a row of jcmd ("   1:  10  160  demo.Kept (module)"), or one below the heading of `hprof heap
// histogram` ("  1,991  199,568  char[]").
bool is_row(std::string_view line, bool below_heading, uint64_t* objects, uint64_t* bytes,
            std::string_view* name) {
  Scan scan(line);
  uint64_t rank = 0;
  const bool numbers = below_heading
                           ? scan.blanks() && grouped(scan, objects) && scan.blanks() && grouped(scan, bytes)
                           : scan.blanks() && scan.decimal(&rank) && scan.literal(":") && scan.blanks() &&
                                 scan.decimal(objects) && scan.blanks() && scan.decimal(bytes);
  if (!numbers || !scan.literal(" ")) return false;
  scan.blanks();
  *name = scan.rest().substr(0, below_heading ? std::string_view::npos : scan.rest().find(" ("));
  return !name->empty();
}

}  // namespace

bool read_class_histogram(const std::string& path, ClassHistogram* histogram, std::string* error) {
  std::unique_ptr<ByteSource> source = open_source(path, error);
  if (source == nullptr) return false;
  if (!is_text(*source)) return false;
  Input in(*source);
  LineReader lines(in);
  std::string_view line, name;
  bool below_heading = false;
  while (lines.next(&line)) {
    below_heading = (below_heading && !line.empty()) || is_heading(line);
    uint64_t objects = 0, bytes = 0;
    if (below_heading && line.substr(0, 6) == "  ... ") {
      *error = path + " has not all classes: hprof heap histogram --top=0 prints them";
      return false;
    }
    if (!is_row(line, below_heading, &objects, &bytes, &name)) continue;
    ClassCount& count = (*histogram)[std::string(name)];
    count.objects += objects;
    count.bytes += bytes;
  }
  *error = source->error();
  return error->empty() && !histogram->empty();
}

}  // namespace hprof::tool
