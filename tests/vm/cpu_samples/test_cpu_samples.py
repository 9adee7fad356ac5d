"""cpu=samples, as the programs that read it want it; msa=y, a row of the system's books for each thread."""
import re

from harness import LACKS, check, check_equal, vm_test
from reports import parse_ascii, parse_binary
from tool import hprof, sound

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")
BINARY = ("cpu_samples", "encoder_binary", "sink_file")


def top(section):
    return section.rows[0].method


@vm_test(units=UNITS, quick=True)
def hot_method_is_on_top(vm):
    vm.needs_signals_in_time()
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "10")
    report = parse_ascii(run.text("out.txt"))
    sections = report.cpu()
    check_equal(len(sections), 1, "CPU sections")
    check_equal(top(sections[0]), "Spin.hot", "the hottest method\n%s\n" % run.text("out.txt"))
    check(sections[0].total >= 10, "only %d samples of about a second's work" % sections[0].total)
    trace = report.traces[sections[0].rows[0].trace]
    methods = [frame[0] for frame in trace.frames]
    check_equal(methods[:4], ["Spin.hot", "Spin.round", "Spin.work", "Spin.main"], "the hottest trace")
    check_equal(trace.frames[0][1], "Spin.java", "source file")


@vm_test(units=UNITS)
def every_named_trace_stands_right_before_the_table(vm):
    run = vm.profiled("cpu=samples,file=out.txt", "Lambdas")
    section = parse_ascii(run.text("out.txt")).cpu()[0]
    missing = {row.trace for row in section.rows} - set(section.traces_before)
    check(not missing, "traces not right before the table: %s" % sorted(missing))


@vm_test(units=UNITS)
def hidden_classes_have_readable_names(vm):
    """No blank, and no address that differs from run to run."""
    run = vm.profiled("cpu=samples,interval=1,depth=30,file=out.txt", "Lambdas", "busy")
    found = {method for trace in parse_ascii(run.text("out.txt")).traces.values() for method, _, _ in trace.frames}
    check(any("$$Lambda" in method for method in found), "no frame of a hidden class in %s" % sorted(found))
    for method in found:
        check("/0x" not in method and ".0x" not in method, "an address in %s" % method)


@vm_test(units=UNITS)
def program_without_samples_has_a_readable_report(vm):
    """gprof2dot waits for ever when there is no row at all; the reader here wants one, too."""
    run = vm.profiled("cpu=samples,interval=100000,file=out.txt", "Quick")
    check_equal(parse_ascii(run.text("out.txt")).cpu()[0].total, 0, "samples")


@vm_test(units=UNITS)
def depth_0_still_has_a_frame_per_trace(vm):
    run = vm.profiled("cpu=samples,depth=0,file=out.txt", "Spin", "4")
    section = parse_ascii(run.text("out.txt")).cpu()[0]
    check(section.total > 0, "no samples")


@vm_test(units=UNITS)
def depth_bounds_the_traces(vm):
    run = vm.profiled("cpu=samples,depth=2,file=out.txt", "Spin", "4")
    report = parse_ascii(run.text("out.txt"))
    deepest = max(len(trace.frames) for trace in report.traces.values())
    check_equal(deepest, 2, "frames of the deepest trace")


@vm_test(units=UNITS + ("bytecode", "heap_sites"))
def probes_of_other_collectors_are_not_the_programs(vm):
    """Time in heap=sites' probes is a frame that says so, on top of the method that made the object."""
    for sampler in ("signal", "jvmti"):
        options = "heap=sites,cpu=samples,interval=1,depth=8,cutoff=0,file=out.txt,sampler=" + sampler
        report = parse_ascii(vm.profiled(options, "Garbage").text("out.txt"))
        # gprof2dot fails if another section is before it.
        check_equal([section.name.split()[0] for section in report.sections], ["CPU", "SITES"], "order of sections")
        rows = report.cpu()[0].rows
        stacks = [[frame[0] for frame in report.traces[row.trace].frames] for row in rows]
        check(not [stack for stack in stacks if "java.lang.Hprof" in "".join(stack)], "a class of probes is in %s" % stacks)
        found = [stack for stack in stacks if "JVM.hprof_probe" in stack]
        check(any("Garbage.make" in stack for stack in found), "no probe in Garbage.make: %s" % found)
        check(all(stack.count("JVM.hprof_probe") == 1 for stack in found), "probes in %s" % found)
        # The VM loses the callers of a sample now and then.
        alone, all_of_them = (sum(row.count for row, stack in zip(rows, stacks) if kind(stack))
                              for kind in (lambda stack: stack == ["JVM.hprof_probe"], lambda stack: "JVM.hprof_probe" in stack))
        check(alone * 10 <= all_of_them, "%d of %d probes without a caller" % (alone, all_of_them))


