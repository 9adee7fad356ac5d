"""An agent that comes late, goes, and comes again with other options; and many reports in a row."""
import os
import re
import shlex
import shutil

from commands import ask, diagnostic, load_agent, loaded, must
from harness import ROOT, check, check_equal, vm_test
from programs import jni_library
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


def plain_vm(vm):
    return vm.start(None, "Idle", java=vm.attachable)


def load(live, options):
    return loaded(load_agent(live.pid, live.vm.agent, options))


def agent_threads(live):
    found = []
    for thread in os.listdir(live.proc("task")):
        try:
            name = open(live.proc("task", thread, "comm")).read().strip()
        except OSError:
            continue
        if name.lower().startswith("hprof"):
            found.append(name)
    return found


def caught_signals(live):
    text = open(live.proc("status")).read()
    return re.search(r"^SigCgt:\t(.*)$", text, re.M).group(1)


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
    run = live.ended_well()
    check("Spin.hot" in [row.method for row in parse_ascii(run.text("one.txt")).cpu()[-1].rows], "the first profile")
    check("(thread=" in run.text("two.txt"), "the second has its own options")


@vm_test(units=UNITS, needs=("a local socket", "proc"), quick=True)
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
    live.ended_well()


@vm_test(units=UNITS, needs=("libraries in C",))
def sessions_share_an_environment_that_is_never_disposed_of(vm):
    """HotSpot damages its memory when one that had events of threads is disposed of."""
    watch = "-agentpath:%s=%s" % (jni_library(vm, "watch_environments.c"), vm.path("watched"))
    live = vm.start(None, "Idle", java=vm.attachable + (watch,))
    for number in range(3):
        check(load(live, "cpu=samples,file=%s" % vm.path("out%d.txt" % number)), "loaded\n%s" % live.state())
        check(load(live, "command=detach"), "detached\n%s" % live.state())
    check(not load(live, "cpu=samples,file=/nonexistent/x"), "a folder that is not there")
    run = live.ended_well()
    check_equal(run.text("watched").split(), ["events"], "environments with events of threads")


def with_profiling(mask):
    """SIGPROF (27) may stay ignored after its timers, which is no handler; some kernels list nothing."""
    return "%016x" % (int(mask, 16) & ~(1 << 26))


@vm_test(units=UNITS)
def detach_nodump_writes_no_last_report(vm):
    live = plain_vm(vm)
    check(load(live, "cpu=samples,file=%s" % vm.path("out.txt")), "loaded\n%s" % live.state())
    check(load(live, "command=report"), "a report\n%s" % live.state())
    check(load(live, "command=detach nodump"), "detached\n%s" % live.state())
    run = live.ended_well()
    check_equal(len(parse_ascii(run.text("out.txt")).cpu()), 1, "the report that was asked for, and none at the end")


@vm_test(units=UNITS)
def detach_is_answered_when_the_next_one_may_come(vm):
    live = plain_vm(vm)
    for number in range(5):
        path = vm.path("s%d" % number)
        check(load(live, "cpu=samples,control=%s,file=%s" % (path, vm.path("out%d.txt" % number))),
              "attach %d\n%s" % (number, live.state()))
        must(path, "detach")
        check(not os.path.exists(path), "the socket is still there")
    check(not load(live, "command=status"), "somebody took a command")
    # The bodies of the agent's threads are done; the system takes a moment to end the threads themselves.
    live.wait_until(lambda: not agent_threads(live), "the end of the agent's threads")
    live.ended_well()


@vm_test(units=UNITS)
def agent_of_the_command_line_makes_room_too(vm):
    live = vm.start("cpu=samples,file=one.txt", "Idle", java=vm.attachable)
    check(load(live, "command=stop"), "stop is obeyed\n%s" % live.state())
    check(load(live, "cpu=samples,file=%s" % vm.path("two.txt")), "the next one\n%s" % live.state())
    run = live.ended_well()
    check_equal(len(parse_ascii(run.text("one.txt")).cpu()), 1, "the report of the first, when it made room")
    check_equal(len(parse_ascii(run.text("two.txt")).cpu()), 1, "the report of the second, at exit")


@vm_test(units=UNITS)
def failed_attach_leaves_nothing_behind(vm):
    live = plain_vm(vm)
    signals = caught_signals(live)
    for options in ("foo=bar", "cpu=samples,file=/nonexistent/x", "cpu=samples,net=127.0.0.1:1",
                    "cpu=samples,control=/nonexistent/s,file=%s" % vm.path("no.txt")):
        check(not load(live, options), "%s is refused\n%s" % (options, live.state()))
        # A thread that was joined may be listed for a moment more.
        live.wait_until(lambda: not agent_threads(live), "the end of the agent's threads after %s" % options)
    check(not load(live, "command=status"), "there is nobody to take a command")
    check(not os.path.exists(vm.path("no.txt")), "an output was made")
    check_equal(caught_signals(live), signals, "signal handlers")
    check(load(live, "cpu=samples,file=%s" % vm.path("out.txt")), "a good one\n%s" % live.state())
    run = live.ended_well()
    check_equal(len(parse_ascii(run.text("out.txt")).cpu()), 1, "CPU sections")


