// Fuzz target: class files of anybody's making through the rewriter with all probes. What comes out of a
// rewrite must be a class file again, and the rewriter must accept its own work.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/modules/bytecode/engine/alloc_sites.h"
#include "core/modules/bytecode/engine/bridge_classes.h"
#include "core/modules/bytecode/engine/injector.h"

using namespace hprof;

namespace {

void expect(bool holds) {
  if (!holds) abort();
}

void* allocate(void*, size_t size) { return std::malloc(size); }
void release(void*, void* block, size_t) { std::free(block); }

// Small and large ones, which are pushed in different ways.
int32_t method_id(void*, const MethodSite& site, uint32_t) {
  return static_cast<int32_t>(site.name.size) * 9000;
}

// The new class, or nothing. An exact copy of the input, so that the sanitizer sees each byte read beyond it.
std::vector<uint8_t> rewrite_copy(const uint8_t* data, size_t size, const ProbeSet& probes,
                                  Scratch& scratch) {
  std::vector<uint8_t> file(data, data + size);
  RewriteResult result;
  rewrite({file.data(), static_cast<uint32_t>(file.size())}, 0, probes, scratch, &result);
  if (result.reason != Reason::kRewritten) return {};
  std::vector<uint8_t> bytes(result.size);
  copy_result(result, bytes.data());
  return bytes;
}

// Every code of a method that was rewritten can be read again; others are copies of what may be rubbish.
void check(const std::vector<uint8_t>& bytes, Scratch& scratch) {
  ClassView view;
  expect(parse_class({bytes.data(), static_cast<uint32_t>(bytes.size())}, scratch, &view) ==
         Reason::kRewritten);
  uint32_t at = view.methods + 2;
  for (uint32_t count = load_be16(bytes.data() + view.methods); count != 0; count--) {
    MethodView method;
    expect(parse_method(view, &at, &method));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1u << 20) return 0;
  static Scratch scratch({nullptr, allocate, release}, 16u << 20);
  ProbeSet probes;
  add_allocation_probes(&probes);
  probes.method_id = method_id;
  const char* names[kTargets] = {"begin",  "end",  "unwind", "handler",     "leaf",      "object",
                                 "arrays", "made", "caught", "constructed", "arguments", "result"};
  for (ProbesOfUser& user : probes.users) {
    user.owner = "Targets";
    std::memcpy(user.targets, names, sizeof names);
    user.field = {"java/lang/Thread", "$hprof", "J", 0x1081};
  }
  for (uint32_t mask : {kProbeAll + 0u, kProbesOfTimes & ~kProbeLeaf, kProbesOfSites + 0u}) {
    probes.user_count = mask == kProbeAll ? kMostUsers : 1;
    for (ProbesOfUser& user : probes.users) user.probes = mask;
    std::vector<uint8_t> once = rewrite_copy(data, size, probes, scratch);
    if (once.empty()) continue;
    check(once, scratch);
    std::vector<uint8_t> twice = rewrite_copy(once.data(), once.size(), probes, scratch);
    if (!twice.empty()) check(twice, scratch);
  }
  return 0;
}

extern "C" size_t fuzz_seed(size_t number, const uint8_t** data) {
  if (number > 0) return 0;
  *data = java::kHprofBridge;
  return sizeof java::kHprofBridge;
}
