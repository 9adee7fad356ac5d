// What the units of a session need of the VM.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "core/agent/capabilities.h"
#include "core/agent/session.h"

namespace hprof {

namespace {

template <typename T>
const T* row_of(const T* rows, uint32_t stride, uint32_t index) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(rows) + size_t{stride} * index);
}

}  // namespace

// The first variant that applies and that the VM grants completely; nullptr: the unit's own needs hold.
const hprof_variant* Session::choose_variant(const hprof_unit* unit) {
  if (unit->size < offsetof(hprof_unit, variant_stride) + sizeof(unit->variant_stride)) return nullptr;
  for (uint32_t i = 0; i < unit->variant_count; i++) {
    const hprof_variant* variant = row_of(unit->variants, unit->variant_stride, i);
    const bool applies = strcmp(variant->when, "attached") == 0 ? settings_.attached != 0
                                                                : setup_.selects_pattern(variant->when);
    if (!applies) continue;
    if ((variant->needs & ~add_capabilities(parts_.jvmti, variant->needs)) == 0) return variant;
  }
  return nullptr;
}

bool Session::is_subscribed(uint64_t event) const {
  for (uint32_t i = 0; i < collector_count_; i++) {
    if ((collectors_[i].unit->events & event) != 0) return true;
  }
  return false;
}

bool Session::ask_for_capabilities() {
  if (setup_.is_without_effect()) return true;
  needs_ = wants_ = 0;
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    slot.variant = choose_variant(slot.unit);
    needs_ |= slot.needs();
    wants_ |= slot.wants();
  }
  constexpr uint64_t kEarly = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  if (settings_.attached == 0 && hotspot_.flags().makes_archive()) {
    if (((needs_ & HPROF_NEED_CLASS_HOOKS) | (wants_ & kEarly)) != 0)
      say("this run records classes for an archive or an AOT cache: no class is rewritten, so calls and "
          "allocations are not counted");
    needs_ &= ~(HPROF_NEED_CLASS_HOOKS | kEarly);
    wants_ &= ~(HPROF_NEED_CLASS_HOOKS | kEarly);
    rewriter_.sit_out();
  }
  uint64_t wants = wants_;
  // The core names frames, so it needs source files and lines wherever methods are named.
  wants |= HPROF_NEED_SOURCE_FILE | (settings_.line_numbers != 0 ? HPROF_NEED_LINE_NUMBERS : 0);
  if ((needs_ & HPROF_NEED_METHOD_BOOK) != 0 || is_subscribed(HPROF_EVENT_CLASS_UNLOAD) || records_unloads())
    wants |= HPROF_NEED_GC_EVENTS;
  settings_.granted = add_capabilities(parts_.jvmti, needs_ | wants);
  for (uint32_t bit = 0; bit < HPROF_NEED_COUNT; bit++) {
    uint64_t mask = 1ull << bit;
    char text[160];
    if ((settings_.granted & mask) != 0) {
      snprintf(text, sizeof(text), "capability %s", need_name(bit));
      say_detail(text);
    } else if ((needs_ & mask) != 0) {
      snprintf(text, sizeof(text), "this VM does not grant %s%s, which the chosen options need",
               need_name(bit), settings_.attached != 0 ? " after it has started" : "");
      return fail(text);
    }
  }
  return true;
}

}  // namespace hprof
