#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/format/wildcard.h"
#include "tools/hprof/print/profile_answer.h"
#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

namespace {

// True: the pattern is a class, a package, or either with *.
bool is_chosen(const std::string& pattern, const std::string& of_class) {
  return pattern.empty() || matches(pattern, of_class) || matches(pattern + ".*", of_class);
}

// The methods of a table by class; a method has a row for each thread.
std::map<std::string, NeverOfClass> by_class(const Profile& profile, const ProfileTable& table,
                                             const std::string& pattern) {
  std::map<std::string, std::map<std::string, uint64_t>> calls;
  for (const ProfileRow& row : table.rows) {
    for (const ProfileFrame& frame : frames_of(profile, row)) {
      if (!is_chosen(pattern, frame.class_name)) continue;
      std::string method = frame.method;
      if (frame.line > 0) method += ':' + std::to_string(frame.line);
      uint64_t& sum = calls[frame.class_name][method];
      sum = add_saturated(sum, row.values[0]);
    }
  }
  std::map<std::string, NeverOfClass> classes;
  for (const auto& [name, methods] : calls) {
    NeverOfClass& to = classes[name];
    to.name = name;
    to.methods = methods.size();
    for (const auto& [method, sum] : methods)
      if (sum == 0) to.never.push_back(method);
  }
  return classes;
}

// The program's come first, then those with the most methods that were never called.
std::vector<NeverOfPackage> by_package(const std::map<std::string, NeverOfClass>& classes) {
  std::map<std::string, NeverOfPackage> packages;
  for (const auto& [name, of_class] : classes) {
    const size_t dot = name.rfind('.');
    const std::string package = dot == std::string::npos ? "" : name.substr(0, dot);
    NeverOfPackage& to = packages[package];
    to.name = package;
    to.methods += of_class.methods;
    to.never += of_class.never.size();
    if (!of_class.never.empty()) to.classes.push_back(of_class);
  }
  std::vector<NeverOfPackage> sorted;
  for (auto& [name, package] : packages) {
    if (package.never == 0) continue;
    std::stable_sort(
        package.classes.begin(), package.classes.end(),
        [](const NeverOfClass& a, const NeverOfClass& b) { return a.never.size() > b.never.size(); });
    sorted.push_back(std::move(package));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const NeverOfPackage& a, const NeverOfPackage& b) {
    const bool is_own[] = {is_of_program(a.name + "."), is_of_program(b.name + ".")};
    return is_own[0] != is_own[1] ? is_own[0] : a.never > b.never;
  });
  return sorted;
}

// Since when calls are counted: "since the program's start".
std::string since_text(const Profile& profile) {
  std::string session;
  for (const auto& [key, value] : profile.about)
    if (key == kSession) session = value + ' ';
  const bool is_attached = session.find(kAttached) != std::string::npos;
  std::string text = session.find(" start=n ") != std::string::npos ? "since counting began"
                     : is_attached                                  ? "since the agent was attached"
                     : session.empty()                              ? "while calls were counted"
                                                                    : "since the program's start";
  if (is_attached && profile.created_ms != 0) text += ", " + date_text(profile.created_ms);
  return text;
}

std::string part(size_t never, size_t methods) {
  return std::to_string(never) + " of " + std::to_string(methods) + (methods == 1 ? " method" : " methods");
}

}  // namespace

bool is_of_methods(const ProfileTable& table) {
  return (table.title == "METHOD_CALLS" || table.title == "METHOD CALLS") && table.weights.size() == 1;
}

bool never_called(const Profile& profile, const std::string& package, NeverCalled* answer) {
  const std::vector<LastTable> tables = last_tables(profile);
  const auto last = std::find_if(tables.begin(), tables.end(),
                                 [](const LastTable& each) { return is_of_methods(*each.table); });
  if (last == tables.end()) return false;
  *answer = {};
  answer->since = since_text(profile);
  for (const std::string& note : profile.notes)
    if (note.rfind("calls: ", 0) == 0) answer->notes.push_back(note);
  const std::map<std::string, NeverOfClass> classes = by_class(profile, *last->table, package);
  answer->classes = classes.size();
  for (const auto& [name, of_class] : classes) {
    answer->never += of_class.never.size();
    answer->methods += of_class.methods;
    answer->dead += of_class.never.empty() ? 0 : 1;
  }
  answer->packages = by_package(classes);
  return true;
}

void print_never_called(const NeverCalled& answer, const PrintOptions& options, std::ostream& out) {
  const auto name_of = [](const NeverOfPackage& package) {
    return package.name.empty() ? "(no package)" : printable(package.name);
  };
  if (answer.classes == 0 && !options.package.empty()) {
    out << "no loaded class is " << printable(options.package) << " or in it\n";
  } else {
    out << "loaded, but never called " << answer.since << ": " << part(answer.never, answer.methods)
        << ", in " << answer.dead << " of " << answer.classes
        << (answer.classes == 1 ? " class\n" : " classes\n");
    const std::vector<NeverOfPackage>& packages = answer.packages;
    if (packages.size() > 1) {
      out << "\npackages\n";
      for (size_t i = 0; i < packages.size() && options.shows(i); ++i)
        out << padded(std::to_string(packages[i].never), 8) << " of " << packages[i].methods << "  "
            << name_of(packages[i]) << '\n';
      options.print_left_out(out, packages.size());
    }
    uint64_t shown = 0;
    for (const NeverOfPackage& package : packages) {
      if (!options.shows(shown)) break;
      out << '\n' << name_of(package) << ": " << part(package.never, package.methods) << '\n';
      for (const NeverOfClass& of_class : package.classes) {
        if (!options.shows(shown++)) break;
        out << "  " << printable(of_class.name) << ": " << part(of_class.never.size(), of_class.methods)
            << '\n';
        for (const std::string& method : of_class.never) out << "    " << printable(method) << '\n';
      }
    }
    if (options.top != 0 && answer.dead > options.top)
      out << "  ... " << answer.dead - options.top << " more"
          << (answer.dead == options.top + 1 ? " class" : " classes")
          << "; --package=NAME and --top=0 show them\n";
  }
  for (const std::string& note : answer.notes) out << "\nnote: " << printable(note) << '\n';
}

}  // namespace hprof::tool
