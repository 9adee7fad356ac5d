"""The engines of cpu=samples: true shares, blocked threads, classes that come and go, virtual threads, several dumps."""
import os
import re
import time

from bytecode import OUTSIDE, ROOT, UNWALKED, read_classes, renumber, wrong_links
from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii
from tool import sound

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")
MONOTONIC_COARSE = 6  # the clock of Linux that moves at its ticks
METHODS = ("counted", "recursive", "tiny")
# The lab's item churn runs it with more of them.
CHURN_CLASSES = os.environ.get("HPROF_CHURN_CLASSES", "5000")

# Where the blocked threads of Shares stand, JDK 8 to 27.
BLOCKED = re.compile(r"^(java\.lang\.Object|sun\.nio\.ch\.\w+|java\.net\.\w*Socket\w*|(jdk\.internal|sun)\.misc\.Unsafe)"
                     r"\.(epollWait|poll0?|wait0?|accept0?|park|socketAccept)$")
HOLE = "JVM.frames_in_the_heap"
COLLECTORS = ("Serial", "Parallel", "G1", "Z", "Shenandoah")
POINTS = 1.0  # what a share may be off the truth, besides four standard errors


def sampled(vm, options, *program):
    """The program under cpu=samples, for programs that print figures of their own: (run, report, CPU section)."""
    run = vm.run_java(vm.agent_option("cpu=samples,cutoff=0,file=out.txt," + options), *program)
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    report = parse_ascii(run.text("out.txt"))
    return run, report, report.cpu()[0]


def methods(report, row):
    return [frame[0] for frame in report.traces[row.trace].frames]


def blocked_share(section):
    return sum(row.count for row in section.rows if BLOCKED.search(row.method)) / section.total


def check_shares(run, report, section):
    """The shares of the three methods against what the program has measured, and the looks they are from."""
    truth = {name: float(share) for name, share in re.findall(r"^SHARE (\w+) ([\d.]+)$", run.out, re.M)}
    counts = dict.fromkeys(METHODS, 0)
    for row in section.rows:
        for name in METHODS:
            if "Shares." + name in methods(report, row):
                counts[name] += row.count
                break
    total = sum(counts.values())
    check(total > 0.9 * section.total, "%d of %d samples are of the three methods" % (total, section.total))
    looks, most = re.search(r"cpu=samples: (\d+) stacks taken.*a share of 50% stands for [\d.]+% to ([\d.]+)%",
                            run.text("out.txt")).groups()
    error = float(most) - 50
    check(error < 10, "a standard error of %s points with %s looks" % (error, looks))
    for name in METHODS:
        share = 100.0 * counts[name] / total
        check(abs(share - truth[name]) <= POINTS + 4 * float(error),
              "%s: %.2f %%, in truth %.2f %%, standard error %s" % (name, share, truth[name], error))
    return int(looks)


@vm_test(units=UNITS)
def signal_engine_shares_are_the_true_ones(vm):
    run, report, section = sampled(vm, "sampler=signal,interval=1,depth=8", "Shares", "5")
    looks = check_shares(run, report, section)
    # A thread is sampled on its way into a wait at most. One look is of several samples there, where the kernel's tick is longer.
    check(blocked_share(section) < 0.001 + 3 / looks, "blocked threads were sampled")


@vm_test(units=UNITS, needs=("sampling signals",))
def shares_of_a_program_in_step_with_the_kernels_tick_are_the_true_ones(vm):
    """The kernel serves CPU timers at its ticks, 1 to 10 ms apart, which meet a round of that length at one place."""
    vm.needs_signals_in_time()
    if vm.machine not in ("amd64", "i386", "aarch64", "riscv64"):
        raise Skip("samples are taken at ticks")
    tick = 1000 * time.clock_getres(MONOTONIC_COARSE)
    for interval in (1, 2 * tick):
        run, report, section = sampled(vm, "sampler=signal,interval=%g,depth=8" % interval, "Shares", "4", "1", "%g" % tick)
        looks = check_shares(run, report, section)
        check(looks > 0.6 * section.total, "%d looks of %d samples" % (looks, section.total))


