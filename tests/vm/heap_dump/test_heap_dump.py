"""heap=dump: both engines in real VMs, read back byte by byte."""
import os
import re
import subprocess

import dumps
from faults import check_harmless, faulty
from harness import TIMEOUT, Skip, check, check_equal, vm_test
from reports import parse_ascii

UNITS = ("heap_dump", "encoder_binary", "sink_file")
TEXT = ("heap_dump", "encoder_ascii", "sink_file")
LEAVES = 1234


def dump(vm, options, *java_options):
    options = "heap=dump,format=b,file=out.hprof" + ("," + options if options else "")
    run = vm.profiled(options, "HeapShapes", "mark", java=java_options)
    return run, dumps.read(run.bytes("out.hprof"))


def check_shapes(heap):
    leaf = heap.class_named("HeapShapes$Leaf")
    leaves = heap.instances_of(leaf)
    check_equal(len(leaves), LEAVES, "instances of Leaf")
    fields = heap.fields(leaves[0])
    check_equal((fields["i"], fields["c"], fields["s"], fields["z"], fields["b"]),
                (0x01020304, 0x1234, 0xfffe, 1, 0x12), "primitive fields")
    check_equal(fields["secretLong"], 0x5EC0DE5EC0DE77, "an inherited long")
    check_equal(fields["nothing"], 0, "a null field")
    statics = heap.statics(heap.class_named("HeapShapes"))
    holes = heap.arrays[statics["holes"]]
    check_equal(len(holes), 200000, "length of the long array")
    check_equal((holes[65536], holes[65535]), (statics["longs"], statics["ints"]), "elements around a part's end")
    check_equal([i for i, e in enumerate(holes) if e], [0, 65535, 65536, 199998], "elements that are not null")
    check_equal(heap.statics(leaf)["LEAF_STATIC"], 81985529216486895, "a static long")
    check_equal(heap.primitives[statics["ints"]], b"\0\0\0\1\0\0\0\2\0\0\0\3\x7f\xff\xff\xff", "an int[]")
    check_equal(heap.primitives[statics["bytes"]], b"SeCrEt-byte", "a byte[]")
    check_equal(heap.dangling(), [], "references to nothing")


@vm_test(units=UNITS)
def jvmti_engine_dumps_every_value(vm):
    _, heap = dump(vm, "dump=jvmti")
    check_shapes(heap)


@vm_test(units=UNITS, since=11, quick=True)
def vm_engine_dumps_every_value(vm):
    _, heap = dump(vm, "dump=vm")
    check_shapes(heap)


@vm_test(units=UNITS, since=11)
def engines_find_the_same_objects(vm):
    counts = []
    for engine in ("vm", "jvmti"):
        _, heap = dump(vm, "dump=" + engine)
        counts.append({name: n for name, n in heap.counts().items() if name.startswith("HeapShapes$Leaf")})
    check_equal(counts[0], counts[1], "objects by class, vm and jvmti")
    check_equal(counts[0].get("HeapShapes$Leaf"), LEAVES, "instances of Leaf")


@vm_test(units=UNITS)
def addresses_and_tags_name_the_same_objects(vm):
    counts = []
    # Of 32 bits nothing is known of where addresses are.
    for options, named in (("hotspot=y", "tag" if vm.bits == 32 else "address"), ("hotspot=-object-addresses", "tag")):
        run, heap = dump(vm, "dump=jvmti,logflags=1," + options, "-XX:+UseSerialGC")
        check("objects by %s\n" % named in run.err, "not by %s\n%s" % (named, run.err))
        check_shapes(heap)
        counts.append({name: n for name, n in heap.counts().items() if name.startswith("HeapShapes$")})
    check_equal(counts[0], counts[1], "objects by class")


@vm_test(units=UNITS)
def collectors_of_garbage_make_no_difference(vm):
    for option in ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"):
        for engine in ("auto", "jvmti"):
            _, heap = dump(vm, "dump=" + engine, option)
            check_shapes(heap)


@vm_test(units=UNITS, since=17)
def zgc_dumps_at_exit_without_collecting(vm):
    vm.needs_zgc()
    _, heap = dump(vm, "", "-XX:+UseZGC")
    check_shapes(heap)
    _, heap = dump(vm, "live=n", "-XX:+UseZGC")
    check_shapes(heap)


