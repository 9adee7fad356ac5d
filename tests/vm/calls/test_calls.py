"""calls=y: exact counts of calls by method and thread; started, attached and detached; beside cpu=times."""
import re

from commands import load_agent, loaded, must
from harness import check, check_equal, vm_test
from programs import COUNTS
from reports import json_tables, parse_ascii

UNITS = ("bytecode", "calls", "encoder_ascii", "sink_file")
# Calls of Latency.all(), and what it calls.
METHODS = {"all": 1, "twenty": 1, "twelve": 1, "eight": 1, "rest": 3, "thrower": 1, "recursive": 10, "locked": 1}


def rows(report):
    """[(method, trace, calls)] of each table; a table begins with rank 1."""
    found = []
    for title, cells in report.table_lines:
        if title != "METHOD_CALLS":
            continue
        if cells["rank"] == "1":
            found.append([])
        found[-1].append((cells["method"], int(cells["trace"]), int(cells["calls"])))
    return found


def by_method(table):
    found = {}
    for method, _, calls in table:
        found[method] = found.get(method, 0) + calls
    return found


def check_counts(found, wanted, run):
    wrong = {name: (found.get(name), count) for name, count in wanted.items() if found.get(name) != count}
    check(not wrong, "calls (found, made): %s\n%s" % (wrong, run))


def check_rounds(found, times, run):
    check_counts(found, {"Latency." + name: calls * times for name, calls in METHODS.items()}, run)


def profile(vm, options, *program, java=()):
    run = vm.profiled("calls=y,file=out.txt" + options, *program, java=java)
    report = parse_ascii(run.text("out.txt"), "thread=y" in options)
    table, = rows(report)
    return run, report, table


@vm_test(units=UNITS, quick=True)
def every_call_is_counted(vm):
    for options in ("", ",include=Calls*"):
        run, report, table = profile(vm, options, "Calls")
        check_counts(by_method(table), COUNTS, run)
        check_equal(sorted((-calls for _, _, calls in table)), [-calls for _, _, calls in table], "rows by calls")
    check_equal(len(by_method(table)), len(table), "a row for each method")
    # Loaded and never called.
    check_counts(by_method(table), {"Calls.burn": 0, "Calls.virtual": 0, "Calls.<init>": 0}, run)
    check(any(" of them were never called" in note for note in report.notes), "notes: %s" % report.notes)
    # Options of units are named, but no free text.
    check(any("; options calls=y" in note and "Calls*" not in note for note in report.notes), "notes: %s" % report.notes)
    check(all(name.startswith("Calls") for name in by_method(table)), "methods: %s" % by_method(table))


@vm_test(units=UNITS)
def interpreted_and_compiled_calls_are_the_same(vm):
    for java in (("-Xint",), ("-XX:TieredStopAtLevel=1",), ("-Xbatch", "-XX:-TieredCompilation")):
        run, _, table = profile(vm, ",include=Calls*", "Calls", java=java)
        check_counts(by_method(table), COUNTS, run)


@vm_test(units=UNITS)
def calls_are_those_of_threads(vm):
    run, report, table = profile(vm, ",thread=y,include=Calls*", "Calls")
    check_counts(by_method(table), COUNTS, run)
    names = {number: name for _, number, name, _ in report.threads}
    found = {}
    for method, trace, calls in table:
        if calls:
            found.setdefault(method, {})[names.get(report.traces[trace].thread, "none")] = calls
    workers = ["worker-%d" % i for i in range(5)]
    check_equal(found["Calls.step"], {name: 20 for name in workers + ["idle"]}, "calls of step()\n%s\n" % run)
    check_equal(found["Calls.fib"], {"main": COUNTS["Calls.fib"]}, "calls of fib()\n%s\n" % run)
    never = {method for method, _, calls in table if calls == 0}
    check_equal(never & set(found), set(), "called, and listed as never called")


@vm_test(units=UNITS)
def two_thousand_threads(vm):
    for options in ("", ",thread=y"):
        run, report, table = profile(vm, ",include=Latency" + options, "Latency", "calls", "2000", "1", java=("-Xss256k",))
        check_rounds(by_method(table), 2000, run)
    # So many rows that the later threads have one together.
    check(any("the rows without a thread have the calls of" in note for note in report.notes), "notes: %s" % report.notes)


@vm_test(units=UNITS, since=21)
def virtual_threads_are_counted_exactly(vm):
    for options in ("", ",thread=y"):
        run, _, table = profile(vm, options + ",include=Calls*:java.lang.VirtualThread", "Calls", "virtual", "10000")
        check_counts(by_method(table), {"Calls.work": 10000, "Calls.step": 200000, "Calls.nap": 200000, "Calls.virtual": 1}, run)
        check_equal(by_method(table)["java.lang.VirtualThread.<init>"], 10000, "virtual threads")


@vm_test(units=UNITS + ("cpu_times",))
def counts_are_those_of_cpu_times(vm):
    run = vm.profiled("calls=y,cpu=times,include=Calls*,depth=1,cutoff=0,file=out.txt", "Calls")
    report = parse_ascii(run.text("out.txt"))
    times = {row.method: row.count for row in report.cpu("CPU TIME (ms)")[0].rows}
    table, = rows(report)
    counted = {method: calls for method, calls in by_method(table).items() if calls}
    # The stack may overflow between the probes of the two units.
    check(abs(counted.pop("Calls.overflow") - times.pop("Calls.overflow")) <= 6, "calls that overflow\n%s\n" % run)
    check_equal(counted, times, "calls\n%s\n" % run)


