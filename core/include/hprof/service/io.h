/* Files and sockets for sinks, with the platform layer's guarantees. Results below 0 are errors, said in error text: -1,
 * or what a caller may want to tell apart. All of it: [onload][control][writer], process_id: [any] */
#ifndef HPROF_SERVICE_IO_H
#define HPROF_SERVICE_IO_H

#include <hprof/abi.h>

#define HPROF_SERVICE_IO "hprof.io/1"

#define HPROF_IO_EXISTS (-2) /* the file is there already, and was not to be replaced */
#define HPROF_IO_IN_USE (-3) /* a living process writes that file */

typedef struct hprof_io_service {
  uint32_t size;
  uint32_t reserved;
  /* Creates a file for output: mode 0600, no symbolic link followed; an existing regular file of our own is replaced
   * when replace = 1, otherwise refused (HPROF_IO_EXISTS). A file that another handle or process writes is
   * HPROF_IO_IN_USE. Devices and pipes are opened as they are. Returns a handle >= 0. */
  int64_t (*create_file)(const hprof_host* host, const char* path, uint32_t replace, char* error, uint32_t error_size);
  /* Connects to host:port, [ipv6]:port or a local socket of this user or root by its full path, within the deadline. */
  int64_t (*connect)(const hprof_host* host, const char* address, uint64_t timeout_ns, char* error, uint32_t error_size);
  int64_t (*write)(const hprof_host* host, int64_t handle, const void* bytes, uint64_t size, uint64_t timeout_ns,
                   char* error, uint32_t error_size);
  int64_t (*read)(const hprof_host* host, int64_t handle, void* bytes, uint64_t size, uint64_t timeout_ns);
  int64_t (*close)(const hprof_host* host, int64_t handle, char* error, uint32_t error_size);
  int64_t (*remove)(const hprof_host* host, const char* path);
  uint64_t (*process_id)(const hprof_host* host);
  void (*timestamp)(const hprof_host* host, char* text, uint32_t text_size); /* local YYYYMMDDHHMMSS */
  /* Writes all of it at a place of a regular file, without moving where write goes on. 0: done. */
  int64_t (*write_at)(const hprof_host* host, int64_t handle, uint64_t position, const void* bytes, uint64_t size,
                      char* error, uint32_t error_size);
  int64_t (*rename)(const hprof_host* host, const char* from, const char* to);
  /* Lets others read an open file: of mode (as in chmod) the read bits of group and others are looked at. 0: done. */
  int64_t (*share)(const hprof_host* host, int64_t handle, uint32_t mode, char* error, uint32_t error_size);
  /* The path from the root of the file system; links and dots stay. Its length, 0: it does not fit. */
  uint64_t (*absolute_path)(const hprof_host* host, const char* path, char* text, uint32_t text_size);
  /* Both ends of a new connection show each other that they know the secret in the first line of a file, before anything
   * else goes over it (docs/control.md). Without a connection (handle -1) only the file is looked at: it must be nobody
   * else's to read. 0: done. */
  int64_t (*prove)(const hprof_host* host, int64_t handle, const char* secret_file, uint64_t timeout_ns, char* error,
                   uint32_t error_size);
} hprof_io_service;

#endif
