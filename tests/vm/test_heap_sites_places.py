"""heap=sites,depth=1,sites-live=n: probes count by themselves, and get the numbers that the agent gets object by object."""
from commands import must
from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii
from sites import N, by_class, check_thrown, churn_options, check_workers, native_objects, redefining_agent, tables

UNITS = ("bytecode", "heap_sites", "encoder_ascii", "sink_file")
PLACES = "heap=sites,cutoff=0,depth=1,sites-live=n,logflags=1,file=out.txt"
BY_PROBES = "heap=sites: probes count objects by the place that makes them"
THREADS, ROUNDS = 6, 6000


def counted(vm, options, *program, java=(), by_probes=True):
    """The report; probes have counted, or must not have."""
    run = vm.run_java(vm.agent_option(options), *java, *program)
    check_equal(run.code, 0, "exit code\n%s" % run)
    if vm.bits == 64:
        check_equal(BY_PROBES in run.err, by_probes, "probes count\n%s" % run)
    report = parse_ascii(run.text("out.txt"), "thread=y" in options)
    check(not any("found to be wrong" in note for note in report.notes), "wrong stacks: %s" % report.notes)
    return report


def own_rows(report, program):
    """{class, frame: (objects, bytes)} of the program's methods; lambdas have names of their own in each run."""
    found = {}
    for row in tables(report)[0]:
        frames = report.traces[row.trace].frames
        check_equal(len(frames), 1, "frames")
        if frames[0][0].startswith(program) and "Lambda" not in frames[0][0] + row.name:
            objects, size = found.get((row.name, frames[0]), (0, 0))
            found[row.name, frames[0]] = (objects + row.objects, size + row.bytes)
    return found


def compare(vm, *program, java=(), by_probes=True):
    """Both ways, and what the probes got."""
    probes = own_rows(counted(vm, PLACES, *program, java=java, by_probes=by_probes), program[0])
    agent = own_rows(counted(vm, PLACES.replace("sites-live=n", "sites-live=y"), *program, java=java, by_probes=False),
                     program[0])
    check(len(agent) >= 20, "only %d rows of the program" % len(agent))
    check_equal({key: value for key, value in probes.items() if agent.get(key) != value},
                {key: value for key, value in agent.items() if probes.get(key) != value},
                "rows of %s that differ: by probes, and by the agent" % (java,))
    return probes


def objects_of(rows, name):
    return sum(objects for (of, _), (objects, _) in rows.items() if of == name)


