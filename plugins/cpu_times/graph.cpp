#include "plugins/cpu_times/graph.h"

#include <cstring>
#include <new>

namespace hprof::times {

static constexpr uint32_t kProbes = 8;  // HprofTracker.PROBES
static constexpr uint32_t kFirstNodes = 16;
static constexpr uint32_t kMostNodesOfChunk = 1024;
static constexpr uint64_t kFirstEdges = 64;
static constexpr uint64_t kMostEdges = 1ull << 26;
static constexpr uint64_t kNodeAlignment = 1 << kNodeBits;

static uint64_t hash_of(const uint32_t* trace, uint32_t length) {
  uint64_t hash = length;
  for (uint32_t i = 0; i < length; i++) hash = (hash ^ trace[i]) * 0x9E3779B97F4A7C15ull;
  return hash ^ hash >> 32;
}

static uint64_t bytes_of_node(uint32_t depth) {
  uint64_t bytes = offsetof(Node, trace) + sizeof(uint32_t) * depth;
  return (bytes + kNodeAlignment - 1) & ~(kNodeAlignment - 1);
}

bool Graph::create(const Services& services, Limits* limits, uint32_t depth, State* owner) {
  services_ = services;
  limits_ = limits;
  owner_ = owner;
  depth_ = depth;
  stride_ = static_cast<uint32_t>(bytes_of_node(depth));
  index_room_ = 2 * kFirstNodes;
  edge_room_ = kFirstEdges;
  index_ = services_.allocate<Node*>(index_room_);
  edges_ = services_.allocate<Edge>(edge_room_);
  root_ = index_ != nullptr && edges_ != nullptr ? make_node(nullptr, 0) : nullptr;
  if (root_ != nullptr) return true;
  destroy();
  return false;
}

void Graph::destroy() {
  Chunk* next;
  for (Chunk* chunk = chunks_.load(std::memory_order_relaxed); chunk != nullptr; chunk = next) {
    next = chunk->next;
    services_.mem->release(services_.host, chunk, chunk->bytes);
  }
  chunks_.store(nullptr, std::memory_order_relaxed);
  limits_->nodes.fetch_sub(node_count_, std::memory_order_relaxed);
  node_count_ = 0;
  services_.release(index_, index_room_);
  services_.release(edges_, edge_room_);
  index_ = nullptr;
  edges_ = nullptr;
}

Node* Graph::make_node(const uint32_t* trace, uint32_t length) {
  Chunk* chunk = chunks_.load(std::memory_order_relaxed);
  if (chunk == nullptr || chunk->used.load(std::memory_order_relaxed) == chunk->room) {
    uint32_t room = chunk == nullptr ? kFirstNodes : chunk->room * 2;
    if (room > kMostNodesOfChunk) room = kMostNodesOfChunk;
    uint64_t bytes = sizeof(Chunk) + kNodeAlignment + uint64_t{room} * stride_;
    auto* memory = static_cast<uint8_t*>(services_.mem->allocate(services_.host, bytes));
    if (memory == nullptr) return nullptr;
    auto* made = new (memory) Chunk{chunk, nullptr, bytes, room, {}};
    uintptr_t at = reinterpret_cast<uintptr_t>(memory + sizeof(Chunk));
    made->nodes = memory + sizeof(Chunk) + (-at & (kNodeAlignment - 1));
    chunks_.store(made, std::memory_order_release);
    chunk = made;
  }
  uint32_t used = chunk->used.load(std::memory_order_relaxed);
  auto* node = reinterpret_cast<Node*>(chunk->nodes + uint64_t{used} * stride_);
  for (auto& method : node->methods) method.store(kNoMethod, std::memory_order_relaxed);
  node->state = owner_;
  node->length = length;
  if (length != 0) memcpy(node->trace, trace, length * sizeof(uint32_t));
  chunk->used.store(used + 1, std::memory_order_release);
  node_count_++;
  limits_->nodes.fetch_add(1, std::memory_order_relaxed);
  return node;
}

bool Graph::grow_index() {
  uint64_t room = index_room_ * 2;
  auto** index = services_.allocate<Node*>(room);
  if (index == nullptr) return false;
  for (uint64_t i = 0; i < index_room_; i++) {
    if (index_[i] == nullptr) continue;
    uint64_t at = hash_of(index_[i]->trace, index_[i]->length) & (room - 1);
    while (index[at] != nullptr) at = (at + 1) & (room - 1);
    index[at] = index_[i];
  }
  services_.release(index_, index_room_);
  index_ = index;
  index_room_ = room;
  return true;
}

// The node of the trace with `method` on top of `from`'s, made when it is new.
Node* Graph::intern(Node* from, uint32_t method) {
  uint32_t trace[kDepthMost];
  uint32_t length = from->length < depth_ ? from->length + 1 : depth_;
  trace[0] = method;
  if (length > 1) memcpy(trace + 1, from->trace, (length - 1) * sizeof(uint32_t));
  if (uint64_t{node_count_} * 2 >= index_room_ && !grow_index()) return nullptr;
  uint64_t at = hash_of(trace, length) & (index_room_ - 1);
  for (; index_[at] != nullptr; at = (at + 1) & (index_room_ - 1)) {
    Node* node = index_[at];
    if (node->length == length && memcmp(node->trace, trace, length * sizeof(uint32_t)) == 0) return node;
  }
  if (limits_->nodes.load(std::memory_order_relaxed) >= limits_->most_nodes) {
    if (limits_->folded != nullptr) __atomic_fetch_add(limits_->folded, 1, __ATOMIC_RELAXED);
    return from;
  }
  return index_[at] = make_node(trace, length);
}

// Where the key is or belongs; null: neither, within the tracker's reach.
Edge* Graph::find_edge(Edge* edges, uint64_t room, uint64_t key) const {
  uint64_t hash = edge_hash(key) / sizeof(Edge);
  for (uint32_t i = 0; i < kProbes; i++, hash++) {
    Edge* edge = &edges[hash & (room - 1)];
    uint64_t found = edge->key.load(std::memory_order_relaxed);
    if (found == key || found == 0) return edge;
  }
  return nullptr;
}

// The old table of a thread of its own is read by that thread only, which is here. That of the shared graph
// stays: other threads may be reading it.
bool Graph::grow_edges() {
  for (uint64_t room = edge_room_ * 2; room <= kMostEdges; room *= 2) {
    auto* edges = services_.allocate<Edge>(room);
    if (edges == nullptr) return false;
    bool fits = true;
    for (uint64_t i = 0; i < edge_room_ && fits; i++) {
      uint64_t key = edges_[i].key.load(std::memory_order_relaxed);
      if (key == 0) continue;
      Edge* edge = find_edge(edges, room, key);
      fits = edge != nullptr;
      if (!fits) break;
      edge->node.store(edges_[i].node.load(std::memory_order_relaxed), std::memory_order_relaxed);
      edge->key.store(key, std::memory_order_relaxed);
    }
    if (!fits) {
      services_.release(edges, room);
      continue;
    }
    if (owner_ != nullptr) services_.release(edges_, edge_room_);
    edges_ = edges;
    edge_room_ = room;
    return true;
  }
  return false;
}

bool Graph::add_edge(uint64_t key, Node* node) {
  if (edge_count_ * 2 >= edge_room_ && !grow_edges()) return false;
  Edge* edge;
  while ((edge = find_edge(edges_, edge_room_, key)) == nullptr) {
    if (!grow_edges()) return false;
  }
  if (edge->key.load(std::memory_order_relaxed) == 0) edge_count_++;
  edge->node.store(Address<Node>::word_of(node), std::memory_order_release);
  edge->key.store(key, std::memory_order_release);
  return true;
}

// Another thread may just have made it.
static Node* find_way(const Node* from, uint32_t method) {
  for (uint32_t way = 0; way < kWays; way++) {
    if (from->methods[way].load(std::memory_order_relaxed) == static_cast<int32_t>(method))
      return Address<Node>::of(from->next[way].load(std::memory_order_relaxed));
  }
  return nullptr;
}

bool Graph::add_way(Node* from, uint32_t method, Node* node) const {
  for (uint32_t way = owner_ != nullptr ? 0 : 1; way < kWays; way++) {
    if (from->methods[way].load(std::memory_order_relaxed) != kNoMethod) continue;
    from->next[way].store(Address<Node>::word_of(node), std::memory_order_release);
    from->methods[way].store(static_cast<int32_t>(method), std::memory_order_release);
    return true;
  }
  return false;
}

void Graph::publish(State* state) const {
  state->edges = edges_;
  state->mask = mask();
}

Node* Graph::locked_follow(State* state, Node* from, uint32_t method) {
  uint64_t key = edge_key(from, method);
  Edge* edge = find_edge(edges_, edge_room_, key);
  Node* node = find_way(from, method);
  if (node == nullptr && edge != nullptr && edge->key.load(std::memory_order_relaxed) == key) {
    node = Address<Node>::of(edge->node.load(std::memory_order_relaxed));
  } else if (node == nullptr) {
    node = intern(from, method);
    // Without memory for the edge the way here is slower, that is all; and folded ones are not to fill the
    // table.
    if (node != nullptr && !add_way(from, method, node) &&
        (node != from || edge_count_ < 4 * limits_->most_nodes))
      add_edge(key, node);
  }
  publish(state);
  if (node == nullptr && limits_->uncounted != nullptr)
    __atomic_fetch_add(limits_->uncounted, 1, __ATOMIC_RELAXED);
  return node;
}

Node* Graph::follow(State* state, Node* from, uint32_t method) {
  // A virtual thread's frame on the stack of its carrier, or the other way round, while it is mounted.
  if (from->state != owner_) return nullptr;
  if (owner_ != nullptr) return locked_follow(state, from, method);
  lock_.lock();
  Node* node = locked_follow(state, from, method);
  lock_.unlock();
  return node;
}

}  // namespace hprof::times
