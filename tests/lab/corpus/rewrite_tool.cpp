// Command-line driver of core/modules/bytecode/engine for tests: rewrites trees of class files, counts by
// reason, measures.
//
//   rewrite_tool [options] IN OUT     IN: a class file or a directory; OUT: a directory, "-" writes nothing
//     --probes=LIST   of enter,exit,unwind,sync,leaf,sites,times,all (default all)
//     --tracker=NAME  internal name of the tracker class (default java/lang/HprofTracker)
//     --skip=PREFIX   leave classes alone whose internal name begins so (may be repeated)
//     --field         add the field $hprof to java.lang.Thread
//     --first-id=N    number of the first method
//     --huge=N        the limit for methods that the VM would no longer compile (default 8000)
//     --ids=FILE      write "id class name descriptor" for each numbered method
//     --left=FILE     write "reason class name descriptor" for what was left
//     --repeat=N      rewrite all N times without writing, and print the best MB of input by second of CPU
//     time
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/modules/bytecode/engine/alloc_sites.h"
#include "core/modules/bytecode/engine/injector.h"

namespace fs = std::filesystem;
using namespace hprof;

namespace {

struct Options {
  std::string probes = "all";
  std::string tracker = "java/lang/HprofTracker";
  std::vector<std::string> skip;
  bool field = false;
  int32_t next_id = 0;
  uint32_t huge = 8000;
  std::string ids, left;
  int repeat = 1;
  std::vector<std::string> places;
};

struct Run {
  Options options;
  FILE* ids = nullptr;
  FILE* left = nullptr;
  int32_t next_id = 0;
};

std::string text(Span span) { return std::string(reinterpret_cast<const char*>(span.data), span.size); }

bool include_class(void* context, Span name, uint16_t) {
  for (const std::string& prefix : static_cast<Run*>(context)->options.skip) {
    if (name.size >= prefix.size() && std::memcmp(name.data, prefix.data(), prefix.size()) == 0) return false;
  }
  return true;
}

int32_t method_id(void* context, const MethodSite& site, uint32_t) {
  auto* run = static_cast<Run*>(context);
  if (run->ids != nullptr) {
    std::fprintf(run->ids, "%d %s %s %s\n", run->next_id, text(site.class_name).c_str(),
                 text(site.name).c_str(), text(site.descriptor).c_str());
  }
  return run->next_id++;
}

void left(void* context, const MethodSite& site, Reason reason) {
  auto* run = static_cast<Run*>(context);
  if (run->left == nullptr) return;
  std::fprintf(run->left, "%s: %s %s %s\n", reason_text(reason), text(site.class_name).c_str(),
               text(site.name).c_str(), text(site.descriptor).c_str());
}

bool value_of(const std::string& argument, const char* name, std::string* value) {
  std::string prefix = std::string("--") + name + "=";
  if (argument.compare(0, prefix.size(), prefix) != 0) return false;
  *value = argument.substr(prefix.size());
  return true;
}

bool parse_options(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i++) {
    std::string argument = argv[i];
    std::string value;
    if (value_of(argument, "probes", &options->probes) || value_of(argument, "tracker", &options->tracker) ||
        value_of(argument, "ids", &options->ids) || value_of(argument, "left", &options->left)) {
      continue;
    }
    if (value_of(argument, "skip", &value)) {
      options->skip.push_back(value);
    } else if (value_of(argument, "first-id", &value)) {
      options->next_id = std::atoi(value.c_str());
    } else if (value_of(argument, "huge", &value)) {
      options->huge = static_cast<uint32_t>(std::atoi(value.c_str()));
    } else if (value_of(argument, "repeat", &value)) {
      options->repeat = std::atoi(value.c_str());
    } else if (argument == "--field") {
      options->field = true;
    } else if (argument[0] == '-' && argument != "-") {
      std::fprintf(stderr, "rewrite_tool: unknown option %s\n", argument.c_str());
      return false;
    } else {
      options->places.push_back(argument);
    }
  }
  return options->places.size() == 2;
}

bool add_probes(const std::string& list, ProbeSet* set) {
  static const std::map<std::string, uint32_t> kNames = {
      {"enter", kProbeBegin},    {"exit", kProbeEnd},
      {"unwind", kProbeUnwind},  {"sync", kProbeHandler},
      {"leaf", kProbeLeaf},      {"times", kProbesOfTimes},
      {"sites", kProbesOfSites}, {"values", kProbeBegin | kProbeEnd | kProbeArguments | kProbeResult},
      {"all", kProbeAll}};
  for (size_t at = 0; at <= list.size();) {
    size_t comma = list.find(',', at);
    if (comma == std::string::npos) comma = list.size();
    auto found = kNames.find(list.substr(at, comma - at));
    if (found == kNames.end()) return false;
    if (found->second & kProbesOfSites) add_allocation_probes(set);
    set->users[0].probes |= found->second;
    at = comma + 1;
  }
  return true;
}

struct File {
  fs::path path;  // relative
  std::vector<uint8_t> bytes;
};

std::vector<File> read_all(const fs::path& in) {
  std::vector<File> files;
  auto read = [&](const fs::path& path, const fs::path& relative) {
    std::ifstream stream(path, std::ios::binary);
    files.push_back({relative, std::vector<uint8_t>(std::istreambuf_iterator<char>(stream), {})});
  };
  if (fs::is_regular_file(in)) {
    read(in, in.filename());
    return files;
  }
  for (const auto& entry : fs::recursive_directory_iterator(in)) {
    if (entry.is_regular_file() && entry.path().extension() == ".class") {
      read(entry.path(), fs::relative(entry.path(), in));
    }
  }
  return files;
}

