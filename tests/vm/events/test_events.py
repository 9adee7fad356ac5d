"""format=json,events=y: each sample, allocation, contention, wait, pause and exception with its time."""
import collections
import re
import signal

from harness import check, check_equal, vm_test
from pictures import Json, Page
from streams import SAMPLES, Stream
from vendor import needs_modules, probe_folder, vendor_plugin

OUTPUT = ("encoder_json", "sink_file")
SITES = "hprof.alloc_site_events/1"
CONTENTIONS, WAITS = "hprof.monitor_time_events/1", "hprof.monitor_wait_events/1"


def stream(vm, options, *program, java=(), agent=None):
    run = vm.run_java(vm.agent_option(options + ",cutoff=0,format=json,events=y,file=out.json", agent), *java, *program)
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s\n" % run)
    return run, Stream(run.text("out.json"))


@vm_test(units=("cpu_samples",) + OUTPUT, needs=("short intervals",), quick=True)
def samples_have_times_and_add_up_to_the_table(vm):
    for options in ("", ",sampler=jvmti", ",clock=wall"):
        _, found = stream(vm, "cpu=samples,interval=1" + options, "Spin", "6", "2")
        time = "wall" if "wall" in options else "time"
        total = found.check_sum(SAMPLES, "hprof.cpu_samples/1", ("samples", time), lambda row: row["trace"])
        check(total > 0, "no samples with %r" % options)
        events = found.events(SAMPLES)
        check_equal([row for row in events if not row["thread"] or not row["thread"]["name"]], [], "events without a thread")
        check("trace_id" not in events[0], "a context that nobody sets: %s" % events[0])
        spun = [row for row in events if "Spin.hot" in found.frames(row)[:1]]
        check(len({row["at"] for row in spun}) > len(spun) / 2, "%d events at so few times" % len(spun))
        check_equal({row["state"] for row in spun}, {"runnable"}, "states of what runs")


@vm_test(units=("cpu_samples", "encoder_flamegraph", "encoder_collapsed", "sink_file"))
def the_page_has_events_only_if_asked(vm):
    check("events=y: encoder_collapsed takes no events" in vm.refused("cpu=samples,format=collapsed,events=y"), "a format without events")
    for form in ("flamegraph", "flamegraph,events=y"):
        run = vm.run_java(vm.agent_option("cpu=samples,interval=1,cutoff=0,format=%s,file=out.html" % form), "Spin", "6", "2")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s\n" % run)
        page = Page(run.text("out.html"))
        sums = collections.Counter()
        for table in page.tables:
            sums[table.name] += sum(values["samples"] for _, values, _ in table.stacks)
        reported, events = sums["hprof.cpu_samples/1"], sums[SAMPLES]
        check(reported > 0, "no samples in %s" % form)
        check(events >= reported if form == "flamegraph,events=y" else events == 0, "%d events, %d samples in the table" % (events, reported))


@vm_test(units=("cpu_samples",) + OUTPUT)
def elapsed_time_has_the_states_of_threads(vm):
    _, found = stream(vm, "cpu=samples,clock=wall", "Wall", "1")
    for method, state in (("computing", "runnable"), ("resting", "sleeping"), ("blocked", "blocked"), ("parked", "waiting"),
                          ("waiting", "waiting")):
        states = collections.Counter()
        for row in found.events(SAMPLES):
            if "Wall." + method in found.frames(row):
                states[row["state"]] += row["wall"]
        check(states and states.most_common(1)[0][0] == state, "%s is %s, not %s" % (method, dict(states), state))


@vm_test(units=("cpu_samples",) + OUTPUT)
def a_killed_vm_leaves_its_events(vm):
    live = vm.start("cpu=samples,interval=1,format=json,events=y,file=out.json", "Idle")
    live.wait_for("out.json", '"table":"%s"' % SAMPLES, 100)
    live.signal(signal.SIGKILL)
    live.finish()
    with open(vm.path("out.json")) as file:
        lines = file.read().split("\n")[:-1]
    check(sum('"table":"%s"' % SAMPLES in line for line in lines) >= 100 and all(line.endswith("}") for line in lines),
          "what is left\n%s" % "\n".join(lines[-3:]))


