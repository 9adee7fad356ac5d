/* Suspends and resumes all threads named "storm-..." again and again, while the program makes garbage and has
 * it collected; at last it makes the file "over", for which the program waits. */
#include <unistd.h>

#include "agent.h"

enum { kMost = 512, kThreads = 200, kRounds = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static JNIEnv* threads[kMost];
static jint results[kMost];
static int thread_count;
static long suspensions, refusals, wrong, collections, allocations;

/* A suspended thread is told to be, and one that has been resumed is not. */
static void look(jint suspended) {
  int i;
  for (i = 0; i < kThreads; i++) {
    if (results[i] != 0) {
      refusals++;
    } else if ((jvmpi->GetThreadStatus(threads[i]) & JVMPI_THREAD_SUSPENDED) != suspended) {
      wrong++;
    }
  }
}

static void storm(void* unused) {
  int round;
  FILE* over;
  (void)unused;
  while (__atomic_load_n(&thread_count, __ATOMIC_ACQUIRE) < kThreads) usleep(1000);
  for (round = 0; round < kRounds; round++) {
    jvmpi->SuspendThreadList(kThreads, threads, results);
    look(JVMPI_THREAD_SUSPENDED);
    suspensions += kThreads;
    if (round % 4 == 0) jvmpi->RunGC();
    jvmpi->SuspendThread(threads[0]); /* is suspended already: nothing */
    jvmpi->ResumeThreadList(kThreads, threads, results);
    look(0);
  }
  over = fopen("over", "w");
  if (over != NULL) fclose(over);
}

static void thread_start(const JVMPI_ThreadStart* start) {
  if (strncmp(start->thread_name, "storm-", 6) != 0) return;
  pthread_mutex_lock(&lock);
  if (thread_count < kMost) {
    threads[thread_count] = start->thread_env_id;
    __atomic_store_n(&thread_count, thread_count + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
}

static void on_event(JVMPI_Event* event) {
  switch (event->event_type) {
    case JVMPI_EVENT_THREAD_START:
      thread_start(&event->u.thread_start);
      break;
    case JVMPI_EVENT_JVM_INIT_DONE:
      if (jvmpi->CreateSystemThread("stormer", JVMPI_NORMAL_PRIORITY, storm) != JNI_OK) say("no thread");
      break;
    case JVMPI_EVENT_OBJECT_ALLOC:
      __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
      break;
    case JVMPI_EVENT_GC_START:
      collections++;
      break;
    case JVMPI_EVENT_JVM_SHUT_DOWN:
      say("suspended %ld, refused %ld, wrong %ld, collections %s, allocations %s", suspensions, refusals,
          wrong, collections > kRounds / 4 ? "many" : "few", allocations > 0 ? "some" : "none");
      break;
    default:
      break;
  }
}

JNIEXPORT jint JNICALL JVM_OnLoad(JavaVM* vm, char* options, void* reserved) {
  static const int kEvents[] = {JVMPI_EVENT_THREAD_START, JVMPI_EVENT_JVM_INIT_DONE, JVMPI_EVENT_GC_START,
                                JVMPI_EVENT_JVM_SHUT_DOWN};
  static const int kAllocations[] = {JVMPI_EVENT_OBJECT_ALLOC};
  (void)reserved;
  unlink("over");
  if (!connect_to(vm, on_event)) return JNI_ERR;
  enable(kEvents, sizeof kEvents / sizeof kEvents[0]);
  if (options != NULL && strcmp(options, "objects") == 0) enable(kAllocations, 1);
  return JNI_OK;
}
