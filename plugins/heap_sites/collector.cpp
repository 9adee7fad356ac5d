#include "plugins/heap_sites/collector.h"

#include <cstring>

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/vm_flags.hpp>
#include <hprof/tables.h>

namespace hprof::sites {

static constexpr uint32_t kMostCollections = 10;  // the most that are requested for one report
static constexpr uint64_t kReaperNs = 1'000'000'000;
static constexpr int32_t kProofs = 1000;
static constexpr uint64_t kLeastMemory = 160 * 1024;  // exact: of the first threads, classes and stacks

static uint32_t* word_of(std::atomic<uint32_t>* number) {
  static_assert(sizeof(*number) == sizeof(uint32_t), "nothing but the number");
  return reinterpret_cast<uint32_t*>(number);
}

Collector::Collector(const hprof_host* host, const Config& config)
    : services_(host), config_(config), epoch_(word_of(&collections_)), code_epoch_(epoch_) {
  const hprof_log_service* log = services_.log;
  lost_objects_ = log->loss_counter(host, "objects: not counted for want of memory");
  lost_ends_ = log->loss_counter(host, "objects: counted, but not followed to their end for want of memory");
  lost_rows_ =
      log->loss_counter(host, "rows of sites: the smallest, left out of a report for want of memory");
  wrong_walks_ =
      log->loss_counter(host, "stacks of objects: found to be wrong, then the VM was asked for all");
}

// The problem, or nullptr. Probes must be in the classes when the VM starts; samples can begin at any time.
const char* Collector::choose_mode() {
  const Services& s = services_;
  if (!parse_mode(config_.sites, &mode_))
    return "sites option value must be auto, exact, sampled or sampled:<bytes>, such as sampled:64k";
  const bool attached = s.settings().attached != 0;
  const bool old = s.settings().java_version < 11;
  if (attached && mode_.asked == Sampling::kExact)
    return "sites=exact must be loaded at VM start-up; attached, use sites=sampled (Java 11 and later)";
  const bool has_samples = (s.settings().granted & HPROF_NEED_SAMPLED_ALLOC) != 0;
  if (attached && !has_samples)
    return old ? "heap=sites must be loaded at VM start-up on Java versions below 11"
               : "heap=sites: another agent has the VM's allocation samples, and exact counts must be loaded "
                 "at "
                 "VM start-up";
  if (attached && mode_.asked == Sampling::kAuto)
    s.log->message(
        s.host,
        "heap=sites is attached, so it samples (sites=sampled); exact counts need the agent at VM start-up");
  if (mode_.sampled && !has_samples)
    s.log->message(s.host, old ? "sites=sampled requires Java 11; using sites=exact"
                               : "sites=sampled: another agent has the VM's samples; using sites=exact");
  mode_.sampled = has_samples && (mode_.sampled || attached);
  return nullptr;
}

hprof_status Collector::open(char* error, uint32_t error_size) {
  const Services& s = services_;
  if (const char* problem = choose_mode()) {
    TextBuffer(error, error_size).add(problem);
    return HPROF_FAILED;
  }
  live_.open(s);
  if (!sites_.open(s) || !threads_.open(s)) return HPROF_NO_MEMORY;
  offer_traces(this);
  if (mode_.sampled) {
    // Threads take the interval when they start, so it is set before they do.
    auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
    jvmti->SetHeapSamplingInterval(static_cast<jint>(mode_.interval));
    return HPROF_OK;
  }
  can_reuse(nullptr);
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.probes = HPROF_PROBE_ALLOCATIONS | (config_.early == 0 ? HPROF_PROBE_LATE : 0u);
  user.self = this;
  user.allocated = &Collector::allocated;
  hprof_status status = s.bytecode != nullptr ? s.bytecode->ask(s.host, &user) : HPROF_UNSUPPORTED;
  asked_ = status == HPROF_OK;
  s.will_need(kLeastMemory);
  if (!asked_)
    TextBuffer(error, error_size)
        .add("exact heap=sites needs early class hooks, which this VM does not have; use sites=sampled");
  else if (config_.early != 0 && names_archive(s))
    s.log->message(s.host,
                   "exact heap=sites switches the VM's class-data archive or AOT cache off; with early=n it "
                   "stays on, and "
                   "its classes go without probes");
  return status;
}

bool Collector::close() {
  offer_traces(nullptr);
  if (asked_) return false;
  Hooks context = {this, static_cast<JNIEnv*>(services_.jvm->jni(services_.host))};
  if (context.jni != nullptr) {
    threads_.each([&](AllocatingThread& state) { LiveRecords::forget_open(state.open, hooks(&context)); });
    live_.close(hooks(&context));
  }
  threads_.close();
  sites_.close();
  return true;
}

// --- starting and stopping

// Without it the VM has to be asked for the class of each object.
void Collector::ask_hotspot() {
  const Services& s = services_;
  if (HPROF_HAS(s.hotspot, hprof_hotspot_service, object_header)) s.hotspot->object_header(s.host, &header_);
  const uint32_t *unloads = nullptr, *collections = nullptr;
  if (HPROF_HAS(s.hotspot, hprof_hotspot_service, unload_count)) unloads = s.hotspot->unload_count(s.host);
  if (HPROF_HAS(s.hotspot, hprof_hotspot_service, collection_count))
    collections = s.hotspot->collection_count(s.host);
  if (collections != nullptr) code_epoch_ = collections;
  epoch_ = unloads != nullptr ? unloads : code_epoch_;
  sees_unloads_ =
      unloads != nullptr || vm_flag(s, "UseG1GC") || vm_flag(s, "UseSerialGC") || vm_flag(s, "UseParallelGC");
  if (HPROF_HAS(s.bytecode, hprof_bytecode_service, redefinitions))
    redefinitions_ = s.bytecode->redefinitions(s.host);
  if (!sees_unloads_) header_ = kNoHeader;
}

// jni = null: asks for the events that it needs.
bool Collector::can_reuse(JNIEnv* jni) const {
  const Services& s = services_;
  return config_.follow != 0 && HPROF_HAS(s.hotspot, hprof_hotspot_service, weak_reuse) &&
         s.hotspot->weak_reuse_open(s.host, jni) != 0;
}

void Collector::watch_natives(JNIEnv* jni) {
  const Services& s = services_;
  jclass string = jni->FindClass("java/lang/String");
  if (string != nullptr) string_class_ = static_cast<jclass>(jni->NewGlobalRef(string));
  const char* type = s.settings().java_version >= 9 ? "[B" : "[C";
  if (string_class_ != nullptr) string_value_ = jni->GetFieldID(string_class_, "value", type);
  clear_exception(jni);
  if (string != nullptr) jni->DeleteLocalRef(string);
  if (!HPROF_HAS(s.hotspot, hprof_hotspot_service, watch_native_objects) ||
      s.hotspot->watch_native_objects(s.host, &Collector::native_object, this) == 0)
    s.log->detail(s.host, "heap=sites: objects that native code makes by JNI are not seen");
}

hprof_status Collector::start_exact(JNIEnv* jni) {
  const Services& s = services_;
  if (!is_prepared_) ask_hotspot();
  reuses_ = can_reuse(jni);
  if (!classes_.open(s, header_)) return HPROF_NO_MEMORY;
  if (!stacks_.open(s, jni)) {
    s.log->message(s.host, "heap=sites: the tracker class is not as it should be");
    return HPROF_FAILED;
  }
  s.bytecode->header_at(s.host, header_.at);
  hprof_status status = s.bytecode->go(s.host, HPROF_PROBE_ALLOCATIONS);
  if (status == HPROF_OK && !is_prepared_) {
    is_prepared_ = true;
    if (AllocatingThread* state = threads_.get(jni)) {
      state->errand = Errand::kReplaceNatives;
      stacks_.call_probe(jni, 1);
      open_walk(jni, state);
    }
    watch_natives(jni);
  }
  return status;
}

void Collector::run_errand(JNIEnv* jni, Errand errand) {
  const Services& s = services_;
  if (errand == Errand::kHideFrame) {
    hidden_ = s.hotspot->walk_hide(opened_walk_, jni, stacks_.probe(hiding_)) != 0;
  } else if (!HPROF_HAS(s.hotspot, hprof_hotspot_service, quiet_allocate_instance) ||
             s.hotspot->quiet_allocate_instance(s.host, jni) == 0) {
    s.log->detail(s.host, "heap=sites: the VM posts an event for each object of Unsafe.allocateInstance");
  }
}

// Calls each method of a probe, which then hides the frame that it was called in.
void Collector::open_walk(JNIEnv* jni, AllocatingThread* state) {
  const Services& s = services_;
  const char* why = "the VM does not tell of unloaded classes in time";
  if (sees_unloads_ && HPROF_HAS(s.hotspot, hprof_hotspot_service, frame_walk))
    opened_walk_ = s.hotspot->frame_walk(s.host, jni, &why);
  state->errand = Errand::kHideFrame;
  bool known = opened_walk_ != nullptr;
  for (hiding_ = 0; known && hiding_ < stacks_.probe_count(); hiding_++) {
    hidden_ = false;
    stacks_.call_probe(jni, hiding_);
    known = hidden_;
    why = "its own frames were not found";
  }
  state->errand = Errand::kNone;
  proofs_left_.store(kProofs);
  if (known) {
    if ((s.settings().granted & HPROF_NEED_GC_EVENTS) != 0)
      s.hotspot->walk_trust_code(opened_walk_, code_epoch_);
    walk_.store(opened_walk_);
    return;
  }
  TextLine<200> line;
  s.log->detail(s.host, line.add("heap=sites: the VM is asked for each stack: ").add(why).c_str());
}

hprof_status Collector::start_sampled() {
  const Services& s = services_;
  auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  stacks_.open(s, nullptr);
  return jvmti->SetHeapSamplingInterval(static_cast<jint>(mode_.interval)) == JVMTI_ERROR_NONE ? HPROF_OK
                                                                                               : HPROF_FAILED;
}

hprof_status Collector::start() {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  if (jni == nullptr) return HPROF_FAILED;
  collections_.fetch_add(1, std::memory_order_relaxed);  // collections while it was stopped were not reported
  hprof_status status = mode_.sampled ? start_sampled() : start_exact(jni);
  if (status != HPROF_OK) return status;
  counts_.store(true);
  start_reaper();
  return HPROF_OK;
}

void Collector::tell_reuse() const {
  uint64_t times = 0;
  threads_.each(
      [&](const AllocatingThread& state) { times += __atomic_load_n(&state.weak.times, __ATOMIC_RELAXED); });
  TextLine<100> line;
  line.add("heap=sites: weak references were used again ").add(times).add(" times");
  services_.log->detail(services_.host, line.c_str());
}

void Collector::stop() {
  counts_.store(false);
  if (!mode_.sampled) services_.bytecode->halt(services_.host, HPROF_PROBE_ALLOCATIONS);
  if (reuses_) tell_reuse();
  wanted_.store(true);
  if (reaper_ != nullptr) services_.threads->stop(services_.host, reaper_);
  wanted_.store(false);
  reaper_ = nullptr;
  Hooks context = {this, static_cast<JNIEnv*>(services_.jvm->jni(services_.host))};
  if (context.jni == nullptr || vm_ends_) return;
  stop_reaping();
  live_.let_go(hooks(&context));
  lock_.unlock();
}

hprof_status Collector::control(const hprof_control& control) {
  switch (control.what) {
    case HPROF_CONTROL_ALLOC_TRACES:
      if (mode_.sampled) return HPROF_UNSUPPORTED;
      counts_.store(control.value != 0);
      if (control.value != 0) return services_.bytecode->go(services_.host, HPROF_PROBE_ALLOCATIONS);
      services_.bytecode->halt(services_.host, HPROF_PROBE_ALLOCATIONS);
      return HPROF_OK;
    case HPROF_CONTROL_DEPTH:
      stacks_.set_depth(static_cast<uint64_t>(control.value));
      return HPROF_OK;
    default:
      return HPROF_UNSUPPORTED;
  }
}

// --- objects that go

LiveHooks Collector::hooks(Hooks* context) const {
  return {context,
          [](void* argument, void* const* references, uint32_t count) {
            auto* at = static_cast<Hooks*>(argument);
            return at->collector->are_gone(at->jni, references, count);
          },
          [](void* argument, void* reference) {
            static_cast<Hooks*>(argument)->jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
          },
          reuses_ || vm_ends_,
          [](void* argument, uint32_t site, uint64_t bytes) {
            Collector* collector = static_cast<Hooks*>(argument)->collector;
            Amount by = collector->weight(bytes);
            collector->sites_[site].freed.objects += by.objects;
            collector->sites_[site].freed.bytes += by.bytes;
          },
          [](void* argument) {
            return static_cast<Hooks*>(argument)->collector->wanted_.load(std::memory_order_relaxed);
          }};
}

uint64_t Collector::are_gone(JNIEnv* jni, void* const* references, uint32_t count) const {
  const Services& s = services_;
  if (HPROF_HAS(s.hotspot, hprof_hotspot_service, weaks_are_gone))
    return s.hotspot->weaks_are_gone(s.host, jni, references, count);
  uint64_t gone = 0;
  for (uint32_t i = 0; i < count; i++)
    gone |= uint64_t{jni->IsSameObject(static_cast<jweak>(references[i]), nullptr)} << i;
  return gone;
}

void Collector::gc_finish() {
  collections_.fetch_add(1, std::memory_order_relaxed);
  hprof_agent_thread* reaper = reaper_;
  if (reaper != nullptr) services_.threads->wake(reaper);
}

void Collector::start_reaper() {
  if (config_.follow == 0 || reaper_ != nullptr) return;
  reaper_ = services_.threads->start(services_.host, "HPROF heap sites", &Collector::reap, this);
  if (reaper_ == nullptr)
    services_.log->message(
        services_.host,
        "heap=sites: the thread that follows objects cannot be started: objects are checked at each report");
}

void Collector::reap(void* self, void* jni, hprof_agent_thread* thread) {
  auto* collector = static_cast<Collector*>(self);
  Hooks context = {collector, static_cast<JNIEnv*>(jni)};
  uint32_t seen = collector->collections_.load(std::memory_order_relaxed);
  while (collector->services_.threads->wait(thread, kReaperNs) != 0) {
    uint32_t now = collector->collections_.load(std::memory_order_relaxed);
    if (now == seen || collector->wanted_.load(std::memory_order_relaxed) || !collector->lock_.try_lock())
      continue;
    seen = now;
    collector->live_.look(collector->hooks(&context), false);
    collector->lock_.unlock();
  }
}

void Collector::look_at_all(JNIEnv* jni) {
  Hooks context = {this, jni};
  LiveHooks look = hooks(&context);
  look.is_wanted = nullptr;
  live_.look(look, true);
  threads_.each([&](AllocatingThread& state) { LiveRecords::look_at_open(state.open, look); });
}

// --- reports

// At the VM's end some garbage collectors no longer collect, so waiting would be in vain.
bool Collector::collect_garbage(uint32_t reason) const {
  const Services& s = services_;
  if (reason == HPROF_REPORT_EXIT && (vm_flag(s, "UseZGC") || vm_flag(s, "UseShenandoahGC"))) return false;
  auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  // The VM does not collect while a thread is in a critical region of JNI, but reports success.
  const uint32_t before = collections_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < kMostCollections; i++) {
    if (jvmti->ForceGarbageCollection() != JVMTI_ERROR_NONE) return false;
    if (collections_.load(std::memory_order_relaxed) != before) return true;
  }
  return false;
}

