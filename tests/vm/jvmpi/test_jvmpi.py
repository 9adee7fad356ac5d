"""jvmpi=: agents written for JVMPI (tests/vm/jvmpi) in VMs of today."""
import os
import re

from harness import LACKS, Skip, check, check_equal, vm_test
from jvmpi_agents import DUMPS, PROBES, REFERENCES, UNITS, build, check_promises, run, run_alone, said
from reports import parse_ascii


@vm_test(units=PROBES, quick=True)
def the_interfaces_own_example_counts_calls(vm):
    ran = run(vm, "counter", "a=1,b=2", "Quick")
    check_equal(said(ran)[0], "options a=1,b=2", "options\n%s\n" % ran)
    check("all code is interpreted" not in ran.err, "calls do not come by probes\n%s" % ran)
    calls = re.match(r"calls (\d+)$", said(ran)[-1])
    check(calls is not None and int(calls.group(1)) > 100, "calls\n%s" % ran)
    check(not os.path.exists(vm.path("java.hprof.txt")), "a file was written")


@vm_test(units=UNITS, quick=True)
def promises_hold_with_calls(vm):
    ran = run(vm, "promises", "calls", "Isolated")
    seen = check_promises(ran)
    check(seen.get(1, 0) > 1000 and seen.get(3, 0) > 1000, "calls: %s" % seen)
    check(seen.get(42, 0) > 300 and seen.get(33, 0) > 3 and seen.get(46) == 1, "classes, threads, the start: %s" % seen)
    check("the last thread has ended" in said(ran), "the thread that ends the VM\n%s" % ran)


def counted(vm, how, program):
    """What calls.c counts of a program's own methods: {method: (entries, exits, receivers)}."""
    ran = run(vm, "calls", program, program, options="jvmpi=y,jvmpi-methods=" + how)
    check_equal("all code is interpreted" in ran.err, how == "events", "said that it is slow\n%s\n" % ran)
    lines = [line.rsplit(" ", 3) for line in said(ran) if not line.startswith("broken")]
    check_equal(said(ran)[-1], "broken 0", "calls that do not nest\n%s\n" % ran)
    return {line[0]: tuple(int(n) for n in line[1:]) for line in lines}


@vm_test(units=PROBES, quick=True)
def probes_count_calls_as_events_do(vm):
    for program in ("Catches", "Nests"):
        by_probes, by_events = counted(vm, "probes", program), counted(vm, "events", program)
        check_equal(by_probes, by_events, "entries, exits, receivers of " + program)
        check_equal(counted(vm, "auto", program), by_events, "the same by what is the default")
        if program == "Catches":
            check_equal((by_probes["Catches.thrower(I)V"], by_probes["Catches$Own.<init>(Ljava/lang/String;)V"]),
                        ((50, 50, 0), (55, 55, 55)), "calls")


@vm_test(units=PROBES)
def promises_hold_with_calls_by_probes(vm):
    for program in ("Isolated", "Unloads"):
        seen = check_promises(run(vm, "promises", "calls", program, options="jvmpi=y,jvmpi-methods=probes"))
        check(seen.get(1, 0) > 1000 and seen.get(3, 0) > 1000, "calls: %s" % seen)


@vm_test(units=PROBES, since=21)
def carriers_of_virtual_threads_report_no_calls(vm):
    """A JVMTI call while a virtual thread is being mounted would never return."""
    ran = run(vm, "calls", "Virtual", "Virtual", options="jvmpi=y,jvmpi-methods=probes")
    check("Virtual.main([Ljava/lang/String;)V 1 1 0" in said(ran), "calls of the main thread\n%s" % ran)


@vm_test(units=PROBES)
def promises_hold_with_calls_by_events(vm):
    for program in ("Isolated", "Unloads"):
        seen = check_promises(run(vm, "promises", "calls", program, options="jvmpi=y,jvmpi-methods=events"))
        check(seen.get(1, 0) > 1000 and seen.get(3, 0) > 1000, "calls: %s" % seen)


