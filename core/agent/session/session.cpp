#include "core/agent/session/session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <hprof/filter.h>
#include <hprof/tables.h>

#include "core/agent/session/attach_reply.h"
#include "core/agent/session/session_block.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/vm/environment.h"
#include "core/base/build.h"
#include "core/base/status.h"
#include "core/plugin/verify.h"
#include "core/vm_tables/hotspot_table.h"

namespace hprof {

namespace {

constexpr uint64_t kStallNs =
    10ull * 1000 * 1000 * 1000;  // an output that accepts nothing for this long is given up
constexpr uint32_t kEventSlots = 4096;
constexpr uint32_t kChunks = 4;
constexpr uint32_t kChunkBytes = 64 * 1024;
constexpr uint32_t kDumpChunks = 8;  // heap dumps; memory only when written to
constexpr uint32_t kDumpChunkBytes = 256 * 1024;
// Limits for a small memory budget.
constexpr uint32_t kSmallEventSlots = 256;
constexpr uint32_t kSmallChunkBytes = 16 * 1024;
// Limits for a very small one.
constexpr uint32_t kFewestEventSlots = 64;
constexpr uint32_t kLeastChunkBytes = 4 * 1024;
constexpr uint64_t kLeastMemory = 192 * 1024;
// Memory outside of the block: the stacks of agent threads and the library's data; 40 KiB measured on x86_64.
constexpr uint64_t kBesideMemory = 64 * 1024;

bool has_book(const SessionParts& parts) { return parts.units.uses_any(HPROF_NEED_METHOD_BOOK); }

// Reserves memory for reports and starts, which collectors may not take.
void keep_memory(const SessionParts& parts) {
  MemoryAccount& memory = parts.memory;
  memory.hold_back(kept_for_reports(memory.budget(), memory.budget() - memory.used()));
  parts.units.keep_for_starts();
}

// Called when all but the sink has its memory. False with error: max-memory= is too small.
bool has_enough_memory(const hprof_host* host, char* error, uint32_t size) {
  const SessionParts& parts = *slot_of(host)->parts;
  const uint64_t most = parts.setup.core().max_memory;
  if (!parts.memory.settle() || most == 0) return true;
  const uint64_t least = least_budget(most, parts.memory.peak(), parts.units.needed_later(), has_book(parts));
  if (least == most) {
    keep_memory(parts);
    return true;
  }
  snprintf(error, size, "max-memory=%lluk is not enough for these options: at least %lluk is needed",
           static_cast<unsigned long long>(most / 1024),
           static_cast<unsigned long long>((least + 1023) / 1024));
  return false;
}

}  // namespace

// While it exists, an alarm ends the process if a unit does not return from create or open. Not when
// attached: the program runs. Not in builds whose units are all linked in.
class StartAlarm {
 public:
  explicit StartAlarm(Session& session) {
    const Setup& setup = session.parts_.setup;
    is_set_ = !kEmbedded && !setup.is_attached() &&
              platform::set_alarm(setup.core().start_timeout * platform::kNanosPerSecond, &say, &session);
  }
  ~StartAlarm() {
    if (is_set_) platform::clear_alarm();
  }
  StartAlarm(const StartAlarm&) = delete;
  StartAlarm& operator=(const StartAlarm&) = delete;

 private:
  static bool say(void* self, char* text, size_t size) {
    auto* session = static_cast<Session*>(self);
    TextWriter line(text, size);
    line.put("HPROF ERROR: start-timeout=")
        .put_unsigned(static_cast<uint64_t>(session->parts_.setup.core().start_timeout));
    line.put(" is over");
    return session->put_who_is_stuck(&line) && !line.put('\n').text().empty();
  }