@vm_test(units=UNITS)
def line_numbers_can_be_left_out(vm):
    run = vm.profiled("cpu=samples,lineno=n,file=out.txt", "Spin", "4")
    lines = {frame[2] for trace in parse_ascii(run.text("out.txt")).traces.values() for frame in trace.frames}
    check_equal(lines, {"Unknown line"}, "lines of all frames")


@vm_test(units=UNITS)
def line_numbers_are_of_the_source(vm):
    vm.needs_signals_in_time()
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "6")
    report = parse_ascii(run.text("out.txt"))
    lines = {int(trace.frames[0][2]) for trace in report.traces.values() if trace.frames[0][0] == "Spin.hot"}
    check(lines and lines <= set(range(8, 14)), "lines of Spin.hot: %s" % sorted(lines))


@vm_test(units=UNITS)
def threads_are_told_apart(vm):
    vm.needs_signals_in_time()
    run = vm.profiled("cpu=samples,thread=y,file=out.txt", "Spin", "6", "2")
    report = parse_ascii(run.text("out.txt"), thread_ids=True)
    names = {name: number for _, number, name, _ in report.threads}
    for name in ("main", "spin 0", "spin 1"):
        check(name in names, "no THREAD START of %r in %s" % (name, sorted(names)))
    check_equal(len({number for _, number, _, _ in report.threads}), len(report.threads), "different thread ids")
    hot = {report.traces[row.trace].thread for row in report.cpu()[0].rows if row.method == "Spin.hot"}
    check({names["spin 0"], names["spin 1"]} <= hot, "Spin.hot was seen in threads %s of %s" % (hot, names))


NAMES = {"worker-7", "server-1", "old-1", "old-2"}
LAST_NAMES = {"worker-7", "server-1"}


@vm_test(units=UNITS, quick=True)
def a_thread_has_the_name_that_it_gave_itself(vm):
    vm.needs_signals_in_time()
    run = vm.profiled("cpu=samples,interval=1,thread=y,file=out.txt", "NamesItself")
    report = parse_ascii(run.text("out.txt"), thread_ids=True)
    names = {number: name for _, number, name, _ in report.threads}
    check_equal(NAMES & set(names.values()), LAST_NAMES, "names")
    busy = {names[report.traces[row.trace].thread] for row in report.cpu()[0].rows if row.method == "Spin.hot"}
    check_equal(busy, LAST_NAMES, "threads in Spin.hot")
    sound(vm, "out.txt")
    code, text = hprof(vm, "print", "--threads", vm.path("out.txt"))
    check_equal(code, 0, "hprof print\n%s\n" % text)
    check_equal({name for name in NAMES if name in text}, LAST_NAMES, "names\n%s\n" % text)


@vm_test(units=BINARY, quick=True)
def a_binary_report_has_the_name_that_a_thread_gave_itself(vm):
    run = vm.profiled("cpu=samples,format=b,file=out.hprof", "NamesItself")
    report = parse_binary(run.bytes("out.hprof"))
    names = {report.strings[thread[2]].decode(errors="replace") for thread in report.threads.values()}
    check_equal(NAMES & names, LAST_NAMES, "names")
    sound(vm, "out.hprof")


@vm_test(units=UNITS)
def cutoff_ends_the_table(vm):
    run = vm.profiled("cpu=samples,interval=1,cutoff=0.2,file=out.txt", "Spin", "8")
    section = parse_ascii(run.text("out.txt")).cpu()[0]
    check(all(row.self_percent >= 20.0 for row in section.rows), "a row below the cutoff")


@vm_test(units=UNITS)
def a_cutoff_above_all_rows_leaves_one_that_says_so(vm):
    """gprof2dot waits for ever when there is no row at all."""
    run = vm.profiled("cpu=samples,interval=1,cutoff=1.5,file=out.txt", "Spin", "4")
    section = parse_ascii(run.text("out.txt")).cpu()[0]
    check(section.total > 0, "no samples")
    check_equal([(row.method, row.count) for row in section.rows], [("JVM.all_below_cutoff", 0)], "rows")


@vm_test(units=UNITS)
def shorter_interval_gives_more_samples(vm):
    """Of the same work: 1 ms at least three times as many as 20 ms (it would be twenty)."""
    totals = {}
    for interval in ("1", "20"):
        run = vm.profiled("cpu=samples,interval=%s,file=out%s.txt" % (interval, interval), "Spin", "10")
        totals[interval] = parse_ascii(run.text("out%s.txt" % interval)).cpu()[0].total
    check(totals["1"] >= 3 * totals["20"], "samples by interval: %s" % totals)