@vm_test(units=PROBES)
def promises_hold_with_allocations_by_probes(vm):
    seen = check_promises(run(vm, "promises", "objects", "Sums", "2", options="jvmpi=y,jvmpi-allocs=probes"))
    check(seen.get(4, 0) > 10000, "allocations: %s" % seen)
    seen = check_promises(run(vm, "promises", "all", "Isolated", options="jvmpi=y,jvmpi-allocs=probes,jvmpi-methods=probes"))
    check(seen.get(2, 0) > 1000 and seen.get(4, 0) > 5000, "events: %s" % seen)


@vm_test(units=PROBES + ("cpu_times", "encoder_ascii", "sink_file"))
def calls_come_by_probes_beside_those_of_cpu_times(vm):
    """In either order; each collector has its own local variable in a method, and counts as if it was alone."""
    for options in ("cpu=times,jvmpi=y,jvmpi-methods=probes", "jvmpi=y,jvmpi-methods=probes,cpu=times", "jvmpi=y,cpu=times"):
        ran = run(vm, "calls", "Catches", "Catches", options=options + ",depth=20,cutoff=0,file=out.txt", java=("-Xverify:all",))
        check("all code is interpreted" not in ran.err, "%s: calls do not come by probes\n%s" % (options, ran))
        check("Catches.thrower(I)V 50 50 0" in said(ran), "%s: calls\n%s" % (options, ran))
        counted = parse_ascii(ran.text("out.txt"))
        found = sum(row.count for row in counted.cpu("CPU TIME (ms)")[0].rows if row.method == "Catches.thrower")
        check_equal(found, 50, "%s: calls of cpu=times" % options)


@vm_test(units=PROBES + ("heap_sites", "encoder_ascii", "sink_file"))
def calls_come_by_probes_beside_those_of_heap_sites(vm):
    ran = run(vm, "calls", "Catches", "Catches", options="heap=sites,cutoff=0,file=out.txt,jvmpi=y")
    check("all code is interpreted" not in ran.err, "calls do not come by probes\n%s" % ran)
    check("Catches.thrower(I)V 50 50 0" in said(ran), "calls\n%s" % ran)
    check("SITES BEGIN" in ran.text("out.txt"), "the other collector's sites")


@vm_test(units=PROBES)
def calls_wanted_late_come_by_probes(vm):
    ran = run(vm, "late", "", "Nests")
    check("all code is interpreted" not in ran.err, "calls do not come by probes\n%s" % ran)
    check_equal(said(ran), ["before 0, then some, after 0"], "what the agent saw\n%s\n" % ran)


@vm_test(units=UNITS, since=11)
def ids_are_told_of_while_the_objects_of_the_start_are(vm):
    check_equal(said(run(vm, "replay", "", "Quick")), ["asked 1"], "what the agent saw")


@vm_test(units=UNITS, since=11)
def promises_hold_with_objects(vm):
    seen = check_promises(run(vm, "promises", "objects", "Sums", "2"))
    check(seen.get(4, 0) > 10000, "allocations: %s" % seen)


@vm_test(units=UNITS, since=11)
def promises_hold_with_all_events(vm):
    seen = check_promises(run(vm, "promises", "all", "Isolated"))
    check(seen.get(2, 0) > 1000 and seen.get(4, 0) > 10000, "events: %s" % seen)
    # ZGC shows no unreachable objects at the start, and frees others later.
    check(seen.get(5, 0) > 100 or "-XX:+UseZGC" in vm.java_options, "frees: %s" % seen)
    check(seen.get(60, 0) > 0 and seen.get(60) == seen.get(61), "collections: %s" % seen)
    check(seen.get(35, 0) > 0, "class files: %s" % seen)


@vm_test(units=UNITS, since=21)
def promises_hold_with_many_virtual_threads(vm):
    check_promises(run(vm, "promises", "all", "VirtualMany", "3000"))


@vm_test(units=UNITS)
def classes_that_have_gone_are_told_of(vm):
    seen = check_promises(run(vm, "promises", "", "Unloads"))
    check(seen.get(60, 0) > 0, "collections: %s" % seen)
    check(seen.get(43, 0) >= 3, "unloaded classes: %s" % seen)


