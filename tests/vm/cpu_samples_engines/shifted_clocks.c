/* A preloaded library that shifts the C library's CPU clocks by a day after a while, as those do that fake
 * the time. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec* time) {
  static long begin;
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  struct timespec now;
  /* Clocks of single threads have negative ids. */
  if (clock >= 0 && clock != CLOCK_THREAD_CPUTIME_ID) return result;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  if (begin == 0) begin = now.tv_sec;
  if (now.tv_sec > begin) time->tv_sec += 86400;
  return result;
}
