"""Strict readers of what the agent writes. They refuse whatever one of the programs in the field would choke on.

The ASCII reader follows gprof2dot and hprof2flamegraph: their regular expressions, six fields separated by blanks in a row
of a CPU table, traces right before the table that names them, no trace without frames. The binary reader follows jhat,
Eclipse MAT, VisualVM and hprof-slurp: known tags only, exact lengths, times that never decrease, everything before its
first user.
"""
import functools
import json
import re
import struct

from harness import Failure, check

TRACE = re.compile(r"^TRACE (\d+):$")
TRACE_OF_THREAD = re.compile(r"^TRACE (\d+): \(thread=(\d+)\)$")
FRAME = re.compile(r"^\t(.*)\((.*):(.*)\)$")
THREAD_START = re.compile(r'^THREAD START \(obj=([0-9a-f]+), id = (\d+), name="(.*)", group="(.*)"\)$')
THREAD_END = re.compile(r"^THREAD END \(id = (\d+)\)$")
DATE = r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \d{4}"
HEADER = re.compile(r"^JAVA PROFILE 1\.0\.1, created %s$" % DATE)
BEGIN = re.compile(r"^([A-Z][A-Z ]*?(?: \(ms\))?) BEGIN(?: \((.*?)\))?(?: (%s))?$" % DATE)
SUMMARY = re.compile(r"^HEAP SUMMARY \(live bytes = (\d+), live objects = (\d+), allocated bytes = (\d+), "
                     r"allocated objects = (\d+)\)$")
NOTE = "HPROF NOTE: "
TABLE_LINE = re.compile(r"^([A-Z][A-Z_]*): ((?:[a-z_]+=\S* ?)+)$")
# The rows of tables that would have none: gprof2dot waits for ever for the end of a table without rows.
NO_SAMPLES = "JVM.no_samples"
NOTHING = (" " + NO_SAMPLES, " JVM.nothing_in_this_window")
HEAP_ENTRY = re.compile(r"^(ROOT|CLS|OBJ|ARR) ([0-9a-f]+) \((.*)\)$")
NO_THREAD = 200000
CPU_SECTIONS = ("CPU SAMPLES", "CPU TIME (ms)")
CPU_HEADING = "rank   self  accum   count trace method"
CPU_ROW = re.compile(r"^ *\d+ +\d+\.\d\d% +\d+\.\d\d% +\d+ +\d+ \S+$")


class Trace:
    def __init__(self, serial, thread):
        self.serial = serial
        self.thread = thread
        self.frames = []  # (Class.method, source file, line), innermost first


class Row:
    def __init__(self, rank, self_percent, accum_percent, count, trace, method):
        self.rank = rank
        self.self_percent = self_percent
        self.accum_percent = accum_percent
        self.count = count
        self.trace = trace
        self.method = method


class Section:
    """A part between BEGIN and END."""

    def __init__(self, name, argument, lines, traces_before):
        self.name = name
        self.argument = argument
        self.lines = lines
        self.traces_before = traces_before  # serials of the TRACEs that stand right before it
        self.rows = []
        self.total = None


class Ascii:
    def __init__(self):
        self.summaries = []  # [live bytes, live objects, allocated bytes, allocated objects]
        self.threads = []   # (object, id, name, group)
        self.ended = []     # ids
        self.traces = {}    # serial -> Trace
        self.sections = []
        self.table_lines = []  # (title, {column: text}) of tables that the original does not have
        self.notes = []     # what the agent says about its result: losses, costs

    def cpu(self, name="CPU SAMPLES"):
        """The CPU sections of that name; at least one."""
        found = [section for section in self.sections if section.name == name]
        check(found, "no %s section" % name)
        return found

    def heap(self):
        """The one heap dump: (objects and bytes as its head says, [(ROOT, CLS, OBJ or ARR, object, {field: value})])."""
        section, = [section for section in self.sections if section.name == "HEAP DUMP"]
        head = re.match(r"^(\d+) objects, (\d+) bytes$", section.argument)
        check(head, "the head of the heap dump: %r" % section.argument)
        entries = []
        for line in section.lines:
            if not line.startswith("\t"):
                found = HEAP_ENTRY.match(line)
                check(found, "a line of the heap dump: %r" % line)
                entries.append((found.group(1), found.group(2), dict(part.split("=", 1) for part in found.group(3).split(", "))))
        return (int(head.group(1)), int(head.group(2))), entries