@vm_test(units=UNITS)
def contended_monitors_are_told_of(vm):
    ran = run_alone(vm, "promises", "", "Contend", "monitor", "4", "5", "2")
    seen = check_promises(ran)
    check(seen.get(54, 0) > 0 and seen.get(54) == seen.get(55), "contended: %s" % seen)
    check(seen.get(56) == seen.get(54) and seen.get(57, 0) > 0, "exits, waits: %s" % seen)


@vm_test(units=UNITS)
def each_wait_ends_once(vm):
    check_equal(said(run(vm, "waits", "", "Waits")), ["waits many, unpaired ends 0, sleeps 1"], "what the agent saw")


RAW_MONITORS = "sum 2001000, fought, paired, other names 0"


@vm_test(units=UNITS)
def raw_monitors_work_from_the_start(vm):
    ran = run(vm, "raw_monitors", "", "Quick")
    check_equal(said(ran)[-1], RAW_MONITORS, "what the agent saw\n%s\n" % ran)


def rewritten(vm, options, agent_options="", java=()):
    """Quick, whose text hook.c has replaced; checks that the agent was given what is on disk."""
    ran = run_alone(vm, "hook", agent_options, "Quick", options=options, java=java)
    check_equal((ran.code, ran.out), (0, "rewritten\n"), "exit code, stdout\n%s\n" % ran)
    with open(os.path.join(vm.classes, "Quick.class"), "rb") as file:
        check_equal(ran.bytes("seen"), file.read(), "the class file that the agent was given")
    calls = 1 if agent_options else 0
    check_equal(said(ran)[-1], "files seen, rewritten 1, with probes 0, calls of main %d" % calls, "the agent\n%s\n" % ran)
    return ran


@vm_test(units=UNITS)
def classes_are_rewritten(vm):
    rewritten(vm, "jvmpi=y")
    rewritten(vm, "jvmpi=y", "calls")


@vm_test(units=PROBES)
def rewritten_classes_get_probes(vm):
    rewritten(vm, "jvmpi=y,jvmpi-methods=probes", "calls")
    rewritten(vm, "jvmpi=y,jvmpi-allocs=probes", java=("-Xverify:all",))


@vm_test(units=PROBES + ("cpu_times", "encoder_ascii", "sink_file"))
def rewritten_classes_are_timed(vm):
    ran = rewritten(vm, "cpu=times,cutoff=0,file=out.txt,jvmpi=y", "calls")
    check(re.search(r" Quick\.main$", ran.text("out.txt"), re.MULTILINE) is not None, "Quick.main is not timed\n%s" % ran)


STORM = "suspended 1600, refused 0, wrong 0, collections many, allocations %s"


@vm_test(units=UNITS)
def threads_are_suspended_while_collections_run(vm):
    check_equal(said(run(vm, "storm", "", "Storm")), [STORM % "none"], "what the agent saw")
    if vm.version >= 11:
        check_equal(said(run(vm, "storm", "objects", "Storm")), [STORM % "some"], "what the agent saw")


LISTS = ["java: nobody 0, enter, wait waiter", "java: owner 1, enter wanting, wait", "long: holder 1, enter fighter, wait",
         "waited: nobody 0, enter, wait raw waiter"]


@vm_test(units=UNITS)
def monitors_are_listed_with_their_threads(vm):
    lines = said(run(vm, "lists", "", "MonitorLists"))
    check_equal(sorted(line for line in lines if re.search("wait(ing|er|ed)|owner|long|ours|one of", line)), LISTS,
                "what the agent saw\n%s\n" % "\n".join(lines))


@vm_test(units=UNITS)
def monitors_are_dumped_on_request(vm):
    ran = run_alone(vm, "monitors", "", "Contend", "monitor", "4", "5", "2")
    check(len(said(ran)) == 2 and said(ran)[1] == "asked 0", "what the agent saw\n%s" % ran)
    # The owner may have left the monitor meanwhile.
    check(re.match("dump whole, java (some|none), raw 1, owned (some|none), waiting (some|none), threads some, frames some$",
                   said(ran)[0]) is not None, "the dump\n%s" % ran)