  bool is_set_;
};

void Session::describe(AttachReply* client) {
  char text[200];
  TextWriter names(text, sizeof(text));
  for (uint32_t i = 0; i < parts_.units.collector_count(); i++) {
    if (i != 0) names.put(", ");
    names.put(parts_.units.collector(i).unit->id);
  }
  client->field("collectors", names.text());
  client->field("state", parts_.units.is_collecting() ? "running" : "idle");
  char path[Reports::kOutputNameMost];
  client->field("output", parts_.reports.output_name(path));
  const char* socket = parts_.control.server().path();
  if (socket[0] != '\0') client->field("control", socket);
}

void Session::refuse_start(const char* text) {
  parts_.log.fail(text);
  parts_.control.server().remove_path();
  exit(1);
}

JNIEnv* SessionParts::jni() const {
  void* env = nullptr;
  return vm->GetEnv(&env, JNI_VERSION_1_6) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
}

bool SessionParts::can_be_detached() const {
  return (!rewriter.may_rewrite() || rewriter.can_undo()) && !class_files.has_handlers();
}

// The JavaVM's functions are in the VM's library, unless another agent has replaced GetEnv.
void* SessionParts::vm_symbol(const char* name) const {
  if (!kHasModules) return platform::symbol_in_process(name);
  return platform::symbol_in_library_of(reinterpret_cast<const void*>(vm->functions->DestroyJavaVM), name);
}

bool Session::runs_as_asked() const {
  return parts_.setup.core().start == 0 || parts_.units.collector_count() == 0 ||
         parts_.units.is_collecting();
}

void Session::open_commands() { parts_.control.open(&block_.setup); }

Configured Session::configure(JavaVM* vm, const char* options, bool attached) {
  parts_.vm = vm;
  parts_.losses.open();
  AttachReply* to = parts_.log.client();
  const TextOut help = {[](void* self, Str text) { static_cast<AttachReply*>(self)->lines(text); }, to};
  if (to != nullptr) block_.setup.set_client(to->folder(), help);
  Configured configured = block_.setup.prepare(options, attached, parts_.messages);
  if (configured == Configured::kFailed) {
    const char* text = parts_.setup.error().text;
    // Attached by jcmd, which takes text after a '=' as its own option.
    const bool cut = attached && to == nullptr && strstr(text, " has no value (") != nullptr;
    char line[sizeof(Error::text) + 100];
    TextWriter(line, sizeof(line))
        .put(text)
        .put(cut ? "; jcmd cuts at '=': quote the options, '\"<option>=<value>\"'" : "");
    parts_.log.complain(line);
  }
  return configured;
}

bool Session::load() {
  const StartAlarm alarm(*this);
  bool ready = open_memory() && get_environment() && parts_.units.make() &&
               parts_.units.ask_for_capabilities() && create_tables() && open_control() && open_windows() &&
               prepare_pipeline() && create_collectors() && open_output();
  // has_enough_memory has done this if there is an output.
  if (parts_.memory.settle()) keep_memory(parts_);
  // Without the classes with targets probes would call missing ones.
  if (ready && (parts_.rewriter.is_active() || parts_.class_files.has_handlers()))
    ready = parts_.units.enable_events() ||
            parts_.log.fail("the VM refuses the events needed to change class files");
  // The VM ends without another call of the agent.
  if (!ready) parts_.control.server().remove_path();
  return ready;
}

bool Session::start_attached() {
  JNIEnv* env = parts_.jni();
  jthread self = nullptr;
  if (env == nullptr || parts_.jvmti->GetCurrentThread(&self) != JVMTI_ERROR_NONE) return false;
  const Control::AttachWait waiting(parts_.control);
  on_vm_init(env, self);
  env->DeleteLocalRef(self);
  return true;
}

// An embedded agent allocates all of its memory here, less the session itself, which exists.
bool Session::open_memory() {
  const uint64_t most = parts_.setup.core().max_memory;
  const MemorySource source = {platform::allocate_zeroed, platform::deallocate, platform::reserve_lazy,
                               platform::release_lazy};
  if (!kEmbedded) {
    parts_.memory.open(source, most);
    parts_.memory.lift();
    return true;
  }
  if (most < sizeof(SessionBlock) + kLeastMemory) {
    char text[120];
    snprintf(text, sizeof(text), "max-memory=: this build needs a limit, of at least %u bytes",
             static_cast<unsigned>(sizeof(SessionBlock) + kLeastMemory));
    return parts_.log.fail(text);
  }
  auto pause = [] { platform::sleep_ns(50'000); };
  return parts_.memory.open_fixed(source, most - sizeof(SessionBlock) - kBesideMemory, pause) ||
         parts_.log.fail(status_text(HPROF_NO_MEMORY));
}

// Java's feature release by the property java.vm.specification.version ("1.8", "17").
static uint32_t java_version(jvmtiEnv* jvmti) {
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

bool Session::get_environment() {
  parts_.jvmti = take_environment(parts_.vm);
  if (parts_.jvmti == nullptr) return parts_.log.fail("this VM has no JVMTI 1.2");
  if (!parts_.units.events().attach_to(parts_.jvmti, this))
    return parts_.log.fail("the VM refuses JVMTI callbacks");
  const HotSpotUse use = {
      this,
      [](void* self, const char* name) { return static_cast<Session*>(self)->parts_.vm_symbol(name); },
      [](void* self) { return static_cast<Session*>(self)->open_hotspot(); },
      [](void* self) { return static_cast<Session*>(self)->parts_.control.is_waited_for_by_attach(); },
      parts_.messages,
      parts_.memory.functions(),
      java_version(parts_.jvmti)};
  parts_.hotspot.open({parts_.setup.core().hotspot_on, parts_.setup.core().hotspot_off}, use);
  return true;
}

bool Session::create_tables() {
  if (parts_.setup.is_without_effect()) return true;
  const uint64_t most = parts_.setup.core().max_memory;
  const uint64_t part = is_very_small(parts_.memory) ? parts_.memory.budget() / 8 * 5 : part_of_tables(most);
  const ModelLimits limits = parts_.memory.is_fixed() || is_small(most)
                                 ? ModelLimits::small(part, has_book(parts_))
                                 : ModelLimits::standard();
  const char* no_memory = status_text(HPROF_NO_MEMORY);
  if (!parts_.model.create(parts_.memory, limits, parts_.losses)) return parts_.log.fail(no_memory);
  ClassBook::Options options = {parts_.settings.line_numbers != 0,
                                (parts_.settings.granted & HPROF_NEED_LINE_NUMBERS) != 0,
                                (parts_.settings.granted & HPROF_NEED_SOURCE_FILE) != 0};
  block_.loaders.create(parts_.jvmti, &parts_.memory);
  const bool every_class = parts_.units.is_subscribed(HPROF_EVENT_CLASS_UNLOAD);
  if ((every_class || parts_.units.outputs().takes_unloads) &&
      !parts_.unloads.open(parts_.memory, parts_.model.limits().classes, every_class)) {
    return parts_.log.fail(no_memory);
  }
  if (!parts_.classes.create(parts_.jvmti, &parts_.memory, &parts_.model, &block_.loaders, &parts_.unloads,
                             &parts_.losses, &parts_.rewriter, options, most))
    return parts_.log.fail(no_memory);
  parts_.threads.create(parts_.jvmti, &parts_.memory, &parts_.model, &Session::announce_thread, this);
  return true;
}

bool Session::open_windows() {
  if (parts_.setup.core().every == 0 || parts_.setup.is_without_effect()) return true;
  const auto* table =
      kHasReportWindows ? block_.setup.open_table<WindowTable>(kWindowsModule, kWindowsVersion) : nullptr;
  parts_.reports.use_windows(table);
  return table != nullptr ||
         parts_.log.fail("every= needs the module report_windows, which is not in this build");
}

bool Session::prepare_pipeline() {
  if (parts_.setup.is_without_effect()) return true;
  const CoreConfig& core = parts_.setup.core();
  bool small = is_small(core.max_memory);
  const UnitSlot& encoder = parts_.units.encoder();
  const UnitSlot& sink = parts_.units.sink();
  const UnitSlot& filter = parts_.units.filter();
  PipelineConfig config = {};
  config.plan = parts_.units.outputs();
  config.output = {
      &encoder.host,
      parts_.units.encoder_ops(),
      encoder.config,
      &sink.host,
      parts_.units.sink_ops(),
      sink.config,
      parts_.setup.address(),
      parts_.setup.existing(),
      kChunks,
      small ? kSmallChunkBytes : kChunkBytes,
      kStallNs,
      [](const hprof_host* host, const char* text) {
        const SessionParts& parts = *slot_of(host)->parts;
        if (kHasSockets) parts.reports.output_message().keep(text);
        parts.log.say(text);
      },
      [](const hprof_host* host, const char* text) { complain(*slot_of(host), Complaint::kBuffer, text); }};
  config.output.taken.resolve(encoder.unit->records, &parts_.kinds);
  if (filter.unit != nullptr) {
    config.output.filter_host = &filter.host;
    config.output.filter = static_cast<const hprof_filter_ops*>(filter.unit->ops);
    config.output.filter_config = filter.config;
  }
  config.output.dump_stall_ns = static_cast<uint64_t>(core.dump_stall * platform::kNanosPerSecond);
  config.takes_events = parts_.settings.events != 0;
  config.event_slots = small ? kSmallEventSlots : kEventSlots;
  if (is_very_small(parts_.memory)) {
    config.event_slots = kFewestEventSlots;
    config.output.chunk_bytes = kLeastChunkBytes;
  }
  if (parts_.memory.is_fixed()) {
    const ModelLimits& limits = parts_.model.limits();
    config.output.most_numbers = limits.strings > limits.frames ? limits.strings : limits.frames;
    if (config.output.most_numbers < limits.traces) config.output.most_numbers = limits.traces;
  }
  config.id_size = sizeof(void*);
  config.dumps_heap = parts_.setup.emits(HPROF_KIND_HEAP_DUMP_BEGIN);
  if (config.dumps_heap) {
    config.output.chunks = kDumpChunks;
    config.output.chunk_bytes = kDumpChunkBytes;
  }
  config.settings = {{sizeof(config.settings), HPROF_RECORD_CONTROL_SETTINGS, 0},
                     parts_.setup.emits(HPROF_TABLE_ALLOC_SITES) ? 1u : 0u,
                     parts_.setup.emits(HPROF_TABLE_CPU_SAMPLES) ? 1u : 0u,
                     parts_.settings.depth,
                     0};
  config.losses = &parts_.losses;
  if constexpr (kChecks) config.output.gave_back = &check_given_back;
  config.output.may_open = &has_enough_memory;
  char error[400] = "";
  return parts_.pipeline.prepare(parts_.memory, config, error, sizeof(error)) == HPROF_OK ||
         parts_.log.fail(error);
}

// Opened last: a session that fails to start leaves an existing file of the output's name alone.
bool Session::open_output() {
  if (parts_.setup.is_without_effect()) return true;
  char error[400] = "";
  return parts_.pipeline.open(error, sizeof(error)) == HPROF_OK || parts_.log.fail(error);
}

// An attached agent accepts commands; without a socket, by another attach.
bool Session::open_control() {
  const CoreConfig& core = parts_.setup.core();
  if (parts_.setup.is_without_effect()) return true;
  const bool by_attach =
      kHasSockets && parts_.settings.attached != 0 && core.control == nullptr && core.listen == nullptr;
  const bool listens = by_attach || takes_commands(core);
  if (listens || parts_.units.outputs().duplex) parts_.control.open(&block_.setup);
  ControlServer& server = parts_.control.server();
  Error error;
  if (!listens ||
      server.open({by_attach ? "y" : core.control, core.control_implied != 0, core.listen, core.secret_file},
                  &error))
    return true;
  if (!by_attach) return parts_.log.fail(error.text);
  char text[sizeof(error.text) + 80];
  TextWriter(text, sizeof(text))
      .put("no socket for commands: ")
      .put(error.text)
      .put("; hprof ctl PID needs none");
  parts_.log.say(text);
  return true;
}

// Opens the engine if a running unit has class hooks; it must be of this build.
bool Session::offer_rewriting() {
  constexpr uint64_t kHooks = HPROF_NEED_CLASS_HOOKS | HPROF_NEED_EARLY_CLASS_HOOKS;
  const auto* engine = parts_.units.uses_any(kHooks)
                           ? block_.setup.open_table<RewriterTable>(kRewriterModule, kRewriterVersion)
                           : nullptr;
  if (engine == nullptr && parts_.units.needs_any(kHooks))
    return parts_.log.fail("the module bytecode, which the chosen options need, is not in this build");
  parts_.rewriter.offer(
      &parts_, engine, {this, [](void* self) { static_cast<Session*>(self)->parts_.units.enable_events(); }});
  return true;
}

// Opened when a unit requests one of its services in create.
const HotSpotTable* Session::open_hotspot() {
  if (phase() != Phase::kLoaded) return nullptr;
  const auto* table = block_.setup.open_table<HotSpotTable>(kHotSpotModule, kHotSpotVersion);
  if (table == nullptr && parts_.setup.modules().state_of(kHotSpotModule) == ModuleState::kMissing) {
    char text[420];
    TextWriter line(text, sizeof(text));
    parts_.setup.modules().search().put_folders(&line.put("no module hotspot in "));
    line.put(": stacks, allocations, live objects and heap dumps are read by JVMTI alone, which is slower");
    parts_.log.say(text);
  }
  return table;
}

bool Session::create_collectors() {
  if (!offer_rewriting() || !parts_.units.create_collectors()) return false;
  if (parts_.rewriter.is_asked() && entry_.claim_rewriting != nullptr && !entry_.claim_rewriting())
    return parts_.log.fail(
        "another agent of this kind is loaded already: only one can rewrite classes, which the chosen "
        "options "
        "need");
  if (kHasHotSpotModule && parts_.rewriter.adds_field()) parts_.hotspot.open_module();
  const hprof_status status = parts_.rewriter.begin();
  return status == HPROF_OK || parts_.log.fail(status_text(status));
}

void Session::announce_thread(void* self, uint32_t serial, ThreadChange change) {
  const bool ends = change == ThreadChange::kEnds;
  hprof_rec_definition record = {
      {sizeof(record), ends ? HPROF_RECORD_THREAD_END + 0u : HPROF_RECORD_THREAD_START + 0u, 0},
      serial,
      change == ThreadChange::kRenamed ? kDefinedAgain : 0};
  static_cast<Session*>(self)->parts_.pipeline.event(&record.head);
}

void Session::on_vm_start(JNIEnv* jni) {
  if (const char* why = parts_.rewriter.on_vm_start(jni)) refuse_start(why);
}

void Session::load_class_file(const LoadedFile& file, unsigned char** new_bytes, jint* new_size) {
  const ClassRewriter::Visit visit(parts_.rewriter);
  parts_.class_files.load(parts_.jvmti, file, block_.loaders, parts_.rewriter, new_bytes, new_size);
}

void Session::on_vm_init(JNIEnv* jni, jthread thread) {
  parts_.phase_word.store(Phase::kLive, std::memory_order_release);
  if (parts_.setup.is_without_effect()) return;
  parts_.hotspot.on_vm_init(jni, thread);
  parts_.threads.find_ids(jni);
  parts_.gate.open();
  if (parts_.rewriter.is_active()) parts_.rewriter.on_vm_init(jni);
  if (parts_.rewriter.is_late()) {
    parts_.rewriter.count_passed(parts_.jvmti, jni);
    parts_.units.enable_events();
    parts_.rewriter.catch_up(parts_.jvmti, jni);
  }
  if (!parts_.pipeline.start())
    parts_.log.say("can't start the writer thread: the profile is written at the end only");
  if (!parts_.control.start(this, jni))
    parts_.log.say("can't start the control thread: no reports on request");
  if (!parts_.control.server().start(&parts_.commands))
    parts_.log.say("can't start a thread for commands: they are not answered");
  if (kHasSockets && parts_.units.outputs().duplex && !block_.reader.start(this)) {
    parts_.log.say("can't start a thread for the peer's commands: they are not read");
  }
  if (parts_.setup.core().start != 0 && parts_.control.acquire(platform::kNoDeadline)) {
    parts_.threads.started(jni, thread, 0);
    parts_.units.start_all(jni);
    parts_.control.release();
    if (parts_.setup.core().every != 0) parts_.control.look_again();
  }
}

bool Session::tidies() const {
  return parts_.classes.is_kept() || parts_.unloads.is_on() || parts_.settings.events != 0;
}

void Session::tidy(JNIEnv* jni) {
  parts_.classes.sweep(jni);
  parts_.unloads.sweep(jni, parts_.classes.collections(), this, [](void* self, uint32_t serial) {
    static_cast<Session*>(self)->on_class_gone(serial);
  });
  // Events are written soon, and most threads that name themselves do so at once.
  if (parts_.settings.events != 0) parts_.threads.learn_new_names(jni);
}

void Session::on_class_gone(uint32_t serial) {
  dispatch_class_unload(parts_.units, serial);
  if (!parts_.units.outputs().takes_unloads) return;
  const hprof_rec_definition record = {{sizeof(record), HPROF_RECORD_CLASS_UNLOAD, 0}, serial, 0};
  parts_.pipeline.event(&record.head);
}

}  // namespace hprof
