// hprof_item_table changes|reads: the items of core/hotspot that change the VM, or the others, as Markdown
// for docs/hotspot.md.
#include <cstdio>
#include <cstring>
#include <string>

namespace {

struct Row {
  const char* name;
  const char* effect;
  const char* what;
  const char* seen;
  const char* proof;
  const char* otherwise;
  const char* option;
};
constexpr Row kRows[] = {
#define HPROF_ITEM(id, ...) {__VA_ARGS__},
#include "core/hotspot/items.def"
#undef HPROF_ITEM
};

std::string with_commas(const char* words) {
  std::string text;
  for (; *words != '\0'; words++) text += *words == ' ' ? std::string(", ") : std::string(1, *words);
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const bool changes = strcmp(arguments[1], "changes") == 0;
  printf("| item | effect | Java | what it is | verified by | otherwise | off with |\n");
  printf("| --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Row& row : kRows) {
    if ((strcmp(row.effect, "changes") == 0 || strcmp(row.effect, "writes") == 0) != changes) continue;
    printf("| `%s` | %s | %s | %s | %s | %s | `hotspot=-%s`%s%s |\n", row.name, row.effect,
           with_commas(row.seen).c_str(), row.what, row.proof, row.otherwise, row.name,
           row.option[0] != '\0' ? ", " : "", row.option);
  }
  return 0;
}