STEPS = ["offsets 0 1 2 3"
         " 4 5 6 9 10 40 43 64 65 68 69 104 107 125 126 127 133 136"
         " 4 5 6 9 10 46 49 64 65 68 69 110 113 125 126 127 133 136"
         " 4 5 6 9 10 58 64 65 68 69 122 125 126 127 130 131 132 133 136 4 5 6 139 140",
         "jumps 0 1 0 1 0 0 1", "tables 0 in 0..3 1 in 0..3 2 in 0..3", "lookups 0 of 3 1 of 3 3 of 3", "main 5, others many"]


@vm_test(units=UNITS)
def instructions_are_told_of(vm):
    for options in ("", "calls"):
        ran = run(vm, "steps", options, "Jumps")
        check_equal(said(ran), STEPS, "what the agent saw\n%s\n" % ran)
        check_equal(ran.err.count("all code is interpreted"), 1, "said that it is slow\n%s\n" % ran)
    for options in ("jvmpi=y,jvmpi-methods=off", "jvmpi=y,jvmpi-methods=probes")[:2 if "bytecode" in vm.units else 1]:
        ran = run(vm, "steps", "", "Jumps", options=options)
        check_equal(said(ran)[-1], "main 0, others none", "the agent goes on\n%s\n" % ran)
        check_equal(ran.err.count("INSTRUCTION_START is not sent"), 1, "said why\n%s\n" % ran)


@vm_test(units=UNITS)
def handlers_that_do_not_return_are_told_of(vm):
    build(vm, "references")
    live = vm.launch([vm.agent_option("jvmpi=y"), "-Xrunreferences:stuck", "Quick"], {"LD_LIBRARY_PATH": vm.dir})
    live.wait_until(lambda: "handler of event 42 has not returned for 10 s" in live.err(), "that is said")
    open(vm.path("go"), "w").close()
    check_equal(live.finish().code, 0, "exit code\n%s\n" % live.state())


FUNCTIONS = ["frames some", "native line -3", "frames of nobody 0", "status 3", "suspended 0 10 status 8003", "has run 0",
             "resumed status 3", "ids agree", "requests 0 0", "class by request 0", "cpu time runs", "collections some",
             "requests seen 3, shut down 1"]


@vm_test(units=UNITS, quick=True)
def functions_answer(vm):
    ran = run(vm, "functions", "", "Sleeper")
    lines = said(ran)[1:]
    # Thread.sleep is a native method itself until 19, and has one below since.
    check_equal(lines, FUNCTIONS, "what the agent saw\n%s\n" % ran)


# Numbers by how they are tried: the program goes on until the event has come.
CALLS, ALLOCATIONS, FREES = (1, 2, 3), (4,), (5,)
SIGNALS = (44, 45)
BY_REQUEST = (37, 50, 59)
NEVER_SENT = (6, 48, 49)
OTHERS = (7, 8, 9, 33, 34, 35, 38, 39, 40, 41, 42, 43, 46, 51, 52, 53, 54, 55, 56, 57, 58, 60, 61)
# What is told only of what was told before.
COMPANIONS = {5: "5,4", 8: "8,7", 43: "43,42"}


def check_one(vm, number, enabled=0, comes=True, program="until", options="jvmpi=y"):
    """Event `number` alone: what EnableEvent says, whether it comes, its fields."""
    if os.path.exists(vm.path("arrived")):
        os.remove(vm.path("arrived"))
    # -Xbatch: code is compiled when it is due, not when there is time.
    ran = run_alone(vm, "one", COMPANIONS.get(number, str(number)), "Sundry", program, options=options, java=("-Xbatch",))
    wanted = ["enabled %d" % enabled] + ["requested 0"] * (number in BY_REQUEST)
    wanted.append("event %d: %s, wrong 0" % (number, "came" if comes else "never came"))
    check_equal((ran.code, said(ran)), (0, wanted), "event %d alone\n%s\n" % (number, ran))


@vm_test(units=UNITS)
def each_event_comes_alone(vm):
    for number in OTHERS:
        check_one(vm, number)


@vm_test(units=UNITS)
def each_event_of_the_end_and_of_signals_comes_alone(vm):
    check_one(vm, 47, program="once")
    for number in SIGNALS:
        check_one(vm, number, program="quit")


@vm_test(units=UNITS)
def each_event_by_request_comes_alone(vm):
    for number in BY_REQUEST:
        check_one(vm, number, enabled=1)


