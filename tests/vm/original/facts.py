"""What a report says, as {fact: number or text}, read without strictness: the original's reports go through it, too.

Facts about the program's own classes (names that begin with the program's) are exact. Those about the JDK's classes, which
depend on what each agent itself makes the VM do, are left out or stand in totals.
"""
import collections
import re
import struct

FRAME = re.compile(r"^\t(.*)\((.*):(.*)\)$")
BEGIN = re.compile(r"^([A-Z][A-Z ]*?(?: \(ms\))?) BEGIN(?: \((.*)\))?(?: \w{3} \w{3} .*)?$")
CPU_ROW = re.compile(r"^ *\d+ +[\d.]+% +[\d.]+% +(\d+) +(\d+) (\S+)$")
SITE_ROW = re.compile(r"^ *\d+ +[\d.]+% +[\d.]+% +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) (\S+)$")
MONITOR_ROW = re.compile(r"^ *\d+ +[\d.]+% +[\d.]+% +(\d+) +(\d+) (\S+) \((\S+)\)$")
OLD_ROW = re.compile(r"^(\d+) (\S+) (\S+|<unknown caller>) (\d+)$")
THREAD = re.compile(r'^THREAD START \(obj=\w+, id = \d+, name="(.*)", group="(.*)"\)$')
ROOT = re.compile(r"^ROOT \w+ \(kind=(<[^>]*>)")
OBJECT = re.compile(r"^(OBJ|ARR) \w+ \(sz=(\d+), trace=(\d+), (?:nelems=\d+, elem )?(?:class|type)=([^@)]*)")
ROOT_KINDS = {0xff: "unknown", 1: "JNI global ref", 2: "JNI local ref", 3: "Java stack", 4: "native stack",
              5: "system class", 6: "thread block", 7: "busy monitor", 8: "thread"}
ROOT_SIZES = {0xff: (1, 0), 1: (2, 0), 2: (1, 8), 3: (1, 8), 4: (1, 4), 5: (1, 0), 6: (1, 4), 7: (1, 0), 8: (1, 8)}
WIDTHS = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
TAGS = {0x01: "STRING", 0x02: "LOAD CLASS", 0x03: "UNLOAD CLASS", 0x04: "FRAME", 0x05: "TRACE", 0x06: "ALLOC SITES",
        0x07: "HEAP SUMMARY", 0x0A: "START THREAD", 0x0B: "END THREAD", 0x0C: "HEAP DUMP", 0x0D: "CPU SAMPLES",
        0x0E: "CONTROL SETTINGS", 0x1C: "HEAP DUMP SEGMENT", 0x2C: "HEAP DUMP END"}


class Facts:
    def __init__(self, program):
        self.program = program
        self.counts = collections.Counter()
        self.traces = {}  # serial -> innermost method

    def own(self, name):
        """Of the program: Main, Main$Inner, Main.method, arrays of these."""
        return re.match(r"\[*L?%s([.$;\[]|$)" % re.escape(self.program), name) is not None

    def add(self, fact, count=1):
        self.counts[plain(fact)] += count


def read(data, program):
    """{fact: count} of a report in either format; None for one that is neither."""
    facts = Facts(program)
    if data.startswith(b"JAVA PROFILE 1.0.") and b"\0" in data[:24]:
        read_binary(facts, data)
    elif data.startswith(b"JAVA PROFILE 1.0."):
        read_text(facts, data.decode("utf-8", "replace").split("\n"))
    elif data:
        facts.add("header " + data.split(b"\n")[0].decode("utf-8", "replace"))
        for line in data.decode("utf-8", "replace").split("\n"):
            row = OLD_ROW.match(line)
            if row and facts.own(row.group(2)):
                facts.add("old calls of %s by %s" % (row.group(2), caller(facts, row.group(3))), int(row.group(1)))
    return dict(facts.counts)


def plain(name):
    """Without what differs from run to run: Main$$Lambda$1.1364614850 or Main$$Lambda$1/1364614850 is Main$$Lambda."""
    return re.sub(r"\$\$Lambda(\$[\d./]+)?", "$$Lambda", name)


def caller(facts, name):
    return name if facts.own(name) else "others"


def read_text(facts, lines):
    facts.add("header " + lines[0].split(", ")[0])
    at = next(i for i, line in enumerate(lines) if line.startswith("--------")) + 1
    section = None
    while at < len(lines):
        line = lines[at]
        at += 1
        begins = BEGIN.match(line)
        if section is None and begins:
            section = begins.group(1)
            facts.add("section " + section)
            section_total(facts, section, begins.group(2) or "")
        elif section and line == section + " END":
            section = None
        elif section:
            read_row(facts, section, line)
        elif line.startswith("TRACE "):
            at = read_trace(facts, lines, at)
        elif THREAD.match(line):
            facts.add("THREAD START of %s in %s" % THREAD.match(line).groups())
        elif line.strip() and not line.startswith("\t"):
            found = re.match(r"^(THREAD END|WAIT: MONITOR \S+?;|WAITED: MONITOR \S+?;|HEAP SUMMARY|HPROF NOTE|[A-Z][A-Z ]*)", line)
            name = "record " + (found.group(1) if found else line)
            # How often a program waits for a thread that ends, and whether at all, depends on which one is faster.
            if "Ljava/lang/Thread;" not in name:
                facts.add(name, 0 if name.startswith("record WAIT") and name in facts.counts else 1)


