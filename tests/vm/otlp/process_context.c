/* An agent that publishes the process context "service.name: published-one, zone: inside" as OTEP 4719 has
 * it. */
#define _GNU_SOURCE
#include <jni.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char payload[] =
    "\x0a\x33\x0a\x1f\x0a\x0cservice.name\x12\x0f\x0a\x0dpublished-"
    "one\x0a\x10\x0a\x04zone\x12\x08\x0a\x06inside";

struct header {
  char signature[8];
  uint32_t version, payload_size;
  uint64_t published_at_ns, payload;
};

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void* reserved) {
  (void)vm;
  (void)options;
  (void)reserved;
  const int file = (int)syscall(SYS_memfd_create, "OTEL_CTX", 1u);
  if (file < 0 || ftruncate(file, 4096) != 0) return -1;
  struct header* at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  close(file);
  if (at == MAP_FAILED) return -1;
  at->version = 2;
  at->payload_size = sizeof payload - 1;
  at->published_at_ns = 1;
  at->payload = (uint64_t)(uintptr_t)payload;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  memcpy(at->signature, "OTEL_CTX", 8);
  return 0;
}
