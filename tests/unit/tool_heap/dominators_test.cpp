// Dominator trees against a definition that needs no algorithm: what is unreachable without a node, the node
// dominates.
#include "tools/heap/graph/dominators.h"

#include <doctest/doctest.h>
#include <random>
#include <set>
#include <vector>

using namespace hprof::tool;

namespace {

using Edges = std::vector<std::vector<uint32_t>>;

std::vector<bool> reached_without(const Edges& edges, const std::vector<uint32_t>& roots, uint32_t without) {
  std::vector<bool> seen(edges.size());
  std::vector<uint32_t> open;
  auto visit = [&](uint32_t node) {
    if (node == without || seen[node]) return;
    seen[node] = true;
    open.push_back(node);
  };
  for (uint32_t root : roots) visit(root);
  while (!open.empty()) {
    uint32_t node = open.back();
    open.pop_back();
    for (uint32_t target : edges[node]) visit(target);
  }
  return seen;
}

MemoryBudget budget;

void fill(ReferenceGraph& graph, const Edges& edges) {
  uint64_t slots = 8;
  for (const auto& targets : edges) slots += targets.size() + 1;
  graph.allocate(budget, static_cast<uint32_t>(edges.size()), slots, slots);
  RunBuffer runs(graph);
  for (uint32_t node = 0; node < edges.size(); ++node) {
    runs.begin(node);
    for (uint32_t target : edges[node]) runs.add(target);
    runs.finish();
  }
}

DominatorTree tree_of(const Edges& edges, const std::vector<uint32_t>& roots, bool keep = false) {
  ReferenceGraph graph;
  fill(graph, edges);
  DominatorTree tree;
  find_dominators(std::move(graph), roots, keep, budget, &tree);
  return tree;
}

bool dominates(const DominatorTree& tree, uint32_t a, uint32_t b) {
  uint32_t x = tree.place_of[a], y = tree.place_of[b];
  return x <= y && y < x + tree.subtree[x];
}

void check_by_definition(const Edges& edges, const std::vector<uint32_t>& roots) {
  DominatorTree tree = tree_of(edges, roots);
  std::vector<bool> all = reached_without(edges, roots, UINT32_MAX);
  uint32_t reached = 0;
  std::set<uint32_t> places;
  for (uint32_t node = 0; node < edges.size(); ++node) {
    reached += all[node];
    bool placed = tree.place_of[node] != DominatorTree::kUnreached;
    REQUIRE(placed == all[node]);
    if (placed) places.insert(tree.place_of[node]);
  }
  REQUIRE(tree.reached == reached);
  REQUIRE(places.size() == reached);
  REQUIRE(tree.subtree[0] == reached + 1);
  for (uint32_t a = 0; a < edges.size(); ++a) {
    if (!all[a]) continue;
    std::vector<bool> without = reached_without(edges, roots, a);
    for (uint32_t b = 0; b < edges.size(); ++b) {
      if (all[b]) REQUIRE(dominates(tree, a, b) == !without[b]);
    }
  }
}

}  // namespace

TEST_CASE("random graphs, sparse to dense") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    uint32_t nodes = 1 + random() % 40;
    uint32_t references = random() % (3 * nodes);
    Edges edges(nodes);
    for (uint32_t i = 0; i < references; ++i) edges[random() % nodes].push_back(random() % nodes);
    std::vector<uint32_t> roots;
    for (uint32_t i = 0; i <= random() % 3; ++i) roots.push_back(random() % nodes);
    check_by_definition(edges, roots);
  }
}

TEST_CASE("graphs that are nearly lists") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    uint32_t nodes = 60;
    Edges edges(nodes);
    for (uint32_t i = 0; i + 1 < nodes; ++i) edges[i].push_back(i + 1);
    for (uint32_t i = 0; i < random() % 12; ++i) edges[random() % nodes].push_back(random() % nodes);
    check_by_definition(edges, {0});
  }
}

TEST_CASE("the flow graph of Lengauer and Tarjan's paper") {
  // R A B C D E F G H I J K L; every node's dominator as the paper gives it.
  enum { R, A, B, C, D, E, F, G, H, I, J, K, L };
  Edges edges(13);
  edges[R] = {A, B, C};
  edges[A] = {D};
  edges[B] = {A, D, E};
  edges[C] = {F, G};
  edges[D] = {L};
  edges[E] = {H};
  edges[F] = {I};
  edges[G] = {I, J};
  edges[H] = {E, K};
  edges[I] = {K};
  edges[J] = {I};
  edges[K] = {I, R};
  edges[L] = {H};
  DominatorTree tree = tree_of(edges, {R});
  const uint32_t immediate[] = {R, R, R, R, R, R, C, C, R, R, G, R, D};
  for (uint32_t node = A; node <= L; ++node) {
    CHECK(dominates(tree, immediate[node], node));
    // Nothing is between them.
    for (uint32_t other = R; other <= L; ++other) {
      if (other == node || other == immediate[node]) continue;
      bool between = dominates(tree, immediate[node], other) && dominates(tree, other, node);
      CHECK_FALSE(between);
    }
  }
}

// A list whose elements are also held from elsewhere: walking up a dominator tree step by step would take n *
// n / 2 steps.
TEST_CASE("a long list of shared elements takes no quadratic time") {
  constexpr uint32_t kNodes = 300000;
  Edges edges(2 * kNodes + 1);
  for (uint32_t i = 0; i < kNodes; ++i) {
    if (i + 1 < kNodes) edges[i].push_back(i + 1);
    edges[i].push_back(kNodes + i);
    edges[2 * kNodes].push_back(kNodes + i);
  }
  DominatorTree tree = tree_of(edges, {0, 2 * kNodes});
  CHECK(tree.reached == 2 * kNodes + 1);
  CHECK(tree.subtree[tree.place_of[0]] == kNodes);
  for (uint32_t i = 0; i < kNodes; i += 1000) {
    CHECK(tree.subtree[tree.place_of[kNodes + i]] == 1);
    CHECK(dominates(tree, i, kNodes - 1));
    CHECK_FALSE(dominates(tree, i, kNodes + i));
  }
}

TEST_CASE("nothing is reached without roots") {
  DominatorTree tree = tree_of({{1}, {0}}, {});
  CHECK(tree.reached == 0);
  CHECK(tree.place_of[0] == DominatorTree::kUnreached);
}

TEST_CASE("unreached nodes hang below the root when they are kept") {
  // 0 -> 1; 2 -> 3; 4 <-> 5
  DominatorTree tree = tree_of({{1}, {}, {3}, {}, {5}, {4}}, {0}, true);
  CHECK(tree.reached == 6);
  CHECK(dominates(tree, 2, 3));
  CHECK(dominates(tree, 4, 5));
  CHECK_FALSE(dominates(tree, 5, 4));
  CHECK_FALSE(dominates(tree, 0, 2));
}
