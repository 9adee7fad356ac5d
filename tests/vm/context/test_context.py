"""plugin=context: what a tracer says in Java is with each sample of the thread that it was said on, virtual threads too."""
import collections
import json
import math
import os
import re
import shutil

from commands import load_agent, loaded
from harness import check, check_equal, vm_test
from programs import jni_library
from pictures import Pprof
from reports import parse_ascii, parse_monitors, tables
from streams import SAMPLES, Stream
from tool import hprof

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = ("context", "cpu_samples", "encoder_json", "sink_file")
OPTIONS = "plugin=context,cpu=samples,interval=1,depth=24,cutoff=0,format=json,events=y,file=%s"
TRACE = "0123456789abcdeffedcba9876543210"


def at_most(count, of, rate, what):
    """A rate, with the error of counting."""
    expected = rate * of
    check(count <= expected + 3 * math.sqrt(expected) + 1, "%s: %d of %d" % (what, count, of))


def judge(text, is_native=False):
    """{right, wrong, none} of the samples whose scope the stack shows, and how many outside of any scope have a context."""
    found = Stream(text)
    counts = collections.Counter()
    rows = found.events(SAMPLES)
    if is_native:  # the agent looks for such libraries once a second
        rows = rows[next((i for i, row in enumerate(rows) if row["span_id"]), len(rows)):]
    for row in rows:
        stack = found.frames(row)
        frames = [frame for frame in stack if re.match(r"Scopes\.(work\d|in|scope|outside)$", frame)]
        if not frames or frames[0] in ("Scopes.in", "Scopes.scope"):
            continue  # it may be on its way in or out
        if frames[0] == "Scopes.outside":
            counts["outside"] += 1
            counts["outside with one"] += row["span_id"] is not None
            continue
        k = int(frames[0][-1])
        if is_native and k == 5:
            counts["outside"] += 1
            counts["outside with one"] += row["span_id"] is not None
            continue
        context = (row["trace_id"], row["span_id"] and int(row["span_id"], 16), row["labels"])
        wanted = (TRACE, k + 1, None if is_native else "route:/%d" % k)
        where = "" if stack[0].startswith("Scopes.") else " in the JDK"
        counts[("none" if context[1] is None else "right" if context == wanted else "wrong") + where] += 1
    return counts


def check_rates(vm, counts, is_virtual):
    samples = counts["right"] + counts["wrong"] + counts["none"]
    in_jdk = counts["right in the JDK"] + counts["wrong in the JDK"] + counts["none in the JDK"]
    check(samples >= 300, "few samples: %s" % dict(counts))
    for what, of in (("wrong", samples), ("none", samples), ("wrong in the JDK", in_jdk), ("outside with one", counts["outside"])):
        at_most(counts[what], of, 0.001, "%s, %s" % (what, dict(counts)))
    # Before JDK 24 a virtual thread that parks with a timeout becomes its carrier for that.
    if not is_virtual or vm.version >= 24:
        at_most(counts["none in the JDK"], in_jdk, 0.001, "none in the JDK, %s" % dict(counts))


# Older VMs place instructions of inlined methods in neighbouring ones.
NOT_INLINED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Scopes.work*", "-XX:CompileCommand=dontinline,Scopes.in")


def vms(vm):
    """Options of the VMs to try."""
    if vm.version < 17:
        return (("-XX:+UseG1GC",) + NOT_INLINED,)
    return (("-XX:+UseG1GC",), ("-XX:+UseZGC",)) if vm.bits == 64 else (("-XX:+UseG1GC",),)


@vm_test(units=UNITS, needs=("sampling signals", "short intervals"), quick=True)
def samples_have_the_context_of_their_thread(vm):
    for options in vms(vm):
        run = vm.run_java(vm.agent_option(OPTIONS % "out.json"), *options, "Scopes", "platform", "2")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
        check_rates(vm, judge(run.text("out.json")), False)


@vm_test(units=UNITS, since=21, needs=("sampling signals", "short intervals"), quick=True)
def samples_have_the_context_of_the_virtual_thread_that_is_mounted(vm):
    for options in vms(vm):
        run = vm.run_java(vm.agent_option(OPTIONS % "out.json"), *options, "Scopes", "virtual", "3")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
        check_rates(vm, judge(run.text("out.json")), True)


