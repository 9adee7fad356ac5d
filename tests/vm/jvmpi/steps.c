/* INSTRUCTION_START: prints the offsets of Jumps.go, and where its jumps and switches went. Option: events to
 * enable, too, or "refused": enables this event alone. */
#include "agent.h"

enum { kMost = 400 };

static jmethodID go, main_method;
static int offsets[kMost], count;
static long in_main, others;
static char jumps[300], tables[300], lookups[300];
static unsigned char code[kMost]; /* opcodes at the offsets */

static void append(char* to, const char* format, int a, int b, int c) {
  const size_t length = strlen(to);
  snprintf(to + length, 300 - length, format, a, b, c);
}

static void instruction(const JVMPI_Event* event) {
  const int at = event->u.instruction.offset;
  if (event->u.instruction.method_id == main_method) in_main++;
  if (event->u.instruction.method_id != go) {
    others++;
    return;
  }
  if (count < kMost) offsets[count++] = at;
  switch (code[at]) {
    case 170:
      append(tables, " %d in %d..%d", event->u.instruction.u.tableswitch_info.key,
             event->u.instruction.u.tableswitch_info.low, event->u.instruction.u.tableswitch_info.hi);
      break;
    case 171:
      append(lookups, " %d of %d", event->u.instruction.u.lookupswitch_info.chosen_pair_index,
             event->u.instruction.u.lookupswitch_info.pairs_total, 0);
      break;
    case 160: /* if_icmpne */
    case 162: /* if_icmpge */
      append(jumps, " %d", event->u.instruction.u.if_info.is_true, 0, 0);
      break;
    default:
      break;
  }
}

static void class_load(const JVMPI_ClassLoad* load) {
  int i;
  if (strcmp(load->class_name, "Jumps") != 0) return;
  for (i = 0; i < load->num_methods; i++) {
    if (strcmp(load->methods[i].method_name, "go") == 0) go = load->methods[i].method_id;
    if (strcmp(load->methods[i].method_name, "main") == 0) main_method = load->methods[i].method_id;
  }
}

/* The code begins with iconst_0, istore_1, iconst_0, istore_2, iload_2, iload_0. */
static void hook(const JVMPI_ClassLoadHook* file) {
  static const unsigned char kBegin[] = {3, 60, 3, 61, 28, 26};
  int i;
  for (i = 0; i + (int)sizeof kBegin < file->class_data_len; i++)
    if (memcmp(file->class_data + i, kBegin, sizeof kBegin) == 0 && code[0] == 0)
      memcpy(code, file->class_data + i,
             (size_t)(file->class_data_len - i < kMost ? file->class_data_len - i : kMost));
}

static void shut_down(void) {
  char line[600] = "";
  int i;
  for (i = 0; i < count; i++) snprintf(line + strlen(line), sizeof line - strlen(line), " %d", offsets[i]);
  say("offsets%s", line);
  say("jumps%s", jumps);
  say("tables%s", tables);
  say("lookups%s", lookups);
  say("main %ld, others %s", in_main, others > 10000 ? "many" : others > 0 ? "few" : "none");
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_INSTRUCTION_START:
      instruction(event);
      break;
    case JVMPI_EVENT_CLASS_LOAD:
      class_load(&event->u.class_load);
      break;
    case JVMPI_EVENT_CLASS_LOAD_HOOK:
      hook(&event->u.class_load_hook);
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      shut_down();
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_INSTRUCTION_START, JVMPI_EVENT_CLASS_LOAD,
                                JVMPI_EVENT_CLASS_LOAD_HOOK, JVMPI_EVENT_JVM_SHUT_DOWN};
  static const int kCalls[] = {JVMPI_EVENT_METHOD_ENTRY, JVMPI_EVENT_METHOD_EXIT};
  (void)reserved;
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, 4);
  if (options != NULL && strcmp(options, "calls") == 0) enable(kCalls, 2);
  return JNI_OK;
}
