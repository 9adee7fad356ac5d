"""bin/hprof reads what OpenTelemetry's eBPF profiler sends: a request of OTLP for a whole machine, with native frames that have no function
but a place in a file, kernel frames, Java's with their signatures, and times in place of values.

ebpf_otlp_test.py PROGRAM

The request is made here as that profiler's reporter does (reporter/internal/pdata/generate.go, August 2026). With opentelemetry-proto
installed its decoder says the totals, too.
"""
import os
import subprocess
import sys
import tempfile
import unittest

from support import ROOT  # noqa: F401

PROGRAM = os.path.abspath(sys.argv.pop(1))
try:
    from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import ExportProfilesServiceRequest
except ImportError:
    ExportProfilesServiceRequest = None


def varint(value):
    made = bytearray()
    while value > 0x7f:
        made.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(made + bytes([value]))


def field(number, value):
    """A number, a message or text, or a list of numbers, packed."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, list):
        value = b"".join(map(varint, value))
    return varint(number << 3 | 2) + varint(len(value)) + value


def times(number, values):
    packed = b"".join(value.to_bytes(8, "little") for value in values)
    return varint(number << 3 | 2) + varint(len(packed)) + packed


class Set:
    """Numbers of distinct items, in the order of their first use."""

    def __init__(self, first):
        self.items = [first]

    def add(self, item):
        if item not in self.items:
            self.items.append(item)
        return self.items.index(item)


class Request:
    """The reporter's: one dictionary, a resource for each process, a profile for each type of its events."""

    def __init__(self):
        self.strings, self.functions, self.mappings, self.stacks, self.locations, self.attributes = (Set(b"") for _ in range(6))
        self.resources = b""

    def string(self, text):
        return self.strings.add(text.encode())

    def attribute(self, key, value):
        any_value = field(3, value) if isinstance(value, int) else field(1, value.encode())
        return self.attributes.add(field(1, self.string(key)) + field(2, any_value))

    def location(self, kind, address=0, mapping=None, function=None, file="", line=0):
        made = b""
        if mapping:
            name, begin, end, offset = mapping
            build_id = self.attribute("process.executable.build_id.gnu", "0123abcd")
            made += field(1, self.mappings.add(field(1, begin) + field(2, end) + field(3, offset) + field(4, self.string(name)) +
                                               field(5, [build_id])))
        made += field(2, address)
        if function is not None:
            index = self.functions.add(field(1, self.string(function)) + field(3, self.string(file)))
            made += field(3, field(1, index) + field(2, line))
        return self.locations.add(made + field(4, [self.attribute("profile.frame.type", kind)]))

    def sample(self, frames, thread, tid, stamps, values=()):
        stack = self.stacks.add(field(1, [self.location(**frame) for frame in frames]))
        made = field(1, stack) + field(2, [self.attribute("thread.name", thread), self.attribute("thread.id", tid),
                                           self.attribute("cpu.logical_number", 1)])
        return field(2, made + (field(4, list(values)) if values else b"") + times(5, stamps))

    def profile(self, kind, unit, samples, period=0):
        made = field(1, field(1, self.string(kind)) + field(2, self.string(unit))) + b"".join(samples)
        made += varint(3 << 3 | 1) + (10**18).to_bytes(8, "little") + field(4, 5 * 10**9)
        if period:
            made += field(5, field(1, self.string("cpu")) + field(2, self.string("nanoseconds"))) + field(6, period)
        return field(2, made)

    def resource(self, pid, path, *profiles):
        def text(key, value):
            return field(1, field(1, key.encode()) + field(2, value))

        attributes = (text("process.pid", field(3, pid)) + text("process.executable.path", field(1, path.encode())) +
                      text("process.executable.name", field(1, os.path.basename(path).encode())))
        scope = field(1, field(1, b"ebpf-profiler") + field(2, b"v0.0.0"))
        self.resources += field(1, field(1, attributes) + field(2, scope + b"".join(profiles)))

    def bytes(self):
        tables = ((1, self.mappings), (2, self.locations), (3, self.functions), (4, Set(b"")), (5, self.strings), (6, self.attributes),
                  (7, self.stacks))
        return self.resources + field(2, b"".join(field(number, item) for number, table in tables for item in table.items))


LIBJVM = ("libjvm.so", 0x7f0000001000, 0x7f0001000000, 0x2000)
LIBC = ("libc.so.6", 0x7f1000000000, 0x7f1000200000, 0x28000)
KERNEL = [{"kind": "kernel", "address": 0xffffffff81000010, "mapping": ("vmlinux", 0, 0, 0), "function": "native_write_msr.cold.0"},
          {"kind": "kernel", "address": 0xffffffff81000020, "mapping": ("vmlinux", 0, 0, 0)}]
