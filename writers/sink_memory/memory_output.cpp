// Outputs in memory, and the table of functions to read them.
#include "memory_output.h"

#include <cstdlib>

#include <hprof/cpp/text.hpp>

namespace hprof::memory {

namespace {

// Zero-initialised, without constructors: the library has no start-up code.
MemoryOutput g_outputs[kOutputs];
std::atomic<uint32_t> g_newest;
std::atomic<void (*)(void*, uint32_t)> g_closed;
std::atomic<void*> g_closed_argument;

MemoryOutput* find(uint32_t handle) {
  if (handle == 0) return nullptr;
  for (MemoryOutput& output : g_outputs) {
    if (output.handle.load(std::memory_order_acquire) == handle) return &output;
  }
  return nullptr;
}

uint64_t chunk_count(uint64_t limit) { return (limit + kChunk - 1) / kChunk; }

}  // namespace

uint32_t newest() { return g_newest.load(std::memory_order_acquire); }

hprof_status describe(uint32_t handle, hprof_memory_output* to) {
  const MemoryOutput* output = find(handle);
  if (output == nullptr || to == nullptr || to->size < sizeof(to->size)) return HPROF_UNSUPPORTED;
  hprof_memory_output known = {};
  // Reads the state first: a complete output has its final size.
  known.state = output->state.load(std::memory_order_acquire);
  known.bytes = output->size.load(std::memory_order_acquire);
  std::memcpy(known.name, output->name, sizeof known.name);
  hprof_copy_sized(to, to->size, &known, sizeof known);
  return HPROF_OK;
}

uint64_t copy(uint32_t handle, uint64_t offset, void* bytes, uint64_t size) {
  const MemoryOutput* output = find(handle);
  const uint64_t kept = output == nullptr ? 0 : output->size.load(std::memory_order_acquire);
  if (offset >= kept) return 0;
  if (size > kept - offset) size = kept - offset;
  uint8_t* to = static_cast<uint8_t*>(bytes);
  for (uint64_t done = 0; done < size;) {
    const uint64_t at = (offset + done) % kChunk;
    const uint64_t n = size - done < kChunk - at ? size - done : kChunk - at;
    std::memcpy(to + done, output->chunks[(offset + done) / kChunk] + at, n);
    done += n;
  }
  return size;
}

hprof_status discard(uint32_t handle) {
  MemoryOutput* output = find(handle);
  if (output == nullptr) return HPROF_UNSUPPORTED;
  if (output->state.load(std::memory_order_acquire) == HPROF_MEMORY_OPEN) return HPROF_FAILED;
  for (uint64_t i = 0; i < chunk_count(output->limit); i++) std::free(output->chunks[i]);
  std::free(output->chunks);
  output->chunks = nullptr;
  output->size.store(0, std::memory_order_relaxed);
  output->handle.store(0, std::memory_order_relaxed);
  // Stored last: another output may use the slot from now on.
  output->state.store(0, std::memory_order_release);
  return HPROF_OK;
}

void on_close(void (*closed)(void*, uint32_t), void* argument) {
  g_closed_argument.store(argument, std::memory_order_relaxed);
  g_closed.store(closed, std::memory_order_release);
}

MemoryOutput* open_output(const char* name, uint64_t limit, const char** why) {
  for (MemoryOutput& output : g_outputs) {
    uint32_t free_state = 0;
    if (!output.state.compare_exchange_strong(free_state, HPROF_MEMORY_OPEN, std::memory_order_acquire))
      continue;
    output.chunks = static_cast<uint8_t**>(std::calloc(chunk_count(limit), sizeof(uint8_t*)));
    if (output.chunks == nullptr) {
      output.state.store(0, std::memory_order_release);
      *why = "no memory";
      return nullptr;
    }
    output.limit = limit;
    output.size.store(0, std::memory_order_relaxed);
    TextBuffer(output.name, sizeof output.name).add(name);
    const uint32_t handle = g_newest.load(std::memory_order_relaxed) + 1;
    // One control thread at a time opens sinks, so no other output takes this number.
    output.handle.store(handle, std::memory_order_release);
    g_newest.store(handle, std::memory_order_release);
    return &output;
  }
  *why = "32 outputs are kept already: discard some";
  return nullptr;
}

uint64_t append(MemoryOutput& output, const uint8_t* bytes, uint64_t size) {
  const uint64_t begin = output.size.load(std::memory_order_relaxed);
  if (size > output.limit - begin) size = output.limit - begin;
  uint64_t done = 0;
  while (done < size) {
    const uint64_t at = (begin + done) % kChunk;
    uint8_t*& chunk = output.chunks[(begin + done) / kChunk];
    if (chunk == nullptr) chunk = static_cast<uint8_t*>(std::malloc(kChunk));
    if (chunk == nullptr) break;
    const uint64_t n = size - done < kChunk - at ? size - done : kChunk - at;
    std::memcpy(chunk + at, bytes + done, n);
    done += n;
  }
  output.size.store(begin + done, std::memory_order_release);
  return done;
}

void close_output(MemoryOutput& output, bool complete) {
  const uint32_t handle = output.handle.load(std::memory_order_relaxed);
  output.state.store(complete ? HPROF_MEMORY_COMPLETE : HPROF_MEMORY_CUT, std::memory_order_release);
  void (*closed)(void*, uint32_t) = g_closed.load(std::memory_order_acquire);
  if (closed != nullptr) closed(g_closed_argument.load(std::memory_order_relaxed), handle);
}

}  // namespace hprof::memory
