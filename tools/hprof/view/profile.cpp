#include "tools/hprof/view/profile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "tools/format/ascii_lines.h"
#include "tools/format/file_kind.h"
#include "tools/hprof/view/expansion.h"
#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

ProfileTable samples_table() {
  return {"cpu_samples", "CPU SAMPLES", {{"samples", "samples", ProfileWeight::kCount, true, false, 1}}, {}};
}

ProfileTable times_table() {
  return {"cpu_times",
          "CPU TIME",
          {{"time", "self time", ProfileWeight::kNanoseconds, true, false},
           {"calls", "calls", ProfileWeight::kCount, false, false}},
          {}};
}

ProfileTable sites_table() {
  return {"alloc_sites",
          "SITES",
          {{"live_bytes", "live bytes", ProfileWeight::kBytes, false, true},
           {"live_objects", "live objects", ProfileWeight::kCount, false, true},
           {"allocated_bytes", "allocated bytes", ProfileWeight::kBytes, true, false},
           {"allocated_objects", "allocated objects", ProfileWeight::kCount, false, false}},
          {},
          true};
}

ProfileTable monitors_table() {
  return {"monitor_time",
          "MONITOR TIME",
          {{"time", "time blocked", ProfileWeight::kNanoseconds, true, false},
           {"contentions", "times blocked", ProfileWeight::kCount, false, false}},
          {},
          true};
}

bool is_exact_count(const ProfileWeight& weight) {
  return std::find(std::begin(kCountWeights), std::end(kCountWeights), weight.name) !=
         std::end(kCountWeights);
}

Repeats repeats(const Profile& profile, const ProfileTable& table) {
  const auto is_recording = [](const std::pair<std::string, std::string>& each) {
    return each.second.rfind("JFR ", 0) == 0;
  };
  const auto is_sample = [](const ProfileWeight& weight) { return weight.sample != 0; };
  if (table.name == samples_table().name ||
      std::any_of(profile.about.begin(), profile.about.end(), is_recording) ||
      std::any_of(table.weights.begin(), table.weights.end(), is_sample))
    return Repeats::kSampled;
  return std::any_of(table.weights.begin(), table.weights.end(), is_exact_count) ? Repeats::kExact
                                                                                 : Repeats::kNotKnown;
}

std::string repeats_text(const Profile& profile, const ProfileTable& table) {
  std::string text;
  switch (repeats(profile, table)) {
    case Repeats::kNotKnown:
      break;
    case Repeats::kSampled:
      return "sampled";
    case Repeats::kExact:
      for (const ProfileWeight& weight : table.weights)
        if (is_exact_count(weight)) text += (text.empty() ? "exact: " : ", ") + weight.title;
  }
  return text;
}

bool is_sampled(const Profile& profile, const ProfileTable& table) {
  return repeats(profile, table) == Repeats::kSampled;
}

bool may_lack_rows(const Profile& profile, const ProfileTable& table) {
  const auto keeps_all = [](const std::pair<std::string, std::string>& each) {
    return each.first == kSession && (each.second + ' ').find(" cutoff=0 ") != std::string::npos;
  };
  const bool has_calls_alone = table.weights.size() == 1 && table.weights[0].name == kCountWeights[0];
  return !profile.by_method && !has_calls_alone &&
         std::none_of(profile.about.begin(), profile.about.end(), keeps_all);
}

ProfileFrame frame_of_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  ProfileFrame frame;
  if (dot != std::string_view::npos) frame.class_name = name.substr(0, dot);
  // Paths of files and of packages of Go begin otherwise.
  const size_t slash = name.find('/');
  if (slash != 0 && slash < name.find('.'))
    std::replace(frame.class_name.begin(), frame.class_name.end(), '/', '.');
  frame.method = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  keep_stable_part(&frame.class_name);
  return frame;
}

void keep_stable_part(std::string* class_name) {
  constexpr std::string_view kLambda = "$$Lambda", kForm = "java.lang.invoke.LambdaForm$";
  constexpr const char *kDigits = "0123456789", *kAddress = "0123456789abcdef./+x$";
  // "A/0x000074e8c4003040", where other programs write a dot or a plus, and a number after it.
  const size_t address = class_name->find("0x00");
  if (address != std::string::npos && address > 1 &&
      class_name->find_first_not_of(kAddress, address) == std::string::npos &&
      std::string_view("/.+").find((*class_name)[address - 1]) != std::string_view::npos)
    class_name->resize(address - 1);
  const size_t lambda = class_name->find(kLambda);
  if (lambda != std::string::npos &&
      class_name->find_first_not_of("0123456789./$", lambda + kLambda.size()) == std::string::npos)
    class_name->resize(lambda + kLambda.size());
  if (class_name->compare(0, kForm.size(), kForm) == 0)
    class_name->resize(class_name->find_last_not_of(kDigits) + 1);
}

ProfileFrame frame_of_address(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  ProfileFrame frame;
  frame.method = text;
  return frame;
}

bool has_numbers(const PlainTable& table, size_t column) {
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<std::string>& row) {
    char* end = nullptr;
    std::strtod(row[column].c_str(), &end);
    return !row[column].empty() && *end == '\0';
  });
}

void put_largest_first(size_t column, PlainTable* table) {
  std::stable_sort(table->rows.begin(), table->rows.end(), [&](const auto& a, const auto& b) {
    return std::strtold(a[column].c_str(), nullptr) > std::strtold(b[column].c_str(), nullptr);
  });
}

std::string trace_text(const Profile& profile, uint64_t trace) {
  const auto found = profile.traces.find(trace);
  if (found == profile.traces.end() || found->second.empty()) return std::to_string(trace);
  const ProfileFrame& frame = found->second[0];
  return std::to_string(trace) + " " + frame.class_name + (frame.class_name.empty() ? "" : ".") +
         frame.method;
}