JAVA = [{"kind": "jvm", "address": 12, "function": "void demo.Shop.sell(int, java.lang.String)", "file": "Shop.java", "line": 12},
        {"kind": "jvm", "address": 40, "function": "int demo.Shop$Cart.total()", "file": "Shop.java", "line": 40},
        {"kind": "jvm", "address": 3, "function": "StubRoutines (1)"}]
NATIVE = [{"kind": "native", "address": 0x9f3a2, "mapping": LIBC}, {"kind": "native", "address": 0x7f0000001234, "mapping": LIBJVM}]


def recording():
    request = Request()
    stamps = [10**18 + i for i in range(9)]
    request.resource(4711, "/usr/lib/jvm/17/bin/java",
                     request.profile("samples", "count", [request.sample(KERNEL + NATIVE + JAVA, "http-1", 4712, stamps[:4]),
                                                          request.sample(JAVA, "http-2", 4713, stamps[4:6]),
                                                          request.sample(JAVA[:1] + [{"kind": "abort-marker"}], "http-2", 4713, stamps[6:7])],
                                     10**9 // 20),
                     request.profile("off_cpu", "nanoseconds", [request.sample(NATIVE + JAVA, "http-1", 4712, stamps[:2], (3000000, 4000000))]))
    request.resource(815, "/usr/sbin/nginx",
                     request.profile("samples", "count", [request.sample(NATIVE[:1], "nginx", 815, stamps[:2])], 10**9 // 20))
    return request.bytes()


def decoded_totals(data):
    """By sample type, as OpenTelemetry's own classes read them."""
    request = ExportProfilesServiceRequest()
    request.ParseFromString(data)
    strings, totals = request.dictionary.string_table, {}
    for resource in request.resource_profiles:
        for scope in resource.scope_profiles:
            for profile in scope.profiles:
                kind = strings[profile.sample_type.type_strindex]
                sums = (sum(sample.values) if sample.values else len(sample.timestamps_unix_nano) for sample in profile.samples)
                totals[kind] = totals.get(kind, 0) + sum(sums)
    return totals


class Recording(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "machine.otlp.pb")
        self.data = recording()
        with open(self.path, "wb") as file:
            file.write(self.data)

    def said(self, *arguments):
        run = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual((run.returncode, run.stderr), (0, b""), str(arguments))
        return run.stdout.decode()

    def folded(self):
        path = self.path + ".collapsed"
        self.said("convert", self.path, "--to=collapsed", "--table=cpu_samples", "-o", path)
        with open(path, encoding="utf-8") as file:
            return sorted(line.rstrip("\n") for line in file)

    def test_totals_are_those_of_the_decoder(self):
        text = self.said("print", self.path)
        self.assertIn("CPU SAMPLES, samples 9 in the rows", text)
        self.assertIn("off_cpu, off_cpu 7.0 ms in the rows", text)
        if ExportProfilesServiceRequest is not None:
            self.assertEqual(decoded_totals(self.data), {"samples": 9, "off_cpu": 7000000})

    def test_each_frame_has_a_name(self):
        text = self.said("print", self.path, "--traces", "--top=0")
        for name in ("[libc.so.6+0x9f3a2]", "[libjvm.so+0x2234]", "[vmlinux+0xffffffff81000020]", "native_write_msr.cold.0",
                     "demo.Shop.sell(Shop.java:12)", "demo.Shop$Cart.total(Shop.java:40)", "StubRoutines (1)", "[abort-marker]"):
            self.assertIn(name, text)

    def test_processes_and_threads_are_told_apart(self):
        text = self.said("print", self.path, "--top=0")
        self.assertRegex(text, r"0\.00% +77\.78% +0 +\[java:4711\]\n")
        self.assertRegex(text, r"0\.00% +22\.22% +0 +\[nginx:815\]\n")
        rows = [line.split() for line in self.said("print", self.path, "--threads").split("off_cpu")[0].splitlines() if "%" in line]
        self.assertEqual(sorted((row[2], row[1]) for row in rows), [("http-1", "4"), ("http-2", "3"), ("nginx", "2")])

    def test_pages_and_other_formats_take_it(self):
        self.said("view", self.path, "-o", self.path + ".html")
        java = "[java:4711];StubRoutines_(1);demo/Shop$Cart.total;demo/Shop.sell"
        folded = self.folded()
        self.assertIn(java + " 2", folded)
        self.assertIn(java + ";[libjvm.so+0x2234];[libc.so.6+0x9f3a2];[vmlinux+0xffffffff81000020];native_write_msr.cold.0 4", folded)
        self.assertIn("[java:4711];[abort-marker];demo/Shop.sell 1", folded)


unittest.main()
