// The service vm_dump: the VM's own heap dumper.
#include <cstdio>

#include <hprof/draft/vm_dump.h>

#include "core/modules/hotspot/services.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

constexpr size_t kBufferMost = 1024 * 1024;
constexpr size_t kBufferLeast = 64 * 1024;

hprof_status explain_vm_dump(int code, const char* reason, char* error, uint32_t error_size) {
  char why[160];
  platform::error_text(code, why, sizeof(why));
  snprintf(error, error_size, "%s%s%s", reason, *reason != 0 ? ": " : "", why);
  return code == platform::kErrorUnsupported ? HPROF_UNSUPPORTED : HPROF_FAILED;
}

struct Taker {
  void* argument;
  hprof_vm_dump_take take;
  hprof_status status;
  const HotSpot& hotspot;
};

bool pass_on(void* context, uint32_t stream, uint8_t* bytes, size_t size) {
  auto* taker = static_cast<Taker*>(context);
  taker->status = taker->take(taker->argument, stream, bytes, size);
  return taker->status == HPROF_OK;
}

hprof_status run_vm_dump(const hprof_host* host, uint32_t all, void* argument, hprof_vm_dump_take take,
                         char* error, uint32_t error_size) {
  Taker taker = {argument, take, HPROF_OK, hotspot_of(host)};
  auto gives_up = [](void* context) {
    return static_cast<Taker*>(context)->hotspot.is_waited_for_by_attach();
  };
  const Memory& memory = taker.hotspot.memory();
  size_t size = kBufferMost;
  auto* buffer = static_cast<uint8_t*>(memory.allocate(memory.context, size));
  if (buffer == nullptr) buffer = static_cast<uint8_t*>(memory.allocate(memory.context, size = kBufferLeast));
  if (buffer == nullptr) return explain_vm_dump(platform::kErrorUnsupported, "no memory", error, error_size);
  char reason[160] = "";
  bool apart = host->settings->java_version >= 22;
  int code = platform::vm_heap_dump(all != 0, apart, pass_on, gives_up, &taker, buffer, size, reason,
                                    sizeof(reason));
  memory.release(memory.context, buffer, size);
  if (taker.status != HPROF_OK) return HPROF_ABORTED;
  return code == 0 ? HPROF_OK : explain_vm_dump(code, reason, error, error_size);
}

uint32_t vm_dump_available(const hprof_host* host, char* error, uint32_t error_size) {
  if (host->settings->java_version < 11) {
    snprintf(error, error_size, "the dumper of this VM writes to files only");
    return 0;
  }
  if (hotspot_of(host).is_waited_for_by_attach()) {
    snprintf(error, error_size, "the VM's attach thread waits for this dump");
    return 0;
  }
  char reason[160] = "";
  int code = platform::vm_heap_dump_available(reason, sizeof(reason));
  if (code != 0) explain_vm_dump(code, reason, error, error_size);
  return code == 0 ? 1 : 0;
}

const hprof_vm_dump_service kVmDump = {sizeof(hprof_vm_dump_service), 0, &vm_dump_available, &run_vm_dump};

}  // namespace

const void* vm_dump_service() { return &kVmDump; }

}  // namespace hprof
