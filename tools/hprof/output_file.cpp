#include "tools/hprof/output_file.h"

#include <algorithm>
#include <cctype>
#include <iostream>

#include "tools/format/ascii_lines.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

constexpr unsigned kLastNumber = 9999;
const std::string kPacked = ".gz";

}  // namespace

bool has_suffix(const std::string& path, const std::string& suffix) {
  return path.size() > suffix.size() && ends_with(path, suffix);
}

std::string without_gz(const std::string& path) {
  return has_suffix(path, kPacked) ? path.substr(0, path.size() - kPacked.size()) : path;
}

std::string suffix_of_name(const std::string& path) {
  const std::string plain = without_gz(path);
  const size_t name = plain.find_last_of("/\\") + 1, dot = plain.rfind('.');
  if (dot == std::string::npos || dot <= name) return "";
  const std::string suffix = plain.substr(dot + 1);
  const auto is = [](int (*kind)(int), char letter) { return kind(static_cast<unsigned char>(letter)) != 0; };
  if (suffix.empty() || !is(std::isalpha, suffix[0]) ||
      !std::all_of(suffix.begin(), suffix.end(), [&](char letter) { return is(std::isalnum, letter); }))
    return "";
  return "." + suffix;
}

std::string numbered(const std::string& name, const std::string& suffix, unsigned number) {
  const size_t stem = has_suffix(name, suffix) ? name.size() - suffix.size() : name.size();
  return name.substr(0, stem) + "." + std::to_string(number) + name.substr(stem);
}

bool is_file(const std::string& path) {
  std::string ignored;
  const int file = os::open_for_reading(path, &ignored);
  if (file < 0) return false;
  const bool is = os::file_size(file) != UINT64_MAX;
  os::close_file(file);
  return is;
}

bool choose_file(const std::string& wanted, const std::string& suffix, bool force, Taken taken,
                 std::string* path, std::string* error) {
  *path = wanted;
  if (wanted.empty() || wanted == "-") return true;
  if (os::file_exists(wanted + "/.")) {
    *error = wanted + " is a folder: -o names a file";
    return false;
  }
  if (force) return true;
  const auto is_kept = [taken](const std::string& name) {
    return taken == Taken::kAnything ? os::file_exists(name) : is_file(name);
  };
  for (unsigned n = 2; is_kept(*path); n++) {
    if (n > kLastNumber) {
      *error = wanted + " exists, and so do all its numbered names (--force replaces it)";
      return false;
    }
    *path = numbered(wanted, suffix, n);
  }
  return true;
}

void say_kept(const std::string& wanted, const std::string& path) {
  if (path != wanted)
    std::cerr << wanted << " is kept (--force replaces it): writing to " << path << std::endl;
}

int create_output(const Given& given, std::string wanted, const std::string& suffix, std::string* path) {
  std::string error;
  const bool force = given.has("--force");
  const int file = choose_file(wanted, suffix, force, Taken::kFiles, path, &error)
                       ? os::create_private_file(*path, force, &error)
                       : -1;
  if (file < 0)
    fail(error);
  else
    say_kept(wanted, *path);
  return file;
}

int write_output(const Given& given, const std::string& wanted, const std::string& suffix,
                 const std::string& bytes, std::string* path) {
  std::string error;
  const int file = create_output(given, wanted, suffix, path);
  if (file < 0) return kFailed;
  const bool written = os::write_all(file, bytes.data(), bytes.size(), &error);
  os::close_file(file);
  return written ? kDone : fail("cannot write " + *path + ": " + error);
}

}  // namespace hprof::tool