void Collector::add_up_threads() {
  for (uint32_t i = 1; i <= sites_.last(); i++) sites_[i].allocated = {};
  threads_.each([this](const AllocatingThread& state) {
    state.counts.each([this](uint64_t number, const Count& count) {
      sites_[static_cast<uint32_t>(number)].allocated.add(count.read());
    });
  });
  // Objects are not followed, so none counts as live.
  for (uint32_t i = 1; config_.follow == 0 && i <= sites_.last(); i++) sites_[i].freed = sites_[i].since();
}

hprof_status Collector::report(const hprof_report& report) {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  // Windows are frequent, and each collection would stop the program.
  const bool may_collect = config_.follow != 0 && report.reason != HPROF_REPORT_WINDOW;
  bool wants_collection = (may_collect && (!mode_.sampled || report.reason == HPROF_REPORT_EXIT)) ||
                          (report.flags & HPROF_SITES_FORCED_GC) != 0;
  bool collected = wants_collection && jni != nullptr && collect_garbage(report.reason);
  ReportWish wish = {};
  wish.incremental = (report.flags & HPROF_SITES_INCREMENTAL) != 0;
  wish.by_allocation = (report.flags & HPROF_SITES_BY_ALLOCATION) != 0 || config_.order == kByAllocation ||
                       config_.follow == 0;
  wish.forced_gc = collected;
  wish.fraction_bits = mode_.sampled ? kFractionBits : 0;
  wish.sampling_interval = mode_.sampled ? mode_.interval : 0;
  wish.cutoff = report.cutoff;
  SitesReport sites(services_, sites_, wish);
  stop_reaping();
  if (config_.follow != 0 && jni != nullptr) look_at_all(jni);
  add_up_threads();
  sites.collect();
  lock_.unlock();
  if (sites.left_out() != 0 && lost_rows_ != nullptr)
    __atomic_fetch_add(lost_rows_, sites.left_out(), __ATOMIC_RELAXED);
  hprof_status status = HPROF_OK;
  if (hprof_wants(&report, HPROF_TABLE_ALLOC_SITES) != 0) {
    status = sites.write_table();
    if (status == HPROF_OK) status = write_notes(collected);
  }
  const bool wants_summary = hprof_is_listed(report.records, HPROF_TABLE_HEAP_SUMMARY) != 0;
  if (status == HPROF_OK && wants_summary) status = sites.write_summary();
  return status;
}

