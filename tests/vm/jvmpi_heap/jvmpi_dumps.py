"""Reads the heap dumps of JVMPI strictly: every byte is accounted for by what CLASS_LOAD said (tests/vm/jvmpi/dump.c)."""
import struct
import sys

from harness import check

WIDTH = {"Z": 1, "B": 1, "C": 2, "S": 2, "I": 4, "F": 4, "J": 8, "D": 8}
TYPES = {4: "Z", 5: "C", 6: "F", 7: "D", 8: "B", 9: "S", 10: "I", 11: "J"}
ROOTS = {0xff: "Q", 1: "QQ", 2: "QQI", 3: "QQI", 4: "QQ", 5: "Q", 6: "QQ", 7: "Q"}  # I: a count


class Class:
    def __init__(self, interfaces, name):
        self.interfaces = interfaces
        self.name = name
        self.statics, self.fields = [], []  # (type, name) in the order of CLASS_LOAD


def read_classes(text):
    classes, last = {}, None
    for line in text.splitlines():
        kind, first, second = line.split(" ", 2)
        if kind == "c":
            interfaces, name = second.split(" ", 1)
            check(int(first, 16) not in classes, "class %s twice" % name)
            last = classes[int(first, 16)] = Class(int(interfaces), name)
        else:
            (last.statics if kind == "s" else last.fields).append((first[0], second))
    return classes


class Dump:
    """values: the level has primitive ones."""

    def __init__(self, data, classes, values, width=8):
        self.data, self.classes, self.values, self.width = data, classes, values, width
        self.at = 0
        self.roots, self.supers, self.statics = [], {}, {}
        self.element_classes = set()
        self.instances, self.arrays, self.primitives = {}, {}, {}  # class and bytes; elements; type, count and bytes
        self.records = {}
        seen_object = False
        while self.at < len(data):
            begin, tag = self.at, data[self.at]
            self.at += 1
            if tag in ROOTS:
                check(not seen_object, "a root behind objects")
                self.roots.append((tag,) + tuple(self.number() if part == "I" else self.id() for part in ROOTS[tag]))
                continue
            seen_object = True
            number = self.id()
            check(number not in self.records, "object %x twice" % number)
            self.read(tag, number)
            self.records[number] = data[begin:self.at]
        check(self.at == len(data), "the last record ends outside")

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def id(self):
        return int.from_bytes(self.take(self.width), sys.byteorder)

    def number(self, width=4):
        return int.from_bytes(self.take(width), "big")

    def value(self, kind):
        if kind in "L[":
            return self.id()
        return self.number(WIDTH[kind]) if self.values else None

    def read(self, tag, number):
        if tag == 0x20:
            check(number in self.classes, "class %x is not known" % number)
            cls = self.classes[number]
            self.supers[number] = self.id()
            self.take(5 * self.width)
            self.number()
            self.take(cls.interfaces * self.width)
            check(self.number(2) == 0, "constants of %s" % cls.name)
            self.statics[number] = {name: (kind, self.value(kind)) for kind, name in cls.statics}
        elif tag == 0x21:
            owner = self.id()
            self.instances[number] = (owner, self.take(self.number()))
        elif tag == 0x22:
            count = self.number()
            self.element_classes.add(self.id())
            self.arrays[number] = [self.id() for _ in range(count)]
        else:
            check(tag == 0x23, "record %x at %d" % (tag, self.at))
            count, kind = self.number(), self.data[self.at]
            self.at += 1
            check(kind in TYPES, "array of %d" % kind)
            self.primitives[number] = self.take(count * WIDTH[TYPES[kind]] if self.values else 0)

    def class_named(self, name):
        found = [number for number, cls in self.classes.items() if cls.name == name]
        check(len(found) == 1, "%d classes %s" % (len(found), name))
        return found[0]

    def fields(self, number):
        """Of an instance: {name: (type, value)}, of the class before its super's."""
        owner, data = self.instances[number]
        whole, at, values = (self.data, self.at), 0, {}
        self.data, self.at = data, 0
        while owner:
            for kind, name in self.classes[owner].fields:
                values.setdefault(name, (kind, self.value(kind)))
            check(owner in self.supers, "class %x has no dump" % owner)
            owner = self.supers[owner]
        at = self.at
        self.data, self.at = whole
        check(at == len(data), "instance %x has %d bytes, its classes say %d" % (number, len(data), at))
        return values

    def dangling(self):
        """References to what has no record."""
        missing = [root[1] for root in self.roots if root[1] not in self.records]
        missing += [cls for cls in self.element_classes if cls and cls not in self.records]
        for elements in self.arrays.values():
            missing += [e for e in elements if e and e not in self.records]
        for values in self.statics.values():
            missing += [v for kind, v in values.values() if kind in "L[" and v and v not in self.records]
        for number in self.instances:
            missing += [v for kind, v in self.fields(number).values() if kind in "L[" and v and v not in self.records]
        return missing[:10]


def read_level_0(data, width=8):
    size = 1 + width
    check(len(data) % size == 0, "level 0 is cut off")
    return {int.from_bytes(data[at + 1:at + size], sys.byteorder): data[at] for at in range(0, len(data), size)}
