#include "tools/heap/questions/field_path.h"

#include <algorithm>

#include "tools/format/utf8.h"

namespace hprof::tool {

namespace {

constexpr size_t kMostPaths = 64;

const char* parse_step(const std::string& name, PathStep* step) {
  static constexpr struct {
    const char* name;
    StepKind kind;
  } kMade[] = {{"@class", StepKind::kClassName},
               {"@id", StepKind::kId},
               {"@shallow", StepKind::kOwnBytes},
               {"@retained", StepKind::kRetainedBytes}};
  if (name.empty()) return "a field is missing";
  if (name[0] != '@') return nullptr;
  for (const auto& each : kMade) {
    if (name != each.name) continue;
    step->kind = each.kind;
    return nullptr;
  }
  return "there are @class, @id, @shallow and @retained";
}

// Parses one path; "" or what is wrong.
std::string parse_path(const std::string& text, FieldPath* path) {
  path->text = text;
  auto wrong = [&](size_t at, const std::string& problem) { return marked(text, at, problem); };
  for (size_t at = 0; at <= text.size();) {
    if (path->steps.size() == kMostSteps) return wrong(at, "more than 32 steps");
    if (!path->steps.empty() && path->steps.back().kind > StepKind::kElement)
      return wrong(path->steps.back().begin, "nothing follows it");
    PathStep step{StepKind::kField, "", 0, at};
    if (at < text.size() && text[at] == '[') {
      size_t end = ++at;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      if (end == at || end - at > 9 || end == text.size() || text[end] != ']')
        return wrong(at, "the number of an element is missing, such as [0]");
      step.kind = StepKind::kElement;
      step.element = std::stoul(text.substr(at, end - at));
      at = end + 1;
    } else {
      const size_t end = std::min(text.find_first_of(".[", at), text.size());
      step.name = text.substr(at, end - at);
      if (const char* problem = parse_step(step.name, &step)) return wrong(at, problem);
      at = end;
    }
    path->steps.push_back(step);
    if (at == text.size()) break;
    if (text[at] == '.') {
      ++at;
    } else if (text[at] != '[') {
      return wrong(at, "a dot is missing");
    }
  }
  return "";
}

}  // namespace

std::string marked(const std::string& path, size_t at, const std::string& problem) {
  const std::string option = "--fields: ";
  return option + printable(path) + "\n" + std::string(sizeof "hprof: " - 1 + option.size() + at, ' ') +
         "^ " + problem;
}

std::string parse_paths(const std::string& text, std::vector<FieldPath>* paths) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    if (paths->size() == kMostPaths) return "--fields: more than 64 paths";
    paths->emplace_back();
    std::string problem = parse_path(text.substr(at, end - at), &paths->back());
    if (!problem.empty()) return problem;
    at = end + 1;
  }
  return "";
}

}  // namespace hprof::tool
