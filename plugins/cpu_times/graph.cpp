#include "graph.h"

#include <cstring>
#include <new>

namespace hprof::times {

static constexpr uint32_t kProbes = 8;  // HprofCalls.PROBES
static constexpr uint32_t kFirstNodes = 16;
static constexpr uint64_t kFirstSlots = 2 * kFirstNodes;
static constexpr uint64_t kMostSlots = 1ull << 28;
static constexpr uint32_t kMostNodesOfChunk = 1024;
static constexpr uint64_t kFirstEdges = 64;
static constexpr uint64_t kMostEdges = 1ull << 26;
static constexpr uint64_t kNodeAlignment = 1 << kNodeBits;

static uint64_t bytes_of_node(uint32_t depth) {
  uint64_t bytes = offsetof(Node, trace) + sizeof(uint32_t) * depth;
  return (bytes + kNodeAlignment - 1) & ~(kNodeAlignment - 1);
}

// The index has up to five slots per node, and a half-empty table two edges.
uint64_t Graph::bytes_of_trace(uint32_t depth) { return bytes_of_node(depth) + 5 * 16 + 4 * sizeof(Edge); }

uint64_t Graph::bytes_at_first(uint32_t depth) {
  return sizeof(Chunk) + kNodeAlignment + kFirstNodes * bytes_of_node(depth) + kFirstSlots * 16 +
         kFirstEdges * sizeof(Edge);
}

bool Graph::create(const Services& services, Limits* limits, uint32_t depth, State* owner) {
  services_ = services;
  limits_ = limits;
  owner_ = owner;
  depth_ = depth;
  stride_ = static_cast<uint32_t>(bytes_of_node(depth));
  edge_room_ = kFirstEdges;
  edges_ = services_.allocate<Edge>(edge_room_);
  root_ =
      edges_ != nullptr && index_.open(services_, kFirstSlots, kMostSlots) ? make_node(nullptr, 0) : nullptr;
  if (root_ != nullptr) return true;
  destroy();
  return false;
}

void Graph::destroy() {
  Chunk* next;
  for (Chunk* chunk = chunks_.load(std::memory_order_relaxed); chunk != nullptr; chunk = next) {
    next = chunk->next;
    limits_->nodes.fetch_sub(chunk->used.load(std::memory_order_relaxed), std::memory_order_relaxed);
    services_.mem->release(services_.host, chunk, chunk->bytes);
  }
  chunks_.store(nullptr, std::memory_order_relaxed);
  index_.close();
  services_.release(edges_, edge_room_);
  edges_ = nullptr;
}

// A zeroed node; null: no memory.
Node* Graph::take_place() {
  for (;;) {
    Chunk* chunk = chunks_.load(std::memory_order_acquire);
    uint32_t used = chunk != nullptr ? chunk->used.load(std::memory_order_relaxed) : 0;
    while (chunk != nullptr && used < chunk->room) {
      if (chunk->used.compare_exchange_weak(used, used + 1, std::memory_order_acq_rel))
        return reinterpret_cast<Node*>(chunk->nodes + uint64_t{used} * stride_);
    }
    uint32_t room = chunk == nullptr ? kFirstNodes : chunk->room * 2;
    if (room > kMostNodesOfChunk) room = kMostNodesOfChunk;
    uint64_t bytes = sizeof(Chunk) + kNodeAlignment + uint64_t{room} * stride_;
    auto* memory = static_cast<uint8_t*>(services_.mem->allocate(services_.host, bytes));
    if (memory == nullptr) return nullptr;
    auto* made = new (memory) Chunk{chunk, nullptr, bytes, room, {}};
    uintptr_t at = reinterpret_cast<uintptr_t>(memory + sizeof(Chunk));
    made->nodes = memory + sizeof(Chunk) + (-at & (kNodeAlignment - 1));
    if (!chunks_.compare_exchange_strong(chunk, made, std::memory_order_acq_rel))
      services_.mem->release(services_.host, memory, bytes);
  }
}

void close_ways(Node* node, Node* nowhere) {
  for (auto& next : node->next) next.store(Address<Node>::word_of(nowhere), std::memory_order_relaxed);
}

Node* Graph::make_node(const uint32_t* trace, uint32_t length) {
  Node* node = take_place();
  if (node == nullptr) return nullptr;
  close_ways(node, length != 0 ? root_ : node);
  node->method = length != 0 ? static_cast<int32_t>(trace[0]) : kNoMethod;
  node->state = owner_;
  // Time outside of counted methods is always measured, so the root keeps the clock.
  if (owner_ != nullptr) node->pace = length != 0 || limits_->pace == 0 ? limits_->pace : INT32_MAX;
  if (length != 0) memcpy(node->trace, trace, length * sizeof(uint32_t));
  __atomic_store_n(&node->length, length, __ATOMIC_RELEASE);
  limits_->nodes.fetch_add(1, std::memory_order_relaxed);
  return node;
}

// Counts the call for its caller. A thread's outermost calls have no counted caller and are not folded.
Node* Graph::fold(Node* from) const {
  count_loss(limits_->folded);
  return from;
}

// The node of the trace with `method` on top of `from`'s, a new one if need be. If several threads make it at
// once, one inserts its own; the others' stay unused.
Node* Graph::intern(Node* from, uint32_t method) {
  uint32_t trace[kDepthMost];
  uint32_t length = from->length < depth_ ? from->length + 1 : depth_;
  trace[0] = method;
  if (length > 1) memcpy(trace + 1, from->trace, (length - 1) * sizeof(uint32_t));
  Node* made = nullptr;
  for (uint64_t key = mix(length, trace, length);; key = mix(key, length)) {
    if (key == 0) continue;
    const std::atomic<Node*>* seen = index_.find(key);
    Node* node = seen != nullptr ? seen->load(std::memory_order_acquire) : nullptr;
    if (node == nullptr) {
      const bool full = limits_->nodes.load(std::memory_order_relaxed) >= limits_->most_nodes;
      if (full && from->length != 0) return fold(from);
      std::atomic<Node*>* place = index_.make(key);
      if (place == nullptr || (made == nullptr && (made = make_node(trace, length)) == nullptr))
        return from->length != 0 ? fold(from) : nullptr;
      if (place->compare_exchange_strong(node, made, std::memory_order_acq_rel)) return made;
    }
    if (node->length != length || memcmp(node->trace, trace, length * sizeof(uint32_t)) != 0) continue;
    if (made != nullptr) __atomic_store_n(&made->length, 0, __ATOMIC_RELEASE);
    return node;
  }
}

// The slot of the key, or a free one for it; null: neither within HprofCalls's probe length.
Edge* Graph::find_edge(Edge* edges, uint64_t room, uint64_t key) {
  uint64_t hash = edge_hash(key) / sizeof(Edge);
  for (uint32_t i = 0; i < kProbes; i++, hash++) {
    Edge* edge = &edges[hash & (room - 1)];
    uint64_t found = edge->key.load(std::memory_order_relaxed);
    if (found == key || found == 0) return edge;
  }
  return nullptr;
}

// Copies the edges to a new table. False: not all fit, and nothing has changed.
bool Graph::move_edges(Edge* fresh, uint64_t room) {
  for (uint64_t i = 0; i < edge_room_; i++) {
    uint64_t key = edges_[i].key.load(std::memory_order_relaxed);
    if (key == 0) continue;
    Edge* edge = find_edge(fresh, room, key);
    if (edge == nullptr) return false;
    edge->node.store(edges_[i].node.load(std::memory_order_relaxed), std::memory_order_relaxed);
    edge->key.store(key, std::memory_order_relaxed);
  }
  return true;
}

// Adds an edge. False: there is no room for it.
bool Graph::add_edge(uint64_t key, Node* node) {
  Edge* edge = edge_count_ * 2 < edge_room_ ? find_edge(edges_, edge_room_, key) : nullptr;
  if (edge == nullptr) return false;
  if (edge->key.load(std::memory_order_relaxed) == 0) edge_count_++;
  edge->node.store(Address<Node>::word_of(node), std::memory_order_release);
  edge->key.store(key, std::memory_order_release);
  return true;
}

// The target of the edge for that method; another thread may just have made it. Under the lock.
Node* Graph::known(const Node* from, uint32_t method) const {
  Node* way = Address<Node>::of(from->next[method % kWays].load(std::memory_order_relaxed));
  if (way->method == static_cast<int32_t>(method)) return way;
  uint64_t key = edge_key(from, method);
  const Edge* edge = find_edge(edges_, edge_room_, key);
  bool is_there = edge != nullptr && edge->key.load(std::memory_order_relaxed) == key;
  return is_there ? Address<Node>::of(edge->node.load(std::memory_order_relaxed)) : nullptr;
}

// Puts the node into from's ways. False: another edge is there, or the edge was folded into `from`.
bool Graph::add_way(Node* from, uint32_t method, Node* node) const {
  auto& way = from->next[method % kWays];
  if (way.load(std::memory_order_relaxed) != Address<Node>::word_of(root_)) return false;
  if (node->method != static_cast<int32_t>(method)) return false;
  if (node->pace > 0 || from->pace > 0) return false;
  way.store(Address<Node>::word_of(node), std::memory_order_release);
  return true;
}

void Graph::publish(State* state) const {
  state->edges = edges_;
  state->mask = mask();
}

void Graph::show(State* state) {
  Hold hold(this);
  publish(state);
}

// Inserts the edge to `node`, and makes the table larger if needed. Without memory the call takes the slow
// path each time; nor may folded edges fill the table. A thread's own old table is freed, since only that
// thread reads it. The shared graph's old table is kept: other threads may be reading it.
void Graph::connect(State* state, Node* from, uint32_t method, Node* node) {
  Edge *fresh = nullptr, *old = nullptr;
  uint64_t room = 0, old_room = 0;
  for (bool done = false; !done;) {
    uint64_t wanted;
    {
      Hold hold(this);
      if (fresh != nullptr && room > edge_room_ && move_edges(fresh, room)) {
        old = owner_ != nullptr ? edges_ : nullptr;
        old_room = edge_room_;
        edges_ = fresh;
        edge_room_ = room;
        fresh = nullptr;
      }
      const bool folds = node == from && edge_count_ >= 4 * limits_->most_nodes;
      done = known(from, method) != nullptr || add_way(from, method, node) || folds ||
             add_edge(edge_key(from, method), node);
      publish(state);
      wanted = 2 * (room > edge_room_ ? room : edge_room_);
    }
    services_.release(old, old_room);
    services_.release(fresh, room);
    old = nullptr;
    room = wanted;
    fresh = !done && room <= kMostEdges ? services_.allocate<Edge>(room) : nullptr;
    done = fresh == nullptr;
  }
}

Node* Graph::follow(State* state, Node* from, uint32_t method) {
  // The caller is a frame of the carrier, not of the virtual thread mounted on it, or the other way round.
  if (from->state != owner_) return nullptr;
  Node* node;
  {
    Hold hold(this);
    node = known(from, method);
    publish(state);
  }
  if (node != nullptr) return node;
  node = intern(from, method);
  if (node != nullptr) {
    connect(state, from, method, node);
  } else {
    count_loss(limits_->uncounted);
  }
  return node;
}

void Graph::pause() {
  each([](Node* node) { node->left_out -= __atomic_load_n(&node->count, __ATOMIC_RELAXED); });
}

void Graph::resume() {
  each([](Node* node) { node->left_out += __atomic_load_n(&node->count, __ATOMIC_RELAXED); });
}

void Graph::reset(bool running) {
  each([running](Node* node) {
    node->left_out = running ? __atomic_load_n(&node->count, __ATOMIC_RELAXED) : 0;
    __atomic_store_n(&node->self_ns, 0, __ATOMIC_RELAXED);
  });
}

}  // namespace hprof::times
