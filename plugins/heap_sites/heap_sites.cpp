// The unit heap_sites: what was allocated where.
#include <new>

#include <hprof/collector.h>

#include "plugins/heap_sites/collector.h"

namespace hprof::sites {

static Collector* of(void* self) { return static_cast<Collector*>(self); }

static hprof_status create(const hprof_host* host, const void* config, void** self) {
  Services services(host);
  void* memory = services.mem->allocate(host, sizeof(Collector));
  if (memory == nullptr) return HPROF_NO_MEMORY;
  *self = new (memory) Collector(host, *static_cast<const Config*>(config));
  return of(*self)->create();
}
static hprof_status start(void* self) { return of(self)->start(); }
static hprof_status report(void* self, const hprof_report* report) { return of(self)->report(*report); }
static void reset(void* self) { of(self)->reset(); }
static void stop(void* self) { of(self)->stop(); }
static void destroy(void* self) {
  Services services = of(self)->services();
  if (of(self)->close()) services.mem->release(services.host, self, sizeof(Collector));
}
static hprof_status control(void* self, const hprof_control* control) { return of(self)->control(*control); }

static void thread_end(void* self, void* jni, hprof_thread*) { of(self)->thread_end(jni); }
static void gc_finish(void* self) { of(self)->gc_finish(); }
static void vm_object(void* self, void* jni, hprof_thread*, void* object, void* of_class, int64_t size) {
  of(self)->vm_object(static_cast<JNIEnv*>(jni), static_cast<jobject>(object), static_cast<jclass>(of_class),
                      size);
}
static void sampled(void* self, void* jni, hprof_thread*, void* object, void* of_class, int64_t size) {
  of(self)->sampled_object(static_cast<JNIEnv*>(jni), static_cast<jobject>(object),
                           static_cast<jclass>(of_class), size);
}

static const hprof_handlers kHandlers = {
    sizeof(hprof_handlers),
    0,
    nullptr,
    nullptr,
    thread_end,
    nullptr,
    nullptr,
    gc_finish,
    nullptr,
    nullptr,
    nullptr,
    nullptr,
    vm_object,
    sampled,
    nullptr,
    nullptr,
};

static const hprof_collector_ops kOps = {
    sizeof(hprof_collector_ops), 0, create, start, report, reset, stop, destroy, control, &kHandlers,
};

static const hprof_option kOptions[] = {
    {"sites", HPROF_OPTION_TEXT, offsetof(Config, sites), "exact", nullptr, 0, 0, "exact|sampled[:<bytes>]",
     "count each object, or a sample for so many bytes (512k)"},
    {"sites-live", HPROF_OPTION_FLAG, offsetof(Config, follow), "y", nullptr, 0, 0, nullptr,
     "follow objects to their end, for the live columns?"},
    {"sites-order", HPROF_OPTION_CHOICE, offsetof(Config, order), "live", "live|allocated", 0, 0, nullptr,
     "what the table of sites is ordered by"},
    {"sites-walk", HPROF_OPTION_FLAG, offsetof(Config, walk), "y", nullptr, 0, 0, nullptr,
     "walk stacks without the VM, where that proves right?"},
};

// What it needs with sites=sampled: no class hook, so CDS and AOT cache stay on.
static const hprof_variant kSampled = {
    "sites=sampled*", HPROF_NEED_SAMPLED_ALLOC,
    HPROF_NEED_GC_EVENTS | HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS | HPROF_NEED_VIRTUAL_THREADS};

static const hprof_unit kUnit = {
    sizeof(hprof_unit),
    HPROF_UNIT_COLLECTOR,
    "heap_sites",
    "heap=sites|heap=all",
    "allocation sites",
    kOptions,
    sizeof kOptions / sizeof kOptions[0],
    sizeof(hprof_option),
    sizeof(Config),
    0,
    HPROF_NEED_CLASS_HOOKS,
    HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART | HPROF_NEED_VM_OBJECT_ALLOC |
        HPROF_NEED_GC_EVENTS | HPROF_NEED_SOURCE_FILE | HPROF_NEED_LINE_NUMBERS,
    HPROF_EVENT_THREAD_END | HPROF_EVENT_GC_FINISH | HPROF_EVENT_VM_OBJECT_ALLOC |
        HPROF_EVENT_SAMPLED_OBJECT_ALLOC | HPROF_EVENT_CLASS_FILE_LOAD,
    HPROF_RECORD_BIT(HPROF_RECORD_ALLOC_SITES) | HPROF_RECORD_BIT(HPROF_RECORD_HEAP_SUMMARY) |
        HPROF_RECORD_BIT(HPROF_RECORD_NOTE),
    &kOps,
    &kSampled,
};
static const hprof_unit* const kUnits[] = {&kUnit};

}  // namespace hprof::sites

HPROF_MODULE(heap_sites, "1.0", "hprof", hprof::sites::kUnits, 1)
