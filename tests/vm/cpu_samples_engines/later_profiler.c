/* Preloaded into a VM: another profiler, which begins when somebody else handles SIGPROF.
 * LATER_PROFILER=beside: timers of its own on the CPU clock of each thread, with SIGVTALRM.
 * LATER_PROFILER=take: it takes SIGPROF. */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void on_signal(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  (void)context;
}

static void handle(int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(number, &action, NULL);
}

static void start_timer(int thread) {
  struct sigevent event;
  struct itimerspec every = {{0, 4000000}, {0, 4000000}};
  int timer;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGVTALRM;
  event.sigev_notify_thread_id = thread;
  /* The id of a thread's CPU clock, as the kernel builds it. */
  if (syscall(SYS_timer_create, (clockid_t)(~(unsigned)thread << 3 | 6), &event, &timer) == 0)
    syscall(SYS_timer_settime, timer, 0, &every, NULL);
}

static void* begin_later(void* mode) {
  struct timespec nap = {0, 5000000}, while_it_starts = {0, 100000000};
  struct sigaction now;
  do {
    nanosleep(&nap, NULL);
    sigaction(SIGPROF, NULL, &now);
  } while (now.sa_handler == SIG_DFL);
  nanosleep(&while_it_starts, NULL);
  if (strcmp(mode, "take") == 0) {
    struct itimerval every = {{0, 4000}, {0, 4000}};
    handle(SIGPROF);
    setitimer(ITIMER_PROF, &every, NULL);
    return NULL;
  }
  handle(SIGVTALRM);
  DIR* threads = opendir("/proc/self/task");
  for (struct dirent* entry; threads != NULL && (entry = readdir(threads)) != NULL;)
    if (entry->d_name[0] != '.') start_timer(atoi(entry->d_name));
  if (threads != NULL) closedir(threads);
  return NULL;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  char* mode = getenv("LATER_PROFILER");
  if (mode != NULL) pthread_create(&thread, NULL, begin_later, mode);
}
