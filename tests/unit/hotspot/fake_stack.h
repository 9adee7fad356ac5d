// A thread with a stack and a heap of code as HotSpot has them, for tests of the walk.
#pragma once

#include <cstring>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

#include "core/modules/hotspot/frame_walk.h"
#include "core/modules/hotspot/machine_code.h"
#include "core/modules/hotspot/sample_walk.h"
#include "tests/unit/hotspot/fake_tables.h"

namespace hprof::test {

// A thread, its stack and a heap of code as HotSpot has them, in memory of the test's own.
class FakeStack {
 public:
  static constexpr uint32_t kSegmentShift = 7;
  static constexpr uint64_t kHeader = 16, kName = 8, kSize = 16, kFrameSize = 24, kMethod = 32, kId = 40,
                            kStub = 44, kCodeBegin = 48, kScopesBegin = 56, kPcs = 64, kMetadata = 68,
                            kPcsEnd = 72, kComplete = 76, kLevel = 80, kOrigPc = 84;
  static constexpr uint64_t kProbe = 0x99990;

  // names_entries: the tables lead to the entries of continuations and to their return barrier.
  explicit FakeStack(uint32_t off = 0, uint32_t java = 17, const char* protection = nullptr,
                     bool names_entries = true)
      : java_(java), code_(64 * 1024), segments_(code_.size() >> kSegmentShift, 255) {
    heap_ = {code_.data(), code_.data() + code_.size(), segments_.data(), nullptr, kSegmentShift};
    add_rows(names_entries);
    if (protection != nullptr) tables.flag("UseBranchProtection", protection);
    tables.finish();
    tables.open(&hotspot, off);
    hotspot.prepare_to_collect();
    interpreter = add_blob("Interpreter", 4096, 0, 0, 0);
    why = walk.open(hotspot, java, &thread_.env, address(&thread_));
    hotspot.settle(Item::kFrameWalk, why);
    why_not_sampled = sampled.open(hotspot, java, &thread_.env, address(&thread_));
  }
  ~FakeStack() { hotspot.close(); }

  uint64_t add_blob(const char* name, uint32_t size, int32_t words, uint64_t method, uint32_t id) {
    uint64_t at = next_;
    next_ += (kHeader + size + 127) & ~uint64_t{127};
    for (uint64_t i = at; i < next_; i += 128) {
      uint64_t number = (i - at) >> kSegmentShift;
      segments_[i >> kSegmentShift] = static_cast<uint8_t>(number < 254 ? number : 254);
    }
    uint8_t* blob = code_.data() + at + kHeader;
    put(blob + kName, name);
    put(blob + kSize, size);
    put(blob + kFrameSize, words);
    put(blob + kMethod, method);
    put(blob + kId, id);
    put(blob + kStub, size - 64);
    put(blob + kCodeBegin, address(blob) + 128);
    return address(blob);
  }
  // What the compiler wrote down of the return address pc, as many scopes as there are methods: the last
  // one's is the compiled method. Methods and bytecode indexes are below 64.
  struct Inlined {
    const uint64_t* method;
    uint8_t bci;
  };
  static void set_scopes(uint64_t blob, uint64_t pc, const std::vector<Inlined>& inlined) {
    constexpr uint32_t kPcsAt = 256, kScopesAt = 512, kMetadataAt = 768;
    auto* to = reinterpret_cast<uint8_t*>(blob);
    put(to + kCodeBegin, blob + 128);
    put(to + kScopesBegin, blob + kScopesAt);
    put(to + kPcs, kPcsAt);
    put(to + kPcsEnd, kPcsAt + 4 * 16);
    put(to + kMetadata, kMetadataAt);
    const auto at = static_cast<int32_t>(pc - blob - 128);
    const int32_t records[] = {-1, 0, 0, 0, at - 8, 33, 0, 0, at, 1, 0, 0, INT32_MAX, 0, 0, 0};
    std::memcpy(to + kPcsAt, records, sizeof records);
    uint8_t* scope = to + kScopesAt + 1;
    for (uint8_t i = 0; i < inlined.size(); i++) {
      *scope++ = i + 1u < inlined.size() ? static_cast<uint8_t>(i * 3 + 4) : uint8_t{0};
      *scope++ = static_cast<uint8_t>(i + 1);
      *scope++ = static_cast<uint8_t>(inlined[i].bci + 1);
      put(to + kMetadataAt + i * sizeof(uint64_t), reinterpret_cast<uintptr_t>(inlined[i].method));
    }
  }
  std::vector<hprof_raw_frame> frames(uint32_t depth, SeenCode* seen, bool learns = false) {
    std::vector<hprof_raw_frame> found(depth);
    of_walk = {seen, nullptr, nullptr};
    found.resize(walk.frames(&thread_.env, depth, learns, found.data(), &of_walk));
    return found;
  }
  void compile_again(uint64_t blob, uint32_t id, int32_t words) {
    put(reinterpret_cast<uint8_t*>(blob) + kId, id);
    put(reinterpret_cast<uint8_t*>(blob) + kFrameSize, words);
  }

