"""clock=wall: threads that wait have their time in the samples, with what they did."""
import re

from commands import load_agent, loaded, must
from harness import check, check_equal, vm_test
from pictures import Pprof
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")
OPTIONS = "cpu=samples,clock=wall,depth=8,cutoff=0,file=out.txt"
INTERVAL_MS = 10


class Walled:
    """The program Wall under clock=wall, with the times that it took itself."""

    def __init__(self, vm, options, *arguments):
        run = vm.run_java(vm.agent_option(OPTIONS + options), "Wall", *arguments)
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        check_equal(run.errors(), [], "complaints\n%s\n" % run)
        self.spent = {name: float(ms) for name, ms in re.findall(r"^SPENT (\w+) ([\d.]+)$", run.out, re.M)}
        self.report = parse_ascii(run.text("out.txt"))
        self.section = self.report.cpu()[0]
        found = re.search(r" in (\d+) turns, one every ([\d.]+) ms, each at ([\d.]+) of up to (\d+) threads; ",
                          run.text("out.txt"))
        check(found, "no note on the looks in %s" % self.report.notes)
        self.turns, self.threads = int(found.group(1)), int(found.group(4))

    def frames(self, row):
        return [frame[0] for frame in self.report.traces[row.trace].frames]

    def ms(self, method, state=None):
        """What the samples say of a method of Wall, of one state or of all."""
        return INTERVAL_MS * sum(row.count for row in self.section.rows if "Wall." + method in self.frames(row) and
                                 state in (None, self.frames(row)[-1]))


@vm_test(units=UNITS, quick=True)
def threads_have_their_time_by_what_they_do(vm):
    """One thread computes and rests by turns; three wait in a way of their own."""
    wall = Walled(vm, "", "3")
    for method, state in (("computing", "runnable"), ("resting", "sleeping"), ("blocked", "blocked"), ("parked", "parked"),
                          ("waiting", "waiting")):
        states = {frame: wall.ms(method, frame) for row in wall.section.rows for frame in wall.frames(row)[-1:]}
        check(states.get("STATE." + state, 0) > 0 and states["STATE." + state] == max(states.values()),
              "%s is not shown as %s: %s" % (method, state, states))
    last = {wall.frames(row)[-1] for row in wall.section.rows if not row.method.startswith("JVM.")}
    check(all(frame.startswith("STATE.") for frame in last), "traces without a state: %s" % sorted(last))


@vm_test(units=UNITS)
def many_idle_threads_are_looked_at_by_turns(vm):
    wall = Walled(vm, "", "2", "2000")
    check(wall.threads >= 2000, "%d threads were seen" % wall.threads)
    check(wall.ms("idling", "STATE.parked") > 0, "the idle threads are not in the table")


@vm_test(units=UNITS)
def threads_that_start_and_end_have_all_their_time(vm):
    wall = Walled(vm, ",threads=short-*", "1", "0", "300")
    # Each sleeps for 3 ms at least, and is there from its start until it was joined at most.
    total = INTERVAL_MS * wall.section.total
    check(850 <= total <= wall.spent["lingering"] + 2 * INTERVAL_MS,
          "%d ms in the samples, %.1f ms from the first to the last" % (total, wall.spent["lingering"]))


@vm_test(units=UNITS)
def threads_are_chosen_by_name(vm):
    wall = Walled(vm, ",threads=par*:waiting", "1")
    seen = {name for name in wall.spent if wall.ms(name) != 0}
    check_equal(seen, {"parked", "waiting"}, "threads in the table")
    for sampler in ("signal", "jvmti"):
        run = vm.profiled("cpu=samples,interval=1,file=out.txt,threads=nobody*,sampler=" + sampler, "Spin", "4")
        report = parse_ascii(run.text("out.txt"))
        check_equal(report.cpu()[0].total, 0, "samples of other threads with " + sampler)
        check("cpu=samples: no thread had a name as threads=nobody* wants" in report.notes, report.notes)


OWN = re.compile(r"cpu=samples: not in the table: (\d+) samples, ([\d.]+)% of all, of the JDK's own threads while they waited "
                 r"\(threads=\* shows them\)")


