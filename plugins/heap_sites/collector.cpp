#include "plugins/heap_sites/collector.h"

#include <cstring>

#include <hprof/cpp/text_line.hpp>
#include <hprof/cpp/vm_flags.hpp>

#include "plugins/heap_sites/native_objects.h"
#include "plugins/heap_sites/quiet_natives.h"
#include "plugins/heap_sites/walk_layout.h"

namespace hprof::sites {

static constexpr uint32_t kMostCollections = 10;  // asked for, for one report
static constexpr uint64_t kReaperNs = 1'000'000'000;
static constexpr int32_t kProofs = 1000;
static constexpr uint32_t kLastWithMethodPointers = 25;  // Java; a jmethodID is a number later

Collector::Collector(const hprof_host* host, const Config& config) : services_(host), config_(config) {
  const hprof_log_service* log = services_.log;
  lost_objects_ = log->loss_counter(host, "objects: not counted for want of memory");
  lost_ends_ = log->loss_counter(host, "objects: counted, but not followed to their end for want of memory");
  wrong_walks_ =
      log->loss_counter(host, "stacks of objects: found to be wrong, then the VM was asked for all");
}

hprof_status Collector::create() {
  const Services& s = services_;
  if (!parse_mode(config_.sites, &mode_)) {
    s.log->message(s.host,
                   "sites option value must be exact, sampled or sampled:<bytes>, such as sampled:64k");
    return HPROF_FAILED;
  }
  if (mode_.sampled && (s.settings().granted & HPROF_NEED_SAMPLED_ALLOC) == 0) {
    mode_.sampled = false;
    s.log->message(s.host, s.settings().java_version < 11
                               ? "sites=sampled needs Java 11: sites=exact it is"
                               : "sites=sampled: another agent has the VM's samples: sites=exact it is");
  }
  live_.open(s);
  if (!sites_.open(s) || !threads_.open(s)) return HPROF_NO_MEMORY;
  if (mode_.sampled) {
    // Threads take the interval when they start, so it is set before they do.
    auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
    jvmti->SetHeapSamplingInterval(static_cast<jint>(mode_.interval));
    return HPROF_OK;
  }
  hprof_probe_user user = {};
  user.size = sizeof user;
  user.probes = HPROF_PROBE_ALLOCATIONS;
  user.self = this;
  user.allocated = &Collector::allocated;
  hprof_status status = s.bytecode != nullptr ? s.bytecode->ask(s.host, &user) : HPROF_UNSUPPORTED;
  asked_ = status == HPROF_OK;
  if (!asked_)
    s.log->message(s.host,
                   "heap=sites has to be there when the VM starts, on a VM with early class hooks; "
                   "sites=sampled needs neither");
  return status;
}

bool Collector::close() {
  if (asked_) return false;
  Hooks context = {this, static_cast<JNIEnv*>(services_.jvm->jni(services_.host))};
  if (context.jni != nullptr) {
    for (ThreadState* state = threads_.first(); state != nullptr; state = state->next)
      LiveRecords::forget_open(state->open, hooks(&context));
    live_.close(hooks(&context));
  }
  threads_.close();
  sites_.close();
  if (unload_env_ != nullptr) unload_env_->DisposeEnvironment();
  return true;
}

// --- starting and stopping

void Collector::find_layout() {
  const Services& s = services_;
  if (sizeof(void*) != 8) return;
  const void* alignment = find_vm_flag(s, "ObjectAlignmentInBytes");
  if (alignment == nullptr) return;
  uint32_t bytes;
  memcpy(&bytes, alignment, sizeof bytes);
  bool sound = bytes >= 8 && bytes <= 256 && (bytes & (bytes - 1)) == 0;
  if (!sound) return;
  layout_.alignment = bytes;
  layout_.reference_shift = vm_flag(s, "UseCompressedOops") ? 2 : 3;
  bool narrow =
      find_vm_flag(s, "UseCompressedClassPointers") == nullptr || vm_flag(s, "UseCompressedClassPointers");
  layout_.header = vm_flag(s, "UseCompactObjectHeaders") ? ObjectLayout::Header::kCompact
                   : narrow                              ? ObjectLayout::Header::kNarrow
                                                         : ObjectLayout::Header::kWide;
}

static void JNICALL count_unload(jvmtiEnv* jvmti, ...) {
  void* unloads = nullptr;
  if (jvmti->GetEnvironmentLocalStorage(&unloads) != JVMTI_ERROR_NONE || unloads == nullptr) return;
  static_cast<std::atomic<uint32_t>*>(unloads)->fetch_add(1, std::memory_order_relaxed);
}

// HotSpot tells of unloaded classes by an event of its own. It comes a little later than the class goes.
void Collector::watch_unloads() {
  auto* vm = static_cast<JavaVM*>(services_.jvm->java_vm(services_.host));
  void* env = nullptr;
  if (unload_env_ != nullptr || vm->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) return;
  unload_env_ = static_cast<jvmtiEnv*>(env);
  unload_env_->SetEnvironmentLocalStorage(&unloads_);
  jint count = 0;
  jvmtiExtensionEventInfo* events = nullptr;
  if (unload_env_->GetExtensionEvents(&count, &events) != JVMTI_ERROR_NONE) return;
  auto free = [this](void* memory) { unload_env_->Deallocate(static_cast<unsigned char*>(memory)); };
  for (jint i = 0; i < count; i++) {
    if (strcmp(events[i].id, "com.sun.hotspot.events.ClassUnload") == 0) {
      auto handler = reinterpret_cast<jvmtiExtensionEvent>(&count_unload);
      sees_unloads_ = unload_env_->SetExtensionEventCallback(events[i].extension_event_index, handler) ==
                      JVMTI_ERROR_NONE;
    }
    for (jint p = 0; p < events[i].param_count; p++) free(events[i].params[p].name);
    free(events[i].id);
    free(events[i].short_description);
    free(events[i].params);
  }
  free(events);
}

void Collector::watch_natives(JNIEnv* jni) {
  auto* jvmti = static_cast<jvmtiEnv*>(services_.jvm->jvmti(services_.host));
  jclass string = jni->FindClass("java/lang/String");
  if (string != nullptr) string_class_ = static_cast<jclass>(jni->NewGlobalRef(string));
  const char* type = services_.settings().java_version >= 9 ? "[B" : "[C";
  if (string_class_ != nullptr) string_value_ = jni->GetFieldID(string_class_, "value", type);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (string != nullptr) jni->DeleteLocalRef(string);
  if (!watch_native_objects(jvmti, &Collector::native_object, this))
    services_.log->detail(services_.host, "heap=sites: what native code makes by JNI is not seen");
}

hprof_status Collector::start_exact(JNIEnv* jni) {
  const Services& s = services_;
  if (layout_.header == ObjectLayout::Header::kUnknown) find_layout();
  if (!classes_.open(s, layout_)) return HPROF_NO_MEMORY;
  watch_unloads();
  if (!stacks_.open(s, jni, true)) {
    s.log->message(s.host, "heap=sites: the tracker class is not as it should be");
    return HPROF_FAILED;
  }
  s.bytecode->header_at(s.host, layout_.header_at());
  hprof_status status = s.bytecode->go(s.host, HPROF_PROBE_ALLOCATIONS);
  if (status == HPROF_OK && !is_prepared_) {
    is_prepared_ = true;
    if (ThreadState* state = threads_.get(jni)) {
      state->errand = Errand::kReplaceNatives;
      stacks_.call_probe(jni, 1);
      learn_frames(jni, state);
    }
    watch_natives(jni);
  }
  return status;
}

void Collector::run_errand(JNIEnv* jni, Errand errand) {
  if (errand == Errand::kLearnFrame) {
    learned_method_ = walk_.called_method(jni);
  } else if (!allocate_instances_without_events(jni)) {
    services_.log->detail(services_.host,
                          "heap=sites: the VM tells of each object of Unsafe.allocateInstance");
  }
}

// Calls each method of a probe: which Method* it is, is in the frame that was called.
void Collector::learn_frames(JNIEnv* jni, ThreadState* state) {
  const Services& s = services_;
  const char* why = "sites-walk=n";
  bool known = config_.walk != 0 && read_layout(s, jni, &walk_.layout(), &why);
  state->errand = Errand::kLearnFrame;
  for (uint32_t i = 0; known && i < WalkLayout::kProbeMethods; i++) {
    learned_method_ = 0;
    stacks_.call_probe(jni, i);
    walk_.layout().probes[i] = learned_method_;
    known = learned_method_ != 0;
    why = "its own frames were not found";
  }
  state->errand = Errand::kNone;
  if (frees_code_in_collections()) walk_.trust_code(&collections_);
  knows_methods_ = known && s.settings().java_version <= kLastWithMethodPointers &&
                   stacks_.are_pointers(walk_.layout().probes);
  proofs_left_.store(kProofs);
  walks_.store(known);
  if (known) return;
  TextLine<200> line;
  s.log->detail(s.host, line.text("heap=sites: the VM is asked for each stack: ").text(why).c_str());
}

// Since Java 20 these give the memory of compiled code back in their pauses, each of which ends with an
// event; VMs before did it at any time, others do it while the program runs.
bool Collector::frees_code_in_collections() const {
  constexpr uint32_t kFirst = 20;
  constexpr const char* kCollectors[] = {"UseSerialGC", "UseParallelGC", "UseG1GC"};
  const hprof_settings& settings = services_.settings();
  if (settings.java_version < kFirst || (settings.granted & HPROF_NEED_GC_EVENTS) == 0) return false;
  for (const char* collector : kCollectors) {
    if (vm_flag(services_, collector)) return true;
  }
  return false;
}

hprof_status Collector::start_sampled() {
  const Services& s = services_;
  auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  stacks_.open(s, nullptr, false);
  return jvmti->SetHeapSamplingInterval(static_cast<jint>(mode_.interval)) == JVMTI_ERROR_NONE ? HPROF_OK
                                                                                               : HPROF_FAILED;
}

hprof_status Collector::start() {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  collections_.fetch_add(1, std::memory_order_relaxed);  // of those while it was stopped nobody has told
  hprof_status status = mode_.sampled ? start_sampled() : start_exact(jni);
  if (status != HPROF_OK) return status;
  counts_.store(true);
  start_reaper();
  return HPROF_OK;
}

void Collector::stop() {
  counts_.store(false);
  if (!mode_.sampled) services_.bytecode->halt(services_.host, HPROF_PROBE_ALLOCATIONS);
  wanted_.store(true);
  if (reaper_ != nullptr) services_.threads->stop(services_.host, reaper_);
  wanted_.store(false);
  reaper_ = nullptr;
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
      stacks_.set_depth(static_cast<uint32_t>(control.value));
      return HPROF_OK;
    default:
      return HPROF_UNSUPPORTED;
  }
}

