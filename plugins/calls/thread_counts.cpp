#include "thread_counts.h"

#include <atomic>
#include <cstring>
#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>
#include <hprof/cpp/session_gate.hpp>

#include "java_classes.h"

namespace hprof::calls {

namespace {

constexpr uint32_t kMostChunks = sizeof(void*) == 8 ? 4096 : 256;  // 128 and 8 MiB of address space
constexpr uint32_t kMostEnded = 1024;  // with by_thread: entries of threads that ended and keep their rows
constexpr uint32_t kStrays = 64;       // a power of two
constexpr uint32_t kNoChunk = UINT32_MAX;  // the index before 0
constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
// Tags that no thread has.
constexpr uint64_t kFree = 0, kTaken = UINT64_MAX, kEnded = UINT64_MAX - 1;

struct Chunk {
  uint64_t words[kChunkCounts];
};

// The counts of a thread for the methods of one chunk; or that there is the thread (kNoChunk).
struct Entry {
  std::atomic<uint64_t> tag;
  std::atomic<Chunk*> counts;  // null: kNoChunk
  Chunk* left_out;             // with by_thread; null: nothing
  uint64_t os_id;
  uint32_t index;  // of the chunk
  std::atomic<uint32_t> serial;
  uint32_t is_agent;  // its calls are in no sum
};

// Not touched, and so without memory, but for what is in use.
Chunk chunks[kMostChunks];
Entry table[kEntries];
std::atomic<uint64_t> probed[kMethods / 64];  // a bit for each method with probes
uint64_t called[kMethods / 64];               // and, in each(), for those that some thread has called
uint64_t sums[kChunkCounts];                  // of each_sum()

std::atomic<Chunk*> shared[kChunks];    // the counts that all threads add to
std::atomic<Chunk*> left_out[kChunks];  // without by_thread of all threads, with it of `shared`
std::atomic<uint32_t> used_chunks{0};
// The first free chunk plus 1 in the low half; the high half changes whenever one is taken, see EntryPool.
std::atomic<uint64_t> free_chunks{0};
std::atomic<uint64_t> charged{0};  // chunks

// HprofCounts' copy of the table, as tag and address of each entry: a global reference.
std::atomic<jlongArray> copy{nullptr};

// Held while counts are summed, and while an entry's chunk is given back. Threads of the application only
// try to take it.
Lock lock;

Services services;
SessionGate gate;  // a compiled loop that still counts asks nothing of a session that has ended
std::atomic<bool> has_begun{false};  // threads may have called a method that has a number
bool by_thread = false;
bool is_running = false;  // under the lock
std::atomic<uint32_t> kept_ended{0};
std::atomic<uint64_t> merged{0};
std::atomic<uint64_t> strays[kStrays];  // calls that only the shared counts have, by place of the thread
uint64_t* lost_methods = nullptr;
uint64_t* lost_left_out = nullptr;

Chunk* pop_chunk() {
  uint64_t head = free_chunks.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    Chunk* chunk = &chunks[static_cast<uint32_t>(head) - 1];
    const uint64_t next = ((head >> 32) + 1) << 32 | __atomic_load_n(&chunk->words[0], __ATOMIC_RELAXED);
    if (!free_chunks.compare_exchange_weak(head, next, std::memory_order_acq_rel)) continue;
    __atomic_store_n(&chunk->words[0], 0, __ATOMIC_RELAXED);
    return chunk;
  }
  return nullptr;
}

// A zeroed chunk; null: none is left, or no memory. [app]
Chunk* take_chunk() {
  if (services.mem->charge(services.host, sizeof(Chunk)) == 0) return nullptr;
  Chunk* chunk = pop_chunk();
  uint32_t used = used_chunks.load(std::memory_order_relaxed);
  while (chunk == nullptr && used < kMostChunks) {
    if (used_chunks.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) chunk = &chunks[used];
  }
  if (chunk == nullptr) {
    services.mem->uncharge(services.host, sizeof(Chunk));
  } else {
    charged.fetch_add(1, std::memory_order_relaxed);
  }
  return chunk;
}

// One of an earlier session is not charged to this one.
void uncharge_chunk() {
  uint64_t count = charged.load(std::memory_order_relaxed);
  while (count != 0) {
    if (!charged.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) continue;
    services.mem->uncharge(services.host, sizeof(Chunk));
    return;
  }
}

void give_back(Chunk* chunk) {
  if (chunk == nullptr) return;
  // Pages that nobody wrote stay without memory.
  for (uint64_t& word : chunk->words) {
    if (word != 0) word = 0;
  }
  const uint64_t number = static_cast<uint64_t>(chunk - chunks) + 1;
  uint64_t head = free_chunks.load(std::memory_order_relaxed), next;
  do {
    __atomic_store_n(&chunk->words[0], head & 0xffffffff, __ATOMIC_RELAXED);
    next = (head & 0xffffffff00000000) | number;
  } while (!free_chunks.compare_exchange_weak(head, next, std::memory_order_acq_rel));
  uncharge_chunk();
}

// The chunk in that place, perhaps a new one; null: no memory. [app]
Chunk* make_chunk(std::atomic<Chunk*>* place) {
  Chunk* known = place->load(std::memory_order_acquire);
  if (known != nullptr) return known;
  Chunk* chunk = take_chunk();
  if (chunk == nullptr || place->compare_exchange_strong(known, chunk, std::memory_order_acq_rel))
    return chunk;
  give_back(chunk);
  return known;
}

bool is_of_thread(uint64_t tag) { return tag != kFree && tag != kTaken && tag != kEnded; }
uint64_t tag_of(uint64_t key, uint32_t index) { return (key << kChunksBits) + (index + 1); }
uint32_t place_of(uint64_t key, uint32_t index, uint32_t next) {
  return (static_cast<uint32_t>(key * kMix >> (64 - kTableBits)) + index + next) & (kEntries - 1);
}

std::atomic<uint64_t>& strays_of(uint64_t key) { return strays[place_of(key, 0, 0) % kStrays]; }

// The entry of that thread for that chunk; kEntries: none. [app]
uint32_t find(uint64_t key, uint32_t index) {
  for (uint32_t i = 0; key != 0 && i < kTries; i++) {
    const uint32_t at = place_of(key, index, i);
    if (table[at].tag.load(std::memory_order_relaxed) == tag_of(key, index)) return at;
  }
  return kEntries;
}

// The same, or a new one; kEntries: no place, or no memory. [app]
uint32_t find_or_make(uint64_t key, uint32_t index, uint64_t os_id, bool is_agent) {
  uint32_t at = find(key, index);
  if (at != kEntries || key == 0) return at;
  Chunk* counts = index != kNoChunk ? take_chunk() : nullptr;
  if (counts == nullptr && index != kNoChunk) return kEntries;
  for (uint32_t i = 0; i < kTries; i++) {
    at = place_of(key, index, i);
    uint64_t free = kFree;
    if (!table[at].tag.compare_exchange_strong(free, kTaken, std::memory_order_acq_rel)) continue;
    table[at].index = index;
    table[at].os_id = os_id;
    table[at].left_out = nullptr;
    table[at].serial.store(0, std::memory_order_relaxed);
    table[at].is_agent = is_agent ? 1 : 0;
    table[at].counts.store(counts, std::memory_order_release);
    table[at].tag.store(tag_of(key, index), std::memory_order_release);
    return at;
  }
  give_back(counts);
  return kEntries;
}

// The program can call it with any number, too.
jlong JNICALL add(JNIEnv* jni, jclass, jlong word, jint method) {
  const auto key = static_cast<uint64_t>(word);
  const uint32_t number = static_cast<uint32_t>(method) & (kMethods - 1);
  const uint32_t index = number >> kChunkBits, place = number & (kChunkCounts - 1);
  uint32_t at = kEntries;
  bool is_agent = false;
  gate.enter([&] {
    uint64_t os_id = 0;
    is_agent = (services.probes->thread(services.host, jni, nullptr, &os_id) & HPROF_THREAD_AGENT) != 0;
    at = find_or_make(key, index, os_id, is_agent);
    if (at == kEntries) strays_of(key).fetch_add(1, std::memory_order_relaxed);
  });
  if (at != kEntries) {
    Chunk* own = table[at].counts.load(std::memory_order_relaxed);
    __atomic_store_n(&own->words[place], own->words[place] + 1, __ATOMIC_RELAXED);
    return static_cast<jlong>(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(own)) << kTableBits | at);
  }
  Chunk* of_all = shared[index].load(std::memory_order_acquire);
  if (of_all != nullptr && !is_agent) __atomic_fetch_add(&of_all->words[place], 1, __ATOMIC_RELAXED);
  return 0;
}

