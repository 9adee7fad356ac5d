// Vertices are numbered 1 ... n in the preorder of the search; 0 is the root above all. Memory: 4 bytes per
// node in the graph's own array, 12 to 16 per vertex in arrays, and the references that are not tree edges.
#include "tools/heap/dominators.h"

#include <algorithm>

namespace hprof::tool {

namespace {

constexpr uint32_t kLast = ReferenceGraph::kLast;
constexpr uint32_t kSkip = ReferenceGraph::kSkip;

// A stream of numbers, small ones in few bytes. Read it from the front after put(), from the end after
// put_back().
class NumberStream {
 public:
  void allocate(MemoryBudget& budget, size_t numbers) { bytes_.allocate(budget, 5 * numbers + 1, numbers); }
  void put(uint32_t value) {
    for (; value >= 0x80; value >>= 7) bytes_[end_++] = static_cast<uint8_t>(value | 0x80);
    bytes_[end_++] = static_cast<uint8_t>(value);
  }
  uint32_t get() {
    uint32_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      uint8_t byte = bytes_[at_++];
      value |= uint32_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  // The highest seven bits come first; a set top bit means that more come before it.
  void put_back(uint32_t value) {
    unsigned shift = 0;
    while (shift < 28 && value >> (shift + 7) != 0) shift += 7;
    for (uint8_t more = 0;; shift -= 7, more = 0x80) {
      bytes_[end_++] = static_cast<uint8_t>((value >> shift & 0x7f) | more);
      if (shift == 0) return;
    }
  }
  uint32_t get_back() {
    uint32_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      uint8_t byte = bytes_[--end_];
      value |= uint32_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  void reset() { bytes_.reset(); }

 private:
  BigArray<uint8_t> bytes_;
  size_t end_ = 0, at_ = 0;
};

class DominatorFinder {
 public:
  DominatorFinder(ReferenceGraph& graph, MemoryBudget& budget) : graph_(graph), budget_(budget) {}

  void run(const std::vector<uint32_t>& roots, bool keep_unreached, DominatorTree* tree) {
    search(roots, keep_unreached);
    keep_cross_edges();
    find_semidominators();
    graph_.truncate(1);
    find_immediate();
    renumber(tree);
  }

 private:
  void search(const std::vector<uint32_t>& roots, bool keep_unreached) {
    uint32_t nodes = graph_.nodes();
    visited_.allocate(budget_, nodes);
    root_nodes_.allocate(budget_, nodes);
    rooted_.allocate(budget_, size_t{nodes} + 1);
    up_.allocate(budget_, size_t{nodes} + 1);
    cursors_.allocate(budget_, size_t{nodes} + 1, nodes / 64);
    for (uint32_t root : roots) root_nodes_.set(root);
    for (uint32_t root : roots) {
      if (!visited_.get(root)) search_from(root);
    }
    if (keep_unreached) search_unreached();
    cursors_.reset();
  }

  void search_unreached() {
    BitArray referred;
    referred.allocate(budget_, graph_.nodes());
    // Targets of visited nodes are vertices by now; those of others are still nodes.
    for_all_runs([&](uint32_t, uint64_t begin, uint64_t end, bool visited) {
      for (uint64_t at = begin; at < end && !visited; ++at) referred.set(graph_.slots()[at] & ~kLast);
    });
    for (bool unreferred : {true, false}) {
      for (uint32_t node = 0; node < graph_.nodes(); ++node) {
        if (visited_.get(node) || (unreferred && referred.get(node))) continue;
        root_nodes_.set(node);
        search_from(node);
      }
    }
  }

  void enter(uint32_t node, uint32_t parent) {
    budget_.step();
    uint32_t slot = graph_.first()[node];
    uint32_t vertex = ++count_;
    graph_.first()[node] = vertex;
    visited_.set(node);
    if (root_nodes_.get(node)) rooted_.set(vertex);
    up_[vertex] = parent;
    if (slot != 0) graph_.slots()[slot - 1] = vertex;
    cursors_[depth_++] = slot;
  }

  // Each reference is visited once, when the vertex of its target is known, which replaces it. Tree edges,
  // and edges to a root, do not affect semidominators and become 0.
  void search_from(uint32_t root) {
    uint32_t* slots = graph_.slots();
    depth_ = 0;
    enter(root, 0);
    uint32_t vertex = count_;
    while (depth_ > 0) {
      uint32_t at = cursors_[depth_ - 1];
      if (at == 0) {
        --depth_;
        vertex = up_[vertex];
        continue;
      }
      uint32_t slot = slots[at];
      uint32_t target = slot & ~kLast;
      cursors_[depth_ - 1] = (slot & kLast) != 0 ? 0 : at + 1;
      if (visited_.get(target)) {
        budget_.step();
        uint32_t number = graph_.first()[target];
        slots[at] = (slot & kLast) | (root_nodes_.get(target) || number == vertex ? 0 : number);
      } else {
        slots[at] = slot & kLast;
        enter(target, vertex);
        vertex = count_;
      }
    }
  }

  // Calls visit(source, slot of the first target, slot after the last, whether the source was visited).
  template <typename Visit>
  void for_all_runs(Visit visit) {
    const uint32_t* slots = graph_.slots();
    uint64_t end = graph_.used();
    for (uint64_t at = 1; at < end;) {
      uint32_t source = slots[at++];
      if (source == kSkip) continue;
      uint64_t begin = at;
      while ((slots[at++] & kLast) == 0) {
      }
      visit(source & ~kLast, begin, at, (source & kLast) == 0);
    }
  }

  // Moves the remaining references to the front of their array and counts them by target.
  void keep_cross_edges() {
    root_nodes_.reset();
    while ((count_ >> shift_) >= kBuckets) ++shift_;
    buckets_.assign(kBuckets, 0);
    uint32_t* slots = graph_.slots();
    uint64_t to = 1;
    for_all_runs([&](uint32_t source, uint64_t begin, uint64_t end, bool visited) {
      uint64_t run = to++;
      for (uint64_t at = begin; at < end && visited; ++at) {
        uint32_t target = slots[at] & ~kLast;
        if (target == 0) continue;
        slots[to++] = target;
        ++buckets_[target >> shift_];
      }
      if (to == run + 1) {
        to = run;
        return;
      }
      slots[run] = source;
      slots[to - 1] |= kLast;
    });
    graph_.truncate(to);
  }

  // The sources of all cross edges to the vertices from `low` to `high`.
  struct Sources {
    BigArray<uint32_t> begin;  // by vertex - low
    BigArray<uint32_t> list;
  };

  void collect(uint32_t low, uint32_t high, uint64_t edges, Sources* to) {
    to->begin.reset();
    to->list.reset();
    to->begin.allocate(budget_, size_t{high} - low + 2);
    to->list.allocate(budget_, edges);
    const uint32_t* slots = graph_.slots();
    uint32_t width = high - low;
    auto for_edges = [&](auto visit) {
      for_all_runs([&](uint32_t source, uint64_t begin, uint64_t end, bool) {
        for (uint64_t at = begin; at < end; ++at) {
          uint32_t offset = (slots[at] & ~kLast) - low;
          if (offset <= width) visit(offset, source);
        }
      });
    };
    // Counts, sums up, and fills each range from its end down.
    for_edges([&](uint32_t offset, uint32_t) { ++to->begin[offset]; });
    for (size_t i = 1; i < to->begin.size(); ++i) to->begin[i] += to->begin[i - 1];
    for_edges([&](uint32_t offset, uint32_t source) {
      budget_.step();
      to->list[--to->begin[offset]] = source;
    });
  }

  void find_semidominators() {
    other_.allocate(budget_, size_t{count_} + 1);
    semi_.allocate(budget_, size_t{count_} + 1);
    parents_.allocate(budget_, size_t{count_} + 1);
    for (uint32_t v = 1; v <= count_; ++v) parents_.put(v - up_[v]);
    uint64_t all = 0;
    for (uint64_t bucket : buckets_) all += bucket;
    // Fewer at once if memory is short: each round reads all edges twice.
    const uint64_t left = budget_.room_left() / (2 * sizeof(uint32_t));
    uint64_t most = std::max<uint64_t>(std::min<uint64_t>(all / kRounds, left), kEdgesAtOnce);
    uint64_t most_vertices = std::max<uint64_t>(std::min<uint64_t>(count_ / kRounds, left), kEdgesAtOnce);
    Sources sources;
    for (uint32_t high = count_; high > 0;) {
      uint32_t bucket = high >> shift_;
      uint64_t edges = buckets_[bucket];
      uint32_t low = bucket << shift_;
      while (bucket > 0 && edges + buckets_[bucket - 1] <= most && high - low < most_vertices) {
        edges += buckets_[--bucket];
        low = bucket << shift_;
      }
      low = std::max(low, 1u);
      collect(low, high, edges, &sources);
      for (uint32_t v = high; v >= low; --v) semidominator(v, sources, v - low);
      high = low - 1;
    }
  }

  void semidominator(uint32_t v, const Sources& sources, uint32_t offset) {
    uint32_t parent = up_[v];
    uint32_t semi = rooted_.get(v) ? 0 : parent;
    for (uint32_t i = sources.begin[offset]; i < sources.begin[offset + 1] && semi != 0; ++i) {
      semi = std::min(semi, least_up(sources.list[i], v));
    }
    other_[v] = semi;
    semi_.put_back(parent - semi);
  }

  // The least semidominator on the path from `u` to the root of its tree in the forest of vertices above `v`.
  // Compresses the path; reversed pointers lead back.
  uint32_t least_up(uint32_t u, uint32_t v) {
    if (u <= v) return u;
    budget_.step();
    uint32_t above = up_[u];
    if (above <= v) return other_[u];
    uint32_t below = u, at = above;
    while ((above = up_[at]) > v) {
      up_[at] = below;
      below = at;
      at = above;
    }
    uint32_t least = other_[at];
    for (at = below;;) {
      below = up_[at];
      other_[at] = least = std::min(least, other_[at]);
      up_[at] = above;
      if (at == u) return least;
      at = below;
    }
  }

  void find_immediate() {
    rooted_.reset();
    depths_.allocate(budget_, size_t{count_} + 1);
    up_[0] = other_[0] = 0;
    for (uint32_t v = 1; v <= count_; ++v) {
      uint32_t parent = v - parents_.get();
      uint32_t semi = parent - semi_.get_back();
      uint32_t at = parent;
      while (at > semi) {
        budget_.step();
        at = other_[at] > semi ? other_[at] : up_[at];
      }
      uint32_t jump = other_[at], far = other_[jump];
      bool equal = depths_[at] - depths_[jump] == depths_[jump] - depths_[far];
      depths_[v] = depths_[at] + 1;
      up_[v] = at;
      other_[v] = equal ? far : at;
    }
    parents_.reset();
    semi_.reset();
  }

  void renumber(DominatorTree* tree) {
    for (uint32_t v = 0; v <= count_; ++v) other_[v] = 1;
    for (uint32_t v = count_; v > 0; --v) {
      budget_.step();
      other_[up_[v]] += other_[v];
    }
    // next: the place of a vertex' next child; at the end, the place after its subtree.
    BigArray<uint32_t>& next = depths_;
    next[0] = 1;
    for (uint32_t v = 1; v <= count_; ++v) {
      budget_.step();
      uint32_t place = next[up_[v]];
      next[up_[v]] += other_[v];
      next[v] = place + 1;
    }
    up_.reset();
    tree->subtree.allocate(budget_, size_t{count_} + 1);
    for (uint32_t v = 0; v <= count_; ++v) {
      budget_.step();
      uint32_t place = next[v] - other_[v];
      tree->subtree[place] = other_[v];
      next[v] = place;
    }
    BigArray<uint32_t>& first = graph_.first();
    for (size_t node = 0; node < first.size(); ++node) {
      budget_.step();
      first[node] = visited_.get(node) ? next[first[node]] : DominatorTree::kUnreached;
    }
    tree->reached = count_;
    tree->place_of = std::move(first);
    graph_.reset();
  }

  static constexpr uint32_t kBuckets = 4096;
  static constexpr uint32_t kRounds = 6;
  static constexpr uint32_t kEdgesAtOnce = 1 << 20;

  ReferenceGraph& graph_;
  MemoryBudget& budget_;
  BitArray visited_, root_nodes_;
  BitArray rooted_;  // vertices that a GC root names
  // By vertex. During the search for semidominators: the ancestor in the forest and the least semidominator
  // on the way to it; later the dominator and a jump to one further up, then the size of the subtree.
  BigArray<uint32_t> up_, other_;
  BigArray<uint32_t> cursors_;  // of the path of the search: slots to continue at
  uint32_t depth_ = 0;
  uint32_t count_ = 0;
  unsigned shift_ = 0;
  std::vector<uint64_t> buckets_;  // cross edges by target >> shift_
  NumberStream parents_, semi_;
  BigArray<uint32_t> depths_;
};

}  // namespace

void find_dominators(ReferenceGraph& graph, const std::vector<uint32_t>& roots, bool keep_unreached,
                     MemoryBudget& budget, DominatorTree* tree) {
  DominatorFinder(graph, budget).run(roots, keep_unreached, tree);
}

}  // namespace hprof::tool
