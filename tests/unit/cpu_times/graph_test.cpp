#include "plugins/cpu_times/graph.h"

#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "tools/mock/mock_host.h"

using namespace hprof;
using namespace hprof::times;

namespace {

using Trace = std::vector<uint32_t>;

Trace trace_of(const Node* node) { return {node->trace, node->trace + node->length}; }

// What HprofCalls does with a graph, without its short cuts.
struct Fixture {
  MockHost mock;
  Services services{mock.host()};
  Limits limits;
  uint64_t folded = 0, uncounted = 0;
  std::unique_ptr<State> state{new State()};
  bool shared;
  Graph graph;

  explicit Fixture(uint32_t depth, uint64_t most_nodes = 1000000, bool is_shared = false)
      : shared(is_shared) {
    limits.most_nodes = most_nodes;
    limits.folded = &folded;
    limits.uncounted = &uncounted;
    REQUIRE(graph.create(services, &limits, depth, shared ? nullptr : state.get()));
    state->graph = &graph;
  }
  ~Fixture() {
    graph.destroy();
    // Tables that the shared graph has outgrown stay: others may be reading them.
    if (!shared) CHECK(mock.memory_used == 0);
    CHECK(limits.nodes == 0);
  }
  Node* step(Node* from, uint32_t method) { return graph.follow(state.get(), from, method); }
  Node* walk(const Trace& calls) {
    Node* node = graph.root();
    for (uint32_t method : calls) node = step(node, method);
    return node;
  }
};

}  // namespace

TEST_CASE("a node is the last calls, innermost first, as many as the depth") {
  Fixture f(3);
  CHECK(trace_of(f.walk({1})) == Trace{1});
  CHECK(trace_of(f.walk({1, 2})) == Trace{2, 1});
  CHECK(trace_of(f.walk({1, 2, 3, 4})) == Trace{4, 3, 2});
  CHECK(f.graph.root()->length == 0);
}

TEST_CASE("two ways to the same last calls lead to one node") {
  Fixture f(2);
  CHECK(f.walk({1, 2, 3}) == f.walk({9, 2, 3}));
  CHECK(f.walk({1, 2, 3}) != f.walk({1, 3}));
}

TEST_CASE("recursion at the depth's end stays where it is") {
  Fixture f(2);
  Node* twice = f.walk({7, 7});
  CHECK(f.step(twice, 7) == twice);
}

TEST_CASE("the same step leads to the same node, through ways and through the table") {
  Fixture f(1);
  std::vector<Node*> first;
  for (uint32_t method = 0; method < 100; method++) first.push_back(f.step(f.graph.root(), method));
  for (uint32_t method = 0; method < 100; method++) {
    CHECK(f.step(f.graph.root(), method) == first[method]);
    CHECK(trace_of(first[method]) == Trace{method});
  }
}

TEST_CASE("the first edge of a way stands in the node, where HprofCalls looks for it") {
  Fixture f(2);
  Node* root = f.graph.root();
  for (uint32_t method = 10; method < 10 + kWays; method++) {
    Node* to = f.step(root, method);
    CHECK(to->method == static_cast<int32_t>(method));
    CHECK(root->next[method % kWays] == Address<Node>::word_of(to));
  }
  Node* beyond = f.step(root, 50);
  for (auto& next : root->next) CHECK(next != Address<Node>::word_of(beyond));
  // The next one is in the table, within its reach.
  uint64_t key = edge_key(root, 50), hash = edge_hash(key), found = 0;
  for (uint32_t i = 0; i < 8 && found == 0; i++, hash += sizeof(Edge)) {
    const auto* edge = reinterpret_cast<const Edge*>(reinterpret_cast<const uint8_t*>(f.graph.edges()) +
                                                     (hash & f.graph.mask()));
    if (edge->key == key) found = edge->node;
  }
  CHECK(found == Address<Node>::word_of(beyond));
}

TEST_CASE("a new node has no ways and no calls, and knows its owner") {
  Fixture f(4);
  Node* node = f.walk({1});
  CHECK(node->count == 0);
  CHECK(node->self_ns == 0);
  CHECK(static_cast<State*>(node->state) == f.state.get());
  CHECK(node->method == 1);
  for (auto& next : node->next) CHECK(Address<Node>::of(next)->method == kNoMethod);
  for (auto& next : f.graph.root()->next) {
    if (Address<Node>::of(next) != node) CHECK(Address<Node>::of(next)->method == kNoMethod);
  }
  CHECK(reinterpret_cast<uintptr_t>(node) % (1u << kNodeBits) == 0);
}

TEST_CASE("shared nodes have no owner") {
  Fixture f(2, 1000, true);
  CHECK(static_cast<State*>(f.step(f.graph.root(), 5)->state) == nullptr);
  CHECK(static_cast<State*>(f.graph.root()->state) == nullptr);
}

TEST_CASE("an edge that is folded takes no way: the node that it leads to has another method") {
  Fixture f(4, 3);
  Node* last = f.walk({1, 2});
  CHECK(f.step(last, 16) == last);
  for (auto& next : last->next) CHECK(next != Address<Node>::word_of(last));
  CHECK(f.step(last, 16) == last);
  // With room again, as after threads have ended, other edges of that way take it.
  f.limits.most_nodes = 10;
  Node* made = f.step(last, 24);
  CHECK(made != last);
  CHECK(last->next[0] == Address<Node>::word_of(made));
}

