"""Readers of format=collapsed, pprof, otlp, json and flamegraph: each gives the stacks of a report's tables, read strictly."""
import gzip
import json
import re
import struct

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
        if key & 7 == 1:
            check(at + 8 <= len(data), "the message is cut short")
            found.append((key >> 3, int.from_bytes(data[at:at + 8], "little")))
            at += 8
            continue
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
        self.labels = []
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
                labels[strings[label[1]]] = strings[label[2]] if 2 in label else label.get(3, 0)
        check_equal(len(values), len(self.types), "values of a sample")
        values = {name: value for (name, _), value in zip(self.types, values)}
        self.stacks.append((frames, values, labels.get("class", labels.get("monitor"))))
        self.labels.append(labels)


# --- OpenTelemetry's profiles

def attribute_value(data, strings=()):
    """A text, a number, or a text of the dictionary, as collectors write it."""
    (number, value), = fields(data)
    check(number in (1, 3, 8), "an attribute of kind %d" % number)
    return value.decode("utf-8") if number == 1 else strings[value] if number == 8 else value


class Otlp:
    """One request: the resource's attributes, and a table for each sample type, whose leaves are the samples' attributes and ids. Of
    events the table has the times, beside the stacks: lists of (time, value)."""

    def __init__(self, data, forwarded=False):
        """forwarded: a collector has written it, whose zero values are not empty."""
        top = dict(fields(data))
        check_equal((len(fields(data)), sorted(top)), (2, [1, 2]), "fields of the request")
        tables = {number: [] for number in range(1, 8)}
        for number, value in fields(top[2]):
            tables[number].append(value)
        for number, table in tables.items():
            check(table and (forwarded or table[0] == b""), "table %d does not begin with the zero value" % number)
            check(number == 4 or len(set(table)) == len(table), "table %d has an item twice" % number)
        self.strings = [text.decode("utf-8") for text in tables[5]]
        functions = [dict(fields(function)) for function in tables[3]]
        self.files = {self.strings[function.get(1, 0)]: self.strings[function.get(3, 0)] for function in functions}
        lines = [[dict(fields(line)) for number, line in fields(location) if number == 3] for location in tables[2]]
        self.frames = [[(self.strings[functions[line[1]][1]], line.get(2, 0)) for line in location] for location in lines]
        self.stacks = [packed(dict(fields(stack)).get(1, b"")) for stack in tables[7]]
        attributes = [dict(fields(attribute)) for attribute in tables[6]]
        self.attributes = [(self.strings[attribute[1]], attribute_value(attribute[2], self.strings)) for attribute in attributes[1:]]
        links = [dict(fields(link)) for link in tables[4]]
        self.links = [{}] + [{"trace_id": link[1].hex(), "span_id": link[2].hex()} for link in links[1:]]
        resource = dict(fields(top[1]))
        pairs = [dict(fields(value)) for number, value in fields(resource[1]) if number == 1]
        self.resource = {self.strings[pair[3]] if 3 in pair else pair[1].decode("utf-8"): attribute_value(pair[2], self.strings)
                         for pair in pairs}
        check_equal(len(self.resource), len(pairs), "keys of the resource")
        scope = fields(resource[2])
        self.scope = tuple(value.decode() for _, value in fields(dict(scope)[1]))
        self.profiles = {}
        for number, value in scope:
            if number == 2:
                self.add_profile(fields(value))

    def type_of(self, data):
        of = dict(fields(data))
        return tuple(self.strings[of.get(number, 0)] for number in (1, 2))

    def add_profile(self, profile):
        facts = {number: value for number, value in profile if number != 2}
        name, unit = self.type_of(facts[1])
        check(name not in self.profiles, "two profiles of %s" % name)
        table = self.profiles[name] = Table(name)
        table.unit, table.time_ns, table.duration_ns, table.id = unit, facts[3], facts[4], facts[7]
        table.period = (self.type_of(facts[5]), facts[6]) if facts.get(5) else None
        table.lines, table.times = {}, []
        samples = set()
        for sample in (dict(fields(value)) for number, value in profile if number == 2):
            places = [frame for index in self.stacks[sample[1]] for frame in self.frames[index]]
            table.lines.update(places)
            values, times = packed(sample[4]), [time for time, in struct.iter_unpack("<Q", sample.get(5, b""))]
            check_equal(len(values), len(times) if 5 in sample else 1, "values of a sample")
            check(all(0 <= time - table.time_ns < table.duration_ns for time in times), "a time outside of its profile")
            indices = packed(sample.get(2, b""))
            attributes = dict(self.attributes[index - 1] for index in indices)
            check_equal(len(attributes), len(indices), "keys of attributes")
            attributes.update(self.links[sample.get(3, 0)])
            table.stacks.append(([frame for frame, _ in places], {name: sum(values)}, attributes))
            table.times.append(list(zip(times, values)))
            samples.add((sample[1], frozenset(indices), sample.get(3, 0)))
        check_equal(len(samples), len(table.stacks), "samples of their own")
        check(table.stacks and len(table.id) == 16, "an empty profile, or one without an id")


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
                name = cells[leaf[0]] if leaf else None
                name = name["name"] if isinstance(name, dict) else name or None
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
