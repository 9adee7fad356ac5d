/* Preloaded: the thread with the name "masked" blocks SIGPROF. The VM names each thread that it starts, from
 * JDK 27 on by prctl. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPTION_SET_NAME 15 /* PR_SET_NAME; prctl.h declares another prctl */

static void block_if_masked(const char* name) {
  sigset_t signals;
  if (strcmp(name, "masked") != 0) return;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

int pthread_setname_np(pthread_t thread, const char* name) {
  int (*next)(pthread_t, const char*) =
      (int (*)(pthread_t, const char*))dlsym(RTLD_NEXT, "pthread_setname_np");
  if (pthread_equal(thread, pthread_self())) block_if_masked(name);
  return next != NULL ? next(thread, name) : 0;
}

int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
  if (option == OPTION_SET_NAME) block_if_masked((const char*)a);
  return (int)syscall(SYS_prctl, option, a, b, c, d);
}
