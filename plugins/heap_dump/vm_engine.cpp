// Heap dumps by the VM's own dumper.
#include "plugins/heap_dump/vm_engine.h"

#include "plugins/heap_dump/vm_stream.h"

namespace hprof::dump {

static hprof_status pass_on(void* argument, uint32_t stream, uint8_t* bytes, uint64_t size) {
  return static_cast<VmStream*>(argument)->take(stream, bytes, size);
}

hprof_status VmEngine::dump(const Config& config, ObjectTraces* traces, Progress* progress, char* why,
                            uint32_t why_size) {
  const Services& s = *services_;
  constexpr uint32_t kFirstApart = 22;  // Java version that writes objects apart
  if (traces->is_used()) {
    const hprof_status status = traces->define(ObjectTraces::How::kByAddress);
    if (status != HPROF_OK) return status;
  }
  VmStream stream;
  hprof_status status = HPROF_NO_MEMORY;
  // Where dumps have files of their own there is one in each.
  const uint32_t number = s.foreign_dump->is_patchable(s.host) == 0 ? streamed_++ : 0;
  if (stream.open(services_, config, s.settings().java_version >= kFirstApart, number, progress,
                  traces->is_used() ? traces : nullptr)) {
    status = s.vm_dump->run(s.host, config.live == 0 ? 1 : 0, &stream, &pass_on, why, why_size);
    if (status == HPROF_OK) status = stream.finish();
    traces->set_outcome(stream.heap().objects(), stream.heap().traced());
    const char* words = stream.failure() != nullptr ? stream.failure() : why;
    if (status != HPROF_OK && status != HPROF_UNSUPPORTED && words[0] != 0) {
      TextLine<300> line;
      s.log->message(s.host, line.add("heap dump: ").add(words).c_str());
    }
  }
  stream.close();
  return status;
}

}  // namespace hprof::dump
