"""heap=sites: every object is counted once, with its class, size and stack, and its end is seen."""
import os
import re
import zipfile

from commands import must
from harness import Skip, check, check_equal, vm_test
from programs import N, check_made, check_thrown, check_workers, churn_options, native_objects, redefining_agent
from reports import by_class, by_method, parse_ascii, parse_binary, tables
from tool import class_histogram

UNITS = ("bytecode", "heap_sites", "encoder_ascii", "sink_file")
def profile(vm, options, *program, java=()):
    run = vm.profiled("heap=sites,cutoff=0,file=out.txt" + options, *program, java=java)
    return run, parse_ascii(run.text("out.txt"), "thread=y" in options)


@vm_test(units=UNITS, quick=True)
def every_object_is_counted_once(vm):
    run, report = profile(vm, ",depth=20", "Sites")
    rows = tables(report)[0]
    check_made(report, rows, run)
    classes = by_class(rows)
    check_equal(classes["Sites$Kept"][2], N // 2, "live objects")
    check_equal(classes["Sites$Kept[]"][2], N // 4, "live arrays")
    check_equal(classes["Sites$Item"][2], 0, "live objects of a class that nobody holds")
    check_equal(classes["Sites$Shared"][2], 8, "live objects of eight threads")
    check_equal(classes["Sites$Kept"][1] // N * (N // 2), classes["Sites$Kept"][3], "live bytes")


@vm_test(units=UNITS)
def objects_of_native_code_are_counted_once(vm):
    library = native_objects(vm)
    run, report = profile(vm, ",depth=20", "NativeObjects", library, "500")
    found = by_method(report, tables(report)[0], "NativeObjects")["make"]
    made = {"java.lang.String": 1000}
    for kind in ("boolean", "byte", "char", "short", "int", "long", "float", "double", "NativeObjects$Item"):
        made[kind + "[]"] = 500
    for kind in ("Item", "Bare", "Late"):
        made["NativeObjects$" + kind] = 500
    made["byte[]" if vm.version >= 9 else "char[]"] += 1000  # texts of the strings
    check_equal({name: found.get(name) for name in made}, made, "objects\n%s" % run)


@vm_test(units=UNITS)
def every_object_is_counted_once_without_the_own_stack_walk(vm):
    run, report = profile(vm, ",depth=20,hotspot=-frame-walk", "Sites")
    check_made(report, tables(report)[0], run)


@vm_test(units=UNITS)
def every_object_is_counted_once_by_interpreter_and_compilers(vm):
    for java in (("-Xint",), ("-XX:TieredStopAtLevel=1",), ("-XX:-TieredCompilation",)):
        run, report = profile(vm, ",depth=20,sites-live=n", "Sites", java=java)
        check_made(report, tables(report)[0], run)


@vm_test(units=UNITS)
def objects_that_threads_make_at_the_same_lines_are_counted_once(vm):
    threads, rounds = 6, 6000
    made = threads * rounds
    wanted = {"Wide": made // 3, "Wider": made // 3, "Cell": made // 3 + 2 * made, "Forks": made, "Broken": made,
              "Copy": made // 2 + threads, "Copies": made // 2 + threads}
    for live in ("y", "n"):
        run, report = profile(vm, ",depth=1,sites-live=" + live, "Places", str(threads), str(rounds))
        classes = by_class(tables(report)[0])
        found = {name: classes.get("Places$" + name, (0, 0))[0] for name in wanted}
        check_equal(found, wanted, "objects with sites-live=%s\n%s" % (live, run))
        lines = {report.traces[row.trace].frames[0] for row in tables(report)[0] if row.name == "Places$Forks"}
        check_equal(len(lines), 2, "constructors that call that of Object: %s" % lines)


@vm_test(units=UNITS)
def every_object_is_counted_once_whatever_the_header(vm):
    if vm.bits == 32:
        raise Skip("one kind of header with 32 bits")
    options = [("-XX:-UseCompressedOops",), ("-XX:ObjectAlignmentInBytes=16",)]
    if vm.version < 27:
        options.append(("-XX:-UseCompressedClassPointers",))
    if vm.version >= 25:
        options.append(("-XX:+UseCompactObjectHeaders",))
    for java in options:  # some VMs warn of them, and not when there is an agent
        run = vm.run_java(vm.agent_option("heap=sites,cutoff=0,depth=20,sites-live=n,file=out.txt"), *java, "Sites")
        check_equal(run.code, 0, "exit code\n%s" % run)
        report = parse_ascii(run.text("out.txt"))
        check_made(report, tables(report)[0], run)


@vm_test(units=UNITS)
def live_counts_are_exact_with_every_collector(vm):
    for name in ("Serial", "Parallel", "G1"):
        check_equal(live_objects(vm, name), N // 2, "live objects with " + name)


@vm_test(units=UNITS, since=17)
def live_counts_with_zgc_have_what_lives(vm):
    """It collects no more when the VM ends."""
    vm.needs_zgc()
    live = live_objects(vm, "Z")
    check(N // 2 <= live <= N, "live objects: %d" % live)


def live_objects(vm, collector):
    run, report = profile(vm, ",depth=20", "Sites", java=("-XX:+Use%sGC" % collector,))
    rows = tables(report)[0]
    check_made(report, rows, run)
    return by_class(rows)["Sites$Kept"][2]


SURVIVORS = "heap=sites,cutoff=0,depth=2,max-memory=1g,logflags=1,file=out.txt"


def survivors(vm, pieces, options="", java=()):
    """How often a weak reference was used again. All objects have been counted, and those that live."""
    options = SURVIVORS + (options or ",hotspot=" + vm.all_items)
    return check_survivors(vm, pieces, vm.run_java(vm.agent_option(options), "-Xmn4m", *java, "Survivors", str(pieces)))


def check_survivors(vm, pieces, run):
    kept = 4 * (pieces // 16)
    # Java 8 prints what it verifies, before and after.
    told = "%d %d" % (4 * pieces - kept, kept) in run.out.splitlines()
    check_equal((run.code, told), (0, True), "exit code, and whether the program came to its end\n%s" % run)
    found = by_class(tables(parse_ascii(run.text("out.txt")))[0])
    check_equal((found["Survivors$Piece"][0], found["Survivors$Piece"][2]), (4 * pieces - kept, 0), "pieces, and those that live\n%s" % run)
    check_equal((found["Survivors$Kept"][0], found["Survivors$Kept"][2]), (kept, kept), "kept, and those that live\n%s" % run)
    times = re.findall(r"weak references were used again (\d+) times", run.err)
    return int(times[-1]) if times else 0


@vm_test(units=UNITS)
def weak_references_are_used_again_and_live_counts_stay_exact(vm):
    for name in ("Serial", "Parallel", "G1"):
        times = survivors(vm, 400000, java=("-XX:+Use%sGC" % name,))
        # Elsewhere the VM makes a reference for each object.
        expected = vm.machine in ("amd64", "aarch64") and (name == "G1" or vm.version >= 25)
        check(times > 400000 if expected else times == 0, "%s: used again: %d times" % (name, times))
    check_equal(survivors(vm, 50000, ",hotspot=-weak-reuse"), 0, "used again, though switched off")


@vm_test(units=UNITS)
def the_vm_finds_its_references_right_before_and_after_each_collection(vm):
    for name in ("Serial", "Parallel", "G1"):
        survivors(vm, 20000, java=("-XX:+Use%sGC" % name, "-XX:+UnlockDiagnosticVMOptions", "-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"))


@vm_test(units=UNITS)
def live_counts_stay_exact_while_tools_have_the_vm_collect(vm):
    """For a class histogram some VMs collect without telling agents."""
    for name in ("Serial", "Parallel", "G1"):
        live = vm.start(SURVIVORS + ",hotspot=" + vm.all_items, "Survivors", "400000", "stay", java=("-Xmn4m", "-XX:+Use%sGC" % name))
        for _ in range(3):
            check_equal(vm.tool("jcmd", str(live.pid), "GC.class_histogram")[0], 0, "jcmd")
        check_survivors(vm, 400000, live.finish())


@vm_test(units=UNITS)
def own_walk_and_the_vm_give_the_same_table(vm):
    """Every row, but those of classes that the VM makes at other times in each run."""
    found = []
    for items in (vm.all_items, "-frame-walk"):
        run, report = profile(vm, ",depth=6,sites-live=n,logflags=1,hotspot=" + items, "Sites")
        used = "HPROF: hotspot: frame-walk is used" in run.err
        check_equal(used, items == vm.all_items and vm.machine in ("amd64", "aarch64"), "frame-walk is used\n%s\n" % run)
        rows = {}
        for row in tables(report)[0]:
            frames = tuple(report.traces[row.trace].frames)
            if not frames[0][0].startswith("Sites") or "Lambda" in str(frames) or "Lambda" in row.name:
                continue
            rows[row.name, frames] = (row.objects, row.bytes)
        found.append(rows)
    check(len(found[0]) >= 30, "only %d rows of the program" % len(found[0]))
    check_equal(found[0], found[1], "rows")


@vm_test(units=UNITS + ("calls",), until=25)
def the_own_walk_stays_right_when_a_later_unit_rewrites_object(vm):
    """Its constructor, which is in no trace, then has another address."""
    options = "heap=sites,sites-live=n,calls=y,start=n,depth=3,cutoff=0,file=out.txt,control=" + vm.path("s")
    live = vm.start(options, "Callers", java=("-Xint",))
    must(vm.path("s"), "start")
    live.next_round(1)
    run = live.ended_well()
    report = parse_ascii(run.text("out.txt"))
    made = {report.traces[row.trace].frames[2][0]: row.objects for row in tables(report)[0] if row.name == "Callers$Item"}
    check_equal(made, {"Callers.first": 20000, "Callers.second": 10000}, "items\n%s" % run)
    check("walked stacks: one was wrong" not in run.text("out.txt"), "the walk was wrong\n%s" % run)


@vm_test(units=UNITS, since=17)
def newer_kinds_of_objects_are_counted(vm):
    run, report = profile(vm, ",depth=20", "SitesModern")
    found = by_method(report, tables(report)[0], "SitesModern")
    check_equal(found["records"].get("SitesModern$Point"), N, "records\n%s" % run)
    check_equal(found["squares"].get("SitesModern$Square"), N, "nestmates")
    for name in ("java.lang.String", "byte[]"):  # and some for the call site that is made first
        count = found["strings"].get(name, 0)
        check(N <= count < N + 500, "%s of strings: %d" % (name, count))
    points = sum(classes.get("SitesModern$Point", 0) for method, classes in found.items() if "suppliers" in method)
    check_equal(points, N, "objects made by a lambda")


@vm_test(units=UNITS)
def tables_are_cut_and_ordered(vm):
    for options, key in (("", "live_bytes"), (",sites-live=n", "bytes")):
        run = vm.profiled("heap=sites,cutoff=0.01,file=out.txt" + options, "Sites")
        rows = tables(parse_ascii(run.text("out.txt")))[0]
        values = [getattr(row, key) for row in rows]
        check_equal(values, sorted(values, reverse=True), "order")
        check(1 <= len(rows) < 100, "%d rows" % len(rows))


@vm_test(units=UNITS)
def threads_are_told_apart(vm):
    _, report = profile(vm, ",thread=y", "Sites")
    threads = {}
    for row in tables(report)[0]:
        if row.name == "Sites$Shared":
            thread = report.traces[row.trace].thread
            threads[thread] = threads.get(thread, 0) + row.objects
    check_equal(sorted(threads.values()), [N] * 8, "objects of each thread")


@vm_test(units=UNITS)
def live_counts_are_those_of_the_class_histogram(vm):
    live = vm.start("heap=sites,cutoff=0,control=%s,file=out.txt" % vm.path("s"), "Sites", "stay")
    for _ in range(3):
        live.process.stdin.write(b"\n")
        live.process.stdin.flush()
    live.wait_until(lambda: live.out().count("did") == 3, "three rounds")
    must(vm.path("s"), "sites")
    histogram = class_histogram(vm, live)
    run = live.finish()
    classes = by_class(tables(parse_ascii(run.text("out.txt")))[0])
    held = {re.sub(r"^\[L(.*);$", r"\1[]", name): list(found) for name, found in histogram.items() if re.match(r"(\[L)?Sites\$\w+;?$", name)}
    live_classes = {name: found[2:] for name, found in classes.items() if re.match(r"Sites\$\w+(\[\])?$", name) and found[2]}
    check_equal(live_classes, held, "live objects and bytes by class: heap=sites and histogram")
    check_equal({name: count for name, (count, _) in held.items()},
                {"Sites$Kept": 3 * N // 2, "Sites$Kept[]": 3 * N // 4}, "objects that the program holds")
    check_equal((classes["Sites$Item"][0], classes["Sites$Item"][2]), (3 * N, 0), "objects, and live ones")


@vm_test(units=UNITS)
def traces_go_on_and_off_and_are_cleared_by_command(vm):
    path = vm.path("s")
    live = vm.start("heap=sites,cutoff=0,control=%s,file=out.txt" % path, "Sites", "stay")

    live.next_round(1)
    must(path, "sites")                       # 0: one round
    must(path, "alloc off")
    live.next_round(2)
    must(path, "sites")                       # 1: the same
    must(path, "alloc on")
    live.next_round(3)
    must(path, "sites incremental")           # 2: two rounds, and what has changed only
    must(path, "sites incremental")           # 3: hardly anything
    must(path, "clear sites")
    live.next_round(4)
    must(path, "sites alloc")                 # 4: one round
    run = live.ended_well()
    found = [by_class(rows).get("Sites$Item", [0])[0] for rows in tables(parse_ascii(run.text("out.txt")))]
    check_equal(found[:5], [N, N, 2 * N, 0, N], "objects in the reports\n%s" % run)


@vm_test(units=UNITS + ("cpu_times",))
def calls_and_sites_are_counted_together(vm):
    run = vm.profiled("cpu=times,heap=sites,cutoff=0,depth=20,file=out.txt", "Sites")
    report = parse_ascii(run.text("out.txt"))
    check_made(report, tables(report)[0], run)
    calls = {}
    for row in report.cpu("CPU TIME (ms)")[0].rows:
        calls[row.method] = calls.get(row.method, 0) + row.count
    check_equal(calls.get("Sites$Item.<init>"), 3 * N, "calls of a constructor")
    check_equal([section.name for section in report.sections], ["CPU TIME (ms)", "SITES"], "sections")


@vm_test(units=UNITS + ("cpu_samples",), needs=("silent samples",), quick=True)
def what_hadoop_asks_for_works(vm):
    run = vm.profiled("cpu=samples,heap=sites,force=n,thread=y,verbose=n,file=out.txt", "Sites")
    report = parse_ascii(run.text("out.txt"), True)
    check_equal([section.name for section in report.sections], ["CPU SAMPLES", "SITES"], "sections")
    check_equal(run.err, "", "stderr")


@vm_test(units=UNITS + ("heap_dump",))
def all_is_a_dump_and_sites(vm):
    for options in ("heap=all,file=java.hprof.txt", None):
        run = vm.profiled(options, "Sites")
        found = re.findall(r"^(HEAP DUMP|SITES) (BEGIN|END)", run.text("java.hprof.txt"), re.M)
        wanted = [(name, end) for name in ("HEAP DUMP", "SITES") for end in ("BEGIN", "END")]
        check_equal(found, wanted, "sections")


@vm_test(units=UNITS, since=21)
def objects_of_virtual_threads_are_counted(vm):
    run, report = profile(vm, ",depth=8", "VirtualThreads", "1")
    found = by_method(report, tables(report)[0], "VirtualThreads")
    check_equal(found["virtualTask"].get("VirtualThreads$Cell"), 8000, "objects of eight virtual threads\n%s\n" % run)


# --- sites=sampled

@vm_test(units=UNITS, since=11)
def samples_stand_for_what_was_allocated(vm):
    """Half of the bytes are those of one method; one sample in 16 KiB makes a hundred of it."""
    run = vm.profiled("heap=sites,sites=sampled:4k,cutoff=0,depth=20,file=out.txt", "Sites")
    report = parse_ascii(run.text("out.txt"))
    found = by_class(tables(report)[0])
    check(any("sampled" in note for note in report.notes), "no word of sampling\n%s" % run)
    check(0.5 * 8 * N < found.get("Sites$Shared", [0])[0] < 2 * 8 * N, "objects: %s" % found.get("Sites$Shared"))
    check_equal(found["Sites$Shared"][2] <= found["Sites$Shared"][0] // 10, True, "live objects: %s" % found["Sites$Shared"])


@vm_test(units=UNITS, until=10)
def below_11_there_are_no_samples(vm):
    run = vm.profiled("heap=sites,sites=sampled,cutoff=0,depth=20,file=out.txt", "Sites")
    check("sites=sampled requires Java 11; using sites=exact" in run.err, "nothing was said\n%s" % run)
    report = parse_ascii(run.text("out.txt"))
    check_made(report, tables(report)[0], run)


@vm_test(units=UNITS, since=11)
def sampling_leaves_classes_and_their_archive_alone(vm):
    run = vm.run_java(vm.agent_option("heap=sites,sites=sampled,logflags=1,file=out.txt"), "Quick")
    check_equal(run.code, 0, "exit code\n%s" % run)
    check("ClassFileLoadHook" not in run.err, "classes are hooked\n%s" % run)
    check("can_generate_all_class_hook_events" not in run.err, "the capability is asked for\n%s" % run)


@vm_test(units=UNITS)
def a_wrong_mode_is_refused(vm):
    for mode in ("all", "sampled:", "sampled:0", "sampled:4x", "sampled:4g"):
        run = vm.run_java(vm.agent_option("heap=sites,sites=%s,file=out.txt" % mode), "Quick")
        check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s" % run)
        check("sites option value must be" in run.err, "not said why\n%s" % run)


@vm_test(units=UNITS)
def classes_that_go_and_come_are_not_mixed_up(vm):
    """Numbers of classes and addresses of methods are used again."""
    run = vm.run_java(vm.agent_option("heap=sites,cutoff=0,depth=6,file=out.txt"), "ClassChurn", "10000", "100")
    check_equal(run.code, 0, "exit code\n%s" % run)
    check_thrown(parse_ascii(run.text("out.txt")), 10000)


@vm_test(units=UNITS)
def classes_that_go_in_a_collection_without_an_event_are_not_mixed_up(vm):
    """The VM collects for a class histogram, of which no event tells before Java 25."""
    for java in churn_options(vm):
        run = vm.run_java(vm.agent_option("heap=sites,cutoff=0,depth=6,file=out.txt"), *java, "ClassChurn", "1500", "100", "50")
        check_equal(run.code, 0, "exit code\n%s" % run)
        check_thrown(parse_ascii(run.text("out.txt")), 1500)


@vm_test(units=UNITS)
def methods_of_a_redefined_class_are_not_mixed_up(vm):
    """The memory of the old methods is used again."""
    for collector in ("Serial", "G1"):
        run, report = profile(vm, ",depth=2", "Redefines", java=("-Xint", "-XX:+Use%sGC" % collector) + redefining_agent(vm))
        check_workers(report, 1000)


@vm_test(units=("bytecode", "heap_sites", "encoder_binary", "sink_file"))
def binary_format_says_which_of_its_classes_have_gone(vm):
    live = vm.start("heap=sites,cutoff=0,format=b,file=out.hprof", "Unloads", "asked")
    live.request_data_dump()
    live.wait_until(lambda: b"Unloads$Work" in read_bytes(vm, "out.hprof"), "the first report")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    report = parse_binary(run.bytes("out.hprof"))
    gone = [int.from_bytes(body, "big") for tag, _, body in report.records if tag == "UNLOAD CLASS"]
    names = [report.strings[report.classes[serial][2]] for serial in gone]
    check_equal(names.count(b"Unloads$Work"), 3, "classes that have gone: %s\n%s\n" % (names, run))
    check_equal(len(set(gone)), len(gone), "classes that are told twice: %s" % gone)


def read_bytes(vm, name):
    path = vm.path(name)
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def archive_of(vm, program):
    """Arguments of a VM that takes the program's classes from an archive: an AOT cache where there is such a thing."""
    with zipfile.ZipFile(vm.path("app.jar"), "w") as jar:
        for name in sorted(os.listdir(vm.classes)):
            if name.startswith((program, "Pid")):
                jar.write(os.path.join(vm.classes, name), name)
    named, made = (("-XX:AOTCache=app.aot", "-XX:AOTCacheOutput=app.aot") if vm.version >= 25 else
                   ("-XX:SharedArchiveFile=app.jsa", "-XX:ArchiveClassesAtExit=app.jsa"))
    run = vm.run_java(made, "-cp", "app.jar", program)
    if not os.path.exists(vm.path(named.split("=")[1])):
        raise Skip("this JDK makes no archive: %s" % run.err)
    return ("-cp", "app.jar", named)


@vm_test(units=UNITS, since=17)
def without_early_hooks_the_archive_stays_on(vm):
    java = archive_of(vm, "Sites")
    run, report = profile(vm, ",early=n", "Sites", java=java)
    check(any("loaded before the probes (" in note for note in report.notes), "no note\n%s" % report.notes)
    # Made by constructors, which end in Object's.
    classes = by_class(tables(report)[0])
    check_equal(classes["Sites$Kept"][0], N, "objects")
    check_equal(classes["Sites$Kept"][2], N // 2, "live objects")
    check_equal(classes["Sites$Shared"][0], 8 * N, "objects of eight threads")
    for early, expected in (("y", False), ("n", True)):
        run = vm.run_java(vm.agent_option("heap=sites,early=%s,file=again.txt" % early), *java,
                          "-Xlog:class+load:file=loaded.txt", "Sites")
        check_equal("shared objects file" in run.text("loaded.txt"), expected, "classes of the archive\n%s\n" % run)


@vm_test(units=UNITS, since=17)
def who_names_an_archive_is_told_of_early(vm):
    java = archive_of(vm, "Quick")
    for options, told in (("heap=sites", True), ("heap=sites,early=n", False)):
        run = vm.run_java(vm.agent_option(options + ",file=out.txt"), *java, "Quick")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        check_equal("with early=n it stays on" in run.err, told, "what %s says\n%s\n" % (options, run))
        run.text("out.txt")
