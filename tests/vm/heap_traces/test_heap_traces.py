"""heap=all: objects of dumps carry the trace in which they were allocated, with both engines, in both formats."""
import os
import re

import dumps
from harness import LACKS, ROOT, Skip, check, check_equal, vm_test
from reports import parse_ascii
from tool import heap_json, sound

BINARY = ("bytecode", "heap_sites", "heap_dump", "encoder_binary", "sink_file")
ASCII = ("bytecode", "heap_sites", "heap_dump", "encoder_ascii", "sink_file")
SOURCE = os.path.join(ROOT, "tests", "vm", "java", "HeapTraces.java")


def place(name):
    """(method, line) of java/HeapTraces.java where `// place: name` stands."""
    method = None
    with open(SOURCE, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            begins = re.match(r"    static \S+ (\w+)\(", line)
            method = begins.group(1) if begins else method
            if line.rstrip().endswith("// place: " + name):
                return method, number
    raise AssertionError(name)


def places_of(heap, objects):
    """{(method, line) in which they were made: how many}, by the first frame that is no constructor; None: the empty trace."""
    found = {}
    for each in objects:
        frames = [frame for frame in heap.places[heap.made_in[each]] if frame[0] != "<init>"]
        where = frames[0] if frames else None
        found[where] = found.get(where, 0) + 1
    return found


def check_traces(heap):
    for name, where, count in (("First", "first", 3000), ("Second", "second", 500)):
        objects = heap.instances_of(heap.class_named("HeapTraces$" + name))
        check_equal(places_of(heap, objects), {place(where): count}, "where objects of %s were made" % name)
    holder = heap.statics(heap.class_named("HeapTraces"))["holder"]
    check_equal(places_of(heap, [holder]), {place("array"): 1}, "where the array was made")
    second = heap.instances_of(heap.class_named("HeapTraces$Second"))[0]
    methods = [method for method, _ in heap.places[heap.made_in[second]] if method != "<init>"]
    check_equal(methods, ["second", "second", "second", "main"], "the trace of an object")
    floats = [each for each, data in heap.primitives.items() if len(data) == 800000]
    check_equal(places_of(heap, floats), {place("floats"): 1}, "where the float[] was made")
    shorts = [each for each, data in heap.primitives.items()
              if len(data) == 14 and place("shorts") in heap.places[heap.made_in[each]]]
    check_equal(len(shorts), 500, "short[7]")


def dump(vm, options, *java):
    run = vm.profiled("heap=all,format=b,cutoff=0,depth=10,logflags=1,file=out.hprof," + options, "HeapTraces",
                      java=java)
    said = re.findall(r"^HPROF: heap=dump: (\d+) of (\d+) objects have the trace", run.err, re.M)
    check_equal(len(said), 1, "lines on traces\n%s\n" % run)
    heap = dumps.read(run.bytes("out.hprof"))
    empty = {serial for serial, frames in heap.places.items() if not frames}
    with_trace = sum(serial not in empty for serial in heap.made_in.values())
    check_equal(with_trace, int(said[0][0]), "objects with a trace, in the dump and as it was said")
    check(with_trace < int(said[0][1]), "there are objects from before")
    sound(vm, "out.hprof", "--for=mat,visualvm,jhat", "--no-warnings")
    return run, heap


@vm_test(units=BINARY, since=11, quick=True)
def vm_engine_gives_objects_their_traces(vm):
    run, heap = dump(vm, "dump=vm")
    is_guarded = "signals" not in LACKS
    if "the vm engine" not in run.err and not (is_guarded and vm.machine in ("amd64", "aarch64")):
        check("their addresses are not known here" in run.err, "the other engine, and it is not said why\n%s" % run)
        check_traces(heap)
        raise Skip("addresses of objects are not known on this system")
    check("the vm engine" in run.err and "weak-addresses is used" in run.err, "not by the VM's dumper\n%s" % run)
    check_traces(heap)


@vm_test(units=BINARY)
def jvmti_engine_gives_objects_their_traces(vm):
    for options, named in (("hotspot=y", "address"), ("hotspot=-object-addresses", "tag")):
        run, heap = dump(vm, "dump=jvmti," + options, "-XX:+UseSerialGC")
        ways = (named,) if vm.machine == "amd64" else (named, "tag")  # others may lack the item
        check(any("objects by %s\n" % way in run.err for way in ways), "not by %s\n%s" % (named, run))
        check_traces(heap)


@vm_test(units=BINARY)
def collectors_of_garbage_make_no_difference_to_traces(vm):
    for option in ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"):
        _, heap = dump(vm, "dump=auto", option, "-Xmx64m")
        check_traces(heap)


@vm_test(units=BINARY, since=17)
def where_addresses_are_not_known_objects_are_tagged(vm):
    check_tagged(vm, "hotspot=-weak-addresses", "-XX:+UseG1GC")


@vm_test(units=BINARY, since=17)
def zgc_has_objects_tagged(vm):
    vm.needs_zgc()
    check_tagged(vm, "live=n", "-XX:+UseZGC")


def check_tagged(vm, options, java):
    run, heap = dump(vm, "dump=auto," + options, java)
    check("the jvmti engine" in run.err and "their addresses are not known here" in run.err,
          "auto takes the other engine, and says so\n%s" % run)
    check_traces(heap)


@vm_test(units=ASCII)
def text_dumps_have_traces(vm):
    run = vm.profiled("heap=all,cutoff=0,depth=10,file=out.txt", "HeapTraces")
    report = parse_ascii(run.text("out.txt"))
    places, arrays = {}, []
    for kind, _, fields in report.heap()[1]:
        if kind == "OBJ" and fields["class"].startswith("HeapTraces$First@"):
            frames = [frame for frame in report.traces[int(fields["trace"])].frames if "<init>" not in frame[0]]
            where = frames[0][0], int(frames[0][2])
            places[where] = places.get(where, 0) + 1
        elif kind == "ARR" and fields["nelems"] == "4321":
            arrays.append(report.traces[int(fields["trace"])].frames[0][0])
    method, line = place("first")
    check_equal(places, {("HeapTraces." + method, line): 3000}, "where objects of First were made")
    check_equal(arrays, ["HeapTraces.array"], "the array")
    check(any(re.match(r"heap=dump: \d+ of \d+ objects have the trace", note) for note in report.notes), "no note on traces")


@vm_test(units=BINARY, since=11)
def sampled_objects_have_traces_and_no_others(vm):
    _, heap = dump(vm, "sites=sampled:1k,dump=auto")
    for name, where, count in (("First", "first", 3000), ("Second", "second", 500)):
        objects = heap.instances_of(heap.class_named("HeapTraces$" + name))
        found = places_of(heap, objects)
        check_equal(set(found) - {None}, {place(where)}, "where objects of %s were made" % name)
        check(0 < found[place(where)] < count, "%s of %d" % (found, count))


@vm_test(units=BINARY)
def traces_are_right_while_objects_are_made_and_moved(vm):
    for engine in ("auto", "jvmti"):
        name = engine + ".hprof"
        options = "heap=all,format=b,cutoff=0,depth=10,doe=n,dump=%s,file=%s" % (engine, name)
        live = vm.start(options, "HeapTraces", "busy", java=("-Xmx64m",))
        live.request_data_dump()
        live.wait_until(lambda: "done." in live.err(), "the dump")
        check_equal(live.finish().code, 0, "exit code")
        with open(vm.path(name), "rb") as file:
            heap = dumps.read(file.read())
        check_equal(places_of(heap, heap.instances_of(heap.class_named("HeapTraces$First"))),
                    {place("first"): 3000}, "where objects of First were made")
        third = places_of(heap, heap.instances_of(heap.class_named("HeapTraces$Third")))
        check(set(third) <= {None, place("third")}, "where objects of Third were made: %s" % third)
        check(third.get(place("third"), 0) > 0, "none has a trace: %s" % third)


@vm_test(units=BINARY)
def the_summary_shows_sites_by_retained_bytes(vm):
    vm.profiled("heap=all,format=b,cutoff=0,depth=10,file=out.hprof", "HeapTraces")
    text = str(heap_json(vm, "summary", "--top=0", vm.path("out.hprof"))["sites"])
    for name in ("first", "second", "array"):
        method, line = place(name)
        check("HeapTraces.%s" % method in text and "HeapTraces.java:%d" % line in text, "no site %s in\n%s" % (name, text))


@vm_test(units=BINARY)
def objects_that_nobody_follows_have_no_trace(vm):
    run = vm.profiled("heap=all,sites-live=n,format=b,cutoff=0,depth=10,logflags=1,file=out.hprof", "HeapTraces")
    check("have the trace" not in run.err, "somebody follows them\n%s" % run)
    heap = dumps.read(run.bytes("out.hprof"))
    check_equal(places_of(heap, heap.made_in), {None: len(heap.made_in)}, "traces")
