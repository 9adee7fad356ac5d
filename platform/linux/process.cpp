// Threads, memory and environment of this process, from /proc.
#include "platform/process.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/proc_text.h"
#include "platform/memory.h"
#include "platform/posix/path_text.h"
#include "platform/posix/port.h"

namespace hprof::platform {
namespace {

struct ThreadListing {
  ThreadVisitor visit;
  void* context;
};

bool visit_task(void* context, const char* name) {
  const ThreadListing* listing = static_cast<const ThreadListing*>(context);
  char path[64];
  char text[64];
  const uint32_t id = static_cast<uint32_t>(proc_number(name));
  if (!id) return true;
  PathText(path, sizeof path).add("/proc/self/task/").add(id).add("/comm");
  size_t length = read_proc_text(path, text, sizeof text);
  if (length && text[length - 1] == '\n') text[--length] = 0;
  return listing->visit(listing->context, static_cast<NativeThread>(id), text);
}

}  // namespace

size_t read_proc_text(const char* path, char* text, size_t size) {
  text[0] = 0;
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  size_t length = 0;
  while (length + 1 < size) {
    const ssize_t count = read(descriptor, text + length, size - 1 - length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    length += static_cast<size_t>(count);
  }
  close(descriptor);
  text[length] = 0;
  return length;
}

NativeThread current_thread_id() { return static_cast<NativeThread>(syscall(SYS_gettid)); }

int for_each_thread(ThreadVisitor visit, void* context) {
  ThreadListing listing{visit, context};
  return list_directory("/proc/self/task", visit_task, &listing);
}

size_t executable_path(char* text, size_t size) {
  if (!size) return 0;
  const ssize_t length = readlink("/proc/self/exe", text, size - 1);
  text[length > 0 ? length : 0] = 0;
  return length > 0 ? static_cast<size_t>(length) : 0;
}

uint32_t processor_count() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
    return static_cast<uint32_t>(CPU_COUNT(&set));
  }
  // There are more processors than cpu_set_t has bits.
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<uint32_t>(online) : 1;
}

uint64_t resident_bytes() {
  char text[128];
  if (!read_proc_text("/proc/self/statm", text, sizeof text)) return 0;
  const char* at = text;
  proc_number(at, &at);
  return proc_number(at) * page_size();
}

void name_current_thread(const char* name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

const char* trusted_environment(const char* name) { return secure_getenv(name); }

}  // namespace hprof::platform
