// The class-file engine: class files in, rewritten ones out; with working memory of a bounded size.
#pragma once

#include "core/base/memory.h"
#include "core/modules/bytecode/engine/probe_set.h"

namespace hprof {

struct Engine;

// What the engine gets; all callbacks are called on the thread that rewrites. [app], from before
// VMStart on.
struct EngineUse {
  ProbeSet probes;  // with their callbacks; the engine fills in call hooks and quiet bodies
  Memory memory;
  size_t scratch_limit;  // bytes of working memory for one class
};

struct NewClass {
  uint8_t* bytes;  // from `allocate`; NULL: the class stays as it is
  uint32_t size;
};

// Only words, which are added to and read one by one.
struct EngineTotals {
  uint64_t classes, classes_changed, bytes_read;
  uint64_t methods, allocations;
  uint64_t classes_left[kReasonCount];
  struct OfUser {
    uint64_t begun, leaves;
    uint64_t methods_left[kReasonCount];
  } users[kMostUsers];
};

// NULL: no memory. [onload] [app]
Engine* engine_create(const EngineUse& use);
void engine_destroy(Engine* engine);  // [control], when no class is rewritten
// Rewrites a class file. Any number of threads at once. loader: for MethodSite::loader. [app]
NewClass engine_rewrite(Engine* engine, Span file, uint32_t loader, void* context,
                        uint8_t* (*allocate)(void* context, uint32_t size));
void engine_totals(const Engine* engine, EngineTotals* totals);  // [control]

}  // namespace hprof
