/* Preloaded into a VM: how much memory the agent's libraries hold, looked at every few milliseconds. Blocks
 * of the C library count with what was asked for, mapped memory with the pages of it that are there. Prints
 * one line at the end of the process: the most that was held at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void __libc_free(void* block);

enum { kBlocks = 1 << 20, kRegions = 4096 };
static struct Block {
  _Atomic(void*) at;
  size_t size;
} blocks[kBlocks], regions[kRegions];
static atomic_ulong held, lost;
static unsigned long most;
static atomic_int agent_is_there;
static _Thread_local int inside;

static int is_agents(const void* caller) {
  Dl_info info;
  int ours;
  if (inside) return 0;
  inside = 1;
  ours = dladdr(caller, &info) && info.dli_fname != NULL &&
         (strstr(info.dli_fname, "libhprof.so") != NULL || strstr(info.dli_fname, "/hprof/plugins/") != NULL);
  inside = 0;
  if (ours) atomic_store(&agent_is_there, 1);
  return ours;
}

static size_t place_of(const void* at) { return ((size_t)at >> 4) * 0x9E3779B1u % kBlocks; }

static void keep(void* at, size_t size) {
  size_t place = place_of(at), tries;
  for (tries = 0; tries < kBlocks; tries++, place = (place + 1) % kBlocks) {
    void* nobody = NULL;
    if (!atomic_compare_exchange_strong(&blocks[place].at, &nobody, (void*)1)) {
      if (nobody != (void*)2 || !atomic_compare_exchange_strong(&blocks[place].at, &nobody, (void*)1))
        continue;
    }
    blocks[place].size = size;
    atomic_store(&blocks[place].at, at);
    atomic_fetch_add(&held, size);
    return;
  }
  atomic_fetch_add(&lost, 1);
}

static void drop(void* at) {
  size_t place = place_of(at), tries;
  for (tries = 0; tries < kBlocks; tries++, place = (place + 1) % kBlocks) {
    void* found = atomic_load(&blocks[place].at);
    if (found == NULL) return;
    if (found != at) continue;
    atomic_fetch_sub(&held, blocks[place].size);
    atomic_store(&blocks[place].at, (void*)2);
    return;
  }
}

void* malloc(size_t size) {
  void* block = __libc_malloc(size);
  if (block != NULL && is_agents(__builtin_return_address(0))) keep(block, size);
  return block;
}

void* calloc(size_t count, size_t size) {
  void* block = __libc_calloc(count, size);
  if (block != NULL && is_agents(__builtin_return_address(0))) keep(block, count * size);
  return block;
}

void free(void* block) {
  if (block != NULL && atomic_load(&agent_is_there)) drop(block);
  __libc_free(block);
}

void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t offset) {
  static void* (*next)(void*, size_t, int, int, int, off64_t);
  if (next == NULL) next = (void* (*)(void*, size_t, int, int, int, off64_t))dlsym(RTLD_NEXT, "mmap64");
  void* at = next(address, size, protection, flags, file, offset);
  if (at == MAP_FAILED || (flags & MAP_FIXED) != 0 || !is_agents(__builtin_return_address(0))) return at;
  for (int i = 0; i < kRegions; i++) {
    void* nobody = NULL;
    if (!atomic_compare_exchange_strong(&regions[i].at, &nobody, (void*)1)) continue;
    regions[i].size = size;
    atomic_store(&regions[i].at, at);
    return at;
  }
  atomic_fetch_add(&lost, 1);
  return at;
}

int munmap(void* at, size_t size) {
  static int (*next)(void*, size_t);
  if (next == NULL) next = (int (*)(void*, size_t))dlsym(RTLD_NEXT, "munmap");
  for (int i = 0; i < kRegions && atomic_load(&agent_is_there); i++) {
    void* wanted = at;
    if (atomic_compare_exchange_strong(&regions[i].at, &wanted, NULL)) break;
  }
  return next(at, size);
}

/* Pages of a region that went meanwhile are an error of mincore, and count nothing. */
static unsigned long resident(void* at, size_t size) {
  static unsigned char pages[1 << 16];
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), step = sizeof pages * page;
  unsigned long count = 0;
  for (size_t from = 0; from < size; from += step) {
    const size_t part = size - from < step ? size - from : step;
    if (mincore((char*)at + from, part, pages) != 0) continue;
    for (size_t i = 0; i < (part + page - 1) / page; i++) count += pages[i] & 1;
  }
  return count * page;
}

static void look(void) {
  unsigned long now = atomic_load(&held);
  for (int i = 0; i < kRegions; i++) {
    void* at = atomic_load(&regions[i].at);
    if (at != NULL && at != (void*)1) now += resident(at, regions[i].size);
  }
  if (now > most) most = now;
}

static void* watch(void* argument) {
  const struct timespec nap = {0, 3000000};
  for (;;) {
    nanosleep(&nap, NULL);
    look();
  }
  return argument;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  if (getenv("WATCH_MEMORY") != NULL) pthread_create(&thread, NULL, watch, NULL);
}

__attribute__((destructor)) static void end(void) {
  if (getenv("WATCH_MEMORY") == NULL || !atomic_load(&agent_is_there)) return;
  fprintf(stderr, "agent memory: at most %lu bytes, %lu not counted\n", most, atomic_load(&lost));
}
