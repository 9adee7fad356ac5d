/* SPDX-License-Identifier: Apache-2.0 */
/* Files and sockets for sinks, with the platform layer's guarantees. Results below 0 are errors, with a text in error:
 * -1 or one of HPROF_IO_*. Threads: [onload][control][writer] */
#ifndef HPROF_SERVICE_IO_H
#define HPROF_SERVICE_IO_H

#include <hprof/abi.h>

#define HPROF_SERVICE_IO "hprof.io/1"

#define HPROF_IO_EXISTS (-2) /* the file exists, and replace was 0 */
#define HPROF_IO_IN_USE (-3) /* a running process is writing that file */

typedef struct hprof_io_service {
  uint32_t size;
  uint32_t reserved;
  /* Creates a file for output: mode 0600, no symbolic link followed; an existing regular file of this user is replaced
   * when replace = 1, otherwise refused (HPROF_IO_EXISTS). HPROF_IO_IN_USE: another handle or process is writing the
   * file. Devices and pipes are opened as they are. Returns a handle >= 0. */
  int64_t (*create_file)(const hprof_host* host, const char* path, uint32_t replace, char* error, uint32_t error_size);
  /* Connects to host:port, [ipv6]:port or a local socket of this user or root by its full path, within the deadline. */
  int64_t (*connect)(const hprof_host* host, const char* address, uint64_t timeout_ns, char* error, uint32_t error_size);
  int64_t (*write)(const hprof_host* host, int64_t handle, const void* bytes, uint64_t size, uint64_t timeout_ns,
                   char* error, uint32_t error_size);
  int64_t (*read)(const hprof_host* host, int64_t handle, void* bytes, uint64_t size, uint64_t timeout_ns);
  int64_t (*close)(const hprof_host* host, int64_t handle, char* error, uint32_t error_size);
  int64_t (*remove)(const hprof_host* host, const char* path);
  uint64_t (*process_id)(const hprof_host* host); /* [any] */
  /* The local time as YYYYMMDDHHMMSS. */
  void (*timestamp)(const hprof_host* host, char* text, uint32_t text_size);
  /* Writes all bytes at a position of a regular file; write still appends. 0: done. */
  int64_t (*write_at)(const hprof_host* host, int64_t handle, uint64_t position, const void* bytes, uint64_t size,
                      char* error, uint32_t error_size);
  int64_t (*rename)(const hprof_host* host, const char* from, const char* to);
  /* Lets others read an open file: applies the read bits of mode (as in chmod) for group and others. 0: done. */
  int64_t (*share)(const hprof_host* host, int64_t handle, uint32_t mode, char* error, uint32_t error_size);
  /* The absolute path, with links and dots left in. Returns its length, 0: it does not fit. */
  uint64_t (*absolute_path)(const hprof_host* host, const char* path, char* text, uint32_t text_size);
  /* Both ends of a new connection prove that they know the secret in the first line of a file, before anything else is
   * sent (docs/control.md). With handle -1 only the file is checked: nobody else may be able to read it. 0: done. */
  int64_t (*prove)(const hprof_host* host, int64_t handle, const char* secret_file, uint64_t timeout_ns, char* error,
                   uint32_t error_size);
} hprof_io_service;

#endif