@vm_test(units=UNITS + ("sink_socket",))
def refused_attach_leaves_code_for_the_threads_that_end(vm):
    """Looking up a host takes a thread, which may still be about to end when the VM unloads the library."""
    live = plain_vm(vm)
    for _ in range(40):
        check(not load(live, "cpu=samples,net=localhost:1"), "nobody listens there\n%s" % live.state())
    with open(live.proc("maps")) as maps:
        check("libhprof.so" in maps.read(), "the library was unloaded")
    live.ended_well()


@vm_test(units=UNITS)
def late_agent_loaded_idle_waits_for_its_command(vm):
    live = plain_vm(vm)
    path = vm.path("s")
    check(load(live, "cpu=samples,start=n,control=%s,file=%s" % (path, vm.path("out.txt"))), "loaded\n%s" % live.state())
    check(not ask(path, "report")[0], "there is nothing to report yet")
    must(path, "start", "report", "stop")
    live.ended_well()


PROBED = UNITS + ("bytecode", "latency")


def other_copy(vm):
    """The agent with its plugins in another folder, as an upgrade has it. The VM loads it beside the first."""
    folder = vm.path("other")
    if not os.path.exists(folder):
        shutil.copytree(os.path.dirname(vm.agent), folder)
    return os.path.join(folder, os.path.basename(vm.agent))


@vm_test(units=PROBED)
def two_copies_of_the_agent_come_after_each_other(vm):
    live = plain_vm(vm)
    copies = [vm.agent, other_copy(vm)]
    for number, agent in enumerate(copies * 2):
        # Each option after itself, by the other copy. clock=wall looks at safepoints; JDK 8's compiled loop in hot has none.
        for options, seen in (("latency=Spin.hot", "Spin.hot"), ("cpu=samples", "Spin.hot"), ("cpu=samples,latency=Spin.hot", "CALL LATENCY"),
                              ("cpu=samples,clock=wall", "Idle.busy")):
            path = vm.path("out%d.txt" % number)
            check(loaded(load_agent(live.pid, agent, "%s,force=y,file=%s" % (options, path))), "%s by copy %d\n%s" % (options, number, live.state()))
            live.wait_until(lambda: loaded(load_agent(live.pid, agent, "command=report")) and seen in open(path).read(),  # pylint: disable=W0640
                            "%s by copy %d" % (options, number))
            check(loaded(load_agent(live.pid, agent, "command=detach")), "copy %d is detached\n%s" % (number, live.state()))
    live.ended_well()


@vm_test(units=PROBED)
def a_copy_beside_another_is_refused_where_they_would_meet(vm):
    live = plain_vm(vm)
    second = other_copy(vm)
    first, refused, beside = vm.path("first.txt"), vm.path("refused.txt"), vm.path("beside.txt")
    check(load(live, "latency=Spin.hot,file=%s" % first), "loaded\n%s" % live.state())
    check(not loaded(load_agent(live.pid, second, "latency=Spin.hot,file=%s" % refused)), "the second has the first one's class")
    check("another agent in this VM uses java/lang/HprofLatency" in live.err(), "it does not say why\n%s" % live.state())
    check("none of the chosen collectors runs" in live.err(), "it does not say that nothing runs\n%s" % live.state())
    check(loaded(load_agent(live.pid, second, "cpu=samples,file=%s" % beside)), "what does not meet\n%s" % live.state())
    live.wait_until(lambda: loaded(load_agent(live.pid, second, "command=report")) and "Spin.hot" in open(beside).read(), "samples beside it")
    check(loaded(load_agent(live.pid, second, "command=detach")), "the second is detached\n%s" % live.state())
    live.wait_until(lambda: load(live, "command=report") and "Spin.hot" in open(first).read(), "the first goes on")
    check(load(live, "command=detach"), "detached\n%s" % live.state())
    check(loaded(load_agent(live.pid, second, "latency=Spin.hot,force=y,file=%s" % refused)), "the second in its place\n%s" % live.state())
    live.ended_well()


@vm_test(units=PROBED + ("cpu_times",))
def copies_of_the_agent_put_no_probes_into_each_others_targets(vm):
    """Targets that call each other would never return."""
    live = vm.start("cpu=times,file=times.txt", "Idle", java=vm.attachable)
    second, calls = other_copy(vm), vm.path("calls.txt")
    check(loaded(load_agent(live.pid, second, "latency=java.lang.Hprof*:Spin.hot,file=%s" % calls)), "loaded\n%s" % live.state())
    live.wait_until(lambda: loaded(load_agent(live.pid, second, "command=report")) and "Spin.hot" in open(calls).read(), "calls")
    check("HprofCalls" not in open(calls).read(), "the other copy's targets have probes")
    run = live.ended_well()
    check("Spin.hot" in [row.method for row in parse_ascii(run.text("times.txt")).cpu("CPU TIME (ms)")[-1].rows], "the calls that the first counts")


