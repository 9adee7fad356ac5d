"""jvmpi=: what agents written for JVMPI (tests/vm/jvmpi) are told of the heap: dumps, allocations, frees, references."""
import re

import dumps
import jvmpi_dumps
from harness import check, check_equal, vm_test
from jvmpi_agents import DUMPS, PROBES, REFERENCES, UNITS, build, run, said

SHAPES = ("HeapShapes", "HeapShapes$Base", "HeapShapes$Leaf")


def without_references(values):
    """Values of one kind of dump; of references only whether they are null."""
    return {name: bool(value) if kind in ("L", "[", 2) else value for name, (kind, value) in values.items()}


def our_fields(heap, instance):
    """Like jvmpi_dumps.Dump.fields."""
    kinds = {}
    for step in heap.chain(heap.instances[instance][0]):
        for name, kind in step.fields:
            kinds.setdefault(heap.strings[name], kind)
    return {name: (kinds[name], value) for name, value in heap.fields(instance).items()}


def check_same_shapes(dump, heap):
    """The program's classes, their instances and what hangs on them, in JVMPI's dump and in heap=dump's."""
    for name in SHAPES:
        theirs, ours = dump.class_named(name), heap.class_named(name)
        # What our own adds for readers of its kind has names in angle brackets.
        statics = {heap.strings[n]: pair for n, pair in heap.classes[ours].statics.items() if heap.strings[n][0] != "<"}
        check_equal(without_references(dump.statics[theirs]), without_references(statics), "static fields of " + name)
        instances = [n for n, (owner, _) in dump.instances.items() if owner == theirs]
        check_equal(len(instances), len(heap.instances_of(ours)), "instances of " + name)
        check_equal(sorted(str(sorted(without_references(dump.fields(n)).items())) for n in instances),
                    sorted(str(sorted(without_references(our_fields(heap, n)).items())) for n in heap.instances_of(ours)),
                    "fields of " + name)
    theirs = {name: value for name, (_, value) in dump.statics[dump.class_named("HeapShapes")].items()}
    ours = heap.statics(heap.class_named("HeapShapes"))
    for name in ("ints", "noBytes", "chars", "bytes", "longs"):
        check_equal(dump.primitives[theirs[name]], heap.primitives[ours[name]], name)
    for name in ("holes", "noObjects", "grid"):
        check_equal([bool(e) for e in dump.arrays[theirs[name]]], [bool(e) for e in heap.arrays[ours[name]]], name)


def check_roots(dump):
    kinds = {root[0] for root in dump.roots}
    check({1, 3, 5, 6} <= kinds, "kinds of roots: %s" % sorted(kinds))


@vm_test(units=UNITS + ("heap_dump", "encoder_binary", "sink_file"))
def heap_dumps_are_those_of_our_own(vm):
    ran = run(vm, "dump", "", "HeapShapes", "mark", options="heap=dump,format=b,file=out.hprof,jvmpi=y")
    check_equal(said(ran), DUMPS, "what the agent saw\n%s\n" % ran)
    width = vm.bits // 8
    classes = jvmpi_dumps.read_classes(ran.text("classes"))
    level1, level2 = (jvmpi_dumps.Dump(ran.bytes("level%d" % level), classes, level == 2, width) for level in (1, 2))
    check_same_shapes(level2, dumps.read(ran.bytes("out.hprof")))
    for dump in (level1, level2):
        check_equal(dump.dangling(), [], "references into nothing")
        check_roots(dump)
    of_shapes = {level2.class_named(name) for name in SHAPES}
    ids = {n for n, (owner, _) in level2.instances.items() if owner in of_shapes}
    check_equal({n for n, (owner, _) in level1.instances.items() if owner in of_shapes}, ids, "instances of level 1")
    check(ids <= set(jvmpi_dumps.read_level_0(ran.bytes("level0"), width)), "instances of level 0")
    single = jvmpi_dumps.Dump(ran.bytes("objects"), classes, True, width)
    check(single.statics, "no class was dumped alone")
    for number, record in single.records.items():
        if number in level2.records:
            check_equal(len(record), len(level2.records[number]), "bytes of object %x" % number)
        if number in ids or number in of_shapes:
            check_equal(record, level2.records[number], "object %x" % number)


