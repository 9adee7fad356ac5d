#include "thread_counts.h"

#include <atomic>
#include <cstring>
#include <jni.h>

#include <hprof/collector.h>
#include <hprof/cpp/lock.hpp>

#include "java_classes.h"

namespace hprof::calls {

namespace {

constexpr uint32_t kMostPages = sizeof(void*) == 8 ? 16384 : 2048;  // 64 and 8 MiB of address space
constexpr uint32_t kMostEnded = 1024;  // with by_thread: of threads that ended and have rows of their own
constexpr uint64_t kMix = 0x9E3779B97F4A7C15;

// Keys that no thread has: addresses are even.
constexpr uint64_t kFree = 0, kTaken = 1, kEnded = 3, kNever = 5;

// Counts, or a directory, whose words are the addresses of pages, as HprofCounts reads them: 64 bits on every
// machine.
struct Page {
  uint64_t words[kPageCounts];
};
static_assert(kPages == kPageCounts, "a directory is a page");

struct Entry {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> directory;
};
static_assert(sizeof(Entry) == 16, "HprofCounts.ENTRY_BITS");

// What belongs to an entry, and HprofCounts does not read.
struct Owner {
  uint64_t os_id;
  Page* left_out;  // with by_thread: a directory
  std::atomic<uint32_t> serial;
  uint32_t is_agent;  // its calls are in no sum
};

// Not touched, and so without memory, but for the pages in use.
Page pages[kMostPages];
Entry table[kEntries];
Owner owners[kEntries];
std::atomic<uint64_t> probed[kMethods / 64];  // a bit for each method with probes
uint64_t called[kMethods / 64];               // and, in each(), for those that some thread has called

std::atomic<uint32_t> page_end{0};  // no method with probes has a page from this one on

Page shared;    // the directory of the counts that all threads add to
Page left_out;  // a directory; without by_thread of all threads, with it of `shared`

std::atomic<uint32_t> used_pages{0};
// The first free page plus 1 in the low half; the high half changes whenever one is taken, see EntryPool.
std::atomic<uint64_t> free_pages{0};
std::atomic<uint64_t> charged{0};  // pages

// Held while counts are summed, and while an entry's pages are given back. Threads of the application only
// try to take it.
Lock lock;
Services services;
// False: there is no session, or none any more; a compiled loop that still counts asks nothing of it.
std::atomic<bool> has_session{false};
bool by_thread = false;
bool is_running = false;  // under the lock
std::atomic<uint32_t> kept_ended{0};
std::atomic<uint64_t> merged{0};
std::atomic<bool> has_strays{false};  // calls of a thread that only the shared counts have
uint64_t* lost_methods = nullptr;
uint64_t* lost_left_out = nullptr;

uint64_t load(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
uint64_t word_of(const void* address) { return reinterpret_cast<uintptr_t>(address); }
Page* page_at(uint64_t word) { return reinterpret_cast<Page*>(static_cast<uintptr_t>(word)); }
Page* page_of(const Page* directory, uint32_t index) {
  return directory != nullptr ? page_at(load(&directory->words[index])) : nullptr;
}

Page* pop_page() {
  uint64_t head = free_pages.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(head) != 0) {
    Page* page = &pages[static_cast<uint32_t>(head) - 1];
    const uint64_t next = ((head >> 32) + 1) << 32 | __atomic_load_n(&page->words[0], __ATOMIC_RELAXED);
    if (!free_pages.compare_exchange_weak(head, next, std::memory_order_acq_rel)) continue;
    __atomic_store_n(&page->words[0], 0, __ATOMIC_RELAXED);
    return page;
  }
  return nullptr;
}

// A zeroed page; null: none is left, or no memory. [app]
Page* take_page() {
  if (services.mem->charge(services.host, sizeof(Page)) == 0) return nullptr;
  Page* page = pop_page();
  uint32_t used = used_pages.load(std::memory_order_relaxed);
  while (page == nullptr && used < kMostPages) {
    if (used_pages.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) page = &pages[used];
  }
  if (page == nullptr) {
    services.mem->uncharge(services.host, sizeof(Page));
  } else {
    charged.fetch_add(1, std::memory_order_relaxed);
  }
  return page;
}

// One of an earlier session is not charged to this one.
void uncharge_page() {
  uint64_t count = charged.load(std::memory_order_relaxed);
  while (count != 0) {
    if (!charged.compare_exchange_weak(count, count - 1, std::memory_order_relaxed)) continue;
    services.mem->uncharge(services.host, sizeof(Page));
    return;
  }
}

void give_back(Page* page) {
  if (page == nullptr) return;
  memset(page, 0, sizeof *page);
  const uint64_t number = static_cast<uint64_t>(page - pages) + 1;
  uint64_t head = free_pages.load(std::memory_order_relaxed), next;
  do {
    __atomic_store_n(&page->words[0], head & 0xffffffff, __ATOMIC_RELAXED);
    next = (head & 0xffffffff00000000) | number;
  } while (!free_pages.compare_exchange_weak(head, next, std::memory_order_acq_rel));
  uncharge_page();
}

// The page with that index, perhaps a new one; null: no memory. [app]
Page* make_page(Page* directory, uint32_t index) {
  uint64_t word = load(&directory->words[index]);
  if (word != 0) return page_at(word);
  Page* page = take_page();
  if (page == nullptr) return nullptr;
  if (__atomic_compare_exchange_n(&directory->words[index], &word, word_of(page), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return page;
  give_back(page);
  return page_at(word);
}

uint32_t first_of(uint64_t key) { return static_cast<uint32_t>(key * kMix >> (64 - kTableBits)); }

// The entry with that key; kEntries: none. [app]
uint32_t find(uint64_t key) {
  const uint32_t first = first_of(key);
  for (uint32_t i = 0; key > kNever && i < kTries; i++) {
    const uint32_t at = (first + i) & (kEntries - 1);
    if (table[at].key.load(std::memory_order_relaxed) == key) return at;
  }
  return kEntries;
}

// The same, or a new one of the calling thread; kEntries: no place, or no memory. [app]
uint32_t find_or_make(uint64_t key, uint64_t os_id, bool is_agent) {
  uint32_t at = find(key);
  if (at != kEntries || key <= kNever) return at;
  Page* directory = take_page();
  Page* of_left_out = by_thread && directory != nullptr ? take_page() : nullptr;
  for (uint32_t i = 0; directory != nullptr && i < kTries; i++) {
    at = (first_of(key) + i) & (kEntries - 1);
    uint64_t free = kFree;
    if (by_thread && of_left_out == nullptr) break;
    if (!table[at].key.compare_exchange_strong(free, kTaken, std::memory_order_acq_rel)) continue;
    owners[at].os_id = os_id;
    owners[at].left_out = of_left_out;
    owners[at].serial.store(0, std::memory_order_relaxed);
    owners[at].is_agent = is_agent ? 1 : 0;
    table[at].directory.store(word_of(directory), std::memory_order_release);
    table[at].key.store(key, std::memory_order_release);
    return at;
  }
  give_back(directory);
  give_back(of_left_out);
  return kEntries;
}

// The program can call it with any number, too.
void JNICALL add(JNIEnv* jni, jclass, jlong word, jint method) {
  const auto key = static_cast<uint64_t>(word);
  const uint32_t number = static_cast<uint32_t>(method) & (kMethods - 1);
  const uint32_t index = number >> kPageBits, place = number & (kPageCounts - 1);
  const bool may_ask = has_session.load(std::memory_order_acquire);
  uint64_t os_id = 0;
  const bool is_agent =
      may_ask && (services.probes->thread(services.host, jni, nullptr, &os_id) & HPROF_THREAD_AGENT) != 0;
  const uint32_t at = may_ask ? find_or_make(key, os_id, is_agent) : kEntries;
  if (at != kEntries) {
    const bool has_left_out =
        owners[at].left_out == nullptr || make_page(owners[at].left_out, index) != nullptr;
    Page* own = has_left_out ? make_page(page_at(table[at].directory.load(std::memory_order_relaxed)), index)
                             : nullptr;
    if (own != nullptr) {
      __atomic_store_n(&own->words[place], own->words[place] + 1, __ATOMIC_RELAXED);
      return;
    }
  }
  if (may_ask) has_strays.store(true, std::memory_order_relaxed);
  Page* of_all = page_of(&shared, index);
  if (of_all != nullptr && !is_agent) __atomic_fetch_add(&of_all->words[place], 1, __ATOMIC_RELAXED);
}

jlong JNICALL table_at(JNIEnv*, jclass) { return static_cast<jlong>(word_of(table)); }

const hprof_native kNatives[] = {
    {"add", "(JI)V", reinterpret_cast<void (*)()>(&add)},
    {"table", "()J", reinterpret_cast<void (*)()>(&table_at)},
};
const hprof_probe_class kClasses[ThreadCounts::kJavaClasses] = {
    {ThreadCounts::kTargetClass, kHprofCounts, sizeof kHprofCounts, 2, kNatives},
    {"java/lang/HprofCountsMemory", kHprofCountsMemory, sizeof kHprofCountsMemory, 0, nullptr},
};

bool is_counted(uint32_t at) {
  const uint64_t key = table[at].key.load(std::memory_order_acquire);
  return (key > kNever || key == kEnded) && owners[at].is_agent == 0;
}
Page* directory_of(uint32_t at) { return page_at(table[at].directory.load(std::memory_order_acquire)); }

void add_page(const Page* from, uint64_t* sums) {
  for (uint32_t i = 0; from != nullptr && i < kPageCounts; i++)
    sums[i] += __atomic_load_n(&from->words[i], __ATOMIC_RELAXED);
}

// The counts of a page of all that have one row: the entry's, or, for kEntries, the shared ones and without
// by_thread those of all threads. False: none has the page.
bool sum(uint32_t at, uint32_t index, uint64_t* sums) {
  memset(sums, 0, kPageCounts * sizeof *sums);
  const Page* own = page_of(at == kEntries ? &shared : directory_of(at), index);
  if (own == nullptr) return false;
  add_page(own, sums);
  for (uint32_t i = 0; at == kEntries && !by_thread && i < kEntries; i++) {
    if (is_counted(i)) add_page(page_of(directory_of(i), index), sums);
  }
  return true;
}

// Calls visit(at, index, sums, left_out) for each page of those that have a row. Under the lock.
template <class F>
void each_sum(const F& visit) {
  uint64_t sums[kPageCounts];
  for (uint32_t at = by_thread ? 0 : kEntries; at <= kEntries; at++) {
    if (at != kEntries && !is_counted(at)) continue;
    for (uint32_t index = 0; index < kPages; index++) {
      Page* left = page_of(at == kEntries ? &left_out : owners[at].left_out, index);
      if (!sum(at, index, sums)) continue;
      // There was no memory for it.
      if (left == nullptr) {
        count_loss(lost_left_out);
      } else {
        visit(at, index, sums, left->words);
      }
    }
  }
}

// While the collector is stopped, left_out has what it had, minus the counts at the stop.
void turn(bool running) {
  if (running == is_running) return;
  is_running = running;
  each_sum([running](uint32_t, uint32_t, const uint64_t* sums, uint64_t* left) {
    for (uint32_t i = 0; i < kPageCounts; i++) left[i] += running ? sums[i] : 0 - sums[i];
  });
}

void leave_out_all() {
  each_sum([](uint32_t, uint32_t, const uint64_t* sums, uint64_t* left) {
    for (uint32_t i = 0; i < kPageCounts; i++) left[i] = is_running ? sums[i] : 0;
  });
}

// Gives the pages of an entry back, and adds what they have to those that all threads share. Under the lock.
void fold(uint32_t at) {
  Page* directory = directory_of(at);
  Page* of_left_out = owners[at].left_out;
  for (uint32_t index = 0; index < kPages; index++) {
    Page* page = page_of(directory, index);
    Page* to = page_of(&shared, index);
    Page* left = page_of(of_left_out, index);
    Page* to_left = page_of(&left_out, index);
    for (uint32_t i = 0; page != nullptr && to != nullptr && owners[at].is_agent == 0 && i < kPageCounts;
         i++) {
      if (page->words[i] != 0) __atomic_fetch_add(&to->words[i], page->words[i], __ATOMIC_RELAXED);
      if (by_thread && left != nullptr && to_left != nullptr) to_left->words[i] += left->words[i];
    }
    give_back(page);
    give_back(left);
  }
  give_back(directory);
  give_back(of_left_out);
  owners[at].left_out = nullptr;
  table[at].directory.store(0, std::memory_order_relaxed);
  table[at].key.store(kFree, std::memory_order_release);
}

// An entry of an earlier session, which did not count by thread, gets what it lacks. Under the lock.
void make_left_out(uint32_t at) {
  if (owners[at].left_out == nullptr) owners[at].left_out = take_page();
  const Page* directory = directory_of(at);
  for (uint32_t index = 0; owners[at].left_out != nullptr && index < kPages; index++) {
    if (page_of(directory, index) != nullptr) make_page(owners[at].left_out, index);
  }
}

// Under the lock.
void fold_ended() {
  for (uint32_t at = 0; !by_thread && at < kEntries; at++) {
    if (table[at].key.load(std::memory_order_acquire) == kEnded) fold(at);
  }
}

void visit_count(uint32_t method, uint64_t calls, void* argument, ThreadCounts::VisitCount visit) {
  const hprof_thread_count count = {method, method, 0, calls, 0};
  if (calls != 0) visit(argument, &count);
}

}  // namespace

const hprof_probe_class* ThreadCounts::java_classes() { return kClasses; }

void ThreadCounts::open(const Services& of, bool threads) {
  services = of;
  by_thread = threads;
  lost_methods =
      of.log->loss_counter(of.host, "methods: 262,143 are counted already, or memory was short (include=)");
  lost_left_out = of.log->loss_counter(
      of.host, "calls: no memory for the counts of threads from an earlier session (max-memory=)");
  // The key 0 leads to this entry.
  table[0].key.store(kNever, std::memory_order_relaxed);
  for (std::atomic<uint64_t>& word : probed) word.store(0, std::memory_order_relaxed);
  kept_ended.store(0, std::memory_order_relaxed);
  merged.store(0, std::memory_order_relaxed);
  has_strays.store(false, std::memory_order_relaxed);
  LockGuard guard(lock, services);
  is_running = false;
  for (uint32_t at = 0; at < kEntries; at++) {
    const uint64_t key = table[at].key.load(std::memory_order_acquire);
    if (key == kEnded) fold(at);
    if (by_thread && key > kNever) make_left_out(at);
  }
  leave_out_all();
  has_session.store(true, std::memory_order_release);
}

// The pages stay; those of the next session are charged to it.
void ThreadCounts::close() {
  has_session.store(false, std::memory_order_release);
  const uint64_t count = charged.exchange(0, std::memory_order_relaxed);
  if (count != 0) services.mem->uncharge(services.host, count * sizeof(Page));
}

uint32_t ThreadCounts::number(hprof_method_id method) {
  const uint32_t index = method >> kPageBits;
  if (method >= kMethods || make_page(&left_out, index) == nullptr || make_page(&shared, index) == nullptr) {
    count_loss(lost_methods);
    return 0;
  }
  probed[method / 64].fetch_or(uint64_t{1} << method % 64, std::memory_order_relaxed);
  uint32_t end = page_end.load(std::memory_order_relaxed);
  while (end <= index && !page_end.compare_exchange_weak(end, index + 1, std::memory_order_relaxed)) {
  }
  return method;
}

void ThreadCounts::start() {
  LockGuard guard(lock, services);
  turn(true);
}

void ThreadCounts::stop() {
  LockGuard guard(lock, services);
  turn(false);
}

void ThreadCounts::reset() {
  LockGuard guard(lock, services);
  leave_out_all();
}

void ThreadCounts::leave(uint64_t key, hprof_thread_serial serial) {
  const uint32_t at = find(key);
  if (at == kEntries) return;
  if (serial != 0) owners[at].serial.store(serial, std::memory_order_relaxed);
  table[at].key.store(kEnded, std::memory_order_release);
  if (by_thread && kept_ended.fetch_add(1, std::memory_order_relaxed) < kMostEnded) return;
  if (by_thread) merged.fetch_add(1, std::memory_order_relaxed);
  // Else the next report or thread does it.
  if (!lock.try_lock()) return;
  fold(at);
  lock.unlock();
}

void ThreadCounts::enter(uint64_t key, uint64_t os_id, hprof_thread_serial serial) {
  const uint32_t at = find(key);
  if (at == kEntries) return;
  if (owners[at].os_id == os_id) {
    owners[at].serial.store(serial, std::memory_order_relaxed);
  } else {
    leave(key, 0);
  }
}

void ThreadCounts::name(uint64_t os_id, hprof_thread_serial serial) {
  for (uint32_t at = 0; at < kEntries; at++) {
    if (owners[at].os_id == os_id && table[at].key.load(std::memory_order_acquire) > kNever)
      owners[at].serial.store(serial, std::memory_order_relaxed);
  }
}

void ThreadCounts::each(void* argument, Visit visit) {
  LockGuard guard(lock, services);
  fold_ended();
  memset(called, 0, sizeof called);
  // The shared counts come last.
  each_sum([&](uint32_t at, uint32_t index, const uint64_t* sums, const uint64_t* left) {
    const hprof_thread_serial thread = at == kEntries ? 0 : owners[at].serial.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < kPageCounts; i++) {
      const uint32_t method = index * kPageCounts + i;
      const uint64_t bit = uint64_t{1} << method % 64;
      const uint64_t calls = is_running ? sums[i] - left[i] : 0 - left[i];
      if ((probed[method / 64].load(std::memory_order_relaxed) & bit) == 0) continue;
      if (calls == 0 && (at != kEntries || (called[method / 64] & bit) != 0)) continue;
      if (calls != 0) called[method / 64] |= bit;
      visit(argument, thread, method, calls);
    }
  });
}

bool ThreadCounts::each_of(uint64_t key, void* argument, VisitCount visit) {
  const uint32_t at = find(key);
  const uint32_t end = page_end.load(std::memory_order_relaxed);
  for (uint32_t index = 0; at != kEntries && index < end; index++) {
    const Page* page = page_of(directory_of(at), index);
    for (uint32_t i = 0; page != nullptr && i < kPageCounts; i++)
      visit_count(index * kPageCounts + i, page->words[i], argument, visit);
  }
  return !has_strays.load(std::memory_order_relaxed);
}

bool ThreadCounts::each_of_all(void* argument, VisitCount visit) {
  LockGuard guard(lock, services);
  for (uint32_t index = 0; index < kPages; index++) {
    uint64_t sums[kPageCounts] = {};
    if (page_of(&shared, index) == nullptr) continue;
    add_page(page_of(&shared, index), sums);
    for (uint32_t at = 0; at < kEntries; at++) {
      if (is_counted(at)) add_page(page_of(directory_of(at), index), sums);
    }
    for (uint32_t i = 0; i < kPageCounts; i++) visit_count(index * kPageCounts + i, sums[i], argument, visit);
  }
  return true;
}

void ThreadCounts::each_method(void* argument, void (*visit)(void* argument, uint32_t method)) {
  for (uint32_t method = 0; method < kMethods; method++) {
    const uint64_t word = probed[method / 64].load(std::memory_order_relaxed);
    if ((word & uint64_t{1} << method % 64) != 0) visit(argument, method);
  }
}

uint64_t ThreadCounts::methods() const {
  uint64_t count = 0;
  for (const std::atomic<uint64_t>& word : probed)
    count += static_cast<uint64_t>(__builtin_popcountll(word.load(std::memory_order_relaxed)));
  return count;
}

uint64_t ThreadCounts::merged_threads() const { return merged.load(std::memory_order_relaxed); }

}  // namespace hprof::calls
