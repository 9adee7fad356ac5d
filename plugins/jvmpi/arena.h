// Memory that is allocated piece by piece and freed as a whole.
#pragma once

#include <cstring>
#include <jni.h>

#include <hprof/cpp/services.hpp>

namespace hprof::jvmpi {

class Arena {
 public:
  explicit Arena(const Services& services) : services_(services) {}
  ~Arena() { release(services_, last_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed memory, aligned for pointers; null: none.
  void* allocate(uint64_t bytes) {
    bytes = (bytes + 7) & ~uint64_t{7};
    if (last_ == nullptr || last_->size - last_->used < bytes) {
      const uint64_t size = bytes < kBlock ? kBlock : bytes;
      auto* block = static_cast<Block*>(services_.mem->allocate(services_.host, sizeof(Block) + size));
      if (block == nullptr) return nullptr;
      *block = {last_, size, 0};
      last_ = block;
    }
    void* memory = reinterpret_cast<char*>(last_ + 1) + last_->used;
    last_->used += bytes;
    return memory;
  }
  template <class T>
  T* allocate_array(jint count) {
    return static_cast<T*>(allocate(static_cast<uint64_t>(count < 1 ? 1 : count) * sizeof(T)));
  }
  char* copy(const char* text) {
    if (text == nullptr) return nullptr;
    const uint64_t size = std::strlen(text) + 1;
    char* to = static_cast<char*>(allocate(size));
    if (to != nullptr) std::memcpy(to, text, size);
    return to;
  }

  struct Block;
  // Hands over the blocks, which release() frees.
  Block* keep() {
    Block* blocks = last_;
    last_ = nullptr;
    return blocks;
  }
  static void release(const Services& services, Block* block) {
    while (block != nullptr) {
      Block* before = block->before;
      services.mem->release(services.host, block, sizeof(Block) + block->size);
      block = before;
    }
  }

  struct Block {
    Block* before;
    uint64_t size;
    uint64_t used;
    uint64_t reserved;
  };

 private:
  static constexpr uint64_t kBlock = 1000;

  const Services& services_;
  Block* last_ = nullptr;
};

}  // namespace hprof::jvmpi
