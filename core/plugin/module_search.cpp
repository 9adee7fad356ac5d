// The places where modules are searched.
#include "core/plugin/module_search.h"

#include "core/plugin/option_row.h"

namespace hprof {
namespace {

bool put_path(char* path, Str folder, Str rest, Str more = Str()) {
  if (folder.empty()) return false;
  TextWriter out(path, kPathMost);
  out.put(folder).put(rest).put(more);
  return !out.cut();
}

struct Listing {
  FoundModules* found;
  Str suffix;
};

void insert_sorted(FoundModules* found, Str name) {
  uint32_t at = 0;
  while (at < found->count) {
    const int order = strncmp(found->names[at], name.data, name.size);
    if (order == 0 && found->names[at][name.size] == '\0') return;
    if (order >= 0) break;
    ++at;
  }
  if (found->count == kModulesMost) {
    ++found->left_out;
    return;
  }
  memmove(found->names[at + 1], found->names[at], (found->count - at) * sizeof(found->names[0]));
  memcpy(found->names[at], name.data, name.size);
  found->names[at][name.size] = '\0';
  ++found->count;
}

bool visit_file(void* argument, const char* file) {
  const Listing& listing = *static_cast<Listing*>(argument);
  const Str name(file);
  if (name.size <= listing.suffix.size) return true;
  const Str stem = name.part(0, name.size - listing.suffix.size);
  if (name.part(stem.size) != listing.suffix || !is_plain_name(stem, kModuleNameMost, false)) return true;
  // lib*: the agent itself, and ordinary libraries beside it.
  if (stem.part(0, 3) == "lib") return true;
  insert_sorted(listing.found, stem);
  return true;
}

}  // namespace

bool ModuleSearch::folder(uint32_t index, char* path) const {
  uint32_t number = 0;
  if (put_path(path, agent_folder, "/hprof/plugins") && number++ == index) return true;
  if (put_path(path, agent_folder, "") && number++ == index) return true;
  Str rest = plugin_folders;
  Str folder;
  while (next_part(&rest, loader.list_separator, &folder)) {
    if (put_path(path, folder, "") && number++ == index) return true;
  }
  return false;
}

bool ModuleSearch::find(Str module, char* path) const {
  uint32_t index = 0;
  return find_from(&index, module, path);
}

bool ModuleSearch::find_from(uint32_t* index, Str module, char* path) const {
  char name[kPathMost];
  for (; folder(*index, name); ++*index) {
    TextWriter out(path, kPathMost);
    out.put(name).put('/').put(module).put(loader.suffix);
    if (!out.cut() && loader.exists(loader.context, path)) return true;
  }
  return false;
}

bool ModuleSearch::find_absent_folder(char* path) const {
  Str rest = plugin_folders;
  Str folder;
  while (next_part(&rest, loader.list_separator, &folder)) {
    // A file has no "." in it.
    if (!put_path(path, folder, "/.") || loader.exists(loader.context, path)) continue;
    put_path(path, folder, "");
    return true;
  }
  return false;
}

void ModuleSearch::put_folders(TextWriter* out) const {
  char name[kPathMost];
  for (uint32_t i = 0; folder(i, name); ++i) {
    if (i != 0) out->put(loader.list_separator);
    out->put_printable(name, 160);
  }
}

void list_modules(const ModuleSearch& search, FoundModules* found) {
  found->count = 0;
  found->left_out = 0;
  Listing listing = {found, search.loader.suffix};
  char name[kPathMost];
  for (uint32_t i = 0; search.folder(i, name); ++i) {
    // Beside the agent there may be libraries of an application or a JDK, whose constructors would run.
    if (Str(name) == search.agent_folder) continue;
    search.loader.list(search.loader.context, name, visit_file, &listing);
  }
}

Str folder_of(Str path) {
  for (size_t i = path.size; i > 0; --i) {
    if (path[i - 1] == '/' || path[i - 1] == '\\') return path.part(0, i == 1 ? 1 : i - 1);
  }
  return ".";
}

}  // namespace hprof
