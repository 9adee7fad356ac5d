// The units of a session before they run: their slots, needs and collectors.
#include "core/agent/session/units.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include <hprof/draft/foreign_dump.h>
#include <hprof/encoder.h>
#include <hprof/sink.h>

#include "core/agent/session/log.h"
#include "core/agent/session/memory_plan.h"
#include "core/agent/session/setup.h"
#include "core/agent/session/unit_checks.h"
#include "core/agent/vm/capabilities.h"
#include "core/agent/vm/class_rewriter.h"
#include "core/base/status.h"
#include "core/base/unit_text.h"
#include "core/pipeline/record_kinds.h"
#include "core/plugin/verify.h"
#include "core/vm_tables/hotspot.h"

namespace hprof {

namespace {

// Memory taken when the VM starts: by the agent's threads; by classes, if methods are named; by the
// class-file engine for its first and largest classes.
constexpr uint64_t kStartMemory = 16 * 1024;
constexpr uint64_t kBookMemory = 64 * 1024;
constexpr uint64_t kEngineMemory = 160 * 1024;

template <typename T>
const T* row_of(const T* rows, uint32_t stride, uint32_t index) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(rows) + size_t{stride} * index);
}

}  // namespace

const hprof_encoder_ops* Units::encoder_ops() const {
  return static_cast<const hprof_encoder_ops*>(encoder_.unit->ops);
}

const hprof_sink_ops* Units::sink_ops() const { return static_cast<const hprof_sink_ops*>(sink_.unit->ops); }

bool Units::add(UnitSlot& slot, uint32_t unit_index) {
  const Unit& unit = parts_.setup.unit(unit_index);
  slot.unit = unit.record;
  slot.config = unit.config;
  if (optional_of(slot.unit) != nullptr) slot.optional.resolve(optional_of(slot.unit), &parts_.kinds);
  make_host(slot, parts_);
  return unit.record->ops != nullptr;
}

bool Units::make() {
  const CoreConfig& core = parts_.setup.core();
  const Selection& selection = parts_.setup.selection();
  settings_.size = sizeof(settings_);
  settings_.attached = parts_.setup.is_attached() ? 1 : 0;
  settings_.max_memory = core.max_memory;
  settings_.depth = static_cast<uint32_t>(core.depth);
  settings_.line_numbers = core.line_numbers;
  settings_.thread_in_traces = core.thread_in_traces;
  settings_.verbose = core.verbose;
  settings_.java_version = parts_.hotspot.java_version();
  settings_.cutoff = core.cutoff;
  if (selection.collector_count > kMostCollectors) return parts_.log.fail("too many collectors at once");
  for (uint32_t i = 0; i < selection.collector_count; i++) {
    CollectorSlot& slot = collectors_[i];
    if (!add(slot, selection.collectors[i])) return parts_.log.fail("a collector has no operations");
    slot.ops = static_cast<const hprof_collector_ops*>(slot.unit->ops);
    if (HPROF_HAS(slot.ops, hprof_collector_ops, handlers)) {
      const hprof_handlers* handlers = slot.ops->handlers;
      hprof_copy_sized(&slot.handlers, sizeof(slot.handlers), handlers, handlers->size);
    }
    slot.index = i;
    slot.is_reported = parts_.setup.unit(selection.collectors[i]).is_reported &&
                       (slot.unit->flags & HPROF_UNIT_NO_OUTPUT) == 0;
    collector_count_++;
  }
  if (parts_.setup.is_without_effect()) return true;
  if (!add(encoder_, selection.encoder) || !add(sink_, selection.sink)) return false;
  auto* encoder = encoder_ops();
  choose_depth();
  settings_.heap_form = HPROF_REACHES(encoder, hprof_encoder_ops, heap_form) ? encoder->heap_form : 0;
  if (selection.filter != Selection::kNone && !add(filter_, selection.filter)) return false;
  return plan_outputs();
}

// Names the optional records of a collector that the encoder does not take.
void Units::say_left_out(const CollectorSlot& slot) const {
  const hprof_unit& unit = *slot.unit;
  char text[400];
  TextWriter line(text, sizeof(text));
  line.put(unit.id).put(": ").put(encoder_.unit->id).put(" leaves out");
  bool any = false;
  for (const char* const* name = optional_of(&unit); name != nullptr && *name != nullptr; ++name) {
    if (is_taken(encoder_.unit->records, *name)) continue;
    line.put(any ? ", " : " ").put_printable(*name, HPROF_KIND_NAME_MOST);
    any = true;
  }
  if (any && settings_.verbose != 0) parts_.log.say(text);
}