// --- objects that go

LiveHooks Collector::hooks(Hooks* context) const {
  return {context,
          [](void* argument, void* reference) {
            auto* at = static_cast<Hooks*>(argument);
            return at->collector->is_gone(at->jni, reference);
          },
          [](void* argument, void* reference) {
            static_cast<Hooks*>(argument)->jni->DeleteWeakGlobalRef(static_cast<jweak>(reference));
          },
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

// HotSpot clears the word that a weak reference names when its object goes. Where that has proved right often
// enough, both ways, the VM is not asked any more.
bool Collector::is_gone(JNIEnv* jni, void* reference) {
  constexpr int32_t kEnough = 1000;
  constexpr uintptr_t kTagBits = 7;
  auto* place = reinterpret_cast<const uintptr_t*>(reinterpret_cast<uintptr_t>(reference) & ~kTagBits);
  if (peeks_ >= 2 * kEnough) return __atomic_load_n(place, __ATOMIC_RELAXED) == 0;
  const bool gone = jni->IsSameObject(static_cast<jweak>(reference), nullptr) != JNI_FALSE;
  if (peeks_ < 0 || sizeof(void*) != 8 || layout_.header == ObjectLayout::Header::kUnknown) return gone;
  const bool cleared = __atomic_load_n(place, __ATOMIC_RELAXED) == 0;
  if (cleared != gone) {
    peeks_ = -1;
  } else if (peeks_ < kEnough ? gone : !gone) {
    peeks_++;
  }
  return gone;
}

void Collector::gc_finish() {
  collections_.fetch_add(1, std::memory_order_relaxed);
  if (!sees_unloads_) unloads_.fetch_add(1, std::memory_order_relaxed);
  hprof_agent_thread* reaper = reaper_;
  if (reaper != nullptr) services_.threads->wake(reaper);
}

void Collector::start_reaper() {
  if (config_.follow == 0 || reaper_ != nullptr) return;
  reaper_ = services_.threads->start(services_.host, "HPROF heap sites", &Collector::reap, this);
  if (reaper_ == nullptr)
    services_.log->message(services_.host,
                           "heap=sites: no thread to follow objects: it is done at the report");
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
  for (ThreadState* state = threads_.first(); state != nullptr; state = state->next)
    LiveRecords::look_at_open(state->open, look);
}

// --- reports

// At the VM's end, some collectors do not collect any more: it would be waited for in vain.
bool Collector::collect_garbage(uint32_t reason) const {
  const Services& s = services_;
  if (reason == HPROF_REPORT_EXIT && (vm_flag(s, "UseZGC") || vm_flag(s, "UseShenandoahGC"))) return false;
  auto* jvmti = static_cast<jvmtiEnv*>(s.jvm->jvmti(s.host));
  // The VM does not collect while a thread is in a critical region of JNI, and says that all is well.
  const uint32_t before = collections_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < kMostCollections; i++) {
    if (jvmti->ForceGarbageCollection() != JVMTI_ERROR_NONE) return false;
    if (collections_.load(std::memory_order_relaxed) != before) return true;
  }
  return false;
}

void Collector::add_up_threads() {
  for (uint32_t i = 1; i <= sites_.last(); i++) sites_[i].allocated = {};
  for (ThreadState* state = threads_.first(); state != nullptr; state = state->next) {
    const uint32_t size = state->counts.size();
    for (uint32_t i = 0; i < size; i++) {
      const Count* count = state->counts.at(i);
      Amount& sum = sites_[count->site].allocated;
      sum.objects += __atomic_load_n(&count->objects, __ATOMIC_RELAXED);
      sum.bytes += __atomic_load_n(&count->bytes, __ATOMIC_RELAXED);
    }
  }
  // Nobody looks for their ends: none is said to live.
  for (uint32_t i = 1; config_.follow == 0 && i <= sites_.last(); i++) sites_[i].freed = sites_[i].since();
}

hprof_status Collector::report(const hprof_report& report) {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  bool wants_collection = (config_.follow != 0 && (!mode_.sampled || report.reason == HPROF_REPORT_EXIT)) ||
                          (report.flags & HPROF_SITES_FORCED_GC) != 0;
  bool collected = wants_collection && jni != nullptr && collect_garbage(report.reason);
  wanted_.store(true);
  lock_.lock();
  wanted_.store(false);
  if (config_.follow != 0 && jni != nullptr) look_at_all(jni);
  add_up_threads();
  ReportWish wish = {};
  wish.incremental = (report.flags & HPROF_SITES_INCREMENTAL) != 0;
  wish.by_allocation = (report.flags & HPROF_SITES_BY_ALLOCATION) != 0 || config_.order == kByAllocation ||
                       config_.follow == 0;
  wish.forced_gc = collected;
  wish.fraction_bits = mode_.sampled ? kFractionBits : 0;
  wish.cutoff = report.cutoff;
  constexpr uint64_t kSites = HPROF_RECORD_BIT(HPROF_RECORD_ALLOC_SITES);
  constexpr uint64_t kSummary = HPROF_RECORD_BIT(HPROF_RECORD_HEAP_SUMMARY);
  hprof_status status = HPROF_OK;
  if (report.records == 0 || (report.records & kSites) != 0) {
    status = write_table(services_, sites_, wish);
    if (status == HPROF_OK) status = write_notes(collected);
  }
  if (status == HPROF_OK && (report.records & kSummary) != 0)
    status = write_summary(services_, sites::add_up(sites_, wish.fraction_bits));
  lock_.unlock();
  return status;
}

// What was allocated before does not count any more, and nobody waits for its end.
void Collector::reset() {
  auto* jni = static_cast<JNIEnv*>(services_.jvm->jni(services_.host));
  Hooks context = {this, jni};
  wanted_.store(true);
  lock_.lock();
  wanted_.store(false);
  if (jni != nullptr) {
    for (ThreadState* state = threads_.first(); state != nullptr; state = state->next)
      LiveRecords::forget_open(state->open, hooks(&context));
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

using Line = TextLine<512>;

static hprof_status write_note(const Services& services, const Line& line) {
  hprof_rec_note note = {{sizeof(note), HPROF_RECORD_NOTE, 0}, {line.c_str(), line.size()}};
  hprof_status status = services.emit->write(services.host, &note.head);
  return status == HPROF_UNSUPPORTED ? HPROF_OK : status;
}

static void add_reason(void* argument, const char* words, uint64_t classes, uint64_t methods) {
  auto* line = static_cast<Line*>(argument);
  line->text(line->size() == 0 ? "heap=sites: without probes: " : ", ").text(words).text(" (");
  if (classes != 0) line->number(classes).text(" classes");
  if (classes != 0 && methods != 0) line->text(", ");
  if (methods != 0) line->number(methods).text(" methods");
  line->text(")");
}

hprof_status Collector::write_notes(bool collected) {
  const Services& s = services_;
  Line line;
  if (mode_.sampled) {
    line.text("heap=sites: sampled, one sample in ").number(mode_.interval);
    line.text(" bytes (sites=sampled); all numbers are estimates of what was allocated");
  } else {
    line.text("heap=sites: each object made by Java code is counted (sites=exact), and ");
    line.number(vm_objects_.load(std::memory_order_relaxed))
        .text(" that the VM and JNI made for native methods; ");
    line.text("others that the VM makes, and those from before it had started, are not seen");
  }
  hprof_status status = write_note(s, line);
  if (status == HPROF_OK) {
    line.clear();
    if (config_.follow == 0) {
      line.text(
          "heap=sites: objects were not followed to their end (sites-live=n): how many live is not known");
    } else {
      line.text("heap=sites: live is what was there ");
      line.text(collected ? "after a garbage collection for this report"
                          : "after the last garbage collection");
    }
    status = write_note(s, line);
  }
  uint64_t asked[kAskedReasons] = {};
  for (ThreadState* state = threads_.first(); state != nullptr; state = state->next) {
    for (uint32_t i = 0; i < kAskedReasons; i++) asked[i] += state->asked[i];
  }
  line.clear();
  line.text("heap=sites: the VM was asked for ").number(asked[kAskedNew]).text(" stacks that were new, ");
  line.number(asked[kAskedProof]).text(" to prove those that were known, ");
  line.number(asked[kAskedUnknown]).text(" that were not understood, and for ");
  line.number(asked[kAskedVmObject]).text(" callers of native methods");
  if (status == HPROF_OK && !mode_.sampled) status = write_note(s, line);
  Line left;
  if (!mode_.sampled) s.bytecode->each_left(s.host, &left, &add_reason);
  if (status == HPROF_OK && left.size() != 0) status = write_note(s, left);
  return status;
}

}  // namespace hprof::sites
