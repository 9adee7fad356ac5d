#include "tools/hprof/view/page.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <unordered_map>

#include "tools/format/ascii_lines.h"
#include "tools/format/source_file.h"
#include "tools/format/value_text.h"
#include "tools/hprof/output_file.h"
#include "tools/hprof/view/plain_tables.h"
#include "tools/os/os.h"

namespace hprof::flamegraph {
extern const char kPageBegin[], kPageEnd[];  // the page of format=flamegraph, around its data
}

namespace hprof::tool {

namespace {

std::string base36(uint64_t number) {
  std::string text;
  do {
    text.insert(text.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36]);
    number /= 36;
  } while (number != 0);
  return text;
}

// Escapes a text for page.js: no character ends the line, the field or the script element.
std::string escaped(const std::string& text) {
  std::string made;
  for (char letter : text) {
    switch (letter) {
      case '\\':
        made += "\\\\";
        break;
      case '\t':
        made += "\\t";
        break;
      case '\n':
        made += "\\n";
        break;
      case '\r':
        made += "\\r";
        break;
      case '<':
        made += "\\u003c";
        break;
      default:
        made += letter;
    }
  }
  return made;
}

// Writes the lines of one profile; data.js begins with their grammar.
class DataWriter {
 public:
  explicit DataWriter(std::ostream& out) : out_(out) {}

  void write(const Profile& profile) {
    for (const auto& about : profile.about)
      out_ << "i\t" << escaped(about.first) << '\t' << escaped(about.second) << '\n';
    out_ << profile.page_lines;
    for (const auto& trace : profile.traces) write_trace(profile, trace.first, trace.second);
    for (const ProfileTable& table : profile.tables) write_table(table);
    for (const std::string& note : profile.notes) out_ << "n\t" << escaped(note) << '\n';
  }

 private:
  std::string string_id(const std::string& text) {
    return numbered(&strings_, text,
                    [&](const std::string& id) { out_ << "s\t" << id << '\t' << escaped(text) << '\n'; });
  }

  std::string frame_id(const ProfileFrame& frame) {
    const std::string key =
        frame.class_name + '\n' + frame.method + '\n' + frame.source + '\n' + std::to_string(frame.line);
    const auto found = frames_.find(key);
    if (found != frames_.end()) return found->second;
    const std::string name = string_id(frame.class_name), method = string_id(frame.method),
                      source = string_id(frame.source);
    const std::string owner = numbered(&classes_, frame.class_name, [&](const std::string& id) {
      out_ << "c\t" << id << '\t' << name << '\n';
    });
    return numbered(&frames_, key, [&](const std::string& id) {
      out_ << "f\t" << id << '\t' << owner << '\t' << method << '\t' << source << '\t' << frame.line << '\n';
    });
  }

  void write_trace(const Profile& profile, uint64_t serial, const std::vector<ProfileFrame>& frames) {
    std::string line, thread = "0";
    for (size_t i = frames.size(); i-- > 0;) line += '\t' + frame_id(frames[i]);
    const auto found = profile.threads.find(serial);
    if (found != profile.threads.end()) {
      thread = numbered(&threads_, found->second, [&](const std::string& id) {
        out_ << "u\t" << id << '\t' << escaped(found->second) << '\n';
      });
    }
    out_ << "t\t" << base36(serial) << '\t' << thread << '\t' << profile.cut.count(serial) << line << '\n';
  }