def section_total(facts, section, argument):
    if section == "HEAP DUMP":
        objects, size = re.match(r"(\d+) objects, (\d+) bytes", argument).groups()
        facts.add("heap dump objects in all", int(objects))
        facts.add("heap dump bytes in all", int(size))
    elif section == "SITES":
        facts.add("SITES " + argument)
    elif argument and not re.match(r"total = \d+( ms)?$", argument):
        facts.add("total of %s: %s" % (section, argument))


def read_trace(facts, lines, at):
    serial = re.match(r"TRACE (\d+):", lines[at - 1]).group(1)
    facts.add("record TRACE")
    first = None
    while at < len(lines) and lines[at].startswith("\t"):
        found = FRAME.match(lines[at])
        if first is None:
            first = found.group(1) if found else lines[at].strip()
        at += 1
    facts.traces[serial] = first or ""
    return at


def read_row(facts, section, line):
    if section in ("CPU SAMPLES", "CPU TIME (ms)"):
        row = CPU_ROW.match(line)
        if row and section == "CPU TIME (ms)" and facts.own(row.group(3)):
            facts.add("calls of " + row.group(3), int(row.group(1)))
        elif row and section == "CPU SAMPLES" and facts.own(row.group(3)):
            facts.add("samples in " + row.group(3), int(row.group(1)))
    elif section == "SITES":
        row = SITE_ROW.match(line)
        if row and facts.own(row.group(6)):
            add_site(facts, row.group(6), [int(row.group(i)) for i in range(1, 5)])
    elif section == "MONITOR TIME":
        row = MONITOR_ROW.match(line)
        if row:
            facts.add("contention at %s on %s (%s)" % (facts.traces.get(row.group(2)), row.group(3), row.group(4)), int(row.group(1)))
    elif section == "MONITOR DUMP":
        found = re.match(r"^ +(THREAD|MONITOR) .*?(status: \S+)?$", line)
        if found:
            facts.add("monitor dump %s %s" % (found.group(1), found.group(2) or ""))
    elif section == "HEAP DUMP":
        read_heap_line(facts, line)


def add_site(facts, name, numbers):
    for what, number in zip(("live bytes", "live objects", "allocated bytes", "allocated objects"), numbers):
        facts.add("site %s: %s" % (name, what), number)


def read_heap_line(facts, line):
    root, thing = ROOT.match(line), OBJECT.match(line)
    if root:
        facts.add("root " + root.group(1))
    elif thing:
        facts.add("heap " + thing.group(1))
        if facts.own(thing.group(4)):
            facts.add("heap %s %s" % (thing.group(1), thing.group(4)))
            facts.add("heap %s %s bytes" % (thing.group(1), thing.group(4)), int(thing.group(2)))
            facts.add("heap %s %s allocated in %s" % (thing.group(1), thing.group(4), facts.traces.get(thing.group(3))))
    elif line.startswith("CLS "):
        facts.add("heap CLS")
        name = re.search(r"name=([^,)]*)", line).group(1)
        if facts.own(name):
            facts.add("heap CLS " + name)
    elif line.startswith("\t"):
        facts.add("heap line " + re.sub(r"\d+", "", re.match(r"^\t(super|loader|signers|domain|static|constant pool entry|)", line).group(1)))


# --- binary ---

class Binary:
    def __init__(self, width):
        self.width = width
        self.strings, self.names, self.objects, self.frames, self.traces = {}, {}, {}, {}, {}

    def id(self, data, at):
        return int.from_bytes(data[at:at + self.width], "big")

    def name(self, table, key):
        """A class by serial number (names) or by object (objects), as text has it."""
        return plain(table.get(key, "?").replace("/", "."))

    def method(self, trace):
        """Class.method of the innermost frame. Not before it is asked for: the original writes LOAD CLASS after FRAME."""
        frame = self.traces.get(trace)
        if frame is None:
            return "<empty>"
        serial, method = self.frames[frame]
        return "%s.%s" % (self.name(self.names, serial), self.strings.get(method))


