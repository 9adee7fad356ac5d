#include "core/agent/session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <hprof/draft/foreign_dump.h>
#include <hprof/tables.h>

#include "core/agent/unit_checks.h"
#include "core/base/build.h"
#include "core/base/status.h"
#include "core/base/unit_text.h"
#include "core/plugin/verify.h"

namespace hprof {

namespace {

constexpr uint64_t kStallNs =
    10ull * 1000 * 1000 * 1000;  // an output that accepts nothing for this long is given up
constexpr uint32_t kEventSlots = 4096;
constexpr uint32_t kChunks = 4;
constexpr uint32_t kChunkBytes = 64 * 1024;
constexpr uint32_t kDumpChunks = 8;  // heap dumps; memory only once it is written to
constexpr uint32_t kDumpChunkBytes = 256 * 1024;
constexpr uint64_t kLittleMemory = 8u << 20;
// With a small memory budget: the buffers' share of it.
constexpr uint64_t kSmallBudget = 16u << 20;  // bytes; budgets up to this are taken whole at the start
constexpr uint32_t kSmallEventSlots = 256;
constexpr uint32_t kSmallChunkBytes = 16 * 1024;
// With a very small one.
constexpr uint32_t kFewestEventSlots = 64;
constexpr uint32_t kLeastChunkBytes = 4 * 1024;
constexpr uint64_t kLeastMemory = 192 * 1024;
// Outside of the block: the stacks of the agent's threads and the library's data. 40 KiB measured on x86_64.
constexpr uint64_t kBesideMemory = 64 * 1024;

constexpr uint64_t kMemoryStep = 1024;
constexpr uint64_t kSinkMemory = 24 * 1024;  // what sinks take: names of files and hosts
// Taken when the VM starts: by the agent's threads; where methods are named, by the classes; by the
// class-file engine for its first and largest classes.
constexpr uint64_t kStartMemory = 16 * 1024;
constexpr uint64_t kBookMemory = 64 * 1024;
constexpr uint64_t kEngineMemory = 160 * 1024;

bool is_small(uint64_t max_memory) { return max_memory != 0 && max_memory <= kSmallBudget; }

// Java's feature release, from the VM's property java.vm.specification.version ("1.8", "17").
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
  char line[sizeof(Error::text) + 1];
  snprintf(line, sizeof(line), "%s\n", text);
  platform::write_stderr(line);
}

AttachReply* Session::asker() const {
  const uint32_t thread = asker_thread_.load(std::memory_order_relaxed);
  const bool ours = thread != 0 && thread == static_cast<uint32_t>(platform::current_thread_id());
  return ours ? asker_ : nullptr;
}

void Session::set_asker(AttachReply* asker) {
  asker_ = asker;
  asker_thread_.store(asker != nullptr ? static_cast<uint32_t>(platform::current_thread_id()) : 0,
                      std::memory_order_relaxed);
}

void Session::describe(AttachReply* asker) {
  char text[200];
  TextWriter names(text, sizeof(text));
  for (uint32_t i = 0; i < collector_count_; i++) {
    if (i != 0) names.put(", ");
    names.put(collectors_[i].unit->id);
  }
  asker->field("collectors", names.text());
  asker->field("state", is_collecting() ? "running" : "idle");
  char path[kOutputNameMost];
  asker->field("output", output_name(path));
  if (!pipeline_.is_duplex()) asker->field("mode", setup_.value_of("mode", "0600"));
  if (server_.path()[0] != '\0') asker->field("control", server_.path());
}

// `text` begins with "HPROF ERROR: ".
void Session::complain(const char* text) const {
  AttachReply* to = asker();
  to != nullptr ? to->problem(text) : print_error(text);
}

bool Session::fail(const char* text) const {
  char line[600];
  snprintf(line, sizeof(line), "HPROF ERROR: %s", text);
  complain(line);
  return false;
}

void Session::refuse_start(const char* text) {
  fail(text);
  server_.remove_path();
  exit(1);
}

void Session::say(const char* text) const {
  if (AttachReply* to = asker()) return to->line(text);
  if (kHasControl) words_.keep(text);
  char line[700];
  snprintf(line, sizeof(line), "HPROF: %s\n", text);
  platform::write_stderr(line);
}

void Session::say_detail(const char* text) const {
  if (setup_.core().shows_details()) say(text);
}

JNIEnv* SessionParts::jni() const {
  void* env = nullptr;
  return vm->GetEnv(&env, JNI_VERSION_1_6) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
}

// The JavaVM's functions lie in the VM's library, unless another agent has replaced GetEnv.
void* SessionParts::vm_symbol(const char* name) const {
  if (!kHasModules) return platform::symbol_in_process(name);
  return platform::symbol_in_library_of(reinterpret_cast<const void*>(vm->functions->DestroyJavaVM), name);
}

Messages Session::messages() {
  return {[](void* self, bool detail, const char* text) {
            auto* session = static_cast<Session*>(self);
            detail ? session->say_detail(text) : session->say(text);
          },
          this};
}

Configured Session::configure(JavaVM* vm, const char* options, bool attached) {
  parts_.vm = vm;
  settings_.attached = attached ? 1 : 0;
  losses_.open();
  AttachReply* to = asker();
  const TextOut help = {[](void* self, Str text) { static_cast<AttachReply*>(self)->text(text); }, to};
  if (to != nullptr) setup_.set_asker(to->folder(), help);
  Configured configured = setup_.prepare(options, messages());
  if (configured == Configured::kFailed) {
    const char* text = setup_.error().text;
    // Attached without `hprof attach`, so by jcmd, which takes text after a '=' as its own.
    const bool cut = attached && to == nullptr && strstr(text, " has no value (") != nullptr;
    char line[sizeof(Error::text) + 100];
    TextWriter(line, sizeof(line))
        .put(text)
        .put(cut ? "; jcmd cuts at '=': quote it, '\"cpu=samples\"'" : "");
    complain(line);
  }
  return configured;
}

bool Session::load() {
  bool ready = open_memory() && get_environment() && make_units() && ask_for_capabilities() &&
               create_tables() && open_control() && prepare_pipeline() && create_collectors() &&
               open_output();
  memory_.settle();
  // Without the tracker class probes would call a class that does not exist.
  if (ready && (rewriter_.is_active() || class_files_.has_handlers()))
    ready = enable_events() || fail("the VM refuses the events needed to change class files");
  // The VM ends without another call of the agent.
  if (!ready) server_.remove_path();
  return ready;
}

bool Session::start_attached() {
  JNIEnv* env = jni();
  jthread self = nullptr;
  if (env == nullptr || parts_.jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return false;
  on_vm_init(env, self);
  env->DeleteLocalRef(self);
  return true;
}

// An embedded agent takes all of its memory here; it includes the session itself, which exists already.
bool Session::open_memory() {
  const uint64_t most = setup_.core().max_memory;
  const MemorySource source = {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy,
                               platform::release_lazy};
  settings_.max_memory = most;
  if (!kEmbedded) {
    memory_.open(source, most);
    memory_.lift();
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

// The share of a small memory for the tables of names.
uint64_t Session::room_of_tables(uint64_t most) {
  return is_small(most) ? ModelLimits::fixed(most / 2).room() : 0;
}

// Of the memory that is left when the VM has started. A quarter: a collector with more to report than fits
// into that would have to limit itself; of little memory reports get less.
uint64_t Session::kept_for_reports(uint64_t budget, uint64_t left) {
  const uint64_t part = budget / (budget < kLittleMemory ? 16 : 4);
  return part < left / 2 ? part : left / 2;
}

// Called when everything except the sink exists. The tables' room grows with max-memory=. Collectors that
// start may have half of what is kept for reports.
bool Session::has_enough_memory(char* error, uint32_t size) {
  const uint64_t most = setup_.core().max_memory;
  if (!memory_.settle() || most == 0) return true;
  const uint64_t others = memory_.peak() + kSinkMemory - room_of_tables(most);
  uint64_t least = most;
  const auto fits = [&](uint64_t budget) {
    const uint64_t used = others + room_of_tables(budget);
    if (budget < used) return false;
    const uint64_t left = budget - used;
    return left - kept_for_reports(budget, left) / 2 >= needed_later_;
  };
  while (!fits(least)) least += kMemoryStep;
  if (least == most) return true;
  snprintf(error, size, "max-memory=%lluk is not enough for these options: at least %lluk is needed",
           static_cast<unsigned long long>(most / 1024),
           static_cast<unsigned long long>((least + 1023) / 1024));
  return false;
}

bool Session::get_environment() {
  void* env = nullptr;
  jint code = parts_.vm->GetEnv(&env, JVMTI_VERSION_1_2);
  // An agent that is attached while the VM starts gets none before the live phase.
  for (uint32_t i = 0; code == JNI_EDETACHED && i < 1000; ++i) {
    platform::sleep_ns(10 * platform::kNanosPerMilli);
    code = parts_.vm->GetEnv(&env, JVMTI_VERSION_1_2);
  }
  if (code != JNI_OK) return fail("this VM has no JVMTI 1.2");
  parts_.jvmti = static_cast<jvmtiEnv*>(env);
  if (!events_.attach_to(parts_.jvmti, this)) return fail("the VM refuses JVMTI callbacks");
  auto symbol = [](void* self, const char* name) {
    return static_cast<Session*>(self)->parts_.vm_symbol(name);
  };
  hotspot_.open(setup_.core().hotspot_off, symbol, this, messages());
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
  settings_.java_version = java_version(parts_.jvmti);
  settings_.cutoff = core.cutoff;
  settings_.raw_names = core.raw_names;
  if (selection.collector_count > kMostCollectors) return fail("too many collectors at once");
  for (uint32_t i = 0; i < selection.collector_count; i++) {
    CollectorSlot& slot = collectors_[i];
    if (!add_slot(slot, selection.collectors[i])) return fail("a collector has no operations");
    slot.ops = static_cast<const hprof_collector_ops*>(slot.unit->ops);
    if (HPROF_HAS(slot.ops, hprof_collector_ops, handlers)) {
      const hprof_handlers* handlers = slot.ops->handlers;
      hprof_copy_sized(&slot.handlers, sizeof(slot.handlers), handlers, handlers->size);
    }
    slot.index = i;
    collector_count_++;
  }
  if (setup_.is_without_effect()) return true;
  if (!add_slot(encoder_, selection.encoder) || !add_slot(sink_, selection.sink)) return false;
  auto* encoder = static_cast<const hprof_encoder_ops*>(encoder_.unit->ops);
  choose_depth(encoder);
  settings_.heap_form = HPROF_REACHES(encoder, hprof_encoder_ops, heap_form) ? encoder->heap_form : 0;
  if (selection.filter != UINT32_MAX && !add_slot(filter_, selection.filter)) return false;
  return true;
}

bool Session::takes_foreign_dumps(uint32_t streams) const {
  return encoder_.unit != nullptr && hprof_is_listed(encoder_.unit->records, HPROF_KIND_FOREIGN_DUMP) != 0 &&
         (streams == 1 || can_patch());
}

bool Session::can_patch() const {
  return sink_.unit != nullptr && filter_.unit == nullptr &&
         HPROF_HAS(static_cast<const hprof_sink_ops*>(sink_.unit->ops), hprof_sink_ops, patch);
}

// The encoder's depth holds if the user gave none.
void Session::choose_depth(const hprof_encoder_ops* encoder) {
  const bool is_typed = setup_.value_of("depth", nullptr) != nullptr;
  if (is_typed || !HPROF_REACHES(encoder, hprof_encoder_ops, least_depth)) return;
  if (encoder->least_depth > settings_.depth) set_depth(encoder->least_depth);
}

// Only if the format has a place for it. Not after a heap dump with a file of its own, and not with a small
// memory.
bool Session::records_unloads() const {
  if (!is_taken(encoder_.unit->records, HPROF_KIND_CLASS_UNLOAD)) return false;
  return !has_dump_a_file() && !memory_.is_fixed() && !is_small(setup_.core().max_memory);
}

// Readers of binary dumps expect one per file; the file sink numbers the later ones.
bool Session::has_dump_a_file() const {
  const bool is_connection =
      HPROF_HAS(static_cast<const hprof_sink_ops*>(sink_.unit->ops), hprof_sink_ops, read);
  return setup_.emits(HPROF_KIND_HEAP_DUMP_BEGIN) && (settings_.heap_form & HPROF_HEAP_ONE_A_FILE) != 0 &&
         !is_connection;
}

// The same for encoders that make a document of each report. On a connection, and for a sink with
// begin_report, one output can hold several.
bool Session::has_document_a_file() const {
  auto* encoder = static_cast<const hprof_encoder_ops*>(encoder_.unit->ops);
  auto* sink = static_cast<const hprof_sink_ops*>(sink_.unit->ops);
  return HPROF_REACHES(encoder, hprof_encoder_ops, flags) &&
         (encoder->flags & HPROF_ENCODER_DOCUMENTS) != 0 && !HPROF_HAS(sink, hprof_sink_ops, read) &&
         !HPROF_HAS(sink, hprof_sink_ops, begin_report);
}

bool Session::create_tables() {
  if (setup_.is_without_effect()) return true;
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
  loaders_.create(parts_.jvmti, &memory_);
  const bool every_class = is_subscribed(HPROF_EVENT_CLASS_UNLOAD);
  if ((every_class || records_unloads()) && !unloads_.open(memory_, model_.limits().classes, every_class)) {
    return fail("not enough memory to watch classes");
  }
  if (!classes_.create(parts_.jvmti, &memory_, &model_, &loaders_, &unloads_, &losses_, options,
                       setup_.core().max_memory))
    return fail("not enough memory for the book of methods");
  threads_.create(parts_.jvmti, &memory_, &model_, &Session::announce_thread, this);
  if (setup_.selects("redact", "full")) threads_.hide_names();
  return true;
}

bool Session::prepare_pipeline() {
  if (setup_.is_without_effect()) return true;
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
                 setup_.existing(settings_.attached != 0),
                 kChunks,
                 small ? kSmallChunkBytes : kChunkBytes,
                 kStallNs,
                 [](const hprof_host* host, const char* text) {
                   Session* session = slot_of(host)->session;
                   if (kHasControl) session->output_words_.keep(text);
                   session->say(text);
                 },
                 [](const hprof_host* host, const char* text) {
                   hprof::complain(*slot_of(host), Complaint::kBuffer, text);
                 },
                 0};
  plan.output.taken.resolve(encoder_.unit->records, &kinds_);
  if (filter_.unit != nullptr) {
    plan.output.filter_host = &filter_.host;
    plan.output.filter = static_cast<const hprof_filter_ops*>(filter_.unit->ops);
    plan.output.filter_config = filter_.config;
  }
  plan.output.dump_stall_ns = static_cast<uint64_t>(core.dump_stall * platform::kNanosPerSecond);
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
  plan.heap_dump = setup_.emits(HPROF_KIND_HEAP_DUMP_BEGIN);
  if (plan.heap_dump) {
    plan.output.chunks = kDumpChunks;
    plan.output.chunk_bytes = kDumpChunkBytes;
  }
  plan.alone = setup_.selects("cpu", "old") ? HPROF_TABLE_CPU_OLD : nullptr;
  plan.output_per_part = has_document_a_file();
  plan.output_per_report =
      strstr(setup_.address(), "%n") != nullptr || has_dump_a_file() || plan.output_per_part;
  plan.output.whole_only = has_dump_a_file() ? 1 : 0;
  if (kEmbedded && core.keep_files != 0) return fail("keep-files= is not in this build");
  plan.keep_outputs = static_cast<uint32_t>(core.keep_files);
  if (plan.keep_outputs != 0 && !HPROF_HAS(plan.output.sink, hprof_sink_ops, remove))
    return fail("keep-files= needs an output in files (file=)");
  // The user who attaches can read the error.
  plan.retries =
      HPROF_HAS(plan.output.sink, hprof_sink_ops, read) && core.net_retry != 0 && settings_.attached == 0;
  plan.settings = {{sizeof(plan.settings), HPROF_RECORD_CONTROL_SETTINGS, 0},
                   setup_.emits(HPROF_TABLE_ALLOC_SITES) ? 1u : 0u,
                   setup_.emits(HPROF_TABLE_CPU_SAMPLES) ? 1u : 0u,
                   settings_.depth,
                   0};
  plan.losses = &losses_;
  plan.no_output = collector_count_ != 0;
  for (uint32_t i = 0; i < collector_count_; i++) {
    plan.no_output = plan.no_output && (collectors_[i].unit->flags & HPROF_UNIT_NO_OUTPUT) != 0;
  }
  if constexpr (kChecks) plan.output.gave_back = &check_given_back;
  plan.output.may_open = [](const hprof_host* host, char* why, uint32_t size) {
    return slot_of(host)->session->has_enough_memory(why, size);
  };
  char error[400] = "";
  return pipeline_.prepare(memory_, plan, error, sizeof(error)) == HPROF_OK || fail(error);
}

// Last of all: a session that fails to start does not touch an existing file of the output's name.
bool Session::open_output() {
  if (setup_.is_without_effect()) return true;
  char error[400] = "";
  return pipeline_.open(error, sizeof(error)) == HPROF_OK || fail(error);
}

// An attached agent accepts commands; if no socket can be made, by attaching again.
bool Session::open_control() {
  if (setup_.is_without_effect()) return true;
  Error error;
  CoreConfig core = setup_.core();
  const bool by_attach =
      kHasControl && settings_.attached != 0 && core.control == nullptr && core.listen == nullptr;
  if (by_attach) core.control = "y";
  if (server_.open(core, &error)) return true;
  if (!by_attach) return fail(error.text);
  char text[sizeof(error.text) + 80];
  TextWriter(text, sizeof(text))
      .put("no socket for commands: ")
      .put(error.text)
      .put(server_.has_local_sockets() ? "; hprof attach PID command=... needs none"
                                       : ", or jcmd PID JVMTI.agent_load LIBRARY '\"command=...\"'");
  say(text);
  return true;
}

// The engine is a separate module, opened when a running unit hooks classes; it must be of this build.
bool Session::offer_rewriting() {
  uint64_t hooks = HPROF_NEED_CLASS_HOOKS | HPROF_NEED_EARLY_CLASS_HOOKS;
  if (((needs_ | wants_) & hooks) == 0) return true;
  const hprof_unit* unit = setup_.open_internal(kEngineModule);
  if (unit == nullptr && (needs_ & hooks) == 0) return true;
  if (unit == nullptr || unit->kind != kUnitEngine)
    return fail("the module bytecode, which the chosen options need, is not in this build");
  auto* engine = static_cast<const EngineTable*>(unit->ops);
  if (engine->size != sizeof(EngineTable) || engine->version != kEngineVersion)
    return fail("the module bytecode is of another version");
  rewriter_.offer(&parts_, engine,
                  {this, [](void* self) { return !static_cast<Session*>(self)->meets_rival(); },
                   [](void* self) { static_cast<Session*>(self)->enable_events(); }});
  return true;
}

bool Session::create_collectors() {
  if (!offer_rewriting()) return false;
  uint32_t left_out = 0;
  memory_.forget_peak();
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    UnitText error;
    hprof_status status = HPROF_OK;
    {
      const Place place(tag::kOnLoad);
      status = slot.ops->create(&slot.host, slot.config, &slot.self, error.room(), UnitText::kSize);
    }
    needed_later_ += memory_.forget_peak();
    if (!error.is_kept()) {
      hprof::complain(slot, Complaint::kBuffer, "it wrote past the end of its error text");
    }
    if (status != HPROF_OK) {
      if constexpr (kChecks) check_given_back(slot);
      slot.self = nullptr;  // the unit has freed everything
      slot.gone.store(true, std::memory_order_relaxed);
      char text[400];
      const char* why = error.words()[0] != '\0' ? error.words() : status_text(status);
      TextWriter line(text, sizeof(text));
      line.put("collector ").put(slot.unit->id).put(" cannot be created: ").put_printable(why);
      if (++left_out == collector_count_) return fail(text);
      line.put("; it is left out");
      say(text);
    }
  }
  if (rewriter_.is_asked() && meets_rival())
    return fail(
        "another agent of this kind is loaded already: only the first can have cpu=times, cpu=old, "
        "heap=sites");
  if (rewriter_.is_asked()) needed_later_ += kEngineMemory;
  const bool names_methods = ((needs_ | wants_) & HPROF_NEED_METHOD_BOOK) != 0;
  if (needed_later_ != 0) needed_later_ += kStartMemory + (names_methods ? kBookMemory : 0);
  if (!rewriter_.begin()) return fail("not enough memory for the class-file engine");
  return true;
}

void Session::announce_thread(void* self, uint32_t serial, bool started) {
  hprof_rec_definition record = {
      {sizeof(record), started ? HPROF_RECORD_THREAD_START + 0u : HPROF_RECORD_THREAD_END + 0u, 0},
      serial,
      0};
  static_cast<Session*>(self)->pipeline_.event(&record.head);
}

}  // namespace hprof