  void write_table(const ProfileTable& table) {
    out_ << "T\t" << escaped(table.name) << '\t' << escaped(table.title) << '\n';
    for (const ProfileWeight& weight : table.weights) {
      out_ << "C\t" << escaped(weight.name) << '\t' << weight.unit << '\t'
           << 1 + (weight.preferred ? 8 : 0) + (weight.state ? 16 : 0) << '\t' << escaped(weight.title)
           << '\t'
           << (weight.unit == ProfileWeight::kCount && weight.title != "count" ? escaped(weight.title) : "")
           << '\t' << weight.sample << '\n';
    }
    out_ << "C\ttrace\t5\t0\ttrace\n";
    if (table.leaf) out_ << "C\tname\t7\t32\tname\n";
    for (const ProfileRow& row : table.rows) {
      const std::string leaf = table.leaf ? '\t' + string_id(row.name) : "";
      out_ << 'd';
      for (uint64_t value : row.values) out_ << '\t' << value;
      out_ << '\t' << base36(row.trace) << leaf << '\n';
    }
    out_ << "E\t\n";
  }

  template <typename Define>
  static std::string numbered(std::unordered_map<std::string, std::string>* known, const std::string& key,
                              Define define) {
    const auto found = known->find(key);
    if (found != known->end()) return found->second;
    std::string id = base36(known->size() + 1);
    known->emplace(key, id);
    define(id);
    return id;
  }

  std::ostream& out_;
  std::unordered_map<std::string, std::string> strings_, classes_, frames_, threads_;
};

}  // namespace

namespace {

// What DataWriter and the command write anew.
bool is_of_view(std::string_view line) {
  for (const std::string_view key : {"title", "from", "to", "threads"}) {
    if (line.substr(0, 2) == "i\t" && line.substr(2, key.size()) == key &&
        line.substr(2 + key.size(), 1) == "\t")
      return true;
  }
  return false;
}

// Finds when the events of a page were, line by line.
class EventTimes {
 public:
  explicit EventTimes(PageTimes* times) : times_(*times) {}
  void take(std::string_view line) {
    const char kind = line.size() > 2 && line[1] == '\t' ? line[0] : ' ';
    if (kind == 'i') {
      fact(line.substr(2));
    } else if (kind == 'T') {
      in_events_ = line.substr(line.size() - 2) == kOfEvents;
      times_.any = times_.any || in_events_;
      columns_ = 0;
      column_ = SIZE_MAX;
    } else if (kind == 'C') {
      if (column_ == SIZE_MAX && cell(line, 2) == kTimeType) column_ = columns_;
      ++columns_;
    } else if (kind == 'd' && in_events_ && column_ != SIZE_MAX) {
      row(cell(line, column_ + 1));
    }
  }

 private:
  static constexpr std::string_view kOfEvents = "\t4", kTimeType = "8";

  // The field behind so many tabs.
  static std::string_view cell(std::string_view line, size_t index) {
    for (; index != 0; --index) {
      const size_t tab = line.find('\t');
      if (tab == std::string_view::npos) return {};
      line.remove_prefix(tab + 1);
    }
    return line.substr(0, line.find('\t'));
  }
  void fact(std::string_view line) {
    Scan scan(line);
    int64_t number = 0;
    const bool is_created = scan.maybe("created_ms\t");
    if ((is_created || scan.maybe("utc_offset\t")) && scan.signed_decimal(&number) && scan.done())
      (is_created ? created_ : offset_) = number;
    const int64_t most = INT64_MAX / 4000;
    if (std::abs(created_) < most && std::abs(offset_) < most) times_.began = created_ + offset_ * 1000;
  }
  void row(std::string_view text) {
    uint64_t us = 0;
    Scan scan(text);
    if (!scan.decimal(&us)) return;
    const int64_t ms = times_.began + static_cast<int64_t>(us / 1000);
    times_.first = has_rows_ ? std::min(times_.first, ms) : ms;
    times_.last = has_rows_ ? std::max(times_.last, ms) : ms;
    has_rows_ = true;
  }

  PageTimes& times_;
  int64_t created_ = 0, offset_ = 0;
  bool in_events_ = false, has_rows_ = false;
  size_t columns_ = 0, column_ = SIZE_MAX;  // of the table, and of its time
};

}  // namespace