@vm_test(units=UNITS)
def patterns_choose_methods(vm):
    _, _, table = profile(vm, ",include=Calls.fib:Calls$*:None,exclude=Calls$Square", "Calls")
    check_equal({name for name in by_method(table) if "lambda" not in name.lower()}, {"Calls.fib", "Calls$Broken.<init>"}, "methods")
    run = vm.profiled("calls=y,include=com.acme.None,file=out.txt", "Quick")
    check("no loaded class or method is com.acme.None" in run.text("out.txt"), "no note\n%s" % run)


@vm_test(units=UNITS + ("cpu_times", "latency"))
def intrinsics_have_no_count(vm):
    for select in ("calls=y,include=java.lang.Math:java.lang.Byte", "cpu=times,depth=1,cutoff=0", "latency=java.lang.Math"):
        run = vm.profiled(select + ",file=out.txt", "Calls")
        report = parse_ascii(run.text("out.txt"))
        methods = set(re.findall(r"java\.lang\.Math\.\w+", run.text("out.txt")))
        check(not {"java.lang.Math." + name for name in ("sin", "sqrt", "pow")} & methods, "%s: %s" % (select, methods))
        check("calls" not in select or "java.lang.Math.floorDiv" in methods, "methods: %s" % methods)
        # Called by the body of ArraysSupport.vectorizedHashCode, since JDK 22.
        check("java.lang.Byte.toUnsignedInt" not in run.text("out.txt") or vm.version < 9, "%s\n%s" % (select, run))
        check("calls" not in select or "java.lang.Byte.toUnsignedLong" in run.text("out.txt"), "%s\n%s" % (select, run))
        check(any("(intrinsic of the VM)" in note or "intrinsic of the VM (" in note for note in report.notes), "notes: %s" % report.notes)


@vm_test(units=UNITS)
def it_counts_while_it_is_on(vm):
    for options in ("", ",thread=y"):
        path = vm.path("s" + options[1:2])
        live = vm.start("calls=y,include=Latency,start=n,file=out.txt,control=%s%s" % (path, options), "Latency", "rounds")
        live.next_round(1)
        must(path, "start")
        live.next_round(2)
        must(path, "report")
        live.next_round(3)
        must(path, "stop", "report")
        live.next_round(4)
        must(path, "start")
        live.next_round(5)
        must(path, "report", "reset")
        live.next_round(6)
        run = live.ended_well()
        found = [by_method(table) for table in rows(parse_ascii(run.text("out.txt"), bool(options)))]
        for table, times in zip(found, (12, 24, 36, 12)):
            check_rounds(table, times, run)
        check_equal(len(found), 4, "reports")


@vm_test(units=UNITS + ("encoder_json", "report_windows"))
def windows_add_up(vm):
    live = vm.start("calls=y,include=Latency,every=1,cutoff=0,control=ctl,format=json,file=out.json", "Latency", "rounds")
    text = lambda: open(vm.path("out.json")).read()
    for number in (1, 2, 3):
        live.next_round(number)
        before = text().count('"reason":"window"')
        live.wait_until(lambda: text().count('"reason":"window"') > before + 1, "a window")
    must(vm.path("ctl"), "stop", "report")
    run = live.ended_well()
    for cumulative in (False, True):
        found = {}
        for report, table in json_tables(run.text("out.json"), "hprof.method_calls/1"):
            if report["cumulative"] and cumulative:
                found = {}
            for row in table if report["cumulative"] == cumulative else ():
                found[row["method"]] = found.get(row["method"], 0) + row["calls"]
        check_rounds(found, 36, run)


# --- attached


def load(live, options):
    check(loaded(load_agent(live.pid, live.vm.agent, options)), "%s\n%s" % (options, live.state()))


def last_of(vm, name, thread=False):
    with open(vm.path(name)) as file:
        return by_method(rows(parse_ascii(file.read(), thread))[-1])


@vm_test(units=UNITS, quick=True)
def an_attached_agent_counts_calls_from_then_on(vm):
    live = vm.start(None, "Latency", "rounds", java=vm.attachable)
    live.next_round(1)
    load(live, "calls=y,include=Latency,file=%s" % vm.path("out.txt"))
    live.next_round(2)
    load(live, "command=report")
    check_rounds(last_of(vm, "out.txt"), 12, live.state())
    live.next_round(3)
    run = live.ended_well()
    check_rounds(last_of(vm, "out.txt"), 24, run)


@vm_test(units=UNITS)
def attached_without_patterns(vm):
    live = vm.start(None, "Latency", "rounds", java=vm.attachable)
    live.next_round(1)
    load(live, "calls=y,file=%s" % vm.path("out.txt"))
    live.next_round(2)
    run = live.ended_well()
    check_rounds(last_of(vm, "out.txt"), 12, run)


@vm_test(units=UNITS)
def a_detached_agent_comes_again(vm):
    live = vm.start(None, "Latency", "rounds", java=vm.attachable)
    for number, options in enumerate(("", ",thread=y", "")):
        name = "out%d.txt" % number
        load(live, "calls=y,include=Latency,logflags=1%s,file=%s" % (options, vm.path(name)))
        live.next_round(2 * number + 1)
        load(live, "command=detach")
        live.wait_until(lambda: live.err().count("bytes not given back") == number + 1, "the end of the detach")
        live.next_round(2 * number + 2)
        check_rounds(last_of(vm, name, bool(options)), 12, live.state())
    live.ended_well()


@vm_test(units=UNITS, since=21)
def attached_to_virtual_threads(vm):
    live = vm.start("calls=y,include=Latency,start=n,file=out.txt,control=" + vm.path("s"), "Latency", "rounds", "virtual")
    live.next_round(1)
    must(vm.path("s"), "start")
    live.next_round(2)
    run = live.ended_well()
    check_rounds(last_of(vm, "out.txt"), 12, run)