// Sets an entry of HprofCounts' copy. Its thread is the calling one, or has called no method of the chunk.
void copy_entry(JNIEnv* jni, uint32_t at, uint64_t tag) {
  const jlongArray of_java = copy.load(std::memory_order_acquire);
  if (jni == nullptr || of_java == nullptr) return;
  const Chunk* counts = table[at].counts.load(std::memory_order_acquire);
  const auto address = static_cast<jlong>(reinterpret_cast<uintptr_t>(counts));
  const auto key = static_cast<jlong>(tag);
  jni->SetLongArrayRegion(of_java, static_cast<jsize>(2 * at + 1), 1, &address);
  std::atomic_thread_fence(std::memory_order_release);
  jni->SetLongArrayRegion(of_java, static_cast<jsize>(2 * at), 1, &key);
}

// Makes an entry for a chunk of methods before their probes need it.
void make_ready(JNIEnv* jni, uint64_t key, uint32_t index, const Entry& like) {
  const uint32_t at = find_or_make(key, index, like.os_id, like.is_agent != 0);
  if (at == kEntries) return;
  table[at].serial.store(like.serial.load(std::memory_order_relaxed), std::memory_order_relaxed);
  copy_entry(jni, at, tag_of(key, index));
}

// Makes the shared counts of a chunk, and what `ready` says, since no thread calls its methods yet: entries
// of all threads that are known. False: no memory.
bool prepare(uint32_t index, bool ready) {
  if (shared[index].load(std::memory_order_acquire) != nullptr) return true;
  if (make_chunk(&left_out[index]) == nullptr || make_chunk(&shared[index]) == nullptr) return false;
  if (!ready) return true;
  auto* jni = static_cast<JNIEnv*>(services.jvm->jni(services.host));
  for (const Entry& entry : table) {
    const uint64_t tag = entry.tag.load(std::memory_order_acquire);
    if (is_of_thread(tag) && entry.index == kNoChunk) make_ready(jni, tag >> kChunksBits, index, entry);
  }
  return true;
}

