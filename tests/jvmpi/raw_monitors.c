/* Raw monitors from JVM_OnLoad on, and threads of the agent's own: one hands numbers to another through a
 * monitor, while a third fights for it; then threads are suspended and looked at. */
#include "agent.h"

enum { kNumbers = 2000 };

static JVMPI_RawMonitor box, quiet;
static int full, taken, fights, done;
static long in_box, sum;
static long enters, entered, exits, unnamed;

static void put(void* unused) {
  long i;
  (void)unused;
  for (i = 1; i <= kNumbers; i++) {
    jvmpi->RawMonitorEnter(box);
    while (full) jvmpi->RawMonitorWait(box, 0);
    in_box = i;
    full = 1;
    jvmpi->RawMonitorNotifyAll(box);
    jvmpi->RawMonitorExit(box);
  }
}

static void take(void* unused) {
  (void)unused;
  while (taken < kNumbers) {
    jvmpi->RawMonitorEnter(box);
    jvmpi->RawMonitorEnter(box); /* once more: it is given up as a whole while waiting */
    while (!full) jvmpi->RawMonitorWait(box, 0);
    sum += in_box;
    taken++;
    full = 0;
    jvmpi->RawMonitorNotifyAll(box);
    jvmpi->RawMonitorExit(box);
    jvmpi->RawMonitorExit(box);
  }
  jvmpi->RawMonitorEnter(quiet);
  done++;
  jvmpi->RawMonitorNotifyAll(quiet);
  jvmpi->RawMonitorExit(quiet);
}

static void fight(void* unused) {
  (void)unused;
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    jvmpi->RawMonitorEnter(box);
    fights++;
    jvmpi->RawMonitorExit(box);
  }
}

static void ready(void) {
  JVMPI_RawMonitor late = jvmpi->RawMonitorCreate("late");
  jvmpi->RawMonitorWait(late, 0); /* not the owner: returns */
  jvmpi->RawMonitorExit(late);
  jvmpi->RawMonitorEnter(late);
  jvmpi->RawMonitorWait(late, 1);
  jvmpi->RawMonitorDestroy(late);
  if (jvmpi->CreateSystemThread("taker", JVMPI_MAXIMUM_PRIORITY, take) != JNI_OK ||
      jvmpi->CreateSystemThread("putter", JVMPI_NORMAL_PRIORITY, put) != JNI_OK ||
      jvmpi->CreateSystemThread("fighter", JVMPI_NORMAL_PRIORITY, fight) != JNI_OK)
    say("no threads");
  jvmpi->RawMonitorEnter(quiet);
  while (!done) jvmpi->RawMonitorWait(quiet, 0);
  jvmpi->RawMonitorExit(quiet);
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_JVM_INIT_DONE:
      ready();
      break;
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER:
      __atomic_fetch_add(&enters, 1, __ATOMIC_RELAXED);
      if (strcmp(event->u.raw_monitor.name, "box") != 0 || event->u.raw_monitor.id != box) unnamed++;
      break;
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED:
      __atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
      break;
    case JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT:
      __atomic_fetch_add(&exits, 1, __ATOMIC_RELAXED);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("sum %ld, %s, %s, other names %ld", sum, fights > 0 ? "fought" : "no fights",
          enters >= entered ? "paired" : "not paired", unnamed);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {
      JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_JVM_SHUT_DOWN, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER,
      JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED, JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT};
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  box = jvmpi->RawMonitorCreate("box");
  quiet = jvmpi->RawMonitorCreate("_quiet");
  if (box == NULL || quiet == NULL) return JNI_ERR;
  jvmpi->RawMonitorEnter(box);
  jvmpi->RawMonitorEnter(box);
  jvmpi->RawMonitorExit(box);
  jvmpi->RawMonitorExit(box);
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  return JNI_OK;
}