@vm_test(units=UNITS)
def jvmti_engine_leaves_blocked_threads_out(vm):
    _, report, section = sampled(vm, "sampler=jvmti,interval=5", "Shares", "3")
    check(section.total >= 300, "only %d samples of 3 s at 5 ms" % section.total)
    check(blocked_share(section) < 0.01, "blocked threads were sampled")
    seen = {method for row in section.rows for method in methods(report, row)}
    check("Shares.recursive" in seen and "Shares.run" in seen, "the work was not seen: %s" % sorted(seen))


def resident_growth(run):
    """Of ClassChurn, in kB."""
    first, last = (int(n) for n in re.search(r"RESIDENT (\d+) (\d+) kB", run.out).groups())
    return last - first


def churned(vm, sampler, grown_without):
    """ClassChurn under cpu=samples: the share of samples that have lost their names."""
    run, _, section = sampled(vm, "interval=1,sampler=" + sampler, "ClassChurn", CHURN_CLASSES)
    thrown = sum(row.count for row in section.rows if re.match(r"Thrown_\d{6}\.applyAsInt$", row.method))
    gone = sum(row.count for row in section.rows if row.method == "JVM.unloaded_method")
    check(thrown > 0.3 * section.total, "%s: %d of %d samples in the thrown classes" % (sampler, thrown, section.total))
    grown = resident_growth(run) - grown_without
    check(grown < 64 * 1024, "%s: resident memory grew by %d kB more than without the agent" % (sampler, grown))
    return gone / section.total


@vm_test(units=UNITS)
def classes_may_be_unloaded_behind_the_samples(vm):
    without = resident_growth(vm.plain("ClassChurn", CHURN_CLASSES))
    lost = []
    # 0.3 % where the sample thread gets a processor every 20 ms. One that waits for it 100 ms around a collection loses
    # the names of all samples since: on a busy machine that befalls one run, not three.
    while len(lost) < 3 and min(lost, default=1) >= 0.02:
        lost.append(churned(vm, "signal", without))
    check(min(lost) < 0.02, "shares of samples that have lost their names: %s" % lost)


def check_virtual_stacks(vm, sampler):
    _, report, section = sampled(vm, "interval=1,depth=32,sampler=" + sampler, "VirtualThreads", "2")
    burnt = [row for row in section.rows if row.method == "VirtualThreads.burnInVirtual"]
    check(sum(row.count for row in burnt) > 0.3 * section.total, "the virtual threads' work is missing")
    stacks = [stack for stack in (methods(report, row) for row in section.rows) if "VirtualThreads.virtualTask" in stack]
    check(stacks, "no stack of a virtual thread")
    for stack in stacks:
        carrier = [m for m in stack if "Continuation.run" in m or "ForkJoin" in m or "CarrierThread." in m]
        check(not carrier, "the carrier's frames %s are in the stack %s" % (carrier, stack))
    return stacks


@vm_test(units=UNITS, since=21)
def signal_engine_shows_virtual_threads_stacks_without_their_carriers(vm):
    stacks = check_virtual_stacks(vm, "signal")
    check(all(HOLE not in stack[:-1] for stack in stacks), "frames behind the hole")


@vm_test(units=UNITS, since=21)
def stacks_of_virtual_threads_are_whole_though_their_frames_are_in_the_heap(vm):
    vm.needs_signals_in_time()
    for collector in COLLECTORS:
        check_whole(vm, "DeepVirtual", "100", "60", "60", "20000", java=("-XX:+Use%sGC" % collector,))
    check_whole(vm, "DeepVirtual", "100", "60", "60", "20000", java=("-XX:+UseSerialGC", "-XX:-UseCompressedOops"))
    check_whole(vm, "DeepVirtual", "100", "60", "60", "20000", java=("-XX:TieredStopAtLevel=1",))
    check_whole(vm, "DeepVirtual", "40", "60", "20", "2000", java=("-Xint",))


