#include "tools/hprof/view/inputs.h"

#include <algorithm>
#include <iostream>
#include <list>
#include <map>

#include "tools/format/ascii_lines.h"
#include "tools/format/source_file.h"
#include "tools/format/utf8.h"
#include "tools/hprof/view/plain_sum.h"
#include "tools/hprof/view/process_time.h"
#include "tools/hprof/view/table_sum.h"

namespace hprof::tool {

namespace {

constexpr const char* kDumpTitle = "HEAP DUMP";

// Joins the profiles of several files.
class Joiner {
 public:
  explicit Joiner(Profile* all) : all_(*all), traces_(all) {}

  void add(Profile one) {
    for (auto& [number, frames] : one.traces) {
      const auto thread = one.threads.find(number);
      numbers_[number] = traces_.number_of(
          std::move(frames), thread != one.threads.end() ? thread->second : "", one.cut.count(number) != 0);
    }
    renumber(&one.tables);
    for (ProfileWindow& window : one.windows) renumber(&window.tables);
    if (one.is_stretch && !one.tables.empty()) {
      ProfileWindow window = {0, one.created_ms, one.created_ms + one.duration_ns / 1000000, {}, {}, {}};
      window.tables.swap(one.tables);
      window.notes.swap(one.notes);
      all_.windows.push_back(std::move(window));
    }
    append(&one.windows, &all_.windows);
    append(&one.tables, &all_.tables);
    append(&one.notes, &all_.notes);
    for (PlainTable& table : one.plain_tables) put_plain_table(std::move(table), &all_);
    for (ProfileThread& thread : one.all_threads) add_thread(std::move(thread));
    if (!one.unread.empty()) all_.unread += (all_.unread.empty() ? "" : "; ") + one.file + ": " + one.unread;
    all_.by_method = all_.by_method || one.by_method;
    if (all_.about.empty()) all_.about = std::move(one.about);
    const bool is_earlier = all_.created_ms == 0 || one.created_ms < all_.created_ms;
    if (one.created_ms != 0 && is_earlier) all_.created_ms = one.created_ms;
    numbers_.clear();
  }

 private:
  template <typename T>
  static void append(std::vector<T>* from, std::vector<T>* to) {
    std::move(from->begin(), from->end(), std::back_inserter(*to));
  }

  // Trace 0 has no frames.
  void renumber(std::vector<ProfileTable>* tables) const {
    for (ProfileTable& table : *tables) {
      for (ProfileRow& row : table.rows) {
        const auto found = numbers_.find(row.trace);
        row.trace = found == numbers_.end() ? 0 : found->second;
      }
    }
  }

  // Files of one session name its threads again.
  void add_thread(ProfileThread thread) {
    const auto [place, fresh] = threads_.try_emplace({thread.serial, thread.name}, all_.all_threads.size());
    if (fresh) return all_.all_threads.push_back(std::move(thread));
    all_.all_threads[place->second].ended |= thread.ended;
  }