@vm_test(units=UNITS)
def waits_of_the_jdks_own_threads_are_a_note(vm):
    """The thread of main and Finalizer have all that is left, the latter for the program's code only."""
    for names, depth in (("", 64), ("", 4), (",threads=*", 64)):
        run = vm.run_java(vm.agent_option("cpu=samples,clock=wall,depth=%d,cutoff=0,thread=y,file=out.txt%s" % (depth, names)), "Finalizes")
        check_equal((run.code, run.out, run.errors()), (0, "rested\n", []), "exit code, stdout, complaints\n%s\n" % run)
        report = parse_ascii(run.text("out.txt"), thread_ids=True)
        threads = {number: name for _, number, name, _ in report.threads}
        section = report.cpu()[0]
        found = [(threads.get(report.traces[row.trace].thread), [frame[0] for frame in report.traces[row.trace].frames])
                 for row in section.rows]
        waits = {name for name, frames in found if frames[-1] in ("STATE.waiting", "STATE.parked", "STATE.sleeping") and
                 not any(frame.startswith("Finalizes.") for frame in frames)}
        check(("Finalizer", "Finalizes.resting") in [(name, frame) for name, frames in found for frame in frames],
              "the program's code in Finalizer is not in the table: %s" % found)
        check_equal("Finalizer" in waits, names != "", "Finalizer waits for work in the table: %s\n" % found)
        check_equal("Signal Dispatcher" in {name for name, _ in found}, names != "", "Signal Dispatcher is in the table: %s\n" % found)
        notes = [OWN.fullmatch(note) for note in report.notes if "not in the table" in note]
        check_equal(len(notes), 0 if names else 1, "notes: %s\n" % report.notes)
        for note in notes:
            left_out, share = int(note.group(1)), float(note.group(2))
            check(abs(share - 100 * left_out / (left_out + section.total)) < 0.02, "%s, and %d in the table" % (note.group(0), section.total))


@vm_test(units=UNITS)
def an_attached_agent_shows_what_a_program_waits_for(vm):
    live = vm.start(None, "Idle", java=vm.attachable)
    out = vm.path("out.txt")
    check(loaded(load_agent(live.pid, vm.agent, OPTIONS)), "the agent was not loaded\n%s" % live.state())
    sections = 0

    def seen():
        nonlocal sections
        sections += 1
        live.request_data_dump()
        live.wait_for("out.txt", "CPU SAMPLES END", sections)
        return sections > 1 and "Idle.main" in open(out).read()
    live.wait_until(seen, "samples of main, which reads its input")  # a starved sampler looks late
    run = live.finish()
    report = parse_ascii(run.text("out.txt"))
    totals = [section.total for section in report.cpu()]
    check_equal(totals, sorted(totals), "totals that never shrink")
    methods = {frame[0] for row in report.cpu()[-1].rows for frame in report.traces[row.trace].frames}
    check("Idle.main" in methods, "main is not in the last table: %s" % sorted(methods))


@vm_test(units=UNITS + ("encoder_collapsed", "encoder_binary", "encoder_pprof", "encoder_json"))
def every_format_takes_them(vm):
    for form in ("collapsed", "b", "pprof", "json"):
        run = vm.run_java(vm.agent_option("cpu=samples,clock=wall,thread=y,format=%s,file=out.%s" % (form, form)), "Wall", "1")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints with %s\n%s\n" % (form, run))
        check(run.bytes("out." + form), "nothing was written with " + form)


@vm_test(units=UNITS + ("encoder_pprof",))
def pprof_tells_elapsed_time_from_cpu_time(vm):
    for clock in ("wall", "cpu"):
        run = vm.run_java(vm.agent_option("cpu=samples,clock=%s,format=pprof,compress=n,file=out.pb" % clock), "Spin", "4")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        types = [name for name, _ in Pprof(run.bytes("out.pb")).types]
        check_equal(types, ["samples", clock], "sample types with clock=" + clock)


@vm_test(units=UNITS, since=21)
def virtual_threads_are_seen_while_mounted(vm):
    run = vm.run_java(vm.agent_option(OPTIONS.replace("depth=8", "depth=32")), "VirtualThreads", "2")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    report = parse_ascii(run.text("out.txt"))
    stacks = [[frame[0] for frame in report.traces[row.trace].frames] for row in report.cpu()[0].rows]
    stacks = [stack for stack in stacks if "VirtualThreads.virtualTask" in stack]
    check(stacks, "no stack of a virtual thread")
    for stack in stacks:
        carrier = [m for m in stack if "Continuation.run" in m or "ForkJoin" in m or "CarrierThread." in m]
        check(not carrier, "the carrier's frames %s are in the stack %s" % (carrier, stack))


@vm_test(units=UNITS)
def the_engine_that_sends_signals_is_refused(vm):
    line = vm.refused("cpu=samples,clock=wall,sampler=signal")
    check("clock=wall takes no sampler=" in line, "refused for another reason: " + line)


