#include "core/modules/hotspot/code_scopes.h"

#include "tests/unit/hotspot/fake_stack.h"

using namespace hprof;
using namespace hprof::test;

namespace {

// Methods as the walk reads them: their ConstMethod comes first. Bytecode begins 48 bytes behind it.
struct Methods {
  uint64_t outer[2] = {0x10000, 0}, inner[2] = {0x20000, 0}, interpreted[2] = {0x30000, 0},
           native[2] = {0, 0};
  static uint64_t address(const uint64_t* method) { return reinterpret_cast<uintptr_t>(method); }
};

// first, with inner inlined into outer, called by an interpreted method at bytecode 7.
struct Inlining : Program {
  Inlining() {
    FakeStack::set_scopes(first, pc, {{methods.inner, 5}, {methods.outer, 9}});
    build_frames(0x30000 + 48 + 7);
  }
  void build_frames(uint64_t bcp) {
    vm.begin();
    vm.compiled(native + 200, 6);
    vm.compiled(pc, 10);
    vm.interpreted(Methods::address(methods.interpreted), bcp);
    vm.end();
  }
  bool is(const hprof_raw_frame& frame, const uint64_t* method, int64_t location) const {
    return frame.method == method && frame.location == location;
  }
  Methods methods;
  uint64_t pc = first + 500;
  SeenCode seen = {};
};

}  // namespace

TEST_CASE("a stack is listed with all methods that were inlined, without those of probes") {
  Inlining program;
  const auto all = program.vm.frames(10, &program.seen);
  REQUIRE(all.size() == 3);
  CHECK(program.is(all[0], program.methods.inner, 5));
  CHECK(program.is(all[1], program.methods.outer, 9));
  CHECK(program.is(all[2], program.methods.interpreted, 7));
  CHECK(program.vm.frames(2, &program.seen).size() == 2);
  CHECK(program.vm.frames(1, &program.seen).size() == 1);
  program.build_frames(0);  // a native method
  CHECK(program.vm.frames(10, &program.seen)[2].location == -1);
}

TEST_CASE("code or bytecode that is not understood is not listed") {
  Inlining program;
  CHECK(program.vm.frames(10, nullptr).empty());
  program.build_frames(0x30000 + 48 + 70000);
  CHECK(program.vm.frames(10, &program.seen).empty());
  CHECK(program.vm.frames(2, &program.seen).size() == 2);
  program.pc += 8;  // no record of it
  program.build_frames(0x30000 + 48 + 7);
  CHECK(program.vm.frames(10, &program.seen).empty());
  // A wrapper of a native method has no scopes, whatever is there.
  const uint64_t other = program.vm.add_blob("native nmethod", 2048, 10, 0x7000, 9);
  program.pc = other + 500;
  FakeStack::set_scopes(other, program.pc, {{program.methods.inner, 5}});
  program.build_frames(0x30000 + 48 + 7);
  CHECK(program.vm.frames(10, &program.seen).empty());
}

TEST_CASE("a walk that learns from scopes needs fewer frames later") {
  Inlining program;
  const auto key = [&](uint64_t bci) {
    program.build_frames(0x30000 + 48 + bci);
    return program.vm.key(2, &program.seen);
  };
  CHECK(key(7) != key(8));
  program.vm.frames(2, &program.seen, false);
  CHECK(key(7) != key(8));
  program.vm.frames(2, &program.seen, true);
  CHECK(key(7) == key(8));
}

TEST_CASE("records of later VMs are found behind other fields, and their numbers have no byte 0") {
  FakeTables tables;
  tables.field("CodeBlob", "_code_offset", 0);
  tables.field("CodeBlob", "_mutable_data", 8);
  tables.field("CodeBlob", "_relocation_size", 16);
  tables.field("nmethod", "_immutable_data", 24);
  tables.field("nmethod", "_scopes_pcs_offset", 32);
  tables.field("nmethod", "_scopes_data_offset", 36);
  tables.field("PcDesc", "_pc_offset", 0);
  tables.field("PcDesc", "_scope_decode_offset", 4);
  tables.field("Method", "_constMethod", 0);
  tables.type("PcDesc", 16);
  tables.type("ConstMethod", 56);
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  REQUIRE(hotspot.hold_guard());
  struct {
    uint32_t code_offset = 64, pad = 0;
    uint64_t mutable_data = 0;
    uint32_t relocation_size = 8, pad2 = 0;
    uint64_t immutable_data = 0;
    uint32_t pcs_offset = 0, scopes_offset = 48;
  } blob;
  const uint64_t method = 0;
  const uint64_t data[2] = {0, reinterpret_cast<uintptr_t>(&method)};
  // The bytecode index 200 takes two bytes.
  struct {
    int32_t pcs[12] = {-1, 0, 0, 0, 40, 1, 0, 0, INT32_MAX, 0, 0, 0};
    uint8_t scopes[8] = {1, 1, 2, 202, 1, 0, 0, 0};
  } records;
  blob.mutable_data = reinterpret_cast<uintptr_t>(data);
  blob.immutable_data = reinterpret_cast<uintptr_t>(&records);
  const uint64_t at = reinterpret_cast<uintptr_t>(&blob);
  CodeScopes scopes;
  REQUIRE(scopes.open(hotspot.structs(), 25));
  REQUIRE(scopes.find(at, at + 64 + 40) == 1);
  CHECK(scopes.find(at, at + 64 + 39) == 0);
  CodeScopes::Scope scope;
  REQUIRE(scopes.read(at, 1, &scope));
  CHECK(scope.method == data[1]);
  CHECK(scope.bci == 200);
  CHECK(scope.sender == 0);
  hotspot.close();
}

TEST_CASE("a VM without one of the fields has no scopes that are known") {
  FakeTables tables;
  tables.field("PcDesc", "_pc_offset", 0);
  tables.type("PcDesc", 16);
  tables.finish();
  HotSpot hotspot;
  tables.open(&hotspot);
  CodeScopes scopes;
  CHECK_FALSE(scopes.open(hotspot.structs(), 17));
  CHECK_FALSE(scopes.is_open());
  hotspot.close();
}