def jcmd_lines():
    """Those of docs/control.md that load the agent."""
    with open(os.path.join(ROOT, "docs", "control.md")) as file:
        return re.findall(r"^    jcmd PID JVMTI\.agent_load /path/libhprof\.so (\S+)", file.read(), re.M)


@vm_test(units=UNITS, since=9)
def jcmd_loads_the_agent_as_the_page_says(vm):
    live = plain_vm(vm)
    lines = jcmd_lines()
    check_equal(len(lines), 3, "lines with jcmd in docs/control.md")
    for line in lines:
        argument, = shlex.split(line.replace("/tmp/", vm.dir + "/"))
        code, text = vm.tool("jcmd", str(live.pid), "JVMTI.agent_load", vm.agent, argument)
        check_equal((code, "return code: 0" in text), (0, True), "jcmd %s\n%s\n%s\n" % (argument, text, live.state()))
    text = vm.tool("jcmd", str(live.pid), "JVMTI.agent_load", vm.agent, "cpu=samples")[1]
    check("return code: -1" in text, "jcmd without quotes: %s" % text)
    check("cpu has no value (cpu); jcmd cuts at '=': quote the options, '\"<option>=<value>\"'" in live.err(), "the hint\n%s" % live.state())
    live.ended_well()
    for name in ("one.txt", "two.txt"):
        check_equal(len(parse_ascii(content(vm, name)).cpu()), 1, "CPU sections of " + name)


@vm_test(units=UNITS, since=9)
def fifty_data_dump_requests_in_a_row_give_fifty_reports(vm):
    live = vm.start("cpu=samples,interval=1,thread=y,file=out.txt", "Idle")
    for _ in range(50):
        diagnostic(live.pid, "JVMTI.data_dump")
    live.wait_for("out.txt", "CPU SAMPLES END\n", 50)
    run = live.ended_well()
    sections = parse_ascii(run.text("out.txt"), thread_ids=True).cpu()
    check_equal(len(sections), 51, "CPU sections: fifty, and one at exit")
    totals = [section.total for section in sections]
    check_equal(totals, sorted(totals), "totals never go down")


@vm_test(units=UNITS + ("heap_sites",))
def attached_sites_are_sampled_and_exact_ones_refused(vm):
    live = plain_vm(vm)
    wanted = vm.version >= 11
    check_equal(load(live, "heap=sites,file=%s" % vm.path("out.txt")), wanted, "heap=sites\n%s\n" % live.state())
    said = "it samples (sites=sampled)" if wanted else "must be loaded at VM start-up on Java versions below 11"
    check(said in live.err(), "nothing was said\n%s" % live.state())
    if wanted:
        check(load(live, "command=stop") and load(live, "command=detach"), "detached\n%s" % live.state())
        check("sampled, one sample in 524288 bytes" in content(vm, "out.txt"), "the report's note")
    check(not load(live, "heap=sites,sites=exact,file=%s" % vm.path("no.txt")), "exact sites\n%s" % live.state())
    said = "sites=exact must be loaded at VM start-up; attached, use sites=sampled"
    check(said in live.err(), "it does not say why\n%s" % live.state())
    live.ended_well()


def put(vm, name, text="a good report\n"):
    with open(vm.path(name), "w") as file:
        file.write(text)


def content(vm, name):
    with open(vm.path(name)) as file:
        return file.read()


@vm_test(units=UNITS + ("heap_sites",))
def failed_attach_keeps_the_report_that_is_there(vm):
    live = plain_vm(vm)
    put(vm, "java.hprof.txt")
    check(not load(live, "heap=sites,sites=exact"), "exact sites cannot begin now\n%s" % live.state())
    check_equal(content(vm, "java.hprof.txt"), "a good report\n", "the report that was there")
    live.ended_well()


@vm_test(units=UNITS)
def attach_replaces_a_report_only_when_told_to(vm):
    live = plain_vm(vm)
    for name in ("java.hprof.txt", "forced.txt", "kept.txt"):
        put(vm, name)
    for options in ("cpu=samples", "cpu=samples", "cpu=samples,force=n,file=kept.txt", "cpu=samples,force=y,file=forced.txt"):
        check(load(live, options), "%s: loaded\n%s" % (options, live.state()))
        check(load(live, "command=detach"), "detached\n%s" % live.state())
    live.ended_well()
    check_equal([content(vm, name) for name in ("java.hprof.txt", "kept.txt")], ["a good report\n"] * 2, "what was there")
    for name in ("java.hprof.2.txt", "java.hprof.3.txt", "kept.%d.txt" % live.pid, "forced.txt"):
        check_equal(len(parse_ascii(content(vm, name)).cpu()), 1, "CPU sections of " + name)
    check("java.hprof.txt is kept (force=y replaces it): writing to java.hprof.2.txt" in live.err(), live.err())