def parse_ascii(text, thread_ids=False):
    """A report in format=a, checked; thread_ids: made with thread=y."""
    check(text.endswith("\n"), "the report does not end with a line end")
    check("\r" not in text, "a carriage return in the report")
    lines = text[:-1].split("\n")
    check(HEADER.match(lines[0]), "header: %r" % lines[0])
    check(lines[1] == "", "no empty line after the header")
    try:
        start = next(i for i, line in enumerate(lines) if line.startswith("------"))
    except StopIteration:
        raise Failure("no -------- line after the explanation")
    check(lines[start] == "--------" and lines[start + 1] == "", "the explanation ends with %r" % lines[start:start + 2])
    # hprof2flamegraph looks for these anywhere in the file.
    for line in lines[2:start]:
        check(not re.search(r"CPU (SAMPLES|TIME \(ms\)) BEGIN|^TRACE \d", line), "a record in the explanation: %r" % line)
    report = Ascii()
    reader = Lines(lines, start + 2)
    while reader.more():
        parse_record(reader, report, thread_ids)
    return report


class Lines:
    def __init__(self, lines, position):
        self.lines = lines
        self.position = position

    def more(self):
        return self.position < len(self.lines)

    def peek(self):
        return self.lines[self.position] if self.more() else ""

    def take(self):
        self.position += 1
        return self.lines[self.position - 1]

    def where(self):
        return "line %d" % self.position


def parse_record(reader, report, thread_ids):
    line = reader.peek()
    if line.startswith("TRACE "):
        before = []
        while reader.peek().startswith("TRACE "):
            before.append(parse_trace(reader, report, thread_ids))
        # gprof2dot takes one run of traces and wants the table next.
        if BEGIN.match(reader.peek()):
            parse_section(reader, report, before)
    elif THREAD_START.match(line):
        found = THREAD_START.match(reader.take())
        # A thread that is named anew has another one.
        report.threads = [known for known in report.threads if known[:2] != (found.group(1), int(found.group(2)))]
        report.threads.append((found.group(1), int(found.group(2)), found.group(3), found.group(4)))
    elif THREAD_END.match(line):
        thread = int(THREAD_END.match(reader.take()).group(1))
        check(thread in [known[1] for known in report.threads], "%s: the end of an unknown thread" % reader.where())
        report.ended.append(thread)
    elif BEGIN.match(line):
        parse_section(reader, report, [])
    elif SUMMARY.match(line):
        report.summaries.append([int(word) for word in SUMMARY.match(reader.take()).groups()])
    elif TABLE_LINE.match(line):
        title, words = TABLE_LINE.match(reader.take()).groups()
        report.table_lines.append((title, dict(word.split("=", 1) for word in words.split(" "))))
    elif line.startswith(NOTE):
        report.notes.append(reader.take()[len(NOTE):])
    else:
        raise Failure("line %d is no record: %r" % (reader.position + 1, line))


