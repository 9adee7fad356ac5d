#include <cstdio>
#include <ostream>

#include "tools/format/utf8.h"
#include "tools/hprof/print/meanings.h"
#include "tools/hprof/print/profile_answer.h"
#include "tools/hprof/view/plain_tables.h"

namespace hprof::tool {

namespace {

constexpr const char* kFrameIndent = "          ";

class Printer {
 public:
  Printer(const Profile& profile, const PrintOptions& options, std::ostream& out)
      : profile_(profile), options_(options), out_(out) {}

  void print(const TableAnswer& answer) {
    out_ << '\n' << heading_of(answer, options_) << '\n';
    if (answer.has_threads) print_threads(answer, options_, out_);
    if (answer.kind != nullptr) print_places(answer);
    if (answer.has_path) print_path(answer);
    if (!answer.has_rows) return;
    if (answer.kind != nullptr) out_ << '\n';
    print_rows(answer);
  }

  void print(const PlainTable& table) {
    out_ << '\n';
    for (const std::string& line : table.head) out_ << printable(line) << '\n';
    if (!table.columns.empty()) {
      write_cells(table, options_.top, out_);
    } else {
      for (size_t i = 0; i < table.rows.size() && options_.shows(i); ++i)
        out_ << printable(table.rows[i][0]) << '\n';
      options_.print_left_out(out_, table.rows.size());
    }
    if (table.windows > 1) out_ << "  " << windows_text(table) << '\n';
  }

 private:
  void print_rows(const TableAnswer& answer) {
    const std::vector<ProfileWeight>& weights = answer.table().weights;
    const bool has_methods =
        !options_.traces && has_stacks(profile_, answer.table()) && has_names(profile_, answer.table());
    out_ << "rank    self ";
    for (const ProfileWeight& each : weights) out_ << padded(each.title, kColumn);
    out_ << "  trace name" << (has_methods ? " in method" : "") << '\n';
    size_t rank = 0;
    for (const ProfileRow* each : answer.rows) {
      const ProfileRow& row = *each;
      if (!options_.shows(rank++)) break;
      out_ << padded(std::to_string(rank), 4) << percent(row.values[answer.weight], answer.sum);
      for (size_t i = 0; i < row.values.size(); ++i)
        out_ << padded(weight_text(weights[i], row.values[i]), kColumn);
      const std::string name = row_name(profile_, row), method = own_method(profile_, row);
      out_ << padded(std::to_string(row.trace), 7) << ' ' << printable(name);
      if (!row.name.empty() && !method.empty() && !options_.traces) out_ << " in " << printable(method);
      out_ << '\n';
      if (!options_.traces) continue;
      for (const ProfileFrame& frame : frames_of(profile_, row))
        out_ << kFrameIndent << printable(frame_text(frame)) << '\n';
    }
    options_.print_left_out(out_, answer.rows.size());
  }

  void print_places(const TableAnswer& answer) {
    const bool is_counted = answer.beside != SIZE_MAX;
    const ProfileWeight& beside = answer.table().weights[is_counted ? answer.beside : 0];
    const auto counted = [&](uint64_t count) { return count == 0 ? "" : weight_text(beside, count); };
    out_ << "    self    total" << padded(answer.column().title, kColumn)
         << (is_counted ? padded(beside.title, kColumn) : "") << "  " << answer.kind
         << " (self: innermost; total: anywhere in the stack)\n";
    for (size_t i = 0; i < answer.places.size() && options_.shows(i); ++i) {
      const PlaceRow& row = answer.places[i];
      out_ << percent(row.self, answer.sum) << ' ' << percent(row.total, answer.sum)
           << padded(weight_text(answer.column(), row.self), kColumn)
           << (is_counted ? padded(counted(row.counted), kColumn) : "") << "  " << printable(row.place)
           << '\n';
    }
    options_.print_left_out(out_, answer.places.size());
    if (answer.overloaded != 0)
      out_ << "  overloads are summed, of " << answer.overloaded
           << (answer.overloaded == 1 ? " method" : " methods") << "; --lines tells them apart\n";
  }

  void print_path(const TableAnswer& answer) {
    out_ << "hottest path, from the outermost frame";
    if (answer.cut != 0) {
      const std::string share = percent(answer.cut, answer.sum);
      out_ << "; " << share.substr(share.find_first_not_of(' ')) << " is in stacks cut";
      if (const uint64_t depth = depth_of(profile_))
        out_ << " at depth=" << depth << ", a higher depth= keeps their callers";
    }
    out_ << '\n';
    for (const HottestStep& step : answer.path) {
      if (step.alike != 0)
        out_ << "           ... " << step.alike << (step.alike == 1 ? " frame\n" : " frames\n");
      out_ << percent(step.total, answer.sum) << "  " << printable(step.place)
           << (step.is_own ? "  <- the program's innermost" : "") << '\n';
    }
  }

  static constexpr size_t kColumn = 19;
  const Profile& profile_;
  const PrintOptions& options_;
  std::ostream& out_;
};

// What ran and how, and what 100 % is.
void print_head(const ProfileAnswer& answer, const PrintOptions& options, std::ostream& out) {
  const Profile& profile = answer.profile;
  out << profile.file;
  for (const auto& [key, value] : profile.about)
    if (key != kSession) out << ": " << value;
  out << '\n';
  for (const auto& [key, value] : profile.about)
    if (key == kSession) out << printable(value) << '\n';
  if (!options.thread.empty())
    out << "only the threads " << printable(options.thread) << '\n';
  else if (answer.has_time)
    out << text_of(answer.time) << '\n';
}

}  // namespace

std::string percent(uint64_t part, uint64_t whole) {
  char text[40];
  std::snprintf(text, sizeof text, "%7.2f%%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string padded(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

void print_profile(const Profile& profile, const PrintOptions& options, std::ostream& out) {
  const ProfileAnswer answer = answer_of(profile, options);
  print_head(answer, options, out);
  if (options.threads && profile.threads.empty() && !answer.tables.empty())
    out << "stacks without threads: take it with thread=y, or to a file .jfr or .json\n";
  for (const TableAnswer& table : answer.tables) Printer(profile, options, out).print(table);
  for (const PlainTable& table : profile.plain_tables) {
    if (table.is_kept())
      Printer(profile, options, out).print(table);
    else
      out << "\nnot printed: " << printable(table.title) << ", which is in the file\n";
  }
  if (options.threads && profile.threads.empty() && !profile.all_threads.empty()) {
    out << "\nthreads\n  serial  name\n";
    for (const ProfileThread& thread : profile.all_threads)
      out << padded(std::to_string(thread.serial), 8) << "  " << printable(thread.name)
          << (thread.ended ? " (ended)\n" : "\n");
  }
  bool is_first = true;
  for (const auto& [name, meaning] : meanings_in(profile)) {
    out << (is_first ? "\n" : "") << name << ": " << meaning << '\n';
    is_first = false;
  }
  for (const std::string& note : profile.notes) out << "\nnote: " << printable(note) << '\n';
}

}  // namespace hprof::tool
