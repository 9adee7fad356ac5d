#include "samples_report.h"

#include <cstring>

#include <hprof/cpp/core_tables.hpp>
#include <hprof/cpp/note.hpp>

#include "square_root.h"
#include "stack_walker.h"
#include "table.h"

namespace hprof::samples {

template <bool is_elapsed>
static constexpr hprof_column kColumns[] = {
    tables::kCpuSamplesColumns[HPROF_CPU_COUNT],
    is_elapsed ? kElapsed : tables::kCpuSamplesColumns[HPROF_CPU_TIME],
    tables::kTrace,
};
template <bool is_elapsed>
static constexpr auto kLabelledColumns = tables::with_labels(kColumns<is_elapsed>);
template <bool is_elapsed>
static constexpr hprof_table_schema kPlain = tables::schema<hprof_cpu_row>(HPROF_TABLE_CPU_SAMPLES,
                                                                           kCpuSamples.title,
                                                                           kColumns<is_elapsed>);
template <bool is_elapsed>
static constexpr hprof_table_schema kLabelled = tables::schema<SampleRow>(HPROF_TABLE_CPU_SAMPLES,
                                                                          kCpuSamples.title,
                                                                          kLabelledColumns<is_elapsed>.at);

void Snapshot::take(const SampleBook& book) {
  total = book.total();
  samples = book.samples();
  effective_samples = book.effective_samples();
  other_labels = book.by_other_labels();
  for (uint32_t r = 0; r < kReasonCount; r++) reasons[r] = book.by_reason(static_cast<Reason>(r));
  for (uint32_t f = 0; f < kFoundCount; f++) found[f] = book.by_found(static_cast<Found>(f));
  for (uint32_t k = 0; k < HPROF_FRAME_KINDS; k++) kinds[k] = book.by_kind(k);
  const TraceCounts& counts = book.counts();
  const uint64_t wanted = counts.size() + (counts.overflow() != 0 ? 1 : 0);
  if (wanted == 0) {
    small[0] = {0, 0, book.synthetic_trace("no_samples"), 0};
  } else if (!table.open(wanted)) {
    small[0] = {total, 0, book.synthetic_trace("no_memory_for_the_table"), 0};
  } else {
    take_rows(book);
  }
}

void Snapshot::take_rows(const SampleBook& book) {
  uint64_t others = book.counts().overflow();
  book.counts().each([&](const SampleRow& row) {
    table.add(row);
    others += row.count;
  });
  for (uint64_t i = 0; i < table.size(); i++) others -= table.data()[i].count;
  if (others != 0) {
    if (table.is_full()) others += table.take_last().count;
    table.add({others, 0, book.synthetic_trace("other_traces"), 0});
  }
  rows = table.data();
  row_count = table.size();
}

static bool is_by_signals(const Circumstances& how) {
  return how.engine != nullptr && std::strcmp(how.engine, "signal") == 0;
}

static Note note_on_engine(const Snapshot& snapshot, const Circumstances& how) {
  Note line;
  line.add("cpu=samples: ");
  if (how.engine == nullptr) return line.add("sampling was never started");
  line.add("engine ").add(how.engine).add(", interval ").decimal(how.interval_ns / 1000, 3).add(" ms, ");
  line.add(snapshot.total).add(snapshot.total == 1 ? " sample in " : " samples in ");
  line.seconds(how.watched_ns);
  if (how.clock_step_ns != 0)
    line.add("; CPU clocks move in steps of ").decimal(how.clock_step_ns / 1000, 3).add(" ms");
  return line.add(how.is_elapsed       ? "; by turns, running or not"
                  : is_by_signals(how) ? "; by a CPU timer of each thread"
                                       : "; by asking the VM");
}

// The standard error of a share p is sqrt(p (1 - p) / n) for n samples of equal weight; for p = 1/2, in
// hundredths of a percent, 5000 / sqrt(n). A sample that counts as four intervals is one here.
static Note note_on_samples(const Snapshot& snapshot, const Circumstances& how) {
  Note line;
  line.add("cpu=samples: ")
      .add(snapshot.samples)
      .add(snapshot.samples == 1 ? " stack taken" : " stacks taken");
  if (snapshot.total >= 2 * snapshot.samples && how.why_jvmti == nullptr && is_by_signals(how)) {
    const uint64_t each_us = snapshot.total * (how.interval_ns / 1000) / snapshot.samples;
    line.add(", one for ").decimal(each_us, 3).add(" ms of CPU time: timers fire no oftener");
  }
  const uint64_t root =
      square_root(snapshot.effective_samples * 100'000'000);  // 10,000 sqrt(effective_samples)
  const uint64_t error = (50'000'000 + root / 2) / root;
  line.add("; a share of 50% stands for ").percent(5000 - error, 10'000);
  return line.add(" to ").percent(5000 + error, 10'000).add(" (standard error)");
}

static Note note_on_reasons(const Snapshot& snapshot, uint64_t without_stack) {
  Note line;
  line.add("cpu=samples: ").add(without_stack).add(without_stack == 1 ? " sample" : " samples");
  line.add(" without a stack (class JVM; hprof print explains it):");
  for (uint32_t r = 0; r < kReasonCount; r++) {
    if (snapshot.reasons[r] == 0) continue;
    line.add(" ").add(reason_method(static_cast<Reason>(r))).add(" ").add(snapshot.reasons[r]);
  }
  return line;
}

static Note note_on_stacks(const Snapshot& snapshot, uint64_t sum) {
  static constexpr const char* kWhat[] = {"whole",
                                          "cut at depth=", "without frames of virtual threads in the heap",
                                          "by AsyncGetCallTrace, which may lose frames", "lost"};
  static_assert(sizeof kWhat / sizeof kWhat[0] == kFoundCount, "a text for each");
  Note line;
  line.add("cpu=samples: stacks: ").percent(snapshot.found[0], sum).add(" ").add(kWhat[0]);
  for (uint32_t f = 1; f < kFoundCount; f++) {
    if (snapshot.found[f] == 0) continue;
    line.add(", ").percent(snapshot.found[f], sum).add(" ").add(kWhat[f]);
  }
  return line;
}

// What ran the methods on top of whole stacks.
static Note note_on_kinds(const Snapshot& snapshot) {
  // Arrays of characters, since pointers would need relocations.
  static constexpr char kWhat[][16] = {"unknown",        "interpreted", "compiled by C1",
                                       "compiled by C2", "inlined",     "native methods"};
  static_assert(sizeof kWhat / sizeof kWhat[0] == HPROF_FRAME_KINDS, "a text for each");
  uint64_t sum = 0;
  for (uint64_t n : snapshot.kinds) sum += n;
  Note line;
  for (uint32_t k = 0; k < HPROF_FRAME_KINDS; k++) {
    if (snapshot.kinds[k] == 0) continue;
    line.add(line.size() == 0 ? "cpu=samples: methods on top: " : ", ");
    line.percent(snapshot.kinds[k], sum).add(" ").add(kWhat[k]);
  }
  return line;
}

static Note note_on_process(const Snapshot& snapshot, const Circumstances& how) {
  uint64_t known = snapshot.total * how.interval_ns;
  Note line;
  line.add("cpu=samples: the process used ");
  line.seconds(how.process_cpu_ns)
      .add(" of CPU time meanwhile, the Java threads in the table ")
      .seconds(known);
  bool are_named = false;
  for (uint32_t k = 0; k < VmThreads::kKinds; k++) {
    const uint64_t used = how.vm_threads_ns[k];
    if (used == 0) continue;
    line.add(", ").add(VmThreads::kNames[k]).add(" ").seconds(used);
    known += used;
    are_named = true;
  }
  line.add("; the rest, ").seconds(how.process_cpu_ns > known ? how.process_cpu_ns - known : 0);
  line.add(", went to ");
  line.add(are_named ? "other threads, some of which have ended"
                     : "the VM's own threads (garbage collection, compilation) and to the profiler");
  return line;
}

// The system's ids of the threads that live, by which jstack and logs name them: as many notes as it takes.
static hprof_status write_nids(const Services& services) {
  constexpr uint32_t kFirstThreadNumber = 200000;  // as text and binary number threads
  struct Notes {
    const Services& services;
    Note line;
    hprof_status status = HPROF_OK;
    void write() {
      if (line.size() != 0) status = write_note(services, line);
      line.clear();
    }
  } notes{services, {}};
  services.threads->each(services.host, nullptr, &notes, [](void* argument, hprof_thread* thread, void*) {
    auto* to = static_cast<Notes*>(argument);
    if (thread->os_id == 0) return uint32_t{1};
    constexpr uint64_t kLongest = sizeof ", 4294967295 18446744073709551615";
    if (to->line.size() + kLongest > kNoteSize) to->write();
    to->line.add(to->line.size() == 0 ? "cpu=samples: threads, each with its nid: " : ", ");
    to->line.add(uint64_t{kFirstThreadNumber} + thread->serial).add(" ").add(thread->os_id);
    return uint32_t{to->status == HPROF_OK};
  });
  notes.write();
  return notes.status;
}

static hprof_status write_notes(const Services& services, const Snapshot& snapshot,
                                const Circumstances& how) {
  hprof_status status = write_note(services, note_on_engine(snapshot, how));
  if (status == HPROF_OK && how.why_jvmti != nullptr)
    status = write_note(services,
                        Note().add("cpu=samples: ").add(how.why_jvmti).add("; sampled with JVMTI instead"));
  if (status == HPROF_OK && how.unknown_names != nullptr)
    status = write_note(
        services,
        Note().add("cpu=samples: no thread had a name as threads=").add(how.unknown_names).add(" wants"));
  if (status == HPROF_OK && snapshot.effective_samples != 0)
    status = write_note(services, note_on_samples(snapshot, how));
  uint64_t signals = 0;
  for (uint64_t n : snapshot.found) signals += n;
  if (status == HPROF_OK && signals != 0) status = write_note(services, note_on_stacks(snapshot, signals));
  if (kHasWalk && status == HPROF_OK) {
    const Note kinds = note_on_kinds(snapshot);
    if (kinds.size() != 0) status = write_note(services, kinds);
  }
  uint64_t without_stack = 0;
  for (uint64_t n : snapshot.reasons) without_stack += n;
  if (status == HPROF_OK && without_stack != 0) {
    status = write_note(services, note_on_reasons(snapshot, without_stack));
  }
  if (status == HPROF_OK && snapshot.other_labels != 0) {
    Note line;
    line.add("cpu=samples: ").add(snapshot.other_labels);
    line.add(" samples are in rows of labels:other, since there are more than ");
    status = write_note(services, line.add(uint64_t{Labels::kMostSets}).add(" label sets"));
  }
  if (status == HPROF_OK && how.process_cpu_ns != 0)
    status = write_note(services, note_on_process(snapshot, how));
  if (status == HPROF_OK && services.settings().thread_in_traces != 0) status = write_nids(services);
  return status;
}

hprof_status write_report(const Services& services, Snapshot* snapshot, const Circumstances& how,
                          double cutoff) {
  const uint64_t count = rank_rows(snapshot->rows, snapshot->row_count, snapshot->total, cutoff);
  for (uint64_t i = 0; i < count; i++) snapshot->rows[i].time_ns = snapshot->rows[i].count * how.interval_ns;
  // The labels of rows are at the roots of their traces, so that every format shows them.
  for (uint64_t i = 0; i < count; i++) {
    SampleRow& row = snapshot->rows[i];
    row.trace = how.labels.rooted(static_cast<hprof_trace_serial>(row.trace),
                                  static_cast<hprof_string_id>(row.labels));
  }
  const SampleRow totals = {snapshot->total, snapshot->total * how.interval_ns, 0, 0};
  // gprof2dot hangs on a table without rows.
  SampleRow none = {};
  const hprof_frame_id frame = services.ids->synthetic_frame(services.host, "JVM", "all_below_cutoff");
  if (count == 0) none.trace = services.ids->trace(services.host, 0, &frame, 1, 0);
  const hprof_table_schema& plain = how.is_elapsed ? kPlain<true> : kPlain<false>;
  const hprof_table_schema& labelled = how.is_elapsed ? kLabelled<true> : kLabelled<false>;
  const hprof_table_schema& schema = how.labels.are_on() ? labelled : plain;
  hprof_rec_table table = count != 0 ? table_of(schema, snapshot->rows, count) : table_of(schema, &none, 1);
  table.created_ms = services.clock->wall_ms(services.host);
  table.totals = cells_of(&totals);
  table.order = HPROF_CPU_COUNT;
  table.period_column = HPROF_CPU_TIME;
  table.period = how.interval_ns;
  table.cutoff = cutoff;
  hprof_status status = services.emit->write(services.host, &table.head);
  return status == HPROF_OK ? write_notes(services, *snapshot, how) : status;
}

}  // namespace hprof::samples
