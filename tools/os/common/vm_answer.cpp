// A VM in texts, and what it answers to the attach operation "load".
#include "platform/platform.h"
#include "tools/os/attach.h"

namespace hprof::os {

void pause_a_little() { platform::sleep_ns(20 * platform::kNanosPerMilli); }

std::string name_of(const Jvm& jvm) {
  return "process " + std::to_string(jvm.pid) + (jvm.command.empty() ? "" : " (" + jvm.command + ")");
}

// "0\n" and then, by version: "0", "return code: 0", or what went wrong.
bool understand_vm(const std::string& answer, std::string* text) {
  const size_t end = answer.find('\n');
  const std::string code = answer.substr(0, end);
  std::string rest = end == std::string::npos ? std::string() : answer.substr(end + 1);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.pop_back();
  *text = rest.empty() ? "result code " + code : rest;
  if (code != "0") return false;
  constexpr char kReturn[] = "return code: ";
  if (rest.rfind(kReturn, 0) == 0) rest = rest.substr(sizeof kReturn - 1);
  return rest.empty() || rest == "0";
}

bool comes_too_early(const std::string& text) {
  return text.find("only permitted in the live phase") != std::string::npos;
}

}  // namespace hprof::os
