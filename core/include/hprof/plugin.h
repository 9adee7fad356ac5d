/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin library: one exported function that negotiates, and the records that it returns.
 *
 * A library (a "module") holds one or more units. A unit is a collector (watches the VM), an encoder (records to
 * bytes), a filter (bytes to other bytes) or a sink (bytes to somewhere). What a unit is, needs and offers is data, so
 * that the core can add up capabilities, refuse impossible combinations and print the help text without running any of
 * its code.
 */
#ifndef HPROF_PLUGIN_H
#define HPROF_PLUGIN_H

#include <hprof/abi.h>

/* --- options ---------------------------------------------------------------------------------------------------- */

/* Where a value is stored in the unit's config struct, by type. */
#define HPROF_OPTION_FLAG 1   /* y|n             uint32_t 0 or 1 */
#define HPROF_OPTION_INT 2    /* decimal         int64_t, min..max */
#define HPROF_OPTION_REAL 3   /* decimal, point  double, min..max */
#define HPROF_OPTION_TEXT 4   /* anything        const char*, lives as long as the session; "" when empty */
#define HPROF_OPTION_CHOICE 5 /* one of choices  uint32_t, position in `choices` */
#define HPROF_OPTION_SIZE 6   /* 64k, 2m, 1g     uint64_t bytes, min..max */
#define HPROF_OPTION_MILLIS 7 /* 10, 0.5         uint64_t nanoseconds; min and max in milliseconds */

typedef struct hprof_option {
  const char* name;         /* as typed before the '='; units share one that they describe alike */
  uint32_t type;            /* HPROF_OPTION_* */
  uint32_t offset;          /* of the value in the config struct */
  const char* default_text; /* parsed like a typed value; NULL: zero / NULL */
  const char* choices;      /* HPROF_OPTION_CHOICE: "a|b|c"; the value is the position */
  double min, max;          /* inclusive; both 0: unbounded */
  const char* value_text;   /* for help: "<ms>"; NULL: generated from type and choices */
  const char* help;         /* for help: a few words */
} hprof_option;

/* --- what a unit may need of the VM, as bits of hprof_unit.needs and .wants ---------------------------------------- */

#define HPROF_NEED_TAG_OBJECTS (1ull << 0)    /* can_tag_objects */
#define HPROF_NEED_GC_EVENTS (1ull << 1)      /* can_generate_garbage_collection_events */
#define HPROF_NEED_MONITOR_EVENTS (1ull << 2) /* can_generate_monitor_events */
/* can_get_monitor_info; at start-up also can_get_current_contended_monitor and can_get_owned_monitor_info */
#define HPROF_NEED_MONITOR_INFO (1ull << 3)
#define HPROF_NEED_SOURCE_FILE (1ull << 4)       /* can_get_source_file_name */
#define HPROF_NEED_LINE_NUMBERS (1ull << 5)      /* can_get_line_numbers */
#define HPROF_NEED_THREAD_CPU (1ull << 6)        /* can_get_thread_cpu_time */
#define HPROF_NEED_CLASS_HOOKS (1ull << 7)       /* can_generate_all_class_hook_events, retransform */
#define HPROF_NEED_EARLY_CLASS_HOOKS (1ull << 8) /* ... already before VMStart (switches CDS off) */
#define HPROF_NEED_EARLY_VMSTART (1ull << 9)     /* can_generate_early_vmstart (9+) */
#define HPROF_NEED_SAMPLED_ALLOC (1ull << 10)    /* can_generate_sampled_object_alloc_events (11+; one agent at a time) */
#define HPROF_NEED_VM_OBJECT_ALLOC (1ull << 11)  /* can_generate_vm_object_alloc_events */
#define HPROF_NEED_VIRTUAL_THREADS (1ull << 12)  /* can_support_virtual_threads (21+) */
/* Of the core: it makes the jmethodIDs of every class and notes which classes are unloaded, so that frames found on
 * other threads or in signal handlers can be named */
#define HPROF_NEED_METHOD_BOOK (1ull << 13)
#define HPROF_NEED_COUNT 14

/* --- events, as bits of hprof_unit.events; the handlers are in collector.h ------------------------------------------ */

