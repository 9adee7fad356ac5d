#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "tools/format/utf8.h"
#include "tools/format/value_text.h"
#include "tools/format/wildcard.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_sums.h"
#include "tools/hprof/view/process_time.h"

namespace hprof::tool {

namespace {

struct ClassCalls {
  std::string name;
  std::vector<std::string> never;  // methods, with the lines where they begin
  size_t methods = 0;
};

struct PackageCalls {
  std::string name;
  std::vector<ClassCalls> classes;  // of which methods were never called
  size_t never = 0, methods = 0;
};

// True: the pattern is a class, a package, or either with *.
bool is_chosen(const std::string& pattern, const std::string& of_class) {
  return pattern.empty() || matches(pattern, of_class) || matches(pattern + ".*", of_class);
}

// The methods of a table by class; a method has a row for each thread.
std::map<std::string, ClassCalls> by_class(const Profile& profile, const ProfileTable& table,
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
  std::map<std::string, ClassCalls> classes;
  for (const auto& [name, methods] : calls) {
    ClassCalls& to = classes[name];
    to.name = name;
    to.methods = methods.size();
    for (const auto& [method, sum] : methods)
      if (sum == 0) to.never.push_back(method);
  }
  return classes;
}

// The program's come first, then those with the most methods that were never called.
std::vector<PackageCalls> by_package(const std::map<std::string, ClassCalls>& classes) {
  std::map<std::string, PackageCalls> packages;
  for (const auto& [name, of_class] : classes) {
    const size_t dot = name.rfind('.');
    const std::string package = dot == std::string::npos ? "(no package)" : name.substr(0, dot);
    PackageCalls& to = packages[package];
    to.name = package;
    to.methods += of_class.methods;
    to.never += of_class.never.size();
    if (!of_class.never.empty()) to.classes.push_back(of_class);
  }
  std::vector<PackageCalls> sorted;
  for (auto& [name, package] : packages) {
    if (package.never == 0) continue;
    std::stable_sort(
        package.classes.begin(), package.classes.end(),
        [](const ClassCalls& a, const ClassCalls& b) { return a.never.size() > b.never.size(); });
    sorted.push_back(std::move(package));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const PackageCalls& a, const PackageCalls& b) {
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

bool print_never_called(const Profile& profile, const PrintOptions& options, std::ostream& out) {
  bool found = false;
  for (const LastTable& last : last_tables(profile)) {
    if (!is_of_methods(*last.table)) continue;
    found = true;
    const std::map<std::string, ClassCalls> classes = by_class(profile, *last.table, options.package);
    size_t never = 0, methods = 0, dead = 0;
    for (const auto& [name, of_class] : classes) {
      never += of_class.never.size();
      methods += of_class.methods;
      dead += of_class.never.empty() ? 0 : 1;
    }
    if (classes.empty() && !options.package.empty()) {
      out << "no loaded class is " << printable(options.package) << " or in it\n";
      continue;
    }
    out << "loaded, but never called " << since_text(profile) << ": " << part(never, methods) << ", in "
        << dead << " of " << classes.size() << (classes.size() == 1 ? " class\n" : " classes\n");
    const std::vector<PackageCalls> packages = by_package(classes);
    if (packages.size() > 1) {
      out << "\npackages\n";
      for (size_t i = 0; i < packages.size() && options.shows(i); ++i)
        out << padded(std::to_string(packages[i].never), 8) << " of " << packages[i].methods << "  "
            << printable(packages[i].name) << '\n';
      options.print_left_out(out, packages.size());
    }
    uint64_t shown = 0;
    for (const PackageCalls& package : packages) {
      if (!options.shows(shown)) break;
      out << '\n' << printable(package.name) << ": " << part(package.never, package.methods) << '\n';
      for (const ClassCalls& of_class : package.classes) {
        if (!options.shows(shown++)) break;
        out << "  " << printable(of_class.name) << ": " << part(of_class.never.size(), of_class.methods)
            << '\n';
        for (const std::string& method : of_class.never) out << "    " << printable(method) << '\n';
      }
    }
    if (options.top != 0 && dead > options.top)
      out << "  ... " << dead - options.top << " more" << (dead == options.top + 1 ? " class" : " classes")
          << "; --package=NAME and --top=0 show them\n";
  }
  for (const std::string& note : profile.notes)
    if (note.rfind("calls: ", 0) == 0) out << "\nnote: " << printable(note) << '\n';
  return found;
}

}  // namespace hprof::tool