// The set of followed objects is kept unchanged until end_traces().
uint64_t Collector::begin_traces() {
  if (config_.follow == 0) return 0;
  stop_reaping();
  uint64_t count = 0;
  each_followed([&](void*, uint32_t) { count++; });
  if (count == 0) end_traces();
  return count;
}

// Takes the lock from the reaper, which releases it soon.
void Collector::stop_reaping() {
  wanted_.store(true);
  lock_.lock(services_);
  wanted_.store(false);
}

// Earlier allocations no longer count, and their objects are no longer followed.
void Collector::reset() {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  Hooks context = {this, jni};
  stop_reaping();
  if (jni != nullptr) {
    threads_.each([&](AllocatingThread& state) { LiveRecords::forget_open(state.open, hooks(&context)); });
    live_.forget(hooks(&context));
  }
  add_up_threads();
  for (uint32_t i = 1; i <= sites_.last(); i++) {
    Site& site = sites_[i];
    site.before = site.allocated;
    site.freed = {};
    __atomic_store_n(&site.untracked.objects, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&site.untracked.bytes, 0, __ATOMIC_RELAXED);
  }
  lock_.unlock();
}

hprof_status Collector::write_notes(bool collected) {
  const Services& s = services_;
  Note line;
  if (mode_.sampled) {
    line.add("heap=sites: sampled, one sample in ").add(mode_.interval);
    line.add(" bytes (sites=sampled); all numbers are estimates of what was allocated");
  } else {
    line.add("heap=sites: each object made by Java code is counted (sites=exact), and ");
    line.add(vm_objects_.load(std::memory_order_relaxed))
        .add(" that the VM and JNI made for native methods; ");
    line.add("others that the VM makes, and those from before it had started, are not seen");
  }
  hprof_status status = write_note(s, line);
  if (status == HPROF_OK) {
    line.clear();
    if (config_.follow == 0) {
      line.add(
          "heap=sites: objects were not followed to their end (sites-live=n): how many live is not known");
    } else {
      line.add("heap=sites: live is what was there ");
      line.add(collected ? "after a garbage collection for this report"
                         : "after the last garbage collection");
    }
    status = write_note(s, line);
  }
  uint64_t asked[kAskedReasons] = {};
  threads_.each([&](const AllocatingThread& state) {
    for (uint32_t i = 0; i < kAskedReasons; i++) asked[i] += state.asked[i];
  });
  line.clear();
  line.add("heap=sites: the VM was asked for ").add(asked[kAskedNew]).add(" stacks that were new, ");
  line.add(asked[kAskedProof]).add(" to prove those that were known, ");
  line.add(asked[kAskedUnknown]).add(" that were not understood, and for ");
  line.add(asked[kAskedVmObject]).add(" callers of native methods");
  if (status == HPROF_OK && !mode_.sampled) status = write_note(s, line);
  if (status == HPROF_OK && !mode_.sampled) status = write_note_on_probes(s, "heap=sites: without probes: ");
  return status;
}

}  // namespace hprof::sites