@vm_test(units=UNITS)
def an_agent_that_comes_late_finds_it_too(vm):
    kinds = ("platform", "virtual") if vm.version >= 21 else ("platform",)
    for kind in kinds:
        live = vm.start(None, "Scopes", kind, "3", java=vm.attachable + vms(vm)[0])
        check(loaded(load_agent(live.pid, vm.agent, OPTIONS % vm.path(kind))), "the agent is loaded\n%s" % live.state())
        run = live.ended_well()
        check_equal(run.errors(), [], "complaints\n%s" % run)
        check_rates(vm, judge(run.text(kind)), kind == "virtual")


@vm_test(units=UNITS)
def the_next_session_has_contexts_of_its_own(vm):
    """From Java 19 on, whose code writes most of them, it gets the tables of the new session. Numbers of labels are void."""
    live = vm.start(None, "Scopes", "platform", "600", java=vm.attachable + vms(vm)[0])
    for path in (vm.path("first"), vm.path("second")):
        check(loaded(load_agent(live.pid, vm.agent, OPTIONS % path)), "the agent is loaded\n%s" % live.state())
        live.wait_until(lambda: loaded(load_agent(live.pid, vm.agent, "command=report")) and  # pylint: disable=W0640
                        open(path).read().count('"span_id":"') > 200, "samples with spans")
        check(loaded(load_agent(live.pid, vm.agent, "command=detach")), "the agent is detached\n%s" % live.state())
        found, spans = Stream(open(path).read()), collections.Counter()
        for row in found.events(SAMPLES)[:200]:  # those at the detach may be without
            frames = [frame for frame in found.frames(row) if re.match(r"Scopes\.(work\d|in|scope|outside)$", frame)]
            if frames and frames[0].startswith("Scopes.work") and row["span_id"]:
                spans[int(row["span_id"], 16) == int(frames[0][-1]) + 1] += 1
        check(spans[True] > 50, "few samples: %s" % dict(spans))
        at_most(spans[False], spans[True], 0.001, "wrong spans")
    live.kill()


@vm_test(units=UNITS)
def other_engines_read_it_a_little_later(vm):
    for options in (",sampler=jvmti", ",clock=wall"):
        run = vm.run_java(vm.agent_option(OPTIONS % "out.json" + options), *vms(vm)[0], "-Dsteps=3000000", "Scopes", "platform", "2")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
        counts = judge(run.text("out.json"))
        check(counts["right"] > counts["wrong"] + counts["none"], "with %s: %s" % (options, dict(counts)))


@vm_test(units=UNITS, since=21)
def virtual_threads_that_wait_have_theirs(vm):
    run = vm.run_java(vm.agent_option(OPTIONS % "out.json" + ",clock=wall"), "Scopes", "waiting", "2")
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
    found = Stream(run.text("out.json"))
    spans = collections.defaultdict(collections.Counter)
    for row in found.events(SAMPLES):
        for k in "01":
            if "Scopes.rest" + k in found.frames(row):
                spans[k][row["span_id"] and int(row["span_id"], 16)] += 1
    for k in "01":
        right = spans[k][int(k) + 1]
        check(right > 20 and right >= 0.98 * sum(spans[k].values()), "spans of rest%s: %s" % (k, dict(spans[k])))