void* allocate(void*, size_t size) { return std::malloc(size); }
void release(void*, void* block, size_t) { std::free(block); }

struct Totals {
  uint64_t classes[kReasonCount] = {};
  uint64_t bytes_in = 0, bytes_out = 0;
  RewriteCounts counts;
};

void add(const RewriteCounts& counts, RewriteCounts* totals) {
  totals->methods += counts.methods;
  totals->handlers += counts.handlers;
  totals->handlers_left_out += counts.handlers_left_out;
  totals->allocations += counts.allocations;
  totals->islands += counts.islands;
  totals->users[0].begun += counts.users[0].begun;
  totals->users[0].leaves += counts.users[0].leaves;
  for (uint32_t i = 0; i < kReasonCount; i++) totals->users[0].left[i] += counts.users[0].left[i];
}

double rewrite_all(const std::vector<File>& files, const ProbeSet& probes, Scratch& scratch,
                   const fs::path* out, Totals* totals) {
  std::vector<uint8_t> result_bytes;
  std::clock_t begin = std::clock();
  for (const File& file : files) {
    RewriteResult result;
    rewrite({file.bytes.data(), static_cast<uint32_t>(file.bytes.size())}, 0, probes, scratch, &result);
    if (result.reason == Reason::kRewritten) {
      result_bytes.resize(result.size);
      copy_result(result, result_bytes.data());
    }
    totals->classes[static_cast<uint32_t>(result.reason)]++;
    totals->bytes_in += file.bytes.size();
    totals->bytes_out += result.reason == Reason::kRewritten ? result.size : file.bytes.size();
    add(result.counts, &totals->counts);
    if (out == nullptr) continue;
    const std::vector<uint8_t>& bytes = result.reason == Reason::kRewritten ? result_bytes : file.bytes;
    fs::create_directories((*out / file.path).parent_path());
    std::ofstream stream(*out / file.path, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

void print(const Totals& totals, size_t files, double best) {
  for (uint32_t i = 0; i < kReasonCount; i++) {
    if (totals.classes[i] != 0) {
      std::printf("classes %s: %llu\n", reason_text(static_cast<Reason>(i)),
                  static_cast<unsigned long long>(totals.classes[i]));
    }
  }
  const RewriteCounts& counts = totals.counts;
  std::printf("methods %u, entered %u, leaves %u, syncs %u (left out %u), allocations %u, islands %u\n",
              counts.methods, counts.users[0].begun, counts.users[0].leaves, counts.handlers,
              counts.handlers_left_out, counts.allocations, counts.islands);
  for (uint32_t i = 0; i < kReasonCount; i++) {
    if (counts.users[0].left[i] != 0) {
      std::printf("methods left, %s: %u\n", reason_text(static_cast<Reason>(i)), counts.users[0].left[i]);
    }
  }
  const double megabytes_in = static_cast<double>(totals.bytes_in) / 1e6;
  const double megabytes_out = static_cast<double>(totals.bytes_out) / 1e6;
  std::printf("%zu files, %.2f MB in, %.2f MB out, %.1f MB/s\n", files, megabytes_in, megabytes_out,
              megabytes_in / best);
}

}  // namespace

int main(int argc, char** argv) {
  Run run;
  if (!parse_options(argc, argv, &run.options)) {
    std::fprintf(stderr, "usage: rewrite_tool [options] IN OUT\n");
    return 2;
  }
  const Options& options = run.options;
  ProbeSet probes;
  if (!add_probes(options.probes, &probes)) {
    std::fprintf(stderr, "rewrite_tool: unknown probe in %s\n", options.probes.c_str());
    return 2;
  }
  // As tests/lab/corpus/noop and behaviour name them.
  const char* names[kTargets] = {"enter",           "exit", "unwind", "sync",        "leaf",      "allocated",
                                 "allocatedArrays", "made", "caught", "constructed", "arguments", "result"};
  ProbesOfUser& user = probes.users[0];
  std::memcpy(user.targets, names, sizeof names);
  user.owner = options.tracker.c_str();
  probes.user_count = 1;
  probes.huge_method_bytes = options.huge;
  if (options.field) user.field = {"java/lang/Thread", "$hprof", "J", 0x1081};
  probes.context = &run;
  probes.include_class = include_class;
  probes.method_id = method_id;
  probes.left = left;
  std::vector<File> files = read_all(options.places[0]);
  Scratch scratch({nullptr, allocate, release}, 64u << 20);
  double best = 1e9;
  for (int i = 0; i < options.repeat; i++) {
    Totals totals;
    run.next_id = options.next_id;
    double seconds = rewrite_all(files, probes, scratch, nullptr, &totals);
    if (seconds < best) best = seconds;
  }
  // Not timed: it writes.
  run.next_id = options.next_id;
  if (!options.ids.empty()) run.ids = std::fopen(options.ids.c_str(), "w");
  if (!options.left.empty()) run.left = std::fopen(options.left.c_str(), "w");
  fs::path out = options.places[1];
  Totals totals;
  rewrite_all(files, probes, scratch, out == "-" ? nullptr : &out, &totals);
  print(totals, files.size(), best);
  if (run.ids != nullptr) std::fclose(run.ids);
  if (run.left != nullptr) std::fclose(run.left);
  std::printf("scratch %zu bytes\n", scratch.budget.used);
  return 0;
}
