"""Class files, as far as tests need them: what each line of a method calls, line tables that number the instructions, and the stacks that
they refute."""
import os
import re
import struct

from harness import check

# Bytes of the constants after their tag; a text has its own length.
CONSTANTS = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
# Operand bytes of the instructions that have some; tableswitch, lookupswitch and wide are read by instructions().
OPERANDS = {}
for first, last, size in ((16, 16, 1), (17, 17, 2), (18, 18, 1), (19, 20, 2), (21, 25, 1), (54, 58, 1), (132, 132, 2),
                          (153, 168, 2), (169, 169, 1), (178, 184, 2), (185, 186, 4), (187, 187, 2), (188, 188, 1),
                          (189, 189, 2), (192, 193, 2), (197, 197, 3), (198, 199, 2), (200, 201, 4)):
    OPERANDS.update(dict.fromkeys(range(first, last + 1), size))
TABLESWITCH, LOOKUPSWITCH, WIDE, IINC = 170, 171, 196, 132
INVOKES = (182, 183, 184, 185)  # virtual, special, static, interface
INVOKEDYNAMIC = 186
ANY = "*"  # an invokedynamic, or a call of a method handle, which may lead anywhere
HANDLES = ("java/lang/invoke/MethodHandle", "java/lang/invoke/VarHandle")
# Where stacks of Java code begin: in main, where a thread starts, and in what the VM calls itself.
ROOT = re.compile(r"\.(main|run|<clinit>)$|^(JVM|sun\.launcher|jdk\.internal)\.|^java\.util\.concurrent\.ForkJoin"
                  r"|^java\.lang\.(Shutdown|ThreadGroup|System|Thread)\.")
UNWALKED = ("JVM.no_java_frame", "JVM.not_seen_running", "JVM.unloaded_method")


class ClassFile:
    """calls: by the name of a method with code, by line: the names of the methods invoked there, or ANY. first: by that name, the lines
    at which such methods begin. renumbered: the file with a line table in which each instruction has a line of its own, its index
    plus one."""

    def __init__(self, data):
        self.data = data
        self.at = 8
        self.pool = [None]
        self.calls = {}
        self.first = {}
        self.overloaded = set()
        self.read_pool()
        out = [None, self.take(6)]
        self.name = self.text_of(struct.unpack(">H", out[1][2:4])[0]).replace("/", ".")
        count = self.u2()
        out.append(struct.pack(">H", count) + self.take(2 * count))
        out.append(self.members(None))
        out.append(self.members(self.code))
        out.append(data[self.at:])
        # The name of the attribute is a new last constant: a class without line tables has none.
        text = b"LineNumberTable"
        out[0] = (data[:8] + struct.pack(">H", len(self.pool) + 1) + data[10:self.end_of_pool] +
                  struct.pack(">BH", 1, len(text)) + text)
        self.renumbered = b"".join(out)

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def u2(self):
        return struct.unpack(">H", self.take(2))[0]

    def read_pool(self):
        count = self.u2()
        while len(self.pool) < count:
            tag = self.take(1)[0]
            if tag == 1:
                self.pool.append(self.take(self.u2()))
            else:
                self.pool.append((tag, self.take(CONSTANTS[tag])))
            if tag in (5, 6):
                self.pool.append(None)
        self.end_of_pool = self.at

    def text_of(self, index):
        """Of a text, a class, or the name of a method or of a name and type."""
        value = self.pool[index]
        while not isinstance(value, bytes):
            tag, operand = value
            value = self.pool[struct.unpack(">H", operand[2:] if tag in (10, 11) else operand[:2])[0]]
        return value.decode()

    def members(self, change):
        """Fields or methods, their Code as `change` wants it."""
        count = self.u2()
        out = [struct.pack(">H", count)]
        for _ in range(count):
            out.append(self.take(6))
            name = self.text_of(struct.unpack(">H", out[-1][2:4])[0])
            out.append(self.attributes(lambda body, name=name: change(name, body), "Code" if change else None))
        return b"".join(out)

    def attributes(self, change, wanted):
        count = self.u2()
        out = [struct.pack(">H", count)]
        for _ in range(count):
            name = self.take(2)
            body = self.take(struct.unpack(">I", self.take(4))[0])
            if wanted and self.text_of(struct.unpack(">H", name)[0]) == wanted:
                body = change(body)
            out.append(name + struct.pack(">I", len(body)) + body)
        return b"".join(out)

    def code(self, method, body):
        if method in self.calls:
            self.overloaded.add(method)
        calls = {}
        size = struct.unpack(">I", body[4:8])[0]
        code, rest = body[8:8 + size], 8 + size
        starts = []
        for bci in instructions(code):
            starts.append(bci)
            if code[bci] in INVOKES:
                calls[bci] = self.called(struct.unpack(">H", code[bci + 1:bci + 3])[0])
            elif code[bci] == INVOKEDYNAMIC:
                calls[bci] = ANY
        handlers = struct.unpack(">H", body[rest:rest + 2])[0]
        table = b"".join(struct.pack(">HH", bci, bci + 1) for bci in starts)
        line_table = struct.pack(">HIH", len(self.pool), len(table) + 2, len(starts)) + table
        outer, self.data, self.at = (self.data, self.at), body, rest + 2 + 8 * handlers
        kept = [self.data[:self.at]]
        others = []
        lines = {}
        for _ in range(self.u2()):
            name = self.take(2)
            length = self.take(4)
            attribute = name + length + self.take(struct.unpack(">I", length)[0])
            if self.text_of(struct.unpack(">H", name)[0]) != "LineNumberTable":
                others.append(attribute)
            else:
                lines.update(struct.unpack(">HH", attribute[at:at + 4]) for at in range(8, len(attribute), 4))
        self.add_lines(method, calls, lines)
        self.data, self.at = outer
        return b"".join(kept + [struct.pack(">H", len(others) + 1), line_table] + others)


    def called(self, index):
        """The name of the method that this constant stands for, or ANY."""
        owner = self.text_of(struct.unpack(">H", self.pool[index][1][:2])[0])
        name = self.text_of(index)
        return ANY if owner in HANDLES and not name.startswith("<") else name

    def add_lines(self, method, calls, lines):
        by_line = self.calls.setdefault(method, {})
        first = self.first.setdefault(method, set())
        first.update(line for bci, line in lines.items() if bci == 0)
        for bci, name in calls.items():
            start = max((at for at in lines if at <= bci), default=None)
            if start is not None:
                by_line.setdefault(lines[start], set()).add(name)


