// The graph of calls: a node is one trace (the last `depth` methods), an edge (node, method) leads to the
// node with that method on top. Nodes are counted by java/HprofCalls.java;
// the layout of State, Node and Edge is shared with it. This class
// makes new nodes and edges.
//
// Protocol: only its thread writes a platform thread's graph, except for self_ns, which the sampler writes
// (with clock=wall the thread, for nodes that are not brief). Virtual threads share one graph: HprofCalls
// adds to counts atomically, nodes are made without a lock, edges are inserted under the graph's lock, with
// memory allocated before. An edge's node is written before its key; HprofCalls, whose reads are plain,
// takes the slow path (follow) if it finds the key but no node. Nodes never move and are freed only with a
// graph whose thread has ended.
//
// The word that switches the probes off is not volatile: a compiled loop that has read it counts as long as
// it runs. So only HprofCalls writes counts; left_out of each node has what was counted while the collector
// was stopped, or before a reset.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <hprof/cpp/hash_table.hpp>
#include <hprof/cpp/lock.hpp>

namespace hprof::times {

// The option clock= of cpu=times.
enum Times : uint32_t { kSampled = 0, kClock = 1 };

constexpr uint32_t kWays = 8;
constexpr int32_t kNoMethod = -1;
constexpr uint32_t kNodeBits = 7;  // a node's address is a multiple of 1 << kNodeBits

// An address as HprofCalls reads and writes it: 64 bits on every machine.
template <class T>
struct Address {
  uint64_t word;

  static T* of(uint64_t word) { return reinterpret_cast<T*>(static_cast<uintptr_t>(word)); }
  static uint64_t word_of(T* pointer) { return reinterpret_cast<uintptr_t>(pointer); }
  Address& operator=(T* pointer) {
    word = word_of(pointer);
    return *this;
  }
  operator T*() const { return of(word); }
  T* operator->() const { return of(word); }
  T* load() const { return of(__atomic_load_n(&word, __ATOMIC_RELAXED)); }
};

struct State;

struct Node {
  uint64_t count;
  int32_t method;        // trace[0]; kNoMethod: none
  uint32_t length;       // 0 in the root
  Address<State> state;  // of the thread that owns it; null in the shared graph
  uint64_t self_ns;
  // The ways: addresses of target nodes, by the low bits of the method. If that node has the method, it is
  // the edge's target; else the edge is in the table of edges. Unused: a node without a method.
  std::atomic<uint64_t> next[kWays];
  // While the collector runs, the part of the count that reports leave out; while it is stopped, that minus
  // the count at the stop. Under the collector's lock.
  uint64_t left_out;
  // clock=wall: above 0 while HprofCalls reads the clock whenever the thread enters or leaves this node.
  // Below 1 the node is brief: its time is counted in State::brief, and the collector writes self_ns.
  int32_t pace;
  uint32_t trace[1];  // `length` methods, innermost first

  bool is_brief() const { return __atomic_load_n(&pace, __ATOMIC_ACQUIRE) <= 0; }
  uint64_t calls(bool running) const {
    return running ? __atomic_load_n(&count, __ATOMIC_RELAXED) - left_out : 0 - left_out;
  }
};
static_assert(offsetof(Node, count) == 0 && offsetof(Node, method) == 8 && offsetof(Node, length) == 12 &&
                  offsetof(Node, state) == 16 && offsetof(Node, self_ns) == 24 &&
                  offsetof(Node, next) == 32 && offsetof(Node, pace) == 104,
              "HprofCalls.NODE_*");

struct Edge {
  std::atomic<uint64_t> key;   // 0: free
  std::atomic<uint64_t> node;  // an Address
};
static_assert(sizeof(Edge) == 16, "HprofCalls.follow");

constexpr uint32_t kDepthMost = 256;

// Limits and counters of all graphs.
struct Limits {
  uint64_t most_nodes = 0;
  int32_t pace = 0;  // of new nodes, except in the shared graph
  std::atomic<uint64_t> nodes{0};
  uint64_t* folded = nullptr;  // loss counters
  uint64_t* uncounted = nullptr;
};

class Graph {
 public:
  // owner: null for the shared graph. False: no memory. [app][control]
  bool create(const Services& services, Limits* limits, uint32_t depth, State* owner);
  // Frees the memory. No thread uses the graph any more. [control]
  void destroy();

  // About how much memory create() takes.
  static uint64_t bytes_at_first(uint32_t depth);
  // About how much memory a trace takes with its edges.
  static uint64_t bytes_of_trace(uint32_t depth);

  Node* root() const { return root_; }
  uint64_t size() const { return index_.size(); }  // traces
  Edge* edges() const { return edges_; }
  uint64_t mask() const { return (edge_room_ - 1) * sizeof(Edge); }

  // The node with `method` on top of `from`; `from` itself when there are too many nodes, or no memory for
  // more; null: no memory at all. Refreshes the state's view of the edges. [app]
  Node* follow(State* state, Node* from, uint32_t method);
  // Updates the state's copy of the table of edges and its size. [app]
  void show(State* state);

