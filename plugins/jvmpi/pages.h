// Values by their index, in pages that are made at the first use and become memory as they are touched. They
// do count towards max-memory=, as they hold what describes the program's own objects.
#pragma once

#include <atomic>

#include <hprof/cpp/services.hpp>

namespace hprof::jvmpi {

// T: a plain type for which zeroed memory is valid. One thread at a time makes and drops pages.
template <class T>
class Pages {
 public:
  static constexpr uint32_t kPageBits = 16;
  static constexpr uint64_t kInPage = uint64_t{1} << kPageBits;

  // False: no address space.
  bool open(const Services& services) {
    memory_ = services;
    pages_ = static_cast<T**>(memory_.mem->reserve(memory_.host, kPages * sizeof(T*)));
    return pages_ != nullptr;
  }
  void close() {
    for (uint64_t page = 0; page < used_; page++) drop(page << kPageBits);
    if (pages_ != nullptr) memory_.mem->unreserve(memory_.host, pages_, kPages * sizeof(T*));
    pages_ = nullptr;
    used_ = 0;
  }
  bool is_open() const { return pages_ != nullptr; }

  // Null: no value was made in this page.
  T* find(uint64_t index) const {
    const uint64_t page = index >> kPageBits;
    return page < used_ && pages_[page] != nullptr ? &pages_[page][index & (kInPage - 1)] : nullptr;
  }
  // Null: no address space, or the index is too large. [app][heap]
  T* make(uint64_t index) {
    const uint64_t page = index >> kPageBits;
    if (page >= kPages || pages_ == nullptr) return nullptr;
    if (pages_[page] == nullptr) {
      pages_[page] = static_cast<T*>(memory_.mem->reserve(memory_.host, kInPage * sizeof(T)));
      if (page >= used_) used_ = page + 1;
    }
    return pages_[page] != nullptr ? &pages_[page][index & (kInPage - 1)] : nullptr;
  }
  template <class Visit>
  void each(const Visit& visit) const {
    for (uint64_t page = 0; page < used_; page++) {
      for (uint64_t i = 0; pages_[page] != nullptr && i < kInPage; i++) visit(pages_[page][i]);
    }
  }
  // Frees the page of this index.
  void drop(uint64_t index) {
    T*& page = pages_[index >> kPageBits];
    if (page != nullptr) memory_.mem->unreserve(memory_.host, page, kInPage * sizeof(T));
    page = nullptr;
  }

 private:
  static constexpr uint64_t kPages = uint64_t{1} << (sizeof(void*) == 4 ? 12 : 20);

  UnitMemory memory_;
  T** pages_ = nullptr;
  uint64_t used_ = 0;  // pages from this one on were never made
};

}  // namespace hprof::jvmpi