@vm_test(units=UNITS)
def a_tracer_in_native_code_is_read(vm):
    # Threads that have no room for it make a block each; that is read on x86-64 alone.
    kinds = [("initial-exec", ())] + ([("global-dynamic", ("-mtls-dialect=gnu",))] if os.uname().machine == "x86_64" else [])
    libraries = []
    for model, options in kinds:
        libraries.append(vm.path(model + ".so"))
        os.rename(jni_library(vm, "otel_context.c", "-ftls-model=" + model, *options), libraries[-1])
    native = ("--enable-native-access=ALL-UNNAMED",) if vm.version >= 17 else ()
    for library in libraries:
        run = vm.run_java(vm.agent_option(OPTIONS % "out.json"), *vms(vm)[0], *native, "Scopes", "platform", "4", library)
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
        check_rates(vm, judge(run.text("out.json"), True), False)
        if vm.version >= 21:  # the record is the carrier's
            run = vm.run_java(vm.agent_option(OPTIONS % "out.json"), *native, "Scopes", "virtual", "3", library)
            check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
            counts = judge(run.text("out.json"))
            check(counts["none"] >= 300, "few samples: %s" % dict(counts))
            at_most(counts["right"] + counts["wrong"], counts["none"], 0.001, "contexts of virtual threads: %s" % dict(counts))


@vm_test(units=UNITS)
def what_has_no_room_is_counted(vm):
    def lost(run):
        check_equal(run.code, 0, "exit code\n%s" % run)
        return {name: int(count) for count, name in re.findall(r'"lost (\d+) ([a-z ]+):', run.text("out.json"))}

    run = vm.run_java(vm.agent_option(OPTIONS % "out.json" + ",max-memory=5m"), "-Xss256k", "Scopes", "crowd", "2500")
    check(lost(run).get("contexts", 0) >= 2500 - 2048, "losses of contexts\n%s" % run)
    run = vm.run_java(vm.agent_option(OPTIONS % "out.json"), "Scopes", "labels", "66000")
    routes = 8
    check_equal(lost(run).get("label sets"), 66000 - (65535 - routes), "losses of label sets\n%s" % run)
    check_equal(run.out.split("\n")[1], "different %d" % (65535 - routes + 1), "label sets")
    run = vm.run_java(vm.agent_option(OPTIONS % "out.json"), "Scopes", "set", "10")
    check_equal((lost(run).get("labels"), run.out.split("\n")[1]), (3, "different 7"), "512 bytes have seven labels of 64\n%s" % run)


@vm_test(units=("context", "cpu_samples", "encoder_ascii", "sink_file"))
def an_output_without_events_says_so(vm):
    run = vm.run_java(vm.agent_option("plugin=context,cpu=samples,file=out.txt"), "Scopes", "platform", "1")
    check_equal(run.code, 0, "exit code\n%s" % run)
    check("context: this output has no events, so it has labels, but no ids" in run.err, "no message\n%s" % run)


def route_of(stack):
    """The route of the scope that the stack shows; None: of none, or it may be on its way in or out."""
    frames = [frame for frame in stack if re.match(r"Scopes\.(work\d|in|scope|outside)$", frame)]
    return "/" + frames[0][-1] if frames and frames[0].startswith("Scopes.work") else None


def check_routes(samples):
    """samples: (stack, its route, samples)."""
    counts = collections.Counter()
    for stack, route, count in samples:
        if route_of(stack) is not None:
            counts["right" if route == route_of(stack) else "wrong"] += count
        elif any(frame == "Scopes.outside" for frame in stack):
            counts["none" if route is None else "outside with one"] += count
    check(counts["right"] >= 300, "few samples: %s" % dict(counts))
    at_most(counts["wrong"], counts["right"], 0.001, "wrong, %s" % dict(counts))
    at_most(counts["outside with one"], counts["none"], 0.001, "outside, %s" % dict(counts))


@vm_test(units=("context", "cpu_samples", "encoder_ascii", "encoder_collapsed", "encoder_pprof", "sink_file"), quick=True,
         needs=("sampling signals",))  # otherwise a context is read just after the stack
