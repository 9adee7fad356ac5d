// The source of a run has kLast set until a traversal numbers it.
#include "tools/heap/graph/reference_graph.h"

#include <cstring>

#include "tools/os/os.h"

namespace hprof::tool {

void ReferenceGraph::allocate(MemoryBudget& budget, uint32_t nodes, uint64_t slots, uint64_t expected) {
  // The limit is the dump's upper bound, null references included.
  if (slots + 1 > UINT32_MAX || nodes > kMostNodes) {
    throw OutOfMemory{"the dump has more than 2^31 objects or 2^32 references"};
  }
  used_ = 1;
  slots_.allocate(budget, slots + 1, expected + 1);
  first_.allocate(budget, nodes);
}

void ReferenceGraph::reset() {
  slots_.reset();
  first_.reset();
}

void ReferenceGraph::truncate(uint64_t used) {
  used_ = used;
  os::drop_pages(slots_.data() + used, (slots_.size() - used) * sizeof(uint32_t));
}

void ReferenceGraph::add(uint32_t source, const std::vector<uint32_t>& targets) {
  if (targets.empty()) return;
  std::vector<uint32_t> all;
  for_each(source, [&](uint32_t target) { all.push_back(target); });
  uint64_t old = first_[source];
  if (old != 0) {
    for (size_t i = 0; i <= all.size(); ++i) slots_[old - 1 + i] = kSkip;
  }
  all.insert(all.end(), targets.begin(), targets.end());
  uint64_t at = reserve(all.size() + 1);
  slots_[at] = source | kLast;
  for (uint32_t target : all) slots_[++at] = target;
  slots_[at] |= kLast;
  first_[source] = static_cast<uint32_t>(at + 1 - all.size());
}

void RunBuffer::finish() {
  size_t count = buffer_.size() - start_ - 1;
  if (count == 0) {
    buffer_.pop_back();
    return;
  }
  references_ += count;
  buffer_.back() |= ReferenceGraph::kLast;
  starts_.push_back(static_cast<uint32_t>(start_));
  if (buffer_.size() >= kFlushAt) flush();
}

void RunBuffer::flush() {
  if (buffer_.empty()) return;
  uint64_t at = graph_.reserve(buffer_.size());
  std::memcpy(graph_.slots() + at, buffer_.data(), buffer_.size() * sizeof(uint32_t));
  for (uint32_t start : starts_) {
    uint32_t source = buffer_[start] & ~ReferenceGraph::kLast;
    graph_.first()[source] = static_cast<uint32_t>(at + start + 1);
  }
  buffer_.clear();
  starts_.clear();
}

}  // namespace hprof::tool