def read_binary(facts, data):
    end = data.index(b"\0")
    facts.add("header " + data[:end].decode())
    width = struct.unpack_from(">I", data, end + 1)[0]
    facts.add("identifiers of %d bytes" % width)
    dump = Binary(width)
    at = end + 13
    while at + 9 <= len(data):
        tag, _, length = struct.unpack_from(">BII", data, at)
        body = data[at + 9:at + 9 + length]
        at += 9 + length
        facts.add("record " + TAGS.get(tag, "0x%02x" % tag))
        read_record(facts, dump, tag, body)


def read_record(facts, dump, tag, body):
    width = dump.width
    if tag == 0x01:
        dump.strings[dump.id(body, 0)] = body[width:].decode("utf-8", "replace")
    elif tag == 0x02:
        serial = struct.unpack_from(">I", body)[0]
        name = dump.strings.get(dump.id(body, 8 + width), "?")
        dump.names[serial], dump.objects[dump.id(body, 4)] = name, name
        if name.startswith("[") or "/" in plain(name):
            facts.counts["a class name as in class files"] = 1
    elif tag == 0x04:
        serial, line = struct.unpack_from(">Ii", body, 4 * width)
        if line < 0:
            facts.counts["a frame in line %d" % line] = 1
        dump.frames[dump.id(body, 0)] = (serial, dump.id(body, width))
    elif tag == 0x05:
        serial, _, count = struct.unpack_from(">III", body)
        dump.traces[serial] = dump.id(body, 12) if count else None
    elif tag == 0x06:
        read_sites(facts, dump, body)
    elif tag == 0x0D:
        for i in range(struct.unpack_from(">I", body, 4)[0]):
            count, trace = struct.unpack_from(">II", body, 8 + 8 * i)
            method = dump.method(trace)
            if facts.own(method):
                facts.add("samples in " + method, count)
    elif tag == 0x0A:
        facts.add("START THREAD of %s in %s" % tuple(
            dump.strings.get(dump.id(body, 8 + width + i * width), "") for i in (0, 1)))
    elif tag in (0x0C, 0x1C):
        read_segment(facts, dump, body)


def read_sites(facts, dump, body):
    flags, cutoff = struct.unpack_from(">HI", body)
    facts.add("ALLOC SITES flags %d" % flags)
    for i in range(struct.unpack_from(">I", body, 30)[0]):
        _, serial, _, live_bytes, live, made_bytes, made = struct.unpack_from(">BIIIIII", body, 34 + 25 * i)
        name = dump.name(dump.names, serial)
        if facts.own(name):
            add_site(facts, name, (live_bytes, live, made_bytes, made))


def read_segment(facts, dump, body):
    at, width = 0, dump.width
    while at < len(body):
        tag = body[at]
        at += 1
        if tag in ROOT_SIZES:
            facts.add("root " + ROOT_KINDS[tag])
            ids, more = ROOT_SIZES[tag]
            at += ids * width + more
        elif tag == 0x20:
            at = read_class(facts, dump, body, at)
        elif tag == 0x21:
            name = dump.name(dump.objects, dump.id(body, at + width + 4))
            heap_object(facts, dump, "INSTANCE", name, struct.unpack_from(">I", body, at + width)[0])
            at += 2 * width + 8 + struct.unpack_from(">I", body, at + 2 * width + 4)[0]
        elif tag == 0x22:
            name = dump.name(dump.objects, dump.id(body, at + width + 8))
            heap_object(facts, dump, "OBJECT ARRAY", name, struct.unpack_from(">I", body, at + width)[0])
            at += 2 * width + 8 + width * struct.unpack_from(">I", body, at + width + 4)[0]
        elif tag == 0x23:
            facts.add("heap PRIMITIVE ARRAY")
            count, kind = struct.unpack_from(">IB", body, at + width + 4)
            at += width + 9 + count * WIDTHS[kind]
        else:
            raise ValueError("sub-record 0x%02x" % tag)


def heap_object(facts, dump, kind, name, trace):
    facts.add("heap " + kind)
    if facts.own(name):
        facts.add("heap %s %s" % (kind, name))
        facts.add("heap %s %s allocated in %s" % (kind, name, dump.method(trace)))


def read_class(facts, dump, body, at):
    name = dump.name(dump.objects, dump.id(body, at))
    width = dump.width
    at += 7 * width + 8
    count = struct.unpack_from(">H", body, at)[0]
    at += 2
    facts.add("heap constant pool entries", count)
    for _ in range(count):
        at += 3 + (width if body[at + 2] == 2 else WIDTHS[body[at + 2]])
    statics = struct.unpack_from(">H", body, at)[0]
    at += 2
    for _ in range(statics):
        kind = body[at + width]
        at += width + 1 + (width if kind == 2 else WIDTHS[kind])
    fields = struct.unpack_from(">H", body, at)[0]
    at += 2 + fields * (width + 1)
    facts.add("heap CLASS")
    if facts.own(name):
        facts.add("heap CLASS %s: fields" % name, fields)
        facts.add("heap CLASS %s: static fields" % name, statics)
    return at
