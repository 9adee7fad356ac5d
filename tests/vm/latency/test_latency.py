"""latency=: exact counts, least durations, running calls; started, attached and detached; beside other collectors."""
import os
import re

from commands import load_agent, loaded, must
from harness import check, check_equal, vm_test
from pictures import Otlp, Pprof
from programs import COUNTS
from reports import json_tables, parse_ascii
from tool import hprof

UNITS = ("bytecode", "latency", "encoder_ascii", "sink_file")
HEADING = "rank      calls running    mean     p50     p90     p99   p99.9     max method"
SCALE = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# Methods of Latency.all(), how often each is called, and the least nanoseconds of a call.
METHODS = {"all": (1, 40e6), "twenty": (1, 20e6), "twelve": (1, 12e6), "eight": (1, 8e6), "rest": (3, 8e6), "thrower": (1, 0),
           "recursive": (10, 0), "locked": (1, 0)}
# The counter's rate is measured, and Thread.sleep() goes by another clock.
LEAST = 0.99
# Of java/Calls.java: methods that neither call nor loop.
LEAVES = {"Calls$Square.area"}


class Row:
    def __init__(self, words):
        self.calls, self.running = int(words[1]), int(words[2])
        self.mean, self.p50, self.p90, self.p99, self.p99_9, self.max = map(nanoseconds, words[3:9])
        self.method = words[9]


def nanoseconds(word):
    number, unit = re.match(r"^(\d+(?:\.\d+)?)(ns|us|ms|s)$", word).groups()
    return float(number) * SCALE[unit]


def tables(text):
    """The rows of each section, by method."""
    report = parse_ascii(text)
    found = []
    for section in report.sections:
        check_equal((section.name, section.lines[0]), ("CALL LATENCY", HEADING), "section")
        rows = [Row(line.split()) for line in section.lines[1:]]
        check_equal("total = %d" % sum(row.calls for row in rows), section.argument, "all calls")
        for row in rows:
            quantiles = [row.p50, row.p90, row.p99, row.p99_9, row.max]
            check(quantiles == sorted(quantiles), "percentiles of %s: %s" % (row.method, quantiles))
        found.append({row.method: row for row in rows})
        check_equal(len(found[-1]), len(rows), "a row for each method")
    return found, report.notes


def check_calls(rows, times, run):
    for name, (calls, least) in METHODS.items():
        row = rows.get("Latency." + name)
        check(row, "no row of %s\n%s" % (name, run))
        check_equal((name, row.calls, row.running), (name, calls * times, 0), "calls\n%s\n" % run)
        check(row.p50 >= least * 0.93 * LEAST and row.mean >= least * LEAST and row.max >= least * LEAST,
              "%s took %s, %s, %s, at least %s\n%s" % (name, row.mean, row.p50, row.max, least, run))
    check("Latency.leaf" not in rows, "a method that calls nothing is timed")


def profile(vm, options, *program, java=()):
    run = vm.profiled(options + ",file=out.txt", *program, java=java)
    (rows,), notes = tables(run.text("out.txt"))
    return run, rows, notes


@vm_test(units=UNITS, quick=True)
def every_call_is_counted_and_takes_its_time(vm):
    run, rows, notes = profile(vm, "latency=Latency", "Latency", "calls", "4", "5")
    check_calls(rows, 20, run)
    check(any("not timed:" in note and "neither calls nor loops" in note for note in notes), "notes: %s" % notes)
    check(not any("still running" in note and "Latency" in note for note in notes), "notes: %s" % notes)


@vm_test(units=UNITS)
def exceptions_recursion_and_overflows_lose_no_call(vm):
    run, rows, _ = profile(vm, "latency=Calls", "Calls")
    found = {name: row.calls for name, row in rows.items()}
    wanted = {name: count for name, count in COUNTS.items() if name not in LEAVES and name != "Calls.deep"}
    wrong = {name: (found.get(name, 0), count) for name, count in wanted.items() if found.get(name, 0) != count}
    check(not wrong, "calls (found, made): %s\n%s" % (wrong, run))
    check_equal(sorted(LEAVES & set(found)), [], "methods that neither call nor loop")


@vm_test(units=UNITS)
def two_thousand_threads(vm):
    run, rows, _ = profile(vm, "latency=Latency.*", "Latency", "calls", "2000", "1", java=("-Xss256k",))
    check_calls(rows, 2000, run)


