// The class-file engine as the core uses it: a table of functions that the module `bytecode` offers.
//
// The engine has a third of the core's size and only units with class hooks need it, so it is a library of
// its own (lib/hprof/plugins/bytecode.so) that the core opens for them. It works with a core of the same
// build only: this is a C++ interface, no part of the plugin ABI.
#pragma once

#include "core/base/memory.h"
#include "core/bytecode/probe_set.h"
#include "core/plugin/core_module.h"

namespace hprof {

constexpr uint32_t kEngineVersion = 5;
constexpr const char* kEngineModule = "bytecode";

struct Engine;

// What the core gives the engine; all callbacks are called on the thread that rewrites. [app], from before
// VMStart on.
struct EngineUse {
  ProbeSet probes;  // with their callbacks; the engine fills in call hooks and quiet bodies
  Memory memory;
  size_t scratch_limit;  // bytes of working memory for one class
  bool internal_unsafe;  // the VM has jdk.internal.misc.Unsafe (9 and later)
};

struct NewClass {
  uint8_t* bytes;  // from `allocate`; NULL: the class stays as it is
  uint32_t size;
};

struct EngineTotals {
  uint64_t classes, classes_changed, bytes_read;
  uint64_t methods, entered, leaves, handlers, handlers_left_out, caughts, caughts_left_out, allocations;
  uint64_t methods_left[kReasonCount];
  uint64_t classes_left[kReasonCount];
};

struct EngineTable {
  CoreTable head;
  // Also prepares the tracker classes, which rewritten classes need. NULL: no memory. [onload]
  Engine* (*create)(const EngineUse& use);
  // Rewrites a class file. Any number of threads at once. loader: for MethodSite::loader. [app]
  NewClass (*rewrite)(Engine* engine, Span file, uint32_t loader, void* context,
                      uint8_t* (*allocate)(void* context, uint32_t size));
  // A tracker class as this VM needs it. False: `index` is too large. [any]
  bool (*tracker)(const Engine* engine, uint32_t index, const char** name, Span* bytes);
  void (*totals)(const Engine* engine, EngineTotals* totals);  // [control]
  const char* (*reason)(Reason reason);                        // static text [any]
  // For callbacks: the class' source file (empty: none), and the line where the method begins (0: none).
  Span (*source_file)(const MethodSite& site);
  uint32_t (*first_line)(const MethodSite& site);
};

}  // namespace hprof