  // The collector stops, starts again, or discards its data. Under its lock. [control]
  void pause();
  void resume();
  void reset(bool running);

  // All nodes but the root; nodes made meanwhile may be missing. [control]
  template <class Visit>
  void each(Visit visit) const {
    for (Chunk* chunk = chunks_.load(std::memory_order_acquire); chunk != nullptr; chunk = chunk->next) {
      uint32_t used = chunk->used.load(std::memory_order_acquire);
      for (uint32_t i = 0; i < used; i++) {
        Node* node = reinterpret_cast<Node*>(chunk->nodes + i * stride_);
        if (__atomic_load_n(&node->length, __ATOMIC_ACQUIRE) != 0) visit(node);
      }
    }
  }

 private:
  struct Chunk {
    Chunk* next;
    uint8_t* nodes;
    uint64_t bytes;
    uint32_t room;
    std::atomic<uint32_t> used;
  };
  // Holds the lock of the shared graph; does nothing for a thread's own.
  class Hold {
   public:
    explicit Hold(Graph* graph) : graph_(graph) {
      if (graph_->owner_ == nullptr) graph_->lock_.lock(graph_->services_);
    }
    ~Hold() {
      if (graph_->owner_ == nullptr) graph_->lock_.unlock();
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Graph* graph_;
  };

  Node* take_place();
  Node* make_node(const uint32_t* trace, uint32_t length);
  Node* fold(Node* from) const;
  Node* intern(Node* from, uint32_t method);
  Node* known(const Node* from, uint32_t method) const;
  bool add_way(Node* from, uint32_t method, Node* node) const;
  static Edge* find_edge(Edge* edges, uint64_t room, uint64_t key);
  bool add_edge(uint64_t key, Node* node);
  bool move_edges(Edge* fresh, uint64_t room);
  void connect(State* state, Node* from, uint32_t method, Node* node);
  void publish(State* state) const;

  Services services_;
  Limits* limits_ = nullptr;
  State* owner_ = nullptr;
  uint32_t depth_ = 0;
  uint32_t stride_ = 0;
  Node* root_ = nullptr;
  std::atomic<Chunk*> chunks_{nullptr};
  HashTable<std::atomic<Node*>, Growth::kLevels> index_;  // by the hash of the trace
  Edge* edges_ = nullptr;
  uint64_t edge_room_ = 0;
  uint64_t edge_count_ = 0;
  Lock lock_;  // of the shared graph's edges
};

// The state of a thread whose calls are counted. Thread.$hprof is the node that the thread is in, but in
// virtual threads the sentinel of the state: a node whose ways all lead to itself, so that HprofCalls always
// takes the slow path.
struct State {
  Address<Node> current;  // virtual threads only
  Address<Edge> edges;
  uint64_t mask;
  uint64_t clock;   // clock=wall: the clock at the last event: nanoseconds, or ticks
  uint64_t shared;  // 1: of a virtual thread
  uint64_t brief;   // clock=wall: the time in brief nodes until `clock`
  uint64_t step;    // clock=wall: nodes with shorter calls are brief; 0: no clock is read
  Graph* graph;
  State* next;         // in the list of platform threads, or in the free list of virtual ones
  State* made_before;  // in the list of all states of virtual threads, which are never freed
  uint64_t os_id;
  void* thread;  // JNI: a global reference, while calls are counted; see Collector::refer
  // Written by the sampler.
  uint64_t cpu_ns;       // CPU time of the thread that has been credited
  uint64_t cpu_read_ns;  // its CPU clock at the last visit,
  uint64_t visited_ns;   // and the system's
  Node* seen;
  Node* ran;  // where the thread was last found running, or null
  uint64_t seen_count;
  uint32_t idle;
  uint64_t brief_credited;  // the part of `brief` that nodes were credited with
  uint64_t clock_seen;
  // Written by the thread.
  std::atomic<uint32_t> serial;
  std::atomic<uint32_t> ended;
  std::atomic<Node*> last;  // the node that it was in when it ended
  uint64_t final_cpu_ns;    // valid once ended
  Graph own;
  Node sentinel;
};
static_assert(offsetof(State, edges) == 8 && offsetof(State, mask) == 16 && offsetof(State, clock) == 24 &&
                  offsetof(State, shared) == 32 && offsetof(State, brief) == 40 &&
                  offsetof(State, step) == 48,
              "HprofCalls.STATE_*");

// Makes all ways lead to `nowhere`, a node without a method.
void close_ways(Node* node, Node* nowhere);

// The key of an edge and where the search for it begins, as in HprofCalls.follow.
inline uint64_t edge_key(const Node* from, uint32_t method) {
  return uint64_t{reinterpret_cast<uintptr_t>(from)} >> kNodeBits << 23 | method;
}
inline uint64_t edge_hash(uint64_t key) { return key * 0x9E3779B97F4A7C15ull >> 28; }

}  // namespace hprof::times
