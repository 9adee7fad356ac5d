#include "tools/hprof/view/inputs.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "tools/format/ascii_lines.h"
#include "tools/format/source_file.h"
#include "tools/format/utf8.h"

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

bool read_file(const std::string& path, Profile* profile, bool* is_empty, std::string* error) {
  std::unique_ptr<ByteSource> source = open_source(path, error);
  if (source == nullptr) return false;
  profile->file = path;
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

// *is_empty: all of them are.
bool read_files(const Arguments& words, Profile* profile, bool* is_empty, std::string* error) {
  Joiner joiner(profile);
  size_t count = 0;
  for (const std::string& word : words) {
    const Arguments files = files_of({word});
    const bool is_folder = files != Arguments{word};
    for (const std::string& path : files) {
      Profile one;
      bool is_one_empty = false;
      if (read_file(path, &one, &is_one_empty, error)) {
        joiner.add(std::move(one));
        *is_empty = *is_empty && is_one_empty;
        ++count;
      } else if (is_folder) {
        std::cerr << "hprof: left out: " << *error << '\n';
      } else {
        return false;
      }
    }
  }
  profile->file = words[0];
  if (words.size() > 1) profile->file += " and " + std::to_string(words.size() - 1) + " more";
  return count != 0;
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
  const bool good =
      is_one ? read_file(words[0], profile, &is_empty, error) : read_files(words, profile, &is_empty, error);
  if (!good) return false;
  if (!add_windows(choice, profile, error)) {
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
