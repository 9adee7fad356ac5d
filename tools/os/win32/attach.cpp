// Reaching the VM of another process on Windows. Its attach mechanism is a function of jvm.dll, which a
// thread that is started in the process calls (JVM_EnqueueOperation, attachListener_windows.cpp); the VM then
// writes its answer to a named pipe. Windows gives the rights for that to the user of the process and to
// administrators.
#include "tools/os/attach.h"

#include <cstdio>
#include <cstring>

#include "platform/platform.h"
#include "platform/win32/local_socket.h"
#include "tools/os/os.h"
#include "tools/os/win32/vm_process.h"
// After windows.h.
#include <psapi.h>

namespace hprof::os {

namespace {

// The longest argument of an operation of the VM, with its NUL (AttachOperation::arg_length_max).
constexpr size_t kArgumentMost = 1024;
constexpr DWORD kRights = PROCESS_CREATE_THREAD | PROCESS_QUERY_INFORMATION | PROCESS_VM_OPERATION |
                          PROCESS_VM_WRITE | PROCESS_VM_READ;

// What the thread in the other process finds at its parameter.
struct Operation {
  void* function;
  char name[32], arguments[3][kArgumentMost], pipe[256];
};

std::string random_name() {
  unsigned char bytes[16];
  if (platform::random_bytes(bytes, sizeof bytes) != 0) return {};
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

int listen_at(const std::string& path, std::string* error) {
  platform::Socket listener;
  const int code = platform::local_listen(path.c_str(), &listener);
  if (code == 0) return static_cast<int>(listener.handle);
  char text[160];
  platform::error_text(code, text, sizeof text);
  *error = "cannot listen at " + path + ": " + text;
  return -1;
}

// Returns the socket if that process is its peer; else closes it, -1 with *error.
int checked_peer(int pid, int socket, std::string* error) {
  const uint32_t peer = platform::local_peer_process(platform::Socket{socket});
  if (peer == static_cast<uint32_t>(pid)) return socket;
  *error = process_name(static_cast<int>(peer)) + " answers in place of " + process_name(pid);
  close_socket(socket);
  return -1;
}

#if defined(__x86_64__) || defined(_M_X64)

// Calls the function of the Operation that rcx points to; the thread ends with its result.
std::string caller() {
  const auto offset = [](size_t at) {
    std::string bytes(4, '\0');
    const auto value = static_cast<uint32_t>(at);
    std::memcpy(&bytes[0], &value, sizeof value);
    return bytes;
  };
  const auto argument = [&](size_t index) {
    return offset(offsetof(Operation, arguments) + index * kArgumentMost);
  };
  return std::string("\x48\x83\xec\x38", 4) +                                  // sub rsp, 56
         std::string("\x48\x89\xc8", 3) +                                      // mov rax, rcx
         std::string("\x4c\x8d\x90", 3) + offset(offsetof(Operation, pipe)) +  // lea r10, [rax + pipe]
         std::string("\x4c\x89\x54\x24\x20", 5) +                              // mov [rsp + 32], r10
         std::string("\x4c\x8d\x88", 3) + argument(2) +                        // lea r9, [rax + third]
         std::string("\x4c\x8d\x80", 3) + argument(1) +                        // lea r8, [rax + second]
         std::string("\x48\x8d\x90", 3) + argument(0) +                        // lea rdx, [rax + first]
         std::string("\x48\x8d\x88", 3) + offset(offsetof(Operation, name)) +  // lea rcx, [rax + name]
         std::string("\xff\x10", 2) +                                          // call [rax]
         std::string("\x48\x83\xc4\x38", 4) +                                  // add rsp, 56
         std::string("\xc3", 1);                                               // ret
}

// Where JVM_EnqueueOperation is in the other process; null with *error.
void* enqueue_in(const Library& vm, std::string* error) {
  const HMODULE here = LoadLibraryExA(vm.path.c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES);
  unsigned char* function =
      here == nullptr ? nullptr
                      : reinterpret_cast<unsigned char*>(GetProcAddress(here, "JVM_EnqueueOperation"));
  if (function == nullptr) {
    *error = vm.path + " has no attach mechanism";
    if (here != nullptr) FreeLibrary(here);
    return nullptr;
  }
  unsigned char* there = vm.base + (function - reinterpret_cast<unsigned char*>(here));
  FreeLibrary(here);
  return there;
}

// Runs the operation on a thread of the process, and waits for it. False with *error.
bool enqueue(int pid, const Operation& operation, double seconds, std::string* error) {
  const Owned process(OpenProcess(kRights, FALSE, static_cast<DWORD>(pid)));
  if (!process) {
    *error = process_name(pid) + " cannot be accessed: " + last_text();
    return false;
  }
  const std::string code = caller();
  // The code stands behind the operation.
  const size_t size = sizeof operation + code.size();
  auto* there = static_cast<unsigned char*>(
      VirtualAllocEx(process.get(), nullptr, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE));
  DWORD before, result = 0;
  if (there == nullptr || !WriteProcessMemory(process.get(), there, &operation, sizeof operation, nullptr) ||
      !WriteProcessMemory(process.get(), there + sizeof operation, code.data(), code.size(), nullptr) ||
      !VirtualProtectEx(process.get(), there, size, PAGE_EXECUTE_READ, &before)) {
    *error = process_name(pid) + " cannot be written to: " + last_text();
    return false;
  }
  FlushInstructionCache(process.get(), there, size);
  const Owned thread(CreateRemoteThread(process.get(), nullptr, 0,
                                        reinterpret_cast<LPTHREAD_START_ROUTINE>(there + sizeof operation),
                                        there, 0, nullptr));
  if (!thread) {
    *error = "cannot start a thread in " + process_name(pid) + ": " + last_text();
  } else if (WaitForSingleObject(thread.get(), static_cast<DWORD>(seconds * 1000)) != WAIT_OBJECT_0) {
    *error = process_name(pid) + " has not answered in " + std::to_string(static_cast<int>(seconds)) + " s";
    return false;  // the thread may still use the memory
  } else if (!GetExitCodeThread(thread.get(), &result) || result != 0) {
    *error = result == 100
                 ? process_name(pid) +
                       " runs with -XX:+DisableAttachMechanism, so that nothing can attach; start the "
                       "program with the agent: hprof run cpu=samples,start=n,control=y -- java ..."
                 : "the VM of " + process_name(pid) + " refused: " + std::to_string(result);
  }
  VirtualFreeEx(process.get(), there, 0, MEM_RELEASE);
  return error->empty();
}

#else

void* enqueue_in(const Library&, std::string* error) {
  *error =
      "attaching to a VM of 32 bits is not supported; use: jcmd PID JVMTI.agent_load LIBRARY \"OPTIONS\"";
  return nullptr;
}
bool enqueue(int, const Operation&, double, std::string*) { return false; }

#endif

}  // namespace

bool find_jvm(int pid, Jvm* jvm, std::string* error) {
  *jvm = Jvm{};
  jvm->pid = jvm->pid_there = pid;
  Library vm, agent;
  if (!libraries(pid, &vm, &agent, error)) return false;
  jvm->agent = agent.path;
  if (!vm.path.empty()) return true;
  *error = process_name(pid) + " is no Java VM (jps -l lists them)";
  return false;
}

bool become(const Jvm&, std::string*) { return true; }
void become_caller() {}
std::string user_name(uint32_t user) { return std::to_string(user); }

uint64_t memory_of(int pid) {
  const Owned process(
      OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, static_cast<DWORD>(pid)));
  PROCESS_MEMORY_COUNTERS counters{};
  return process && GetProcessMemoryInfo(process.get(), &counters, sizeof counters) ? counters.PagefileUsage
                                                                                    : 0;
}

// All processes have the same files.
FileId file_id(const std::string& path) { return {0, file_exists(path) ? 1u : 0u}; }
bool is_same_there(const Jvm&, const std::string& path, const FileId& id, bool) {
  return id.number != 0 && file_exists(path);
}
std::string mode_there(const Jvm&, const std::string&) { return {}; }

const bool MeetingPlace::kHasFiles = false;
bool MeetingPlace::open(const Jvm& jvm, std::string* error) {
  jvm_ = jvm;
  folder_ = "hprof-" + random_name();
  if (folder_.size() > 6) return true;
  *error = "the system has no random numbers";
  return false;
}
MeetingPlace::~MeetingPlace() = default;
int MeetingPlace::listen(const std::string& name, std::string* error) {
  return listen_at(path_there(name), error);
}
int MeetingPlace::connect(const std::string& name, double seconds, std::string* error) {
  const int socket = connect_local(path_there(name), seconds, error);
  return socket < 0 ? -1 : checked_peer(jvm_.pid, socket, error);
}
void MeetingPlace::remove(const std::string&) {}
int MeetingPlace::open_file(const std::string&, std::string* error) {
  *error = "files are not exchanged with " + process_name(jvm_.pid);
  return -1;
}

int accept_jvm(const Jvm& jvm, int listener, double seconds, std::string* error) {
  platform::Socket peer;
  const int64_t deadline = platform::deadline_after_ms(static_cast<int64_t>(seconds * 1000));
  if (platform::socket_accept(platform::Socket{listener}, deadline, &peer) == 0)
    return checked_peer(jvm.pid, static_cast<int>(peer.handle), error);
  *error = "the agent in " + process_name(jvm.pid) + " does not answer";
  return -1;
}

bool StagedFiles::open(const Jvm& jvm, const std::string&, const std::vector<FileCopy>&, std::string* error) {
  *error = process_name(jvm.pid) + " does not see the agent's library";
  return false;
}
StagedFiles::~StagedFiles() = default;

int ask_vm(const Jvm& jvm, double seconds, const VmOperation& wanted, std::string* error) {
  error->clear();
  Operation operation{};
  Library vm, agent;
  const std::string pipe = "\\\\.\\pipe\\javatool" + random_name();
  for (size_t i = 0; i < 3; ++i) {
    const std::string& argument = wanted.arguments[i];
    if (argument.size() >= kArgumentMost) {
      *error = kTooLong;
      return -1;
    }
    std::memcpy(operation.arguments[i], argument.c_str(), argument.size() + 1);
  }
  if (!libraries(jvm.pid, &vm, &agent, error)) return -1;
  operation.function = enqueue_in(vm, error);
  if (operation.function == nullptr) return -1;
  std::snprintf(operation.name, sizeof operation.name, "%s", wanted.name);
  std::snprintf(operation.pipe, sizeof operation.pipe, "%s", pipe.c_str());
  const int listener = listen_at(pipe, error);
  if (listener < 0) return -1;
  const double deadline = monotonic_seconds() + seconds;
  int answer = -1;
  if (enqueue(jvm.pid, operation, seconds, error)) {
    answer = accept_jvm(jvm, listener, deadline - monotonic_seconds(), error);
  }
  close_socket(listener);
  return answer;
}

int connect_control(int pid, double seconds, Jvm* jvm, std::string* error) {
  if (!find_jvm(pid, jvm, error)) return -1;
  std::string ignored;
  const std::string path =
      "/tmp/hprof-" + std::to_string(platform::current_user()) + "-" + std::to_string(pid) + ".sock";
  const int socket = connect_local(path, seconds, &ignored);
  return socket < 0 ? -1 : checked_peer(pid, socket, error);
}

}  // namespace hprof::os