def parse_trace(reader, report, thread_ids):
    line = reader.take()
    found = (TRACE_OF_THREAD if thread_ids else TRACE).match(line)
    check(found, "%s: %r" % (reader.where(), line))
    serial = int(found.group(1))
    check(serial >= 300000 and serial not in report.traces, "%s: trace %d again, or out of range" % (reader.where(), serial))
    trace = Trace(serial, int(found.group(2)) if thread_ids else None)
    if thread_ids:
        check(trace.thread == NO_THREAD or trace.thread in [known[1] for known in report.threads], "%s: a trace of an unknown thread" % reader.where())
    # 300000, of what has no stack; in heap dumps also that of a thread that runs no Java code.
    if reader.peek() == "\t<empty>":
        reader.take()
        report.traces[serial] = trace
        return serial
    check(serial != 300000, "%s: frames in the empty trace" % reader.where())
    while reader.peek().startswith("\t"):
        trace.frames.append(parse_frame(reader.take()))
    check(trace.frames, "%s: trace %d has no frames" % (reader.where(), serial))
    report.traces[serial] = trace
    return serial


@functools.lru_cache(maxsize=None)  # a report repeats few frames in many traces
def parse_frame(line):
    found = FRAME.match(line)
    check(found, "not a frame: %r" % line)
    method, source, number = found.groups()
    check(not re.search(r"\s", method), "a blank in a name: %r" % line)
    check(number == "Unknown line" or re.match(r"^[1-9]\d*$", number), "line number %r" % line)
    check(method.count(".") >= 1 or method.startswith("<"), "no class: %r" % line)
    return method, source, number


def parse_section(reader, report, before):
    name, argument, _ = BEGIN.match(reader.take()).groups()[:3]
    first = reader.where()
    lines = []
    while reader.more() and reader.peek() != name + " END":
        check(not BEGIN.match(reader.peek()), "%s: %s begins inside %s" % (reader.where(), reader.peek(), name))
        lines.append(reader.take())
    check(reader.more(), "%s: %s without its END" % (first, name))
    reader.take()
    section = Section(name, argument, lines, before)
    if name in CPU_SECTIONS:
        parse_cpu(section, report, first)
    report.sections.append(section)


def parse_cpu(section, report, where):
    found = re.match(r"^total = (\d+)$", section.argument or "")
    check(found, "%s: total: %r" % (where, section.argument))
    section.total = int(found.group(1))
    check(section.lines[:1] == [CPU_HEADING], "%s: heading %r" % (where, section.lines[:1]))
    check(len(section.lines) > 1, "%s: a table without rows" % where)
    if section.total == 0 and section.name == "CPU SAMPLES":  # calls may take less than a millisecond in all
        check(len(section.lines) == 2 and section.lines[1].endswith(NOTHING), "%s: rows of nothing" % where)
    accum, last = 0, None
    for rank, line in enumerate(section.lines[1:], 1):
        fields = line.split()
        check(len(fields) == 6 and CPU_ROW.match(line), "%s: not six fields: %r" % (where, line))
        row = Row(int(fields[0]), float(fields[1][:-1]), float(fields[2][:-1]), int(fields[3]), int(fields[4]), fields[5])
        check(row.rank == rank, "%s: rank %d in place %d" % (where, row.rank, rank))
        check(row.trace in report.traces, "%s: trace %d is unknown" % (where, row.trace))
        check(report.traces[row.trace].frames, "%s: the trace of %r is empty" % (where, line))
        check(report.traces[row.trace].frames[0][0] == row.method, "%s: method of %r is not its trace's first" % (where, line))
        # In CPU TIME the percentages are of the cost, which is not printed; count is the number of calls.
        weight = row.count if section.name == "CPU SAMPLES" else row.self_percent
        scale = 100.0 / max(section.total, 1) if section.name == "CPU SAMPLES" else 1.0
        check(last is None or weight <= last, "%s: the rows are not in order at %r" % (where, line))
        last = weight
        accum += weight
        for shown, real in ((row.self_percent, weight), (row.accum_percent, accum)):
            check(abs(shown - real * scale) <= 0.006 * (rank if scale == 1.0 else 1) + 0.005,
                  "%s: a percentage is wrong: %r" % (where, line))
        section.rows.append(row)
    check(accum * scale <= 100.01 + 0.006 * len(section.rows) * (scale == 1.0), "%s: the rows add up to more than the total" % where)


# --- allocation sites ----------------------------------------------------------------------------------------------

