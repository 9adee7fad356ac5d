// The command line of a JVM, and its files in its own view.
#include "tools/os/linux/proc.h"

namespace hprof::os {

namespace {

// Calls visit(part) for each part of a text, which may be empty; visit returns false to stop.
template <typename Visit>
void each_part(const std::string& text, const std::string& separators, Visit visit) {
  for (size_t from = 0; from < text.size();) {
    size_t end = text.find_first_of(separators, from);
    if (end == std::string::npos) end = text.size();
    if (!visit(text.substr(from, end - from))) return;
    from = end + 1;
  }
}

const std::string kZero(1, '\0');

// True: the java launcher takes the next word of the command line as this option's argument.
bool takes_next_word(const std::string& option) {
  static const std::string kOptions =
      " -cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules --limit-modules "
      "--add-exports --add-opens --add-reads --patch-module --enable-native-access --source ";
  return kOptions.find(" " + option + " ") != std::string::npos;
}

// Adds the words of the environment variable `name` to *words.
void add_words(const std::string& environment, const std::string& name, std::vector<std::string>* words) {
  each_part(environment, kZero, [&](const std::string& setting) {
    if (setting.compare(0, name.size() + 1, name + "=") != 0) return true;
    each_part(setting.substr(name.size() + 1), " \t\n", [&](const std::string& word) {
      if (!word.empty()) words->push_back(word);
      return true;
    });
    return false;
  });
}

}  // namespace

std::string path_inside(const std::string& process, const std::string& path) {
  const std::string root = link_target(process + "/root");
  if (path == root) return "/";
  const bool is_below = root.size() > 1 && path.compare(0, root.size() + 1, root + "/") == 0;
  return is_below ? path.substr(root.size()) : path;
}

std::string mapped_file(const std::string& process, const std::string& name) {
  std::string found;
  each_part(small_file(process + "/maps"), "\n", [&](const std::string& line) {
    const size_t slash = line.find('/');
    if (slash != std::string::npos && line.compare(line.rfind('/') + 1, name.size(), name) == 0)
      found = line.substr(slash);
    return true;
  });
  return path_inside(process, found);
}

CommandLine command_line(const std::string& process) {
  CommandLine line;
  const std::string environment = small_file(process + "/environ");
  add_words(environment, "JAVA_TOOL_OPTIONS", &line.options);
  add_words(environment, "JDK_JAVA_OPTIONS", &line.options);
  bool is_launcher = true, is_argument = false;
  each_part(small_file(process + "/cmdline"), kZero, [&](const std::string& word) {
    const bool is_option = is_launcher || is_argument || word.empty() || word[0] == '-';
    if (is_option && !is_launcher) line.options.push_back(word);
    if (!is_option) line.program = word;
    is_argument = !is_launcher && !is_argument && takes_next_word(word);
    is_launcher = false;
    return is_option;
  });
  add_words(environment, "_JAVA_OPTIONS", &line.options);
  return line;
}

}  // namespace hprof::os
