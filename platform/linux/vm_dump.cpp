// The VM's own heap dumper, through its attach socket and into pipes.
//
// GC.heap_dump needs a path. It gets a symbolic link, in a private folder, to /proc/self/fd/N, the write end
// of an anonymous pipe; -overwrite makes the VM accept an existing file. 22 and later also open <path>.p0,
// write the objects there, and at the end open it for reading and ask for its size, which is 0 for a pipe, so
// nothing is copied. We keep the write ends open until the VM has answered: its opening for reading must not
// wait, and the end of the data is known from the answer on the socket, not from an end of file.
#include <errno.h>
#include <fcntl.h>
#include <initializer_list>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/linux/attach_protocol.h"
#include "platform/platform.h"

namespace hprof::platform {
namespace {

constexpr int64_t kAttachMs = 5000;     // until the VM listens
constexpr int64_t kSilenceMs = 300000;  // without data or answer; the VM may first collect a large heap
constexpr int64_t kStepMs = 100;
constexpr const char* kFolderPrefix = "hprof-dump-";
constexpr const char* kFirstStream = "heap";
constexpr const char* kSecondStream = "heap.p0";
constexpr int64_t kYoungSeconds = 5;
constexpr int kPipeBytes = 1024 * 1024;
constexpr int kDescriptors = 6;  // of the connection, and of the VM for it and its files

int fail(char* reason, size_t size, const char* text, int code) {
  snprintf(reason, size, "%s", text);
  return code;
}

void socket_path(char* path, size_t size) { snprintf(path, size, "/tmp/%s%u", kAttachSocket, process_id()); }

bool is_listening() {
  char path[64];
  socket_path(path, sizeof path);
  struct stat status;
  return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid();
}

// False: SIGQUIT would end the process (-Xrs).
bool handles_quit() {
  struct sigaction action;
  return sigaction(SIGQUIT, nullptr, &action) == 0 && action.sa_handler != SIG_DFL &&
         action.sa_handler != SIG_IGN;
}

bool names_option(const char* text, size_t size, const char* option) {
  return text != nullptr && memmem(text, size, option, strlen(option)) != nullptr;
}

// With -XX:+DisableAttachMechanism SIGQUIT would print a thread dump on the application's standard output.
bool attaching_is_disabled() {
  constexpr const char* kOption = "-XX:+DisableAttachMechanism";
  for (const char* name : {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}) {
    const char* options = environment(name);
    if (options != nullptr && names_option(options, strlen(options), kOption)) return true;
  }
  char line[8192];
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t size = file >= 0 ? read(file, line, sizeof line) : 0;
  if (file >= 0) close(file);
  return size > 0 && names_option(line, static_cast<size_t>(size), kOption);
}

// Sends SIGQUIT, so that the VM creates its socket.
int ask_to_listen(char* reason, size_t reason_size) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/%s%u", kAttachTrigger, process_id());
  int file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0 && errno != EEXIST) return fail(reason, reason_size, "no attach file in /tmp", errno);
  if (file >= 0) close(file);
  kill(getpid(), SIGQUIT);
  int64_t deadline = deadline_after_ms(kAttachMs);
  int64_t pause = kNanosPerMilli;
  while (!is_listening() && monotonic_ns() < deadline) {
    sleep_ns(pause);
    if (pause < 50 * kNanosPerMilli) pause *= 2;
  }
  if (file >= 0) unlink(path);
  return is_listening() ? 0 : fail(reason, reason_size, "the VM does not listen", kErrorUnsupported);
}

int connect_to_vm(Socket* socket, char* reason, size_t reason_size) {
  char path[64];
  socket_path(path, sizeof path);
  if (is_listening() && local_connect(path, deadline_after_ms(kAttachMs), socket) == 0) return 0;
  int error = vm_heap_dump_available(reason, reason_size);
  if (error == 0) error = ask_to_listen(reason, reason_size);
  if (error != 0) return error;
  error = local_connect(path, deadline_after_ms(kAttachMs), socket);
  return error == 0 ? 0 : fail(reason, reason_size, "no connection to the VM", error);
}