@vm_test(units=("monitor",) + OUTPUT)
def contentions_and_waits_have_durations(vm):
    run, found = stream(vm, "monitor=y", "Contend", "monitor", "3", "5", "20")
    total = int(re.fullmatch(r"blocked (\d+) times \d+\n", run.out).group(1))
    found.check_sum(CONTENTIONS, "hprof.monitor_time/1", ("contentions", "time"), lambda row: (row["trace"], row["monitor"]["id"]))
    events = [row for row in found.events(CONTENTIONS) if row["monitor"]["name"] == "java.lang.Object"]
    check(0 < sum(row["time"] for row in events) <= (total + 2) * 1_000_000, "%s, the program measured %d ms" % (events, total))
    check(all(row["at"] - row["time"] >= found.window["begin_ns"] for row in events), "one begins before the window: %s" % events)
    check_equal({row["thread"]["name"].split("-")[0] for row in events}, {"contender"}, "threads")
    for virtual in (False, True) if vm.version >= 21 else (False,):
        run, found = stream(vm, "monitor=y", "TimedWaits", *(["virtual"] if virtual else []))
        waited = int(run.out.split()[1])
        waits = [row for row in found.events(WAITS) if "TimedWaits.waiting" in found.frames(row)]
        check_equal((len(waits), {row["thread"]["name"] for row in waits}), (5, {"waiter"}), "waits")
        check(all(row["time"] >= 19_000_000 for row in waits) and sum(row["time"] for row in waits) <= waited,
              "%s, the program measured %d ns" % (waits, waited))
        ends = [row["at"] for row in waits]
        check(all(later - earlier >= 19_000_000 for earlier, later in zip(ends, ends[1:])), "ends of the waits: %s" % ends)


@vm_test(units=("monitor",) + OUTPUT)
def samples_of_parked_threads_add_up_to_the_table(vm):
    _, found = stream(vm, "monitor=all,interval=1", "Contend", "lock", "3", "5", "20")
    found.check_sum(CONTENTIONS, "hprof.monitor_time/1", ("contentions", "time"), lambda row: (row["trace"], row["label"]))
    parked = [row for row in found.events(CONTENTIONS) if row["label"] == "(java.util.concurrent)"]
    check(any("Contend.inLock" in found.frames(row) for row in parked), "no samples of the lock")