bool Units::plan_outputs() {
  const CoreConfig& core = parts_.setup.core();
  const hprof_encoder_ops* encoder = encoder_ops();
  const hprof_sink_ops* sink = sink_ops();
  const char* const* taken = encoder_.unit->records;
  const bool begins = HPROF_HAS(sink, hprof_sink_ops, begin_report);
  outputs_.none = collector_count_ != 0;
  for (uint32_t i = 0; i < collector_count_; i++) {
    outputs_.none = outputs_.none && !collectors_[i].is_reported;
    say_left_out(collectors_[i]);
  }
  outputs_.duplex = !outputs_.none && HPROF_HAS(sink, hprof_sink_ops, read);
  // Not when attached, where the user sees the error.
  outputs_.retries = kHasSockets && outputs_.duplex && core.net_retry != 0 && settings_.attached == 0;
  outputs_.marks_reports = begins || HPROF_HAS(sink, hprof_sink_ops, end_report);
  outputs_.whole_reports = kHasSockets && HPROF_REACHES(sink, hprof_sink_ops, flags) &&
                           (sink->flags & HPROF_SINK_WHOLE_REPORTS) != 0;
  outputs_.patches = filter_.unit == nullptr && HPROF_HAS(sink, hprof_sink_ops, patch);
  // Readers of binary dumps, and of an encoder's documents, expect one per file. An output on a connection,
  // or of a sink with begin_report, can have several.
  outputs_.each_dump = !outputs_.duplex && (settings_.heap_form & HPROF_HEAP_ONE_A_FILE) != 0 &&
                       parts_.setup.emits(HPROF_KIND_HEAP_DUMP_BEGIN);
  const uint32_t flags = HPROF_REACHES(encoder, hprof_encoder_ops, flags) ? encoder->flags : 0;
  const bool writes_documents = (flags & HPROF_ENCODER_DOCUMENTS) != 0;
  outputs_.each_report = !outputs_.duplex && !begins && writes_documents;
  const char* address = parts_.setup.address();
  outputs_.each_round = strstr(address, "%n") != nullptr ||
                        (core.every != 0 && strstr(address, "%t") != nullptr) || outputs_.each_dump ||
                        outputs_.each_report;
  outputs_.takes_notes = !outputs_.none && is_taken(taken, HPROF_KIND_NOTE);
  // Not with a heap dump in a file of its own, nor with a small memory.
  outputs_.takes_unloads = is_taken(taken, HPROF_KIND_CLASS_UNLOAD) && !outputs_.each_dump &&
                           !parts_.memory.is_fixed() && !is_small(core.max_memory);
  outputs_.takes_foreign_dumps = hprof_is_listed(taken, HPROF_KIND_FOREIGN_DUMP) != 0;
  const uint32_t with_events = HPROF_ENCODER_EVENTS | (core.events != 0 ? HPROF_ENCODER_EVENTS_ASKED : 0);
  const bool wants_events = (flags & with_events) != 0 && !outputs_.none;
  if (core.events != 0 && !wants_events && !outputs_.none) {
    char text[100];
    TextWriter(text, sizeof(text)).put("events=y: ").put(encoder_.unit->id).put(" takes no events");
    return parts_.log.fail(text);
  }
  outputs_.keeps_encoder = wants_events && writes_documents;
  // A sink of whole reports has no place for what comes between them.
  settings_.events = wants_events && (writes_documents || !outputs_.whole_reports) ? 1 : 0;
  if (wants_events && settings_.events == 0)
    parts_.log.say("this output takes whole reports only: there are no events in it");
  outputs_.keep = static_cast<uint32_t>(core.keep_files);
  if (outputs_.keep == 0) return true;
  if (kEmbedded) return parts_.log.fail("keep-files= is not in this build");
  return HPROF_HAS(sink, hprof_sink_ops, remove) ||
         parts_.log.fail("keep-files= needs an output in files (file=)");
}

// The encoder's depth applies if the user gave none.
void Units::choose_depth() {
  const hprof_encoder_ops* encoder = encoder_ops();
  if (parts_.setup.is_typed("depth") || !HPROF_REACHES(encoder, hprof_encoder_ops, least_depth)) return;
  if (encoder->least_depth > settings_.depth) set_depth(encoder->least_depth);
}

