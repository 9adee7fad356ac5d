"""cpu=times and cpu=old: exact counts, whatever ends a call."""
import os
import re
import zipfile

from commands import must
from harness import ROOT, Skip, check, check_equal, vm_test
from programs import COUNTS
from reports import parse_ascii

UNITS = ("bytecode", "cpu_times", "encoder_ascii", "sink_file")


def counts(report):
    """Calls by method."""
    found = {}
    for row in report.cpu("CPU TIME (ms)")[0].rows:
        found[row.method] = found.get(row.method, 0) + row.count
    return found


def check_counts(report, wanted, run):
    found = counts(report)
    wrong = {name: (found.get(name, 0), count) for name, count in wanted.items() if found.get(name, 0) != count}
    check(not wrong, "calls (found, made): %s\n%s" % (wrong, run))


def profile(vm, options, *program):
    run = vm.profiled("cpu=times,cutoff=0,file=out.txt" + options, *program)
    return run, parse_ascii(run.text("out.txt"), "thread=y" in options)


@vm_test(units=UNITS, quick=True)
def every_call_is_counted(vm):
    run, report = profile(vm, "", "Calls")
    check_counts(report, COUNTS, run)
    # The agent's own classes are in no count, and no filter was given.
    check(not any("excluded by the filter" in note for note in report.notes), "notes: %s" % report.notes)


@vm_test(units=UNITS)
def every_call_is_counted_by_thread_and_at_any_depth(vm):
    for options in (",thread=y", ",depth=1", ",depth=30"):
        run, report = profile(vm, options, "Calls")
        check_counts(report, COUNTS, run)
        cut = [note for note in report.notes if "may lack callers, cut at depth=" in note]
        check(options == ",depth=30" or len(cut) == 1, "stacks are cut: %s" % report.notes)


@vm_test(units=UNITS)
def long_class_names_are_whole(vm):
    package = ["p" * 100] * 25
    folder = vm.path(os.path.join(*package))
    os.makedirs(folder)
    with open(os.path.join(folder, "A.java"), "w") as file:
        file.write("package %s; public class A { static int f(int i) { return i + 1; } public static void main(String[] a) { "
                   "for (int i = 0; i < 1000; i++) f(i); } }" % ".".join(package))
    code, said = vm.tool("javac", "-d", vm.dir, os.path.join(folder, "A.java"))
    check_equal(code, 0, "exit code of javac: " + said)
    name = ".".join(package) + ".A"
    _, report = profile(vm, "", "-cp", vm.dir, name)
    check_equal(counts(report).get(name + ".f"), 1000, "calls of the method")
    check("JVM.method_without_number" not in counts(report), "methods without a number: %s" % report.notes)


@vm_test(units=UNITS + ("heap_sites", "monitor"))
def depth_beyond_a_collectors_own_is_said(vm):
    for collector, name, most in (("cpu=times", "cpu=times", 256), ("heap=sites", "heap=sites", 512), ("monitor=y", "monitor", 512)):
        for depth, told in ((most + 1, ["%s: depth=%d is cut to %d" % (name, most + 1, most)]), (most, [])):
            run = vm.profiled("%s,depth=%d,file=out.txt" % (collector, depth), "Quick")
            check_equal(re.findall(".*?([a-z=]+: depth=.*)", run.err), told, "messages with depth=%d\n%s\n" % (depth, run))


@vm_test(units=UNITS)
def depth_does_not_change_while_calls_are_counted(vm):
    path = vm.path("s")
    live = vm.start("cpu=times,depth=3,file=out.txt,control=" + path, "Idle")
    must(path, "depth 3", "depth 5")
    run = live.finish()
    told = re.findall("cpu=times: the depth cannot change while it counts; it stays (.*)", run.err)
    check_equal(told, ["3"], "messages\n%s\n" % run)


