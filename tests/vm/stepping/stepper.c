/* A plugin that walks the stack of its thread at each instruction between EachStep.begin() and end(): the
 * walk is hprof.draft.walk's, in the handler of a SIGTRAP. On x86-64 the processor traps behind each
 * instruction (the flag TF), in native code, too. On aarch64 breakpoints are written behind the next
 * instruction, within the VM's code alone. */
#define _GNU_SOURCE
#include <jni.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <hprof/collector.h>
#include <hprof/draft/code.h>
#include <hprof/draft/walk.h>
#include <hprof/service/jvm.h>

#define DEPTH 64
#define STACKS (1u << 14)
#define PLACES (1u << 14)

struct stack {
  uint64_t count, hash, pc;
  uint32_t frames, how;
  hprof_async_frame frame[DEPTH];
};
struct place { /* without a stack */
  uint64_t pc, count;
};

static struct {
  const hprof_host* host;
  const hprof_walk_service* walks;
  const hprof_code_service* code;
  const hprof_ids_service* ids;
  const hprof_jvm_service* jvm;
  hprof_sample_walk* walk;
  void* jni;
  volatile int is_on;
  uint64_t most, steps, in_java, full;
} me;
static struct stack stacks[STACKS];
static struct place lost[PLACES];

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

static void count_lost(uint64_t pc) {
  for (uint32_t i = 0, at = (uint32_t)(mix(0, pc) % PLACES); i < PLACES; i++, at = (at + 1) % PLACES) {
    if (lost[at].pc != 0 && lost[at].pc != pc) continue;
    lost[at].pc = pc;
    lost[at].count++;
    return;
  }
}

static void look(uint64_t pc, const void* context) {
  static hprof_async_frame frames[DEPTH];
  hprof_interrupted_stack stack = {0};
  uint64_t hash;
  const uint32_t count = me.walks->interrupted(me.walk, me.jni, context, DEPTH, frames, &stack);
  me.steps++;
  if (count == 0) {
    count_lost(pc);
    return;
  }
  me.in_java += stack.outside == 0;
  hash = mix(count, stack.how);
  for (uint32_t i = 0; i < count; i++)
    hash = mix(mix(hash, (uintptr_t)frames[i].method), (uint32_t)frames[i].index);
  for (uint32_t i = 0, at = (uint32_t)(hash % STACKS); i < STACKS; i++, at = (at + 1) % STACKS) {
    struct stack* to = &stacks[at];
    if (to->count != 0 && to->hash != hash) continue;
    if (to->count++ != 0) return;
    to->hash = hash;
    to->pc = pc;
    to->how = stack.how;
    to->frames = count;
    memcpy(to->frame, frames, count * sizeof frames[0]);
    return;
  }
  me.full++;
}

#if defined(__x86_64__)

static void on_trap(int number, siginfo_t* info, void* context) {
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  (void)number;
  (void)info;
  if (me.is_on && me.steps < me.most) {
    look((uint64_t)registers[REG_RIP], context);
    registers[REG_EFL] |= 0x100;
  } else {
    registers[REG_EFL] &= ~0x100ll;
  }
}
static void begin(void* back) {
  (void)back;
  me.is_on = 1;
  raise(SIGTRAP);
}
static void end(void) { me.is_on = 0; }

#elif defined(__aarch64__)

#define MOST_PLANTED 24
#define MOST_OVER 64
static struct {
  uint32_t* at;
  uint32_t instruction;
} planted[MOST_PLANTED];
static uint32_t planted_count;
static struct { /* calls out of the VM's code, whose return is waited for */
  uint64_t back, sp;
} over[MOST_OVER];
static uint32_t over_count;
static struct { uint64_t from, to; } ranges[64]; /* of the VM's code */
static uint32_t range_count;