#define HPROF_EVENT_VM_INIT (1ull << 0)
#define HPROF_EVENT_VM_DEATH (1ull << 1)
#define HPROF_EVENT_THREAD_START (1ull << 2)
#define HPROF_EVENT_THREAD_END (1ull << 3)
#define HPROF_EVENT_VIRTUAL_THREAD_START (1ull << 4)
#define HPROF_EVENT_VIRTUAL_THREAD_END (1ull << 5)
#define HPROF_EVENT_CLASS_PREPARE (1ull << 6)
#define HPROF_EVENT_GC_START (1ull << 7)
#define HPROF_EVENT_GC_FINISH (1ull << 8)
#define HPROF_EVENT_MONITOR_CONTENDED_ENTER (1ull << 9)
#define HPROF_EVENT_MONITOR_CONTENDED_ENTERED (1ull << 10)
#define HPROF_EVENT_MONITOR_WAIT (1ull << 11)
#define HPROF_EVENT_MONITOR_WAITED (1ull << 12)
#define HPROF_EVENT_VM_OBJECT_ALLOC (1ull << 13)
#define HPROF_EVENT_SAMPLED_OBJECT_ALLOC (1ull << 14)
/* AsyncGetCallTrace of some VMs has no stacks unless this event is enabled */
#define HPROF_EVENT_CLASS_LOAD (1ull << 15)
#define HPROF_EVENT_CLASS_UNLOAD (1ull << 16) /* of the core, which keeps a weak reference to each class for it */
#define HPROF_EVENT_COUNT 17

/* --- units and modules ---------------------------------------------------------------------------------------------- */

#define HPROF_UNIT_COLLECTOR 1
#define HPROF_UNIT_ENCODER 2
#define HPROF_UNIT_SINK 3
#define HPROF_UNIT_FILTER 4 /* between encoder and sink; at most one, chosen by its select text */

/* hprof_unit.flags; other bits are 0 */
/* A collector that writes no records. Other units that its option selects are there for its use, and are not reported
 * unless another option selects them, too. If no unit is left to report, no output is opened. */
#define HPROF_UNIT_NO_OUTPUT 1u
/* every= can cut windows out of the collector's reports: the core subtracts the rows of one report from those of the next
 * that have the same key (HPROF_COLUMN_KEY). COUNT, NANOSECONDS and BYTES cells and REAL weights never decrease until a reset,
 * except in STATE columns. The core asks for whole tables (cutoff 0), and ranks and cuts off itself. Notes
 * and tables with HPROF_TABLE_CHANGES or _EVENTS are passed on unchanged. */
#define HPROF_UNIT_WINDOWS 2u
/* Its reports come before those of other collectors: readers expect the CPU section of a text first. */
#define HPROF_UNIT_REPORTS_FIRST 4u

/* The needs and wants of a collector when an option has a certain value, in place of those in its hprof_unit. The first
 * variant whose condition holds and whose needs the VM can grant applies; settings.granted shows what it got. */
typedef struct hprof_variant {
  const char* when; /* as typed: "sites=sampled"; '*' at the end: anything. "attached": loaded into a running VM */
  uint64_t needs, wants;
} hprof_variant;

typedef struct hprof_unit {
  uint32_t size;
  uint32_t kind;  /* HPROF_UNIT_* */
  const char* id; /* "cpu_samples"; unique in a session; letters, digits, '_' */
  /* Options that select it, as typed: "cpu=samples|cpu=y"; a '*' at the end of a value stands for anything, a name
   * alone takes any value. NULL: only plugin=<id> selects it, which selects any unit, or format=<id> an encoder */
  const char* select;
  const char* summary;         /* one line for help */
  const hprof_option* options; /* rows of its own, besides the core's */
  uint32_t option_count;
  uint32_t option_stride; /* sizeof(hprof_option) as the plugin knows it */
  uint32_t config_size;   /* bytes of its config struct, zeroed and filled in by the core */
  uint32_t flags;         /* HPROF_UNIT_* */
  uint64_t needs;         /* HPROF_NEED_*: without them the unit cannot run */
  uint64_t wants;         /* HPROF_NEED_*: asked for, not required; see settings.granted */
  /* HPROF_EVENT_*: enabled while the collector runs; a core that does not know one ignores it, unless
   * HPROF_ABI_TARGET_MINOR requires it */
  uint64_t events;
  /* NULL-terminated names of record kinds (HPROF_KIND_* or a vendor's) and of tables (their schemas' names). Of a
   * collector: what it emits; an encoder that does not take all of these, notes and what is optional excepted, is
   * refused. Of an encoder: what it takes; nothing else reaches it. HPROF_KIND_TABLE stands for all tables, NULL for
   * everything. Unknown names are allowed. */
  const char* const* records;
  const void* ops;               /* hprof_collector_ops, hprof_encoder_ops, hprof_filter_ops or hprof_sink_ops */
  const hprof_variant* variants; /* of a collector; may be NULL */
  uint32_t variant_count;
  uint32_t variant_stride; /* sizeof(hprof_variant) as the plugin knows it */
  /* A table that the unit offers to others, by an id that has a version and, except for hprof's own, a vendor's prefix:
   * "com.acme.heat_map/1". The table starts with its size and lives as long as the library; NULL: not offered. The
   * function may be NULL. [any] but [signal] */
  const void* (*extension)(const char* id);
  /* Of a collector: those of its records that an encoder may leave out; NULL: none. */
  const char* const* optional;
} hprof_unit;