// Makes the entries of the calling thread, and of all others that are there.
void enter_all(JNIEnv* jni, jclass owner, uint64_t own_key) {
  uint64_t os_id = 0;
  const uint32_t flags = services.probes->thread(services.host, jni, nullptr, &os_id);
  ThreadCounts().enter(jni, own_key, os_id, 0, flags);
  struct Threads {
    JNIEnv* jni;
    jclass owner;
    jmethodID key;
  } threads = {jni, owner, jni->GetStaticMethodID(owner, "keyOf", "(Ljava/lang/Thread;)J")};
  if (threads.key == nullptr) return;
  services.threads->each(services.host, jni, &threads, [](void* of, hprof_thread* thread, void* jthread) {
    const auto* to = static_cast<Threads*>(of);
    jvalue argument = {};
    argument.l = static_cast<jobject>(jthread);
    const jlong key = to->jni->CallStaticLongMethodA(to->owner, to->key, &argument);
    if (to->jni->ExceptionCheck()) {
      to->jni->ExceptionClear();
    } else {
      ThreadCounts().enter(to->jni, static_cast<uint64_t>(key), thread->os_id, thread->serial, thread->flags);
    }
    return uint32_t{1};
  });
}

void JNICALL share(JNIEnv* jni, jclass owner, jlongArray of_java, jlong own_key) {
  copy.store(static_cast<jlongArray>(jni->NewGlobalRef(of_java)), std::memory_order_release);
  gate.enter([&] { enter_all(jni, owner, static_cast<uint64_t>(own_key)); });
}