def labels_are_in_tables(vm):
    # At the roots of the stacks, so that readers of all formats see them, and in pprof labels as well.
    options = "plugin=context,cpu=samples,interval=1,depth=24,cutoff=0,file=out"
    # Before JDK 24 a virtual thread that parks with a timeout becomes its carrier for that, which has no labels.
    for kind, form in (("platform", "a"), ("platform", "pprof"), ("platform", "collapsed")) + ((("virtual", "a"),) if vm.version >= 24 else ()):
        run = vm.run_java(vm.agent_option("%s,compress=n,format=%s" % (options, form)), *vms(vm)[0], "Scopes", kind, "2")
        check_equal(run.code, 0, "exit code\n%s" % run)
        if form == "pprof":
            table = Pprof(run.bytes("out"))
            samples = [(stack, labels.get("route"), values["samples"]) for (stack, values, _), labels in zip(table.stacks, table.labels)]
            rooted = [(stack, root_route(stack), count) for stack, _, count in samples]
            check_equal([route for _, route, _ in samples], [route for _, route, _ in rooted], "labels and roots")
        elif form == "collapsed":
            lines = [line.rsplit(" ", 1) for line in run.text("out").splitlines()]
            samples = [(stack.split(";")[::-1], root_route(stack.split(";")[::-1]), int(count)) for stack, count in lines]
        else:
            report = parse_ascii(run.text("out"))
            section, = report.cpu()
            check_equal(len(set(row.trace for row in section.rows)), len(section.rows), "a trace in two rows")
            stacks = [([name for name, _, _ in report.traces[row.trace].frames], row.count) for row in section.rows]
            samples = [(stack, root_route(stack), count) for stack, count in stacks]
        check_routes(samples)


def root_route(stack):
    found = [frame[len("LABEL.route:"):] for frame in stack if frame.startswith("LABEL.route:")]
    check(not found or (len(found) == 1 and "LABEL." in " ".join(stack[-2:])), "labels that are not at the root: %s" % stack)
    return found[0] if found else None


@vm_test(units=("context", "cpu_samples", "encoder_ascii", "sink_file", "report_windows"))
def windows_of_labels_add_up(vm):
    # Eight threads: three seconds at least, however many processors they have.
    seconds = 3 * min(8, os.cpu_count())
    run = vm.run_java(vm.agent_option("plugin=context,cpu=samples,interval=1,cutoff=0,every=1,file=out.txt"), *vms(vm)[0], "Scopes", "platform",
                      str(seconds))
    check_equal(run.code, 0, "exit code\n%s" % run)
    sections = parse_ascii(run.text("out.txt")).cpu()
    check(len(sections) > 2, "windows: %d" % len(sections))
    for section in sections:
        check_equal(len(set(row.trace for row in section.rows)), len(section.rows), "a trace in two rows of a window")
    run = vm.run_java(vm.agent_option("plugin=context,cpu=samples,threads=nobody,every=1,file=none.txt"), "Scopes", "platform", "2")
    names = [[row.method for row in section.rows] for section in parse_ascii(run.text("none.txt")).cpu()]
    check_equal(names, [["JVM.nothing_in_this_window"]] * len(names), "rows of windows in which nothing is\n%s" % run)


@vm_test(units=("context", "cpu_samples", "encoder_ascii", "sink_file"))
def many_label_sets_are_one_in_tables(vm):
    run = vm.run_java(vm.agent_option("plugin=context,cpu=samples,interval=1,cutoff=0,file=out.txt"), "Scopes", "users", "1000")
    check_equal(run.code, 0, "exit code\n%s" % run)
    report = parse_ascii(run.text("out.txt"))
    names = set(name for trace in report.traces.values() for name, _, _ in trace.frames if name.startswith("LABEL."))
    check(len(names) <= 257 and "LABEL.labels:other" in names, "label sets: %d" % len(names))
    check(any("samples are in rows of labels:other, since there are more than 256 label sets" in note for note in report.notes),
          "notes: %s" % report.notes)


def truth(run):
    """{(route, tenant): count}, as Routes says it."""
    check_equal((run.code, run.err.count("Exception")), (0, 0), "exit code and exceptions\n%s" % run)
    return {(None if route == "nobody" else route, None if tenant == "-" else tenant): int(count)
            for route, tenant, count in re.findall(r"^of (\S+) (\S+) (\d+)$", run.out, re.M) if count != "0"}


def labels_of(report, trace):
    """(route, tenant) at the root of a trace."""
    found = dict(name[len("LABEL."):].split(":", 1) for name, _, _ in report.traces[trace].frames if name.startswith("LABEL."))
    return found.get("route"), found.get("tenant")


