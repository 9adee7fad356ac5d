/* The header is one of C's, too. */
#include <hprof/memory_sink.h>

uint32_t memory_sink_newest(const hprof_module* module) {
  const hprof_memory_sink* sink = hprof_memory_sink_of(module);
  return HPROF_HAS(sink, hprof_memory_sink, newest) ? sink->newest() : 0;
}