SITE_HEADINGS = ["          percent          live          alloc'ed  stack class",
            " rank   self  accum     bytes objs     bytes  objs trace name"]
SITE_ROW = re.compile(r"^ *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) (\S+)$")


class SiteRow:
    def __init__(self, words):
        self.rank = int(words[0])
        self.live_bytes, self.live, self.bytes, self.objects, self.trace = map(int, words[3:8])
        self.name = words[8]


def tables(report):
    """The rows of each SITES section, in order."""
    found = []
    for section in report.sections:
        if section.name != "SITES":
            continue
        check(section.lines[:2] == SITE_HEADINGS, "headings: %r" % section.lines[:2])
        rows = []
        for line in section.lines[2:]:
            match = SITE_ROW.match(line)
            if not match:
                raise Failure("a row of SITES: %r" % line)
            rows.append(SiteRow(match.groups()))
            check(rows[-1].rank == len(rows), "rank: %r" % line)
            check(rows[-1].trace in report.traces, "no trace before %r" % line)
        found.append(rows)
    check(found, "no SITES section")
    return found


def by_class(rows):
    """{class: [objects, bytes, live objects, live bytes]}"""
    found = {}
    for row in rows:
        sums = found.setdefault(row.name, [0, 0, 0, 0])
        for i, value in enumerate((row.objects, row.bytes, row.live, row.live_bytes)):
            sums[i] += value
    return found


def by_method(report, rows, owner):
    """{method of the class `owner`, the first from the top: {class: objects}}"""
    found = {}
    for row in rows:
        for method, _, _ in report.traces[row.trace].frames:
            if method.startswith(owner + "."):
                classes = found.setdefault(method[len(owner) + 1:], {})
                classes[row.name] = classes.get(row.name, 0) + row.objects
                break
    return found


# --- JSON ----------------------------------------------------------------------------------------------------------

def json_tables(text, name):
    """[(report, [{column: cell}])] of the tables of that name; methods and traces as Class.method, traces also as stack."""
    frames, traces, report, found, into = {}, {}, None, [], None
    for line in text.splitlines():
        record = json.loads(line)
        kind = record["record"]
        if kind == "frame":
            frames[record["id"]] = "%s.%s" % (record["class"], record["method"])
        elif kind == "trace":
            traces[record["id"]] = [frames[frame] for frame in record["frames"]]
        elif kind == "report_begin":
            report = record
        elif kind == "table":
            into = []
            if record["name"] == name:
                found.append((report, into))
        elif kind == "row":
            cells = dict(record["cells"])
            if "trace" in cells:
                cells["stack"] = traces[cells["trace"]]
                if len(cells["stack"]) == 1:
                    cells["method"] = cells["stack"][0]
            into.append(cells)
    return found


# --- monitors ------------------------------------------------------------------------------------------------------

MONITOR_EVENT = re.compile(r"^(WAIT|WAITED): MONITOR (\[*[BCDFIJSZ]|\[*L[^;\s]+;), (timeout|time_waited)=(\d+), thread (\d+)$")
MONITOR_ROW = re.compile(r"^ *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) (\S+) \((Java|java\.util\.concurrent)\)$")
DUMP_THREAD = re.compile(r"^    THREAD (\d+), trace (\d+), status: ((?:S\|)?(?:intr\|)?(?:native\|)?(?:R|SL|MW|CW|ZO|NS|UN))$")
DUMP_MONITOR = re.compile(r"^    MONITOR (\S+)( unowned)?$")
DUMP_OWNER = re.compile(r"^\towner: (?:thread (\d+)|<unknown thread>), entry count: (\d+)$")
DUMP_ENTER = re.compile(r"^\twaiting to enter:((?: thread \d+,?)*)$")
DUMP_NOTIFY = re.compile(r"^\twaiting to be notified:((?: thread \d+,?)*)$")


