#include "tools/heap/questions/reach.h"

namespace hprof::tool {

namespace {

// A search that goes on from one start after the other.
class Search {
 public:
  Search(const ReferenceGraph& graph, MemoryBudget& budget, BitArray& reached)
      : graph_(graph), reached_(reached) {
    open_.allocate(budget, graph.nodes(), graph.nodes() / 16);
  }
  void from(uint32_t start) {
    visit(start);
    while (count_ > 0) graph_.for_each(open_[--count_], [&](uint32_t target) { visit(target); });
  }

 private:
  void visit(uint32_t node) {
    if (reached_.get(node)) return;
    reached_.set(node);
    open_[count_++] = node;
  }

  const ReferenceGraph& graph_;
  BitArray& reached_;
  BigArray<uint32_t> open_;
  size_t count_ = 0;
};

}  // namespace

Reach::Reach(const Snapshot& snapshot, const ReferenceGraph& graph, MemoryBudget& budget)
    : snapshot_(snapshot), graph_(graph), budget_(budget) {
  all_ = around({});
  if (snapshot.takes_unreached()) add_garbage();
}

BitArray Reach::around(const std::vector<uint32_t>& without) const {
  BitArray reached;
  reached.allocate(budget_, graph_.nodes());
  for (uint32_t node : without) reached.set(node);
  Search search(graph_, budget_, reached);
  for (uint32_t root : snapshot_.root_nodes) search.from(root);
  for (uint32_t node = 0; node < graph_.nodes() && !garbage_.empty(); ++node) {
    if (garbage_.get(node)) search.from(node);
  }
  return reached;
}

void Reach::add_garbage() {
  BitArray referred;
  referred.allocate(budget_, graph_.nodes());
  garbage_.allocate(budget_, graph_.nodes());
  graph_.for_all([&](uint32_t source, uint32_t target) {
    if (!all_.get(source)) referred.set(target);
  });
  Search search(graph_, budget_, all_);
  for (bool unreferred : {true, false}) {
    for (uint32_t node = 0; node < graph_.nodes(); ++node) {
      if (all_.get(node) || (unreferred && referred.get(node))) continue;
      garbage_.set(node);
      search.from(node);
    }
  }
}

}  // namespace hprof::tool