  Profile& all_;
  TraceTable traces_;
  std::map<uint64_t, uint64_t> numbers_;  // of the file that is added
  std::map<std::pair<uint64_t, std::string>, size_t> threads_;
};

bool read_file(const std::string& path, const WindowChoice& choice, Profile* profile, bool* is_empty,
               std::string* error) {
  std::unique_ptr<ByteSource> source = open_source(path, error);
  if (source == nullptr) return false;
  profile->file = path;
  profile->from = choice.from;
  profile->to = choice.to;
  bool good = read_profile(*source, profile, error);
  if (good && !source->error().empty()) {
    *error = source->error();
    good = false;
  }
  if (good && !profile->unread.empty())
    std::cerr << "hprof: " << path << ": not read, from there on: " << profile->unread << '\n';
  source->seek(0);
  *is_empty = Input(*source).at_end();
  if (!good) *error = path + ": " + *error;
  return good;
}

// The files of one process, whose tables are of one session or of windows.
struct ProcessFiles {
  Profile profile;
  Joiner joiner{&profile};
};

// Reads the files by process, in the order of their first ones. *is_empty: all of them are.
bool read_files(const Arguments& words, const WindowChoice& choice, std::list<ProcessFiles>* processes,
                bool* is_empty, std::string* error) {
  std::map<std::string, ProcessFiles*> known;
  for (const std::string& word : words) {
    const Arguments files = files_of({word});
    const bool is_folder = files != Arguments{word};
    for (const std::string& path : files) {
      Profile one;
      bool is_one_empty = false;
      if (read_file(path, choice, &one, &is_one_empty, error)) {
        ProcessFiles*& process = known[process_of(one)];
        if (process == nullptr) process = &processes->emplace_back();
        process->joiner.add(std::move(one));
        *is_empty = *is_empty && is_one_empty;
      } else if (is_folder) {
        std::cerr << "hprof: left out: " << *error << '\n';
      } else {
        return false;
      }
    }
  }
  return !processes->empty();
}

// Replaces tables that have all since the start by the last one of each name.
void keep_last_tables(Profile* profile) {
  std::map<std::string, size_t> last;
  std::vector<ProfileTable>& tables = profile->tables;
  for (size_t i = 0; i < tables.size(); ++i) last[tables[i].name] = i;
  size_t number = 0;
  const auto is_earlier = [&](const ProfileTable& table) { return last[table.name] != number++; };
  tables.erase(std::remove_if(tables.begin(), tables.end(), is_earlier), tables.end());
}

// True: numbers of the table's rows in several processes are their sums.
bool adds_up(const PlainTable& table) {
  return !table.kinds.empty() &&
         std::find(table.kinds.begin(), table.kinds.end(), PlainTable::Kind::kState) == table.kinds.end();
}

// Joins profiles of several processes. Tables without stacks that do not add up stay apart.
void add_processes(std::vector<Profile> processes, Profile* all) {
  Joiner joiner(all);
  std::map<std::string, PlainSum> plain_sums;
  std::string others;
  constexpr size_t kNamed = 10;
  for (size_t i = 0; i < processes.size(); ++i) {
    Profile& one = processes[i];
    keep_last_tables(&one);
    one.is_stretch = false;
    const std::string process = process_of(one);
    for (PlainTable& table : one.plain_tables) {
      if (adds_up(table))
        plain_sums[table.title].add(std::move(table));
      else if (!process.empty())
        table.title += " of " + process;
    }
    const auto was_added = [](const PlainTable& table) { return table.title.empty(); };
    std::vector<PlainTable>& plain = one.plain_tables;
    plain.erase(std::remove_if(plain.begin(), plain.end(), was_added), plain.end());
    if (i != 0 && i <= kNamed)
      others += (i == 1 ? "" : "; ") + (process.empty() ? "files that do not name theirs" : process);
    joiner.add(std::move(one));
  }
  for (auto& [title, sum] : plain_sums) {
    PlainTable table = sum.take();
    table.windows = 0;
    put_plain_table(std::move(table), all);
  }
  std::vector<TableSum> sums;
  std::map<std::string, size_t> places;  // in `sums`, by name
  for (ProfileTable& table : all->tables) {
    const auto [place, fresh] = places.try_emplace(table.name, sums.size());
    if (fresh) sums.emplace_back(TableSum::Of::kProcesses);
    sums[place->second].add(table);
  }
  all->tables.clear();
  for (TableSum& sum : sums) all->tables.push_back(sum.take());
  if (processes.size() > kNamed + 1) others += "; ...";
  all->about.emplace_back("processes", std::to_string(processes.size()) + " processes, also " + others);
}

// Reads several files. Windows and processes are added up.
bool read_joined(const Arguments& words, const WindowChoice& choice, Profile* profile, bool* is_empty,
                 std::string* error) {
  std::list<ProcessFiles> processes;
  if (!read_files(words, choice, &processes, is_empty, error)) return false;
  profile->file = words[0];
  if (words.size() > 1) profile->file += " and " + std::to_string(words.size() - 1) + " more";
  std::vector<Profile> chosen;
  for (ProcessFiles& each : processes) {
    std::string problem;
    if (add_windows(choice, &each.profile, &problem))
      chosen.push_back(std::move(each.profile));
    else
      *error = profile->file + " " + problem;
  }
  if (chosen.empty()) return false;
  std::string file = std::move(profile->file);
  if (chosen.size() == 1)
    *profile = std::move(chosen[0]);
  else
    add_processes(std::move(chosen), profile);
  profile->file = std::move(file);
  return true;
}

// What a sample of allocations stands for: the table or a note of sites=sampled says how many bytes, and the
// table how many objects these are on average.
void add_sampling(Profile* profile) {
  uint64_t interval = 0;
  for (const std::string& note : profile->notes) {
    uint64_t bytes = 0;
    Scan scan(note);
    if (scan.literal("heap=sites: sampled, one sample in ") && scan.decimal(&bytes))
      interval = std::max(interval, bytes);
  }
  for (ProfileTable& table : profile->tables) {
    if (table.name != sites_table().name) continue;
    uint64_t sample = interval;
    for (const ProfileWeight& weight : table.weights)
      if (weight.unit == ProfileWeight::kBytes) sample = std::max(sample, weight.sample);
    if (sample == 0) continue;
    const auto sum_of = [&](size_t weight) {
      double sum = 0;
      for (const ProfileRow& row : table.rows) sum += static_cast<double>(row.values[weight]);
      return sum;
    };
    for (size_t i = 0; i < table.weights.size(); ++i) {
      ProfileWeight& weight = table.weights[i];
      if (weight.unit == ProfileWeight::kBytes) weight.sample = sample;
      for (size_t other = 0; other < table.weights.size() && weight.sample == 0; ++other) {
        const ProfileWeight& bytes = table.weights[other];
        if (bytes.unit != ProfileWeight::kBytes || bytes.state != weight.state) continue;
        const double objects = sum_of(i) * static_cast<double>(sample) / std::max(1.0, sum_of(other));
        weight.sample = std::max<uint64_t>(1, static_cast<uint64_t>(objects));
      }
    }
  }
}

// What to say of a profile without tables of stacks.
std::string without_tables(const Profile& profile, bool is_empty) {
  if (is_empty) return "the file is empty";
  std::string text =
      "no table with stacks in it (cpu=samples, cpu=times, heap=sites and monitor=y write one)";
  for (const PlainTable& table : profile.plain_tables) {
    if (table.is_kept()) text += "; hprof print shows its " + table.title;
    if (table.title == kDumpTitle) text += "; hprof heap reads a dump of format=b";
  }
  // Such as that no class matches include=.
  if (!profile.notes.empty()) text += "; it says: " + printable(profile.notes.front());
  return text;
}

}  // namespace

bool read_choice(const Given& given, WindowChoice* choice, Which which, std::string* format) {
  const auto put = [&](const std::string& value, std::string* to) {
    if (which == Which::kLast || to->empty()) *to = value;
  };
  std::string number;
  for (const std::string& value : given.all("--window")) put(value, &number);
  if (!number.empty()) parse_number(number, UINT32_MAX, &choice->number);
  for (const auto& [option, to] : {std::pair("--from", &choice->from), std::pair("--to", &choice->to)}) {
    for (const std::string& value : given.all(option)) {
      uint64_t ms = 0;
      if (parse_time(value, &ms)) {
        put(value, to);
      } else if (to == &choice->to && format != nullptr) {
        *format = value;
      } else {
        given.misuse(std::string(option) + "=" + value + " is no time of day, such as 12:03:10");
        return false;
      }
    }
  }
  return true;
}

std::string output_base(const Arguments& words) {
  std::string base = words[0];
  while (base.size() > 1 && base.back() == '/') base.pop_back();
  return base;
}

bool read_inputs(const Arguments& words, const WindowChoice& choice, Usable usable, Profile* profile,
                 std::string* error) {
  bool is_empty = true;
  const bool is_one = words.size() == 1 && files_of(words) == words;
  if (!is_one) {
    if (!read_joined(words, choice, profile, &is_empty, error)) return false;
  } else if (!read_file(words[0], choice, profile, &is_empty, error)) {
    return false;
  } else if (!add_windows(choice, profile, error)) {
    *error = profile->file + " " + *error;
    return false;
  }
  add_sampling(profile);
  const auto is_usable = [&](const PlainTable& table) {
    return usable == Usable::kTitles || (usable == Usable::kRows && !table.rows.empty());
  };
  const std::vector<PlainTable>& plain = profile->plain_tables;
  if (!profile->tables.empty() || std::any_of(plain.begin(), plain.end(), is_usable)) return true;
  *error = profile->file + ": " + without_tables(*profile, is_empty);
  return false;
}

}  // namespace hprof::tool