class Event:
    def __init__(self, what, monitor, time, thread):
        self.what = what
        self.monitor = monitor
        self.time = time
        self.thread = thread


class Time:
    """A MONITOR TIME section."""

    def __init__(self, total):
        self.total = total
        self.rows = []  # (count, trace, class, label, self percent)


class Dump:
    def __init__(self):
        self.threads = {}   # id -> (trace, status)
        self.monitors = []  # {signature, owner (None: unowned, 0: unknown), entries, enter, notify}


class Monitors:
    def __init__(self, report):
        self.report = report
        self.events = []
        self.times = []
        self.dumps = []

    def thread(self, name):
        found = [number for _, number, known, _ in self.report.threads if known == name]
        check(len(found) == 1, "%d threads with the name %r" % (len(found), name))
        return found[0]

    def top_frames(self):
        """The methods of the trace in which the most time was lost, of the last report."""
        return [frame[0] for frame in self.report.traces[self.times[-1].rows[0][1]].frames]

    def top(self):
        return self.top_frames()[0]


def parse_monitors(text, thread_ids=False):
    lines = text.split("\n")
    events = [MONITOR_EVENT.match(line) for line in lines if line.startswith(("WAIT: ", "WAITED: "))]
    check(all(events), "a wait line is malformed")
    rest = "\n".join(line for line in lines if not line.startswith(("WAIT: ", "WAITED: ")))
    result = Monitors(parse_ascii(rest, thread_ids))
    for found in events:
        check((found.group(1) == "WAIT") == (found.group(3) == "timeout"), "%s: %s" % (found.group(1), found.group(3)))
        result.events.append(Event(found.group(1), found.group(2), int(found.group(4)), int(found.group(5))))
    for section in result.report.sections:
        if section.name == "MONITOR TIME":
            result.times.append(parse_time(section, result.report))
        if section.name == "MONITOR DUMP":
            result.dumps.append(parse_dump(section, result.report))
    return result


def parse_time(section, report):
    found = re.match(r"^total = (\d+) ms$", section.argument or "")
    check(found, "total: %r" % section.argument)
    time = Time(int(found.group(1)))
    check(section.lines[:1] == ["rank   self  accum   count trace monitor"], "heading %r" % section.lines[:1])
    accum = 0.0
    for rank, line in enumerate(section.lines[1:], 1):
        row = MONITOR_ROW.match(line)
        check(row and int(row.group(1)) == rank, "row %d: %r" % (rank, line))
        trace, share = int(row.group(5)), float(row.group(2))
        check(trace in report.traces, "trace %d is unknown" % trace)
        check(not time.rows or share <= time.rows[-1][4], "not in order: %r" % line)
        accum += share
        check(abs(float(row.group(3)) - accum) <= 0.01 * (rank + 1), "accum: %r" % line)
        time.rows.append((int(row.group(4)), trace, row.group(6), row.group(7), share))
    check(time.rows, "a table without rows")
    return time


def numbers(text):
    return [int(word.rstrip(",")) for word in text.split() if word != "thread"]


