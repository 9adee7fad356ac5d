// Which thread: the threads of a profile, and what only some of them did.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "tools/format/utf8.h"
#include "tools/format/wildcard.h"
#include "tools/hprof/print/profile_answer.h"

namespace hprof::tool {

namespace {

constexpr size_t kWidestName = 40;

// nullptr: the file has no more than the name of the trace's thread.
const ProfileThread* thread_of(const Profile& profile, uint64_t trace) {
  const auto place = profile.thread_places.find(trace);
  return place != profile.thread_places.end() ? &profile.all_threads[place->second] : nullptr;
}

// Threads of one name are told apart where they can be.
using ThreadKey = std::pair<const ProfileThread*, std::string>;

ThreadKey key_of(const Profile& profile, uint64_t trace) {
  const ProfileThread* thread = thread_of(profile, trace);
  const auto name = profile.threads.find(trace);
  return {thread, thread != nullptr ? thread->name : name != profile.threads.end() ? name->second : ""};
}

// As it is printed.
std::string name_text(const ThreadSum& sum) {
  return (sum.name.empty() ? "(no thread)" : printable(sum.name)) + (sum.has_ended() ? " (ended)" : "");
}

std::string padded_right(const std::string& text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

// "4711 0x1267": jstack and logs have the one or the other.
std::string nid_text(const ProfileThread* thread) {
  if (thread == nullptr || thread->nid == 0) return "";
  char text[48];
  std::snprintf(text, sizeof text, "%llu 0x%llx", static_cast<unsigned long long>(thread->nid),
                static_cast<unsigned long long>(thread->nid));
  return text;
}

// True: the words name the thread.
bool chooses(const std::vector<std::string>& words, const std::string& name, uint64_t nid) {
  const std::string number = std::to_string(nid), hexadecimal = [nid] {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(nid));
    return std::string(text);
  }();
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return matches(word, name) || (nid != 0 && (word == number || word == hexadecimal));
  });
}

}  // namespace

bool names_threads(const Profile& profile, const ProfileTable& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const ProfileRow& row) { return profile.threads.count(row.trace) != 0; });
}

const std::pair<const std::string, uint64_t>& ThreadSum::top() const {
  return *std::max_element(tops.begin(), tops.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::vector<ThreadSum> thread_sums(const Profile& profile, const ProfileTable& table, size_t weight) {
  std::map<ThreadKey, ThreadSum> by_thread;
  for (const ProfileRow& row : table.rows) {
    if (row.values[weight] == 0) continue;
    const ThreadKey key = key_of(profile, row.trace);
    ThreadSum& sum = by_thread[key];
    sum.thread = key.first;
    sum.name = key.second;
    sum.sum += row.values[weight];
    const std::vector<ProfileFrame>& frames = frames_of(profile, row);
    sum.tops[frames.empty() ? kEmptyTrace : method_text(frames[0])] += row.values[weight];
  }
  std::vector<ThreadSum> sums;
  for (auto& [key, sum] : by_thread) sums.push_back(std::move(sum));
  std::stable_sort(sums.begin(), sums.end(),
                   [](const ThreadSum& a, const ThreadSum& b) { return a.sum > b.sum; });
  return sums;
}

void print_threads(const TableAnswer& answer, const PrintOptions& options, std::ostream& out) {
  constexpr size_t kColumn = 19;
  const std::vector<ThreadSum>& sums = answer.threads;
  size_t widest = std::string("thread").size(), widest_nid = 0;
  for (const ThreadSum& each : sums) {
    widest = std::max(widest, std::min(kWidestName, name_text(each).size()));
    widest_nid = std::max(widest_nid, nid_text(each.thread).size());
  }
  if (widest_nid != 0) widest_nid += 2;
  out << "   share" << padded(answer.column().title, kColumn)
      << padded(widest_nid != 0 ? "nid" : "", widest_nid) << "  " << padded_right("thread", widest)
      << "  top method, and its share of the thread\n";
  for (size_t i = 0; i < sums.size() && options.shows(i); ++i) {
    const ThreadSum& each = sums[i];
    const auto& [method, weight] = each.top();
    out << percent(each.sum, answer.sum) << padded(weight_text(answer.column(), each.sum), kColumn)
        << padded(nid_text(each.thread), widest_nid) << "  " << padded_right(name_text(each), widest) << "  "
        << printable(method) << percent(weight, each.sum) << '\n';
  }
  options.print_left_out(out, sums.size());
}

bool keep_threads(const std::string& names, Profile* profile, std::string* error) {
  if (profile->threads.empty()) {
    *error = "does not name threads: thread=y does";
    return false;
  }
  std::vector<std::string> words;
  std::istringstream list(names);
  for (std::string word; std::getline(list, word, ',');) words.push_back(word);
  std::set<uint64_t> kept;  // traces
  std::set<std::string> others;
  for (const auto& named : profile->threads) {
    const uint64_t trace = named.first;
    const auto [thread, name] = key_of(*profile, trace);
    if (chooses(words, name, thread != nullptr ? thread->nid : 0))
      kept.insert(trace);
    else
      others.insert(name);
  }
  std::vector<ProfileTable>& tables = profile->tables;
  for (ProfileTable& table : tables) {
    std::vector<ProfileRow>& rows = table.rows;
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const ProfileRow& row) { return kept.count(row.trace) == 0; }),
               rows.end());
    table.totals.clear();
  }
  tables.erase(std::remove_if(tables.begin(), tables.end(),
                              [](const ProfileTable& table) { return table.rows.empty(); }),
               tables.end());
  profile->plain_tables.clear();  // without stacks: of all threads
  if (!tables.empty()) return true;
  *error = "has nothing of a thread " + names + ", but of " + (others.empty() ? "none" : "");
  for (const std::string& name : others) {
    *error += (name == *others.begin() ? "" : ", ") + printable(name);
    if (error->size() > 300 && name != *others.rbegin()) {
      *error += " ...";
      break;
    }
  }
  return false;
}

}  // namespace hprof::tool