def kinds(vm):
    # Before JDK 24 a virtual thread that parks with a timeout becomes its carrier for that, but makes no Item there.
    return ("platform", "virtual") if vm.version >= 21 else ("platform",)


def objects_by_labels(vm, options, kind, made):
    """({labels: objects of Routes.make}, the truth, bytes for each object, run)."""
    run = vm.run_java(vm.agent_option("plugin=context,heap=sites,cutoff=0,depth=16,file=out.txt" + options), "Routes", kind, "make", "3000")
    report = parse_ascii(run.text("out.txt"))
    found, sizes = collections.Counter(), set()
    for row in tables(report)[0]:
        if row.name == made and "Routes.make" in [name for name, _, _ in report.traces[row.trace].frames[:2]]:
            found[labels_of(report, row.trace)] += row.objects
            sizes.add(row.bytes / row.objects)
    return dict(found), truth(run), sizes, run


@vm_test(units=("bytecode", "context", "heap_sites", "encoder_ascii", "sink_file"), quick=True)
def each_object_has_the_labels_of_its_thread(vm):
    for kind in kinds(vm):
        for made in ("Routes$Item", "byte[]"):
            found, wanted, sizes, run = objects_by_labels(vm, "", kind, made)
            check_equal(found, wanted, "objects of %s by labels, %s\n%s" % (made, kind, run))
            check_equal(len(sizes), 1, "sizes of %s: %s" % (made, sizes))


@vm_test(units=("context", "heap_sites", "encoder_ascii", "sink_file"), since=11)
def sampled_objects_have_the_labels_of_their_thread(vm):
    for kind in kinds(vm):
        found, wanted, _, run = objects_by_labels(vm, ",sites=sampled:1", kind, "Routes$Item")  # nearly each
        check_equal(set(found), set(wanted), "labels, %s\n%s" % (kind, run))
        for labels, count in wanted.items():
            check(0.9 * count <= found[labels] <= 1.1 * count, "objects of %s: %d of %d\n%s" % (labels, found[labels], count, run))


@vm_test(units=("context", "monitor", "encoder_ascii", "sink_file"), quick=True)
def each_contention_has_the_labels_of_who_waits(vm):
    for kind in kinds(vm):
        for option in ("y", "all"):
            run = vm.run_java(vm.agent_option("plugin=context,monitor=%s,cutoff=0,depth=16,file=out.txt" % option), "Routes", kind, "lock", "20")
            monitors, found = parse_monitors(run.text("out.txt")), collections.Counter()
            for count, trace, name, _, _ in monitors.times[-1].rows:
                if name == "Routes$Lock":
                    found[labels_of(monitors.report, trace)] += count
            found.pop(("/holder", None), None)  # which may be the one that waits, too
            check_equal(dict(found), truth(run), "contentions by labels, %s\n%s" % (kind, run))


@vm_test(units=("bytecode", "context", "latency", "encoder_ascii", "sink_file"), quick=True)
def each_call_has_the_labels_of_its_thread(vm):
    for kind in kinds(vm):
        run = vm.run_java(vm.agent_option("plugin=context,latency=Routes.call,file=out.txt"), "Routes", kind, "call", "2000")
        truth(run)
        section, = [found for found in parse_ascii(run.text("out.txt")).sections if found.name == "CALL LATENCY"]
        check(section.lines[0].endswith(" max method labels"), "heading: %s" % section.lines[0])
        found = {row[10]: int(row[1]) for row in map(str.split, section.lines[1:])}
        wanted = collections.Counter()
        for number in range(2000):
            route, tenant = number % 3, number // 3 % 2
            for at in (0, 2) if route == 2 else ():
                wanted["route:/%d;tenant:t%d" % (at, tenant)] += 2
            wanted["route:/%d;tenant:t%d" % (route, tenant)] += 2
            wanted["-"] += 1
        check_equal(found, dict(wanted), "calls by labels, %s\n%s" % (kind, run))


