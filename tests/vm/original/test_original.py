"""What differs from the original is what docs/compatibility.md says: `compare` looks at reports of ten programs, a test below at each row
that these do not show."""
import gzip
import os
import re
import stat
import subprocess
import sys

import differences
import facts
import joins
from commands import Controller, binary
from harness import ROOT, TIMEOUT, Skip, check, check_equal, vm_test
from peers import closed_port

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare")
PAGE = os.path.join(ROOT, "docs", "compatibility.md")
SITES = ("heap_sites", "encoder_ascii", "sink_file")
SAMPLES = ("cpu_samples", "encoder_ascii", "sink_file")
DUMPS = ("heap_dump", "encoder_ascii", "encoder_binary", "sink_file")
NAMES = ("theirs", "ours")
PROVED = {}  # the name of an item -> tests


def row(*names):
    """Marks a test that proves these rows of the page."""
    def register(function):
        for name in names:
            PROVED.setdefault(name, []).append(function)
        return function
    return register


def agents(vm):
    """[(name for files, option of the VM)] of the original and of this agent."""
    if vm.run_java("-agentlib:hprof=help").code != 0:
        raise Skip("this JDK 8 has no libhprof")
    return zip(NAMES, (lambda options: "-agentlib:hprof=" + options, vm.agent_option))


def both(vm, options, *program, java=(), more=""):
    """Both run the program, with the report in files `theirs` and `ours`; more: options of this agent alone."""
    runs = []
    for name, option in agents(vm):
        added = more if name == "ours" else ""
        run = vm.run_java(option("%s%s,file=%s" % (options, added, name)), *java, *program)
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        runs.append(run)
    return runs


def texts(vm, *arguments, **named):
    return [run.bytes(name).decode("utf-8", "replace") for run, name in zip(both(vm, *arguments, **named), NAMES)]


def table(text, name):
    """The rows of the last section of that name."""
    found = re.findall(r"^%s BEGIN.*\n((?:.*\n)*?)%s END$" % (re.escape(name), re.escape(name)), text, flags=re.M)
    check(found, "no %s in\n%s" % (name, text[-2000:]))
    return [line for line in found[-1].splitlines() if re.match(r" *\d", line)]


def dump_facts(data, program="HeapShapes"):
    return facts.read(data, program)


def frames_of(data, wanted):
    """Lines of the frames whose method has this name."""
    report = facts.Binary(struct.unpack_from(">I", data, 19)[0])
    return {line for name, line in report.frame_lines(data) if name == wanted}