@vm_test(units=("heap_sites",) + OUTPUT, since=11)
def sampled_allocations_add_up_to_the_table(vm):
    # Fewer samples than the queue to the writer has places, so that none is lost on a busy machine.
    _, found = stream(vm, "heap=sites,sites=sampled:16k", "Sites")
    events = [row for row in found.events(SITES) if row["at"] <= found.window["end_ns"]]
    check_equal([row for row in events if not row["thread"]], [], "events without a thread")
    table = next(table for table in found.tables if table.name == "hprof.alloc_sites/1")
    for column in ("allocated_bytes", "allocated_objects"):
        made, counted = sum(row[column] for row in events), table.head["totals"][column]
        # Each event is rounded.
        check(abs(made - counted) <= len(events) + counted // 1000, "%s: %d in events, %d in the table" % (column, made, counted))


@vm_test(units=("cpu_samples",) + OUTPUT, since=21)
def samples_of_virtual_threads_have_a_thread(vm):
    _, found = stream(vm, "cpu=samples,interval=1", "VirtualThreads")
    found.check_sum(SAMPLES, "hprof.cpu_samples/1", ("samples",), lambda row: row["trace"])
    check_equal([row for row in found.events(SAMPLES) if not row["thread"]], [], "events without a thread")


@vm_test(units=("cpu_samples", "bytecode") + OUTPUT, needs=("sampling signals", "short intervals"), quick=True)
def samples_carry_the_context_that_a_tracer_sets(vm):
    folder = probe_folder(vm)
    for options in ("", ",sampler=jvmti", ",clock=wall"):
        run, found = stream(vm, "plugins=%s,tracer=y,cpu=samples,interval=1%s" % (folder, options), "Spans")
        calls = int(run.out.split()[1])
        check("HPROF: tracer: %d spans, 0 refused" % calls in run.err, "the tracer\n%s" % run)
        spans = collections.defaultdict(set)
        context = inside = 0
        for row in found.events(SAMPLES):
            frames = found.frames(row)
            if row["span_id"] is not None:
                check_equal((row["trace_id"], row["labels"]), ("0123456789abcdeffedcba9876543210", "route:/inside"), "context")
                check(0 < int(row["span_id"], 16) <= calls, "span %s" % row["span_id"])
                spans[row["span_id"]].add(row["thread"]["name"])
            else:
                check_equal((row["trace_id"], row["labels"]), (None, None), "no context")
            if frames[:2] == ["Spans.spin", "Spans$Inside.work"]:
                inside += 1
                context += row["span_id"] is not None
                check(options or row["span_id"], "a sample in the span has no context")
            elif "Spans.outside" in frames:
                check(options or not row["span_id"], "a sample outside of the span has a context")
        # The other engines take few samples on a busy machine, and read the context a little after the stack.
        check(inside > (0 if options else calls) and context >= inside / 2,
              "%d of %d samples have a context with %r" % (context, inside, options))
        check_equal([threads for threads in spans.values() if len(threads) != 1], [], "a span of two threads")
        check(len(spans) > (0 if options else calls / 2), "%d spans of %d" % (len(spans), calls))


@vm_test(units=("cpu_samples", "bytecode") + OUTPUT, since=21, needs=("sampling signals", "short intervals"), quick=True)
def a_context_set_on_a_virtual_thread_follows_it(vm):
    run, found = stream(vm, "plugins=%s,tracer=y,cpu=samples,interval=1,depth=16" % probe_folder(vm), "Spans", "virtual")
    check("HPROF: tracer: %d spans, 0 refused" % int(run.out.split()[1]) in run.err, "the tracer\n%s" % run)
    spans, counts = collections.defaultdict(set), collections.Counter()
    for row in found.events(SAMPLES):
        frames = found.frames(row)
        where = "inside" if re.match(r"Spans\.spin Spans\$Inside\.yield", " ".join(frames)) else "outside" if "Spans.outside" in frames else "other"
        counts[where, row["span_id"] is not None] += 1
        if where == "inside" and row["span_id"]:
            spans[row["span_id"]].add(frames[1])
    check(counts["inside", True] > 100 and counts["outside", False] > 50, "few samples: %s" % dict(counts))
    wrong = counts["inside", False] + counts["outside", True]
    check_equal((wrong, [methods for methods in spans.values() if len(methods) != 1]), (0, []), "%s, and spans of two threads" % dict(counts))


@vm_test(units=("cpu_samples", "monitor") + OUTPUT)
def other_formats_have_no_events(vm):
    run = vm.profiled("cpu=samples,interval=1,monitor=y,format=json,file=out.json", "Spin", "2")
    found = Json(run.text("out.json"))
    check_equal([table.name for table in found.tables if "events" in table.head["flags"]], [], "tables of events")
    check("created_ns" not in found.records[0], "the first line: %s" % found.records[0])


@vm_test(units=("cpu_samples", "encoder_json", "sink_http"))
def an_output_of_whole_reports_says_that_it_has_no_events(vm):
    run = vm.run_java(vm.agent_option("cpu=samples,exit-timeout=2,format=json,events=y,url=http://127.0.0.1:9/"), "Quick", "3")
    check("this output takes whole reports only: there are no events in it" in run.err, "no message\n%s" % run)


@vm_test(units=("bytecode",) + OUTPUT)
def pauses_and_exceptions_of_vendors_are_events(vm):
    needs_modules(vm)
    agent, folder = vendor_plugin(vm)
    _, found = stream(vm, "plugins=%s,gc_pauses=y" % folder, "Garbage", agent=agent)
    pauses = [row["pause"] for row in found.events("example.gc_pauses_events/1") if row["at"] <= found.window["end_ns"]]
    counted = next(row for _, row, _ in found.tables[-1].stacks)
    check_equal((len(pauses), sum(pauses), max(pauses)), (counted["pauses"], counted["total_ns"], counted["max_ns"]), "pauses")
    agent, folder = vendor_plugin(vm, "throws")
    _, found = stream(vm, "plugins=%s,throws=y" % folder, "Catches", agent=agent)
    found.check_sum("example.throws_events/1", "example.throws/1", ("made", "caught"),
                    lambda row: (row["trace"], row["class"]["id"]))
    check_equal([row for row in found.events("example.throws_events/1") if not row["thread"]], [], "events without a thread")