static void find_ranges(void) {
  char line[512], mode[8];
  unsigned long from, to;
  FILE* maps = fopen("/proc/self/maps", "r");
  range_count = 0;
  while (maps != NULL && range_count < 64 && fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || strcmp(mode, "rwxp") != 0) continue;
    ranges[range_count].from = from;
    ranges[range_count++].to = to;
  }
  if (maps != NULL) fclose(maps);
}
static int is_code(uint64_t pc) {
  for (uint32_t i = 0; i < range_count; i++) {
    if (pc >= ranges[i].from && pc < ranges[i].to) return 1;
  }
  return 0;
}
static void put(uint32_t* at, uint32_t instruction) {
  *(volatile uint32_t*)at = instruction;
  __builtin___clear_cache((char*)at, (char*)(at + 1));
}
static void unplant(void) {
  while (planted_count > 0) {
    planted_count--;
    put(planted[planted_count].at, planted[planted_count].instruction);
  }
}
static void plant(uint64_t pc) {
  uint32_t* at = (uint32_t*)pc;
  if (!is_code(pc) || planted_count == MOST_PLANTED) return;
  for (uint32_t i = 0; i < planted_count; i++) {
    if (planted[i].at == at) return;
  }
  planted[planted_count].at = at;
  planted[planted_count++].instruction = *at;
  put(at, 0xd4200000); /* brk */
}
static void wait_for(uint64_t back, uint64_t sp) {
  if (over_count == MOST_OVER) return;
  over[over_count].back = back;
  over[over_count++].sp = sp;
}
static int64_t field(uint32_t instruction, uint32_t from, uint32_t bits) {
  const int64_t sign = (int64_t)1 << (bits - 1);
  return (((int64_t)(instruction >> from) & (2 * sign - 1)) ^ sign) - sign;
}
/* Where a direct branch leads; 0: it is another instruction. */
static uint64_t branch_target(uint64_t pc, uint32_t i) {
  if ((i & 0x7c000000) == 0x14000000) return pc + 4 * (uint64_t)field(i, 0, 26);
  if ((i & 0xff000010) == 0x54000000 || (i & 0x7e000000) == 0x34000000)
    return pc + 4 * (uint64_t)field(i, 5, 19);
  if ((i & 0x7e000000) == 0x36000000) return pc + 4 * (uint64_t)field(i, 5, 14);
  return 0;
}
static void plant_target(uint64_t target, uint64_t pc, uint64_t sp, int is_call) {
  if (is_code(target)) {
    plant(target);
  } else if (is_call) {
    wait_for(pc + 4, sp);
  }
}
/* Breakpoints wherever the thread may be after the instruction at pc. */
static void plan(uint64_t pc, const mcontext_t* context) {
  const uint32_t i = *(uint32_t*)pc;
  const uint64_t target = branch_target(pc, i), sp = context->sp;
  const uint32_t jump = i & 0xfffffc1f;
  if ((i & 0x7c000000) == 0x14000000) { /* b, bl */
    plant_target(target, pc, sp, (i & 0x80000000) != 0);
  } else if (target != 0) { /* conditional */
    plant(target);
    plant(pc + 4);
  } else if (jump == 0xd61f0000 || jump == 0xd63f0000 || jump == 0xd65f0000) { /* br, blr, ret */
    plant_target(context->regs[i >> 5 & 31], pc, sp, jump == 0xd63f0000);
  } else if ((i & 0x3fc00000) == 0x08400000) { /* a trap would clear the monitor of ldxr before stxr */
    uint64_t at = pc + 4;
    for (; at < pc + 64 && (*(uint32_t*)at & 0x3fc00000) != 0x08000000; at += 4) {
      const uint64_t out = branch_target(at, *(uint32_t*)at);
      if (out > at) plant(out);
    }
    plant(at + 4);
  } else {
    plant(pc + 4);
  }
  if (planted_count == 0 && over_count > 0) plant(over[over_count - 1].back);
}
static void on_trap(int number, siginfo_t* info, void* context) {
  mcontext_t* at = &((ucontext_t*)context)->uc_mcontext;
  (void)number;
  (void)info;
  unplant();
  if (!me.is_on || me.steps >= me.most || me.jvm->jni(me.host) != me.jni) return;
  while (over_count > 0 && over[over_count - 1].sp != 0 && over[over_count - 1].sp < at->sp) over_count--;
  if (over_count > 0 && over[over_count - 1].back == at->pc &&
      (over[over_count - 1].sp == 0 || over[over_count - 1].sp == at->sp))
    over_count--;
  look(at->pc, context);
  plan(at->pc, at);
}
static void begin(void* back) {
  find_ranges();
  over_count = 0;
  me.is_on = 1;
  plant((uint64_t)back);
}
static void end(void) {
  me.is_on = 0;
  unplant();
}

#endif

JNIEXPORT void JNICALL Java_EachStep_begin(JNIEnv* jni, jclass self, jlong most) {
  struct sigaction action;
  (void)self;
  if (me.walk == NULL) return;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGTRAP, &action, NULL);
  me.jni = jni;
  me.most = me.steps + (uint64_t)most;
  begin(__builtin_return_address(0));
}

