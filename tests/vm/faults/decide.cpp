#include "tests/vm/faults/decide.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

namespace faults {

namespace {

struct Library {
  uintptr_t from, to;
  char name[32];
};

constexpr uint32_t kLibraries = 32;
Library libraries[kLibraries];
std::atomic<uint32_t> library_count{0};

// A call site, found by its address. Filled in by whoever takes the place; never given back.
struct Site {
  std::atomic<uintptr_t> caller;
  std::atomic<const char*> name;
  std::atomic<uint32_t> calls, failed;
};
constexpr uint32_t kSites = 1u << 13;
Site sites[kSites];

enum class Rule : uint32_t { kFail, kAlways, kEvery, kRandom };
struct Wish {
  Rule rule;
  char function[64];
  char library[32];
  uint64_t offset;
  uint64_t n;     // #n, k
  uint64_t seed;  // or the first
};
constexpr uint32_t kWishes = 32;
Wish wishes[kWishes];
uint32_t wish_count;
char only[32];
std::atomic<uint64_t> all_calls{0};

int add_library(dl_phdr_info* info, size_t, void*) {
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash != nullptr ? slash + 1 : info->dlpi_name;
  bool ours = strcmp(name, "libhprof.so") == 0 || strstr(info->dlpi_name, "/hprof/plugins/") != nullptr;
  uint32_t count = library_count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; i++) ours = ours && libraries[i].from != info->dlpi_addr;
  if (!ours || count == kLibraries) return 0;
  Library& library = libraries[count];
  library.from = library.to = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && end > library.to) library.to = end;
  }
  snprintf(library.name, sizeof library.name, "%s", name);
  library_count.store(count + 1, std::memory_order_release);
  return 0;
}

const Library* library_of(uintptr_t code) {
  uint32_t count = library_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; i++) {
    if (code >= libraries[i].from && code < libraries[i].to) return &libraries[i];
  }
  return nullptr;
}

Site* site_of(uintptr_t caller, const char* name) {
  uint64_t hash = (caller ^ reinterpret_cast<uintptr_t>(name) << 7) * 0x9E3779B97F4A7C15ull >> 40;
  for (uint32_t i = 0; i < kSites; i++) {
    Site& site = sites[(hash + i) % kSites];
    uintptr_t nobody = 0;
    if (site.caller.compare_exchange_strong(nobody, caller)) {
      site.name.store(name, std::memory_order_release);
      return &site;
    }
    if (nobody != caller) continue;
    const char* known;
    while ((known = site.name.load(std::memory_order_acquire)) == nullptr) {
    }
    if (known == name) return &site;
  }
  return nullptr;
}

uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9ull;
  value = (value ^ value >> 27) * 0x94D049BB133111EBull;
  return value ^ value >> 31;
}

bool matches(const Wish& wish, const char* name, uintptr_t caller, uint32_t call, uint64_t number) {
  switch (wish.rule) {
    case Rule::kAlways:
      return strcmp(wish.function, name) == 0;
    case Rule::kEvery:
      return number % wish.n == wish.seed % wish.n;
    case Rule::kRandom:
      return mixed(wish.seed * 1000003 + number) % wish.n == 0;
    case Rule::kFail:
      break;
  }
  if (call != wish.n || strcmp(wish.function, name) != 0) return false;
  const Library* library = library_of(caller);
  return library != nullptr && caller - library->from == wish.offset &&
         strcmp(library->name, wish.library) == 0;
}

void read_rule(char* text) {
  char* value = strchr(text, '=');
  if (value == nullptr || wish_count == kWishes) return;
  *value++ = '\0';
  Wish& wish = wishes[wish_count];
  if (strcmp(text, "only") == 0) {
    snprintf(only, sizeof only, "%s", value);
    return;
  }
  bool good = false;
  unsigned long long offset = 0, n = 0, seed = 0;
  if (strcmp(text, "fail") == 0) {
    wish.rule = Rule::kFail;
    good = sscanf(value, "%63[^@]@%31[^+]+%llx#%llu", wish.function, wish.library, &offset, &n) == 4;
  } else if (strcmp(text, "always") == 0) {
    wish.rule = Rule::kAlways;
    good = sscanf(value, "%63s", wish.function) == 1;
  } else if (strcmp(text, "every") == 0) {
    wish.rule = Rule::kEvery;
    good = sscanf(value, "%llu+%llu", &n, &seed) == 2 && n != 0;
  } else if (strcmp(text, "random") == 0) {
    wish.rule = Rule::kRandom;
    good = sscanf(value, "%llu/%llu", &seed, &n) == 2 && n != 0;
  }
  wish.offset = offset;
  wish.n = n;
  wish.seed = seed;
  if (!good) {
    fprintf(stderr, "faults: bad rule: %s=%s\n", text, value);
    _exit(99);
  }
  wish_count++;
}

__attribute__((constructor)) void read_rules() {
  static char rules[2048];
  const char* text = getenv("HPROF_FAULTS");
  if (text == nullptr) return;
  snprintf(rules, sizeof rules, "%s", text);
  char* rest = nullptr;
  for (char* rule = strtok_r(rules, ",", &rest); rule != nullptr; rule = strtok_r(nullptr, ",", &rest))
    read_rule(rule);
}

// Nothing where the agent was not loaded: the preloaded library is in processes on the way to the VM, too.
__attribute__((destructor)) void write_log() {
  const char* path = getenv("HPROF_FAULTS_LOG");
  if (path == nullptr || library_count.load() == 0) return;
  FILE* file = fopen(path, "w");
  if (file == nullptr) return;
  for (const Site& site : sites) {
    const char* name = site.name.load();
    if (name == nullptr) continue;
    const Library* library = library_of(site.caller.load());
    fprintf(file, "%s %s+%llx %u %u\n", name, library != nullptr ? library->name : "?",
            static_cast<unsigned long long>(library != nullptr ? site.caller.load() - library->from : 0),
            site.calls.load(), site.failed.load());
  }
  fclose(file);
}

}  // namespace

bool is_agents(const void* code) { return library_of(reinterpret_cast<uintptr_t>(code)) != nullptr; }

void libraries_changed() {
  static std::atomic<bool> busy{false};
  while (busy.exchange(true, std::memory_order_acquire)) {
  }
  dl_iterate_phdr(&add_library, nullptr);
  busy.store(false, std::memory_order_release);
}

bool fails(const char* name, const void* caller) {
  auto code = reinterpret_cast<uintptr_t>(caller);
  Site* site = site_of(code, name);
  if (site == nullptr) return false;
  uint32_t call = site->calls.fetch_add(1) + 1;
  bool counted = only[0] == '\0' || strncmp(name, only, strlen(only)) == 0;
  uint64_t number = counted ? all_calls.fetch_add(1) + 1 : 0;
  for (uint32_t i = 0; i < wish_count; i++) {
    bool wide = wishes[i].rule == Rule::kEvery || wishes[i].rule == Rule::kRandom;
    if ((wide && !counted) || !matches(wishes[i], name, code, call, number)) continue;
    site->failed.fetch_add(1);
    return true;
  }
  return false;
}

}  // namespace faults