  // The instruction before pc is a call.
  static void call_before(uint64_t pc, int32_t distance = 0) {
    if (machine::kReturnsByLink) {
      put(reinterpret_cast<uint8_t*>(pc - 4),
          uint32_t{0x94000000} | ((static_cast<uint32_t>(distance) + 4) >> 2 & 0x3ffffff));
    } else {
      put(reinterpret_cast<uint8_t*>(pc - 5), uint8_t{0xe8});
      put(reinterpret_cast<uint8_t*>(pc - 4), distance);
    }
  }
  static void no_call_before(uint64_t pc) { put(reinterpret_cast<uint8_t*>(pc - 5), uint64_t{0}); }
  // The registers of a thread that a signal interrupted in Java code, at the innermost frame.
  platform::MachineRegisters interrupted() {
    const Anchor at = thread_.anchor;
    thread_.anchor = {};
    thread_.state = 8;
    return {at.pc, at.sp, at.fp, 0};
  }
  // Those of one in the VM, which Java code called at the innermost frame.
  platform::MachineRegisters in_vm() {
    constexpr uint64_t kNoCode = 4096;
    thread_.state = 6;
    return {kNoCode, address(&stack_[8]), 0, 0};
  }
  std::vector<hprof_async_frame> walk_sampled(const platform::MachineRegisters& at, uint32_t depth,
                                              hprof_interrupted_stack* stack) {
    thread_.stack_size = sizeof stack_;
    thread_.stack_base = address(stack_ + kStack);
    std::vector<hprof_async_frame> found(depth);
    found.resize(sampled.walk(&thread_.env, at, depth, found.data(), stack));
    return found;
  }
  // The return address of Continuation.enterSpecial's call.
  void set_continuation_return(uint64_t pc) { continuation_return_ = pc; }
  // The entry of the thread's continuation is that slot of its stack. Returns where the thread has it.
  int32_t set_entry(uint32_t number) {
    thread_.continuation = address(&stack_[number]);
    return static_cast<int32_t>(offsetof(Thread, continuation));
  }
  // thread: a reference to the Thread of the carrier.
  void set_carrier(const uint64_t* thread) { thread_.carrier = address(thread); }
  struct CollectedHeap {
    uint32_t pause, collections;
  };
  CollectedHeap collected_heap = {};
  uint64_t* stack() { return stack_; }
  static constexpr uint32_t kStack = 1024;

  static void rename(uint64_t blob, const char* name) { put(reinterpret_cast<uint8_t*>(blob) + kName, name); }