@vm_test(units=("heap_sites", "encoder_ascii", "encoder_binary", "sink_file"), until=8)
def reports_differ_from_those_of_the_original_as_the_page_says(vm):
    agents(vm)
    jdk = ["--jdk", vm.jdk.home] if vm.jdk.home else ["--jdk-command", "%s=%s" % (vm.jdk.name, vm.jdk.prefix)]
    run = subprocess.run([sys.executable, COMPARE, "--build", vm.tree, *jdk, "--reports", vm.path("reports"), "-k", "Sites heap=sites"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check_equal(run.returncode, 0, run.stdout)
    check("2 runs, 0 differences unexplained" in run.stdout, run.stdout)


@vm_test()
def each_row_of_the_page_is_looked_at(vm):
    seen = {found.name for found in differences.DIFFERENCES} | set(PROVED)
    check_equal(sorted(differences.items(PAGE) ^ seen), [], "rows without a run, and runs without a row")


# --- rows that a run with JDK 8 shows ---

@row("output file")
@vm_test(units=SITES, until=8)
def output_file(vm):
    for name, option in agents(vm):
        check_equal(vm.run_java(option("heap=sites,file=" + name), "Quick").code, 0, "exit code")
        mode = stat.S_IMODE(os.stat(vm.path(name)).st_mode)
        check_equal(mode, 0o600 if name == "ours" else 0o644, "mode of " + name)


@vm_test(units=(*SITES, "encoder_binary"), until=8)
def names_of_files_that_are_kept(vm):
    """force=n: the same name as the original's, but for the process id."""
    for form, wanted in (("a", "pre"), ("a", "pre.txt"), ("a", "pre.out"), ("a", "pre.TXT"), ("b", "pre"), ("b", "pre.hprof")):
        names = []
        for _, option in agents(vm):
            with open(vm.path(wanted), "w") as file:
                file.write("old")
            before = set(os.listdir(vm.dir))
            check_equal(vm.run_java(option("heap=sites,force=n,format=%s,file=%s" % (form, wanted)), "Quick").code, 0, "exit code")
            with open(vm.path(wanted)) as file:
                check_equal(file.read(), "old", wanted)
            names.append([re.sub(r"\.\d+", ".PID", name) for name in set(os.listdir(vm.dir)) - before])
        check_equal(names[1], names[0], "name for %s, format=%s" % (wanted, form))


@row("full disk")
@vm_test(units=SITES, until=8)
def full_disk(vm):
    """A limit for files in place of a disk: the original would delete /dev/full."""
    for name, option in agents(vm):
        command = vm.command("java", "-XX:-UsePerfData", "-cp", vm.classes, option("heap=sites,file=" + name), "Quick")
        run = subprocess.run(["prlimit", "--fsize=8192:8192", *command], cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
        check_equal((run.returncode, run.stdout), (9 if name == "theirs" else 0, "quick\n"), "code and stdout, %s: %s" % (name, run.stderr))
        check_equal(run.stderr.count("File too large"), int(name == "ours"), "lines about it: %s" % run.stderr)
        check(os.stat(vm.path(name)).st_size <= 8192, "no limit")


@row("`net=` without a listener")
@vm_test(units=(*SITES, "sink_socket"), until=8)
def nobody_listens(vm):
    for name, option in agents(vm):
        run = vm.run_java(option("heap=sites,net=127.0.0.1:%d" % closed_port()), "Quick")
        check_equal((run.code == 0, "quick" in run.out), (name == "ours", name == "ours"), "the program\n%s\n" % run)



@row("unknown command on its socket", "peer of `net=`")
@vm_test(units=("heap_sites", "encoder_binary", "sink_socket"), until=8)
def commands_of_a_peer(vm):
    for command in (binary(0x77, 1, b"abc"), binary(0x05, 1)):
        for name, option in agents(vm):
            with Controller() as controller:
                live = vm.launch([option("heap=sites,format=b,net=127.0.0.1:%d" % controller.port), "Idle"]).wait_ready()
                controller.accept().send(command)
                if name == "theirs":
                    live.process.wait(TIMEOUT)
                else:
                    controller.send(binary(0x04, 2))
                    controller.answered(2)
                run = live.finish()
            check_equal(run.out.endswith("ended\n"), name == "ours", "the program ended by itself\n%s\n" % run)


@row("class unloading")
@vm_test(units=(*SITES, *SAMPLES, *DUMPS, "cpu_times", "monitor"), until=8)
def unloaded_classes(vm):
    check_equal(vm.truth("Odd", "unload").out, "unloaded\n", "without an agent")
    for options in ("cpu=samples", "cpu=times", "heap=sites", "heap=dump", "monitor=y"):
        check_equal([run.out for run in both(vm, options, "Odd", "unload")], ["kept\n", "unloaded\n"], options)


@row("lambdas")
@vm_test(units=DUMPS, until=8)
def names_of_lambdas(vm):
    for name, option in agents(vm):
        run = vm.run_java(option("heap=dump,file=" + name), "Lambdas")
        names = set(re.findall(r"name=(Lambdas\$\$Lambda[^,)]*)", run.text(name)))
        numbered = [found for found in names if re.search(r"\d[./]\d+$", found)]
        check_equal((len(names) - len(numbered), len(numbered) > 1), (1, False) if name == "ours" else (0, True), "names of %s: %s" % (name, names))


@row("`heap=sites,heap=dump`")
@vm_test(units=(*SITES, "heap_dump"), until=8)
def heap_twice(vm):
    for name, option in agents(vm):
        run = vm.run_java(option("heap=sites,heap=dump,file=" + name), "Quick")
        if name == "theirs":
            check_equal(set(re.findall(r"^(SITES|HEAP DUMP) BEGIN", run.text(name), flags=re.M)), {"SITES", "HEAP DUMP"}, "sections")
        else:
            check_equal((run.code, run.out, "option given twice: heap" in run.err), (1, "", True), "refused\n%s\n" % run)


@row("a table whose rows are all below `cutoff=`")
@vm_test(units=SAMPLES, until=8)
def table_below_cutoff(vm):
    theirs, ours = (table(text, "CPU SAMPLES") for text in texts(vm, "cpu=samples,cutoff=1", "Spin", "4"))
    check_equal((theirs, [line.split()[3] + line.split()[5] for line in ours]), ([], ["0JVM.all_below_cutoff"]), "rows")


@row("an empty CPU table")
@vm_test(units=(*SAMPLES, "cpu_times"), until=8)
def empty_tables(vm):
    theirs, ours = (table(text, "CPU SAMPLES") for text in texts(vm, "cpu=samples,interval=10000", "Quick"))
    check_equal((theirs, [line.split()[5] for line in ours]), ([], ["JVM.no_samples"]), "rows")


@row("`depth=0`")
@vm_test(units=(*SAMPLES, "heap_sites"), until=8)
def no_frames(vm):
    theirs, ours = (table(text, "CPU SAMPLES") for text in texts(vm, "cpu=samples,depth=0", "Spin", "4"))
    check_equal((theirs, {line.split()[5] for line in ours}), ([], {"JVM.depth_zero"}), "rows")
    theirs, ours = texts(vm, "heap=sites,depth=0", "Quick")
    check_equal(re.findall(r"^TRACE \d+:\n\t(.*)", theirs, flags=re.M), ["<empty>"], "traces of heap=sites, theirs")
    check_equal(re.findall(r"^TRACE \d+:\n\t(.*)", ours, flags=re.M), ["JVM.depth_zero(<Unknown Source>:Unknown line)"], "ours")


@row("quotes and control characters in thread names")
@vm_test(units=SAMPLES, until=8)
def names_of_threads(vm):
    theirs, ours = texts(vm, "cpu=samples", "Odd", "name")
    check('name="a "quote"\nTHREAD END (id = 7)"' in theirs, theirs[:9000])
    check("\nTHREAD END (id = 7)" not in ours, ours[:9000])


@row("a thread that names itself")
@vm_test(units=SAMPLES, until=8)
def last_names_of_threads(vm):
    theirs, ours = texts(vm, "cpu=samples", "NamesItself")
    check('name="old-1"' in theirs and "worker-7" not in theirs, theirs[:9000])
    check('name="worker-7"' in ours, ours[:9000])


@row("order of sites with `sites-live=n`")
@vm_test(units=SITES, until=8)
def order_of_sites(vm):
    for name, text in zip(NAMES, texts(vm, "heap=sites", "Sites", more=",sites-live=n")):
        rows = [[int(word) for word in line.split()[3:7]] for line in table(text, "SITES")]
        column = 0 if name == "theirs" else 2
        check_equal([row[column] for row in rows], sorted((row[column] for row in rows), reverse=True), name)
        check(name == "theirs" or not any(row[0] for row in rows), "live bytes")


@row("`HEAP DUMP SEGMENT`, version 1.0.2")
@vm_test(units=DUMPS, until=8)
def segments(vm):
    parts = (["HEAP DUMP END", "HEAP DUMP SEGMENT"], "JAVA PROFILE 1.0.2")
    for most, wanted in (("-Xmx256m", (["HEAP DUMP"], "JAVA PROFILE 1.0.1")), ("-Xmx3g", parts)):
        for name, run in zip(NAMES, both(vm, "heap=dump,format=b", "Quick", java=(most,))):
            found = facts.read(run.bytes(name), "Quick")
            kinds = sorted(fact.partition(" ")[2] for fact in found if fact.startswith("record HEAP DUMP"))
            version, = (fact.partition(" ")[2] for fact in found if fact.startswith("header"))
            check_equal((kinds, version), wanted if name == "theirs" else parts, name + " with " + most)


@row("`ROOT MONITOR USED`, `<busy monitor>`")
@vm_test(units=DUMPS)
def busy_monitors(vm):
    """Held has two monitors that threads compete for or wait on, and one that is only held."""
    engines = ("jvmti", "vm") if vm.version >= 11 else ("jvmti",)
    counts = {}
    for name, option in agents(vm) if vm.version == 8 else (("ours", vm.agent_option),):
        for engine in engines if name == "ours" else ("",):
            more = ",dump=%s" % engine if engine else ""
            live = vm.launch([option("heap=dump,format=b,doe=n,file=%s%s%s" % (name, engine, more)), "Held"]).wait_ready()
            live.request_data_dump()
            live.wait_until(lambda: "done." in live.err() + live.out(), "the dump")
            run = live.finish()
            counts[name + engine] = facts.read(run.bytes(name + engine), "Held").get("root busy monitor", 0)
    are_reported = [count > 0 for count in counts.values()]
    check_equal(are_reported, [vm.version < 11] * len(counts), "roots: %s" % counts)
    check(vm.version != 8 or counts["theirs"] == counts["oursjvmti"], "roots: %s" % counts)


# --- rows about the vm engine, which JDK 8 has not ---

@row("roots of threads", "the thread Attach Listener")
@vm_test(units=DUMPS, since=11)
def threads_in_dumps(vm):
    for engine in ("jvmti", "vm"):
        run = vm.profiled("heap=dump,format=b,dump=%s,file=%s" % (engine, engine), "HeapShapes", "mark")
        found = facts.read(run.bytes(engine), "HeapShapes")
        kinds = [kind for kind in ("thread", "thread block") if "root " + kind in found]
        check_equal(kinds, ["thread", "thread block"] if engine == "jvmti" else ["thread"], engine)
        # JDK 27 sends no events of threads while it ends.
        check_equal(found.get("START THREAD of Attach Listener in system", 0), int(engine == "vm" and vm.version < 27), "START THREAD, " + engine)


@row("unreachable objects")
@vm_test(units=DUMPS, since=11)
def unreachable_objects(vm):
    for live in "yn":
        run = vm.profiled("heap=dump,format=b,dump=vm,live=%s,file=%s" % (live, live), "Garbage", "100")
        found = facts.read(run.bytes(live), "Garbage").get("heap INSTANCE Garbage$Piece", 0)
        check_equal(found, 1 if live == "y" else 100, "pieces, live=" + live)


@row("ids of classes and threads")
@vm_test(units=(*DUMPS, "heap_sites", "filter_gzip"), since=11)
def ids_in_compressed_dumps(vm):
    run = vm.profiled("heap=all,format=b,dump=vm,compress=gzip,file=out.gz", "HeapTraces")
    apart = ["ALLOC SITES: no CLASS DUMP", "LOAD CLASS: no CLASS DUMP", "START THREAD: no such object"]
    # From 22 on, whose dumps cannot be put in order there, the jvmti engine writes it.
    check_equal(sorted(joins.missing(gzip.decompress(run.bytes("out.gz")))), apart if vm.version < 22 else [], "other ids")


@row("ids of classes and threads")
@vm_test(units=DUMPS, since=17)
def ids_of_threads_with_zgc(vm):
    vm.needs_zgc()
    run = vm.profiled("heap=dump,format=b,dump=vm,live=n,file=out", "HeapShapes", "mark", java=("-XX:+UseZGC",))
    check_equal(sorted(joins.missing(run.bytes("out"))), ["START THREAD: no such object"], "other ids")
