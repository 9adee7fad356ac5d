"""Retained sizes of small heap dumps by their definition, under the rules of whoever is to be checked.

Nothing here is fast or clever: references, roots and rules stand side by side, and dominators are found by iteration (K. D. Cooper,
T. J. Harvey and K. Kennedy, "A simple, fast dominance algorithm", 2001). Ids are numbers; 0 stands for all GC roots.
"""
import mmap
import struct

OBJECT = 2
SIZES = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
ROOT_REST = {0x01: "i", 0x02: "44", 0x03: "44", 0x04: "4", 0x05: "", 0x06: "4", 0x07: "", 0x08: "44", 0xff: ""}
ON_STACK = (0x02, 0x03, 0x04, 0x06)
REFERENCES = ["java.lang.ref." + kind + "Reference" for kind in ("Soft", "Weak", "Phantom", "Final")]


class Class:
    def __init__(self):
        self.statics, self.parts, self.fields = [], [], []
        self.super = 0


class Dump:
    """The first dump of a file: classes {id: Class}, objects {id: (class id or None, [reference])}, weak {id: referent}, finals (ids of
    the FinalReferences among these), roots [(id, tag, thread serial)] in their order, threads {serial: id}."""

    def __init__(self, path):
        self.classes, self.objects, self.weak, self.finals, self.roots, self.threads = {}, {}, {}, set(), [], {}
        self.texts, self.names, self.layouts, self.by_name = {}, {}, {}, {}
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as self.data:
            at = self.data.find(b"\0") + 1
            self.width = struct.unpack_from(">I", self.data, at)[0]
            self.number = struct.Struct(">Q" if self.width == 8 else ">I")
            segments = []
            at += 12
            while at < len(self.data):
                tag, _, size = struct.unpack_from(">BII", self.data, at)
                at += 9
                if tag == 1:
                    self.texts[self.id(at)] = self.data[at + self.width:at + size].decode(errors="replace")
                elif tag == 2:
                    self.names[self.id(at + 4)] = self.id(at + 8 + self.width)
                elif tag in (0x0c, 0x1c):
                    segments.append((at, at + size))
                at += size
            self.later = []
            for begin, end in segments:
                self.segment(begin, end)
            self.finish()

    def id(self, at):
        return self.number.unpack_from(self.data, at)[0]

    def segment(self, at, end):
        width, data = self.width, self.data
        while at < end:
            tag = data[at]
            at += 1
            if tag in ROOT_REST:
                rest = ROOT_REST[tag]
                thread = struct.unpack_from(">I", data, at + width)[0] if tag in (0x02, 0x03, 0x04, 0x06, 0x08) else None
                self.roots.append((self.id(at), tag, thread))
                if tag == 0x08:
                    self.threads[thread] = self.id(at)
                at += width + sum(width if each == "i" else 4 for each in rest)
            elif tag == 0x20:
                at = self.class_dump(at)
            elif tag == 0x21:
                size = struct.unpack_from(">I", data, at + 2 * width + 4)[0]
                at += 2 * width + 8
                self.later.append((self.id(at - 2 * width - 8), self.id(at - width - 4), at))
                at += size
            elif tag == 0x22:
                count = struct.unpack_from(">I", data, at + width + 4)[0]
                begin = at + 2 * width + 8
                found = struct.unpack_from(">%d%s" % (count, "Q" if width == 8 else "I"), data, begin)
                self.objects[self.id(at)] = self.id(begin - width), [each for each in found if each]
                at = begin + count * width
            elif tag == 0x23:
                count, kind = struct.unpack_from(">IB", data, at + width + 4)
                self.objects[self.id(at)] = None, []
                at += width + 9 + count * SIZES[kind]
            else:
                raise ValueError("sub-record 0x%x" % tag)

    def value(self, at):
        kind = self.data[at]
        return (self.id(at + 1), at + 1 + self.width) if kind == OBJECT else (0, at + 1 + SIZES[kind])

    def class_dump(self, at):
        width, data, found = self.width, self.data, Class()
        number = self.id(at)
        found.super = self.id(at + width + 4)
        found.parts = [self.id(at + width + 4 + i * width) for i in (0, 2, 3)]  # superclass, signers, protection domain
        found.statics = [self.id(at + 2 * width + 4)]  # the loader; all follow it
        at += 7 * width + 8
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        for _ in range(count):
            value, at = self.value(at + 2)
            found.parts.append(value)
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        for _ in range(count):
            value, at = self.value(at + width)
            found.statics.append(value)
        count = struct.unpack_from(">H", data, at)[0]
        at += 2
        for _ in range(count):
            found.fields.append((self.texts.get(self.id(at)), data[at + width]))
            at += width + 1
        self.classes[number] = found
        return at

    def chain(self, number):
        while number in self.classes:
            yield number
            number = self.classes[number].super

    def name(self, number):
        return self.texts.get(self.names.get(number), "").replace("/", ".")

    def layout(self, number):
        """[(offset, whether a referent)] of the references of a class's instances."""
        if number not in self.layouts:
            at, found = 0, []
            weak = any(self.name(each) in REFERENCES for each in self.chain(number))
            for each in self.chain(number):
                of_reference = weak and self.name(each) == "java.lang.ref.Reference"
                for field, kind in self.classes[each].fields:
                    if kind == OBJECT:
                        found.append((at, of_reference and field == "referent"))
                    at += self.width if kind == OBJECT else SIZES[kind]
            self.layouts[number] = found
        return self.layouts[number]

    def finish(self):
        for number, of_class, at in self.later:
            references = []
            for offset, referent in self.layout(of_class):
                value = self.id(at + offset)
                if value and referent:
                    self.weak[number] = value
                    if any(self.name(each) == "java.lang.ref.FinalReference" for each in self.chain(of_class)):
                        self.finals.add(number)
                elif value:
                    references.append(value)
            self.objects[number] = of_class, references
        del self.later