@vm_test(units=UNITS + ("heap_sites",), since=11)
def debuggers_that_step_into_calls_pass_over_probes(vm):
    plain = vm.run_java("Steps", vm.classes, "Stepped")
    check(plain.code == 0 and plain.out.count("Stepped.once") > 20, "no steps without the agent\n%s" % plain)
    for options in ("cpu=times", "cpu=times,clock=wall", "heap=sites"):
        run = vm.run_java("Steps", vm.classes, "Stepped", vm.agent_option(options + ",file=out.txt"))
        check_equal(run.out.splitlines(), plain.out.splitlines(), "steps with %s\n%s\n" % (options, run))


@vm_test(units=UNITS)
def handlers_and_what_follows_them_have_the_right_callers(vm):
    """An exception that passed through frames leaves no trace in later ones."""
    run, report = profile(vm, ",depth=3", "Calls")
    callers = {"Calls.afterCatch": ["Calls.catcher", "Calls.main"], "Calls.afterBroken": ["Calls.broken", "Calls.main"],
               "Calls.inFinally": ["Calls.finallyOf", "Calls.main"], "Calls.afterOverflow": ["Calls.main"],
               "Calls$Square.area": ["Calls.main"]}
    found = {}
    for row in report.cpu("CPU TIME (ms)")[0].rows:
        if row.method in callers:
            found.setdefault(row.method, []).append([frame[0] for frame in report.traces[row.trace].frames[1:]])
    check_equal(found, {method: [frames] for method, frames in callers.items()}, "callers, each once\n%s\n" % run)


@vm_test(units=UNITS)
def threads_are_told_apart(vm):
    _, report = profile(vm, ",thread=y", "Calls")
    names = {number: name for _, number, name, _ in report.threads}
    workers = sorted(names[report.traces[row.trace].thread] for row in report.cpu("CPU TIME (ms)")[0].rows
                     if row.method == "Calls.work")
    check_equal(workers, ["idle"] + ["worker-%d" % i for i in range(5)], "threads of Calls.work")


@vm_test(units=UNITS, since=21)
def virtual_threads_are_counted_exactly(vm):
    for mode, count in (("cpu", 10000), ("wall", 2000)):
        run, report = profile(vm, ",clock=" + mode, "Calls", "virtual", str(count))
        check_counts(report, {"Calls.work": count, "Calls.step": 20 * count, "Calls.nap": 20 * count, "Calls.virtual": 1}, run)


@vm_test(units=UNITS)
def time_goes_to_the_method_that_used_it(vm):
    for mode in ("cpu", "wall"):
        run, report = profile(vm, ",clock=" + mode, "Calls", "spin", "1000000")
        section = report.cpu("CPU TIME (ms)")[0]
        check(section.rows[0].method in ("Calls.burn", "Calls.spin"), "most time in %s\n%s" % (section.rows[0].method, run))
        share = sum(row.self_percent for row in section.rows if row.method in ("Calls.burn", "Calls.spin"))
        check(share > 50, "%s: only %.2f %% in the loop\n%s" % (mode, share, run))


@vm_test(units=UNITS)
def time_of_short_bursts_does_not_go_to_the_waits_between_them(vm):
    run, report = profile(vm, ",include=Bursts", "Bursts", "1500")
    shares = {row.method: row.self_percent for row in report.cpu("CPU TIME (ms)")[0].rows}
    check(shares["Bursts.work"] > 75, "shares: %s\n%s" % (shares, run))


@vm_test(units=UNITS)
def frames_say_where_methods_begin(vm):
    _, report = profile(vm, "", "Calls")
    lines = {trace.frames[0][2] for trace in report.traces.values() if trace.frames[0][0] == "Calls.fib"}
    check_equal(lines, {"13"}, "lines of Calls.fib")
    callers = {frame[2] for trace in report.traces.values() for frame in trace.frames[1:]}
    check_equal(callers, {"Unknown line"}, "lines of callers")