@vm_test(units=("bytecode", "context", "cpu_samples", "heap_sites", "monitor", "latency", "encoder_ascii", "encoder_json", "sink_file"))
def one_table_has_all_of_each_value_of_a_label(vm):
    options = "plugin=context,cpu=samples,heap=sites,monitor=y,cutoff=0,depth=16,format=%s,file=out"
    for form in ("a", "json"):
        run = vm.run_java(vm.agent_option(options % form), "Routes", "platform", "make", "2000")
        wanted = collections.Counter()
        for labels, count in truth(run).items():
            wanted[labels[0] or "(none)"] += count
        code, said = hprof(vm, "print", "--by=route", "--json", vm.path("out"))
        check_equal(code, 0, "exit code of hprof print: %s" % said)
        table, = json.loads(said)["plain_tables"]["parts"]
        rows = {row["route"]: row for row in table["rows"]}
        check_equal(set(rows) - {"(none)"}, set(wanted) - {"(none)"}, "values: %s" % said)
        for value, count in wanted.items():
            objects = rows[value]["alloc_sites.allocated_objects"]
            check(count <= objects if value == "(none)" else count <= objects <= 4 * count, "objects of %s: %d of %d" % (value, count, objects))
            check(rows[value]["alloc_sites.allocated_bytes"] >= 16 * objects, "bytes of %s" % value)


@vm_test(units=("bytecode", "context", "heap_sites", "encoder_ascii", "sink_file"))
def labels_that_tell_rows_apart_can_be_chosen(vm):
    options = "plugin=context,context-by=%s,heap=sites,cutoff=0,file=out.txt"
    for chosen, kept in (("tenant", (1,)), ("tenant:route", (0, 1)), ("none", ())):
        run = vm.run_java(vm.agent_option(options % chosen), "Routes", "platform", "make", "500")
        wanted, found = collections.Counter(), collections.Counter()
        for labels, count in truth(run).items():
            wanted[tuple(labels[i] if i in kept else None for i in range(2))] += count
        report = parse_ascii(run.text("out.txt"))
        for row in tables(report)[0]:
            if row.name == "Routes$Item":
                found[labels_of(report, row.trace)] += row.objects
        check_equal(found, wanted, "objects by labels, context-by=%s" % chosen)


TRACE_OF_ROUTES = "4bf92f3577b34da6%016x"


def scopes_of(number):
    """{(route, tenant): calls of Work.run as amounts} of a request of Routes."""
    route, tenant = number % 3, number // 3 % 2
    amounts = [1 + number % 5, 1 + tenant]
    scopes = {(route, tenant): amounts * (2 if route == 2 else 1)}
    if route == 2:
        scopes[0, tenant] = amounts
    return scopes


def requests(count, each=sum):
    """{(trace id, span id, labels): amount} of Routes with so many requests."""
    return {(TRACE_OF_ROUTES % (number + 1), "%016x" % (1 + 2 * route + tenant), "route:/%d;tenant:t%d" % (route, tenant)): each(amounts)
            for number in range(count) for (route, tenant), amounts in scopes_of(number).items()}


def context_of(row):
    return row["trace_id"], row["span_id"], row["labels"]


def check_requests(rows, wanted, weight, outside=None, what=""):
    """rows: of events. outside: the events without a context; None: any number."""
    found = collections.Counter()
    for row in rows:
        found[context_of(row)] += row[weight]
    without = found.pop((None, None, None), 0)
    wrong = [(key, found[key], wanted.get(key)) for key in sorted(set(found) | set(wanted)) if found[key] != wanted.get(key, 0)]
    check_equal(wrong[:5], [], "requests with another number of %s %s" % (weight, what))
    check(outside is None or without == outside, "%d %s without a request, not %s %s" % (without, weight, outside, what))


EVENTS = "plugin=context,%s,cutoff=0,depth=16,format=json,events=y,file=out.json"


