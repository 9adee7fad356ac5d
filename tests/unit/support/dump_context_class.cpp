// Writes the embedded class as a class file: dump_context_class DIRECTORY
#include <cstdio>
#include <filesystem>

#include "plugins/context/context_class.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  using namespace hprof::context;
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / "hprof";
  std::filesystem::create_directories(folder);
  FILE* file = std::fopen((folder / "Context.class").c_str(), "wb");
  if (file == nullptr) return 1;
  const bool good = std::fwrite(kClass, 1, kClassBytes, file) == kClassBytes;
  return std::fclose(file) == 0 && good ? 0 : 1;
}