class Rules:
    """Which references keep objects alive."""

    def __init__(self, weak_reach, stacks, every_object, parts, finals=False):
        self.weak_reach = weak_reach      # also what only a weak reference reaches is alive
        self.stacks = stacks              # a thread holds its local variables; else they are roots
        self.every_object = every_object  # holds its class; else only the one that is found first
        self.parts = parts                # a class holds its superclass, signers, protection domain and constants, too
        self.finals = finals              # what waits for its finalizer is alive


class Graph:
    """What a dump's objects refer to under rules. edges {id: [id]}; entries: what 0 refers to. Stacks are ids below 0.

    also_weak: what is alive anyhow is held by weak references, too."""

    def __init__(self, dump, rules, also_weak=True):
        self.edges, self.entries = {}, []
        known = lambda each: each in dump.objects or each in dump.classes  # noqa: E731
        self.rooted = {each for each, tag, _ in dump.roots if tag not in ON_STACK}
        for number, each in dump.classes.items():
            self.edges[number] = [to for to in each.statics + (each.parts if rules.parts else []) if to and known(to)]
        for number, (of_class, references) in dump.objects.items():
            edges = [to for to in references if known(to)]
            if (rules.weak_reach or rules.finals and number in dump.finals) and known(dump.weak.get(number, 0)):
                edges.append(dump.weak[number])
            if rules.every_object and of_class in dump.classes and of_class not in self.rooted:
                edges.append(of_class)
            self.edges[number] = edges
        held = {}
        for number, tag, thread in dump.roots:
            if not known(number):
                continue
            if rules.stacks and tag in ON_STACK and dump.threads.get(thread) in dump.objects:
                held.setdefault(thread, []).append(number)
            else:
                self.entries.append(number)
        for thread, numbers in held.items():
            self.edges[-1 - thread] = numbers
            self.edges[dump.threads[thread]] = self.edges[dump.threads[thread]] + [-1 - thread]
        if not rules.every_object:
            self.first_objects(dump)
        if also_weak and not rules.weak_reach:
            self.referents(dump)

    def first_objects(self, dump):
        """A class that nothing else has reached yet is held by the first object of it, level by level from the roots."""
        roots, asked = set(self.entries), set()
        level, seen = list(self.entries), set(self.entries)
        while level:
            following = []
            for number in level:
                edges = self.edges[number]
                of_class = dump.objects.get(number, (None, []))[0]
                for to in edges:
                    if to not in seen:
                        seen.add(to)
                        following.append(to)
                if of_class in dump.classes and of_class not in asked:
                    asked.add(of_class)
                    if of_class not in seen and of_class not in roots:
                        seen.add(of_class)
                        following.append(of_class)
                        self.edges[number] = edges + [of_class]
            level = following

    def steps(self):
        """{id: references from the nearest root}"""
        found = {number: 0 for number in self.entries}
        level = list(found)
        while level:
            following = []
            for number in level:
                for to in self.edges[number]:
                    if to not in found:
                        found[to] = found[number] + 1
                        following.append(to)
            level = following
        return found

    def referents(self, dump):
        """What is alive anyhow is also held by weak references to it; what is held by something that is not alive is held by 0."""
        order = self.order()
        alive = set(order)
        for number, to in dump.weak.items():
            if to in alive:
                if number in alive:
                    self.edges[number] = self.edges[number] + [to]
                else:
                    self.entries.append(to)
        for number in list(self.edges):
            if number not in alive:
                self.entries += [to for to in self.edges[number] if to in alive]

    def order(self):
        """Depth-first postorder of what 0 reaches, itself last."""
        seen, order, stack = {0}, [], [(0, iter(self.entries))]
        while stack:
            number, rest = stack[-1]
            for to in rest:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(self.edges[to])))
                    break
            else:
                order.append(number)
                stack.pop()
        return order

    def retained(self, size_of, lost=()):
        """{id: bytes} of what is alive. lost: what these hold does not count for whoever holds them."""
        order = self.order()
        place = {number: i for i, number in enumerate(order)}
        before = {number: [] for number in order}
        for number in order:
            for to in self.entries if number == 0 else self.edges[number]:
                before[to].append(number)
        above, changed = {0: 0}, True
        while changed:
            changed = False
            for number in reversed(order[:-1]):
                best = None
                for other in before[number]:
                    if other not in above:
                        continue
                    while best is not None and best != other:
                        if place[best] < place[other]:
                            best = above[best]
                        else:
                            other = above[other]
                    best = other
                if above.get(number) != best:
                    above[number] = best
                    changed = True
        sizes = {number: size_of(number) if number > 0 else 0 for number in order}
        for number in order[:-1]:
            if number not in lost:
                sizes[above[number]] += sizes[number]
        return sizes
