#include "tools/hprof/diff/class_histogram.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tools/format/ascii_lines.h"
#include "tools/format/definitions.h"
#include "tools/format/source_file.h"
#include "tools/heap/output/document.h"
#include "tools/hprof/command.h"

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

// "1234", "1,234,560 B (12.3%)": VisualVM groups the digits as the user's language does.
bool csv_number(std::string_view text, uint64_t* value) {
  static constexpr std::string_view kSeparators[] = {",", ".", "'", " ", "\u00a0", "\u202f", "\u2019"};
  constexpr size_t kGroup = 3;
  auto digits_at = [&](size_t at) {
    size_t count = 0;
    while (at + count < text.size() && text[at + count] >= '0' && text[at + count] <= '9') ++count;
    return count;
  };
  size_t at = digits_at(0);
  std::string digits(text.substr(0, at));
  for (bool more = at != 0; more;) {
    more = false;
    for (std::string_view separator : kSeparators) {
      const size_t next = at + separator.size();
      if (text.substr(at, separator.size()) != separator || digits_at(next) != kGroup) continue;
      digits += text.substr(next, kGroup);
      at = next + kGroup;
      more = true;
      break;
    }
  }
  const std::string_view rest = text.substr(at);
  return parse_number(digits, UINT64_MAX, value) &&
         (rest.empty() || rest == " B" || rest.find('(') != rest.npos);
}

// The columns of a histogram as CSV, of `hprof heap histogram` or VisualVM.
struct CsvColumns {
  size_t name = SIZE_MAX, bytes = SIZE_MAX, objects = SIZE_MAX;

  // True: the line is the heading of such a file.
  bool find(std::string_view line) {
    *this = {};
    const std::vector<std::string> titles = csv_fields(line);
    for (size_t i = 0; i < titles.size(); ++i) {
      const std::string& title = titles[i];
      if (title == "class" || title == "Name") name = i;
      if (title == "shallow_bytes" || title == "Live Bytes" || title == "Size") bytes = i;
      if (title == "objects" || title == "Live Objects" || title == "Count") objects = i;
    }
    return name != SIZE_MAX && bytes != SIZE_MAX && objects != SIZE_MAX;
  }
  bool read(std::string_view line, std::string* class_name, ClassCount* count) const {
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() <= std::max({name, bytes, objects})) return false;
    *class_name = fields[name];
    return !class_name->empty() && csv_number(fields[bytes], &count->bytes) &&
           csv_number(fields[objects], &count->objects);
  }
};

bool read_csv_rows(LineReader& lines, const CsvColumns& columns, const std::string& path,
                   ClassHistogram* histogram, std::string* error) {
  std::string_view line;
  while (lines.next(&line)) {
    if (line.empty()) continue;
    std::string name;
    ClassCount row;
    if (!columns.read(line, &name, &row)) {
      *error = path + ", line " + std::to_string(lines.number()) + ": no class with its objects and bytes";
      return false;
    }
    ClassCount& count = (*histogram)[name];
    count.objects += row.objects;
    count.bytes += row.bytes;
  }
  return true;
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
  CsvColumns columns;
  while (lines.next(&line)) {
    if (lines.number() == 1 && columns.find(line)) {
      if (!read_csv_rows(lines, columns, path, histogram, error)) return false;
      break;
    }
    below_heading = (below_heading && !line.empty()) || is_heading(line);
    uint64_t objects = 0, bytes = 0;
    if (below_heading && line.substr(0, 6) == "  ... ") {
      *error = path + " has not all classes: hprof heap histogram --top=0 prints them";
      return false;
    }
    if (!is_row(line, below_heading, &objects, &bytes, &name)) continue;
    ClassCount& count = (*histogram)[name[0] == '[' ? java_name(name) : std::string(name)];
    count.objects += objects;
    count.bytes += bytes;
  }
  *error = source->error();
  return error->empty() && !histogram->empty();
}

}  // namespace hprof::tool