@vm_test(units=UNITS, since=21)
def virtual_threads_run_while_their_frames_in_the_heap_are_read_and_moved(vm):
    for collector in COLLECTORS:
        judged_stacks(vm, "sampler=signal", "DeepVirtual", "2000", "60", "2", "1000", "gc", java=("-XX:+Use%sGC" % collector, "-Xmx256m"))


@vm_test(units=UNITS, since=21)
def stacks_end_at_frames_in_the_heap_that_are_not_read(vm):
    run, report, section = sampled(vm, "interval=1,depth=400,sampler=signal,hotspot=-stack-chunks", "DeepVirtual", "100", "60", "8", "20000")
    stacks = [methods(report, row) for row in section.rows]
    check(all(HOLE not in stack[:-1] for stack in stacks), "frames behind the hole")
    if vm.version >= 25:
        check(any(HOLE in stack for stack in stacks), "frames of virtual threads are in the heap, and no stack says so")


@vm_test(units=UNITS, since=21)
def jvmti_engine_shows_virtual_threads_stacks_without_their_carriers(vm):
    check_virtual_stacks(vm, "jvmti")


def judged_stacks(vm, engine, program, *arguments, java=()):
    """The program with line tables that number its instructions, so that its lines are bytecode indexes: (run, rows, classes), each row
    with the frames of its trace."""
    folder = vm.path("renumbered")
    renumber(vm.classes, program, folder)
    run, report, section = sampled(vm, "interval=1,depth=400," + engine, *java, "-cp", folder, program, *arguments)
    rows = [(row.count, report.traces[row.trace].frames) for row in section.rows]
    names = {frame[0].rsplit(".", 1)[0] for _, frames in rows for frame in frames}
    files = vm.path("files")
    os.makedirs(files, exist_ok=True)
    check_equal(vm.run_java("-cp", folder + os.pathsep + vm.classes, "ClassFiles", files, *sorted(names)).code, 0, "exit code")
    return run, rows, read_classes(files)


def needs_own_walk(vm):
    if vm.machine not in ("amd64", "aarch64"):
        raise Skip("stacks are walked by AsyncGetCallTrace alone")


def worst(links):
    counts = {}
    for count, link in links:
        counts[link] = counts.get(link, 0) + count
    return sorted(counts.items(), key=lambda link: -link[1])[:8]


# The own walk answers after some stacks were AsyncGetCallTrace's, too: samples that may be lost before.
PROOF = 80


# On aarch64 the frames of native code have no known size, and AsyncGetCallTrace, which is asked then, invents callers.
MOST_ELSEWHERE = 0.02

# AsyncGetCallTrace takes any word for the return address of compiled code that has not set its frame up yet: the caller of the method on
# top is invented, as long as that word stays there, and what stands below it did not call it. Links: up to 6 % of the samples, or none.
MOST_INVENTED_BY_VM = 0.1
INVENTED = 3


def check_stacks(vm, program, *arguments, java=(), engine="sampler=signal"):
    """Each caller calls what stands above it, and stacks begin at their roots: (samples, lost ones, the note on stacks)."""
    run, rows, classes = judged_stacks(vm, engine, program, *arguments, java=java)
    check(program in classes and any(name.startswith("java.") for name in classes), "no class file was read")
    total = sum(count for count, _ in rows)
    by_vm = engine.endswith("hotspot=-sample-walk")
    judged = (INVENTED - 1) * by_vm
    wrong = [(count, link) for count, frames in rows if len(frames) > judged + 1 for link in wrong_links(frames[judged:], classes)[:1]]
    most = 0.001 if vm.machine == "amd64" else MOST_ELSEWHERE
    check(sum(n for n, _ in wrong) <= most * total + 10, "callers that do not call, of %d samples: %s" % (total, worst(wrong)))
    if by_vm:
        wrong = [(count, link) for count, frames in rows for link in wrong_links(frames[:INVENTED], classes)[:1]]
        check(sum(n for n, _ in wrong) <= MOST_INVENTED_BY_VM * total, "callers on top that do not call, of %d: %s" % (total, worst(wrong)))
    lost = [(count, "%s ... %s" % (frames[0][0], frames[-1][0])) for count, frames in rows
            if frames[0][0] not in UNWALKED and (frames[0][0].startswith("JVM.") or not ROOT.search(frames[-1][0]))]
    note = re.search(r"cpu=samples: stacks: .*", run.text("out.txt"))
    check(note, "no note on stacks")
    judged = sum(count for count, frames in rows if frames[0][0] not in UNWALKED)
    holes = sum(count for count, frames in rows if any(frame[0] == HOLE for frame in frames))
    said = re.search(r"([\d.]+)% without frames of virtual threads", note.group(0))
    share = float(said.group(1)) if said else 0
    check(abs(share - 100 * holes / judged) < 0.02 + share / 20, "%d of %d samples, and %s" % (holes, judged, note.group(0)))
    return total, lost, note.group(0)