int send_command(Socket socket, bool all, const char* path) {
  char line[160], request[256];
  snprintf(line, sizeof line, "GC.heap_dump %s-overwrite %s", all ? "-all " : "", path);
  const size_t size = put_attach_request(request, sizeof request, "jcmd", {line, "", ""});
  return socket_send_all(socket, request, size, deadline_after_ms(kAttachMs));
}

// Leftovers of killed processes.

// Removes folders of this user, named as for mkdtemp below, that are not locked: a process locks its folder
// during a dump.
bool remove_old_folder(void*, const char* name) {
  if (strncmp(name, kFolderPrefix, strlen(kFolderPrefix)) != 0 || strlen(name) != strlen(kFolderPrefix) + 6)
    return true;
  char path[64], link[80];
  snprintf(path, sizeof path, "/tmp/%s", name);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat status;
  if (folder < 0) return true;
  const bool ours = fstat(folder, &status) == 0 && status.st_uid == geteuid();
  // A new folder has no lock yet.
  if (ours && wall_ms() / 1000 - status.st_mtime >= kYoungSeconds && flock(folder, LOCK_EX | LOCK_NB) == 0) {
    for (const char* stream : {kFirstStream, kSecondStream}) {
      snprintf(link, sizeof link, "%s/%s", path, stream);
      unlink(link);
    }
    rmdir(path);
  }
  close(folder);
  return true;
}

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  char path[96] = "";

  bool open_at(const char* folder, const char* name) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    fcntl(read_end, F_SETFL, O_NONBLOCK);
    char target[48];
    snprintf(target, sizeof target, "/proc/self/fd/%d", write_end);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return symlink(target, path) == 0;
  }
  void end() {
    if (path[0] != 0) unlink(path);
    if (read_end >= 0) close(read_end);
    if (write_end >= 0) close(write_end);
  }
};

struct Dump {
  VmDumpTaker take;
  VmDumpGivesUp gives_up;
  void* context;
  Pipe streams[2];
  uint32_t stream_count;
  uint8_t* buffer;
  size_t buffer_size;
  uint64_t taken = 0;
  bool wanted = true;
  char answer[200] = "";
  size_t answer_size = 0;

  // Reads all available bytes of a stream; false: there were none.
  bool read_stream(uint32_t stream) {
    ssize_t count = read(streams[stream].read_end, buffer, buffer_size);
    if (count <= 0) return false;
    const bool begins = taken == 0;
    taken += static_cast<uint64_t>(count);
    if (wanted) wanted = take(context, stream, buffer, static_cast<size_t>(count));
    // The pipes hold 64 KiB until now, less than any dump, so the VM stops in the middle of one. If the
    // system refuses more, that is enough.
    for (uint32_t i = 0; begins && i < stream_count; i++)
      fcntl(streams[i].write_end, F_SETPIPE_SZ, kPipeBytes);
    return true;
  }
  // 0: the VM has sent the whole answer.
  int64_t read_answer(Socket socket) {
    char bytes[256];
    int64_t count = socket_receive(socket, bytes, sizeof bytes, 0);
    if (count == -kErrorTimedOut) return 1;
    for (int64_t i = 0; i < count && answer_size < sizeof answer - 1; i++) answer[answer_size++] = bytes[i];
    return count > 0 ? 1 : 0;
  }
  int pump(Socket socket, char* reason, size_t reason_size);

  // In short steps until the dump begins: the VM's attach thread may start to wait for the session.
  int wait_for_bytes(pollfd* polled) {
    const bool begun = taken != 0 || answer_size != 0;
    for (int64_t waited = 0; waited < kSilenceMs; waited += begun ? kSilenceMs : kStepMs) {
      const int ready = poll(polled, 1 + stream_count, static_cast<int>(begun ? kSilenceMs : kStepMs));
      if (ready != 0) return ready;
      if (!begun && gives_up(context)) return 0;
    }
    return 0;
  }
};