@vm_test(units=UNITS, quick=True)
def probes_and_the_agent_count_the_same(vm):
    rows = compare(vm, "Places", str(THREADS), str(ROUNDS))
    made = THREADS * ROUNDS
    check_equal([objects_of(rows, "Places$" + name) for name in ("Wide", "Wider", "Cell", "Forks", "Broken", "Copy", "Copies")],
                [made // 3, made // 3, made // 3 + 2 * made, made, made, made // 2 + THREADS, made // 2 + THREADS], "objects")
    lines = {frame for (name, frame) in rows if name == "Places$Forks"}
    check_equal(len(lines), 2, "constructors that call that of Object: %s" % lines)


@vm_test(units=UNITS)
def every_way_to_make_an_object_is_counted_the_same(vm):
    rows = compare(vm, "Sites")
    check_equal([objects_of(rows, "Sites$" + name) for name in ("Shared", "Kept", "Deeper", "Gone", "Item")],
                [8 * N, N, N, N, 3 * N], "objects")


@vm_test(units=UNITS)
def interpreter_and_compilers_count_the_same(vm):
    for java in (("-Xint",), ("-XX:TieredStopAtLevel=1",), ("-XX:-TieredCompilation",)):
        compare(vm, "Places", "3", "3000", java=java)


@vm_test(units=UNITS)
def collections_and_stack_overflows_lose_nothing(vm):
    for java in (("-XX:+UseSerialGC", "-Xmn1m"), ("-XX:+UseParallelGC", "-Xmx24m")):
        compare(vm, "Places", str(THREADS), str(ROUNDS), java=java)
    # How deep a stack gets is another number each time, but whatever was made has its place.
    rows = own_rows(counted(vm, PLACES, "Places", "2", "1000", "deep"), "Places")
    check({frame[0] for (name, frame) in rows if name == "Places$Cell"} == {"Places$Cell.<init>"}, "places: %s" % rows)


@vm_test(units=UNITS, since=17)
def objects_that_move_at_any_time_lose_nothing(vm):
    vm.needs_zgc()
    compare(vm, "Places", "3", "3000", java=("-XX:+UseZGC", "-Xmx64m"))


@vm_test(units=UNITS)
def whatever_the_header_the_counts_are_the_same(vm):
    if vm.bits == 32:
        raise Skip("one kind of header with 32 bits")
    options = [(("-XX:-UseCompressedOops",), vm.version >= 15), (("-XX:ObjectAlignmentInBytes=16",), True)]
    if vm.version < 27:
        options.append((("-XX:-UseCompressedClassPointers",), False))
    if vm.version >= 25:
        options.append((("-XX:+UseCompactObjectHeaders",), True))
    for java, by_probes in options:
        compare(vm, "Places", "3", "3000", java=java, by_probes=by_probes)


@vm_test(units=UNITS, since=21)
def virtual_threads_count_on_their_carriers(vm):
    rows = own_rows(counted(vm, PLACES, "VirtualPlaces"), "VirtualPlaces")
    check_equal((objects_of(rows, "VirtualPlaces$Cell"), objects_of(rows, "VirtualPlaces$Cell[]")), (1000000, 1000000),
                "objects of 200 virtual threads")


@vm_test(units=UNITS)
def objects_of_native_code_are_counted_once(vm):
    library = native_objects(vm)
    classes = by_class(tables(counted(vm, PLACES, "NativeObjects", library, "500"))[0])
    check_equal([classes["NativeObjects$" + kind][0] for kind in ("Item", "Bare", "Late")], [500] * 3, "objects")


@vm_test(units=UNITS)
def classes_that_go_and_come_are_not_mixed_up(vm):
    check_thrown(counted(vm, PLACES, "ClassChurn", "5000", "100"), 5000)


@vm_test(units=UNITS)
def classes_that_go_in_a_collection_without_an_event_are_not_mixed_up(vm):
    for java in churn_options(vm):
        # Without a count of unloaded classes CMS, which unloads some beside the program, leaves all to the agent.
        by_probes = "-XX:-UsePerfData" not in java or "-XX:+UseConcMarkSweepGC" not in java
        check_thrown(counted(vm, PLACES, "ClassChurn", "5000", "100", "50", java=java, by_probes=by_probes), 5000)


@vm_test(units=UNITS)
def methods_of_a_redefined_class_are_not_mixed_up(vm):
    for collector in ("Serial", "G1"):
        java = ("-Xint", "-XX:+Use%sGC" % collector) + redefining_agent(vm)
        check_workers(counted(vm, PLACES, "Redefines", java=java), 1000)


@vm_test(units=UNITS)
def commands_switch_counting_and_change_the_depth(vm):
    path = vm.path("s")
    live = vm.start(PLACES + ",control=" + path, "Sites", "stay")

    live.next_round(1)
    must(path, "sites")        # 0: one round
    must(path, "alloc off")
    live.next_round(2)
    must(path, "sites")        # 1: the same
    must(path, "alloc on")
    live.next_round(3)
    must(path, "depth 3")
    live.next_round(4)
    must(path, "sites")        # 2: three rounds, one of them with three frames
    must(path, "depth 1")
    must(path, "clear sites")
    live.next_round(5)
    must(path, "sites")        # 3: one round
    must(path, "stop")
    live.next_round(6)
    must(path, "start")
    live.next_round(7)
    run = live.finish()        # 4: two rounds
    check_equal((run.code, run.out.endswith("ended\n")), (0, True), "exit code and end\n%s\n" % run)
    report = parse_ascii(run.text("out.txt"))
    found = []
    for rows in tables(report):
        frames = {}
        for row in rows:
            if row.name == "Sites$Item":
                depth = len(report.traces[row.trace].frames)
                frames[depth] = frames.get(depth, 0) + row.objects
        found.append(frames)
    check_equal(found[:4] + found[-1:], [{1: N}, {1: N}, {1: 2 * N, 3: N}, {1: N}, {1: 2 * N}],
                "objects by depth in the reports\n%s" % run)


@vm_test(units=UNITS + ("cpu_times",))
def what_probes_cannot_know_the_agent_counts(vm):
    """Threads, and the field of java.lang.Thread beside cpu=times."""
    threads = {}
    report = counted(vm, PLACES + ",thread=y", "Sites", by_probes=False)
    for row in tables(report)[0]:
        if row.name == "Sites$Shared":
            thread = report.traces[row.trace].thread
            threads[thread] = threads.get(thread, 0) + row.objects
    check_equal(sorted(threads.values()), [N] * 8, "objects of each thread")
    report = counted(vm, "cpu=times," + PLACES, "Sites", by_probes=False)
    check_equal(by_class(tables(report)[0])["Sites$Shared"][0], 8 * N, "objects")


@vm_test(units=UNITS)
def memory_that_is_refused_costs_no_count(vm):
    """A count beside it, or in the note of the losses."""
    for memory in ("1m", "2m"):
        report = counted(vm, PLACES + ",max-memory=" + memory, "Sites")
        classes = by_class(tables(report)[0])
        lost = [note for note in report.notes if "not counted for want of memory" in note]
        check(lost or classes["Sites$Shared"][0] == 8 * N, "objects: %s, %s" % (classes.get("Sites$Shared"), report.notes))