@vm_test(units=UNITS)
def it_starts_and_stops_by_command(vm):
    path = vm.path("s")
    live = vm.start(OPTIONS + ",start=n,control=" + path, "Idle")
    must(path, "start")

    def seen():
        must(path, "samples")
        return "Idle.main" in open(vm.path("out.txt"), errors="replace").read()
    live.wait_until(seen, "samples of main, which reads its input")
    must(path, "stop", "samples")
    stopped = parse_ascii(open(vm.path("out.txt")).read()).cpu()[-1].total
    must(path, "samples")
    check_equal(parse_ascii(open(vm.path("out.txt")).read()).cpu()[-1].total, stopped, "samples while it is stopped")
    must(path, "start", "samples", "stop", "reset")
    check_equal(live.finish().code, 0, "exit code")


@vm_test(units=UNITS, since=21)
def virtual_threads_that_wait_have_their_time(vm):
    """None of them has a carrier, so each share is that of threads drawn at random."""
    count = 500
    for kind, java in (("direct", ()), ("executor", ("-XX:+UseZGC",)),
                       ("scopes", ("--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",))):
        run = vm.run_java(vm.agent_option("cpu=samples,clock=wall,depth=64,cutoff=0,file=out.txt"), *java, "VirtualWaits", str(count),
                          "4000", kind)
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        lived = int(re.search(r"^LIVED (\d+)$", run.out, re.M).group(1))
        report = parse_ascii(run.text("out.txt"))
        found, as_expected = {"parked": 0, "sleeping": 0, "awaiting": 0}, 0
        for row in report.cpu()[0].rows:
            frames = [frame[0] for frame in report.traces[row.trace].frames]
            for place in found:
                if "VirtualWaits." + place not in frames:
                    continue
                found[place] += row.count * INTERVAL_MS
                state = "STATE.sleeping" if place == "sleeping" else "STATE.parked"
                if frames[-1] == state and frames[0].startswith(("java.util.", "java.lang.Thread.")):
                    as_expected += row.count * INTERVAL_MS
        note = re.search(r"virtual threads without a carrier: (\d+) samples of random ones of about (\d+); their time is right to "
                         r"([\d.]+)%", "\n".join(report.notes))
        check(note, "%s: no note in %s" % (kind, report.notes))
        looks, seen = int(note.group(1)), int(note.group(2))
        points = float(re.search(r"a share of 50% stands for [\d.]+% to ([\d.]+)%", "\n".join(report.notes)).group(1)) - 50
        total = sum(found.values())
        # While they start, carriers run them, or they wait for one.
        check(as_expected >= 0.8 * total, "%s: %d of %d ms wait, without frames of the scheduler" % (kind, as_expected, total))
        # Of scopes the owners are drawn: few of them, some of which stand for many.
        rough = 2 if kind == "scopes" else 1.25
        check(looks >= 100 and count / rough <= seen <= count * rough, "%s: %s" % (kind, note.group(0)))
        # A draw that counts too much is made up for by the next, so that only the last one's error stays.
        rough = 2 if kind == "scopes" else 1.15
        rough += 4 * float(note.group(3)) / 100
        check(count * lived / rough <= total <= count * lived * rough, "%s: %d threads of %d ms have %d ms" % (kind, count, lived, total))
        for place, share in (("parked", 0.5), ("sleeping", 0.3), ("awaiting", 0.2)):
            error = points / 50 * (share * (1 - share)) ** 0.5
            check(abs(found[place] / total - share) < 4 * error, "%s: %s has %.3f (error %.3f)" % (kind, place, found[place] / total, error))


@vm_test(units=UNITS, since=21)
def virtual_threads_that_the_vm_does_not_list_are_said(vm):
    run = vm.run_java(vm.agent_option(OPTIONS), "-Djdk.trackAllThreads=false", "VirtualWaits", "50", "2000", "direct")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    notes = parse_ascii(run.text("out.txt")).notes
    check(any("none was found; the VM lists only those of executors (jdk.trackAllThreads=false)" in note for note in notes), notes)


@vm_test(units=UNITS, since=21)
def classes_that_the_vm_does_not_report_have_names(vm):
    for options in ("clock=wall", "sampler=jvmti"):
        run = vm.run_java(vm.agent_option("cpu=samples,depth=64,cutoff=0,file=out.txt,force=y," + options), "PoolAfterSleep")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        report = parse_ascii(run.text("out.txt"))
        stacks = [[frame[0] for frame in report.traces[row.trace].frames] for row in report.cpu()[0].rows]
        check_equal([stack for stack in stacks if "JVM.unloaded_method" in stack], [], "stacks with methods without a name, " + options)
        check(any("PoolAfterSleep.compute" in stack and "java.util.concurrent.ThreadPoolExecutor$Worker.run" in stack for stack in stacks),
              "%s: the pool is not in %s" % (options, stacks))
