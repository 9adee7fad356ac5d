#include "core/modules/hotspot/native_names.h"

#include <algorithm>

namespace hprof {

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Of the mangled form only _ZN [K] {length name} [C1|D1 ...] E and _ZL length name, with anything behind.
void NativeNames::write_symbol(Str symbol, TextWriter& to) {
  const Str plain = symbol.part(0, symbol.find('@'));  // a version of the linker's follows
  char room[sizeof(hprof_native_name::symbol)];
  TextWriter name(room, sizeof room);
  Str last;
  size_t at = 2;
  const bool is_mangled = plain.part(0, 2) == "_Z", is_nested = is_mangled && plain.part(2, 3) == "N";
  if (is_nested || plain.part(2, 3) == "L") at++;
  if (is_nested && plain.part(at, at + 1) == "K") at++;
  while (is_mangled && at < plain.size) {
    if (plain[at] == 'L' && is_nested) at++;
    size_t length = 0;
    while (at < plain.size && is_digit(plain[at]) && length < plain.size)
      length = length * 10 + static_cast<size_t>(plain[at++] - '0');
    const bool is_structor = length == 0 && at + 1 < plain.size && (plain[at] == 'C' || plain[at] == 'D') &&
                             is_digit(plain[at + 1]) && !last.empty();
    if (is_structor) {
      name.put("::").put(plain[at] == 'D' ? "~" : "").put(last);
      at += 2;
    } else if (length != 0 && length <= plain.size - at) {
      last = plain.part(at, at + length);
      name.put(name.size() == 0 ? "" : "::");
      name.put(last.part(0, 10) == "_GLOBAL__N" ? Str("{anonymous}") : last);
      at += length;
    } else {
      break;
    }
    if (!is_nested) break;
  }
  const bool is_whole =
      name.size() != 0 && (!is_nested || plain.part(at, at + 1) == "E") && plain.part(at, at + 1) != "I";
  to.put(is_whole ? name.text() : plain);
}

void NativeNames::forget(const Memory& memory, Library* library) {
  if (library->functions != nullptr)
    memory.release(memory.context, library->functions, library->function_count * sizeof(Function));
  platform::close_symbols(&library->table);
}

void NativeNames::close(const Memory& memory) {
  for (uint32_t i = 0; i < library_count_; i++) forget(memory, &libraries_[i]);
  library_count_ = 0;
}

// False: no functions, or no memory for them.
bool NativeNames::read_functions(const Memory& memory, Library* library) {
  const auto each = [&](auto&& take) {
    platform::Symbol symbol = {};
    for (uint32_t i = 0; i < library->table.count; i++) {
      if (platform::symbol_at(library->table, i, &symbol) && symbol.offset <= UINT32_MAX)
        take(static_cast<uint32_t>(symbol.offset), i);
    }
  };
  uint32_t count = 0, read = 0;
  each([&](uint32_t, uint32_t) { count++; });
  if (count == 0) return false;
  auto* functions = static_cast<Function*>(memory.allocate(memory.context, count * sizeof(Function)));
  if (functions == nullptr) return false;
  each([&](uint32_t offset, uint32_t symbol) {
    if (read < count) functions[read++] = {offset, symbol};
  });
  const auto precedes = [](const Function& a, const Function& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.symbol < b.symbol;
  };
  std::make_heap(functions, functions + read, precedes);
  std::sort_heap(functions, functions + read, precedes);
  library->functions = functions;
  library->function_count = count;
  for (uint32_t i = read; i < count; i++) functions[i] = {UINT32_MAX, 0};
  return true;
}

NativeNames::Library* NativeNames::library_of(const Memory& memory, uint64_t pc) {
  const uint64_t changes = platform::library_changes();
  if (changes != changes_) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < library_count_; i++) {
      platform::LoadedLibrary now;
      Library& known = libraries_[i];
      if (platform::find_library(known.at.begin, &now, nullptr) && now.base == known.at.base &&
          now.end == known.at.end && Str(now.name) == Str(known.at.name))
        libraries_[kept++] = known;
      else
        forget(memory, &known);
    }
    library_count_ = kept;
    changes_ = changes;
  }
  for (uint32_t i = 0; i < library_count_; i++) {
    if (pc >= libraries_[i].at.begin && pc < libraries_[i].at.end) return &libraries_[i];
  }
  if (library_count_ == kMostLibraries) close(memory);
  Library& library = libraries_[library_count_] = {};
  if (!platform::find_library(pc, &library.at, &library.table)) return nullptr;
  library_count_++;
  if (!read_functions(memory, &library)) platform::close_symbols(&library.table);
  return &library;
}

// The function that holds the offset: of several the innermost, of its aliases an exported one with the
// fewest leading underscores. nullptr: none.
const char* NativeNames::function_at(const Library& library, uint64_t offset) {
  constexpr uint32_t kMostAround = 16;
  const Function *begin = library.functions, *end = begin + library.function_count;
  const Function* at =
      std::upper_bound(begin, end, offset, [](uint64_t o, const Function& f) { return o < f.offset; });
  const char* best = nullptr;
  uint64_t best_offset = 0, best_cost = 0;
  for (uint32_t i = 0; i < kMostAround && at != begin; i++) {
    --at;
    platform::Symbol symbol = {};
    if (best != nullptr && at->offset != best_offset) break;
    if (!platform::symbol_at(library.table, at->symbol, &symbol) || symbol.offset != at->offset ||
        offset - symbol.offset >= symbol.bytes)
      continue;
    uint64_t cost = symbol.is_global ? 0 : 8;
    for (uint64_t k = 0; k < 8 && platform::guarded_read<char>(symbol.name, k) == '_'; k++) cost++;
    if (best == nullptr || cost <= best_cost) {
      best = symbol.name;
      best_offset = symbol.offset;
      best_cost = cost;
    }
  }
  return best;
}

void NativeNames::find(const Memory& memory, uint64_t pc, hprof_native_name* name) {
  *name = {};
  const Library* library = library_of(memory, pc);
  if (library == nullptr) return;
  TextWriter(name->owner, sizeof name->owner).put(Str(library->at.name));
  const char* symbol = function_at(*library, pc - library->at.base);
  if (symbol == nullptr) return;
  const uint32_t faults = platform::guarded_read_faults();
  char text[sizeof name->symbol];
  uint64_t size = 0;
  while (size + 1 < sizeof text && (text[size] = platform::guarded_read<char>(symbol, size)) != '\0') size++;
  TextWriter to(name->symbol, sizeof name->symbol);
  if (platform::guarded_read_faults() == faults) write_symbol(Str(text, size), to);
}

}  // namespace hprof