@vm_test(units=("context", "monitor", "encoder_json", "sink_file"), quick=True)
def each_contention_and_wait_leads_to_its_request(vm):
    for kind in kinds(vm):
        run = vm.run_java(vm.agent_option(EVENTS % "monitor=y"), "Routes", kind, "lock", "20")
        truth(run)
        rows = [row for row in Stream(run.text("out.json")).events("hprof.monitor_time_events/1")
                if row["monitor"]["name"] == "Routes$Lock" and row["labels"] != "route:/holder"]
        check_requests(rows, requests(20), "contentions", 0, kind)
        # Before JDK 24 a virtual thread that waits keeps its carrier.
        run = vm.run_java(vm.agent_option(EVENTS % "monitor=y"), "Routes", kind, "wait", "60")
        truth(run)
        rows = [row for row in Stream(run.text("out.json")).events("hprof.monitor_wait_events/1") if row["monitor"]["name"] == "Routes$Lock"]
        check_requests(rows, requests(60), "waits", 60, kind)


@vm_test(units=("context", "heap_sites", "encoder_json", "sink_file"), since=11, quick=True)
def each_sampled_object_leads_to_its_request(vm):
    for kind in kinds(vm):
        run = vm.run_java(vm.agent_option(EVENTS % "heap=sites,sites=sampled:200"), "Routes", kind, "make", "500")
        truth(run)
        found = Stream(run.text("out.json"))
        rows = [row for row in found.events("hprof.alloc_site_events/1") if row["class"]["name"] == "Routes$Item"]
        wanted, seen, without = requests(500), collections.Counter(), 0
        for row in rows:
            if context_of(row) == (None, None, None):
                without += 1
            else:
                check(context_of(row) in wanted, "a request that is none: %s" % (context_of(row),))
                seen[context_of(row)] += 1
                rooted = [frame for frame in found.frames(row)[-2:] if frame.startswith("LABEL.")]
                check_equal(rooted, ["LABEL." + label for label in row["labels"].split(";")][::-1], "labels at the root")
        check(sum(seen.values()) >= 100, "few objects: %d, %d without a request" % (sum(seen.values()), without))


@vm_test(units=("bytecode", "context", "io_calls", "encoder_json", "sink_file"))
def each_write_leads_to_its_request(vm):
    for kind in kinds(vm):
        run = vm.run_java(vm.agent_option(EVENTS % "io=y"), "Routes", kind, "write", "30")
        truth(run)
        rows = [row for row in Stream(run.text("out.json")).events("hprof.io_call_events/1") if (row["target"] or "").endswith("written")]
        check_requests(rows, requests(30), "bytes", 30, kind)


@vm_test(units=("bytecode", "context", "latency", "encoder_json", "sink_file"), quick=True)
def each_slow_call_leads_to_its_request(vm):
    for kind in kinds(vm):
        options = "latency=Routes.sleeps:Routes.work,latency-events=25"
        run = vm.run_java(vm.agent_option(EVENTS % options), "Routes", kind, "slow", "30")
        truth(run)
        found = Stream(run.text("out.json"))
        calls = found.events("hprof.slow_call_events/1")
        rows = [dict(row, calls=1) for row in calls if row["method"]["name"].endswith("sleeps")]
        check_requests(rows, requests(30, len), "calls", 30, kind)
        check_equal([row for row in calls if row["time"] < 25_000_000], [], "calls that were quicker")
        for row in calls:
            frames = [frame for frame in found.frames(row) if frame.startswith("Routes.")]
            check_equal(frames[0].split(".")[-1], row["method"]["name"].split(".")[-1], "the method on top of %s" % frames)
        check(len(calls) > len(rows), "calls of the method above")


@vm_test(units=("context", "cpu_samples", "encoder_ascii", "sink_file"), needs=("short intervals", "sampling signals"))
def shares_of_cpu_time_are_right_but_for_the_error_of_counting(vm):
    for kind in kinds(vm):
        run = vm.run_java(vm.agent_option("plugin=context,cpu=samples,interval=1,cutoff=0,depth=16,file=out.txt"), "Routes", kind, "spin", "600")
        report, found = parse_ascii(run.text("out.txt")), collections.Counter()
        section, = report.cpu()
        for row in section.rows:
            if report.traces[row.trace].frames[0][0] == "Routes.spin":
                found[labels_of(report, row.trace)] += row.count
        wanted = truth(run)
        rounds, samples = sum(wanted.values()), sum(found.values())
        check(samples >= 500, "few samples: %s\n%s" % (dict(found), run))
        for labels, count in wanted.items():
            share = count / rounds
            error = 4 * math.sqrt(share * (1 - share) / samples) + 0.02 * share
            check(labels[0] is None or abs(found[labels] / samples - share) <= error,
                  "%s, %s: %d of %d samples, %d of %d rounds" % (kind, labels, found[labels], samples, count, rounds))


