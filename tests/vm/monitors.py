"""Readers of what monitor= writes. Strict, as in reports.py."""
import re

from harness import check
from reports import parse_ascii

EVENT = re.compile(r"^(WAIT|WAITED): MONITOR (\[*[BCDFIJSZ]|\[*L[^;\s]+;), (timeout|time_waited)=(\d+), thread (\d+)$")
ROW = re.compile(r"^ *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) (\S+) \((Java|java\.util\.concurrent)\)$")
THREAD = re.compile(r"^    THREAD (\d+), trace (\d+), status: ((?:S\|)?(?:intr\|)?(?:native\|)?(?:R|SL|MW|CW|ZO|NS|UN))$")
MONITOR = re.compile(r"^    MONITOR (\S+)( unowned)?$")
OWNER = re.compile(r"^\towner: (?:thread (\d+)|<unknown thread>), entry count: (\d+)$")
ENTER = re.compile(r"^\twaiting to enter:((?: thread \d+,?)*)$")
NOTIFY = re.compile(r"^\twaiting to be notified:((?: thread \d+,?)*)$")


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
    events = [EVENT.match(line) for line in lines if line.startswith(("WAIT: ", "WAITED: "))]
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
        row = ROW.match(line)
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
        found = THREAD.match(lines[0])
        check(found, "thread: %r" % lines[0])
        number, trace = int(found.group(1)), int(found.group(2))
        check(number in known and number not in dump.threads, "thread %d is unknown, or there twice" % number)
        check(trace in report.traces, "trace %d is unknown" % trace)
        dump.threads[number] = (trace, found.group(3))
        lines.pop(0)
    while lines:
        found = MONITOR.match(lines.pop(0))
        check(found, "not a monitor")
        monitor = {"signature": found.group(1), "owner": None, "entries": 0}
        if not found.group(2):
            owner = OWNER.match(lines.pop(0))
            check(owner, "no owner after %r" % found.group(0))
            monitor["owner"], monitor["entries"] = int(owner.group(1) or 0), int(owner.group(2))
        enter, notify = ENTER.match(lines.pop(0)), NOTIFY.match(lines.pop(0))
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
