// Messages on standard error. It may be a pipe that nobody reads, so a thread of its own writes each message,
// and is abandoned if that takes too long.
#include "platform/common/message.h"

#include <new>
#include <stdlib.h>
#include <string.h>

#include "platform/process.h"
#include "platform/thread.h"
#include "platform/win32/wait.h"

namespace hprof::platform {
namespace {

LostMessages lost;
// A thread is writing, perhaps an abandoned one: until it has finished, messages are lost at once.
std::atomic<bool> stuck{false};
// The process ends, and there are no other threads.
std::atomic<bool> alone{false};
void (*exit_handler)(bool alone);

void write_now(const char* text) {
  DWORD written;
  char piece[kPieceSize];
  while (const size_t size = printable_piece(text, piece)) {
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), piece, static_cast<DWORD>(size), &written, nullptr);
    text += size;
  }
}

// Shared by the caller and the thread; the last one frees it.
struct Job {
  std::atomic<uint32_t> holders{2};
  char text[2048];

  void leave() {
    if (holders.fetch_sub(1) == 1) free(this);
  }
};

void run_job(void* argument) {
  auto* job = static_cast<Job*>(argument);
  write_now(job->text);
  stuck.store(false);
  job->leave();
}

// False: not finished at the deadline.
bool write_on_thread(const char* notice, const char* text, int64_t deadline_ns) {
  void* memory = calloc(1, sizeof(Job));
  if (memory == nullptr) return false;
  auto* job = new (memory) Job;
  strncpy(job->text, notice, sizeof job->text - 1);
  strncat(job->text, text, sizeof job->text - 1 - strlen(job->text));
  stuck.store(true);
  Thread thread;
  if (thread.start("hprof message", 64 * 1024, run_job, job) != 0) {
    stuck.store(false);
    free(memory);
    return false;
  }
  const bool ended = thread.join(deadline_ns);
  if (!ended) thread.detach();
  job->leave();
  return ended;
}

}  // namespace

// Functions that a DLL registers run when it is detached, after all other threads have ended.
void at_exit(void (*handler)(bool alone)) {
  exit_handler = handler;
  atexit([] {
    alone.store(true);
    exit_handler(true);
  });
}

void write_stderr(const char* text) {
  if (alone.load() || GetFileType(GetStdHandle(STD_ERROR_HANDLE)) != FILE_TYPE_PIPE) return write_now(text);
  if (stuck.load()) return lost.add();
  char notice[kLostNoticeSize];
  uint32_t count;
  lost.take(notice, &count);
  if (!write_on_thread(notice, text, monotonic_ns() + kMessageWaitNs)) lost.add(count + 1);
}

}  // namespace hprof::platform