@vm_test(units=UNITS)
def each_object_of_a_dump_can_be_asked_for(vm):
    ran = run(vm, "asked", "", "HeapShapes")
    check_equal(said(ran), ["freed 1", "while disabled 1, then 0", "objects many, each answered 1, wrong 0, classes of all but one 1",
                            "as jobject all 1", "answered 0"], "what the agent saw\n%s\n" % ran)


@vm_test(units=UNITS)
def heap_dumps_larger_than_max_memory_are_complete(vm):
    ran = run(vm, "dump", "big", "BigHeap", "0.05", options="jvmpi=y,max-memory=16m")
    check_equal(said(ran)[1:], ["answered 0"], "what the agent saw\n%s\n" % ran)
    size = re.match(r"dump of (\d+) MiB$", said(ran)[0])
    check(size is not None and int(size.group(1)) > 30, "the dump\n%s" % ran)
    check_equal(ran.err.count("takes %s MiB, beyond max-memory=16m" % size.group(1)), 1, "said on stderr\n%s\n" % ran)


def check_pieces(vm, *java, options="jvmpi=y"):
    ran = run(vm, "pieces", "", "Garbage", options=options, java=java)
    check_equal(said(ran)[-1], "made 600000, freed 600000, twice 0, while held 0", "what the agent saw\n%s\n" % ran)


@vm_test(units=UNITS, since=11)
def no_allocation_and_no_free_is_lost(vm):
    check_pieces(vm, "-XX:+UseSerialGC")
    check_pieces(vm, "-XX:+UseG1GC")


@vm_test(units=UNITS, since=11)
def no_first_allocation_of_the_main_thread_is_lost(vm):
    for ran in (run(vm, "pieces", "", "Garbage", "100"), vm.profiled("jvmpi=" + build(vm, "pieces"), "Garbage", "100")):
        check(said(ran)[-1].startswith("made 100, "), "what the agent saw\n%s" % ran)
        check("TLAB" not in ran.err, "allocations are said to be missed\n%s" % ran)


@vm_test(units=UNITS)
def what_a_late_agent_misses_of_allocations_is_said(vm):
    ran = run(vm, "pieces", "late", "Garbage", "100")
    there = vm.version >= 11
    check_equal(said(ran)[0], "late %d" % (0 if there else 1), "what EnableEvent answered\n%s\n" % ran)
    text = "not seen" if there else "OBJECT_ALLOC is not available: this needs Java 11, or jvmpi-allocs=probes"
    check_equal(ran.err.count(text), 1, "said on stderr\n%s\n" % ran)
    if there:
        ran = run(vm, "pieces", "late", "Garbage", "100", options="jvmpi=y,jvmpi-allocs=n")
        check_equal(ran.err.count("OBJECT_ALLOC is not available: jvmpi-allocs=n"), 1, "said why\n%s\n" % ran)


@vm_test(units=UNITS + ("heap_sites", "encoder_ascii", "sink_file"), since=11)
def allocations_are_of_one_user(vm):
    ran = run(vm, "pieces", "", "Garbage", "100", options="heap=sites,sites=sampled,file=out.txt,jvmpi=y")
    check_equal(said(ran)[0], "event 4 is not there: 1", "what EnableEvent answered\n%s\n" % ran)
    check_equal(ran.err.count("OBJECT_ALLOC is not available: another"), 1, "said why\n%s\n" % ran)


@vm_test(units=PROBES)
def no_allocation_by_probes_is_lost(vm):
    check_pieces(vm, "-XX:+UseSerialGC", options="jvmpi=y,jvmpi-allocs=probes")


@vm_test(units=UNITS)
def references_are_told_of(vm):
    ran = run(vm, "references", "", "Quick")
    check_equal(said(ran), [REFERENCES], "what the agent saw\n%s\n" % ran)
