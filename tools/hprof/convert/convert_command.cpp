// hprof convert FILE --to=FORMAT: a profile in another format.
#include <iostream>

#include "tools/hprof/command.h"
#include "tools/hprof/convert/convert.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

int write_file(const std::string& target, const std::string& bytes) {
  std::string error;
  const int file = os::create_private_file(target, true, &error);
  if (file < 0) return fail(error);
  const bool written = os::write_all(file, bytes.data(), bytes.size(), &error);
  os::close_file(file);
  if (!written) return fail("cannot write " + target + ": " + error);
  std::cout << target << '\n';
  return kDone;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::string error;
  const std::string path = os::absolute_path(other, &error);
  return !path.empty() && path == os::absolute_path(one, &error);
}

}  // namespace

int convert_command(const Arguments& arguments) {
  std::string file, target, format;
  ConvertOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-o") {
      if (++i == arguments.size()) return misuse("convert", "-o needs a file");
      target = arguments[i];
    } else if (option_value(argument, "--to", &format) || option_value(argument, "--table", &options.table) ||
               option_value(argument, "--weight", &options.weight)) {
      continue;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return misuse("convert", "unknown option " + argument);
    } else if (file.empty()) {
      file = argument;
    } else {
      return misuse("convert", "one FILE");
    }
  }
  if (file.empty()) return misuse("convert", "which FILE?");
  if (format.empty()) return misuse("convert", "--to=FORMAT is missing; one of " + format_names());
  const hprof_unit* encoder = encoder_of(format);
  if (encoder == nullptr) return misuse("convert", "no format '" + format + "'; one of " + format_names());
  if (target.empty()) target = file + suffix_of(*encoder);
  if (is_same_file(file, target)) return fail(target + " is the file to be converted: -o names another");
  Profile profile;
  std::string error, bytes;
  if (!read_profile(file, &profile, &error)) {
    std::cerr << "hprof: " << error << '\n';
    return kFoundProblems;
  }
  std::vector<std::string> said;
  if (!convert_profile(profile, *encoder, options, &bytes, &said, &error)) return fail(file + ": " + error);
  for (const std::string& line : said) std::cerr << "hprof: " << file << ": " << line << '\n';
  if (target != "-") return write_file(target, bytes);
  constexpr int kStdout = 1;
  if (os::is_terminal(kStdout)) {
    std::cout << bytes;
    return kDone;
  }
  return os::write_all(kStdout, bytes.data(), bytes.size(), &error)
             ? kDone
             : fail("cannot write to stdout: " + error);
}

}  // namespace hprof::tool
