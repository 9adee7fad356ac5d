// The services log, mem, clock, emit, threads and context of the mock host.
#include "mock_host.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "mock_table.h"

namespace hprof {

using Guard = std::lock_guard<std::mutex>;

struct MockLog {
  static void message(const hprof_host* host, const char* text) {
    MockHost::Locked(host)->messages.push_back(text);
  }
  static void detail(const hprof_host* host, const char* text) {
    MockHost::Locked(host)->details.push_back(text);
  }
  static uint64_t* loss_counter(const hprof_host* host, const char* what) {
    const MockHost::Locked self(host);
    if (!self->has_counters) return nullptr;
    auto& counter = self->counters_[what];
    if (counter == nullptr) counter.reset(new uint64_t(0));
    return counter.get();
  }
};

// calloc's own alignment may be 8 with 32 bits; aligned_alloc is not on Windows.
constexpr uint64_t kAlignment = 16, kToAlign = sizeof(void*) < 8 ? kAlignment : 0;

struct MockMem {
  static void* allocate(const hprof_host* host, uint64_t bytes) {
    MockHost* self = MockHost::of(host);
    if (self->on_allocate) self->on_allocate();
    Guard guard(self->lock_);
    const uint64_t call = self->allocations++;
    if (call == self->fail_allocation || bytes > self->memory_limit - self->memory_used) return nullptr;
    const uint64_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment + kAlignment + kToAlign;
    void* block = size <= SIZE_MAX ? std::calloc(1, static_cast<size_t>(size)) : nullptr;
    if (block == nullptr) return nullptr;
    const uintptr_t aligned = (reinterpret_cast<uintptr_t>(block) + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = reinterpret_cast<void*>(aligned);
    self->memory_used += bytes;
    self->blocks_[memory] = {bytes, block};
    return memory;
  }
  // A block released with a wrong size stays in use: memory_used shows it.
  static void release(const hprof_host* host, void* memory, uint64_t bytes) {
    const MockHost::Locked self(host);
    const auto block = self->blocks_.find(memory);
    if (memory == nullptr) return;
    if (block == self->blocks_.end() || block->second.bytes != bytes) {
      self->wrong_releases.insert(memory);
      return;
    }
    self->memory_used -= bytes;
    std::free(block->second.start);
    self->blocks_.erase(block);
  }
  // Reserved memory is allocated at once here, as calloc does not touch large blocks either; charges are only
  // counted.
  static void* reserve(const hprof_host* host, uint64_t bytes) { return allocate(host, bytes); }
  static void unreserve(const hprof_host* host, void* memory, uint64_t bytes) {
    release(host, memory, bytes);
  }
  static uint32_t charge(const hprof_host* host, uint64_t bytes) {
    const MockHost::Locked self(host);
    if (bytes > self->charge_limit - self->memory_charged) return 0;
    self->memory_charged += bytes;
    return 1;
  }
  static void uncharge(const hprof_host* host, uint64_t bytes) {
    MockHost::Locked(host)->memory_charged -= bytes;
  }
};

struct MockClock {
  static uint64_t monotonic(const hprof_host* host) { return MockHost::Locked(host)->now_ns; }
  static uint64_t wall_ms(const hprof_host* host) { return MockHost::of(host)->wall_clock_ms; }
  static uint64_t thread_cpu(const hprof_host* host, uint64_t os_id) {
    const MockHost::Locked self(host);
    if (os_id == 0 && self->cpu_clock_step_ns != 0)
      return ++self->cpu_clock_reads / self->cpu_clock_reads_a_step * self->cpu_clock_step_ns;
    const auto found = self->thread_cpu_ns.find(os_id);
    if (found == self->thread_cpu_ns.end()) return UINT64_MAX;
    return self->running_threads.count(os_id) != 0 ? ++found->second : found->second;
  }
  static uint64_t process_cpu(const hprof_host* host) { return MockHost::of(host)->process_cpu_ns; }
  static uint64_t counter(const hprof_host*) { return 0; }
  static int32_t utc_offset(const hprof_host* host, uint64_t) { return MockHost::of(host)->utc_offset_s; }
};

struct MockEmit {
  static void progress(const hprof_host*) {}
  static uint32_t kind(const hprof_host* host, const char* name) {
    const MockHost::Locked self(host);
    const auto found = std::find(self->kinds.begin(), self->kinds.end(), name);
    const auto index = static_cast<uint32_t>(found - self->kinds.begin());
    if (found == self->kinds.end()) self->kinds.push_back(name);
    return HPROF_RECORD_REGISTERED + index;
  }
  static hprof_status event(const hprof_host* host, const hprof_record* record) {
    const MockHost::Locked self(host);
    if (self->event_status == HPROF_OK) self->events.emplace_back(record);
    return self->event_status;
  }
  static hprof_status write(const hprof_host* host, hprof_record* record) {
    MockHost* self = MockHost::of(host);
    if (self->on_write) self->on_write();
    Guard guard(self->lock_);
    if (self->write_status == HPROF_OK) self->written.emplace_back(record);
    return self->write_status;
  }
  static hprof_status define(const hprof_host* host, uint32_t kind, uint32_t id) {
    hprof_rec_definition record = {{sizeof(record), kind, 0}, id, 0};
    return write(host, &record.head);
  }
};

struct MockThreads {
  static hprof_agent_thread* start(const hprof_host* host, const char* name,
                                   void (*body)(void* argument, void* jni, hprof_agent_thread* thread),
                                   void* argument) {
    const MockHost::Locked self(host);
    if (!self->threads_start || self->is_refused()) return nullptr;
    self->agent_threads.emplace_back(new hprof_agent_thread{self, name, body, argument});
    return self->agent_threads.back().get();
  }
  static uint32_t wait(hprof_agent_thread* thread, uint64_t ns) {
    if (thread->turns_left == 0 || thread->stopped) return 0;
    thread->turns_left--;
    if (thread->host->on_wait) {
      thread->host->on_wait(ns);
    } else {
      Guard guard(thread->host->lock_);
      thread->host->now_ns += ns;
    }
    return thread->stopped ? 0 : 1;
  }
  static void wake(hprof_agent_thread* thread) { thread->woken++; }
  static hprof_status stop(const hprof_host* host, hprof_agent_thread* thread) {
    const MockHost::Locked self(host);
    thread->stopped = true;
    auto& all = self->agent_threads;
    for (size_t i = 0; i < all.size(); i++) {
      if (all[i].get() != thread) continue;
      all.erase(all.begin() + static_cast<ptrdiff_t>(i));
      return HPROF_OK;
    }
    return HPROF_FAILED;
  }
  static void each(const hprof_host* host, void* jni, void* argument,
                   uint32_t (*visit)(void* argument, hprof_thread* thread, void* jthread)) {
    for (auto& entry : MockHost::of(host)->app_threads) {
      if (visit(argument, &entry.thread, jni == nullptr ? nullptr : entry.jthread) == 0) return;
    }
  }
  static hprof_thread_serial serial_of(const hprof_host* host, void* jthread) {
    for (auto& entry : MockHost::of(host)->app_threads) {
      if (entry.jthread == jthread) return entry.thread.serial;
    }
    return 0;
  }
  static void pause(const hprof_host* host, uint64_t ns) {
    MockHost* self = MockHost::of(host);
    if (self->on_pause) return self->on_pause(ns);
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  }
};

struct MockContext {
  static hprof_status enable(const hprof_host* host) {
    MockHost::of(host)->contexts_enabled = true;
    return HPROF_OK;
  }
  static hprof_status set(const hprof_host* host, const hprof_context* context) {
    const MockHost::Locked self(host);
    if (!self->contexts_enabled || self->calling_thread == 0) return HPROF_UNSUPPORTED;
    self->contexts.erase(self->calling_thread);
    if (context == nullptr) return HPROF_OK;
    hprof_context& kept = self->contexts[self->calling_thread];
    hprof_copy_sized(&kept, sizeof kept, context, context->size);
    return HPROF_OK;
  }
  static hprof_status read(const hprof_host* host, hprof_thread_serial thread, hprof_context* context) {
    const MockHost::Locked self(host);
    if (!self->contexts_enabled) return HPROF_UNSUPPORTED;
    const auto found = self->contexts.find(thread);
    if (found == self->contexts.end()) return HPROF_FAILED;
    hprof_copy_sized(context, context->size, &found->second, sizeof found->second);
    return HPROF_OK;
  }
};

MockHost::MockHost() {
  settings = {};
  settings.size = sizeof settings;
  settings.depth = 4;
  settings.line_numbers = 1;
  settings.java_version = 17;
  settings.cutoff = 0.0001;
  settings.granted = UINT64_MAX;
  table_.base = {sizeof(hprof_host),
                 HPROF_ABI_MAJOR,
                 HPROF_ABI_MINOR,
                 &settings,
                 [](const hprof_host* host, const char* id) -> const void* {
                   const MockHost* self = of(host);
                   const auto found = self->services_.find(id);
                   return found == self->services_.end() ? nullptr : found->second;
                 },
                 [](const hprof_host* host, const char* unit_id, const char* id) -> const void* {
                   const MockHost* self = of(host);
                   for (const auto& [name, table] : self->extensions) {
                     const size_t blank = name.find(' ');
                     const bool is_asked = unit_id == nullptr || name.substr(0, blank) == unit_id;
                     if (is_asked && name.substr(blank + 1) == id) return table;
                   }
                   return nullptr;
                 }};
  table_.self = this;
  services_ = {{HPROF_SERVICE_LOG, mock_table<hprof_log_service, MockLog>()},
               {HPROF_SERVICE_MEM, mock_table<hprof_mem_service, MockMem>()},
               {HPROF_SERVICE_CLOCK, mock_table<hprof_clock_service, MockClock>()},
               {HPROF_SERVICE_EMIT, mock_table<hprof_emit_service, MockEmit>()},
               {HPROF_SERVICE_THREADS, mock_table<hprof_threads_service, MockThreads>()},
               {HPROF_SERVICE_CONTEXT, mock_table<hprof_context_service, MockContext>()},
               {HPROF_SERVICE_IDS, mock_ids_service()},
               {HPROF_SERVICE_IO, mock_io_service()}};
  add_vm_services();
}

MockHost::~MockHost() {
  for (auto& block : blocks_) std::free(block.second.start);
}

uint64_t MockHost::loss(const std::string& what) const {
  Guard guard(lock_);
  const auto found = counters_.find(what);
  return found == counters_.end() ? 0 : *found->second;
}

std::map<std::string, uint64_t> MockHost::losses() const {
  Guard guard(lock_);
  std::map<std::string, uint64_t> found;
  for (const auto& [what, count] : counters_)
    if (*count != 0) found[what] = *count;
  return found;
}

bool MockHost::is_allocated(void* block) const {
  Guard guard(lock_);
  return blocks_.count(block) != 0;
}

bool MockHost::said(const std::string& part) const {
  Guard guard(lock_);
  for (const auto& text : messages) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

void MockHost::run_thread(size_t index, uint32_t turns) {
  hprof_agent_thread* thread = agent_threads.at(index).get();
  thread->turns_left = turns;
  thread->body(thread->argument, nullptr, thread);
}

hprof_thread* MockHost::add_app_thread(hprof_thread_serial serial, uint64_t os_id, void* jthread,
                                       uint32_t flags) {
  app_threads.push_back({{sizeof(hprof_thread), serial, flags, 0, os_id, nullptr}, jthread});
  return &app_threads.back().thread;
}

}  // namespace hprof