typedef struct hprof_module {
  uint32_t size;
  uint16_t abi_major;  /* HPROF_ABI_MAJOR it was compiled with */
  uint16_t abi_minor;  /* HPROF_ABI_TARGET_MINOR: the oldest core that runs it */
  uint64_t layout;     /* HPROF_LAYOUT_WORD it was compiled with */
  const char* name;    /* the module's name: its file name without folder and suffix */
  const char* version; /* the vendor's own, for help and messages */
  const char* vendor;
  const hprof_unit* const* units;
  uint32_t unit_count;
  uint32_t reserved;
} hprof_module;

/* The core's side of the version check, passed to the module's entry function. */
typedef struct hprof_offer {
  uint32_t size;
  uint16_t abi_major;
  uint16_t abi_minor;
  uint64_t layout;
} hprof_offer;

/* A unit's extension, for programs that embed the agent: they open the unit's library again (dlopen, then
 * HPROF_MODULE_ENTRY_NAME) and get the instance that the agent uses. Units call hprof_host.find_extension instead.
 * NULL: no such unit or extension. [any] but [signal] */
static inline const void* hprof_extension_of(const hprof_module* module, const char* unit_id, const char* id) {
  uint32_t i;
  for (i = 0; module != NULL && i < module->unit_count; i++) {
    const hprof_unit* unit = module->units[i];
    if (strcmp(unit->id, unit_id) == 0) return HPROF_HAS(unit, hprof_unit, extension) ? unit->extension(id) : NULL;
  }
  return NULL;
}

/* The one exported function. [onload], or [control] for help. Returns a record that lives as long as the library, or
 * NULL with *reason set to static text ("needs a licence file"). It must not touch the VM. */
typedef const hprof_module* (*hprof_module_entry)(const hprof_offer* offer, const char** reason);
#define HPROF_MODULE_ENTRY_NAME "hprof_module_open"

/* A compile-time hash over sizes and offsets that are frozen for a major version. Two sides with different hashes were
 * built with different headers or C ABIs (packing, pointer size) and are not compatible. */
#define HPROF_LAYOUT_STEP(h, v) ((uint64_t)(h)*0x100000001b3ull ^ (uint64_t)(v))
#define HPROF_LAYOUT_1 HPROF_LAYOUT_STEP(0xcbf29ce484222325ull, sizeof(void*))
#define HPROF_LAYOUT_2 HPROF_LAYOUT_STEP(HPROF_LAYOUT_1, offsetof(hprof_module, unit_count))
#define HPROF_LAYOUT_3 HPROF_LAYOUT_STEP(HPROF_LAYOUT_2, offsetof(hprof_unit, ops))
#define HPROF_LAYOUT_4 HPROF_LAYOUT_STEP(HPROF_LAYOUT_3, offsetof(hprof_option, help))
#define HPROF_LAYOUT_5 HPROF_LAYOUT_STEP(HPROF_LAYOUT_4, sizeof(hprof_text))
#define HPROF_LAYOUT_6 HPROF_LAYOUT_STEP(HPROF_LAYOUT_5, offsetof(hprof_offer, layout))
/* Counts changes before 1.0 that sizes and offsets do not show. */
#define HPROF_LAYOUT_WORD HPROF_LAYOUT_STEP(HPROF_LAYOUT_6, 4)

/*
 * HPROF_MODULE(cpu_samples, "1.0", "hprof", units, count): ends the one source file that describes a module. A loadable
 * module exports hprof_module_open; a static one becomes hprof_module_<name>, listed in a table that CMake makes.
 */
#ifdef HPROF_STATIC_MODULE
#define HPROF_MODULE_FUNCTION(name)                                                         \
  HPROF_EXTERN_C const hprof_module* hprof_module_##name(const hprof_offer*, const char**); \
  const hprof_module* hprof_module_##name
#else
#define HPROF_MODULE_FUNCTION(name)                                                     \
  HPROF_EXPORT const hprof_module* hprof_module_open(const hprof_offer*, const char**); \
  const hprof_module* hprof_module_open
#endif

#define HPROF_MODULE(module_name, version_text, vendor_text, unit_array, count)                                       \
  HPROF_MODULE_FUNCTION(module_name)                                                                                  \
  (const hprof_offer* offer, const char** reason) {                                                                   \
    static const hprof_module module = {                                                                              \
        sizeof(hprof_module), HPROF_ABI_MAJOR, HPROF_ABI_TARGET_MINOR, HPROF_LAYOUT_WORD, #module_name, version_text, \
        vendor_text, unit_array, count, 0};                                                                           \
    (void)offer;                                                                                                      \
    (void)reason;                                                                                                     \
    return &module;                                                                                                   \
  }

#endif
