#include "core/agent/vm/capabilities.h"

#include <cstring>

#include <hprof/plugin.h>

#include "core/plugin/verify.h"

namespace hprof {

namespace {

// Bit positions in jvmtiCapabilities (jvmti.h), which are part of JVMTI's binary interface.
struct Row {
  uint8_t need;  // position in HPROF_NEED_*
  uint8_t position;
  char name[41];
};
constexpr Row kRows[] = {
    {0, 0, "can_tag_objects"},
    {1, 31, "can_generate_garbage_collection_events"},
    {2, 28, "can_generate_monitor_events"},
    {3, 7, "can_get_monitor_info"},
    {3, 6, "can_get_current_contended_monitor"},
    {4, 11, "can_get_source_file_name"},
    {5, 12, "can_get_line_numbers"},
    {6, 23, "can_get_thread_cpu_time"},
    {7, 26, "can_generate_all_class_hook_events"},
    {7, 37, "can_retransform_classes"},
    {8, 42, "can_generate_early_class_hook_events"},
    {9, 41, "can_generate_early_vmstart"},
    {10, 43, "can_generate_sampled_object_alloc_events"},
    {11, 29, "can_generate_vm_object_alloc_events"},
    {12, 44, "can_support_virtual_threads"},
};

constexpr uint32_t kWords = sizeof(jvmtiCapabilities) / sizeof(uint32_t);
static_assert(sizeof(jvmtiCapabilities) == 16, "128 bits");

// The mask of a bit-field: allocated from the low end on little-endian machines, from the high end on
// big-endian ones.
uint32_t mask_of(uint32_t position) {
  jvmtiCapabilities probe;
  memset(&probe, 0, sizeof(probe));
  probe.can_tag_objects = 1;
  uint32_t words[kWords];
  memcpy(words, &probe, sizeof(words));
  return words[0] == 1 ? 1u << (position % 32) : 0x80000000u >> (position % 32);
}

jvmtiCapabilities to_capabilities(uint64_t needs) {
  uint32_t words[kWords] = {};
  for (const Row& row : kRows) {
    if ((needs >> row.need & 1) == 0) continue;
    words[row.position / 32] |= mask_of(row.position);
    if (row.position == 6) words[0] |= mask_of(5);  // can_get_owned_monitor_info
  }
  jvmtiCapabilities capabilities;
  memcpy(&capabilities, words, sizeof(capabilities));
  return capabilities;
}

// A need is met by all of its capabilities; MONITOR_INFO by can_get_monitor_info alone, since
// the others are granted at start-up only.
uint64_t to_needs(const jvmtiCapabilities& capabilities) {
  uint32_t words[kWords];
  memcpy(words, &capabilities, sizeof(words));
  uint64_t needs = kKnownNeeds;
  for (const Row& row : kRows) {
    bool optional = row.position == 6;
    if (!optional && (words[row.position / 32] & mask_of(row.position)) == 0) needs &= ~(1ull << row.need);
  }
  return needs;
}

}  // namespace

uint64_t add_capabilities(jvmtiEnv* jvmti, uint64_t needs) {
  jvmtiCapabilities potential;
  memset(&potential, 0, sizeof(potential));
  jvmti->GetPotentialCapabilities(&potential);
  uint32_t possible[kWords], wanted[kWords];
  memcpy(possible, &potential, sizeof(possible));
  for (uint32_t bit = 0; bit <= HPROF_NEED_COUNT; bit++) {
    // All at once; if that is refused, one by one.
    uint64_t part = bit == 0 ? needs : needs & 1ull << (bit - 1);
    jvmtiCapabilities ask = to_capabilities(part);
    memcpy(wanted, &ask, sizeof(wanted));
    for (uint32_t i = 0; i < kWords; i++) wanted[i] &= possible[i];
    memcpy(&ask, wanted, sizeof(ask));
    if (jvmti->AddCapabilities(&ask) == JVMTI_ERROR_NONE && bit == 0) break;
  }
  jvmtiCapabilities held;
  memset(&held, 0, sizeof(held));
  jvmti->GetCapabilities(&held);
  return to_needs(held) & needs;
}

void relinquish_capabilities(jvmtiEnv* jvmti, uint64_t needs) {
  jvmtiCapabilities give = to_capabilities(needs);
  jvmti->RelinquishCapabilities(&give);
}

const char* need_name(uint32_t bit) {
  if (1ull << bit == HPROF_NEED_METHOD_BOOK) return "method book";
  for (const Row& row : kRows) {
    if (row.need == bit) return row.name;
  }
  return nullptr;
}

}  // namespace hprof
