"""Reads binary heap dumps strictly: every byte is accounted for, everything named must be there. Layouts are written with
identifiers of 8 bytes (Q); Heap.unpack reads those of 4 where the file has them."""
import struct

from harness import check
from reports import parse_binary

WIDTH = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}  # and 2, an identifier: Heap.width


class Class:
    def __init__(self):
        self.super = 0
        self.trace = 0
        self.links = ()  # class loader, signers, protection domain
        self.constants = []
        self.size = 0
        self.statics = {}
        self.fields = []


def text(data):
    return data.decode("utf-8", "surrogateescape")


class Heap:
    def __init__(self, report):
        self.report = report
        self.id_size = report.id_size
        self.width = dict(WIDTH)
        self.width[2] = self.id_size
        self.strings = {key: text(data) for key, data in report.strings.items()}
        self.names = {owner: self.strings[name] for owner, _, name in report.classes.values()}
        frames = {key: (self.strings[frame[0]], frame[4]) for key, frame in report.frames.items()}
        # (method, line) of each frame of a trace, innermost first
        self.places = {serial: [frames[key] for key in keys] for serial, (_, keys) in report.traces.items()}
        self.traces = {serial: (thread, [method for method, _ in self.places[serial]])
                       for serial, (thread, _) in report.traces.items()}
        self.classes, self.instances, self.arrays, self.primitives = {}, {}, {}, {}
        self.array_class, self.kinds = {}, {}
        self.thread_roots, self.roots = [], []
        self.root_records = []  # (tag, object, its other fields)
        self.made_in = {}  # trace of each instance and array
        self.before_class = []  # instances and arrays of objects whose class came later

    def note(self, object_id, owner):
        if owner not in self.classes:
            self.before_class.append(object_id)

    def layout(self, text):
        return text if self.id_size == 8 else text.replace("Q", "I")

    def unpack(self, text, body, at=0):
        return struct.unpack_from(self.layout(text), body, at)

    def size_of(self, text):
        return struct.calcsize(self.layout(text))

    def class_named(self, name):
        found = [c for c, n in self.names.items() if n in (name, name.replace(".", "/")) and c in self.classes]
        check(len(found) == 1, "%d classes %s" % (len(found), name))
        return found[0]

    def instances_of(self, owner):
        return [i for i, (c, _) in self.instances.items() if c == owner]

    def chain(self, owner):
        while owner:
            yield self.classes[owner]
            owner = self.classes[owner].super

    def fields(self, instance):
        owner, data = self.instances[instance]
        values, at = {}, 0
        for step in self.chain(owner):
            for name, kind in step.fields:
                values.setdefault(self.strings[name], int.from_bytes(data[at:at + self.width[kind]], "big"))
                at += self.width[kind]
        check(at == len(data), "instance %x has %d bytes, its class says %d" % (instance, len(data), at))
        return values

    def statics(self, owner):
        return {self.strings[name]: value for name, (_, value) in self.classes[owner].statics.items()}

    def counts(self):
        result = {}
        for owner, _ in self.instances.values():
            name = self.names[owner].replace("/", ".")
            result[name] = result.get(name, 0) + 1
        return result

    def dangling(self):
        known = set(self.classes) | set(self.instances) | set(self.arrays) | set(self.primitives) | {0}
        missing = [o for o in self.roots if o not in known or o == 0]
        for owner in self.classes.values():
            missing += [v for k, v in owner.statics.values() if k == 2 and v not in known]
        for elements in self.arrays.values():
            missing += [e for e in elements if e not in known]
        layouts = {}
        for owner, data in self.instances.values():
            if owner not in layouts:
                places, at = [], 0
                for step in self.chain(owner):
                    for _, kind in step.fields:
                        if kind == 2:
                            places.append(at)
                        at += self.width[kind]
                layouts[owner] = places
            for place in layouts[owner]:
                value = int.from_bytes(data[place:place + self.id_size], "big")
                if value not in known:
                    missing.append(value)
        return missing[:10]


