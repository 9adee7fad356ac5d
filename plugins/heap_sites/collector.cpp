#include "collector.h"

#include <hprof/cpp/jni_exception.hpp>
#include <hprof/cpp/note.hpp>
#include <hprof/cpp/vm_flags.hpp>
#include <hprof/tables.h>

#include "java_classes.h"

namespace hprof::sites {

static constexpr uint32_t kMostCollections = 10;      // the most collections for one report
static constexpr uint64_t kLeastMemory = 160 * 1024;  // exact: of the first threads, classes and stacks

// count=y: tests tell their own objects from those of their framework by the stacks.
static constexpr uint32_t kLeastCountDepth = 64;
static constexpr uint64_t kBytesOfSite = 768;  // about, without the frames of its stack

static const uint32_t* word_of(const std::atomic<uint32_t>& number) {
  static_assert(sizeof(number) == sizeof(uint32_t), "nothing but the number");
  return reinterpret_cast<const uint32_t*>(&number);
}

Collector::Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {
  const hprof_log_service* log = services_.log;
  lost_objects_ = log->loss_counter(host, "objects: no memory to count them (max-memory=)");
  lost_stacks_ = log->loss_counter(host, "stacks of objects: no memory for more (max-memory=)");
  lost_rows_ = log->loss_counter(host, "rows of sites: no memory in a report for the smallest (max-memory=)");
}

// Returns the problem, or null. Probes must be there at VM start-up; sampling can begin at any time.
const char* Collector::choose_mode() {
  const HotSpotServices& s = services_;
  if (!parse_mode(config_.sites, &mode_))
    return "sites option value must be auto, exact, sampled or sampled:<bytes>, such as sampled:64k";
  const bool attached = s.settings().attached != 0;
  if (config_.count != 0 && (attached || mode_.sampled))
    return "count=y counts objects if the agent is loaded at VM start-up, with sites=exact";
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
  const HotSpotServices& s = services_;
  if (const char* problem = choose_mode()) {
    TextBuffer(error, error_size).add(problem);
    return HPROF_FAILED;
  }
  if (config_.count != 0) {
    counts_of_all_.store(0, std::memory_order_relaxed);
    config_.follow = 0;
    // The rest of the memory is for the counts of classes without stacks, and for those that are open.
    const uint64_t most =
        s.settings().max_memory / (kBytesOfSite + kLeastCountDepth * sizeof(hprof_frame_id));
    if (most != 0 && most < most_sites_) most_sites_ = static_cast<uint32_t>(most);
  }
  stacks_.open(s);
  followed_.open(s, mode_);
  if (!sites_.open(s) || !threads_.open(s)) return HPROF_NO_MEMORY;
  offer_traces(this);
  if (mode_.sampled) {
    // A thread takes the sampling interval when it starts, so the interval is set first.
    auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
    jvmti->SetHeapSamplingInterval(static_cast<jint>(mode_.interval));
    return HPROF_OK;
  }
  if (config_.follow != 0) followed_.ask_to_reuse();
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.flags = config_.early == 0 ? HPROF_PROBES_LATE : 0u;
  fill_in_targets(&user);
  hprof_status status = s.probes != nullptr ? s.probes->ask(s.host, &user, &probes_) : HPROF_UNSUPPORTED;
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

void Collector::fill_in_targets(hprof_probe_user* user) {
  static constexpr hprof_target kTargets[] = {{HPROF_POINT_OBJECT, 0, "allocated", nullptr},
                                              {HPROF_POINT_ARRAYS, 0, "allocatedArrays", nullptr}};
  static const hprof_native kNatives[] = {
      {"allocatedObject", "(Ljava/lang/Object;J)V", reinterpret_cast<void (*)()>(&Collector::allocated)}};
  static const hprof_probe_class kClasses[] = {
      {kTargetClass, kHprofObjects, sizeof kHprofObjects, 1, kNatives},
      {"java/lang/HprofObjectsMemory", kHprofObjectsMemory, sizeof kHprofObjectsMemory, 0, nullptr}};
  instance_ = this;
  user->targets = kTargets;
  user->target_count = 2;
  user->classes = kClasses;
  user->class_count = 2;
  user->live = "live";
  user->prime = "prime";
}

void Collector::set_header_at(JNIEnv* jni) const {
  jclass targets = without_exception(jni, jni->FindClass(kTargetClass));
  if (targets == nullptr) return;
  jfieldID at = without_exception(jni, jni->GetStaticFieldID(targets, "headerAt", "J"));
  if (at != nullptr) jni->SetStaticLongField(targets, at, static_cast<jlong>(header_.at));
  jni->DeleteLocalRef(targets);
}

bool Collector::close() {
  offer_traces(nullptr);
  if (asked_) return false;
  if (JNIEnv* jni = this->jni()) followed_.close(jni);
  threads_.close();
  sites_.close();
  return true;
}

void Collector::watch_natives(JNIEnv* jni) {
  const HotSpotServices& s = services_;
  jclass string = jni->FindClass("java/lang/String");
  if (string != nullptr) string_class_ = static_cast<jclass>(jni->NewGlobalRef(string));
  const char* type = s.settings().java_version >= 9 ? "[B" : "[C";
  if (string_class_ != nullptr) string_value_ = jni->GetFieldID(string_class_, "value", type);
  clear_exception(jni);
  if (string != nullptr) jni->DeleteLocalRef(string);
  if (s.objects == nullptr || s.objects->watch_natives(s.host, &Collector::native_object, this) == 0)
    s.log->detail(s.host, "heap=sites: objects that native code makes by JNI are not seen");
}

hprof_status Collector::start_exact(JNIEnv* jni) {
  const HotSpotServices& s = services_;
  if (!is_prepared_) {
    // Without the header's class key the VM is asked for the class of each object.
    if (stacks_.watch_classes(word_of(collections_)) && s.objects != nullptr)
      s.objects->header(s.host, &header_);
  }
  if (!stacks_.start_exact(jni)) {
    s.log->message(s.host, "heap=sites: the class that probes call is not as it should be");
    return HPROF_FAILED;
  }
  set_header_at(jni);
  hprof_status status = s.probes->start(s.host, probes_);
  if (status == HPROF_OK && !is_prepared_) prepare(jni);
  return status;
}

// Runs once, when probes are live.
void Collector::prepare(JNIEnv* jni) {
  const HotSpotServices& s = services_;
  is_prepared_ = true;
  uint32_t is_quiet = 0;
  if (s.objects != nullptr)
    stacks_.vm().call_in_probe(jni, 1, [&] { is_quiet = s.objects->quiet_allocate_instance(s.host, jni); });
  if (is_quiet == 0)
    s.log->detail(s.host, "heap=sites: the VM posts an event for each object of Unsafe.allocateInstance");
  stacks_.open_walk(jni);
  watch_natives(jni);
}

hprof_status Collector::start() {
  const HotSpotServices& s = services_;
  JNIEnv* jni = this->jni();
  if (jni == nullptr) return HPROF_FAILED;
  collections_.fetch_add(1, std::memory_order_relaxed);  // collections meanwhile were not reported
  if (lost_trace_ == 0) {
    // Made while there is memory.
    const hprof_frame_id frame = s.ids->synthetic_frame(s.host, "JVM", "no_memory_for_the_trace");
    lost_trace_ = s.ids->trace(s.host, 0, &frame, 1, 0);
  }
  hprof_status status = HPROF_OK;
  Labels& labels = stacks_.vm().labels();
  labels.open(s);
  labels_ = labels.are_on() ? &labels : nullptr;
  contexts_.open(s);
  if (mode_.sampled) {
    stacks_.start_sampled();
    auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
    if (jvmti->SetHeapSamplingInterval(static_cast<jint>(mode_.interval)) != JVMTI_ERROR_NONE)
      status = HPROF_FAILED;
  } else {
    // In a run that records an archive there are no probes: nothing is counted.
    if (probes_ == 0) return HPROF_OK;
    status = start_exact(jni);
  }
  if (status != HPROF_OK) return status;
  if (config_.follow != 0) followed_.start(jni);
  counts_.store(true);
  is_started_ = true;
  if (config_.count != 0) {
    run(false);
    if (stacks_.vm().depth() < kLeastCountDepth) stacks_.vm().set_depth(kLeastCountDepth);
  }
  return HPROF_OK;
}

void Collector::run(bool on) {
  LockGuard guard(run_lock_, services_);
  run_locked(on);
}

void Collector::run_locked(bool on) {
  if (!is_started_) return;
  counts_.store(on);
  if (!mode_.sampled && on) services_.probes->start(services_.host, probes_);
  if (!mode_.sampled && !on) services_.probes->stop(services_.host, probes_);
}

void Collector::stop() {
  {
    // In one go: a count that begins now must not start the probes again.
    LockGuard guard(run_lock_, services_);
    run_locked(false);
    is_started_ = false;
  }
  followed_.stop(jni());
}

bool Collector::each_count(const void* env, bool all, void* argument,
                           void (*visit)(void* argument, const hprof_thread_count* count)) {
  const auto pass = [&](uint64_t site, Amount amount) {
    const Site& of = sites_[static_cast<uint32_t>(site)];
    const hprof_thread_count count = {site, of.owner, of.trace, amount.objects, amount.bytes};
    if (amount.objects != 0) visit(argument, &count);
  };
  const auto pass_lost = [&](uint64_t lost) {
    const hprof_thread_count count = {0, 0, 0, lost, 0};
    if (lost != 0) visit(argument, &count);
  };
  if (!all) {
    const AllocatingThread* state = threads_.get(env);
    if (state == nullptr) return false;
    pass_lost(state->log.lost());
    state->log.each(pass);
    return true;
  }
  const uint64_t count = uint64_t{sites_.last()} + 1;
  auto* sums = services_.allocate<Amount>(count);
  if (sums == nullptr) return false;
  threads_.each([&](const AllocatingThread& state) {
    state.counts.each([&](uint64_t site, const Count& of) {
      if (site < count) sums[site].add(of.read());
    });
  });
  pass_lost(lost_objects_ != nullptr ? __atomic_load_n(lost_objects_, __ATOMIC_RELAXED) : 0);
  for (uint64_t site = 1; site < count; site++) pass(site, sums[site]);
  services_.release(sums, count);
  return true;
}

hprof_status Collector::control(const hprof_control& control) {
  switch (control.what) {
    case HPROF_CONTROL_ALLOC_TRACES:
      if (mode_.sampled || probes_ == 0) return HPROF_UNSUPPORTED;
      counts_.store(control.value != 0);
      if (control.value != 0) return services_.probes->start(services_.host, probes_);
      services_.probes->stop(services_.host, probes_);
      return HPROF_OK;
    case HPROF_CONTROL_DEPTH:
      stacks_.vm().set_depth(static_cast<uint64_t>(control.value));
      return HPROF_OK;
    default:
      return HPROF_UNSUPPORTED;
  }
}

void Collector::gc_finish() {
  collections_.fetch_add(1, std::memory_order_relaxed);
  followed_.wake();
}

// At the VM's end some garbage collectors no longer collect, so waiting would be in vain.
bool Collector::collect_garbage(uint32_t reason) const {
  const HotSpotServices& s = services_;
  if (reason == HPROF_REPORT_EXIT && (vm_flag(s, "UseZGC") || vm_flag(s, "UseShenandoahGC"))) return false;
  auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  // While a thread is in a JNI critical region, ForceGarbageCollection succeeds without collecting.
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
  // With sites-live=n all objects count as freed.
  for (uint32_t i = 1; config_.follow == 0 && i <= sites_.last(); i++) sites_[i].freed = sites_[i].since();
}

hprof_status Collector::report(const hprof_report& report) {
  JNIEnv* jni = this->jni();
  // Windows come often, and each collection would stop the program.
  const bool may_collect = config_.follow != 0 && report.reason != HPROF_REPORT_WINDOW;
  bool wants_collection = (may_collect && (!mode_.sampled || report.reason == HPROF_REPORT_EXIT)) ||
                          (report.flags & HPROF_SITES_FORCED_GC) != 0;
  bool collected = wants_collection && jni != nullptr && collect_garbage(report.reason);
  ReportWish wish = {};
  wish.incremental = (report.flags & HPROF_SITES_INCREMENTAL) != 0;
  wish.by_allocation = (report.flags & HPROF_SITES_BY_ALLOCATION) != 0 || config_.follow == 0;
  wish.forced_gc = collected;
  wish.fraction_bits = mode_.sampled ? kFractionBits : 0;
  wish.sampling_interval = mode_.sampled ? mode_.interval : 0;
  wish.cutoff = report.cutoff;
  wish.labels = labels_;
  SitesReport sites(services_, sites_, wish);
  followed_.lock();
  if (config_.follow != 0 && jni != nullptr) followed_.check_all(jni);
  add_up_threads();
  sites.collect();
  followed_.unlock();
  count_loss(lost_rows_, sites.left_out());
  hprof_status status = HPROF_OK;
  if (hprof_wants(&report, HPROF_TABLE_ALLOC_SITES) != 0) {
    status = sites.write_table();
    if (status == HPROF_OK) status = write_notes(collected);
  }
  const bool wants_summary = hprof_is_listed(report.records, HPROF_TABLE_HEAP_SUMMARY) != 0;
  if (status == HPROF_OK && wants_summary) status = sites.write_summary();
  return status;
}

// Keeps the set of followed objects unchanged until end_traces().
uint64_t Collector::begin_traces() {
  if (config_.follow == 0) return 0;
  followed_.lock();
  uint64_t count = 0;
  followed_.each([&](void*, uint32_t) { count++; });
  if (count == 0) end_traces();
  return count;
}

// Discards the counts; objects allocated so far are no longer followed.
void Collector::reset() {
  JNIEnv* jni = this->jni();
  followed_.lock();
  if (jni != nullptr) followed_.forget_all(jni);
  add_up_threads();
  for (uint32_t i = 1; i <= sites_.last(); i++) {
    Site& site = sites_[i];
    site.before = site.allocated;
    site.freed = {};
    __atomic_store_n(&site.untracked.objects, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&site.untracked.bytes, 0, __ATOMIC_RELAXED);
  }
  followed_.unlock();
}

hprof_status Collector::write_notes(bool collected) {
  const HotSpotServices& s = services_;
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
    if (labels_ != nullptr) labels_->add_others(&line);
    status = write_note(s, line);
  }
  uint64_t asked[kAskedReasons] = {};
  threads_.each([&](const AllocatingThread& state) {
    for (uint32_t i = 0; i < kAskedReasons; i++) asked[i] += state.stacks.asked[i];
  });
  line.clear();
  line.add("heap=sites: the VM was asked for ").add(asked[kAskedNew]).add(" stacks that were new, ");
  line.add(asked[kAskedProof]).add(" to prove those that were known, ");
  line.add(asked[kAskedUnknown]).add(" that were not understood, and for ");
  line.add(asked[kAskedVmObject]).add(" callers of native methods");
  if (status == HPROF_OK && !mode_.sampled) status = write_note(s, line);
  if (status == HPROF_OK && !mode_.sampled)
    status = write_note_on_probes(s, probes_, "heap=sites: without probes: ");
  return status;
}

}  // namespace hprof::sites