@vm_test(units=UNITS)
def classes_can_be_chosen(vm):
    _, report = profile(vm, ",include=Calls", "Calls")
    check(all(name.startswith("Calls.") or name.startswith("Calls$") for name in counts(report)),
          "other classes are there: %s" % sorted(counts(report))[:20])
    _, report = profile(vm, ",include=Calls:java.util.*,exclude=Calls$*:java.util.zip.*", "Calls")
    found = counts(report)
    check_equal(found.get("Calls.fib"), COUNTS["Calls.fib"], "calls of fib")
    check(not any(name.startswith(("Calls$", "java.util.zip.", "java.lang.")) for name in found), "excluded classes are there")
    check(any(name.startswith("java.util.") for name in found), "java.util is not there")
    _, report = profile(vm, ",include=Calls.fib", "Calls")
    check_equal(counts(report), {"Calls.fib": COUNTS["Calls.fib"]}, "calls of one method")
    _, report = profile(vm, ",include=Calls.none", "Calls")
    check(any("no loaded class or method is Calls.none" in note for note in report.notes), "notes: %s" % report.notes)


@vm_test(units=UNITS)
def more_traces_than_memory_has_room_for_leave_a_report_with_all_calls(vm):
    """131,071 calls, nearly each with a trace of its own; on one thread, then on threads that begin when the others have taken what
    memory there is, and end before the report."""
    for threads in (1, 4, 30):
        for memory in ("8m", "16m"):
            run = vm.profiled("cpu=times,depth=20,cutoff=0,include=ManyTraces,max-memory=%s,file=out.txt" % memory,
                              "ManyTraces", "16", str(threads))
            report = parse_ascii(run.text("out.txt"))
            found = counts(report)
            made = int(run.out)
            check_equal(made, threads * 131071, "calls")
            # main(), and of each thread the constructor and run().
            check_equal(sum(found.values()), made + 1 + 2 * threads, "%s, %d threads: calls in the report\n%s\n" % (memory, threads, report.notes))
            # What the last ones call is their run()'s.
            check(threads > 4 or found["ManyTraces.left"] > made / 10, "%s: nearly no traces: %s" % (memory, report.notes))
            check(any("their share of memory was full" in note for note in report.notes), "nothing is said: %s" % report.notes)
            os.unlink(vm.path("out.txt"))


@vm_test(units=UNITS)
def old_format_has_callers_and_callees(vm):
    run = vm.profiled("cpu=old,file=out.txt", "Calls")
    lines = run.text("out.txt").splitlines()
    check_equal(lines[0], "count callee caller time", "first line")
    found = {}
    for line in lines[1:]:
        count, callee, caller, _ = line.replace("<unknown caller>", "none").split(" ")
        found[callee, caller] = found.get((callee, caller), 0) + int(count)
    check_equal(found["Calls.fib(I)I", "Calls.fib(I)I"], 21890, "fib from fib")
    check_equal(found["Calls.thrower(I)V", "Calls.catcher()I"], 100, "thrower from catcher")
    check_equal(found["Calls.thrower(I)V", "Calls.thrower(I)V"], 1000 + 1 + 2 + 3 + 4, "thrower from thrower")
    check_equal(found["Calls.main([Ljava/lang/String;)V", "none"], 1, "main")


@vm_test(units=UNITS)
def rewritten_classes_pass_the_verifier(vm):
    run = vm.profiled("cpu=times,cutoff=0,file=out.txt", "Calls", java=("-Xverify:all",))
    check_counts(parse_ascii(run.text("out.txt")), COUNTS, run)


@vm_test(units=UNITS)
def binary_format_is_refused(vm):
    line = vm.refused("cpu=times,format=b")
    check("cpu=times is not supported with format=b" in line, line)


@vm_test(units=UNITS)
def the_report_says_which_clock_it_used(vm):
    words = {"cpu": "CPU time, read from each thread", "wall": "elapsed time, read at entry and exit"}
    for mode, text in words.items():
        run, report = profile(vm, ",clock=" + mode, "Calls")
        check(any(text in note for note in report.notes), "clock=%s: %s\n%s" % (mode, report.notes, run))
        check_counts(report, COUNTS, run)