def parse_dump(section, report):
    dump, lines = Dump(), list(section.lines)
    known = {number for _, number, _, _ in report.threads}
    while lines and lines[0].startswith("    THREAD "):
        found = DUMP_THREAD.match(lines[0])
        check(found, "thread: %r" % lines[0])
        number, trace = int(found.group(1)), int(found.group(2))
        check(number in known and number not in dump.threads, "thread %d is unknown, or there twice" % number)
        check(trace in report.traces, "trace %d is unknown" % trace)
        dump.threads[number] = (trace, found.group(3))
        lines.pop(0)
    while lines:
        found = DUMP_MONITOR.match(lines.pop(0))
        check(found, "not a monitor")
        monitor = {"signature": found.group(1), "owner": None, "entries": 0}
        if not found.group(2):
            owner = DUMP_OWNER.match(lines.pop(0))
            check(owner, "no owner after %r" % found.group(0))
            monitor["owner"], monitor["entries"] = int(owner.group(1) or 0), int(owner.group(2))
        enter, notify = DUMP_ENTER.match(lines.pop(0)), DUMP_NOTIFY.match(lines.pop(0))
        check(enter and notify, "the lists of %r" % found.group(0))
        monitor["enter"], monitor["notify"] = numbers(enter.group(1)), numbers(notify.group(1))
        for thread in monitor["enter"] + monitor["notify"]:
            check(thread in dump.threads, "thread %d is in a list only" % thread)
        # A thread is parked on a lock of java.util.concurrent.
        enters = "CW" if "/concurrent/" in monitor["signature"] else "MW"
        for thread in monitor["enter"]:
            check(dump.threads[thread][1].endswith(enters), "thread %d enters as %s" % (thread, dump.threads[thread][1]))
        for thread in monitor["notify"]:
            check(dump.threads[thread][1].endswith("CW"), "thread %d waits as %s" % (thread, dump.threads[thread][1]))
        dump.monitors.append(monitor)
    return dump


# --- binary ---------------------------------------------------------------------------------------------------------

TAGS = {0x01: "UTF8", 0x02: "LOAD CLASS", 0x03: "UNLOAD CLASS", 0x04: "FRAME", 0x05: "TRACE", 0x06: "ALLOC SITES",
        0x07: "HEAP SUMMARY", 0x0A: "START THREAD", 0x0B: "END THREAD", 0x0C: "HEAP DUMP", 0x0D: "CPU SAMPLES",
        0x0E: "CONTROL SETTINGS", 0x1C: "HEAP DUMP SEGMENT", 0x2C: "HEAP DUMP END"}
EXACT = {0x07: 24, 0x0B: 4, 0x0E: 6, 0x2C: 0}


class Binary:
    def __init__(self, version, id_size, time_ms):
        self.version = version
        self.id_size = id_size
        self.time_ms = time_ms
        self.records = []    # (tag name, microseconds, body)
        self.strings = {}    # id -> bytes
        self.classes = {}    # serial -> (object id, trace serial, name id)
        self.frames = {}     # id -> (method, signature, source, class serial, line)
        self.traces = {}     # serial -> (thread serial, [frame id])
        self.threads = {}    # serial -> (object id, trace serial, name, group, parent group)
        self.samples = []    # [(total, [(count, trace serial)])]

    def named(self, tag):
        return [body for name, _, body in self.records if name == tag]

    def frame_text(self, frame):
        """Class.method, as format=a prints it."""
        method, _, _, serial, _ = self.frames[frame]
        name = self.strings[self.classes[serial][2]].decode("utf-8", "surrogateescape")
        return "%s.%s" % (name.replace("/", "."), self.strings[method].decode("utf-8", "surrogateescape"))


class Body:
    """Big-endian fields, one after the other; reading past the end is a failure, and so is a rest."""

    def __init__(self, data, id_size, what):
        self.data = data
        self.id_size = id_size
        self.what = what
        self.position = 0

    def number(self, size, signed=False):
        part = self.data[self.position:self.position + size]
        check(len(part) == size, "%s: too short" % self.what)
        self.position += size
        return int.from_bytes(part, "big", signed=signed)

    def u4(self):
        return self.number(4)

    def id(self):
        return self.number(self.id_size)

    def end(self):
        check(self.position == len(self.data), "%s: %d bytes too long" % (self.what, len(self.data) - self.position))