const hprof_native kNatives[] = {
    {"add", "(JI)J", reinterpret_cast<void (*)()>(&add)},
    {"share", "([JJ)V", reinterpret_cast<void (*)()>(&share)},
};
const hprof_probe_class kClasses[ThreadCounts::kJavaClasses] = {
    {ThreadCounts::kTargetClass, kHprofCounts, sizeof kHprofCounts, 2, kNatives},
    {"java/lang/HprofCountsMemory", kHprofCountsMemory, sizeof kHprofCountsMemory, 0, nullptr},
};

bool is_counted(const Entry& entry) {
  const uint64_t tag = entry.tag.load(std::memory_order_acquire);
  return tag != kFree && tag != kTaken && entry.index != kNoChunk && entry.is_agent == 0;
}

void add_to_sums(const Chunk* from) {
  for (uint32_t i = 0; from != nullptr && i < kChunkCounts; i++) {
    sums[i] += __atomic_load_n(&from->words[i], __ATOMIC_RELAXED);
  }
}

// Calls visit(entry, index, left_out) for each chunk that has a row for each method, with its counts in
// `sums`: with by_thread those of an entry, and then, for a null entry, the shared ones, without it with
// those of all threads. left_out is a place; what is in it may be null: nothing. Under the lock.
template <class F>
void each_sum(const F& visit) {
  for (uint32_t at = 0; by_thread && at < kEntries; at++) {
    Entry& entry = table[at];
    if (!is_counted(entry)) continue;
    memset(sums, 0, sizeof sums);
    add_to_sums(entry.counts.load(std::memory_order_acquire));
    Chunk* left = entry.left_out;
    visit(&entry, entry.index, &left);
    entry.left_out = left;
  }
  for (uint32_t index = 0; index < kChunks; index++) {
    const Chunk* of_all = shared[index].load(std::memory_order_acquire);
    if (of_all == nullptr) continue;
    memset(sums, 0, sizeof sums);
    add_to_sums(of_all);
    for (uint32_t at = 0; !by_thread && at < kEntries; at++) {
      if (is_counted(table[at]) && table[at].index == index)
        add_to_sums(table[at].counts.load(std::memory_order_acquire));
    }
    Chunk* left = left_out[index].load(std::memory_order_acquire);
    visit(nullptr, index, &left);
  }
}

// Sets what is left out of each sum to of(sum, left out).
template <class F>
void leave_out(const F& of) {
  each_sum([&](const Entry*, uint32_t, Chunk** left) {
    for (uint32_t i = 0; i < kChunkCounts; i++) {
      const uint64_t before = *left != nullptr ? (*left)->words[i] : 0, now = of(sums[i], before);
      if (now == before) continue;
      if (*left == nullptr && (*left = take_chunk()) == nullptr) {
        count_loss(lost_left_out);
        return;
      }
      (*left)->words[i] = now;
    }
  });
}

// While the collector is stopped, left_out has what it had, minus the counts at the stop.
void turn(bool running) {
  if (running == is_running) return;
  is_running = running;
  leave_out([running](uint64_t sum, uint64_t left) { return running ? left + sum : left - sum; });
}

void leave_out_all() {
  leave_out([](uint64_t sum, uint64_t) { return is_running ? sum : 0; });
}

void add_to(Chunk* to, const Chunk* from) {
  for (uint32_t i = 0; to != nullptr && from != nullptr && i < kChunkCounts; i++) {
    if (from->words[i] != 0) __atomic_fetch_add(&to->words[i], from->words[i], __ATOMIC_RELAXED);
  }
}

// Adds what an entry has to the counts that all threads share, and gives its chunks back. Under the lock.
void fold(Entry* entry) {
  Chunk* counts = entry->counts.load(std::memory_order_acquire);
  if (entry->is_agent == 0) {
    add_to(shared[entry->index].load(std::memory_order_acquire), counts);
    if (by_thread) add_to(left_out[entry->index].load(std::memory_order_acquire), entry->left_out);
  }
  give_back(counts);
  give_back(entry->left_out);
  entry->left_out = nullptr;
  entry->counts.store(nullptr, std::memory_order_relaxed);
  entry->tag.store(kFree, std::memory_order_release);
}