@vm_test(units=UNITS, since=21)
def virtual_threads_wait_and_move(vm):
    run, rows, _ = profile(vm, "latency=Latency", "Latency", "calls", "5000", "1", "virtual")
    check_calls(rows, 5000, run)


@vm_test(units=UNITS, since=17)
def a_concurrent_collector(vm):
    vm.needs_zgc()
    run, rows, _ = profile(vm, "latency=Latency", "Latency", "calls", "50", "2", java=("-XX:+UseZGC",))
    check_calls(rows, 100, run)


@vm_test(units=UNITS)
def patterns_choose_classes_and_methods(vm):
    for patterns, names in (("Latency.twenty", {"twenty"}), ("Latency.twenty:Latency.locked:None.x", {"twenty", "locked"}),
                            ("Latency.twen", set()), ("Lat", set()), ("Latency.eight:Calls", {"eight"})):
        run = vm.profiled("latency=%s,file=out.txt" % patterns, "Latency", "calls", "1", "1")
        (rows,), _ = tables(run.text("out.txt"))
        check_equal(set(rows), {"Latency." + name for name in names}, "methods of %s\n%s\n" % (patterns, run))


@vm_test(units=UNITS)
def calls_that_run_are_said_and_in_no_percentile(vm):
    run, rows, notes = profile(vm, "latency=Latency.stuck:Latency.eight", "Latency", "waits")
    stuck = rows["Latency.stuck"]
    check_equal((stuck.calls, stuck.running, stuck.max), (0, 1, 0), "the call that never ends\n%s\n" % run)
    check_equal(rows["Latency.eight"].calls, 1, "the other")
    check(any("1 call is still running, which is in no class and no percentile" in note for note in notes), "notes: %s" % notes)


@vm_test(units=UNITS)
def a_stack_overflow_leaves_no_call_that_runs(vm):
    for mode in [()] + ([("virtual",)] if vm.version >= 21 else []):
        for java in ((), ("-XX:TieredStopAtLevel=1",), ("-Xss256k",)):
            run = vm.run_java(vm.agent_option("latency=Latency.deep:Latency.looping,file=out.txt"), *java, "Latency", "overflows", "100", *mode)
            check_equal(run.code, 0, "exit code\n%s" % run)
            deep, looping = map(int, run.out.split())
            (rows,), _ = tables(run.text("out.txt"))
            found = {name: (row.calls, row.running) for name, row in rows.items()}
            check_equal(found, {"Latency.deep": (deep, 0), "Latency.looping": (looping, 0)}, "calls with %s\n%s\n" % (java, run))


@vm_test(units=UNITS + ("encoder_json",))
def a_constructor_that_fails_in_super_is_counted_and_does_not_run(vm):
    run = vm.profiled("latency=Latency$Order,format=json,file=out.json", "Latency", "constructors")
    (_, rows), = json_tables(run.text("out.json"), "hprof.latency/1")
    # Order(int): 25 fail before super(), 35 in it, 50 end. Order() fails in this(). Order(CountDownLatch) runs.
    check_equal(sorted((row["calls"], row["running"]) for row in rows), [(0, 1), (10, 0), (110, 0)], "calls and those that run\n%s\n" % run)
    (_, classes), = json_tables(run.text("out.json"), "hprof.latency_classes/1")
    check_equal(sum(row["calls"] for row in classes), 75, "calls with a duration\n%s\n" % run)
    check("or are there: 45;" in run.text("out.json"), "no note\n%s" % run)