@vm_test(units=UNITS, since=21)
def virtual_threads_are_seen(vm):
    run = vm.profiled("cpu=samples,interval=1,depth=8,file=out.txt", "Virtual")
    report = parse_ascii(run.text("out.txt"))
    check("Spin.hot" in [row.method for row in report.cpu()[0].rows], "the work of virtual threads is missing")


@vm_test(units=BINARY, quick=True)
def binary_report_holds_the_same(vm):
    vm.needs_signals_in_time()
    run = vm.profiled("cpu=samples,format=b,file=out.hprof", "Spin", "10")
    report = parse_binary(run.bytes("out.hprof"))
    check_equal(len(report.samples), 1, "CPU SAMPLES records")
    total, rows = report.samples[0]
    check(total >= 10, "only %d samples of about a second's work" % total)
    hottest = report.traces[max(rows)[1]][1]
    check_equal(report.frame_text(hottest[0]), "Spin.hot", "the hottest method")


@vm_test(units=BINARY)
def binary_default_file_is_java_hprof(vm):
    run = vm.profiled("cpu=samples,format=b", "Spin", "2")
    parse_binary(run.bytes("java.hprof"))


@vm_test(units=BINARY)
def binary_depth_0_is_readable(vm):
    run = vm.profiled("cpu=samples,format=b,depth=0,file=out.hprof", "Spin", "4")
    parse_binary(run.bytes("out.hprof"))


@vm_test(units=UNITS)
def lines_far_down_in_a_long_method_are_right(vm):
    """A method of 6,000 lines, which calls what takes the time in its last one."""
    vm.needs_signals_in_time()
    source = vm.path("Long.java")
    with open(source, "w") as file:
        file.write("public class Long { static int n; public static void main(String[] a) {\n")
        file.write("n++;\n" * 6000)
        file.write("System.out.println(Spin.hot(400_000_000));\n}}\n")
    code, text = vm.tool("javac", "-nowarn", "-cp", vm.classes, "-d", vm.dir, source)
    check_equal(code, 0, "javac: %s\n" % text)
    run = vm.profiled("cpu=samples,interval=1,file=out.txt", "-cp", "%s:%s" % (vm.dir, vm.classes), "Long")
    report = parse_ascii(run.text("out.txt"))
    lines = {frame[2] for trace in report.traces.values() for frame in trace.frames if frame[0] == "Long.main"}
    check("6002" in lines, "lines of main: %s\n%s" % (sorted(lines), run))


@vm_test(units=("msa", "cpu_samples", "encoder_ascii", "sink_file"), quick=True)
def every_thread_has_a_row_with_the_time_it_used(vm):
    run = vm.profiled("cpu=samples,msa=y,file=out.txt", "Spin", "20")
    text = run.text("out.txt")
    parse_ascii("".join(line for line in text.splitlines(True) if not line.startswith("MICROSTATES:")))
    rows = [dict(re.findall(r"(\w+)=(-?\d+)", line)) for line in text.splitlines() if line.startswith("MICROSTATES:")]
    started = {number: name for number, name in re.findall(r'THREAD START \(obj=\w+, id = (\d+), name="(.*?)"', text)}
    seen = [row["thread"] for row in rows]
    check(len(seen) == len(set(seen)), "a thread has two rows: %s" % seen)
    check(set(seen) <= set(started), "rows of unknown threads: %s" % (set(seen) - set(started)))
    check(len(set(started) - set(seen)) <= 1, "threads without a row: %s" % (set(started) - set(seen)))
    busiest = max(rows, key=lambda row: int(row["user_ns"]))
    # It is the same thread of the system by both names.
    check(started[busiest["thread"]] in ("main", "DestroyJavaVM"), "the busiest thread: %s" % busiest)
    check(int(busiest["user_ns"]) > 0, "no user time: %s" % busiest)
    if "kernel counts" not in LACKS:
        check(int(busiest["minor_faults"]) >= 0 and int(busiest["voluntary_switches"]) > 0, "counts: %s" % busiest)
    check("HPROF NOTE: msa: not kept by this system: " in text, "nothing is said to be missing")


@vm_test(units=("msa", "encoder_ascii", "sink_file"))
def without_the_option_there_are_no_rows(vm):
    run = vm.profiled("cpu=samples,msa=n,file=out.txt", "Quick")
    check("MICROSTATES" not in run.text("out.txt").split("--------")[-1], "rows without msa=y")