// Under the lock.
void fold_ended() {
  for (Entry& entry : table) {
    if (entry.tag.load(std::memory_order_acquire) == kEnded) fold(&entry);
  }
}

// Calls visit(method) for each one of the chunk that has probes.
template <class F>
void each_probed(uint32_t index, const F& visit) {
  for (uint32_t first = index << kChunkBits; first < (index + 1) << kChunkBits; first += 64) {
    uint64_t word = probed[first / 64].load(std::memory_order_relaxed);
    for (; word != 0; word &= word - 1) visit(first + static_cast<uint32_t>(__builtin_ctzll(word)));
  }
}

void visit_counts(uint32_t index, const uint64_t* counts, void* argument, ThreadCounts::VisitCount visit) {
  each_probed(index, [&](uint32_t method) {
    const uint64_t calls = __atomic_load_n(&counts[method & (kChunkCounts - 1)], __ATOMIC_RELAXED);
    const hprof_thread_count count = {method, method, 0, calls, 0};
    if (calls != 0) visit(argument, &count);
  });
}

}  // namespace

const hprof_probe_class* ThreadCounts::java_classes() { return kClasses; }

void ThreadCounts::open(const Services& of, bool threads) {
  services = of;
  by_thread = threads;
  lost_methods =
      of.log->loss_counter(of.host, "methods: 262,143 are counted already, or memory was short (include=)");
  lost_left_out = of.log->loss_counter(
      of.host, "calls: no memory for what a stop or reset leaves out of the counts of threads (max-memory=)");
  for (std::atomic<uint64_t>& word : probed) word.store(0, std::memory_order_relaxed);
  kept_ended.store(0, std::memory_order_relaxed);
  merged.store(0, std::memory_order_relaxed);
  LockGuard guard(lock, services);
  is_running = false;
  fold_ended();
  leave_out_all();
  gate.open();
}

// The chunks stay; those of the next session are charged to it.
void ThreadCounts::close() {
  if (!gate.close(services, "calls=y")) return;
  const uint64_t count = charged.exchange(0, std::memory_order_relaxed);
  if (count != 0) services.mem->uncharge(services.host, count * sizeof(Chunk));
}

uint32_t ThreadCounts::number(hprof_method_id method) {
  const uint32_t index = method >> kChunkBits;
  if (method >= kMethods || !prepare(index, !has_begun.load(std::memory_order_acquire))) {
    count_loss(lost_methods);
    return 0;
  }
  if (index + 1 < kChunks) prepare(index + 1, true);
  probed[method / 64].fetch_or(uint64_t{1} << method % 64, std::memory_order_relaxed);
  return method;
}

void ThreadCounts::start() {
  LockGuard guard(lock, services);
  turn(true);
}

void ThreadCounts::began() { has_begun.store(true, std::memory_order_release); }

void ThreadCounts::stop() {
  LockGuard guard(lock, services);
  turn(false);
}

void ThreadCounts::reset() {
  LockGuard guard(lock, services);
  leave_out_all();
}

void ThreadCounts::leave(JNIEnv* jni, uint64_t key, hprof_thread_serial serial) {
  const uint32_t known = find(key, kNoChunk);
  if (known != kEntries) table[known].tag.store(kFree, std::memory_order_release);
  uint32_t entries[kChunks], count = 0;
  for (uint32_t index = 0; index < kChunks; index++) {
    const uint32_t at = find(key, index);
    if (at != kEntries) entries[count++] = at;
  }
  if (count == 0) return;
  const bool keeps = by_thread && kept_ended.fetch_add(count, std::memory_order_relaxed) < kMostEnded;
  if (by_thread && !keeps) merged.fetch_add(1, std::memory_order_relaxed);
  // Else the next report or thread folds them.
  const bool folds = !keeps && lock.try_lock();
  for (uint32_t i = 0; i < count; i++) {
    Entry& entry = table[entries[i]];
    copy_entry(jni, entries[i], kFree);
    if (serial != 0) entry.serial.store(serial, std::memory_order_relaxed);
    entry.tag.store(kEnded, std::memory_order_release);
    if (folds) fold(&entry);
  }
  if (folds) lock.unlock();
}