  // The stack, from its innermost frame on.
  void begin() {
    at_ = 16;
    thread_.anchor.sp = address(&stack_[at_]);
    thread_.stack_base = address(stack_ + kStack);
  }
  // pc is where the frame is; the return address of the frame before it, or the anchor's.
  void enter(uint64_t pc) { return_to_ ? * return_to_ = pc : thread_.anchor.pc = pc; }
  void compiled(uint64_t pc, uint32_t words) {
    enter(pc);
    at_ += words;
    return_to_ = &stack_[at_ - 1];
    saved_fp_ = &stack_[at_ - 2];
  }
  // Each needs another one before it. overlap: how many words of this one the caller's frame has, too.
  void interpreted(uint64_t method, uint64_t bcp, uint32_t overlap = 0) {
    enter(interpreter + 100);
    uint64_t fp = at_ + 12;
    saved_fp_ ? * saved_fp_ = address(&stack_[fp]) : thread_.anchor.fp = address(&stack_[fp]);
    slot(fp, FrameSlots::kMethod) = method;
    slot(fp, java_ < 9 ? FrameSlots::kBcp8 : FrameSlots::kBcp) = bcp;
    at_ = fp + 2;
    slot(fp, FrameSlots::kSenderSp) = address(&stack_[at_ - overlap]);
    return_to_ = &stack_[fp + 1];
    saved_fp_ = &stack_[fp];
  }
  void end() {
    wrapper_ = {};
    end(&wrapper_);
  }
  // Native code, called by way of that wrapper.
  void end(const void* wrapper) {
    enter(0x5555);
    uint64_t fp = at_ + 10;
    *saved_fp_ = address(&stack_[fp]);
    slot(fp, FrameSlots::kWrapper) = reinterpret_cast<uintptr_t>(wrapper);
    return_to_ = saved_fp_ = nullptr;
  }
  uint64_t key(uint32_t depth, SeenCode* seen = nullptr, StackChains* chains = nullptr, uint64_t what = 0) {
    of_walk = {seen, chains, nullptr};
    return walk.key(&thread_.env, depth, what, &of_walk);
  }
  // By the methods' Method*, to which jmethodIDs point.
  bool learn(std::vector<uint64_t> methods, SeenCode* seen) {
    of_walk.seen = seen;
    std::vector<hprof_raw_frame> frames;
    for (uint64_t& method : methods) frames.push_back({&method, 0});
    return walk.learn(&thread_.env, frames.data(), static_cast<uint32_t>(frames.size()), &of_walk);
  }
  void learn_raw(const hprof_raw_frame* frame, SeenCode* seen) {
    of_walk.seen = seen;
    walk.learn(&thread_.env, frame, 1, &of_walk);
  }
  bool hide(const void* method) { return walk.hide(&thread_.env, method); }

  FakeTables tables;
  HotSpot hotspot;
  FrameWalk walk;
  SampleWalk sampled;
  const char* why_not_sampled = nullptr;
  hprof_walk_thread of_walk = {};
  const char* why = nullptr;
  uint64_t interpreter = 0;

