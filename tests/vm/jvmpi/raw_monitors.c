/* Raw monitors from JVM_OnLoad on, and threads of the agent's own: one hands numbers to another through a
 * monitor, while a third fights for it. The first of them to come finds the monitor held. */
#include "agent.h"

enum { kNumbers = 2000 };

static JVMPI_RawMonitor box, quiet;
static int full, taken, fights, all_taken, ended;
static long in_box, sum;
static long enters, entered, exits, unnamed;

static void end_thread(void) {
  jvmpi->RawMonitorEnter(quiet);
  ended++;
  jvmpi->RawMonitorNotifyAll(quiet);
  jvmpi->RawMonitorExit(quiet);
}

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
  __atomic_store_n(&all_taken, 1, __ATOMIC_RELAXED);
  end_thread();
}

static void fight(void* unused) {
  (void)unused;
  do {
    jvmpi->RawMonitorEnter(box);
    fights++;
    jvmpi->RawMonitorExit(box);
  } while (!__atomic_load_n(&all_taken, __ATOMIC_RELAXED));
  end_thread();
}

static void ready(void) {
  JVMPI_RawMonitor late = jvmpi->RawMonitorCreate("late");
  jvmpi->RawMonitorWait(late, 0); /* not the owner: returns */
  jvmpi->RawMonitorExit(late);
  jvmpi->RawMonitorEnter(late);
  jvmpi->RawMonitorWait(late, 1);
  jvmpi->RawMonitorDestroy(late);
  jvmpi->RawMonitorEnter(box);
  if (jvmpi->CreateSystemThread("taker", JVMPI_MAXIMUM_PRIORITY, take) != JNI_OK ||
      jvmpi->CreateSystemThread("putter", JVMPI_NORMAL_PRIORITY, put) != JNI_OK ||
      jvmpi->CreateSystemThread("fighter", JVMPI_NORMAL_PRIORITY, fight) != JNI_OK)
    say("no threads");
  jvmpi->RawMonitorEnter(quiet);
  while (__atomic_load_n(&enters, __ATOMIC_RELAXED) == 0) jvmpi->RawMonitorWait(quiet, 1);
  jvmpi->RawMonitorExit(box);
  while (ended < 2) jvmpi->RawMonitorWait(quiet, 0);
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
          entered > 0 && enters >= entered ? "paired" : "not paired", unnamed);
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