void ThreadCounts::enter(JNIEnv* jni, uint64_t key, uint64_t os_id, hprof_thread_serial serial,
                         uint32_t flags) {
  for (uint32_t index = kNoChunk; index != kChunks; index++) {
    const uint32_t at = find(key, index);
    if (at == kEntries || table[at].os_id == os_id) continue;
    leave(jni, key, 0);
    break;
  }
  const uint32_t known = find_or_make(key, kNoChunk, os_id, (flags & HPROF_THREAD_AGENT) != 0);
  if (known == kEntries) return;
  table[known].serial.store(serial, std::memory_order_relaxed);
  for (uint32_t index = 0; index < kChunks; index++) {
    if (shared[index].load(std::memory_order_acquire) != nullptr) make_ready(jni, key, index, table[known]);
  }
}

void ThreadCounts::name(uint64_t os_id, hprof_thread_serial serial) {
  for (Entry& entry : table) {
    if (entry.os_id == os_id && is_of_thread(entry.tag.load(std::memory_order_acquire)))
      entry.serial.store(serial, std::memory_order_relaxed);
  }
}

void ThreadCounts::each(void* argument, Visit visit) {
  LockGuard guard(lock, services);
  if (!by_thread) fold_ended();
  memset(called, 0, sizeof called);
  // The shared counts come last.
  each_sum([&](const Entry* entry, uint32_t index, Chunk** left) {
    const hprof_thread_serial thread = entry == nullptr ? 0 : entry->serial.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < kChunkCounts; i++) {
      const uint32_t method = index * kChunkCounts + i;
      const uint64_t bit = uint64_t{1} << method % 64;
      const uint64_t none = *left != nullptr ? (*left)->words[i] : 0;
      const uint64_t calls = is_running ? sums[i] - none : 0 - none;
      if ((probed[method / 64].load(std::memory_order_relaxed) & bit) == 0) continue;
      if (calls == 0 && (entry != nullptr || (called[method / 64] & bit) != 0)) continue;
      if (calls != 0) called[method / 64] |= bit;
      visit(argument, thread, method, calls);
    }
  });
}

void ThreadCounts::each_of(uint64_t key, void* argument, VisitCount visit) {
  const hprof_thread_count lost = {0, 0, 0, strays_of(key).load(std::memory_order_relaxed), 0};
  if (lost.count != 0) visit(argument, &lost);
  for (uint32_t index = 0; index < kChunks; index++) {
    if (shared[index].load(std::memory_order_acquire) == nullptr) continue;
    const uint32_t at = find(key, index);
    if (at == kEntries) continue;
    visit_counts(index, table[at].counts.load(std::memory_order_acquire)->words, argument, visit);
  }
}

void ThreadCounts::each_of_all(void* argument, VisitCount visit) {
  LockGuard guard(lock, services);
  for (uint32_t index = 0; index < kChunks; index++) {
    const Chunk* of_all = shared[index].load(std::memory_order_acquire);
    if (of_all == nullptr) continue;
    memset(sums, 0, sizeof sums);
    add_to_sums(of_all);
    for (const Entry& entry : table) {
      if (is_counted(entry) && entry.index == index)
        add_to_sums(entry.counts.load(std::memory_order_acquire));
    }
    visit_counts(index, sums, argument, visit);
  }
}

void ThreadCounts::each_method(void* argument, void (*visit)(void* argument, uint32_t method)) {
  for (uint32_t index = 0; index < kChunks; index++)
    each_probed(index, [&](uint32_t method) { visit(argument, method); });
}

uint64_t ThreadCounts::methods() const {
  uint64_t count = 0;
  for (const std::atomic<uint64_t>& word : probed)
    count += static_cast<uint64_t>(__builtin_popcountll(word.load(std::memory_order_relaxed)));
  return count;
}

uint64_t ThreadCounts::merged_threads() const { return merged.load(std::memory_order_relaxed); }

}  // namespace hprof::calls
