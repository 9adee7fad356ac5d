"""Reads binary heap dumps strictly: every byte is accounted for, everything named must be there."""
import struct

from harness import check

WIDTH = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}


class Class:
    def __init__(self):
        self.super = 0
        self.size = 0
        self.statics = {}
        self.fields = []


class Heap:
    def __init__(self):
        self.strings, self.names, self.frames, self.traces = {}, {}, {}, {}
        self.classes, self.instances, self.arrays, self.primitives = {}, {}, {}, {}
        self.array_class = {}
        self.thread_roots, self.roots = [], []

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
                values.setdefault(self.strings[name], int.from_bytes(data[at:at + WIDTH[kind]], "big"))
                at += WIDTH[kind]
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
                        at += WIDTH[kind]
                layouts[owner] = places
            for place in layouts[owner]:
                value = int.from_bytes(data[place:place + 8], "big")
                if value not in known:
                    missing.append(value)
        return missing[:10]


def read(data):
    heap = Heap()
    check(data[:19] == b"JAVA PROFILE 1.0.2\0", "header %r" % data[:19])
    check(struct.unpack_from(">I", data, 19)[0] == 8, "identifiers of 8 bytes expected")
    at, time, ended = 31, 0, False
    frames = {}
    while at < len(data):
        tag, stamp, length = struct.unpack_from(">BII", data, at)
        body = data[at + 9:at + 9 + length]
        check(len(body) == length, "record %x at %d ends outside the file" % (tag, at))
        check(stamp >= time, "time goes back at %d" % at)
        time = stamp
        if tag == 1:
            heap.strings[struct.unpack_from(">Q", body)[0]] = body[8:].decode("utf-8", "surrogateescape")
        elif tag == 2:
            _, object_id, _, name = struct.unpack(">IQIQ", body)
            heap.names[object_id] = heap.strings[name]
        elif tag == 4:
            number, method, _, _, _, _ = struct.unpack(">QQQQIi", body)
            frames[number] = heap.strings[method]
        elif tag == 5:
            trace, thread, count = struct.unpack_from(">III", body)
            heap.traces[trace] = (thread, [frames[f] for f in struct.unpack_from(">%dQ" % count, body, 12)])
        elif tag == 0x1c:
            check(length > 0 and not ended, "segment at %d" % at)
            read_segment(heap, body)
        elif tag == 0x2c:
            ended = True
        else:
            check(tag in (0x0a, 0x0b, 0x0e, 6, 3), "record %x at %d" % (tag, at))
        at += 9 + length
    check(ended, "no HEAP DUMP END")
    for owner in heap.classes:
        size = sum(WIDTH[k] for step in heap.chain(owner) for _, k in step.fields)
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


ROOT_EXTRA = {0xff: 0, 1: 8, 2: 8, 3: 8, 4: 4, 5: 0, 6: 4, 7: 0, 8: 8}


def read_segment(heap, body):
    at = 0
    while at < len(body):
        tag = body[at]
        at += 1
        if tag in ROOT_EXTRA:
            object_id = struct.unpack_from(">Q", body, at)[0]
            heap.roots.append(object_id)
            if tag == 8:
                heap.thread_roots.append(struct.unpack_from(">II", body, at + 8))
            at += 8 + ROOT_EXTRA[tag]
        elif tag == 0x20:
            at = read_class(heap, body, at)
        elif tag == 0x21:
            object_id, _, owner, size = struct.unpack_from(">QIQI", body, at)
            new(heap.instances, object_id, (owner, body[at + 24:at + 24 + size]))
            at += 24 + size
        elif tag == 0x22:
            object_id, _, count, _ = struct.unpack_from(">QIIQ", body, at)
            new(heap.arrays, object_id, struct.unpack_from(">%dQ" % count, body, at + 24))
            at += 24 + 8 * count
        else:
            check(tag == 0x23, "sub-record %x" % tag)
            object_id, _, count, kind = struct.unpack_from(">QIIB", body, at)
            new(heap.primitives, object_id, body[at + 17:at + 17 + count * WIDTH[kind]])
            at += 17 + count * WIDTH[kind]
    check(at == len(body), "a sub-record ends outside its segment")


def read_class(heap, body, at):
    owner = Class()
    object_id, _, owner.super = struct.unpack_from(">QIQ", body, at)
    owner.size = struct.unpack_from(">I", body, at + 60)[0]
    at += 64
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(count):
        at += 3 + WIDTH[body[at + 2]]
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(count):
        name, kind = struct.unpack_from(">QB", body, at)
        owner.statics[name] = (kind, int.from_bytes(body[at + 9:at + 9 + WIDTH[kind]], "big"))
        at += 9 + WIDTH[kind]
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(count):
        owner.fields.append(struct.unpack_from(">QB", body, at))
        at += 9
    new(heap.classes, object_id, owner)
    return at
