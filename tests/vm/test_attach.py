"""An agent that comes late, goes, and comes again with other options; and many reports in a row."""
import os
import re

from attach import diagnostic, load_agent, loaded
from commands import ask, must
from harness import check, check_equal, vm_test
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


def plain_vm(vm):
    java = ("-XX:+EnableDynamicAgentLoading",) if vm.version >= 9 else ()
    return vm.start(None, "Idle", java=java)


def load(live, options):
    return loaded(load_agent(live.pid, live.vm.agent, options))


def agent_threads(live):
    found = []
    for thread in os.listdir("/proc/%d/task" % live.pid):
        try:
            name = open("/proc/%d/task/%s/comm" % (live.pid, thread)).read().strip()
        except OSError:
            continue
        if name.lower().startswith("hprof"):
            found.append(name)
    return found


def caught_signals(live):
    text = open("/proc/%d/status" % live.pid).read()
    return re.search(r"^SigCgt:\t(.*)$", text, re.M).group(1)


def ended_well(live):
    run = live.finish()
    check_equal((run.code, run.out.endswith("ended\n")), (0, True), "exit code and end\n%s\n" % run)
    return run


@vm_test(units=UNITS)
def late_agent_stops_and_comes_again_with_other_options(vm):
    live = plain_vm(vm)
    check(load(live, "cpu=samples,file=%s" % vm.path("one.txt")), "the agent is loaded\n%s" % live.state())
    check(not load(live, "cpu=samples,file=%s" % vm.path("two.txt")), "a second one while the first collects")
    check("stop it first" in live.err(), "it does not say why\n%s" % live.state())
    live.wait_until(lambda: load(live, "command=report") and "Spin.hot" in open(vm.path("one.txt")).read(), "samples")
    check(load(live, "command=stop"), "stop is obeyed\n%s" % live.state())
    check(load(live, "cpu=samples,depth=1,thread=y,file=%s" % vm.path("two.txt")), "the next one\n%s" % live.state())
    live.wait_until(lambda: load(live, "command=report") and "Spin.hot" in open(vm.path("two.txt")).read(), "samples")
    run = ended_well(live)
    check("Spin.hot" in [row.method for row in parse_ascii(run.text("one.txt")).cpu()[-1].rows], "the first profile")
    check("(thread=" in run.text("two.txt"), "the second has its own options")


@vm_test(units=UNITS)
def detach_gives_everything_back(vm):
    live = plain_vm(vm)
    before = caught_signals(live)
    for number in range(3):
        name = "out%d.txt" % number
        path = vm.path("s")
        check(load(live, "cpu=samples,logflags=1,control=%s,file=%s" % (path, vm.path(name))), "loaded\n%s" % live.state())
        must(path, "report", "detach")
        live.wait_until(lambda: not agent_threads(live), "the agent's threads to end")
        check(not os.path.exists(path), "the socket is still there")
        parse_ascii(open(vm.path(name)).read()).cpu()
        live.wait_until(lambda: live.err().count("bytes not given back") == number + 1, "the end of the detach")
    check_equal(re.findall(r"detached, (\d+) bytes not given back", live.err()), ["0", "0", "0"], "memory\n%s\n" % live.err())
    check(caught_signals(live) in (before, with_profiling(before)), "signal handlers: %s, then %s" % (before, caught_signals(live)))
    ended_well(live)


def with_profiling(mask):
    """SIGPROF (27) may stay ignored after its timers, which is no handler; some kernels list nothing."""
    return "%016x" % (int(mask, 16) & ~(1 << 26))


@vm_test(units=UNITS)
def agent_of_the_command_line_makes_room_too(vm):
    live = vm.start("cpu=samples,file=one.txt", "Idle", java=("-XX:+EnableDynamicAgentLoading",) if vm.version >= 9 else ())
    check(load(live, "command=stop"), "stop is obeyed\n%s" % live.state())
    check(load(live, "cpu=samples,file=%s" % vm.path("two.txt")), "the next one\n%s" % live.state())
    run = ended_well(live)
    check_equal(len(parse_ascii(run.text("one.txt")).cpu()), 1, "the report of the first, when it made room")
    check_equal(len(parse_ascii(run.text("two.txt")).cpu()), 1, "the report of the second, at exit")


@vm_test(units=UNITS)
def failed_attach_leaves_nothing_behind(vm):
    live = plain_vm(vm)
    signals = caught_signals(live)
    for options in ("foo=bar", "cpu=samples,file=/nonexistent/x", "cpu=samples,net=127.0.0.1:1",
                    "cpu=samples,control=/nonexistent/s,file=%s" % vm.path("no.txt")):
        check(not load(live, options), "%s is refused\n%s" % (options, live.state()))
        check_equal(agent_threads(live), [], "threads after %s" % options)
    check(not load(live, "command=status"), "there is nobody to take a command")
    check(not os.path.exists(vm.path("no.txt")), "an output was made")
    check_equal(caught_signals(live), signals, "signal handlers")
    check(load(live, "cpu=samples,file=%s" % vm.path("out.txt")), "a good one\n%s" % live.state())
    run = ended_well(live)
    check_equal(len(parse_ascii(run.text("out.txt")).cpu()), 1, "CPU sections")


@vm_test(units=UNITS)
def late_agent_loaded_idle_waits_for_its_command(vm):
    live = plain_vm(vm)
    path = vm.path("s")
    check(load(live, "cpu=samples,start=n,control=%s,file=%s" % (path, vm.path("out.txt"))), "loaded\n%s" % live.state())
    check(not ask(path, "report")[0], "there is nothing to report yet")
    must(path, "start", "report", "stop")
    ended_well(live)


@vm_test(units=UNITS, since=9)
def fifty_data_dump_requests_in_a_row_give_fifty_reports(vm):
    live = vm.start("cpu=samples,interval=1,thread=y,file=out.txt", "Idle")
    for _ in range(50):
        diagnostic(live.pid, "JVMTI.data_dump")
    live.wait_until(lambda: open(vm.path("out.txt"), errors="replace").read().count("CPU SAMPLES END\n") == 50, "50 reports")
    run = ended_well(live)
    sections = parse_ascii(run.text("out.txt"), thread_ids=True).cpu()
    check_equal(len(sections), 51, "CPU sections: fifty, and one at exit")
    totals = [section.total for section in sections]
    check_equal(totals, sorted(totals), "totals never go down")
