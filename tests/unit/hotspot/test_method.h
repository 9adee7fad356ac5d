// A method with an id, as its class has it, and 32 bytes of bytecode, all of which may call.
#pragma once

#include <cstdint>
#include <cstring>

namespace hprof::test {

inline uint64_t address(const void* place) { return reinterpret_cast<uintptr_t>(place); }

struct TestMethod {
  TestMethod() {
    constexpr uint8_t kInvokeStatic = 0xb8;
    std::memset(constant.code, kInvokeStatic, sizeof constant.code);
    constant.pool = address(&pool);
    constant.code_size = 32;
    pool = address(&holder);
    holder = address(ids);
    ids[1] = address(this);
    method = address(&constant);
  }
  TestMethod(const TestMethod&) = delete;
  uint64_t method;
  struct {
    uint64_t pad = 0, pool = 0;
    uint16_t number = 0, code_size = 0;
    uint8_t rest[28] = {}, code[32] = {};
  } constant;
  uint64_t pool = 0, holder = 0, ids[2] = {1, 0};
  void* id() const { return reinterpret_cast<void*>(static_cast<uintptr_t>(ids[1])); }
};

}  // namespace hprof::test
