// Vertices are numbered 1 ... n in the preorder of the search; 0 is the root above all. Memory: 4 bytes per
// node in the graph's own array, 12 to 16 per vertex in arrays, and the references that are not tree edges.
#include "tools/heap/graph/dominators.h"

#include <algorithm>
#include <future>

#include "tools/heap/graph/in_parallel.h"

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
  DominatorFinder(ReferenceGraph& graph, MemoryBudget& budget, unsigned threads)
      : graph_(graph), budget_(budget), threads_(threads) {}

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
    uint32_t& first = graph_.first()[node];
    budget_.step(&first);
    const uint32_t slot = first;
    const uint32_t vertex = ++count_;
    first = vertex;
    budget_.step(graph_.slots() + slot);
    budget_.step(&up_[vertex]);
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
      budget_.step(slots + at);
      uint32_t slot = slots[at];
      uint32_t target = slot & ~kLast;
      cursors_[depth_ - 1] = (slot & kLast) != 0 ? 0 : at + 1;
      if (visited_.get(target)) {
        const uint32_t& number = graph_.first()[target];
        budget_.step(&number);
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
    uint32_t low = 0, high = 0;
    uint64_t edges = 0;
    BigArray<uint32_t> begin;  // by vertex - low
    BigArray<uint32_t> list;
  };

  // The next vertices down from `high`; fewer at once if memory is short: each collect() reads all edges
  // twice.
  void choose(uint32_t high, Sources* to) const {
    uint32_t bucket = high >> shift_;
    to->high = high;
    to->edges = buckets_[bucket];
    to->low = bucket << shift_;
    while (bucket > 0 && to->edges + buckets_[bucket - 1] <= most_edges_ && high - to->low < most_vertices_) {
      to->edges += buckets_[--bucket];
      to->low = bucket << shift_;
    }
    to->low = std::max(to->low, 1u);
  }

  void collect(Sources* to) {
    const uint32_t low = to->low, width = to->high - low;
    to->begin.reset();
    to->list.reset();
    to->begin.allocate(budget_, size_t{width} + 2);
    to->list.allocate(budget_, to->edges);
    const uint32_t* slots = graph_.slots();
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
      uint32_t& begin = to->begin[offset];
      budget_.step(&begin);
      budget_.step(&to->list[--begin]);
      to->list[begin] = source;
    });
  }

  void find_semidominators() {
    other_.allocate(budget_, size_t{count_} + 1);
    semi_.allocate(budget_, size_t{count_} + 1);
    parents_.allocate(budget_, size_t{count_} + 1);
    for (uint32_t v = 1; v <= count_; ++v) parents_.put(v - up_[v]);
    uint64_t all = 0;
    for (uint64_t bucket : buckets_) all += bucket;
    // Two rounds are in memory at once, with two arrays of four bytes for each vertex or edge.
    const uint64_t left = budget_.room_left() / (4 * sizeof(uint32_t));
    most_edges_ = std::max<uint64_t>(std::min<uint64_t>(all / kRounds, left), kEdgesAtOnce);
    most_vertices_ = std::max<uint64_t>(std::min<uint64_t>(count_ / kRounds, left), kEdgesAtOnce);
    if (count_ == 0) return;
    Sources now, next;
    choose(count_, &now);
    collect(&now);
    while (true) {
      std::future<void> collected;
      if (now.low > 1) {
        choose(now.low - 1, &next);
        collected =
            std::async(threads_ > 1 ? std::launch::async | std::launch::deferred : std::launch::deferred,
                       [&] { collect(&next); });
      }
      for (uint32_t v = now.high; v >= now.low; --v) semidominator(v, now, v - now.low);
      if (!collected.valid()) return;
      collected.get();
      std::swap(now, next);
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
    budget_.step(&up_[u]);
    budget_.step(&other_[u]);
    uint32_t above = up_[u];
    if (above <= v) return other_[u];
    uint32_t below = u, at = above;
    while (budget_.step(&up_[at]), (above = up_[at]) > v) {
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
        budget_.step(&other_[at]);
        budget_.step(&up_[at]);
        at = other_[at] > semi ? other_[at] : up_[at];
      }
      uint32_t jump = other_[at];
      budget_.step(&other_[jump]);
      uint32_t far = other_[jump];
      for (uint32_t each : {at, jump, far}) budget_.step(&depths_[each]);
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
      budget_.step(&other_[up_[v]]);
      other_[up_[v]] += other_[v];
    }
    // next: the place of a vertex' next child; at the end, the place after its subtree.
    BigArray<uint32_t>& next = depths_;
    next[0] = 1;
    for (uint32_t v = 1; v <= count_; ++v) {
      budget_.step(&next[up_[v]]);
      uint32_t place = next[up_[v]];
      next[up_[v]] += other_[v];
      next[v] = place + 1;
    }
    up_.reset();
    tree->subtree.allocate(budget_, size_t{count_} + 1);
    in_parallel(threads_, size_t{count_} + 1, [&](size_t begin, size_t end, unsigned) {
      for (size_t v = begin; v < end; ++v) {
        uint32_t place = next[v] - other_[v];
        budget_.step(&tree->subtree[place]);
        tree->subtree[place] = other_[v];
        next[v] = place;
      }
    });
    BigArray<uint32_t>& first = graph_.first();
    in_parallel(threads_, first.size(), [&](size_t begin, size_t end, unsigned) {
      for (size_t node = begin; node < end; ++node) {
        const bool visited = visited_.get(node);
        if (visited) budget_.step(&next[first[node]]);
        first[node] = visited ? next[first[node]] : DominatorTree::kUnreached;
      }
    });
    tree->reached = count_;
    tree->place_of = std::move(first);
    graph_.reset();
  }

  static constexpr uint32_t kBuckets = 4096;
  static constexpr uint32_t kRounds = 8;
  static constexpr uint32_t kEdgesAtOnce = 1 << 20;

  ReferenceGraph& graph_;
  MemoryBudget& budget_;
  const unsigned threads_;
  uint64_t most_edges_ = 0, most_vertices_ = 0;  // of a round of find_semidominators()
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

void find_dominators(ReferenceGraph graph, const std::vector<uint32_t>& roots, bool keep_unreached,
                     MemoryBudget& budget, DominatorTree* tree, unsigned threads) {
  DominatorFinder(graph, budget, threads).run(roots, keep_unreached, tree);
}

}  // namespace hprof::tool