def parse_binary(data):
    """A report in format=b, checked."""
    end = data.find(b"\0")
    check(end == 18, "no header")
    version = data[:end].decode()
    check(version in ("JAVA PROFILE 1.0.1", "JAVA PROFILE 1.0.2"), "header: %r" % version)
    id_size, time_ms = struct.unpack(">IQ", data[end + 1:end + 13])
    check(id_size in (4, 8), "identifiers of %d bytes" % id_size)
    report = Binary(version, id_size, time_ms)
    position, last = end + 13, 0
    while position < len(data):
        check(position + 9 <= len(data), "a record header is cut off at %d" % position)
        tag, time, length = struct.unpack(">BII", data[position:position + 9])
        check(tag in TAGS, "unknown tag 0x%02x at %d" % (tag, position))
        check(position + 9 + length <= len(data), "%s at %d is cut off" % (TAGS[tag], position))
        check(length > 0 or tag == 0x2C, "%s of length 0 at %d" % (TAGS[tag], position))
        check(EXACT.get(tag, length) == length, "%s of length %d at %d" % (TAGS[tag], length, position))
        check(time >= last, "time goes back at %d" % position)
        check(tag not in (0x1C, 0x2C) or version.endswith("2"), "%s in a 1.0.1 file" % TAGS[tag])
        last = time
        body = data[position + 9:position + 9 + length]
        report.records.append((TAGS[tag], time, body))
        reader = READERS.get(tag)
        if reader:
            reader(report, Body(body, id_size, "%s at %d" % (TAGS[tag], position)))
        position += 9 + length
    check(report.records and report.records[0][0] == "CONTROL SETTINGS", "CONTROL SETTINGS is not first")
    return report


def known(table, key, body, what, zero=True):
    check((zero and key == 0) or key in table, "%s: %s %d comes later or never" % (body.what, what, key))


def read_utf8(report, body):
    key = body.id()
    check(key != 0 and key not in report.strings, "%s: string %d again" % (body.what, key))
    report.strings[key] = body.data[body.position:]


def read_load_class(report, body):
    serial, object_id, trace, name = body.u4(), body.id(), body.u4(), body.id()
    body.end()
    known(report.strings, name, body, "string", zero=False)
    check(serial != 0 and serial not in report.classes, "%s: class %d again" % (body.what, serial))
    report.classes[serial] = (object_id, trace, name)


def read_unload_class(report, body):
    serial = body.u4()
    body.end()
    known(report.classes, serial, body, "class", zero=False)


def read_frame(report, body):
    key, method, signature, source = body.id(), body.id(), body.id(), body.id()
    serial, line = body.u4(), body.number(4, signed=True)
    body.end()
    for string, zero in ((method, False), (signature, False), (source, True)):
        known(report.strings, string, body, "string", zero)
    known(report.classes, serial, body, "class")
    check(line >= -3, "%s: line %d" % (body.what, line))
    report.frames[key] = (method, signature, source, serial, line)


def read_trace(report, body):
    serial, thread, count = body.u4(), body.u4(), body.u4()
    frames = [body.id() for _ in range(count)]
    body.end()
    for frame in frames:
        known(report.frames, frame, body, "frame", zero=False)
    check(serial not in report.traces, "%s: trace %d again" % (body.what, serial))
    report.traces[serial] = (thread, frames)


def read_start_thread(report, body):
    serial, object_id, trace = body.u4(), body.id(), body.u4()
    names = [body.id() for _ in range(3)]
    body.end()
    for name in names:
        known(report.strings, name, body, "string")
    # 300000 is the system trace: named, never written.
    check(trace in (0, 300000) or trace in report.traces, "%s: trace %d comes later or never" % (body.what, trace))
    report.threads[serial] = (object_id, trace, *names)


def read_cpu_samples(report, body):
    total, count = body.u4(), body.u4()
    rows = [(body.u4(), body.u4()) for _ in range(count)]
    body.end()
    for _, trace in rows:
        known(report.traces, trace, body, "trace", zero=False)
        check(report.traces[trace][1], "%s: trace %d has no frames" % (body.what, trace))
    check(sum(row[0] for row in rows) <= total, "%s: the rows add up to more than the total" % body.what)
    report.samples.append((total, rows))


READERS = {0x01: read_utf8, 0x02: read_load_class, 0x03: read_unload_class, 0x04: read_frame, 0x05: read_trace,
           0x0A: read_start_thread, 0x0D: read_cpu_samples}