def check_whole(vm, *program, java=()):
    total, lost, note = check_stacks(vm, *program, java=java, engine="sampler=signal,hotspot=" + vm.all_items)
    needs_own_walk(vm)
    most = 0.002 if vm.machine == "amd64" else MOST_ELSEWHERE
    check(sum(n for n, _ in lost) <= most * total + PROOF, "lost of %d samples: %s" % (total, worst(lost)))
    whole = float(re.search(r"stacks: ([\d.]+)% whole", note).group(1))
    check(whole >= 100 * (1 - most - PROOF / total), note)


@vm_test(units=UNITS, needs=("sampling signals",))
def stacks_are_whole_and_their_callers_call(vm):
    vm.needs_signals_in_time()
    check_whole(vm, "Stacks", "1", "sort", "exceptions", "copies", "crypto", "strings", "natives", "locks")


@vm_test(units=UNITS, needs=("sampling signals",))
def native_code_has_a_frame_on_top_with_its_library_and_symbol(vm):
    vm.needs_signals_in_time()
    needs_own_walk(vm)
    run, rows, classes = judged_stacks(vm, "sampler=native,hotspot=" + vm.all_items, "Stacks", "1", "natives", "crypto")
    total = sum(count for count, _ in rows)
    sound(vm, "out.txt", "--for=gprof2dot,hprof2flamegraph")
    check(not any(OUTSIDE.match(frame[0]) for _, frames in rows for frame in frames[1:] if not frame[0].startswith("JVM.")),
          "native code that calls Java code")
    of = {}
    for count, frames in rows:
        if len(frames) > 1 and OUTSIDE.match(frames[0][0]):
            caller = frames[1][0]
            of.setdefault(caller, {}).setdefault(frames[0][0], 0)
            of[caller][frames[0][0]] += count
    deflated = sum((list(names) for caller, names in of.items() if caller.startswith("java.util.zip.Deflater.deflate")), [])
    check(any(re.match(r"libz(ip)?\.so", name) for name in deflated), "Deflater is in no library: %s" % deflated)
    files = of.get("java.io.UnixFileSystem.getLength0") or of.get("java.io.UnixFileSystem.getLength") or {}
    check(any(name.startswith("[kernel].") for name in files), "File.length is not in the kernel: %s" % files)
    stubs = [name for names in of.values() for name in names if name.startswith("JVM.")]
    check(any("StubRoutines" in name for name in stubs), "no stub of the VM: %s" % stubs)
    shown = sum(sum(names.values()) for names in of.values())
    check(shown > 0.2 * total, "%d of %d samples outside of Java methods: %s" % (shown, total, of))
    wrong = [(count, link) for count, frames in rows for link in wrong_links(frames, classes)[:1]]
    check(sum(n for n, _ in wrong) <= 0.001 * total + 10, "callers that do not call, of %d samples: %s" % (total, worst(wrong)))


@vm_test(units=UNITS)
def native_code_has_no_frame_without_the_agents_own_walk(vm):
    run, report, section = sampled(vm, "interval=1,sampler=native,hotspot=-sample-walk", "Stacks", "0.5", "natives")
    check("cpu=samples: no frames of native code" in run.text("out.txt"), "no note")
    check(not any(OUTSIDE.match(row.method) for row in section.rows if not row.method.startswith("JVM.")), "native code has a frame")


