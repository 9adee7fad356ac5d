/* MONITOR_DUMP, asked for when the program waits: reads the records to their end. */
#include "agent.h"

static JVMPI_RawMonitor mine;
static JNIEnv* asker;
static int dumps;

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

static void read_dump(const JVMPI_MonitorDump* dump) {
  int java = 0, raw = 0, owned = 0, waiting = 0, i, frames = 0;
  at = dump->begin;
  while (at < dump->end) {
    const int type = *at++;
    const char* name = type == JVMPI_MONITOR_RAW ? pointer() : NULL;
    const void* id = pointer();
    const void* owner = pointer();
    const uint32_t entries = u4();
    uint32_t list, count;
    if (type == JVMPI_MONITOR_JAVA) java++;
    if (type == JVMPI_MONITOR_RAW && id == (void*)mine && strcmp(name, "mine") == 0 &&
        owner == (void*)asker && entries == 2)
      raw++;
    if (owner != NULL && entries != 0 && type == JVMPI_MONITOR_JAVA) owned++;
    for (list = 0; list < 2; list++)
      for (count = u4(); count != 0; count--) waiting += pointer() != NULL;
  }
  for (i = 0; i < dump->num_traces; i++) {
    frames += dump->traces[i].num_frames;
    if (dump->traces[i].env_id == NULL || dump->threads_status[i] == 0) say("thread without env or status");
  }
  say("dump %s, java %s, raw %d, owned %s, waiting %s, threads %s, frames %s",
      at == dump->end ? "whole" : "broken", java > 0 ? "some" : "none", raw, owned > 0 ? "some" : "none",
      waiting > 0 ? "some" : "none", dump->num_traces > 3 ? "some" : "few", frames > 3 ? "some" : "few");
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_MONITOR_CONTENDED_ENTER:
      if (__atomic_fetch_add(&dumps, 1, __ATOMIC_RELAXED) != 0) break;
      asker = event->env_id;
      jvmpi->RawMonitorEnter(mine);
      jvmpi->RawMonitorEnter(mine);
      say("asked %d", (int)jvmpi->RequestEvent(JVMPI_EVENT_MONITOR_DUMP, NULL));
      jvmpi->RawMonitorExit(mine);
      jvmpi->RawMonitorExit(mine);
      break;
    case JVMPI_EVENT_MONITOR_DUMP | JVMPI_REQUESTED_EVENT:
      read_dump(&event->u.monitor_dump);
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_MONITOR_CONTENDED_ENTER};
  (void)options;
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  mine = jvmpi->RawMonitorCreate("mine");
  enable(kEvents, 1);
  return JNI_OK;
}