def secrets_in(data):
    """What of java/HeapShapes.java's secrets is there, in any encoding."""
    found = {text for text in ("SeCrEt", "secret.property")
             for encoding in ("latin-1", "utf-16-le", "utf-16-be") if text.encode(encoding) in data}
    return found | ({"a long"} if b"\x00\x5e\xc0\xde\x5e\xc0\xde\x77" in data else set())


@vm_test(units=UNITS, quick=True)
def redact_full_leaves_no_secret(vm):
    for engine in ("auto", "jvmti"):
        run, _ = dump(vm, "dump=" + engine)
        check_equal(secrets_in(run.bytes("out.hprof")), {"SeCrEt", "secret.property", "a long"}, "secrets in the clear")
        run, heap = dump(vm, "redact=full,dump=" + engine)
        check_equal(secrets_in(run.bytes("out.hprof")), set(), "secrets with dump=" + engine)
        check_equal(len(heap.instances_of(heap.class_named("HeapShapes$Leaf"))), LEAVES, "instances of Leaf")
        check_equal(heap.dangling(), [], "references to nothing")


@vm_test(units=UNITS)
def redact_basic_zeroes_text_only(vm):
    for engine in ("auto", "jvmti"):
        _, heap = dump(vm, "redact=basic,dump=" + engine)
        statics = heap.statics(heap.class_named("HeapShapes"))
        check_equal(heap.primitives[statics["bytes"]], b"\0" * 11, "a byte[]")
        check_equal(heap.primitives[statics["chars"]], b"\0" * 22, "a char[]")
        check_equal(heap.primitives[statics["longs"]], b"\x00\x5e\xc0\xde\x5e\xc0\xde\x77", "a long[]")


@vm_test(units=UNITS)
def threads_have_a_trace_of_their_own(vm):
    _, heap = dump(vm, "dump=jvmti")
    check(len(heap.thread_roots) > 3, "only %d thread roots" % len(heap.thread_roots))
    for thread, trace in heap.thread_roots:
        check_equal(heap.traces[trace][0], thread, "the thread of a thread's trace")
    check(any(frame.startswith(("lambda$main", "sleep")) for _, trace in heap.thread_roots
              for frame in heap.traces[trace][1]), "no frame of the sleeping thread")


@vm_test(units=UNITS)
def each_request_makes_a_file(vm):
    live = vm.start("heap=dump,format=b,file=out.hprof", "HeapShapes", "mark", "wait")
    live.request_data_dump()
    live.wait_until(lambda: "done." in live.err(), "the first dump")
    check_equal(live.finish().code, 0, "exit code")
    for name in ("out.hprof", "out.hprof.2"):
        heap = dumps.read(open(vm.path(name), "rb").read())
        check_equal(len(heap.instances_of(heap.class_named("HeapShapes$Leaf"))), LEAVES, "Leaf in " + name)


@vm_test(units=UNITS, since=11)
def disabled_attach_falls_back(vm):
    run, heap = dump(vm, "logflags=1", "-XX:+DisableAttachMechanism")
    check("the jvmti engine" in run.err, "no word of the engine\n%s" % run.err)
    check_shapes(heap)


@vm_test(units=UNITS)
def disk_full_leaves_no_file(vm):
    """From the first byte on, and in the middle of the dump."""
    options = "heap=dump,format=b,dump=jvmti,file=out.hprof"
    _, sites = faulty(vm, "only=none", options, "HeapShapes", "mark")
    check(os.path.exists(vm.path("out.hprof")), "no dump where nothing fails")
    os.unlink(vm.path("out.hprof"))
    write = max((site for site in sites if site.function == "libc.write"), key=lambda site: site.calls)
    # Some 20, but how many depends on how the threads take turns: a late one may not be there in the next run.
    check(write.calls >= 10, "a dump of %d writes" % write.calls)
    for call in (1, 5):
        run, _ = check_harmless(vm, "fail=libc.write@%s#%d" % (write.place, call), options, "HeapShapes", "mark")
        check(not os.path.exists(vm.path("out.hprof")), "a part of a dump is left\n%s" % run)
        check_equal(run.err.count("the rest of the profile is lost"), 1, "messages\n%s" % run.err)


