// The alarm of the process: ITIMER_REAL and SIGALRM, if neither is in use.
#include <atomic>
#include <cstring>
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/process.h"

namespace hprof::platform {
namespace {

constexpr size_t kLineMost = 400;

std::atomic<AlarmText> alarm_text{nullptr};
void* alarm_context;
struct sigaction before_alarm;

void on_alarm(int) {
  const int kept = errno;
  const AlarmText text = alarm_text.exchange(nullptr, std::memory_order_acq_rel);
  char line[kLineMost] = "";
  if (text != nullptr && text(alarm_context, line, sizeof line)) {
    const ssize_t written = write(STDERR_FILENO, line, strlen(line));
    static_cast<void>(written);
    _exit(1);
  }
  errno = kept;
}

itimerval after(int64_t ns) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(ns / kNanosPerSecond);
  timer.it_value.tv_usec = static_cast<suseconds_t>(ns % kNanosPerSecond / 1000);
  return timer;
}

bool is_set(const itimerval& timer) { return timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0; }

}  // namespace

bool set_alarm(int64_t ns, AlarmText text, void* context) {
  itimerval running;
  if (getitimer(ITIMER_REAL, &running) != 0 || is_set(running) ||
      sigaction(SIGALRM, nullptr, &before_alarm) != 0 || (before_alarm.sa_flags & SA_SIGINFO) != 0 ||
      before_alarm.sa_handler != SIG_DFL)
    return false;
  alarm_context = context;
  alarm_text.store(text, std::memory_order_release);
  struct sigaction ours {};
  ours.sa_handler = &on_alarm;
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  const itimerval timer = after(ns);
  if (sigaction(SIGALRM, &ours, nullptr) == 0 && setitimer(ITIMER_REAL, &timer, nullptr) == 0) return true;
  alarm_text.store(nullptr, std::memory_order_release);
  sigaction(SIGALRM, &before_alarm, nullptr);
  return false;
}

// Once the timer has expired, its signal may be on its way to any thread: the handler stays, and does
// nothing.
void clear_alarm() {
  alarm_text.store(nullptr, std::memory_order_release);
  const itimerval off{};
  itimerval left{};
  if (setitimer(ITIMER_REAL, &off, &left) == 0 && is_set(left)) sigaction(SIGALRM, &before_alarm, nullptr);
}

}  // namespace hprof::platform
