// Writes the classes of a generated header as class files: dump DIRECTORY
#include <cstdio>
#include <filesystem>
#include <string>

#include HPROF_JAVA_HEADER

static bool write(const char* directory, const char* name, const uint8_t* bytes, size_t size) {
  const std::filesystem::path path = std::filesystem::path(directory) / (std::string(name) + ".class");
  std::filesystem::create_directories(path.parent_path());
  FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool good = std::fwrite(bytes, 1, size, file) == size;
  return std::fclose(file) == 0 && good;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  bool good = true;
#define HPROF_ROW(name, bytes) good = good && write(argv[1], name, bytes, sizeof bytes);
  HPROF_JAVA_CLASSES(HPROF_ROW)
#undef HPROF_ROW
  return good ? 0 : 1;
}