@vm_test(units=UNITS)
def events_of_calls_come_alone(vm):
    for number in CALLS:
        check_one(vm, number)
        check_one(vm, number, options="jvmpi=y,jvmpi-methods=events")
        check_one(vm, number, enabled=1, comes=False, program="once", options="jvmpi=y,jvmpi-methods=off")


@vm_test(units=PROBES)
def events_by_probes_come_alone(vm):
    for number in CALLS:
        check_one(vm, number, options="jvmpi=y,jvmpi-methods=probes")
    for number in ALLOCATIONS + FREES:
        check_one(vm, number, options="jvmpi=y,jvmpi-allocs=probes")


@vm_test(units=UNITS)
def events_of_objects_come_alone(vm):
    there = vm.version >= 11
    for number in ALLOCATIONS + (FREES if there else ()):
        check_one(vm, number, enabled=0 if there else 1, comes=there, program="until" if there else "once")
    check_one(vm, 4, enabled=1, comes=False, program="once", options="jvmpi=y,jvmpi-allocs=n")


@vm_test(units=UNITS)
def what_is_no_event_is_refused(vm):
    tried = CALLS + ALLOCATIONS + FREES + SIGNALS + BY_REQUEST + NEVER_SENT + OTHERS + (47,)
    check_equal(sorted(tried), [*range(1, 10), 33, 34, 35, *range(37, 62)], "events of the table")
    for number in NEVER_SENT:
        check_one(vm, number, comes=False, program="once")
    ran = run_alone(vm, "one", "none", "Quick")
    check_equal(said(ran)[0], "no events: many, not refused 0", "numbers that are no events\n%s\n" % ran)


@vm_test(units=UNITS)
def an_agent_may_end_the_vm(vm):
    ran = run_alone(vm, "functions", "exit", "Quick")
    check_equal((ran.code, ran.out), (7, ""), "exit code, stdout\n%s\n" % ran)
    check_equal(said(ran)[-1], "requests seen 0, shut down 1", "the end\n%s\n" % ran)


@vm_test(units=UNITS)
def an_agent_is_loaded_without_xrun(vm):
    library = build(vm, "functions")
    ran = vm.profiled("jvmpi=%s:a=1" % library, "Sleeper")
    check_equal(said(ran), ["options a=1"] + FUNCTIONS, "what the agent saw\n%s\n" % ran)
    ran = vm.profiled("jvmpi=%s:a%%2Cb=%%p%%2c%%2" % library, "Quick")
    check_equal(said(ran)[0], "options a,b=%p,%2", "options\n%s\n" % ran)


@vm_test(units=UNITS)
def an_agent_that_wants_jni_at_once_is_called_again(vm):
    library = build(vm, "functions")
    ran = vm.profiled("jvmpi=%s:jni" % library, "Sleeper")
    check_equal(said(ran), ["options jni", "options jni"] + FUNCTIONS, "what the agent saw\n%s\n" % ran)


@vm_test(units=UNITS)
def an_agent_for_another_version_ends_the_vm(vm):
    library = build(vm, "versions")
    ran = vm.run_java(vm.agent_option("jvmpi=" + library), "Quick")
    check_equal((said(ran), ran.code != 0, ran.out), (["version answered -3"], True, ""), "the agent, the VM\n%s\n" % ran)
    ran = run_alone(vm, "versions", "", "Quick")
    check_equal((said(ran), ran.code != 0), (["version answered -3"], True), "the agent, the VM\n%s\n" % ran)
    check("experimental" not in ran.out + ran.err, "the VM was asked\n%s" % ran)
    ran = vm.profiled("jvmpi=%s:on" % library, "Quick")
    check_equal(said(ran), ["version answered -3", "CPU time some"], "what the agent saw\n%s\n" % ran)


@vm_test(units=UNITS)
def libraries_that_are_no_agents_are_refused(vm):
    line = vm.refused("jvmpi=%s" % vm.path("nowhere.so"))
    check("nowhere.so" in line, "not named: %s" % line)
    if "libraries in C" not in LACKS:
        line = vm.refused("jvmpi=%s" % vm.native("watch_memory.c"))
        check("JVM_OnLoad" in line, "not said why: %s" % line)