def kinds(vm, *java):
    """{what ran the methods on top: per cent}, by the note."""
    # The program waits for the compilers, however busy the machine is.
    run, _, _ = sampled(vm, "interval=1,hotspot=" + vm.all_items, "-Xbatch", *java, "Kinds", "1500")
    found = re.search(r"cpu=samples: methods on top: (.+)", run.text("out.txt"))
    check(found, "no note in\n%s" % run.text("out.txt"))
    shares = {what: float(share) for share, what in re.findall(r"([\d.]+)% ([^,\n]+)", found.group(1))}
    check(99.9 < sum(shares.values()) < 100.1, "no sum of 100 %%: %s" % shares)
    return shares


@vm_test(units=UNITS, needs=("sampling signals",))
def a_note_says_what_ran_the_methods_on_top(vm):
    vm.needs_signals_in_time()
    needs_own_walk(vm)
    apart = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Kinds.mix")
    shares = kinds(vm, "-Xint")
    check(shares.get("interpreted", 0) >= 98 and set(shares) <= {"interpreted", "native methods"}, "-Xint: %s" % shares)
    shares = kinds(vm, "-XX:TieredStopAtLevel=1", *apart)
    check(shares.get("compiled by C1", 0) >= 80 and "compiled by C2" not in shares, "C1 alone: %s" % shares)
    shares = kinds(vm, *apart)
    check(shares.get("compiled by C2", 0) >= 80 and shares.get("inlined", 0) <= 5, "nothing inlined: %s" % shares)
    shares = kinds(vm)
    check(shares.get("inlined", 0) >= 30 and shares.get("inlined", 0) + shares.get("compiled by C2", 0) >= 80, "inlined: %s" % shares)


@vm_test(units=UNITS, needs=("sampling signals",))
def stacks_are_whole_in_other_modes_of_the_vm(vm):
    vm.needs_signals_in_time()
    for mode in (("-Xint",), ("-XX:TieredStopAtLevel=1",), ("-XX:+UseSerialGC", "-XX:-UseCompressedOops")):
        check_whole(vm, "Stacks", "0.7", "strings", "exceptions", java=mode)


@vm_test(units=UNITS, needs=("sampling signals",))
def callers_call_without_a_walk_of_the_agents_own(vm):
    vm.needs_signals_in_time()
    total, _, note = check_stacks(vm, "Links", "2", engine="sampler=signal,hotspot=-sample-walk")
    check(total > 1000 and " 0.00% whole" in note, note)


@vm_test(units=UNITS, needs=("sampling signals",))
def callers_of_the_signal_engine_call(vm):
    vm.needs_signals_in_time()
    check_whole(vm, "Links", "2")


