"""Every number that a record of a binary report names is defined in the report. Written from the field lists of the manual of
the original alone; dumps.py and reports.py read the records."""
import re
import struct

from dumps import Heap, read_segment
from harness import check
from reports import Body, parse_binary

PRIMITIVES = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
ROOT_NAMES = {0xff: "UNKNOWN", 1: "JNI GLOBAL", 2: "JNI LOCAL", 3: "JAVA FRAME", 4: "NATIVE STACK", 5: "STICKY CLASS",
              6: "THREAD BLOCK", 7: "MONITOR USED", 8: "THREAD OBJECT"}
# What the VM generates has several classes of one name, of which each collector names the first.
GENERATED = re.compile(r"\$\$Lambda|StringConcat|LambdaForm\$|\$Proxy\d|GeneratedMethodAccessor|GeneratedConstructorAccessor|\$\$InjectedInvoker")


class Joins:
    def __init__(self, data):
        self.report = parse_binary(data)
        self.heap = Heap(self.report)
        for tag, _, body in self.report.records:
            if tag in ("HEAP DUMP", "HEAP DUMP SEGMENT"):
                read_segment(self.heap, body)
        self.has_dump = bool(self.heap.classes)
        self.missing = {}  # what is wrong -> how often
        self.examples = {}

    def miss(self, what, example):
        self.missing[what] = self.missing.get(what, 0) + 1
        self.examples.setdefault(what, example)

    def wants(self, holds, what, example=""):
        if not holds:
            self.miss(what, example)

    def name(self, serial):
        return self.heap.strings[self.report.classes[serial][2]]

    def trace(self, serial, what):
        self.wants(serial in self.report.traces, what + ": no STACK TRACE", serial)

    def thread(self, serial, what):
        self.wants(serial in self.report.threads, what + ": no START THREAD", serial)

    def object(self, key, what):
        heap = self.heap
        self.wants(key in heap.classes or key in heap.instances or key in heap.arrays or key in heap.primitives,
                   what + ": no such object", "%x" % key)

    def definitions(self):
        report = self.report
        unloaded = {struct.unpack(">I", body)[0] for body in report.named("UNLOAD CLASS")}
        names = {}  # of class objects
        for serial, (owner, trace, _) in report.classes.items():
            name = self.name(serial)
            self.trace(trace, "LOAD CLASS")
            self.wants(not name.startswith("[") and "/" not in name, "LOAD CLASS: not a name of Java source", name)
            self.wants(names.setdefault(owner, name) == name, "LOAD CLASS: another name for the same class object", name)
            if self.has_dump and serial not in unloaded and name != "JVM" and not GENERATED.search(name):  # JVM: of notes in tables
                self.wants(owner in self.heap.classes, "LOAD CLASS: no CLASS DUMP", name)
        for _, _, _, serial, _ in report.frames.values():
            self.wants(serial in report.classes, "STACK FRAME: no LOAD CLASS", serial)
        for thread, _ in report.traces.values():
            if thread:
                self.thread_of_dump(thread, "STACK TRACE")
        ended = {struct.unpack(">I", body)[0] for body in report.named("END THREAD")}
        for serial in ended:
            self.thread(serial, "END THREAD")
        for serial, (key, trace, *_) in report.threads.items():
            self.trace(trace, "START THREAD")
            name = self.heap.strings.get(report.threads[serial][2])
            # The VM starts its Attach Listener for its own dump.
            if self.has_dump and serial not in ended and name != "Attach Listener":
                self.wants(key in self.heap.instances, "START THREAD: no such object", name)

    def thread_of_dump(self, serial, what):
        """A thread that has a START THREAD, or that the dump defines with its object."""
        self.wants(serial in self.report.threads or serial in (row[2] for row in self.heap.root_records if row[0] == 8),
                   what + ": no START THREAD and no ROOT THREAD OBJECT", serial)

    def sites(self):
        for data in self.report.named("ALLOC SITES"):
            body = Body(data, self.report.id_size, "ALLOC SITES")
            body.position = 30
            for _ in range(body.u4()):
                is_array, owner, trace = body.number(1), body.u4(), body.u4()
                body.position += 16
                self.trace(trace, "ALLOC SITES")
                self.wants(owner in self.report.classes, "ALLOC SITES: no LOAD CLASS", owner)
                if owner in self.report.classes:
                    name = self.name(owner)
                    element = name[:-2] if name.endswith("[]") else ""
                    self.wants(PRIMITIVES.get(is_array, "" if is_array == 0 else element) == element,
                               "ALLOC SITES: array indicator", name)
                    if self.has_dump and not GENERATED.search(name):
                        self.wants(self.report.classes[owner][0] in self.heap.classes, "ALLOC SITES: no CLASS DUMP", name)
            body.end()

    def roots(self):
        report, traces = self.report, {}
        for tag, key, *rest in self.heap.root_records:
            what = "ROOT " + ROOT_NAMES[tag]
            self.object(key, what)
            if tag == 5:
                self.wants(key in self.heap.classes, what + ": no class", "%x" % key)
            if tag == 8:
                thread, trace = rest
                self.wants(thread not in traces, what + ": a thread twice", thread)
                traces[thread] = trace
                self.trace(trace, what)
                if trace in report.traces and report.traces[trace][1]:
                    self.wants(report.traces[trace][0] == thread, what + ": the trace of another thread", thread)
                if thread in report.threads:
                    self.wants(report.threads[thread][0] == key, what + ": another object in START THREAD", thread)
            elif tag in (2, 3, 4, 6):
                self.wants(rest[0] in traces, what + ": no ROOT THREAD OBJECT before it", rest[0])
                frames = report.traces.get(traces.get(rest[0]), (0, []))[1]
                if tag in (2, 3) and rest[1] != 0xffffffff:
                    self.wants(rest[1] < len(frames) or rest[1] == 0, what + ": no such frame", rest)

    def objects(self):
        heap = self.heap
        loaded = {self.heap.strings[name]: owner for owner, _, name in self.report.classes.values()}
        owners = {owner for owner, _, _ in self.report.classes.values()}
        for key, owner in heap.classes.items():
            self.wants(key in owners, "CLASS DUMP: no LOAD CLASS", "%x" % key)
            self.trace(owner.trace, "CLASS DUMP")
            if owner.super:
                self.wants(owner.super in heap.classes, "CLASS DUMP: superclass", heap.names.get(key))
            for link in (*owner.links, *owner.constants):
                if link:
                    self.object(link, "CLASS DUMP: loader, signers, domain, constants")
            for name in (*owner.statics, *(name for name, _ in owner.fields)):
                self.wants(name in heap.strings, "CLASS DUMP: name of a field", "%x" % name)
        for key, (owner, data) in heap.instances.items():
            self.wants(owner in heap.classes, "INSTANCE DUMP: no CLASS DUMP", "%x" % owner)
            if owner in heap.classes:
                self.wants(heap.classes[owner].size == len(data), "INSTANCE DUMP: size", heap.names.get(owner))
        for owner in heap.array_class.values():
            self.wants(owner in heap.classes, "OBJECT ARRAY DUMP: no CLASS DUMP", "%x" % owner)
            self.wants(heap.names.get(owner, "").endswith("[]"), "OBJECT ARRAY DUMP: not the name of an array", heap.names.get(owner))
        for kind in set(heap.kinds.values()):
            self.wants(PRIMITIVES[kind] + "[]" in loaded, "PRIMITIVE ARRAY DUMP: no LOAD CLASS", PRIMITIVES[kind])
        for trace in set(heap.made_in.values()):
            self.trace(trace, "dumped object")
        for key in heap.dangling():
            self.miss("dumped object: a reference to nothing", "%x" % key)


def missing(data):
    """{what is missing: (how often, the first)} in a report."""
    joins = Joins(data)
    joins.definitions()
    joins.sites()
    if joins.has_dump:
        joins.roots()
        joins.objects()
    return {what: (count, joins.examples[what]) for what, count in joins.missing.items()}


def check_joins(data, but=()):
    """Fails on each number without a definition; but: what is known to be missing in this case, all of which has to be."""
    found = missing(data)
    check(set(found) == set(but), "%s\nexpected: %s" % ("\n".join("%s: %d, such as %s" % (what, *row) for what, row in sorted(found.items())), sorted(but)))
