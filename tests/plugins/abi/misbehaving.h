/*
 * What the units share that break one rule of the headers each: wrong.py has a row for each, with what the
 * agent and `hprof plugin check` say of it. The modules themselves are right.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include <hprof/collector.h>
#include <hprof/service/mem.h>

#ifdef _WIN32
#include <windows.h>
static void sleep_seconds(unsigned seconds) { Sleep(seconds * 1000); }
#else
#include <unistd.h>
static void sleep_seconds(unsigned seconds) {
  while (seconds != 0) seconds = sleep(seconds);
}
#endif

/* Longer than any test waits. */
#define FOR_EVER 100000

/* `self` of every unit is its host. */
#define SERVICE(host, type, id) \
  ((const type*)((const hprof_host*)(host))->service((const hprof_host*)(host), id))
#define MEM(host) SERVICE(host, hprof_mem_service, HPROF_SERVICE_MEM)

/* --- what is right */

static inline hprof_status create(const hprof_host* host, const void* config, void** self, char* error,
                                  uint32_t error_size) {
  (void)config;
  (void)error;
  (void)error_size;
  *self = (void*)host;
  return HPROF_OK;
}
static inline hprof_status start(void* self) { return self != NULL ? HPROF_OK : HPROF_FAILED; }
static inline void allocate_now(void* self) {
  const hprof_host* host = (const hprof_host*)self;
  MEM(host)->release(host, MEM(host)->allocate(host, 8), 8);
}
static inline void nothing(void* self) { (void)self; }

/* --- rows of a module's list */

#define MADE(id_, kind_, ops_, ...)                                                                  \
  &(const hprof_unit) {                                                                              \
    .size = sizeof(hprof_unit), .kind = kind_, .id = #id_, .summary = #id_, .ops = ops_, __VA_ARGS__ \
  }

#define MISBEHAVING_MODULE(name, ...)                     \
  static const hprof_unit* const units[] = {__VA_ARGS__}; \
  HPROF_MODULE(name, "1.0", "nobody", units, sizeof(units) / sizeof(units[0]))
