"""Readers of format=collapsed, pprof, json and flamegraph: each gives the stacks of a report's tables, read strictly."""
import gzip
import json
import re

from harness import Failure, check, check_equal


class Table:
    """Stacks are (frames, values, leaf): names of methods, innermost first; a value by the name of its column; what stands
    on top of the stack: a class, or None."""

    def __init__(self, name):
        self.name = name
        self.stacks = []

    def self_by_method(self, column):
        sums = {}
        for frames, values, _ in self.stacks:
            if frames and values[column]:
                sums[frames[0]] = sums.get(frames[0], 0) + values[column]
        return sums

    def by_method_and_class(self, owner, column):
        """{first method of the class `owner` from the top: {leaf: sum}}"""
        found = {}
        for frames, values, leaf in self.stacks:
            for method in frames:
                if method.startswith(owner + "."):
                    leaves = found.setdefault(method[len(owner) + 1:], {})
                    leaves[leaf] = leaves.get(leaf, 0) + values[column]
                    break
        return found


def parse_collapsed(text, column, has_leaf):
    """The one table of a file, whose numbers are those of `column`."""
    table = Table("collapsed")
    for line in text.splitlines():
        match = re.match(r"^(\S+) ([1-9]\d*)$", line)
        if not match:
            raise Failure("a line of folded stacks: %r" % line)
        frames = [frame.replace("/", ".") for frame in match.group(1).split(";")]
        check(all(frames), "an empty frame: %r" % line)
        leaf = frames.pop() if has_leaf else None
        table.stacks.append((frames[::-1], {column: int(match.group(2))}, leaf))
    return table


# --- profile.proto

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """[(number, int or bytes)] of a message."""
    found, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        check(key & 7 in (0, 2), "wire type %d" % (key & 7))
        if key & 7 == 2:
            check(at + value <= len(data), "the message is cut short")
            data_of, at = data[at:at + value], at + value
            value = data_of
        found.append((key >> 3, value))
    return found


def packed(data):
    found, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


class Pprof(Table):
    def __init__(self, data):
        super().__init__("pprof")
        top = fields(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        strings = [value.decode("utf-8") for number, value in top if number == 6]
        check_equal(strings[0], "", "the first string")
        functions, lines = {}, {}
        for number, value in top:
            if number == 5:
                function = dict(fields(value))
                check(function[1] not in functions, "a function is there twice")
                functions[function[1]] = strings[function[2]]
        for number, value in top:
            if number == 4:
                location = dict(fields(value))
                check(location[1] not in lines, "a location is there twice")
                lines[location[1]] = functions[dict(fields(location[4]))[1]]
        self.types = [tuple(strings[dict(fields(value))[i]] for i in (1, 2)) for number, value in top if number == 1]
        scalars = {number: value for number, value in top if isinstance(value, int) and number != 13}
        self.time_ns, self.duration_ns = scalars.get(9), scalars.get(10)
        self.default = strings[scalars[14]]
        self.comments = [strings[value] for number, value in top if number == 13]
        for number, value in top:
            if number == 2:
                self.add_sample(fields(value), strings, lines)

    def add_sample(self, sample, strings, lines):
        frames, values, labels = [], [], {}
        for number, value in sample:
            if number == 1:
                frames = [lines[place] for place in packed(value)]
            elif number == 2:
                values = packed(value)
            else:
                label = dict(fields(value))
                labels[strings[label[1]]] = strings[label[2]]
        check_equal(len(values), len(self.types), "values of a sample")
        values = {name: value for (name, _), value in zip(self.types, values)}
        self.stacks.append((frames, values, labels.get("class", labels.get("monitor"))))


# --- JSON lines

class Json:
    def __init__(self, text):
        self.records = [json.loads(line) for line in text.splitlines()]
        check_equal([self.records[0]["record"], self.records[-1]["record"]], ["begin", "end"], "first and last record")
        self.tables = []
        frames, traces = {}, {}
        for record in self.records:
            kind = record["record"]
            if kind == "frame":
                frames[record["id"]] = "%s.%s" % (record["class"], record["method"])
            elif kind == "trace":
                traces[record["id"]] = [frames[frame] for frame in record["frames"]]
            elif kind == "table":
                table = Table(record["name"])
                table.head = record
                self.tables.append(table)
                leaf = [column["name"] for column in record["columns"] if "leaf" in column["flags"]]
            elif kind == "row":
                cells = record["cells"]
                name = cells[leaf[0]]["name"] if leaf and cells[leaf[0]] else None
                table.stacks.append((traces[cells["trace"]] if "trace" in cells else [], cells, name))
        for table in self.tables:
            check_equal(len(table.stacks), table.head["rows"], "rows of %s" % table.name)

    def named(self, kind):
        return [record for record in self.records if record["record"] == kind]


# --- the page

class Page:
    """The tables in the data of the page."""

    def __init__(self, text):
        end = "</script></body></html>\n"
        check(text.endswith(end), "the page has no end")
        at = text.rindex('id="data">')
        self.tables, self.reports, self.notes = [], [], []
        strings, classes, frames, traces = {}, {}, {}, {}
        last, table = [], None
        for line in text[at + len('id="data">'):-len(end)].splitlines():
            kind, field = line[0], line[2:].split("\t")
            if kind == "s":
                strings[field[0]] = field[1].replace("\\u003c", "<").replace("\\\\", "\\")
            elif kind == "c":
                classes[field[0]] = strings[field[1]]
            elif kind == "f":
                frames[field[0]] = "%s.%s" % (classes[field[1]], strings[field[2]])
            elif kind == "t":
                rest = field[3:]
                stack = []
                if rest and rest[0].startswith("="):
                    stack = last[:int(rest[0][1:])]
                    rest = rest[1:]
                last = stack + [frames[frame] for frame in rest]
                traces[field[0]] = last
            elif kind == "r":
                self.reports.append(field)
            elif kind == "n":
                self.notes.append(line[2:])
            elif kind == "T":
                table = Table(field[0])
                columns = []
                self.tables.append(table)
            elif kind == "C":
                columns.append((field[0], int(field[1]), int(field[2])))
            elif kind == "d":
                cells = dict(zip([name for name, _, _ in columns], field))
                leaf = [classes.get(cells[name]) for name, _, flags in columns if flags & 32]
                values = {name: int(cells[name]) for name, _, flags in columns if flags & 1}
                table.stacks.append((traces[cells["trace"]][::-1], values, leaf[0] if leaf else None))
