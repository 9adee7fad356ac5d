/* MONITOR_DUMP, asked for when main waits: prints each monitor with the names of its threads. Raw monitors:
 * more than there is a stock of, one entered from JVM_OnLoad on, one with a long name that a thread owns and
 * another enters, one on which a thread waits. */
#include <unistd.h>

#include "agent.h"

enum { kMonitors = 100, kThreads = 256 };

static JVMPI_RawMonitor many[kMonitors], fought, waited;
static const char* const kLong =
    "a name that is longer than sixty-three bytes, as names of monitors in real agents are now and then";
static struct {
  JNIEnv* env;
  char name[40];
} threads[kThreads];
static int thread_count, over, dumped, last;
static JNIEnv* main_env;
static const char* at;

static uint32_t u4(void) {
  const unsigned char* b = (const unsigned char*)at;
  at += 4;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void* pointer(void) {
  void* value;
  memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

static const char* name_of(const void* env) {
  int i;
  for (i = thread_count - 1; i >= 0; i--)
    if (threads[i].env == env) return threads[i].name;
  return env == NULL ? "nobody" : "somebody";
}

static void hold(void* unused) {
  (void)unused;
  jvmpi->RawMonitorEnter(fought);
  while (!__atomic_load_n(&over, __ATOMIC_SEQ_CST)) usleep(1000);
  jvmpi->RawMonitorExit(fought);
}

static void fight(void* unused) {
  (void)unused;
  jvmpi->RawMonitorEnter(fought);
  jvmpi->RawMonitorExit(fought);
}

static void wait(void* unused) {
  (void)unused;
  jvmpi->RawMonitorEnter(waited);
  jvmpi->RawMonitorEnter(waited);
  jvmpi->RawMonitorWait(waited, 0);
  jvmpi->RawMonitorExit(waited);
  jvmpi->RawMonitorExit(waited);
}

static void read_dump(const JVMPI_MonitorDump* dump) {
  int i;
  dumped = 0;
  for (i = 0; last && i < dump->num_traces; i++)
    if (strncmp(name_of(dump->traces[i].env_id), "HPROF", 5) == 0)
      say("ours: %s", name_of(dump->traces[i].env_id));
  for (at = dump->begin; at < dump->end;) {
    char line[300];
    const int type = *at++;
    const char* name = type == JVMPI_MONITOR_RAW ? pointer() : "java";
    const void* id = pointer();
    const void* owner = pointer();
    const uint32_t entries = u4();
    int length = snprintf(line, sizeof line, "%s: %s %u", strcmp(name, kLong) == 0 ? "long" : name,
                          name_of(owner), (unsigned)entries);
    uint32_t list, count;
    for (list = 0; list < 2; list++) {
      length += snprintf(line + length, sizeof line - (size_t)length, list == 0 ? ", enter" : ", wait");
      for (count = u4(); count != 0; count--) {
        const char* thread = name_of(pointer());
        length += snprintf(line + length, sizeof line - (size_t)length, " %s", thread);
        if (id == (void*)fought || id == (void*)waited) dumped++;
      }
    }
    if (last && (strstr(line, "er") != NULL || type == JVMPI_MONITOR_RAW)) say("%s", line);
  }
}

/* Until the raw monitors' threads are where they are to be. */
static void ask(void) {
  int i;
  for (i = 0; dumped < 2 && i < 1000; i++, usleep(10000)) jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL);
  last = 1;
  jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL);
  __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
  jvmpi->RawMonitorEnter(waited);
  jvmpi->RawMonitorNotifyAll(waited);
  jvmpi->RawMonitorExit(waited);
}

static void init_done(void) {
  int i;
  jvmpi->RawMonitorWait(many[kMonitors - 1], 1);
  jvmpi->RawMonitorExit(many[kMonitors - 1]);
  for (i = 0; i < kMonitors; i++) jvmpi->RawMonitorDestroy(many[i]);
  if (jvmpi->CreateSystemThread("holder", JVMPI_NORMAL_PRIORITY, hold) != JNI_OK) say("no thread");
  while (jvmpi->CreateSystemThread("raw waiter", JVMPI_NORMAL_PRIORITY, wait) != JNI_OK) say("no thread");
}

static void on_event(JVMPI_Event* event) {
  static int asked;
  switch (event->event_type) {
    case JVMPI_EVENT_THREAD_START:
      if (thread_count == kThreads) break;
      threads[thread_count].env = event->u.thread_start.thread_env_id;
      snprintf(threads[thread_count].name, sizeof threads[0].name, "%s", event->u.thread_start.thread_name);
      thread_count++;
      break;
    case JVMPI_EVENT_JVM_INIT_DONE:
      main_env = event->env_id;
      init_done();
      break;
    case JVMPI_EVENT_MONITOR_WAIT:
      if (event->env_id != main_env || asked++) break;
      if (jvmpi->CreateSystemThread("fighter", JVMPI_NORMAL_PRIORITY, fight) != JNI_OK) say("no thread");
      ask();
      break;
    case JVMPI_EVENT_MONITOR_DUMP | JVMPI_REQUESTED_EVENT:
      read_dump(&event->u.monitor_dump);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_THREAD_START, JVMPI_EVENT_JVM_INIT_DONE,
                                JVMPI_EVENT_MONITOR_WAIT};
  int i;
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  for (i = 0; i < kMonitors; i++)
    if ((many[i] = jvmpi->RawMonitorCreate("one of many")) == NULL) return JNI_ERR;
  jvmpi->RawMonitorEnter(many[kMonitors - 1]);
  fought = jvmpi->RawMonitorCreate((char*)kLong);
  waited = jvmpi->RawMonitorCreate("waited");
  enable(kEvents, 3);
  return JNI_OK;
}
