// The mem service in builds with checks: blocks with guards (base/guarded_block.h), counted by unit.
#include "core/agent/services/checked_services.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/session/unit_slot.h"
#include "core/base/guarded_block.h"
#include "core/base/text.h"

namespace hprof {

namespace {

hprof_mem_service real;

void* allocate(const hprof_host* host, uint64_t bytes) {
  if (bytes > UINT64_MAX - kGuardedBlockMore) return nullptr;
  void* block = real.allocate(host, bytes + kGuardedBlockMore);
  if (block == nullptr) return nullptr;
  slot_of(host)->held.fetch_add(bytes, std::memory_order_relaxed);
  return guard_block(block, bytes, host);
}

void say_size(const UnitSlot& slot, uint64_t had, uint64_t returned) {
  char text[120];
  TextWriter out(text, sizeof(text));
  out.put("it gives back a block of ").put_unsigned(had).put(" bytes as one of ").put_unsigned(returned);
  complain(slot, Complaint::kMemory, text);
}

// Does not touch a block that was not allocated here.
void release(const hprof_host* host, void* memory, uint64_t bytes) {
  if (memory == nullptr) return;
  const GuardedBlock was = guarded_block_of(memory);
  const UnitSlot& slot = *slot_of(host);
  if (was.block == nullptr)
    return complain(slot, Complaint::kMemory, "it gives back memory that it does not have");
  if (was.bytes != bytes) say_size(slot, was.bytes, bytes);
  const auto* owner = static_cast<const hprof_host*>(was.owner);
  if (!was.is_intact)
    complain(*slot_of(owner), Complaint::kMemory, "it wrote past the end of a block of its memory");
  slot_of(owner)->held.fetch_sub(was.bytes, std::memory_order_relaxed);
  real.release(host, was.block, was.bytes + kGuardedBlockMore);
}

void* reserve(const hprof_host* host, uint64_t bytes) {
  void* region = real.reserve(host, bytes);
  if (region != nullptr) slot_of(host)->held.fetch_add(bytes, std::memory_order_relaxed);
  return region;
}

void unreserve(const hprof_host* host, void* memory, uint64_t bytes) {
  real.unreserve(host, memory, bytes);
  if (memory != nullptr) slot_of(host)->held.fetch_sub(bytes, std::memory_order_relaxed);
}

uint32_t charge(const hprof_host* host, uint64_t bytes) {
  if (real.charge(host, bytes) == 0) return 0;
  slot_of(host)->charged.fetch_add(bytes, std::memory_order_relaxed);
  return 1;
}

void uncharge(const hprof_host* host, uint64_t bytes) {
  real.uncharge(host, bytes);
  slot_of(host)->charged.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace

void guard_memory(hprof_mem_service* table) {
  real = *table;
  table->allocate = &allocate;
  table->release = &release;
  table->reserve = &reserve;
  table->unreserve = &unreserve;
  table->charge = &charge;
  table->uncharge = &uncharge;
}

}  // namespace hprof
