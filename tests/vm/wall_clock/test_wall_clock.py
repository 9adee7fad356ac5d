"""clock=wall: threads that wait have their time in the samples, all of it, with what they did."""
import math
import os
import re
import signal

from attach import load_agent, loaded
from commands import must
from harness import check, check_equal, vm_test
from pictures import Pprof
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")
OPTIONS = "cpu=samples,clock=wall,depth=8,cutoff=0,file=out.txt"
INTERVAL_MS = 10
POINTS = 2.0  # what a share may be off the truth, besides four standard errors


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
def shares_are_those_that_the_thread_measured(vm):
    wall = Walled(vm, "", "4")
    computing, resting = wall.ms("computing"), wall.ms("resting")
    truth = 100 * wall.spent["computing"] / (wall.spent["computing"] + wall.spent["resting"])
    check(computing + resting > 0, "the thread was not seen in %d turns" % wall.turns)
    share = 100.0 * computing / (computing + resting)
    error = math.sqrt(truth * (100 - truth) / wall.turns)
    check(abs(share - truth) <= POINTS + 4 * error,
          "computing: %.2f %%, in truth %.2f %%, standard error %.2f" % (share, truth, error))
    check(wall.ms("resting", "STATE.sleeping") > 0.9 * resting, "Thread.sleep is not shown as sleeping")


@vm_test(units=UNITS)
def threads_that_wait_have_all_their_time_and_their_state(vm):
    wall = Walled(vm, "", "3")
    for method in ("blocked", "parked", "waiting"):
        found, spent = wall.ms(method), wall.spent[method]
        # On a busy machine the first look may be late: its weight is from the thread's start on.
        check(0.7 * spent <= found <= 1.1 * spent + 300, "%s: %d ms in the samples of %.1f" % (method, found, spent))
        check(wall.ms(method, "STATE." + method) > 0.8 * found, "%s is not shown as such" % method)
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
        check_equal(parse_ascii(run.text("out.txt")).cpu()[0].total, 0, "samples of other threads with " + sampler)


@vm_test(units=UNITS)
def an_attached_agent_shows_what_a_program_waits_for(vm):
    java = ("-XX:+EnableDynamicAgentLoading",) if vm.version >= 9 else ()
    live = vm.start(None, "Idle", java=java)
    out = vm.path("out.txt")
    check(loaded(load_agent(live.pid, vm.agent, OPTIONS)), "the agent was not loaded\n%s" % live.state())
    sections, text = 0, ""
    while sections < 2 or ("Idle.main" not in text and sections < 20):  # a starved sampler looks late
        sections += 1
        live.signal(signal.SIGQUIT)
        live.wait_until(lambda: os.path.exists(out) and open(out).read().count("CPU SAMPLES END") >= sections,
                        "dump %d" % sections)
        text = open(out).read()
    run = live.finish()
    report = parse_ascii(run.text("out.txt"))
    totals = [section.total for section in report.cpu()]
    check_equal(totals, sorted(totals), "totals that never shrink")
    methods = {frame[0] for row in report.cpu()[-1].rows for frame in report.traces[row.trace].frames}
    check("Idle.main" in methods, "main, which reads its input, is not in the table: %s" % sorted(methods))


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
