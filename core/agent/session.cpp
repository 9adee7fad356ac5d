#include "core/agent/session.h"

#include <cstdio>
#include <cstring>

#include "core/agent/capabilities.h"
#include "core/base/build.h"

namespace hprof {

namespace {

constexpr uint64_t kStallNs =
    10ull * 1000 * 1000 * 1000;  // an output that takes nothing for so long is given up
constexpr uint32_t kEventSlots = 4096;
constexpr uint32_t kChunks = 4;
constexpr uint32_t kChunkBytes = 64 * 1024;
constexpr uint32_t kDumpChunks = 8;  // heap dumps; memory only once it is written to
constexpr uint32_t kDumpChunkBytes = 256 * 1024;
// With a small memory budget: what the buffers may take of it.
constexpr uint64_t kSmallBudget = 16u << 20;  // bytes; up to here it is taken at the start, all of it
constexpr uint32_t kSmallEventSlots = 256;
constexpr uint32_t kSmallChunkBytes = 16 * 1024;
// With a very small one.
constexpr uint32_t kFewestEventSlots = 64;
constexpr uint32_t kLeastChunkBytes = 4 * 1024;
constexpr uint64_t kLeastMemory = 192 * 1024;
// Beside the block: the stacks of the agent's threads and the library's data. 40 KiB were measured on x86_64.
constexpr uint64_t kBesideMemory = 64 * 1024;

bool is_small(uint64_t max_memory) { return max_memory != 0 && max_memory <= kSmallBudget; }

// Java's feature release, of the VM's property java.vm.specification.version ("1.8", "17").
uint32_t java_version(jvmtiEnv* jvmti) {
  char* text = nullptr;
  if (jvmti->GetSystemProperty("java.vm.specification.version", &text) != JVMTI_ERROR_NONE) return 0;
  const char* digits = strncmp(text, "1.", 2) == 0 ? text + 2 : text;
  uint32_t version = 0;
  for (; *digits >= '0' && *digits <= '9' && version < 10000; digits++) {
    version = version * 10 + static_cast<uint32_t>(*digits - '0');
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(text));
  return version;
}

}  // namespace

// One write, so that the line is not torn.
static void print_error(const char* text) {
  char line[700];
  snprintf(line, sizeof(line), "%s\n", text);
  platform::write_stderr(line);
}

bool Session::fail(const char* text) {
  char line[600];
  snprintf(line, sizeof(line), "HPROF ERROR: %s", text);
  print_error(line);
  return false;
}

void Session::say(const char* text) const {
  char line[700];
  snprintf(line, sizeof(line), "HPROF: %s\n", text);
  platform::write_stderr(line);
}

void Session::say_detail(const char* text) const {
  if (setup_.core().shows_details()) say(text);
}

JNIEnv* Session::jni() const {
  void* env = nullptr;
  return vm_->GetEnv(&env, JNI_VERSION_1_6) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
}

// The function table of the JavaVM lies in the VM's library.
void* Session::vm_symbol(const char* name) const {
  if (!kHasModules) return platform::symbol_in_process(name);
  return platform::symbol_in_library_of(reinterpret_cast<const void*>(vm_->functions->GetEnv), name);
}

Configured Session::load(JavaVM* vm, const char* options, bool attached) {
  vm_ = vm;
  settings_.attached = attached ? 1 : 0;
  losses_.open();
  Messages messages = {[](void* self, bool detail, const char* text) {
                         auto* session = static_cast<Session*>(self);
                         detail ? session->say_detail(text) : session->say(text);
                       },
                       this};
  Configured configured = setup_.prepare(options, messages);
  if (configured == Configured::kFailed) print_error(setup_.error().text);
  if (configured != Configured::kRun) return configured;
  bool ready = open_memory() && get_environment() && make_units() && ask_for_capabilities() &&
               create_tables() && open_control() && open_pipeline() && create_collectors();
  return ready ? Configured::kRun : Configured::kFailed;
}

bool Session::start_attached() {
  JNIEnv* env = jni();
  jthread self = nullptr;
  if (env == nullptr || jvmti_->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return false;
  on_vm_init(env, self);
  env->DeleteLocalRef(self);
  return true;
}

// An embedded agent takes all of its memory here; the session itself, which is there already, is a part of
// it.
bool Session::open_memory() {
  const uint64_t most = setup_.core().max_memory;
  const MemorySource source = {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy,
                               platform::release_lazy};
  settings_.max_memory = most;
  if (!kEmbedded) {
    memory_.open(source, most);
    return true;
  }
  if (most < sizeof(Session) + kLeastMemory) {
    char text[120];
    snprintf(text, sizeof(text), "max-memory=: this build needs a limit, of at least %u bytes",
             static_cast<unsigned>(sizeof(Session) + kLeastMemory));
    return fail(text);
  }
  auto pause = [] { platform::sleep_ns(50'000); };
  return memory_.open_fixed(source, most - sizeof(Session) - kBesideMemory, pause) ||
         fail("not enough memory for max-memory=");
}

bool Session::get_environment() {
  void* env = nullptr;
  if (vm_->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) return fail("this VM has no JVMTI 1.2");
  jvmti_ = static_cast<jvmtiEnv*>(env);
  if (!events_.attach_to(jvmti_, this)) return fail("the VM refuses JVMTI callbacks");
  auto symbol = [](void* self, const char* name) { return static_cast<Session*>(self)->vm_symbol(name); };
  vm_structs_.load(symbol, this);
  return true;
}

bool Session::add_slot(UnitSlot& slot, uint32_t unit_index) {
  const Unit& unit = setup_.unit(unit_index);
  slot.unit = unit.record;
  slot.config = unit.config;
  make_host(slot, this, &settings_);
  return unit.record->ops != nullptr;
}

bool Session::make_units() {
  const CoreConfig& core = setup_.core();
  const Selection& selection = setup_.selection();
  settings_.size = sizeof(settings_);
  settings_.depth = static_cast<uint32_t>(core.depth);
  settings_.line_numbers = core.line_numbers;
  settings_.thread_in_traces = core.thread_in_traces;
  settings_.verbose = core.verbose;
  settings_.java_version = java_version(jvmti_);
  settings_.cutoff = core.cutoff;
  settings_.raw_names = core.raw_names;
  if (selection.collector_count > kMostCollectors) return fail("too many collectors at once");
  for (uint32_t i = 0; i < selection.collector_count; i++) {
    CollectorSlot& slot = collectors_[i];
    if (!add_slot(slot, selection.collectors[i])) return fail("a collector has no operations");
    slot.ops = static_cast<const hprof_collector_ops*>(slot.unit->ops);
    slot.index = i;
    collector_count_++;
  }
  if (collector_count_ == 0) return true;
  if (!add_slot(encoder_, selection.encoder) || !add_slot(sink_, selection.sink)) return false;
  auto* encoder = static_cast<const hprof_encoder_ops*>(encoder_.unit->ops);
  auto* sink = static_cast<const hprof_sink_ops*>(sink_.unit->ops);
  settings_.heap_form = HPROF_REACHES(encoder, hprof_encoder_ops, heap_form) ? encoder->heap_form : 0;
  if (selection.filter != UINT32_MAX && !add_slot(filter_, selection.filter)) return false;
  settings_.patchable = HPROF_HAS(sink, hprof_sink_ops, patch) && filter_.unit == nullptr ? 1 : 0;
  return true;
}

// Of the collectors: the others have none.
void Session::add_up_needs() {
  needs_ = wants_ = 0;
  for (uint32_t i = 0; i < collector_count_; i++) {
    const CollectorSlot& slot = collectors_[i];
    needs_ |= slot.varies ? slot.unit->variant->needs : slot.unit->needs;
    wants_ |= slot.varies ? slot.unit->variant->wants : slot.unit->wants;
  }
}

bool Session::ask_for_capabilities() {
  if (collector_count_ == 0) return true;
  bool varied = false;
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    slot.varies =
        HPROF_HAS(slot.unit, hprof_unit, variant) && setup_.selects_pattern(slot.unit->variant->when);
    varied = varied || slot.varies;
  }
  add_up_needs();
  if (varied) {
    uint64_t granted = add_capabilities(jvmti_, needs_);
    for (uint32_t i = 0; i < collector_count_; i++) {
      CollectorSlot& slot = collectors_[i];
      if (slot.varies && (slot.unit->variant->needs & ~granted) != 0) slot.varies = false;
    }
    add_up_needs();
  }
  uint64_t needs = needs_, wants = wants_;
  // Names of frames are the core's business: source files and lines wherever methods are named.
  wants |= HPROF_NEED_SOURCE_FILE | (settings_.line_numbers != 0 ? HPROF_NEED_LINE_NUMBERS : 0);
  if ((needs & HPROF_NEED_METHOD_BOOK) != 0) wants |= HPROF_NEED_GC_EVENTS;
  settings_.granted = add_capabilities(jvmti_, needs | wants) & ~HPROF_NEED_PRECISE_CODE;
  if (((needs | wants) & HPROF_NEED_PRECISE_CODE) != 0 && vm_structs_.turn_on("DebugNonSafepoints")) {
    settings_.granted |= HPROF_NEED_PRECISE_CODE;
  }
  for (uint32_t bit = 0; bit < HPROF_NEED_COUNT; bit++) {
    uint64_t mask = 1ull << bit;
    char text[160];
    if ((settings_.granted & mask) != 0) {
      snprintf(text, sizeof(text), "capability %s", need_name(bit));
      say_detail(text);
    } else if ((needs & mask) != 0) {
      snprintf(text, sizeof(text), "this VM does not grant %s%s, which the chosen options need",
               need_name(bit), settings_.attached != 0 ? " after it has started" : "");
      return fail(text);
    }
  }
  return true;
}

bool Session::create_tables() {
  if (collector_count_ == 0) return true;
  Backing backing =
      memory_.is_fixed() || is_small(setup_.core().max_memory) ? Backing::kFixed : Backing::kLazy;
  ModelLimits limits =
      backing == Backing::kFixed ? ModelLimits::fixed(setup_.core().max_memory / 2) : ModelLimits::standard();
  if (is_very_small()) {
    limits = ModelLimits::small(memory_.budget() / 8 * 5, ((needs_ | wants_) & HPROF_NEED_METHOD_BOOK) != 0);
  }
  Status created = model_.create(memory_, limits, losses_, settings_.raw_names != 0);
  if (!created.ok()) return fail(created.text);
  ClassBook::Options options = {settings_.line_numbers != 0,
                                (settings_.granted & HPROF_NEED_LINE_NUMBERS) != 0,
                                (settings_.granted & HPROF_NEED_SOURCE_FILE) != 0};
  if (!classes_.create(jvmti_, &memory_, &model_, &losses_, options, setup_.core().max_memory))
    return fail("not enough memory for the book of methods");
  threads_.create(jvmti_, &memory_, &model_, &Session::announce_thread, this);
  if (setup_.selects("redact", "full")) threads_.hide_names();
  return true;
}

bool Session::open_pipeline() {
  if (collector_count_ == 0) return true;
  const CoreConfig& core = setup_.core();
  bool small = is_small(core.max_memory);
  PipelinePlan plan = {};
  plan.output = {&encoder_.host,
                 static_cast<const hprof_encoder_ops*>(encoder_.unit->ops),
                 encoder_.config,
                 &sink_.host,
                 static_cast<const hprof_sink_ops*>(sink_.unit->ops),
                 sink_.config,
                 setup_.address(),
                 core.force,
                 kChunks,
                 small ? kSmallChunkBytes : kChunkBytes,
                 kStallNs,
                 [](const hprof_host* host, const char* text) { slot_of(host)->session->say(text); },
                 0};
  if (filter_.unit != nullptr) {
    plan.output.filter_host = &filter_.host;
    plan.output.filter = static_cast<const hprof_filter_ops*>(filter_.unit->ops);
    plan.output.filter_config = filter_.config;
  }
  plan.event_slots = small ? kSmallEventSlots : kEventSlots;
  if (is_very_small()) {
    plan.event_slots = kFewestEventSlots;
    plan.output.chunk_bytes = kLeastChunkBytes;
  }
  if (memory_.is_fixed()) {
    const ModelLimits& limits = model_.limits();
    plan.output.most_numbers = limits.strings > limits.frames ? limits.strings : limits.frames;
    if (plan.output.most_numbers < limits.traces) plan.output.most_numbers = limits.traces;
  }
  plan.id_size = sizeof(void*);
  plan.heap_dump = setup_.emits(HPROF_RECORD_HEAP_DUMP_BEGIN);
  if (plan.heap_dump) {
    plan.output.chunks = kDumpChunks;
    plan.output.chunk_bytes = kDumpChunkBytes;
  }
  plan.bare = setup_.selects("cpu", "old");
  // Readers of binary dumps want one in a file; the file sink numbers the later ones.
  bool is_connection = HPROF_HAS(plan.output.sink, hprof_sink_ops, read);
  plan.output_per_report =
      strstr(setup_.address(), "%n") != nullptr ||
      (plan.heap_dump && (settings_.heap_form & HPROF_HEAP_ONE_A_FILE) != 0 && !is_connection);
  plan.output.whole_only =
      plan.heap_dump && (settings_.heap_form & HPROF_HEAP_ONE_A_FILE) != 0 && !is_connection ? 1 : 0;
  plan.settings = {{sizeof(plan.settings), HPROF_RECORD_CONTROL_SETTINGS, 0},
                   setup_.emits(HPROF_RECORD_ALLOC_SITES) ? 1u : 0u,
                   setup_.emits(HPROF_RECORD_CPU_SAMPLES) ? 1u : 0u,
                   settings_.depth,
                   0};
  plan.losses = &losses_;
  char error[400] = "";
  if (pipeline_.open(memory_, plan, error, sizeof(error)) == HPROF_OK) return true;
  return fail(error);
}

// Before the output: a file that exists already is not replaced by a session that does not come to be.
bool Session::open_control() {
  Error error;
  if (collector_count_ == 0 || server_.open(setup_.core(), &error)) return true;
  print_error(error.text);
  return false;
}

// The engine is a module of its own, opened when a unit that runs hooks classes; it must be of this build.
bool Session::offer_rewriting() {
  uint64_t hooks = HPROF_NEED_CLASS_HOOKS | HPROF_NEED_EARLY_CLASS_HOOKS;
  if (((needs_ | wants_) & hooks) == 0) return true;
  const hprof_unit* unit = setup_.open_internal(kEngineModule);
  if (unit == nullptr || unit->kind != HPROF_UNIT_ENGINE)
    return fail("the module bytecode, which the chosen options need, is not in this build");
  auto* engine = static_cast<const EngineTable*>(unit->ops);
  if (engine->size != sizeof(EngineTable) || engine->version != kEngineVersion)
    return fail("the module bytecode is of another version");
  rewriter_.offer(this, engine);
  return true;
}

bool Session::create_collectors() {
  if (!offer_rewriting()) return false;
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    if (slot.ops->create(&slot.host, slot.config, &slot.self) != HPROF_OK) {
      char text[160];
      snprintf(text, sizeof(text), "collector %s cannot be created", slot.unit->id);
      return fail(text);
    }
  }
  if (!rewriter_.begin()) return fail("not enough memory for the class-file engine");
  if (rewriter_.is_active()) enable_events();
  return true;
}

void Session::announce_thread(void* self, uint32_t serial, bool started) {
  hprof_rec_definition record = {
      {sizeof(record), started ? HPROF_RECORD_THREAD_START + 0u : HPROF_RECORD_THREAD_END + 0u, 0},
      serial,
      0};
  static_cast<Session*>(self)->pipeline_.event(&record.head);
}

uint32_t Session::add_vendor_kind(const hprof_schema* schema) {
  if (schema == nullptr || schema->field_count > HPROF_VENDOR_FIELDS) return 0;
  return vendor_kinds_ <= HPROF_RECORD_VENDOR_LAST - HPROF_RECORD_VENDOR_FIRST
             ? HPROF_RECORD_VENDOR_FIRST + vendor_kinds_++
             : 0;
}

}  // namespace hprof
