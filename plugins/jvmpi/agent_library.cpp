#include "agent_library.h"

#include <cstring>

#include <hprof/cpp/service.hpp>
#include <hprof/cpp/text.hpp>

namespace hprof::jvmpi {

// The end of the path: the first colon, except for that of C:\agent.dll.
static const char* end_of_path(const char* agent) {
  const bool has_drive = agent[0] != 0 && agent[1] == ':' && (agent[2] == '\\' || agent[2] == '/');
  return std::strchr(agent + (has_drive ? 2 : 0), ':');
}

// Copies the options for one call, with a comma for each %2C.
char* AgentLibrary::fresh_options() {
  char* to = options_;
  for (const char* from = given_; *from != 0;) {
    const bool is_comma = from[0] == '%' && from[1] == '2' && (from[2] == 'C' || from[2] == 'c');
    *to++ = is_comma ? ',' : *from;
    from += is_comma ? 3 : 1;
  }
  *to = 0;
  return options_;
}

bool AgentLibrary::load(const char* agent, const std::atomic<bool>& wanted_jni, char* error,
                        uint32_t error_size) {
  TextBuffer why(error, error_size);
  const char* end = end_of_path(agent);
  TextBuffer path(path_, sizeof(path_));
  path.add(agent, end != nullptr ? static_cast<uint64_t>(end - agent) : std::strlen(agent));
  given_ = end != nullptr ? end + 1 : "";
  if (path.cut() || std::strlen(given_) >= sizeof(options_)) {
    why.add("the agent's path or its options are too long");
    return false;
  }
  const hprof_host* host = vm_.services.host;
  const auto* libraries = find_service<hprof_library_service>(host, HPROF_SERVICE_LIBRARY);
  if (libraries == nullptr) {
    why.add("this build loads no libraries");
    return false;
  }
  char problem[400] = {};
  const hprof_library* library = libraries->open(host, path_, problem, sizeof(problem));
  if (library == nullptr) {
    why.add(problem);
    return false;
  }
  void* symbol = libraries->symbol(host, library, "JVM_OnLoad");
  if (symbol == nullptr) {
    why.add(path_).add(" has no JVM_OnLoad: it is no JVMPI agent");
    return false;
  }
  std::memcpy(&on_load_, &symbol, sizeof(on_load_));
  if (on_load_(vm_.java_vm, fresh_options(), nullptr) == JNI_OK) return true;
  again_ = wanted_jni.load(std::memory_order_relaxed);
  if (!again_) why.add("JVM_OnLoad of ").add(path_).add(" has failed");
  return again_;
}

void AgentLibrary::try_again() {
  if (!again_) return;
  again_ = false;
  if (on_load_(vm_.java_vm, fresh_options(), nullptr) == JNI_OK) return;
  TextLine<kPathMost + 64> line;
  vm_.services.log->message(vm_.services.host,
                            line.add("jvmpi: JVM_OnLoad of ").add(path_).add(" has failed").c_str());
}

}  // namespace hprof::jvmpi
