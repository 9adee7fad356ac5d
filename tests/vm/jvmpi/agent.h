/* What the test agents share: they are plain C against the plugin's header, as agents of the time were
 * against theirs. They print to stderr, one line a fact, beginning with "agent: ". */
#ifndef TESTS_JVMPI_AGENT_H
#define TESTS_JVMPI_AGENT_H

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/jvmpi/jvmpi_abi.h"

static JVMPI_Interface* jvmpi;

static void say(const char* format, ...) {
  char line[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  fprintf(stderr, "agent: %s\n", line);
}

static void enable(const int* events, int count) {
  int i;
  for (i = 0; i < count; i++) {
    const jint result = jvmpi->EnableEvent(events[i], NULL);
    if (result != JVMPI_SUCCESS) say("event %d is not there: %d", events[i], (int)result);
  }
}

/* The methods that a thread is in; zeros at its first. NULL: no memory. */
enum { kDeep = 100000 };

struct Stack {
  int depth;
  jmethodID methods[kDeep];
};

__attribute__((unused)) static struct Stack* stack_of(JNIEnv* env) {
  struct Stack* stack = jvmpi->GetThreadLocalStorage(env);
  if (stack == NULL) {
    stack = calloc(1, sizeof *stack);
    jvmpi->SetThreadLocalStorage(env, stack);
  }
  return stack;
}

/* Gets the interface, as each JVM_OnLoad begins. */
static int connect_to(JavaVM* vm, void (*handler)(JVMPI_Event*)) {
  void* env = NULL;
  if ((*vm)->GetEnv(vm, &env, JVMPI_VERSION_1) != JNI_OK) {
    say("no JVMPI");
    return 0;
  }
  jvmpi = env;
  jvmpi->NotifyEvent = handler;
  return 1;
}

#endif
