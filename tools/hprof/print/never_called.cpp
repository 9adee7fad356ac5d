#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "tools/format/utf8.h"
#include "tools/hprof/print/print.h"
#include "tools/hprof/print/profile_sums.h"

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

// True: it is the table of calls=y, from a format that has its rows without calls.
bool is_of_methods(const ProfileTable& table) {
  return (table.title == "METHOD_CALLS" || table.title == "METHOD CALLS") && table.weights.size() == 1;
}

// The methods of a table by class; a method has a row for each thread.
std::map<std::string, ClassCalls> by_class(const Profile& profile, const ProfileTable& table) {
  std::map<std::string, std::map<std::string, uint64_t>> calls;
  for (const ProfileRow& row : table.rows) {
    for (const ProfileFrame& frame : frames_of(profile, row)) {
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

// Those with the most methods that were never called come first.
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
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const PackageCalls& a, const PackageCalls& b) { return a.never > b.never; });
  return sorted;
}

std::string part(size_t never, size_t methods) {
  return std::to_string(never) + " of " + std::to_string(methods) + (methods == 1 ? " method" : " methods");
}

}  // namespace

bool print_never_called(const Profile& profile, const PrintOptions& options, std::ostream& out) {
  bool found = false;
  for (const LastTable& last : last_tables(profile)) {
    if (!is_of_methods(*last.table)) continue;
    found = true;
    const std::map<std::string, ClassCalls> classes = by_class(profile, *last.table);
    size_t never = 0, methods = 0, dead = 0;
    for (const auto& [name, of_class] : classes) {
      never += of_class.never.size();
      methods += of_class.methods;
      dead += of_class.never.empty() ? 0 : 1;
    }
    out << "never called: " << part(never, methods) << ", in " << dead << " of " << classes.size()
        << (classes.size() == 1 ? " class\n" : " classes\n");
    uint64_t shown = 0;
    for (const PackageCalls& package : by_package(classes)) {
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
      out << "  ... " << dead - options.top << " more"
          << (dead == options.top + 1 ? " class\n" : " classes\n");
  }
  return found;
}

}  // namespace hprof::tool