bool read_page(const std::string& path, Profile* profile, PageTimes* times, std::string* error) {
  constexpr std::string_view kDoctype = "<!doctype html>",
                             kData = "<script type=\"text/plain\" id=\"data\">v\t1";
  std::unique_ptr<ByteSource> source = open_source(path, error);
  if (source == nullptr) return false;
  Input in(*source);
  LineReader lines(in);
  std::string_view line;
  if (!lines.next(&line) || line != kDoctype) return false;
  while (lines.next(&line) && line != kData) {
  }
  if (line != kData) {
    *error = path + ": a page without the data of a profile";
    return false;
  }
  profile->file = path;
  EventTimes events(times);
  while (lines.next(&line) && line.substr(0, 2) != "</" && !lines.unfinished()) {
    // Data has no '<': a line with one is none, and could end the script element.
    if (is_of_view(line) || line.find('<') != std::string_view::npos) continue;
    events.take(line);
    profile->page_lines.append(line).append(1, '\n');
  }
  *error = source->error();
  return error->empty();
}

void write_page(const std::vector<Profile>& profiles, std::ostream& out, const std::string& above) {
  constexpr const char* kStyle =
      "<style>#answer{flex:none;max-height:45vh;overflow:auto;padding:8px 12px;border-bottom:1px solid "
      "var(--line)}"
      "#answer h2,#answer h3,#answer h4{font-size:14px;margin:.6em 0 .2em}#answer p{margin:.2em 0}"
      "#answer table{width:auto;margin:.4em 0}#answer th{position:static;cursor:default}"
      "#answer th,#answer td{text-align:left;width:auto;cursor:default}#answer .n{text-align:right}"
      "#answer caption{text-align:left;font-weight:600}#answer summary{cursor:pointer}"
      "#answer "
      ".held{margin-left:1.2em;color:var(--dim);font-family:ui-monospace,monospace;overflow-wrap:anywhere}"
      "</style>";
  const std::string_view begin = flamegraph::kPageBegin, header = "</header>\n";
  const size_t at = begin.find(header) + header.size();
  out << begin.substr(0, at);
  if (!above.empty()) out << kStyle << "<section id=\"answer\">\n" << above << "</section>\n";
  out << begin.substr(at);
  for (const Profile& profile : profiles) {
    if (profiles.size() > 1) out << "x\t" << escaped(profile.file) << '\n';
    if (profiles.size() == 1) out << "i\ttitle\t" << escaped(profile.file) << '\n';
    if (profile.created_ms != 0) out << "i\tcreated\t" << date_text(profile.created_ms) << '\n';
    if (profile.duration_ns != 0) out << "i\tduration\t" << profile.duration_ns / 1000000000 << '\n';
    DataWriter(out).write(profile);
  }
  out << flamegraph::kPageEnd;
}

void open_page(const std::string& page) {
  std::string error;
  os::bound_memory(0);  // the programs started here inherit the bound
  const std::string path = os::absolute_path(page, &error);
  if (!path.empty() && os::open_on_desktop(path, &error)) return;
  std::cerr << "hprof: not opened: " << error << "; open " << (path.empty() ? page : path)
            << " in a browser\n";
}

std::string fault_of_page(const std::string& path) {
  const std::string suffix = suffix_of_name(path);
  const bool is_page = suffix.empty() || suffix == ".html" || suffix == ".htm";
  if (is_page && without_gz(path) == path) return "";
  return "-o " + path + ": a page is .html; hprof convert writes other formats";
}

int show_page(const std::vector<Profile>& profiles, const std::string& wanted, const Given& given) {
  std::string path;
  const int file = create_output(given, wanted, ".html", &path);
  if (file < 0) return kFailed;
  os::close_file(file);
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  write_page(profiles, out, profiles.size() == 1 ? html_of_plain_tables(profiles[0]) : "");
  out.close();
  if (!out) return fail("cannot write " + path);
  (given.has("--json") ? std::cerr : std::cout) << path << '\n';
  if (given.has("--open")) open_page(path);
  return kDone;
}

}  // namespace hprof::tool
