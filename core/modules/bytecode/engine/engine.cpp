#include "core/modules/bytecode/engine/engine.h"

#include <atomic>
#include <new>

#include "core/base/atomic.h"
#include "core/modules/bytecode/engine/alloc_sites.h"
#include "core/modules/bytecode/engine/injector.h"

namespace hprof {

namespace {

constexpr uint32_t kScratches = 4;

struct PooledScratch {
  PooledScratch(const Memory& memory, size_t limit) : scratch(memory, limit) {}
  std::atomic<bool> taken{false};
  Scratch scratch;
};

}  // namespace

struct Engine {
  explicit Engine(const EngineUse& asked)
      : use(asked),
        pool{{asked.memory, asked.scratch_limit},
             {asked.memory, asked.scratch_limit},
             {asked.memory, asked.scratch_limit},
             {asked.memory, asked.scratch_limit}} {}

  EngineUse use;
  PooledScratch pool[kScratches];
  EngineTotals totals = {};  // accessed atomically
};

namespace {

void add(uint64_t& total, uint64_t value) {
  if (value != 0) add_relaxed(&total, value);
}

void add_up(EngineTotals& totals, const RewriteResult& result, uint32_t size, uint32_t users) {
  const RewriteCounts& counts = result.counts;
  add(totals.classes, 1);
  add(totals.bytes_read, size);
  if (result.reason == Reason::kRewritten) {
    add(totals.classes_changed, 1);
    add(totals.methods, counts.methods);
    add(totals.allocations, counts.allocations);
  } else {
    add(totals.classes_left[static_cast<uint32_t>(result.reason)], 1);
    if (result.reason != Reason::kUnchanged) return;
  }
  for (uint32_t user = 0; user < users; user++) {
    const RewriteCounts::OfUser& of = counts.users[user];
    EngineTotals::OfUser& to = totals.users[user];
    add(to.begun, of.begun);
    add(to.leaves, of.leaves);
    for (uint32_t i = 0; i < kReasonCount; i++) add(to.methods_left[i], of.left[i]);
  }
}

using Allocate = uint8_t* (*)(void* context, uint32_t size);

NewClass rewrite_with(Engine* engine, Scratch& scratch, Span file, uint32_t loader, void* context,
                      Allocate allocate) {
  RewriteResult result;
  rewrite(file, loader, engine->use.probes, scratch, &result);
  NewClass made{nullptr, 0};
  if (result.reason == Reason::kRewritten) {
    made = {allocate(context, result.size), result.size};
    if (made.bytes != nullptr) {
      copy_result(result, made.bytes);
    } else {
      result.reason = Reason::kNoMemory;
    }
  }
  add_up(engine->totals, result, file.size, engine->use.probes.user_count);
  return made;
}

}  // namespace

// When all scratches of the pool are in use, the class gets one of its own.
NewClass engine_rewrite(Engine* engine, Span file, uint32_t loader, void* context, Allocate allocate) {
  for (PooledScratch& entry : engine->pool) {
    if (entry.taken.exchange(true, std::memory_order_acquire)) continue;
    NewClass made = rewrite_with(engine, entry.scratch, file, loader, context, allocate);
    entry.taken.store(false, std::memory_order_release);
    return made;
  }
  Scratch scratch(engine->use.memory, engine->use.scratch_limit);
  return rewrite_with(engine, scratch, file, loader, context, allocate);
}

void engine_destroy(Engine* engine) {
  const Memory memory = engine->use.memory;
  engine->~Engine();
  memory.release(memory.context, engine, sizeof(Engine));
}

// Not freed at the end of the VM, until which classes may be loaded.
Engine* engine_create(const EngineUse& use) {
  void* memory = use.memory.allocate(use.memory.context, sizeof(Engine));
  if (memory == nullptr) return nullptr;
  auto* engine = new (memory) Engine(use);
  for (uint32_t i = 0; i < use.probes.user_count; i++) {
    if ((use.probes.users[i].probes & kProbesOfSites) != 0) add_allocation_probes(&engine->use.probes);
  }
  return engine;
}

void engine_totals(const Engine* engine, EngineTotals* totals) {
  const auto* from = reinterpret_cast<const uint64_t*>(&engine->totals);
  auto* to = reinterpret_cast<uint64_t*>(totals);
  for (size_t i = 0; i < sizeof(*totals) / sizeof(*to); i++) to[i] = load_relaxed(&from[i]);
}

}  // namespace hprof