@vm_test(units=UNITS, needs=("sampling signals",))
def stacks_are_whole_above_frames_that_wait_for_deoptimization(vm):
    vm.needs_signals_in_time()
    at_once = ("-Xbatch", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Deoptimized.called")
    total, lost, _ = check_stacks(vm, "Deoptimized", "1", java=at_once, engine="sampler=signal,hotspot=-sample-walk")
    check(sum(n for n, _ in lost) > 0.5 * total, "no such frame: AsyncGetCallTrace, which ends there, has lost %s of %d samples" % (lost, total))
    check_whole(vm, "Deoptimized", "3", java=at_once)


@vm_test(units=UNITS)
def dumps_on_request_keep_counting(vm):
    live = vm.start("cpu=samples,interval=1,file=out.txt", "Idle")
    for sections in (1, 2):
        live.request_data_dump()
        live.wait_for("out.txt", "CPU SAMPLES END", sections)
    run = live.finish()
    totals = [section.total for section in parse_ascii(run.text("out.txt")).cpu()]
    check_equal(len(totals), 3, "CPU sections")
    check_equal(totals, sorted(totals), "totals that never shrink")


@vm_test(units=UNITS)
def report_says_how_it_was_come_by(vm):
    for sampler in ("signal", "jvmti"):
        run, _, _ = sampled(vm, "interval=0.5,sampler=" + sampler, "Spin", "4")
        check("cpu=samples: engine %s, interval 0.5 ms, " % sampler in run.text("out.txt"), "no note on the engine")


@vm_test(units=UNITS, since=9)
def a_note_has_the_time_of_the_vms_own_threads(vm):
    text = vm.profiled("cpu=samples,interval=1,file=out.txt", "Stacks", "1", "strings", java=("-XX:+UseG1GC",)).text("out.txt")
    note = re.search(r"the process used ([\d.]+) s of CPU time meanwhile, the Java threads in the table ([\d.]+) s, "
                     r"the C2 compiler ([\d.]+) s, the C1 compiler ([\d.]+) s, (?:garbage collection ([\d.]+) s)?", text)
    check(note, "no such note\n" + text[-2000:])
    process, *parts = (float(part or 0) for part in note.groups())
    check(0.97 * process - 0.05 < sum(parts) < 1.03 * process + 0.05, note.group(0))


@vm_test(units=UNITS)
def clocks_that_a_library_shifts_add_no_samples(vm):
    """The second run reads the threads' clocks from the VM, which has them from the C library."""
    for options in ("sampler=signal", "sampler=jvmti,hotspot=-thread-ids"):
        run = vm.profiled("cpu=samples,interval=5,cutoff=0,file=out.txt," + options, "Spin", "20",
                          environment={"LD_PRELOAD": vm.native("shifted_clocks.c")})
        total = parse_ascii(run.text("out.txt")).cpu()[0].total
        check(100 < total < 10000, "%s: %d samples of 5 ms in some 2 s" % (options, total))


@vm_test(units=UNITS)
def timers_and_signals_of_others_are_left_to_them(vm):
    """Another profiler in the process, with timers of the same signal and values of its own."""
    vm.needs_to_be_preloaded_first()
    run = vm.profiled("cpu=samples,sampler=signal,interval=1,file=out.txt", "Spin", "20",
                      environment={"LD_PRELOAD": vm.native("foreign_timer.c"), "FOREIGN_TIMER": "1"})
    # Programs on the way to the VM print theirs first.
    found = re.findall(r"^foreign: (\d+) ticks, (\d+) raised, (\d+) strange$", run.err, re.M)
    check(found, "the other profiler did not print\n%s" % run)
    ticks, raised, strange = (int(number) for number in found[-1])
    check(ticks > 0 and raised > 0, "signals of the other profiler did not reach it\n%s" % run)
    check_equal(strange, 0, "our ticks that reached the other profiler\n%s\n" % run)
    check("Spin.hot" in run.text("out.txt"), "no samples of our own")


def beside_a_later_profiler(vm, mode):
    """The shares of the samples whose stacks begin in main, and of those that have none; the run."""
    vm.needs_to_be_preloaded_first()
    run = vm.profiled("cpu=samples,interval=1,depth=64,cutoff=0,file=out.txt", "Spin", "20",
                      environment={"LD_PRELOAD": vm.native("later_profiler.c"), "LATER_PROFILER": mode})
    report = parse_ascii(run.text("out.txt"))
    section = report.cpu()[0]
    named = sum(row.count for row in section.rows if methods(report, row)[-1] == "Spin.main")
    without = sum(row.count for row in section.rows if row.method.startswith("JVM."))
    return named / section.total, without / section.total, run


@vm_test(units=UNITS, needs=("sampling signals",))
def handler_frames_of_another_profiler_are_stepped_over(vm):
    """Its timers and ours are due at the same ticks of the kernel, so its handler is what ours interrupts."""
    vm.needs_signals_in_time()
    named, without, run = beside_a_later_profiler(vm, "beside")
    check(named > 0.5 and without < 0.1, "%.2f of the samples begin in main, %.2f have no stack\n%s" % (named, without, run))


@vm_test(units=UNITS, needs=("sampling signals",))
def jvmti_engine_serves_where_another_profiler_takes_the_signal(vm):
    vm.needs_signals_in_time()
    named, _, run = beside_a_later_profiler(vm, "take")
    check("another handler has taken SIGPROF; sampling with JVMTI (sampler=jvmti) instead" in run.err, "no message\n%s" % run)
    check("another handler has taken SIGPROF; sampled with JVMTI instead" in run.text("out.txt"), "no note")
    check(named > 0.3, "%.2f of the samples begin in main" % named)


@vm_test(units=UNITS, needs=("sampling signals",))
def jvmti_engine_serves_a_thread_that_blocks_the_signal(vm):
    vm.needs_signals_in_time()
    run = vm.profiled("cpu=samples,interval=1,depth=64,cutoff=0,file=out.txt", "Masked", "1500",
                      environment={"LD_PRELOAD": vm.native("block_signal.c")})
    check("some threads block SIGPROF; sampling with JVMTI (sampler=jvmti) instead" in run.err, "no message\n%s" % run)
    check("some threads block SIGPROF; sampled with JVMTI instead" in run.text("out.txt"), "no note")
    report = parse_ascii(run.text("out.txt"))
    section = report.cpu()[0]
    of = {name: sum(row.count for row in section.rows if "Masked." + name in methods(report, row)) for name in ("masked", "open")}
    check(of["open"] > 0 and of["masked"] > 0.2 * of["open"], "samples: %s\n%s" % (of, run))


@vm_test(units=UNITS)
def jvmti_engine_serves_where_timers_are_refused(vm):
    run = vm.profiled("cpu=samples,interval=1,depth=64,cutoff=0,file=out.txt", "Spin", "10",
                      environment={"LD_PRELOAD": vm.native("forbidden_call.c", "-DFORBIDDEN=SYS_timer_create")})
    check("the system refuses CPU timers (timer_create); sampling with JVMTI (sampler=jvmti) instead" in run.err,
          "no message\n%s" % run)
    check("the system refuses CPU timers (timer_create); sampled with JVMTI instead" in run.text("out.txt"), "no note")
    report = parse_ascii(run.text("out.txt"))
    section = report.cpu()[0]
    named = sum(row.count for row in section.rows if methods(report, row)[-1] == "Spin.main")
    check(named > 0.5 * section.total, "%d of %d samples begin in main" % (named, section.total))


@vm_test(units=UNITS, until=8)
def jvmti_engine_serves_where_no_frames_are_found(vm):
    for depth in ("0", "-1"):
        run = vm.profiled("cpu=samples,interval=1,depth=64,cutoff=0,file=out.txt", "Spin", "10",
                          java=("-XX:MaxJavaStackTraceDepth=" + depth,))
        check("-XX:MaxJavaStackTraceDepth of 0 or less; sampling with JVMTI" in run.err, "no message\n%s" % run)
        report = parse_ascii(run.text("out.txt"))
        section = report.cpu()[0]
        named = sum(row.count for row in section.rows if methods(report, row)[-1] == "Spin.main")
        check(named > 0.5 * section.total, "%d of %d samples begin in main" % (named, section.total))


@vm_test(units=UNITS, since=25)
def recordings_of_cpu_time_are_warned_of(vm):
    """JFR refuses to sample CPU time where SIGPROF has a handler."""
    for events, expected in ((",jdk.CPUTimeSample#enabled=true", True), ("", False)):
        run = vm.run_java(vm.agent_option("cpu=samples,file=out.txt"), "-Xlog:disable",
                          "-XX:StartFlightRecording:filename=%s%s" % (vm.path("x.jfr"), events), "Quick")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        check_equal("JFR records no jdk.CPUTimeSample" in run.err, expected, "the warning\n%s\n" % run)


@vm_test(units=UNITS)
def bursts_of_short_threads_have_all_their_cpu_time(vm):
    """Threads that use less than a few intervals each: what no look met is in the table all the same."""
    for sampler in ("signal", "jvmti"):
        run, _, section = sampled(vm, "interval=10,sampler=" + sampler, "Burst", "100", "25")
        used = float(re.search(r"^USED ([\d.]+)$", run.out, re.M).group(1))
        # Random by 2 %; besides, the figure leaves out how threads begin and end, main, and the Java threads of the VM.
        check(0.9 * used <= 10 * section.total <= 1.2 * used + 500,
              "%s: %d ms in the samples of %.1f" % (sampler, 10 * section.total, used))