TEST_CASE(
    "with clock=wall HprofCalls finds new edges in the table only, so that it comes to read the clock") {
  MockHost mock;
  Limits limits;
  limits.most_nodes = 100;
  limits.pace = 5;
  State state;
  Graph graph;
  REQUIRE(graph.create(Services(mock.host()), &limits, 2, &state));
  Node* root = graph.root();
  Node* first = graph.follow(&state, root, 1);
  CHECK(first->pace == 5);
  CHECK(root->pace == INT32_MAX);
  for (auto& next : root->next) CHECK(next == Address<Node>::word_of(root));
  CHECK(graph.follow(&state, root, 1) == first);
  first->pace = 0;
  Node* second = graph.follow(&state, first, 2);
  CHECK(first->next[2] == Address<Node>::word_of(root));
  second->pace = 0;
  CHECK(graph.follow(&state, first, 2) == second);
  graph.destroy();
}

TEST_CASE("a node of another graph is not followed") {
  Fixture f(2), other(2);
  CHECK(f.step(other.graph.root(), 1) == nullptr);
}

TEST_CASE("the state sees the table as it has grown") {
  Fixture f(2);
  uint64_t before = f.graph.mask();
  for (uint32_t method = 0; method < 5000; method++) f.step(f.graph.root(), method);
  CHECK(f.graph.mask() > before);
  CHECK(f.state->mask == f.graph.mask());
  CHECK(f.state->edges == f.graph.edges());
}

TEST_CASE("every node but the root is visited once") {
  Fixture f(3);
  std::map<Trace, int> wanted, got;
  for (uint32_t a = 0; a < 20; a++) {
    for (uint32_t b = 0; b < 20; b++) {
      for (uint32_t c = 0; c < 5; c++) {
        f.walk({a, b, c});
        wanted[{a}] = wanted[{b, a}] = wanted[{c, b, a}] = 1;
      }
    }
  }
  f.graph.each([&](const Node* node) { got[trace_of(node)]++; });
  CHECK(got == wanted);
}

TEST_CASE("too many nodes are folded into their callers and counted as lost") {
  Fixture f(4, 10);
  Node* last = f.walk({1, 2, 3});
  for (uint32_t method = 100; method < 200; method++) f.step(last, method);
  uint64_t nodes = 0;
  f.graph.each([&](const Node*) { nodes++; });
  CHECK(nodes <= 10);
  CHECK(f.folded > 0);
  CHECK(f.step(last, 5000) == last);
  CHECK(f.uncounted == 0);
}

TEST_CASE("calls for which there is no memory have no node, and the next ones do") {
  for (bool shared : {false, true}) {
    uint32_t failures = 0;
    for (uint64_t nth = 0;; nth++) {
      Fixture f(2, 1000000, shared);
      const uint64_t before = f.mock.allocations;
      f.mock.fail_allocation = before + nth;
      for (uint32_t method = 0; method < 3000; method++) {
        Node* node = f.step(f.graph.root(), method);
        failures += node == nullptr;
        if (node == nullptr) node = f.step(f.graph.root(), method);
        REQUIRE(node != nullptr);
        CHECK(trace_of(node) == Trace{method});
      }
      CHECK(f.uncounted <= 1);
      if (f.mock.allocations <= before + nth) break;
    }
    CHECK(failures > 2);
  }
}

TEST_CASE("the deepest traces keep all of their methods") {
  Fixture f(kDepthMost);
  Trace calls;
  for (uint32_t i = 0; i < kDepthMost + 10; i++) calls.push_back(i);
  Node* node = f.walk(calls);
  REQUIRE(node->length == kDepthMost);
  CHECK(node->trace[0] == kDepthMost + 9);
  CHECK(node->trace[kDepthMost - 1] == 10);
}

TEST_CASE("while memory is asked for the shared graph, other threads go on in it") {
  Fixture f(2, 1000000, true);
  f.mock.on_pause = [](uint64_t) { REQUIRE_MESSAGE(false, "a lock is waited for"); };
  State other = {};
  other.graph = &f.graph;
  uint32_t asked = 0, method = 5000;
  bool inside = false;
  f.mock.on_allocate = [&] {
    if (inside) return;
    inside = true;
    asked++;
    for (int i = 0; i < 30; i++) {
      Node* node = f.graph.follow(&other, f.graph.root(), ++method);
      REQUIRE(node != nullptr);
      CHECK(f.graph.follow(&other, f.graph.root(), method) == node);
    }
    inside = false;
  };
  for (uint32_t i = 0; i < 500; i++) {
    Node* node = f.step(f.graph.root(), i);
    REQUIRE(node != nullptr);
    CHECK(trace_of(node) == Trace{i});
    CHECK(f.state->edges == f.graph.edges());
    CHECK(f.state->mask == f.graph.mask());
  }
  CHECK(asked > 5);
  for (uint32_t i = 0; i < 500; i++) CHECK(trace_of(f.step(f.graph.root(), i)) == Trace{i});
}

TEST_CASE("threads that build the shared graph at once agree on its nodes") {
  Fixture f(2, 1000000, true);
  constexpr uint32_t kThreads = 4, kMethods = 300;
  std::vector<std::vector<Node*>> seen(kThreads, std::vector<Node*>(kMethods));
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      State own = {};
      own.graph = &f.graph;
      for (uint32_t i = 0; i < kMethods; i++) {
        uint32_t method = (i + t * 70) % kMethods;
        seen[t][method] = f.graph.follow(&own, f.graph.root(), method);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (uint32_t t = 1; t < kThreads; t++) CHECK(seen[t] == seen[0]);
  uint64_t nodes = 0;
  f.graph.each([&](const Node*) { nodes++; });
  CHECK(nodes == kMethods);
}