@vm_test(units=UNITS)
def the_report_says_what_the_process_used(vm):
    for mode, times in (("cpu", 1), ("wall", 0)):
        run, report = profile(vm, ",clock=" + mode, "Calls")
        notes = [note for note in report.notes if note.startswith("cpu=times: the process used ")]
        check_equal(len(notes), times, "clock=%s: %s\n%s" % (mode, report.notes, run))
        for note in notes:
            found = re.match(r".* used ([\d.]+) s .* the methods in the table ([\d.]+) s, methods that are not counted ([\d.]+) s; the rest, ([\d.]+) s",
                             note)
            process, *parts = map(float, found.groups())
            check(process > 0 and abs(process - sum(parts)) < 0.1 + 0.05 * process, note)


@vm_test(units=UNITS)
def times_clock_says_whether_it_read_the_counter_or_nanotime(vm):
    """By the counter where Linux itself goes by it, on x86 only."""
    try:
        with open("/sys/devices/system/clocksource/clocksource0/current_clocksource") as file:
            trusted = file.read() == "tsc\n"
    except OSError:
        trusted = False
    run, report = profile(vm, ",clock=wall", "Calls")
    notes = [note for note in report.notes if "(clock=wall)" in note]
    check_equal(len(notes), 1, "notes on the clock: %s" % report.notes)
    counter = "by the processor's counter" in notes[0]
    check(counter != ("by System.nanoTime" in notes[0]), notes[0])
    check_counts(report, COUNTS, run)
    check(not counter or (vm.machine == "amd64" and trusted), "the counter is used, which the system does not trust: %s" % run)


@vm_test(units=UNITS)
def classes_of_loaders_that_delegate_only_java_are_counted(vm):
    """Three loaders, each with a class of its own of that name: their calls add up."""
    run, report = profile(vm, "", "Isolated")
    check_counts(report, {"Isolated$Inner.fib": 3 * 177, "Isolated$Inner.run": 3, "Isolated$Inner.<init>": 3}, run)


@vm_test(units=UNITS)
def classes_of_one_name_in_two_loaders_are_two(vm):
    for mode in ("cpu", "wall"):
        run, report = profile(vm, ",clock=" + mode, "SameNames")
        steps = sorted(row.count for row in report.cpu("CPU TIME (ms)")[0].rows if row.method == "SameNames$Work.step")
        check_equal(steps, [30, 70], "calls of step\n%s\n" % run)


@vm_test(units=UNITS, since=25)
def what_the_vm_says_of_its_archive_is_silenced_as_the_page_says(vm):
    with open(os.path.join(ROOT, "docs", "compatibility.md")) as file:
        flag = re.search(r"`(-Xlog:aot=\S+)` on the command line suppresses the message", file.read()).group(1)
    with zipfile.ZipFile(vm.path("quick.jar"), "w") as jar:
        jar.write(os.path.join(vm.classes, "Quick.class"), "Quick.class")
    java = ("-XX:SharedArchiveFile=quick.jsa", "-cp", "quick.jar")
    made = vm.run_java("-XX:ArchiveClassesAtExit=quick.jsa", *java[1:], "Quick")
    check_equal(os.path.exists(vm.path("quick.jsa")), True, "the archive\n%s\n" % made)
    agent = vm.agent_option("cpu=times,file=out.txt")
    loud, silent = vm.run_java(agent, *java, "Quick"), vm.run_java(agent, flag, *java, "Quick")
    check("CDS is disabled because early JVMTI ClassFileLoadHook is in use" in loud.out, "without the flag\n%s" % loud)
    check("cpu=times switches the VM's class-data archive or AOT cache off" in loud.err, "why\n%s" % loud)
    check_equal((silent.code, silent.out), (0, "quick\n"), "with the flag\n%s\n" % silent)


