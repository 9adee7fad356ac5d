// hprof diff BEFORE AFTER: what has grown and shrunk between two profiles, class histograms or heap dumps.
#include <algorithm>
#include <iomanip>
#include <iostream>

#include "tools/format/ascii_lines.h"
#include "tools/format/binary_format.h"
#include "tools/format/definitions.h"
#include "tools/format/utf8.h"
#include "tools/hprof/command.h"
#include "tools/hprof/diff/class_histogram.h"
#include "tools/hprof/print/profile_sums.h"

namespace hprof::tool {

namespace {

struct DiffOptions {
  std::vector<std::string> files;
  uint64_t top = 20;
  bool lines = false;
};

struct Change {
  std::string name;
  uint64_t before[2] = {};  // for each column
  uint64_t after[2] = {};
};
using Changes = std::map<std::string, Change>;

uint64_t size_of_change(const Change& change) {
  return change.after[0] > change.before[0] ? change.after[0] - change.before[0]
                                            : change.before[0] - change.after[0];
}

std::string signed_text(const ProfileWeight& weight, uint64_t before, uint64_t after) {
  if (before == after) return "0";
  return after > before ? "+" + weight_text(weight, after - before)
                        : "-" + weight_text(weight, before - after);
}

// The largest changes of the first column first.
void print_changes(const Changes& changes, const std::vector<ProfileWeight>& columns, const char* what,
                   const DiffOptions& options) {
  std::vector<const Change*> sorted;
  size_t same = 0;
  for (const auto& [name, change] : changes) {
    const bool is_same = size_of_change(change) == 0 && change.before[1] == change.after[1];
    if (is_same)
      same++;
    else
      sorted.push_back(&change);
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Change* a, const Change* b) { return size_of_change(*a) > size_of_change(*b); });
  for (const ProfileWeight& column : columns)
    std::cout << std::setw(19) << "change of " + column.title << std::setw(14) << "before" << std::setw(14)
              << "after";
  std::cout << "  " << what << '\n';
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (options.top != 0 && i == options.top) {
      std::cout << "  ... " << sorted.size() - i << " more\n";
      break;
    }
    const Change& change = *sorted[i];
    for (size_t column = 0; column < columns.size(); ++column) {
      const ProfileWeight& weight = columns[column];
      std::cout << std::setw(19) << signed_text(weight, change.before[column], change.after[column])
                << std::setw(14) << weight_text(weight, change.before[column]) << std::setw(14)
                << weight_text(weight, change.after[column]);
    }
    std::cout << "  " << printable(change.name) << '\n';
  }
  if (same != 0) std::cout << "  " << same << " the same\n";
}

int diff_histograms(const ClassHistogram (&two)[2], const DiffOptions& options) {
  Changes changes;
  for (size_t file = 0; file < 2; ++file) {
    for (const auto& [name, count] : two[file]) {
      Change& change = changes[name];
      change.name = name;
      uint64_t* to = file == 0 ? change.before : change.after;
      to[0] = count.bytes;
      to[1] = count.objects;
    }
  }
  std::cout << "Classes of " << options.files[0] << " and " << options.files[1] << '\n';
  print_changes(changes,
                {{"bytes", "bytes", ProfileWeight::kBytes, true, true},
                 {"objects", "objects", ProfileWeight::kCount, false, true}},
                "class", options);
  return kDone;
}

// Rows of one name and stack, or lines.
void add_table(const Profile& profile, const LastTable& last, size_t file, const DiffOptions& options,
               Changes* changes) {
  const ProfileTable& table = *last.table;
  const size_t weight = preferred_weight(table);
  const auto add = [&](const std::string& name, uint64_t value) {
    Change& change = (*changes)[name];
    change.name = name;
    (file == 0 ? change.before : change.after)[0] += value;
  };
  if (options.lines) {
    for (const LineSum& sum : sums_by_line(profile, table, weight)) {
      if (sum.self != 0) add(sum.line, sum.self);
    }
    return;
  }
  for (const ProfileRow& row : table.rows) {
    std::string name = row_name(profile, row);
    const auto found = profile.traces.find(row.trace);
    if (found != profile.traces.end()) {
      for (const ProfileFrame& frame : found->second) name += " < " + frame_text(frame);
    }
    add(name, row.values[weight]);
  }
}

int diff_profiles(const Profile (&two)[2], const DiffOptions& options) {
  bool any = false;
  for (const LastTable& before : last_tables(two[0])) {
    for (const LastTable& after : last_tables(two[1])) {
      if (before.table->name != after.table->name) continue;
      any = true;
      Changes changes;
      add_table(two[0], before, 0, options, &changes);
      add_table(two[1], after, 1, options, &changes);
      std::cout << before.table->title << " of " << options.files[0] << " and " << options.files[1];
      if (before.of > 1 || after.of > 1) std::cout << ", the last of each: it holds all that was seen";
      std::cout << '\n';
      print_changes(changes, {before.table->weights[preferred_weight(*before.table)]},
                    options.lines ? "line" : "name < its stack", options);
    }
  }
  return any ? kDone : fail("the two files have no table of the same kind");
}

bool has_heap_dump(const std::string& path) {
  std::string error;
  std::unique_ptr<ByteSource> source = open_source(path, &error);
  if (source == nullptr || is_text(*source)) return false;
  Input in(*source);
  FileHeader header;
  if (!read_header(in, &header)) return false;
  RecordHead head{};
  bool cut = false;
  while (read_record_head(in, &head, &cut)) {
    if (head.tag == kHeapDump || head.tag == kHeapDumpSegment) return true;
    if (!in.skip(head.length)) return false;
  }
  return false;
}

int parse(const Arguments& arguments, DiffOptions* options) {
  for (const std::string& argument : arguments) {
    std::string value;
    if (option_value(argument, "--top", &value)) {
      if (!parse_number(value, UINT32_MAX, &options->top)) return misuse("diff", "--top=N takes a number");
    } else if (argument == "--lines") {
      options->lines = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return misuse("diff", "unknown option " + argument);
    } else {
      options->files.push_back(argument);
    }
  }
  return options->files.size() == 2 ? kDone : misuse("diff", "two files: BEFORE AFTER");
}

}  // namespace

int diff_command(const Arguments& arguments) {
  DiffOptions options;
  const int status = parse(arguments, &options);
  if (status != kDone) return status;
  const std::vector<std::string>& files = options.files;
  if (has_heap_dump(files[0]) && has_heap_dump(files[1]))
    return heap_command({"diff", "--top=" + std::to_string(options.top), files[0], files[1]});
  ClassHistogram histograms[2];
  std::string error;
  if (read_class_histogram(files[0], &histograms[0], &error) &&
      read_class_histogram(files[1], &histograms[1], &error))
    return diff_histograms(histograms, options);
  if (!error.empty() && !(histograms[0].empty() && histograms[1].empty())) {
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  Profile profiles[2];
  for (size_t file = 0; file < 2; ++file) {
    if (read_profile(files[file], &profiles[file], &error)) continue;
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  return diff_profiles(profiles, options);
}

}  // namespace hprof::tool