def instructions(code):
    """The indexes at which instructions begin."""
    bci = 0
    while bci < len(code):
        yield bci
        opcode = code[bci]
        aligned = (bci + 4) & ~3
        if opcode == TABLESWITCH:
            low, high = struct.unpack(">ii", code[aligned + 4:aligned + 12])
            bci = aligned + 12 + 4 * (high - low + 1)
        elif opcode == LOOKUPSWITCH:
            bci = aligned + 8 + 8 * struct.unpack(">i", code[aligned + 4:aligned + 8])[0]
        elif opcode == WIDE:
            bci += 6 if code[bci + 1] == IINC else 4
        else:
            bci += 1 + OPERANDS.get(opcode, 0)


def renumber(classes, prefix, folder):
    """Writes the class files of `classes` whose names begin with `prefix` to `folder`, renumbered."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(classes):
        if name.startswith(prefix) and name.endswith(".class"):
            with open(os.path.join(classes, name), "rb") as file:
                read = ClassFile(file.read())
            check(not read.overloaded, "%s has two methods %s, which stacks do not tell apart" % (name, read.overloaded))
            with open(os.path.join(folder, name), "wb") as file:
                file.write(read.renumbered)


def read_classes(folder):
    """{name: ClassFile}."""
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            read = ClassFile(file.read())
        found[read.name] = read
    return found


# Calls that the VM makes, where no instruction does: it loads, links and initialises classes, makes exceptions and lambdas.
BY_VM = re.compile(r"\.<clinit>$|^java\.lang\.(ClassLoader|Throwable|Module\w*)\.|[cC]lassLoader\w*\.|(Error|Exception)\.<init>$"
                   r"|^java\.lang\.invoke\.|\.security\.Protection|^JVM\.")


# Code outside of Java methods, which sampler=native puts on top: of libraries, the kernel, the VM's stubs.
OUTSIDE = re.compile(r"^(\[kernel\]|JVM|l[\w.+-]+\.so(\.\d+)*)\.")


def wrong_links(frames, classes):
    """The links of a stack, innermost frame first, which the bytecode refutes: the caller's line calls nothing of the callee's name. A frame
    is (method, anything, line)."""
    found = []
    frames = frames[1:] if OUTSIDE.match(frames[0][0]) else frames
    for callee, caller in zip(frames, frames[1:]):
        owner, method = caller[0].rsplit(".", 1)
        if owner not in classes or not caller[2].isdigit() or BY_VM.search(callee[0]):
            continue
        line, name = int(caller[2]), callee[0].rsplit(".", 1)[1]
        calls = classes[owner].calls.get(method)
        if calls is None:
            continue
        # The first bytecode index stands for unknown ones, too.
        called = set().union(*calls.values()) if line in classes[owner].first[method] else calls.get(line, ())
        if name not in called and ANY not in called:
            found.append("%s <- %s, line %d" % (callee[0], caller[0], line))
    return found
