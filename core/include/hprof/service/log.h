/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and loss counters. */
#ifndef HPROF_SERVICE_LOG_H
#define HPROF_SERVICE_LOG_H

#include <hprof/abi.h>

#define HPROF_SERVICE_LOG "hprof.log/1"

typedef struct hprof_log_service {
  uint32_t size;
  uint32_t reserved;
  /* One line on stderr, "HPROF: ..."; text without newline. [onload][control][writer][app] */
  void (*message)(const hprof_host* host, const char* text);
  /* As message, but printed only with verbose=y or logflags. [onload][control][writer][app] */
  void (*detail)(const hprof_host* host, const char* text);
  /* A counter of losses, with the words that follow its number: "<noun>: <cause> (<option to raise>)", as in
   * "samples: the buffer was full (interval=)". The option is omitted if none helps.
   * Non-zero counters are printed with every report. Returns the counter, which any thread or signal handler increments
   * with a relaxed atomic add; it lives as long as the session. The same text gives the same counter. NULL: too many
   * counters (64). [onload][control] */
  uint64_t* (*loss_counter)(const hprof_host* host, const char* what);
} hprof_log_service;

#endif
