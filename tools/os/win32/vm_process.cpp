// Looks into another process. See tools/os/facts.h.
#include "tools/os/win32/vm_process.h"

#include <fstream>
#include <iterator>

#include "platform/platform.h"
#include "tools/os/facts.h"
#include "tools/os/os.h"
// After windows.h.
#include <psapi.h>
#include <tlhelp32.h>
#include <winternl.h>

namespace hprof::os {

namespace {

template <class T>
bool read_there(HANDLE process, const void* from, T* to, size_t size = sizeof(T)) {
  return ReadProcessMemory(process, from, to, size, nullptr) != 0;
}

// The words of its command line that may be options of a VM; empty: the process has another size of pointers.
std::vector<std::string> options_of(HANDLE process) {
  PROCESS_BASIC_INFORMATION basic{};
  PEB block;
  RTL_USER_PROCESS_PARAMETERS parameters;
  if (NtQueryInformationProcess(process, ProcessBasicInformation, &basic, sizeof basic, nullptr) != 0 ||
      !read_there(process, basic.PebBaseAddress, &block) ||
      !read_there(process, block.ProcessParameters, &parameters))
    return {};
  std::vector<WCHAR> line(parameters.CommandLine.Length / sizeof(WCHAR));
  if (!read_there(process, parameters.CommandLine.Buffer, line.data(), line.size() * sizeof(WCHAR)))
    return {};
  line.push_back(L' ');
  std::vector<std::string> options;
  std::string word;
  for (const WCHAR letter : line) {
    // No option that counts here has a blank or a letter beyond ASCII.
    if (letter != L' ' && letter != L'\t' && letter != L'"') {
      word += letter < 128 ? static_cast<char>(letter) : '?';
      continue;
    }
    if (word.rfind("-X", 0) == 0) options.push_back(word);
    word.clear();
  }
  return options;
}

void read_home(JvmFacts* facts) {
  // <home>\bin\server\jvm.dll; with JDK 8 <home>\jre\bin\server
  const std::string key = "JAVA_VERSION=\"";
  std::string folder = facts->libjvm;
  for (size_t slash; (slash = folder.find_last_of("/\\")) != std::string::npos;) {
    folder.resize(slash);
    std::ifstream file(folder + "\\release");
    const std::string release((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const size_t at = release.find(key);
    if (at == std::string::npos) continue;
    const size_t from = at + key.size();
    facts->home = folder;
    facts->version = release.substr(from, release.find('"', from) - from);
    return;
  }
}

void read_exports(JvmFacts* facts) {
  const HMODULE library = LoadLibraryExA(facts->libjvm.c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES);
  if (library == nullptr) return;
  facts->async_get_call_trace = GetProcAddress(library, "AsyncGetCallTrace") != nullptr;
  FreeLibrary(library);
}

}  // namespace

std::string process_name(int pid) { return "process " + std::to_string(pid); }

std::string last_text() {
  char text[256];
  platform::error_text(platform::last_error(), text, sizeof text);
  return text;
}

bool libraries(int pid, Library* vm, Library* agent, std::string* error) {
  const Owned snapshot(CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, static_cast<DWORD>(pid)));
  if (!snapshot) {
    *error = process_name(pid) + ": " + last_text();
    return false;
  }
  MODULEENTRY32 module{};
  module.dwSize = sizeof module;
  for (BOOL more = Module32First(snapshot.get(), &module); more;
       more = Module32Next(snapshot.get(), &module)) {
    Library* found = _stricmp(module.szModule, "jvm.dll") == 0    ? vm
                     : _stricmp(module.szModule, kAgentName) == 0 ? agent
                                                                  : nullptr;
    if (found != nullptr) *found = {module.szExePath, module.modBaseAddr};
  }
  return true;
}

bool jvm_facts(int pid, JvmFacts* facts, std::string* error) {
  *facts = JvmFacts();
  facts->pid = pid;
  const Owned process(
      OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, static_cast<DWORD>(pid)));
  if (!process && GetLastError() == ERROR_INVALID_PARAMETER) return true;
  Library vm, agent;
  if (!process) {
    *error = process_name(pid) + ": " + last_text() + ": run this as its user or as an administrator";
    return false;
  }
  if (!libraries(pid, &vm, &agent, error)) return false;
  facts->exists = facts->readable = true;
  facts->attach_socket = true;  // a function of jvm.dll takes its place
  facts->libjvm = vm.path;
  facts->agent = agent.path;
  facts->command = options_of(process.get());
  PROCESS_MEMORY_COUNTERS counters{};
  if (GetProcessMemoryInfo(process.get(), &counters, sizeof counters))
    facts->resident_bytes = static_cast<int64_t>(counters.WorkingSetSize);
  read_home(facts);
  read_exports(facts);
  return true;
}

}  // namespace hprof::os
