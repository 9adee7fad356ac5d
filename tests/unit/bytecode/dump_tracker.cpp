// Writes the embedded tracker classes as class files: dump_tracker DIRECTORY [internal]
// "internal": as JDK 9 and later get them.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/bytecode/tracker_classes.h"

static void* allocate(void*, size_t size) { return std::malloc(size); }
static void release(void*, void* block, size_t) { std::free(block); }

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  using namespace hprof;
  Scratch scratch({nullptr, allocate, release}, 1u << 20);
  GrowBuffer out(scratch.budget);
  for (const TrackerClass& tracker : kTrackerClasses) {
    if (prepare_tracker(tracker, argc > 2, scratch, out) != Reason::kRewritten) return 1;
    std::filesystem::path path = std::filesystem::path(argv[1]) / (std::string(tracker.name) + ".class");
    std::filesystem::create_directories(path.parent_path());
    FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) return 1;
    bool good = std::fwrite(out.data(), 1, out.size(), file) == out.size();
    if (std::fclose(file) != 0 || !good) return 1;
  }
  return 0;
}
