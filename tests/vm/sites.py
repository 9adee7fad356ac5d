"""Tables of allocation sites, read out of reports in format=a."""
import re

from harness import Failure, check

HEADINGS = ["          percent          live          alloc'ed  stack class",
            " rank   self  accum     bytes objs     bytes  objs trace name"]
ROW = re.compile(r"^ *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) (\S+)$")


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
        check(section.lines[:2] == HEADINGS, "headings: %r" % section.lines[:2])
        rows = []
        for line in section.lines[2:]:
            match = ROW.match(line)
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