@vm_test(units=UNITS, since=15)
def threads_that_zgc_moves_are_read_right(vm):
    """The fast versions of GetLongField read a moved Thread at its old address."""
    vm.needs_zgc()
    run = vm.profiled("cpu=times,cutoff=0,file=out.txt", "Moved", "4000", java=("-XX:+UseZGC", "-Xmx100m"))
    check_counts(parse_ascii(run.text("out.txt")), {"Moved.litter": 2}, run)


@vm_test(units=UNITS + ("heap_sites",), since=25)
def archives_are_made_as_without_the_agent(vm):
    with zipfile.ZipFile(vm.path("quick.jar"), "w") as jar:
        jar.write(os.path.join(vm.classes, "Quick.class"), "Quick.class")
    ways = (("-XX:AOTMode=record -XX:AOTConfiguration=", "made.conf"), ("-XX:AOTCacheOutput=", "made.aot"))
    for options in ("cpu=times", "heap=sites,early=n", "cpu=times,heap=sites,start=n"):
        for flags, name in ways:
            made = vm.run_java(vm.agent_option(options + ",file=out.txt,force=y"), *(flags + name).split(), "-cp", "quick.jar",
                               "Quick")
            check_equal((made.code, "quick\n" in made.out), (0, True), "the program's end\n%s\n" % made)
            check(os.path.exists(vm.path(name)), "no %s with %s\n%s" % (name, options, made))
            check_equal(made.err.count("no class is rewritten"), 1, "what is said\n%s\n" % made)
            check("not as it should be" not in made.err and "does not run" not in made.err, "nothing false\n%s" % made)
            os.remove(vm.path(name))


@vm_test(units=UNITS + ("heap_sites",), since=11)
def a_vm_that_requires_its_archive_starts(vm):
    """It would end without the archive, which early class hooks switch off."""
    with zipfile.ZipFile(vm.path("quick.jar"), "w") as jar:
        jar.write(os.path.join(vm.classes, "Quick.class"), "Quick.class")
    flags = [["-Xshare:auto", "-Xshare:on"]]
    if vm.version >= 25:
        vm.run_java("-XX:AOTCacheOutput=quick.aot", "-cp", "quick.jar", "Quick")
        flags.append(["-XX:AOTMode=on", "-XX:AOTCache=quick.aot"])
    if vm.run_java("-Xshare:on", "-cp", "quick.jar", "Quick").code != 0:
        raise Skip("this JDK has no archive")
    for java in flags:
        for options, empty in (("cpu=times", 1), ("heap=sites", 0), ("heap=sites,early=n", 0)):
            run = vm.run_java(vm.agent_option(options + ",file=out.txt,force=y"), *java, "-cp", "quick.jar", "Quick")
            check_equal((run.code, run.out), (0, "quick\n"), "the program's end\n%s\n" % run)
            check_equal(run.err.count("ends a VM that cannot use its archive"), "early=n" not in options, "why\n%s\n" % run)
            check_equal(run.err.count("has no probes in this run"), empty, "what counts nothing\n%s\n" % run)
            check("archive or AOT cache off" not in run.err, "what is switched off\n%s" % run)
            run.text("out.txt")


@vm_test(units=UNITS)
def calls_that_a_loop_counts_after_the_stop_are_in_no_report(vm):
    """The loop looked at the probes' switch before it began."""
    path = vm.path("control")
    live = vm.start("cpu=times,include=LongLoop,cutoff=0,control=%s,file=out.txt" % path, "LongLoop")
    must(path, "stop", "report")
    loops = live.out().count("looped")
    live.wait_until(lambda: live.out().count("looped") > loops, "the end of the loop")
    must(path, "report")
    run = live.finish()
    found = [sum(row.count for row in section.rows if row.method == "LongLoop.step")
             for section in parse_ascii(run.text("out.txt")).cpu("CPU TIME (ms)")]
    check(len(found) == 2 and found[0] == found[1] > 2000000, "calls of step, twice: %s\n%s" % (found, run))
