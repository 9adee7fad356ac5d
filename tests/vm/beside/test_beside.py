"""A profile or a heap dump taken beside a session that collects: each writes its own output, and disturbs no other."""
import os
import re
import signal
import subprocess

from commands import load_agent, loaded, must
from harness import TIMEOUT, check, check_equal, vm_test
from reports import parse_ascii
from tool import hprof, program, sound

UNITS = ("cpu_samples", "encoder_ascii", "encoder_collapsed", "sink_file", "sink_socket", "report_windows", "control")
SITES = UNITS + ("heap_sites",)
N = 20000


def continuous(vm, options="cpu=samples"):
    """A VM with windows of a second in files of their own."""
    return vm.start(options + ",every=1,format=collapsed,thread=y,file=app-%n.txt,control=" + vm.path("s"), "Idle", java=vm.attachable)


def profile(vm, live, *words):
    return hprof(vm, "profile", "--agent=" + vm.agent, str(live.pid), *words)


def profiled(vm, live, *words):
    code, text = profile(vm, live, *words)
    check_equal(code, 0, "hprof profile %s: %s\n%s\n" % (" ".join(words), text, live.state()))


def windows(vm):
    """How many are written; the last file may be about to be."""
    return len([name for name in os.listdir(vm.dir) if re.match(r"app-\d+\.txt$", name)])


def more_windows(vm, live):
    before = windows(vm)
    live.wait_until(lambda: windows(vm) >= before + 2, "more windows")


def check_windows(vm, run, method="Idle.busy"):
    """Each has what the program did, and nothing of the agent's threads; the signals come as before."""
    check("HPROF: cpu=samples" not in run.err, "what the sampler says\n%s" % run)
    seen = 0
    for number in range(1, windows(vm) + 1):
        text = run.text("app-%d.txt" % number)
        check("HPROF" not in text, "a thread of the agent's in window %d\n%s" % (number, text))
        seen += method in text
    check(seen >= windows(vm) - 2, "%d of %d windows have %s\n%s" % (seen, windows(vm), method, run))


def status(vm):
    return "\n".join(must(vm.path("s"), "status"))


@vm_test(units=UNITS + ("heap_dump", "encoder_binary"), quick=True)
def a_heap_dump_is_taken_beside_windows(vm):
    live = continuous(vm)
    for number in range(2):
        more_windows(vm, live)
        profiled(vm, live, "-o", "dump%d.hprof" % number, "heap=dump")
        sound(vm, "dump%d.hprof" % number, "--for=mat,visualvm,jhat")
    check("heap_dump:" not in status(vm), "the collector is in the session\n%s" % status(vm))
    more_windows(vm, live)
    check_windows(vm, live.ended_well())


@vm_test(units=SITES + ("monitor", "bytecode", "latency"), since=11)
def profiles_of_other_kinds_are_taken_beside_samples(vm):
    live = continuous(vm)
    more_windows(vm, live)
    profiled(vm, live, "--seconds=1", "-o", "sites.txt", "heap=sites")
    profiled(vm, live, "--seconds=1", "-o", "monitor.txt", "monitor=y")
    profiled(vm, live, "--seconds=1", "-o", "latency.txt", "latency=Spin.hot")
    more_windows(vm, live)
    check_windows(vm, live.ended_well())
    for name, said in (("sites.txt", "SITES BEGIN"), ("monitor.txt", "MONITOR DUMP BEGIN"), ("latency.txt", "Spin.hot")):
        with open(vm.path(name)) as file:
            check(said in file.read(), "no report in " + name)