void add_to_name(const std::string& text, ProfileRow* row) {
  if (text.empty()) return;
  row->name += (row->name.empty() ? "" : " ") + text;
}

void put_plain_table(PlainTable table, Profile* profile) {
  std::vector<PlainTable>& all = profile->plain_tables;
  const auto [place, fresh] = profile->plain_places.try_emplace(table.title, all.size());
  if (fresh) all.emplace_back();
  all[place->second] = std::move(table);
  profile->fresh_plain.push_back(place->second);
}

void take_off_marks(uint64_t trace, Profile* profile) {
  std::vector<ProfileFrame>& frames = profile->traces[trace];
  const auto ends_with = [&](const char* mark) {
    return !frames.empty() && frames.back().class_name.empty() && frames.back().method == mark;
  };
  if (ends_with("[cut]")) {
    frames.pop_back();
    profile->cut.insert(trace);
  }
  if (frames.size() == 1 && ends_with("[unknown]")) frames.pop_back();
}

uint64_t TraceTable::number_of(std::vector<ProfileFrame> frames, const std::string& thread, bool is_cut) {
  std::string key = (is_cut ? "cut\n" : "\n") + thread;
  for (const ProfileFrame& frame : frames)
    key += '\n' + frame.class_name + '\n' + frame.method + '\n' + frame.source + '\n' +
           std::to_string(frame.line);
  const auto [place, fresh] = known_.try_emplace(std::move(key), known_.size() + 1);
  const uint64_t number = place->second;
  if (!fresh) return number;
  profile_.traces[number] = std::move(frames);
  if (!thread.empty()) profile_.threads[number] = thread;
  if (is_cut) profile_.cut.insert(number);
  return number;
}

namespace {

bool starts_with(const std::string& text, std::string_view begin) {
  return std::string_view(text).substr(0, begin.size()) == begin;
}

// False: to go through the frames of each row would take many more steps than the file has bytes, since its
// rows share few large stacks.
bool rows_fit(const Profile& profile, uint64_t bytes) {
  Expansion expansion;
  expansion.reach(bytes);
  const auto fit = [&](const std::vector<ProfileTable>& tables) {
    for (const ProfileTable& table : tables) {
      for (const ProfileRow& row : table.rows) {
        const auto trace = profile.traces.find(row.trace);
        if (trace != profile.traces.end() && !expansion.take(trace->second.size())) return false;
      }
    }
    return true;
  };
  return fit(profile.tables) && std::all_of(profile.windows.begin(), profile.windows.end(),
                                            [&](const ProfileWindow& each) { return fit(each.tables); });
}

bool read_by_kind(Input& in, Profile* profile, std::string* error) {
  constexpr size_t kLooked = 64;
  std::string first;
  in.text(kLooked, &first);
  in.seek(0);
  if (starts_with(first, "JAVA PROFILE "))
    return first.find('\0') == std::string::npos ? read_text_profile(in, profile, error)
                                                 : read_binary_profile(in, profile, error);
  const FileKind kind = kind_of(in);
  if (starts_with(first, "count callee caller time")) return read_call_list(in, profile, error);
  if (starts_with(first, kCountsHead)) return read_counts_profile(in, profile, error);
  if (starts_with(first, "<!doctype html>")) {
    *error = "a page, which only hprof view reads, by itself";
    return false;
  }
  switch (kind.profile) {
    case ProfileKind::kFolded:
      return read_folded_profile(in, profile, error);
    case ProfileKind::kPprof:
      return read_pprof_profile(in, profile, error);
    case ProfileKind::kJfr:
      return read_jfr_profile(in, profile, error);
    case ProfileKind::kJson:
      return read_json_profile(in, profile, error);
    case ProfileKind::kOtlp:
      return read_otlp_profile(in, profile, error);
    case ProfileKind::kNone:
      break;
  }
  if (!kind.name.empty()) {
    *error = "cannot read " + kind.name +
             "; use a report of hprof, a recording of JFR, a pprof profile or folded stacks";
    return false;
  }
  return kind.is_binary ? read_pprof_profile(in, profile, error) : read_folded_profile(in, profile, error);
}

// Moves the notes "cpu=samples: threads, each with its nid: 200001 4711, 200002 4712" to the threads.
void take_nids(std::vector<std::string>* notes, Profile* profile) {
  std::map<uint64_t, uint64_t> nids;
  const auto take = [&](const std::string& note) {
    Scan scan(note);
    uint64_t serial = 0, nid = 0;
    if (!scan.maybe("cpu=samples: threads, each with its nid: ")) return false;
    while (scan.decimal(&serial) && scan.literal(" ") && scan.decimal(&nid)) {
      nids[serial] = nid;
      scan.maybe(", ");
    }
    return true;
  };
  notes->erase(std::remove_if(notes->begin(), notes->end(), take), notes->end());
  for (ProfileThread& thread : profile->all_threads) {
    const auto found = nids.find(thread.serial);
    if (found != nids.end()) thread.nid = found->second;
  }
}

}  // namespace

bool read_profile(ByteSource& source, Profile* profile, std::string* error) {
  Input in(source);
  if (!read_by_kind(in, profile, error)) return false;
  take_session(profile);
  take_nids(&profile->notes, profile);
  for (ProfileWindow& window : profile->windows) take_nids(&window.notes, profile);
  if (rows_fit(*profile, in.offset())) return true;
  *error = "byte " + std::to_string(in.offset()) + ": " + Expansion::kProblem;
  return false;
}

}  // namespace hprof::tool