bool Units::create_collectors() {
  uint32_t left_out = 0;
  parts_.memory.forget_peak();
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    UnitText error;
    hprof_status status = HPROF_OK;
    {
      const Inside mark(slot.inside, "create", tag::kOnLoad);
      status = slot.ops->create(&slot.host, slot.config, &slot.self, error.room(), UnitText::kSize);
    }
    slot.start_bytes = parts_.memory.forget_peak();
    if (!error.is_kept()) {
      complain(slot, Complaint::kBuffer, "it wrote past the end of its error text");
    }
    if (status != HPROF_OK) {
      if constexpr (kChecks) check_given_back(slot);
      slot.self = nullptr;  // the unit has freed everything
      slot.start_bytes = 0;
      slot.gone.store(true, std::memory_order_relaxed);
      char text[400];
      const char* why = error.text()[0] != '\0' ? error.text() : status_text(status);
      TextWriter line(text, sizeof(text));
      line.put("collector ").put(slot.unit->id).put(" cannot be created: ").put_printable(why);
      if (++left_out == collector_count_) return parts_.log.fail(text);
      line.put("; it is left out");
      parts_.log.say(text);
    }
    needed_later_ += slot.start_bytes;
  }
  if (parts_.rewriter.is_asked()) needed_later_ += kEngineMemory;
  if (needed_later_ != 0)
    needed_later_ += kStartMemory + (uses_any(HPROF_NEED_METHOD_BOOK) ? kBookMemory : 0);
  return true;
}

// The first variant that applies and that the VM grants completely; nullptr: the unit's own needs apply.
const hprof_variant* Units::choose_variant(const hprof_unit* unit) const {
  if (unit->size < offsetof(hprof_unit, variant_stride) + sizeof(unit->variant_stride)) return nullptr;
  for (uint32_t i = 0; i < unit->variant_count; i++) {
    const hprof_variant* variant = row_of(unit->variants, unit->variant_stride, i);
    const bool applies = strcmp(variant->when, "attached") == 0 ? settings_.attached != 0
                                                                : parts_.setup.selects_pattern(variant->when);
    if (!applies) continue;
    if ((variant->needs & ~add_capabilities(parts_.jvmti, variant->needs)) == 0) return variant;
  }
  return nullptr;
}

bool Units::is_subscribed(uint64_t event) const {
  for (uint32_t i = 0; i < collector_count_; i++) {
    if ((collectors_[i].unit->events & event) != 0) return true;
  }
  return false;
}

bool Units::ask_for_capabilities() {
  if (parts_.setup.is_without_effect()) return true;
  for (uint32_t i = 0; i < collector_count_; i++) {
    CollectorSlot& slot = collectors_[i];
    slot.variant = choose_variant(slot.unit);
    needs_ |= slot.needs();
    wants_ |= slot.wants();
  }
  constexpr uint64_t kEarly = HPROF_NEED_EARLY_CLASS_HOOKS | HPROF_NEED_EARLY_VMSTART;
  if (settings_.attached == 0 && parts_.hotspot.flags().makes_archive()) {
    if (((needs_ & HPROF_NEED_CLASS_HOOKS) | (wants_ & kEarly)) != 0)
      parts_.log.say(
          "this run records classes for an archive: no class is rewritten, calls and allocations are "
          "not counted");
    needs_ &= ~(HPROF_NEED_CLASS_HOOKS | kEarly);
    wants_ &= ~(HPROF_NEED_CLASS_HOOKS | kEarly);
    parts_.rewriter.sit_out();
  }
  const bool needs_none = settings_.java_version < 9 || ((needs_ | wants_) & kEarly) != 0;
  if (needs_none && settings_.attached == 0 && parts_.hotspot.flags().requires_archive()) {
    parts_.log.say(
        settings_.java_version < 9
            ? "Java 8 does not start with -Xshare:on and an agent; use -Xshare:auto"
            : "-Xshare:on or -XX:AOTMode=on ends a VM that cannot use its archive, as with early class "
              "hooks: classes loaded before the probes are not rewritten; use -Xshare:auto or "
              "-XX:AOTMode=auto");
    needs_ &= ~kEarly;
    wants_ &= ~kEarly;
    parts_.rewriter.come_late();
  }
  uint64_t wants = wants_;
  // The core names frames, for which it needs source files and lines.
  wants |= HPROF_NEED_SOURCE_FILE | (settings_.line_numbers != 0 ? HPROF_NEED_LINE_NUMBERS : 0);
  if ((needs_ & HPROF_NEED_METHOD_BOOK) != 0 || is_subscribed(HPROF_EVENT_CLASS_UNLOAD) ||
      outputs_.takes_unloads)
    wants |= HPROF_NEED_GC_EVENTS;
  settings_.granted = add_capabilities(parts_.jvmti, needs_ | wants);
  for (uint32_t bit = 0; bit < HPROF_NEED_COUNT; bit++) {
    uint64_t mask = 1ull << bit;
    char text[160];
    if ((settings_.granted & mask) != 0) {
      snprintf(text, sizeof(text), "capability %s", need_name(bit));
      parts_.log.detail(text);
    } else if ((needs_ & mask) != 0) {
      snprintf(text, sizeof(text), "this VM does not grant %s%s, which the chosen options need",
               need_name(bit), settings_.attached != 0 ? " after it has started" : "");
      return parts_.log.fail(text);
    }
  }
  return true;
}

}  // namespace hprof