static void name(FILE* out, void* jni, hprof_async_frame frame) {
  const hprof_raw_frame raw = {frame.method, frame.index < 0 ? -1 : frame.index};
  hprof_frame_info in = {.size = sizeof in};
  hprof_method_info method = {.size = sizeof method};
  hprof_class_info owner = {.size = sizeof owner};
  hprof_text type, text;
  if (frame.method != NULL) me.ids->frame_info(me.host, me.ids->frame(me.host, jni, &raw, 1), &in);
  me.ids->method_info(me.host, in.method, &method);
  me.ids->class_info(me.host, method.owner, &owner);
  type = me.ids->string_text(me.host, owner.name);
  text = me.ids->string_text(me.host, method.name);
  fprintf(out, " %.*s.%.*s:%d", (int)type.size, type.data ? type.data : "", (int)text.size,
          text.data ? text.data : "", frame.index);
}

JNIEXPORT void JNICALL Java_EachStep_end(JNIEnv* jni, jclass self) {
  (void)jni;
  (void)self;
  end();
}

/* Writes what was found: `S count how pc code method:bci...`, innermost first, pc is the first of such a
 * stack, or `L count pc code`, then `N steps in_java left_out`. */
JNIEXPORT void JNICALL Java_EachStep_write(JNIEnv* jni, jclass self) {
  FILE* out = fopen("steps.txt", "w");
  (void)self;
  if (out == NULL) return;
  for (uint32_t i = 0; i < STACKS; i++) {
    hprof_native_name code = {"", ""};
    if (stacks[i].count == 0) continue;
    me.walks->name_outside(me.host, me.walk, stacks[i].pc, &code);
    for (char* at = code.symbol; (at = strchr(at, ' ')) != NULL;) *at = '_';
    fprintf(out, "S %llu %u %llx %s/%s", (unsigned long long)stacks[i].count, stacks[i].how,
            (unsigned long long)stacks[i].pc, code.owner, code.symbol);
    for (uint32_t k = 0; k < stacks[i].frames; k++) name(out, jni, stacks[i].frame[k]);
    fprintf(out, "\n");
  }
  for (uint32_t i = 0; i < PLACES; i++) {
    hprof_native_name code = {"", ""};
    hprof_async_frame method = {0, NULL};
    if (lost[i].count == 0) continue;
    fprintf(out, "L %llu %llx", (unsigned long long)lost[i].count, (unsigned long long)lost[i].pc);
    method.method = me.code->method_at(me.host, lost[i].pc);
    me.walks->name_outside(me.host, me.walk, lost[i].pc, &code);
    if (method.method != NULL) name(out, jni, method);
    fprintf(out, " %s/%s\n", code.owner, code.symbol);
  }
  fprintf(out, "N %llu %llu %llu\n", (unsigned long long)me.steps, (unsigned long long)me.in_java,
          (unsigned long long)me.full);
  fclose(out);
}

static hprof_status create(const hprof_host* host, const void* options, void** self, char* error,
                           uint32_t size) {
  (void)options;
  (void)error;
  (void)size;
  me.host = host;
  me.walks = host->service(host, HPROF_SERVICE_WALK);
  me.code = host->service(host, HPROF_SERVICE_CODE);
  me.ids = host->service(host, HPROF_SERVICE_IDS);
  me.jvm = host->service(host, HPROF_SERVICE_JVM);
  if (me.code != NULL) me.code->be_precise(host);
  *self = &me;
  return HPROF_OK;
}
static hprof_status start(void* self) {
  const char* why = "no such service";
  (void)self;
  me.ids->frame(me.host, me.jvm->jni(me.host), &(hprof_raw_frame){NULL, 0}, 0);
  if (me.code != NULL) me.code->async_get_call_trace(me.host);
  if (me.walks != NULL) me.walk = me.walks->open_interrupted(me.host, me.jvm->jni(me.host), &why);
  if (me.walk == NULL) fprintf(stderr, "stepper: %s\n", why);
  return HPROF_OK;
}
static hprof_status report(void* self, const hprof_report* why) {
  (void)self;
  (void)why;
  return HPROF_OK;
}
static void reset(void* self) { (void)self; }
static const hprof_handlers handlers = {.size = sizeof handlers};
static const hprof_collector_ops ops = {.size = sizeof ops,
                                        .create = create,
                                        .start = start,
                                        .report = report,
                                        .reset = reset,
                                        .stop = reset,
                                        .destroy = reset,
                                        .handlers = &handlers};
static const hprof_unit unit = {.size = sizeof unit,
                                .kind = HPROF_UNIT_COLLECTOR,
                                .id = "stepper",
                                .select = "stepper=y",
                                .summary = "walks at each instruction",
                                .flags = HPROF_UNIT_NO_OUTPUT,
                                .needs = HPROF_NEED_METHOD_BOOK,
                                .events = HPROF_EVENT_CLASS_LOAD,
                                .ops = &ops};
static const hprof_unit* const units[] = {&unit};

HPROF_MODULE(stepper, "1.0", "hprof's tests", units, 1)