@vm_test(units=UNITS + ("cpu_samples", "encoder_ascii", "sink_file"))
def another_collector_runs_beside_it(vm):
    ran = run(vm, "counter", "", "Spin", "3", options="cpu=samples,file=out.txt,jvmpi=y")
    check("CPU SAMPLES BEGIN" in ran.text("out.txt"), "no profile")
    check(said(ran)[-1].startswith("calls "), "the agent's end\n%s" % ran)


@vm_test(units=UNITS + ("cpu_samples", "encoder_ascii", "sink_file"))
def a_run_without_it_opens_nothing_of_it(vm):
    live = vm.start("cpu=samples,file=out.txt", "Idle")
    with open(live.proc("maps")) as maps:
        check("/jvmpi.so" not in maps.read(), "the module was opened")
    live.finish()


@vm_test(units=UNITS)
def without_an_agent_that_is_said(vm):
    ran = vm.profiled("jvmpi=y", "Quick")
    check("no agent has asked for JVMPI" in ran.err, "not said\n%s" % ran)
    ran = vm.profiled("jvmpi=n", "Quick")
    check("JVMPI" not in ran.err, "jvmpi=n says something\n%s" % ran)


@vm_test(units=UNITS)
def calls_and_allocations_can_be_left_out(vm):
    ran = run(vm, "promises", "calls,objects", "Quick", options="jvmpi=y,jvmpi-methods=off,jvmpi-allocs=n")
    check_promises(ran)
    for event in (1, 3, 4):
        check("event %d is not there: 1" % event in said(ran), "event %d\n%s" % (event, ran))


def run_checked(vm, name, agent_options, *program, collector, options="jvmpi=y"):
    """With that collector and -Xcheck:jni, which must have nothing to say."""
    ran = run_alone(vm, name, agent_options, *program, options=options, java=(collector, "-Xcheck:jni"))
    said_of_jni = [line for line in (ran.out + ran.err).splitlines()
                   if "FATAL ERROR" in line or line.startswith("WARNING in native") or line.startswith("WARNING: JNI")]
    check_equal((ran.code, said_of_jni), (0, []), "exit code, -Xcheck:jni\n%s\n" % ran)
    return ran


def check_agents_with(vm, collector):
    """A few agents that use most of the bridge."""
    if vm.run_java(collector, "Quick").code != 0:
        raise Skip("this VM has no %s" % collector)
    all_there = vm.version >= 11
    options = "calls,objects" if all_there else "calls"
    seen = check_promises(run_checked(vm, "promises", options, "Isolated", collector=collector))
    check(seen.get(1, 0) > 1000 and (seen.get(4, 0) > 10000 or not all_there), "events: %s" % seen)
    check(seen.get(60, 0) > 0 and seen.get(60) == seen.get(61), "collections: %s" % seen)
    check_equal(said(run_checked(vm, "raw_monitors", "", "Quick", collector=collector))[-1], RAW_MONITORS, "raw monitors")
    check_equal(said(run_checked(vm, "functions", "", "Sleeper", collector=collector))[1:], FUNCTIONS, "functions")
    check_equal(said(run_checked(vm, "references", "", "Quick", collector=collector)), [REFERENCES], "references")
    ran = run_checked(vm, "dump", "", "HeapShapes", collector=collector)
    check_equal(said(ran), DUMPS, "dumps\n%s\n" % ran)
    check_equal(said(run_checked(vm, "storm", "objects" if all_there else "", "Storm", collector=collector)),
                [STORM % ("some" if all_there else "none")], "suspension")
    if "bytecode" in vm.units:
        options = "jvmpi=y,jvmpi-methods=probes,jvmpi-allocs=probes"
        check_promises(run_checked(vm, "promises", "calls,objects", "Unloads", collector=collector, options=options))


@vm_test(units=UNITS)
def agents_work_with_serial(vm):
    check_agents_with(vm, "-XX:+UseSerialGC")


@vm_test(units=UNITS)
def agents_work_with_g1(vm):
    check_agents_with(vm, "-XX:+UseG1GC")


@vm_test(units=UNITS, since=17)
def agents_work_with_zgc(vm):
    vm.needs_zgc()
    check_agents_with(vm, "-XX:+UseZGC")
