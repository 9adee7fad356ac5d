/* Preloaded: the thread with the name "masked" blocks SIGPROF. The VM calls this on each thread that it
 * starts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

int pthread_setname_np(pthread_t thread, const char* name) {
  int (*next)(pthread_t, const char*) =
      (int (*)(pthread_t, const char*))dlsym(RTLD_NEXT, "pthread_setname_np");
  if (pthread_equal(thread, pthread_self()) && strcmp(name, "masked") == 0) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
  }
  return next != NULL ? next(thread, name) : 0;
}