def start(vm, live, *words, seconds=1000):
    """hprof profile, once it collects; for long if need be."""
    tool = subprocess.Popen([*program(vm), "profile", "--agent=" + vm.agent, "--seconds=%d" % seconds, str(live.pid), *words], cwd=vm.dir,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = b""
    while b", %d s" % seconds not in line:
        line = tool.stderr.readline()
        check(line, "it does not begin\n%s" % live.state())
    return tool


def interrupted(tool):
    tool.send_signal(signal.SIGINT)
    out, err = tool.communicate(timeout=TIMEOUT)
    check_equal(tool.returncode, 0, "hprof profile: %s%s" % (out, err))


@vm_test(units=SITES + ("bytecode",))
def samples_are_taken_beside_exact_sites(vm):
    """The counts stay exact, also where weak references are used again (hotspot=weak_reuse)."""
    live = vm.start("heap=sites,cutoff=0,every=1,file=sites.txt,control=" + vm.path("s"), "Sites", "stay", java=vm.attachable)
    for number in range(1, 9, 2):
        live.next_round(number)
        must(vm.path("s"), "gc")
        tool = start(vm, live, "cpu=samples", "-o", "cpu%d.txt" % number)
        live.next_round(number + 1)
        must(vm.path("s"), "gc")
        interrupted(tool)
    run = live.ended_well()
    made = dict.fromkeys(("Sites$Item", "Sites$Kept"), 0)
    for section in parse_ascii(run.text("sites.txt")).sections:
        for line in section.lines if section.name == "SITES" else ():
            row = line.split()
            if row[-1] in made:
                made[row[-1]] += int(row[6])
    check_equal(made, {"Sites$Item": 8 * N, "Sites$Kept": 8 * N}, "objects of eight rounds\n%s" % run)


@vm_test(units=UNITS + ("monitor",))
def the_end_of_the_vm_writes_both(vm):
    live = continuous(vm)
    more_windows(vm, live)
    tool = start(vm, live, "monitor=y", "-o", "monitor.txt")
    before = windows(vm)
    run = live.ended_well()
    out, err = tool.communicate(timeout=TIMEOUT)
    check_equal((tool.returncode, b"this is its last report" in err), (0, True), "hprof profile: %s%s" % (out, err))
    check("MONITOR DUMP BEGIN" in run.text("monitor.txt"), "no last report of the profile")
    check(windows(vm) >= before, "no last window")
    check_windows(vm, run)


@vm_test(units=SITES + ("encoder_jfr", "vm_events"), since=11)
def recordings_are_taken_beside_a_recording(vm):
    """Both have the events of format=jfr."""
    live = vm.start("cpu=samples,every=1,format=jfr,file=app-%n.jfr", "Idle", java=vm.attachable)
    profiled(vm, live, "--seconds=1", "-o", "sites.jfr", "heap=sites")
    live.ended_well()
    for name in ("sites.jfr", "app-1.jfr"):
        with open(vm.path(name), "rb") as file:
            check_equal(file.read(4), b"FLR\0", name)


@vm_test(units=UNITS + ("heap_dump", "encoder_binary"))
def dumps_are_taken_at_once_and_beside_a_session_that_takes_dumps(vm):
    live = vm.start("heap=dump,format=b,file=last.hprof", "Idle", java=vm.attachable)
    names = ["a.hprof", "b.hprof"]
    tools = [start(vm, live, "heap=dump", "-o", name, seconds=0) for name in names]
    for tool in tools:
        out, err = tool.communicate(timeout=TIMEOUT)
        check_equal(tool.returncode, 0, "hprof profile: %s%s" % (out, err))
    live.ended_well()
    for name in names + ["last.hprof"]:
        sound(vm, name, "--for=mat,visualvm,jhat")


@vm_test(units=UNITS + ("bytecode", "calls"))
def a_method_that_ran_while_its_class_was_rewritten_has_its_name_in_later_profiles(vm):
    """Its class has another method in its place. The VM has no id for it until it is asked for the stack."""
    live = vm.start(None, "Idle", java=vm.attachable)
    profiled(vm, live, "--seconds=0", "calls=y")

    def is_named():
        profiled(vm, live, "--seconds=1", "--force", "-o", "later.txt", "cpu=samples")
        with open(vm.path("later.txt")) as file:
            return "Idle.busy(" in file.read()
    live.wait_until(is_named, "the name of the method in a later profile")


@vm_test(units=UNITS)
def the_same_kind_is_refused_and_says_what_to_do(vm):
    live = continuous(vm)
    more_windows(vm, live)
    state = status(vm)
    code, text = profile(vm, live, "--seconds=1", "cpu=samples")
    check_equal((code, "cpu_samples belongs to another session: request its report, or detach it" in text), (1, True), "hprof profile: %s" % text)
    check_equal(status(vm).splitlines()[0], state.splitlines()[0], "the session that was there")
    check(not os.path.exists(vm.path("java.hprof.txt")), "a file")
    more_windows(vm, live)
    check_windows(vm, live.ended_well())


@vm_test(units=UNITS + ("heap_dump",))
def where_windows_have_no_dump_the_way_is_said(vm):
    live = continuous(vm)
    code, text = hprof(vm, "ctl", vm.path("s"), "dump", "heap")
    check_equal((code, "`hprof profile PID heap=dump` runs one beside this session" in text), (1, True), "dump heap: %s" % text)
    live.ended_well()
    run = vm.run_java(vm.agent_option("heap=dump,every=1,file=out.txt"), "Quick")
    check_equal((run.code, "hprof profile takes it beside the windows" in run.err), (1, True), "every= with heap=dump\n%s\n" % run)


@vm_test(units=UNITS + ("monitor",))
def a_profile_whose_tool_is_killed_ends_alone(vm):
    live = continuous(vm, "monitor=y")
    tool = start(vm, live, "cpu=samples")
    tool.kill()
    tool.communicate(timeout=TIMEOUT)
    live.wait_until(lambda: profile(vm, live, "--seconds=1", "-o", "again.txt", "cpu=samples")[0] == 0, "the end of the killed one")
    check("Spin.hot" in open(vm.path("again.txt")).read(), "no samples")
    check("monitor: running" in status(vm), "the session that was there\n%s" % status(vm))
    live.ended_well()


@vm_test(units=UNITS + ("monitor",))
def sessions_by_attach_have_sockets_and_ends_of_their_own(vm):
    live = vm.start(None, "Idle", java=vm.attachable)
    one, two, three = vm.path("one"), vm.path("two"), vm.path("three")

    def load(options):
        return loaded(load_agent(live.pid, vm.agent, options))
    check(load("cpu=samples,control=%s,file=%s.txt" % (one, one)), "the first\n%s" % live.state())
    check(not load("monitor=y,file=%s.txt" % two), "the next without a socket of its own")
    check("control=<path> to run beside it" in live.err(), "it does not say how\n%s" % live.state())
    check(load("monitor=y,control=%s,file=%s.txt" % (two, two)), "the next\n%s" % live.state())
    check(not load("monitor=y,control=%s,file=%s.txt" % (three, three)), "its collector once more")
    must(two, "report", "detach")
    live.wait_until(lambda: not os.path.exists(two), "the end of the second")
    check_equal(must(one, "status")[0], "cpu_samples: running", "the first")
    check(load("monitor=y,control=%s,file=%s.txt" % (three, three)), "its collector after it\n%s" % live.state())
    must(one, "detach")
    live.wait_until(lambda: not os.path.exists(one), "the end of the first")
    check_equal(must(three, "status")[0], "monitor: running", "the third")
    check(not load("command=status"), "no session takes commands by attach")
    check(load("cpu=samples,force=y,file=%s.txt" % one), "a new current one\n%s" % live.state())
    live.wait_until(lambda: load("command=report") and "Spin.hot" in open(one + ".txt").read(), "samples after all that")
    run = live.ended_well()
    check("MONITOR DUMP BEGIN" in run.text("three.txt"), "the last report of the third")