 private:
  template <class T>
  static uint64_t address(const T* p) {
    return reinterpret_cast<uintptr_t>(p);
  }
  template <class T>
  static void put(uint8_t* to, T value) {
    std::memcpy(to, &value, sizeof value);
  }
  void add_rows(bool names_entries);
  uint64_t continuation_return_ = 0;
  uint64_t return_barrier_ = 0x6666;  // in none of the stubs that tests add: those bring frames back
  struct Anchor {
    uint64_t sp, pc, fp;
  };
  struct Thread {
    uint64_t pad;
    Anchor anchor;
    uint64_t stack_base, stack_size, state, continuation, carrier;
    uint64_t env;
  };
  struct Heap {
    const uint8_t *low, *high;               // of _memory
    const uint8_t *segments, *segments_end;  // of _segmap
    uint32_t shift;
  };
  uint64_t& slot(uint64_t fp, int32_t number) {
    return stack_[static_cast<uint64_t>(static_cast<int64_t>(fp) + number)];
  }
  const uint32_t java_;
  std::vector<uint8_t> code_, segments_;
  Heap heap_;
  Heap* heap_at_ = &heap_;
  const CollectedHeap* collected_heap_at_ = &collected_heap;
  uint64_t call_stub_return_ = 0x5555;
  uint64_t stack_[kStack] = {};
  Thread thread_ = {};
  Anchor wrapper_ = {};
  uint64_t next_ = 0, at_ = 0;
  uint64_t* return_to_ = nullptr;
  uint64_t* saved_fp_ = nullptr;
};

inline void FakeStack::add_rows(bool names_entries) {
  tables.field("JavaFrameAnchor", "_last_Java_sp", offsetof(Anchor, sp));
  tables.field("JavaFrameAnchor", "_last_Java_pc", offsetof(Anchor, pc));
  tables.field("JavaFrameAnchor", "_last_Java_fp", offsetof(Anchor, fp));
  tables.field("JavaCallWrapper", "_anchor", 0);
  tables.field("CodeBlob", "_name", kName);
  tables.field("CodeBlob", "_size", kSize);
  tables.field("CodeBlob", "_frame_size", kFrameSize);
  tables.field("nmethod", "_method", kMethod);
  tables.field("nmethod", "_compile_id", kId);
  tables.field("nmethod", "_stub_offset", kStub);
  tables.field("CodeBlob", "_code_begin", kCodeBegin);
  tables.field("nmethod", "_scopes_data_begin", kScopesBegin);
  tables.field("nmethod", "_scopes_pcs_offset", kPcs);
  tables.field("nmethod", "_metadata_offset", kMetadata);
  tables.field("nmethod", "_dependencies_offset", kPcsEnd);
  tables.field("CodeBlob", "_frame_complete_offset", kComplete);
  tables.field("nmethod", "_comp_level", kLevel);
  tables.field("nmethod", "_orig_pc_offset", kOrigPc);
  tables.field("Thread", "_stack_size", offsetof(Thread, stack_size));
  if (names_entries) {
    tables.field("JavaThread", "_cont_entry", offsetof(Thread, continuation));
    tables.static_field("ContinuationEntry", "_return_pc", &continuation_return_);
    tables.static_field("StubRoutines", "_cont_returnBarrier", &return_barrier_);
  }
  tables.field("JavaThread", "_threadObj", offsetof(Thread, carrier));
  tables.static_field("Universe", "_collectedHeap", &collected_heap_at_);
  tables.field("CollectedHeap", "_is_stw_gc_active", offsetof(CollectedHeap, pause));
  tables.field("CollectedHeap", "_total_collections", offsetof(CollectedHeap, collections));
  tables.field("JavaThread", "_thread_state", offsetof(Thread, state));
  tables.field("ConstMethod", "_code_size", 18);
  tables.field("PcDesc", "_pc_offset", 0);
  tables.field("PcDesc", "_scope_decode_offset", 4);
  tables.type("PcDesc", 16);
  tables.type("ConstMethod", 48);
  tables.field("Thread", "_anchor", offsetof(Thread, anchor));
  tables.field("Thread", "_stack_base", offsetof(Thread, stack_base));
  tables.static_field("StubRoutines", "_call_stub_return_address", &call_stub_return_);
  tables.field("Method", "_constMethod", 0);
  tables.field("Method", "_code", sizeof(uint64_t));
  tables.field("ConstMethod", "_method_idnum", 16);
  tables.field("ConstMethod", "_constants", 8);
  tables.field("ConstantPool", "_pool_holder", 0);
  tables.field("InstanceKlass", "_methods_jmethod_ids", 0);
  tables.field("CodeHeap", "_memory", offsetof(Heap, low));
  tables.field("CodeHeap", "_segmap", offsetof(Heap, segments));
  tables.field("CodeHeap", "_log2_segment_size", offsetof(Heap, shift));
  tables.field("VirtualSpace", "_low_boundary", 0);
  tables.field("VirtualSpace", "_high_boundary", sizeof(void*));
  tables.static_field("CodeCache", "_heap", &heap_at_);
  tables.type("HeapBlock", kHeader);
  tables.flag("UseG1GC", uint8_t{1});
}

// A local variable of the test: the walk wants the frames above its own.
struct Program {
  explicit Program(uint32_t java = 17) : vm(0, java) {
    REQUIRE(vm.why == nullptr);
    hide();
  }
  void hide() {
    vm.begin();
    vm.compiled(native + 200, 6);
    vm.end();
    REQUIRE(vm.hide(&probe));
  }
  FakeStack vm;
  const uint64_t probe = FakeStack::kProbe;  // its method id leads here
  uint64_t native = vm.add_blob("native nmethod", 1024, 6, FakeStack::kProbe, 1);
  uint64_t first = vm.add_blob("nmethod", 40000, 10, 0x1000, 2);
  uint64_t second = vm.add_blob("nmethod", 2048, 4, 0x2000, 3);
  uint64_t stub = vm.add_blob("RuntimeStub", 512, 4, 0, 0);

  void build(uint64_t pc, uint64_t bcp, uint64_t last_bcp = 0x77) {
    vm.begin();
    vm.compiled(native + 200, 6);
    vm.compiled(pc, 10);
    vm.interpreted(0x3000, bcp);
    vm.compiled(second + 300, 4);
    vm.interpreted(0x4000, last_bcp);
    vm.end();
  }
  uint64_t run(uint64_t pc, uint64_t bcp, uint32_t depth, SeenCode* seen = nullptr,
               uint64_t last_bcp = 0x77) {
    build(pc, bcp, last_bcp);
    return vm.key(depth, seen);
  }
};

}  // namespace hprof::test
