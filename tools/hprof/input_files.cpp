// The files that the words of a command line name.
#include <algorithm>

#include "tools/hprof/command.h"
#include "tools/os/os.h"

namespace hprof::tool {

namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// app-2.txt is before app-10.txt.
bool is_before(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [](const std::string& text, size_t* at) {
      const size_t zeros = std::min(text.find_first_not_of('0', *at), text.size());
      size_t end = zeros;
      while (end < text.size() && is_digit(text[end])) ++end;
      *at = end;
      return text.substr(zeros, end - zeros);
    };
    const std::string one = number(a, &i), other = number(b, &j);
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  return a.size() - i < b.size() - j;
}

// The paths of what is in a folder, without hidden files and folders; empty: `path` is none.
Arguments inside(const std::string& path) {
  Arguments paths;
  const std::string parent = path.back() == '/' ? path : path + '/';
  for (const std::string& name : os::names_in_folder(path)) {
    if (name[0] != '.' && os::names_in_folder(parent + name).empty()) paths.push_back(parent + name);
  }
  std::sort(paths.begin(), paths.end(), is_before);
  return paths;
}

}  // namespace

Arguments files_of(const Arguments& words) {
  Arguments files;
  for (const std::string& word : words) {
    const Arguments in_folder = word.empty() || word == "-" ? Arguments() : inside(word);
    if (in_folder.empty())
      files.push_back(word);
    else
      files.insert(files.end(), in_folder.begin(), in_folder.end());
  }
  return files;
}

}  // namespace hprof::tool
