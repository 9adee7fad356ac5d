"""count=y: what a program counts with hprof.jar (tools/java/api)."""
import fcntl
import glob
import os
import re
import shutil
import subprocess

from commands import load_agent, loaded, must
from harness import ROOT, Skip, check, check_equal, vm_test
from reports import parse_ascii

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = ("bytecode", "count", "calls", "heap_sites", "encoder_ascii", "sink_file")
TESTS = ("calls", "objects", "nested", "exceptions", "threads", "many")


def count(vm, options, test):
    run = vm.run_java(vm.agent_option(options), "Counting", test)
    check_equal((run.code, run.errors(), run.out.split("\n")[0]), (0, [], "done"), "%s\n%s\n" % (test, run))
    return run


@vm_test(units=UNITS, quick=True)
def counts_are_exact(vm):
    for test in TESTS:
        count(vm, "count=y,include=Counting", test)
    check(not os.path.exists(vm.path("java.hprof.txt")), "a report was written")


@vm_test(units=UNITS)
def counts_are_exact_in_each_mode_of_the_vm(vm):
    for mode in ("-Xint", "-Xcomp", "-XX:TieredStopAtLevel=1"):
        for test in ("calls", "objects"):
            run = vm.run_java(vm.agent_option("count=y,include=Counting"), mode, "Counting", test)
            check_equal((run.code, run.out.split("\n")[0]), (0, "done"), "%s %s\n%s\n" % (mode, test, run))


@vm_test(units=UNITS)
def objects_are_counted_without_their_stacks_when_there_is_no_room(vm):
    run = vm.run_java(vm.agent_option("count=y,include=Counting,max-memory=16m"), "Counting", "stacks")
    check_equal((run.code, run.out), (0, "done\n"), "%s\n" % run)


@vm_test(units=UNITS, since=21)
def a_virtual_thread_counts_all_threads(vm):
    count(vm, "count=y,include=Counting", "virtual")


@vm_test(units=UNITS)
def an_attached_agent_counts_calls_and_refuses_objects(vm):
    live = vm.start(None, "Counting", "rounds", java=vm.attachable)
    said = []

    def next_round(*lines):
        said.extend(lines + ("did",))
        live.next_round(said.count("did"))
        check_equal(live.out().splitlines()[1:], said, "rounds\n%s\n" % live.state())

    absent = "the hprof agent does not count in this VM: start it with -agentpath:/path/to/libhprof.so=count=y,include=com.acme.*"
    next_round(absent)
    for number in (1, 2):
        check(loaded(load_agent(live.pid, vm.agent, "count=y,include=Counting,logflags=1")), live.state())
        next_round("7 steps", "objects are not counted: load the agent when the VM starts; else it has said why on standard error")
        check(loaded(load_agent(live.pid, vm.agent, "command=detach")), live.state())
        live.wait_until(lambda: live.err().count("bytes not given back") == number, "the end of the detach")
        next_round(absent)
    run = live.ended_well()
    check("count=y counts objects if the agent is loaded at VM start-up" in run.err and "so it samples" not in run.err, "messages\n%s" % run)


@vm_test(units=UNITS)
def without_the_agent_a_call_says_how_to_start_it(vm):
    for options in ("-Dx=y", vm.agent_option("calls=y,file=out.txt")):
        run = vm.run_java(options, "Counting", "absent")
        check_equal((run.code, run.out), (0, "done\n"), "%s\n" % run)


@vm_test(units=UNITS)
def names_that_are_read_after_a_stop_say_so(vm):
    live = vm.start("count=y,include=Counting,control=ctl", "Counting", "stopped")
    must(vm.path("ctl"), "stop")
    run = live.finish()
    check_equal((run.code, run.out.split("\n")[1:]), (0, ["done", ""]), "%s\n" % run)


@vm_test(units=UNITS)
def a_report_has_what_was_counted(vm):
    run = vm.run_java(vm.agent_option("count=y,calls=y,include=Counting,cutoff=0,file=out.txt"), "Counting", "nested")
    check_equal(run.out, "done\n", "%s\n" % run)
    report = parse_ascii(run.text("out.txt"))
    calls = [cells["calls"] for _, cells in report.table_lines if cells.get("method") == "Counting.step"]
    check_equal(calls, ["248"], "steps\n%s\n" % run.text("out.txt"))


@vm_test(units=UNITS)
def objects_of_threads_that_count_nothing_are_in_no_report(vm):
    run = vm.run_java(vm.agent_option("count=y,heap=sites,include=Counting,cutoff=0,file=out.txt"), "Counting", "others")
    check_equal(run.out, "done\n", "%s\n" % run)
    items = sum(int(objects) for objects in re.findall(r"^ *\d+ .* (\d+) +\d+ Counting\$Item$", run.text("out.txt"), re.M))
    check_equal(items, 7, "items\n%s\n" % run.text("out.txt")[-3000:])


# --- JUnit, with Maven Central

CONSOLE = "org.junit.platform:junit-platform-console-standalone:1.10.2"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