@vm_test(units=TEXT)
def text_has_the_same_shapes(vm):
    run = vm.profiled("heap=dump,file=out.txt", "HeapShapes", "mark")
    head, entries = parse_ascii(run.text("out.txt")).heap()
    objects = [fields for kind, _, fields in entries if kind in ("OBJ", "ARR")]
    check_equal(sum(fields.get("class", "").startswith("HeapShapes$Leaf@") for fields in objects), LEAVES, "instances of Leaf")
    check_equal(head, (len(objects), sum(int(fields["sz"]) for fields in objects)), "objects and bytes")


@vm_test(units=TEXT)
def each_thread_is_two_roots_in_text(vm):
    """As an object and as a block, as the original wrote them."""
    run = vm.profiled("heap=dump,file=out.txt", "HeapShapes", "mark")
    report = parse_ascii(run.text("out.txt"))
    names = {str(number): name for _, number, name, _ in report.threads}
    roots = [(thing, fields) for kind, thing, fields in report.heap()[1] if kind == "ROOT"]
    objects = [(thing, fields["id"]) for thing, fields in roots if fields["kind"] == "<thread>"]
    blocks = [(thing, fields["thread"]) for thing, fields in roots if fields["kind"] == "<thread block>"]
    check(len(objects) >= 3, "only %d threads are roots\n%s" % (len(objects), run))
    check_equal(objects, blocks, "threads as objects and as blocks")
    check_equal(len({number for _, number in objects}), len(objects), "threads that are roots once")
    check({number for _, number in objects} <= set(names), "roots of threads that have not started: %s" % objects)
    check("SeCrEt-thread-mark" in [names[number] for _, number in objects], "the sleeping thread is no root: %s" % objects)


@vm_test(units=UNITS, since=11)
def vm_engine_gives_way_where_it_lacks_descriptors_or_memory(vm):
    """Of the process: the dump is made by the other engine."""
    memory = ("-Xmx64m", "-XX:ReservedCodeCacheSize=48m", "-XX:MaxMetaspaceSize=64m", "-XX:CompressedClassSpaceSize=32m")
    option = vm.agent_option("heap=dump,format=b,file=out.hprof,force=y")
    for limit in ("-n 10", "-v 2500000"):
        java = vm.command("java", option, *memory, "-cp", vm.classes, "Quick")
        run = subprocess.run(["sh", "-c", "ulimit %s; exec \"$@\"" % limit, "sh", *java], cwd=vm.dir, timeout=TIMEOUT,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0 and "HPROF" not in run.stderr:
            raise Skip("no VM with ulimit %s: %s" % (limit, run.stderr[-300:]))
        check_equal((run.returncode, run.stdout), (0, "quick\n"), "exit code and stdout\n%s\n" % run.stderr)
        check("HPROF: done: " in run.stderr, "no dump with ulimit %s\n%s" % (limit, run.stderr))
        with open(vm.path("out.hprof"), "rb") as file:
            dumps.read(file.read()).class_named("Quick")


@vm_test(units=UNITS)
def full_heap_is_dumped(vm):
    """Nothing on the way to the dump needs Java objects; what tries to have some costs few collections."""
    for engine in ("vm", "jvmti"):
        flags = ("-Xmx40m", "-XX:+UseSerialGC", "-verbose:gc")
        run = vm.run_java(vm.agent_option("heap=dump,format=b,dump=%s,file=out.hprof,force=y" % engine), *flags, "FullHeap")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        check("broke off" not in run.err, "no dump\n%s" % run)
        heap = dumps.read(run.bytes("out.hprof"))
        filled = sum(len(elements) == 100 for elements in heap.primitives.values())
        check(filled > 100000, "only %d of the arrays that fill the heap are in the dump" % filled)
        collections = [len(re.findall("Full GC|Pause Full", each.out))
                       for each in (run, vm.run_java(*flags, "FullHeap"))]
        check(collections[0] < collections[1] + 100, "full collections with and without the agent: %s" % collections)
