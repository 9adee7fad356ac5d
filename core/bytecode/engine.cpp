#include "core/bytecode/engine.h"

#include <atomic>
#include <new>

#include "core/bytecode/alloc_sites.h"
#include "core/bytecode/injector.h"
#include "core/bytecode/tracker_classes.h"

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
             {asked.memory, asked.scratch_limit}},
        tracker_budget{asked.memory, asked.scratch_limit},
        trackers{GrowBuffer(tracker_budget), GrowBuffer(tracker_budget), GrowBuffer(tracker_budget)} {}

  EngineUse use;
  PooledScratch pool[kScratches];
  MemoryBudget tracker_budget;
  GrowBuffer trackers[kTrackerClassCount];
  std::atomic<uint64_t> classes{0}, classes_changed{0}, bytes_read{0};
  std::atomic<uint64_t> methods{0}, entered{0}, leaves{0}, handlers{0}, handlers_left_out{0}, allocations{0};
  std::atomic<uint64_t> caughts{0}, caughts_left_out{0};
  std::atomic<uint64_t> methods_left[kReasonCount] = {};
  std::atomic<uint64_t> classes_left[kReasonCount] = {};
};

namespace {

void add(std::atomic<uint64_t>& total, uint64_t value) {
  if (value != 0) total.fetch_add(value, std::memory_order_relaxed);
}

void add_up(Engine* engine, const RewriteResult& result, uint32_t size) {
  const RewriteCounts& counts = result.counts;
  add(engine->classes, 1);
  add(engine->bytes_read, size);
  if (result.reason != Reason::kRewritten) {
    add(engine->classes_left[static_cast<uint32_t>(result.reason)], 1);
    return;
  }
  add(engine->classes_changed, 1);
  add(engine->methods, counts.methods);
  add(engine->entered, counts.entered);
  add(engine->leaves, counts.leaves);
  add(engine->handlers, counts.syncs);
  add(engine->handlers_left_out, counts.syncs_left_out);
  add(engine->caughts, counts.caughts);
  add(engine->caughts_left_out, counts.caughts_left_out);
  add(engine->allocations, counts.allocations);
  for (uint32_t i = 0; i < kReasonCount; i++) add(engine->methods_left[i], counts.left[i]);
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
  add_up(engine, result, file.size);
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

namespace {

bool make_trackers(Engine* engine) {
  Scratch scratch(engine->use.memory, engine->use.scratch_limit);
  for (uint32_t i = 0; i < kTrackerClassCount; i++) {
    if (prepare_tracker(kTrackerClasses[i], engine->use.internal_unsafe, scratch, engine->trackers[i]) !=
        Reason::kRewritten)
      return false;
  }
  return true;
}

}  // namespace

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
  if ((use.probes.probes & kProbesOfSites) != 0) add_allocation_probes(&engine->use.probes);
  if (make_trackers(engine)) return engine;
  engine_destroy(engine);
  return nullptr;
}

bool engine_tracker(const Engine* engine, uint32_t index, const char** name, Span* bytes) {
  if (index >= kTrackerClassCount) return false;
  const GrowBuffer& made = engine->trackers[index];
  *name = kTrackerClasses[index].name;
  *bytes = {made.data(), static_cast<uint32_t>(made.size())};
  return true;
}

void engine_totals(const Engine* engine, EngineTotals* totals) {
  *totals = {};
  totals->classes = engine->classes;
  totals->classes_changed = engine->classes_changed;
  totals->bytes_read = engine->bytes_read;
  totals->methods = engine->methods;
  totals->entered = engine->entered;
  totals->leaves = engine->leaves;
  totals->handlers = engine->handlers;
  totals->handlers_left_out = engine->handlers_left_out;
  totals->caughts = engine->caughts;
  totals->caughts_left_out = engine->caughts_left_out;
  totals->allocations = engine->allocations;
  for (uint32_t i = 0; i < kReasonCount; i++) {
    totals->methods_left[i] = engine->methods_left[i];
    totals->classes_left[i] = engine->classes_left[i];
  }
}

}  // namespace hprof