def console(vm):
    """JUnit's console launcher, of Maven Central, once for all tests."""
    folder = os.path.join(vm.work, "junit")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        jar = os.path.join(folder, "%s-%s.jar" % tuple(CONSOLE.split(":")[1:]))
        if not os.path.exists(jar):
            if not shutil.which("mvn"):
                raise Skip("no mvn here (Debian: maven)")
            run = subprocess.run(["mvn", "-q", "-B", COPY, "-Dartifact=" + CONSOLE, "-DoutputDirectory=" + folder], cwd=folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            if not os.path.exists(jar):
                raise Skip("no Maven Central: %s" % run.stdout.decode(errors="replace").split("\n")[0])
    return jar


def class_path(vm):
    sources = glob.glob(os.path.join(ROOT, "tools", "java", "junit", "hprof", "junit", "*.java")) + [os.path.join(HERE, "junit", "BudgetTest.java")]
    os.makedirs(vm.path("sources"))
    os.makedirs(vm.path("tests"))
    copies = [shutil.copy(source, vm.path("sources")) for source in sources]
    path = os.pathsep.join([vm.classes, console(vm)])
    code, text = vm.tool("javac", "-nowarn", "-cp", path, "-d", vm.path("tests"), *copies)
    check_equal(code, 0, "javac: %s" % text)
    return os.pathsep.join([vm.path("tests"), path])


def junit(vm, path, options, *java, methods=()):
    """{test: how it ended}, and what JUnit printed."""
    select = ["--select-method=BudgetTest#" + name for name in methods] or ["--select-class=BudgetTest"]
    agent = [vm.agent_option(options)] if options else []
    run = vm.run_java(*agent, *java, "-cp", path, "org.junit.platform.console.ConsoleLauncher", "execute", *select, "--details=tree",
                      "--details-theme=ascii", "--disable-banner", "--disable-ansi-colors")
    return dict(re.findall(r"^\| .*?-- (\S.*?) \[(OK|X|S|A)\]", run.out, re.M)), run


def failures(run):
    return re.findall(r"^  JUnit Jupiter:BudgetTest:(.*)$", run.out, re.M)


@vm_test(units=UNITS)
def tests_of_junit_fail_above_their_limits(vm):
    path = class_path(vm)
    for parallel in ("false", "true"):
        _, run = junit(vm, path, "count=y,include=BudgetTest", "-Djunit.jupiter.execution.parallel.enabled=" + parallel,
                       "-Djunit.jupiter.execution.parallel.mode.default=concurrent")
        failed = sorted(failures(run))
        wanted = ["failsAsItWould()", "failsByTheClass()", "failsFor3(int):[3] 3", "failsForNoClass()", "failsForNoMethod()", "failsTwice()",
                  "isTheSame(int):[1] 1", "isTheSame(int):[2] 2"]
        check_equal(failed, wanted, "failures\n%s\n" % run)
        for part in ("4 objects, at most 3 allowed", "bytes of BudgetTest$It*, at most 1 allowed", "at BudgetTest.items(BudgetTest.java:",
                     "5 objects of BudgetTest$Item, at most 4 allowed", "3 calls of BudgetTest.step, at most 2 allowed", "own failure",
                     "calls of BudgetTest.stp are not counted", "there is no class com.acme.None",
                     "there are no counts in counts/BudgetTest.isTheSame-1.counts: -Dhprof.update=true writes them"):
            check(part in run.out, "no text %s\n%s" % (part, run.out))


@vm_test(units=UNITS)
def tests_of_junit_have_the_same_counts(vm):
    path = class_path(vm)
    name = ("isTheSame(int)",)
    for java, failed in ((("-Dhprof.update=true",), 0), ((), 0), (("-Dmore=1",), 2), (("-Dmore=1", "-Dhprof.update=true"), 0), (("-Dmore=1",), 0)):
        _, run = junit(vm, path, "count=y,include=BudgetTest", *java, methods=name)
        check_equal(len(failures(run)), failed, "failures with %s\n%s\n" % (java, run))
        if failed:
            for part in ("2 calls of BudgetTest.step, not 1 as in counts/BudgetTest.isTheSame-1.counts", "3 objects of BudgetTest$Item, not 2 as in"):
                check(part in run.out, "no text %s\n%s" % (part, run.out))
    check_equal(sorted(os.listdir(os.path.join(run.cwd, "counts"))), ["BudgetTest.isTheSame-%d.counts" % i for i in (1, 2)], "files")


@vm_test(units=UNITS)
def tests_of_junit_without_the_agent(vm):
    path = class_path(vm)
    _, run = junit(vm, path, None)
    tests = {word: int(number) for number, word in re.findall(r"^\[\s+(\d+) tests (\w+)\s+\]$", run.out, re.M)}
    check_equal((tests.get("aborted"), tests.get("successful")), (52, 0), "tests\n%s\n" % run)
    check_equal(failures(run), [], "failures\n%s\n" % run)
    _, run = junit(vm, path, None, "-Dhprof.required=true")
    check("start it with -agentpath:/path/to/libhprof.so=count=y" in run.out and "failsTwice()" in failures(run), "no failure\n%s" % run)
