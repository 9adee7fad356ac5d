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

// "8 11 17" -> "8, 11, 17"
std::string with_commas(const char* words) {
  std::string text;
  for (; *words != '\0'; words++) text += *words == ' ' ? std::string(", ") : std::string(1, *words);
  return text;
}

// "": those of the first row, which the page lists.
std::string versions(const Row& row) {
  return strcmp(row.seen, kRows[0].seen) == 0 ? "" : "; Java " + with_commas(row.seen);
}

std::string otherwise(const Row& row) {
  return row.option[0] == '\0' ? row.otherwise
                               : std::string(row.otherwise) + " Also with " + row.option + ".";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const bool changes = strcmp(arguments[1], "changes") == 0;
  printf("| item | what it is | verified by | otherwise |\n| --- | --- | --- | --- |\n");
  for (const Row& row : kRows) {
    if ((strcmp(row.effect, "changes") == 0 || strcmp(row.effect, "writes") == 0) != changes) continue;
    printf("| `%s`, %s%s | %s | %s | %s |\n", row.name, row.effect, versions(row).c_str(), row.what,
           row.proof, otherwise(row).c_str());
  }
  return 0;
}
