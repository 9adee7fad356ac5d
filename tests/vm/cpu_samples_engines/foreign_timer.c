/* Preloaded into a VM: another profiler in the process. Its handler is in place before the agent's, its
 * timers tick on the process' CPU clock, with values that look like a number and like an address, and it
 * raises SIGPROF with values of its own. Prints one line at the end of the process. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong ticks, raised, strange;
static char own;

static void on_signal(int number, siginfo_t* info, void* context) {
  void* value = info->si_value.sival_ptr;
  (void)number;
  (void)context;
  if (value != &own && value != NULL && value != (void*)1 && value != (void*)16)
    atomic_fetch_add(&strange, 1);
  atomic_fetch_add(info->si_code == SI_TIMER ? &ticks : &raised, 1);
}

static void start_timer(void* value) {
  struct sigevent event;
  struct itimerspec every = {{0, 4000000}, {0, 4000000}};
  timer_t timer;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  event.sigev_value.sival_ptr = value;
  if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0) abort();
  if (timer_settime(timer, 0, &every, NULL) != 0) abort();
}

static void* work(void* argument) {
  struct timespec nap = {0, 5000000};
  union sigval value;
  (void)argument;
  for (int i = 0;; i++) {
    nanosleep(&nap, NULL);
    value.sival_ptr = i % 3 == 0 ? NULL : i % 3 == 1 ? (void*)16 : &own;
    sigqueue(getpid(), SIGPROF, value);
  }
  return NULL;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action;
  pthread_t thread;
  if (getenv("FOREIGN_TIMER") == NULL) return;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, NULL);
  start_timer(NULL);
  start_timer((void*)1);
  start_timer((void*)16);
  start_timer(&own);
  pthread_create(&thread, NULL, work, NULL);
}

__attribute__((destructor)) static void end(void) {
  if (getenv("FOREIGN_TIMER") == NULL) return;
  fprintf(stderr, "foreign: %lu ticks, %lu raised, %lu strange\n", ticks, raised, strange);
}