def profile_many(vm, options=""):
    """A program with 5,000 methods, each called once: (rows, how many are not timed)."""
    folder = vm.path("many")
    os.makedirs(folder)
    methods = " ".join("static int m%d() { return g(); }" % i for i in range(100))
    classes = " ".join("static class C%d { %s }" % (i, methods) for i in range(50))
    calls = " ".join("s += C%d.m%d();" % (i // 100, i % 100) for i in range(5000))
    with open(os.path.join(folder, "Many.java"), "w") as file:
        file.write("public class Many { static int g() { return 1; } %s public static void main(String[] a) { int s = 0; %s System.out.println(s); } }"
                   % (classes, calls))
    code, said = vm.tool("javac", "-d", folder, os.path.join(folder, "Many.java"))
    check_equal(code, 0, "exit code of javac: " + said)
    run, rows, notes = profile(vm, "latency=Many" + options, "-cp", folder, "Many")
    check_equal(run.out, "5000\n", "output")
    check_equal({row.calls for row in rows.values()}, {1}, "calls")
    lost, = [int(found.group(1)) for found in (re.match(r"^lost (\d+) methods: 4,095 are timed already, or memory was short \(latency=\)$", note) for note in notes)
             if found]
    return rows, lost


@vm_test(units=UNITS)
def methods_beyond_the_limit_are_counted(vm):
    rows, lost = profile_many(vm)
    # main() has a number, too, and constructors, which nobody calls, may.
    check(5001 - 4095 <= lost <= 5052 - 4095 and 4045 <= len(rows) <= 4095, "%d rows, lost %d" % (len(rows), lost))


@vm_test(units=UNITS)
def a_report_has_all_methods_for_which_there_was_memory(vm):
    rows, lost = profile_many(vm, ",max-memory=3m")
    check(len(rows) > 300 and lost > 100, "%d rows, lost %d" % (len(rows), lost))


@vm_test(units=UNITS)
def methods_without_room_for_probes_are_said(vm):
    folder = vm.path("big")
    os.makedirs(folder)
    # g() is 6 bytes a call: almost as many as the VM compiles, and as a method may have.
    bodies = "".join("static int m%d() { int s = 0; %s return s; } " % (calls, "s += g();" * calls) for calls in (1331, 10921))
    with open(os.path.join(folder, "Big.java"), "w") as file:
        file.write("public class Big { static int g() { return 1; } %s public static void main(String[] a) { "
                   "System.out.println(m1331() + m10921()); } }" % bodies)
    code, said = vm.tool("javac", "-d", folder, os.path.join(folder, "Big.java"))
    check_equal(code, 0, "exit code of javac: " + said)
    run, rows, notes = profile(vm, "latency=Big", "-cp", folder, "Big")
    check_equal((run.out, sorted(rows)), ("12252\n", ["Big.main"]), "output, and what is timed\n%s\n" % run)
    note, = [note for note in notes if "not timed:" in note]
    for words in ("1 method (code would pass 64 KiB)", "1 method (code would pass the size that the VM compiles)"):
        check(words in note, "%r is not in %r" % (words, note))


@vm_test(units=UNITS)
def methods_without_code_are_named_for_what_they_are(vm):
    for name, why in (("java.lang.Runnable.run", "1 method (abstract: "), ("java.util.Iterator", "methods (abstract: "),
                      ("java.lang.Object.hashCode", "1 method (native: ")):
        run, rows, notes = profile(vm, "latency=" + name, "Spin", "1")
        check_equal((run.code, rows), (0, {}), "what is timed of " + name)
        check(any("not timed:" in note and why in note for note in notes), "%r is not in %s" % (why, notes))
        check(not any("no loaded class" in note for note in notes), notes)


@vm_test(units=UNITS + ("cpu_samples", "cpu_times", "heap_sites"))
def beside_other_collectors(vm):
    for options, section in (("cpu=samples", "CPU SAMPLES"), ("cpu=times", "CPU TIME (ms)"), ("cpu=times,clock=wall", "CPU TIME (ms)"),
                             ("heap=sites", "SITES")):
        run = vm.profiled("latency=Latency,cutoff=0,file=out.txt," + options, "Latency", "calls", "4", "5")
        text = run.text("out.txt")
        report = parse_ascii(text)
        check(section in [found.name for found in report.sections], "%s: no %s\n%s" % (options, section, run))
        latency, = [found for found in report.sections if found.name == "CALL LATENCY"]
        check_calls({row.method: row for row in (Row(line.split()) for line in latency.lines[1:])}, 20, run)
        if "cpu=times" in options:
            counts = {}
            for row in report.cpu("CPU TIME (ms)")[0].rows:
                counts[row.method] = counts.get(row.method, 0) + row.count
            for name, (calls, _) in METHODS.items():
                check_equal((name, counts.get("Latency." + name)), (name, calls * 20), "calls of cpu=times\n%s\n" % run)


@vm_test(units=UNITS)
def it_counts_while_it_is_on(vm):
    path = vm.path("s")
    live = vm.start("latency=Latency,start=n,file=out.txt,control=" + path, "Latency", "rounds")
    live.next_round(1)
    must(path, "start")
    live.next_round(2)
    must(path, "report")
    live.next_round(3)
    must(path, "stop")
    live.next_round(4)
    must(path, "start")
    live.next_round(5)
    run = live.ended_well()
    found, _ = tables(run.text("out.txt"))
    check_equal([rows["Latency.thrower"].calls for rows in found][0], 12, "calls of one round\n%s\n" % run)
    check_calls(found[-1], 36, run)


@vm_test(units=UNITS)
def without_a_class_it_is_refused(vm):
    said = vm.refused("latency=")
    check("latency= names the classes or methods" in said, "message: %s" % said)


# --- attached


def attached(vm):
    return vm.start(None, "Latency", "rounds", java=vm.attachable)


def load(live, options):
    check(loaded(load_agent(live.pid, live.vm.agent, options)), "%s\n%s" % (options, live.state()))


def last_of(vm, name):
    with open(vm.path(name)) as file:
        return tables(file.read())[0][-1]


@vm_test(units=UNITS)
def a_name_that_nothing_has_is_said(vm):
    run = vm.profiled("latency=Quick:Quick.none:com.acme.*,file=out.txt", "Quick")
    text = run.text("out.txt")
    for name in ("Quick.none", "com.acme.*"):
        check("no loaded class or method is %s" % name in text, "no note of %s\n%s" % (name, run))
    check("no loaded class or method is Quick," not in text, "Quick is loaded\n%s" % run)


@vm_test(units=UNITS)
def a_pattern_that_no_class_can_have_is_refused(vm):
    for pattern in ("Latency#work", "Latency.work()", "*Service.run"):
        run = vm.run_java(vm.agent_option("latency=%s,file=out.txt" % pattern), "Quick")
        check(run.code == 1 and pattern + ": write com.acme.Main" in run.err, "not refused\n%s" % run)


@vm_test(units=UNITS, quick=True)
def an_attached_agent_counts_calls_from_then_on(vm):
    live = attached(vm)
    live.next_round(1)
    load(live, "latency=Latency,file=%s" % vm.path("out.txt"))
    live.next_round(2)
    load(live, "command=report")
    rows = last_of(vm, "out.txt")
    # The call of line() in which the agent came is not counted; the next one has begun.
    check_equal((rows["Latency.line"].calls, rows["Latency.line"].running), (0, 1), "calls of line()\n%s\n" % live.state())
    check_calls(rows, 12, live.state())
    live.next_round(3)
    run = live.ended_well()
    rows = last_of(vm, "out.txt")
    check_calls(rows, 24, run)
    check_equal(rows["Latency.line"].calls, 2, "calls of line() that ended\n%s\n" % run)


@vm_test(units=UNITS)
def classes_of_the_vm_itself_stay_as_they_are(vm):
    """JDK 8 ends by the retransformation of an anonymous class, such as those of its lambdas."""
    live = attached(vm)
    live.next_round(1)
    load(live, "latency=java.lang.invoke.*,file=%s" % vm.path("out.txt"))
    live.next_round(2)
    load(live, "command=detach")
    live.next_round(3)
    live.ended_well()


@vm_test(units=UNITS)
def a_detached_agent_leaves_nothing_that_counts_and_comes_again(vm):
    live = attached(vm)
    for number, patterns in enumerate(("Latency", "Latency.line:Latency.thrower", "Latency")):
        name = "out%d.txt" % number
        load(live, "latency=%s,logflags=1,file=%s" % (patterns, vm.path(name)))
        live.next_round(2 * number + 1)
        load(live, "command=detach")
        live.wait_until(lambda: live.err().count("bytes not given back") == number + 1, "the end of the detach")
        # line() began in this session, and ends after it.
        live.next_round(2 * number + 2)
        rows = last_of(vm, name)
        check_equal((rows["Latency.line"].calls, rows["Latency.line"].running), (0, 1), "calls of line()\n%s\n" % live.state())
        if patterns == "Latency":
            check_calls(rows, 12, live.state())
        else:
            check_equal((sorted(rows), rows["Latency.thrower"].calls), (["Latency.line", "Latency.thrower"], 12), "calls\n%s\n" % live.state())
    live.ended_well()


@vm_test(units=UNITS)
def a_call_of_an_earlier_session_is_not_counted(vm):
    live = attached(vm)
    load(live, "latency=Latency,file=%s" % vm.path("one.txt"))
    live.next_round(1)
    load(live, "command=detach")
    load(live, "latency=Latency,file=%s" % vm.path("two.txt"))
    live.next_round(2)
    load(live, "command=report")
    rows = last_of(vm, "two.txt")
    check_equal((rows["Latency.line"].calls, rows["Latency.line"].running), (0, 1), "calls of line()\n%s\n" % live.state())
    check_calls(rows, 12, live.state())
    live.ended_well()


@vm_test(units=UNITS, since=21)
def attached_to_virtual_threads(vm):
    live = vm.start("latency=Latency,start=n,file=out.txt,control=" + vm.path("s"), "Latency", "rounds", "virtual")
    live.next_round(1)
    must(vm.path("s"), "start")
    live.next_round(2)
    run = live.ended_well()
    check_calls(last_of(vm, "out.txt"), 12, run)


# --- other formats


def check_classes(rows, calls):
    """Their calls add up, and each class is as wide as it may be."""
    found = {}
    for row in rows:
        check(row["from"] < row["to"] and (row["to"] - row["from"]) * 8 <= max(row["from"], 8), "a class of %s" % row)
        found[row["method"]] = found.get(row["method"], 0) + row["calls"]
    for name, (each, least) in METHODS.items():
        check_equal((name, found["Latency." + name]), (name, each * calls), "calls")
        shortest = min(row["to"] for row in rows if row["method"] == "Latency." + name)
        check(shortest > least * LEAST, "a call of %s in the class that ends with %d ns" % (name, shortest))


@vm_test(units=UNITS + ("encoder_json",))
def classes_of_durations_in_json(vm):
    run = vm.profiled("latency=Latency,format=json,file=out.json", "Latency", "calls", "4", "5")
    (_, classes), = json_tables(run.text("out.json"), "hprof.latency_classes/1")
    check_classes(classes, 20)
    (_, rows), = json_tables(run.text("out.json"), "hprof.latency/1")
    for row in rows:
        of = [cell for cell in classes if cell["method"] == name_of(row)]
        check_equal(sum(cell["calls"] for cell in of), row["calls"], "calls of %s" % row)
        check(not of or min(cell["from"] for cell in of) <= row["p50"] <= row["max"] < max(cell["to"] for cell in of), "%s in %s" % (row, of))


def name_of(row):
    return row["method"]["name"]


@vm_test(units=UNITS + ("encoder_json", "report_windows"))
def windows_add_up(vm):
    live = vm.start("latency=Latency,every=1,control=ctl,format=json,file=out.json", "Latency", "rounds")
    text = lambda: open(vm.path("out.json")).read()
    for number in (1, 2, 3):
        live.next_round(number)
        before = text().count('"reason":"window"')
        live.wait_until(lambda: text().count('"reason":"window"') > before + 2, "a window")
    must(vm.path("ctl"), "stop", "report")
    run = live.ended_well()
    found = json_tables(run.text("out.json"), "hprof.latency_classes/1")
    whole = [rows for report, rows in found if report["cumulative"]]
    check_classes(whole[-1], 36)
    check_classes([row for report, rows in found if not report["cumulative"] for row in rows], 36)
    # Percentiles are the window's own: no window knows the calls of another one.
    for report, rows in json_tables(run.text("out.json"), "hprof.latency/1"):
        for row in rows:
            if name_of(row) == "Latency.twenty" and row["calls"] != 0:
                check(row["p50"] >= 20e6 * 0.93 * LEAST, "a window's percentile: %s" % row)


@vm_test(units=UNITS + ("encoder_pprof", "encoder_otlp"))
def classes_are_labels_of_pprof_and_otlp(vm):
    run = vm.profiled("latency=Latency,format=pprof,compress=n,file=out.pb", "Latency", "calls", "4", "5")
    table = Pprof(run.bytes("out.pb"))
    check_classes([{"method": stack[0], "calls": values["calls"], "from": labels.get("from", 0), "to": labels["to"]}
                   for (stack, values, _), labels in zip(table.stacks, table.labels)], 20)
    run = vm.profiled("latency=Latency,format=otlp,compress=n,file=out.otlp", "Latency", "calls", "4", "5")
    calls = Otlp(run.bytes("out.otlp")).profiles["calls"]
    check_classes([{"method": stack[0], "calls": values["calls"], "from": int(labels.get("from", 0)), "to": int(labels["to"])}
                   for stack, values, labels in calls.stacks], 20)
    for name in ("out.pb", "out.otlp"):
        code, text = hprof(vm, "print", vm.path(name))
        check(code == 0 and "CALL LATENCY CLASSES" in text and "CPU TIME" not in text, "%s: %s" % (name, text))