int Dump::pump(Socket socket, char* reason, size_t reason_size) {
  for (bool answered = false; !answered;) {
    pollfd polled[3] = {{static_cast<int>(socket.handle), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
    for (uint32_t i = 0; i < stream_count; i++) polled[1 + i].fd = streams[i].read_end;
    const int ready = wait_for_bytes(polled);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && taken == 0 && gives_up(context))
      return fail(reason, reason_size, "the VM's attach thread waits for the agent", kErrorUnsupported);
    if (ready <= 0) return fail(reason, reason_size, "the VM is silent", kErrorTimedOut);
    for (uint32_t i = 0; i < stream_count; i++) {
      if (polled[1 + i].revents != 0) read_stream(i);
    }
    if (polled[0].revents != 0 && read_answer(socket) == 0) answered = true;
  }
  for (uint32_t i = 0; i < stream_count; i++) {
    while (read_stream(i)) {
    }
  }
  // True: "0\nDumping heap to ...\nHeap dump file created [N bytes in S secs]"; a refusal begins with another
  // number or has no "created".
  answer[answer_size] = 0;
  if (strncmp(answer, "0\n", 2) == 0 && strstr(answer, "created") != nullptr) return 0;
  for (char* at = answer; *at != 0; at++) {
    if (*at == '\n') *at = ' ';
  }
  snprintf(reason, reason_size, "the VM says: %s", answer);
  return taken == 0 ? kErrorUnsupported : EIO;
}

// False: too few descriptors. Without one for the connection the VM's attach thread ends, and nobody answers.
bool has_descriptors() {
  int taken[kDescriptors];
  int count = 0;
  while (count < kDescriptors && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) count++;
  for (int i = 0; i < count; i++) close(taken[i]);
  return count == kDescriptors;
}

int dump_into(Dump& dump, bool all, char* reason, size_t reason_size) {
  Socket socket;
  if (!has_descriptors()) return fail(reason, reason_size, "no file descriptors", kErrorUnsupported);
  int error = connect_to_vm(&socket, reason, reason_size);
  const bool connected = error == 0;
  if (connected) error = send_command(socket, all, dump.streams[0].path);
  const bool asked = error == 0;
  if (asked) error = dump.pump(socket, reason, reason_size);
  if (connected) socket_close(&socket);
  if (asked || error == kErrorUnsupported) return error;
  const size_t length = strlen(reason);
  snprintf(reason + length, reason_size - length, "%s", length != 0 ? ": " : "");
  error_text(error, reason + strlen(reason), reason_size - strlen(reason));
  return kErrorUnsupported;
}

}  // namespace

int vm_heap_dump_available(char* reason, size_t reason_size) {
  if (is_listening()) return 0;
  if (attaching_is_disabled()) {
    return fail(reason, reason_size, "-XX:+DisableAttachMechanism", kErrorUnsupported);
  }
  if (handles_quit()) return 0;
  return fail(reason, reason_size, "the VM does not handle SIGQUIT (-Xrs)", kErrorUnsupported);
}

int vm_heap_dump(bool all, bool apart, VmDumpTaker take, VmDumpGivesUp gives_up, void* context,
                 uint8_t* buffer, size_t buffer_size, char* reason, size_t reason_size) {
  list_directory("/tmp", remove_old_folder, nullptr);
  char folder[64];
  snprintf(folder, sizeof folder, "/tmp/%sXXXXXX", kFolderPrefix);
  if (mkdtemp(folder) == nullptr) return fail(reason, reason_size, "no folder in /tmp", kErrorUnsupported);
  int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock >= 0) flock(lock, LOCK_EX | LOCK_NB);
  Dump dump;
  dump.take = take;
  dump.gives_up = gives_up;
  dump.context = context;
  dump.stream_count = apart ? 2 : 1;
  dump.buffer = buffer;
  dump.buffer_size = buffer_size;
  int error = 0;
  if (!dump.streams[0].open_at(folder, kFirstStream) ||
      (apart && !dump.streams[1].open_at(folder, kSecondStream))) {
    error = fail(reason, reason_size, "no pipes", kErrorUnsupported);
  }
  if (error == 0) error = dump_into(dump, all, reason, reason_size);
  for (Pipe& stream : dump.streams) stream.end();
  rmdir(folder);
  if (lock >= 0) close(lock);
  return error;
}

}  // namespace hprof::platform