@vm_test(units=("bytecode", "context", "heap_sites", "latency", "encoder_ascii", "sink_file"))
def nothing_is_lost_without_a_word_with_many_label_sets(vm):
    sets = 65600
    run = vm.run_java(vm.agent_option("plugin=context,heap=sites,latency=Routes.make,cutoff=0,depth=16,file=out.txt"), "Routes", "platform", "many",
                      str(sets))
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
    report, found = parse_ascii(run.text("out.txt")), collections.Counter()
    for row in tables(report)[0]:
        if row.name == "Routes$Item":
            found["".join(name for name, _, _ in report.traces[row.trace].frames if name.startswith("LABEL."))] += row.objects
    check_equal((sum(found.values()), len(found), found["LABEL.labels:other"]), (sets, 257, sets - 256), "objects, sets, those of the others")
    check_equal([name for name in found if not re.match(r"LABEL\.(us_er_:_\d+_._|labels:other)$", name)], [], "names of sets")
    notes = "\n".join(report.notes)
    check("label sets beyond 256 are in rows of labels:other" in notes, "notes: %s" % notes)
    check("lost %d label sets: " % (sets - (65535 - 9)) in notes, "notes: %s" % notes)  # three routes and six sets are others
    section, = [found for found in report.sections if found.name == "CALL LATENCY"]
    check_equal(sum(int(row[1]) for row in map(str.split, section.lines[1:])), sets, "calls")


@vm_test(units=("bytecode", "context", "cpu_samples", "heap_sites", "monitor", "latency", "encoder_json", "encoder_ascii", "sink_file"))
def the_vm_may_end_while_contexts_are_set(vm):
    for form in ("a", "json,events=y", "jfr"):
        options = "plugin=context,cpu=samples,interval=1,%smonitor=y,latency=Routes.called:Routes.waits,latency-events=1,format=%s,file=out" % (
            "" if form == "jfr" else "heap=sites,", form)
        run = vm.run_java(vm.agent_option(options), "Routes", "platform", "death", "4")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
        if form == "a":
            check("CPU SAMPLES END" in run.text("out") and "SITES END" in run.text("out"), "no table")
        elif form != "jfr":
            check(Stream(run.text("out")).events("hprof.slow_call_events/1"), "no slow calls")


@vm_test(units=("bytecode", "context", "latency", "encoder_ascii", "sink_file"))
def slow_calls_need_an_output_with_events(vm):
    run = vm.run_java(vm.agent_option("latency=Routes.sleeps,latency-events=25,plugin=context,file=out.txt"), "Routes", "platform", "slow", "3")
    truth(run)
    check("latency-events=: this output has no events" in run.err, "no message\n%s" % run)


@vm_test(since=9)
def the_opentelemetry_example_follows_the_current_context(vm):
    """The example says what is current after each step, however scopes are closed. OpenTelemetry's classes have stand-ins."""
    sources = vm.path("sources")
    shutil.copytree(os.path.join(HERE, "opentelemetry"), sources)
    shutil.copy(os.path.join(HERE, "..", "..", "..", "examples", "opentelemetry", "Hprof.java"), sources)
    out, boot = vm.path("spans"), vm.path("boot")
    for folder, options, source in ((boot, (), os.path.join("hprof", "Context.java")), (out, ("-sourcepath", sources, "-cp", boot), "CurrentSpans.java")):
        code, said = vm.tool("javac", "-nowarn", "-d", folder, *options, os.path.join(sources, source))
        check_equal(code, 0, "exit code of javac: " + said)
    run = vm.run_java("-Xbootclasspath/a:" + boot, "-cp", out, "CurrentSpans")
    check_equal((run.code, run.out.split("\n")), (0, ["9 steps", ""]), "exit code, and where another span was said\n%s" % run)
