// The kept outputs: append-only lists of chunks in a fixed table.
//
// Protocol: each output has one writer; readers take no lock. The writer fills a chunk, then stores the new
// size (release); a reader loads the size (acquire), and chunks below it exist and never move. States: free
// -> open -> complete or cut -> free; the slot's handle shows a reader that it is still the same output.
//
// The memory is malloc's, since it outlives the session.
#pragma once

#include <atomic>

#include <hprof/memory_sink.h>

namespace hprof::memory {

constexpr uint32_t kOutputs = 32;
constexpr uint64_t kChunk = 64 * 1024;

struct MemoryOutput {
  std::atomic<uint32_t> handle;  // 0: free
  std::atomic<uint32_t> state;
  std::atomic<uint64_t> size;
  uint64_t limit;
  uint8_t** chunks;  // room for the limit
  char name[256];
};

// nullptr: the table is full, or no memory; *why says which.
MemoryOutput* open_output(const char* name, uint64_t limit, const char** why);
// Appends as much as the limit allows; returns how many bytes. 0: no room, or no memory.
uint64_t append(MemoryOutput& output, const uint8_t* bytes, uint64_t size);
void close_output(MemoryOutput& output, bool complete);

// The functions of hprof_memory_sink.
uint32_t newest();
hprof_status describe(uint32_t handle, hprof_memory_output* to);
uint64_t copy(uint32_t handle, uint64_t offset, void* bytes, uint64_t size);
hprof_status discard(uint32_t handle);
void on_close(void (*closed)(void* argument, uint32_t handle), void* argument);

}  // namespace hprof::memory