def read(data):
    report = parse_binary(data)
    check(report.version == "JAVA PROFILE 1.0.2", "header %r" % report.version)
    heap = Heap(report)
    ended = False
    for tag, _, body in report.records:
        if tag == "HEAP DUMP SEGMENT":
            check(not ended, "a segment behind the end of the dump")
            read_segment(heap, body)
        elif tag == "HEAP DUMP END":
            ended = True
        else:
            check(tag not in ("HEAP DUMP", "CPU SAMPLES"), "a record %s" % tag)
    check(ended, "no HEAP DUMP END")
    check(not heap.before_class, "%d objects before their class" % len(heap.before_class))
    for owner in heap.classes:
        size = sum(heap.width[k] for step in heap.chain(owner) for _, k in step.fields)
        check(size == heap.classes[owner].size, "instance size of %s" % heap.names.get(owner))
    return heap


def count_ends(data):
    """HEAP DUMP END records."""
    at, ends = 31, 0
    while at < len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        ends += tag == 0x2c
        at += 9 + length
    return ends


def new(table, key, value):
    check(key not in table, "object %x twice" % key)
    table[key] = value


ROOTS = {0xff: ">Q", 1: ">QQ", 2: ">QII", 3: ">QII", 4: ">QI", 5: ">Q", 6: ">QI", 7: ">Q", 8: ">QII"}


def read_segment(heap, body):
    at = 0
    while at < len(body):
        tag = body[at]
        at += 1
        if tag in ROOTS:
            values = heap.unpack(ROOTS[tag], body, at)
            heap.roots.append(values[0])
            heap.root_records.append((tag, *values))
            if tag == 8:
                heap.thread_roots.append(values[1:])
            at += heap.size_of(ROOTS[tag])
        elif tag == 0x20:
            at = read_class(heap, body, at)
        elif tag == 0x21:
            object_id, heap.made_in[object_id], owner, size = heap.unpack(">QIQI", body, at)
            at += heap.size_of(">QIQI")
            heap.note(object_id, owner)
            new(heap.instances, object_id, (owner, body[at:at + size]))
            at += size
        elif tag == 0x22:
            object_id, heap.made_in[object_id], count, owner = heap.unpack(">QIIQ", body, at)
            heap.array_class[object_id] = owner
            at += heap.size_of(">QIIQ")
            heap.note(object_id, owner)
            new(heap.arrays, object_id, heap.unpack(">%dQ" % count, body, at))
            at += count * heap.id_size
        else:
            check(tag == 0x23, "sub-record %x" % tag)
            object_id, heap.made_in[object_id], count, kind = heap.unpack(">QIIB", body, at)
            at += heap.size_of(">QIIB")
            heap.kinds[object_id] = kind
            new(heap.primitives, object_id, body[at:at + count * WIDTH[kind]])
            at += count * WIDTH[kind]
    check(at == len(body), "a sub-record ends outside its segment")


def read_class(heap, body, at):
    owner = Class()
    object_id, owner.trace, owner.super, *owner.links, first, second, owner.size = heap.unpack(">QIQQQQQQI", body, at)
    check(first == second == 0, "reserved words of class %x" % object_id)
    at += heap.size_of(">QIQQQQQQI")
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(count):
        kind = body[at + 2]
        at += 3 + heap.width[kind]
        if kind == 2:
            owner.constants.append(int.from_bytes(body[at - heap.id_size:at], "big"))
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(count):
        name, kind = heap.unpack(">QB", body, at)
        at += heap.id_size + 1
        owner.statics[name] = (kind, int.from_bytes(body[at:at + heap.width[kind]], "big"))
        at += heap.width[kind]
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(count):
        owner.fields.append(heap.unpack(">QB", body, at))
        at += heap.id_size + 1
    new(heap.classes, object_id, owner)
    return at
