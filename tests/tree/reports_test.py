"""The readers of the VM tests refuse what readers in the field choke on."""
import os
import struct
import sys
import unittest

from support import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "vm"))
from harness import Failure  # noqa: E402
from reports import parse_ascii, parse_binary  # noqa: E402

TEXT = """JAVA PROFILE 1.0.1, created Sat Nov 21 04:59:57 2026

What the records mean.
--------

THREAD START (obj=50000181, id = 200001, name="main", group="main")
TRACE 300001:
\tSpin.hot(Spin.java:8)
\tSpin.main(Spin.java:40)
TRACE 300002:
\tjava.lang.Object.wait(Object.java:Unknown line)
CPU SAMPLES BEGIN (total = 4) Sat Nov 21 04:59:58 2026
rank   self  accum   count trace method
   1 75.00% 75.00%       3 300001 Spin.hot
   2 25.00% 100.00%       1 300002 java.lang.Object.wait
CPU SAMPLES END
THREAD END (id = 200001)
"""
# What is replaced by what, and thereby broken.
BROKEN_TEXT = [
    ("JAVA PROFILE 1.0.1", "JAVA PROFILE 1.0.2"),
    ("Sat Nov 21 04:59:57 2026\n\nWhat", "21.11.2026 04:59:57\n\nWhat"),
    ("What the records mean.", "CPU TIME (ms) BEGIN starts a table."),
    ("--------\n", ""),
    ("TRACE 300001:\n", "TRACE 300001: (thread=200001)\n"),
    ("TRACE 300001:\n", "TRACE 300001: (from VM_INIT phase of JVM)\n"),
    ("TRACE 300002:\n", "TRACE 300001:\n"),
    ("TRACE 300002:\n\tjava.lang.Object.wait(Object.java:Unknown line)\n", "TRACE 300002:\n"),
    ("TRACE 300002:\n\tjava.lang.Object.wait(Object.java:Unknown line)\n", "TRACE 300002:\n\t<empty>\n"),
    ("TRACE 300002:\n\tjava.lang.Object.wait(Object.java:Unknown line)\n", ""),
    ("Unknown line", "Native method"),
    ("Spin.java:8", "Spin.java:-1"),
    ("Spin.java:8", "Spin.java"),
    ("\tSpin.main(", "\tSpin ma in("),
    ("total = 4", "total = -4"),
    ("total = 4", "total = 0"),
    ("total = 4", "total = 3"),
    ("75.00% 75.00%", "74.00% 74.00%"),
    ("3 300001 Spin.hot", "3 300001 Spin.warm"),
    ("3 300001 Spin.hot", "3 300001 Spin.hot x"),
    ("3 300001 Spin.hot", "3 300001"),
    ("3 300001 Spin.hot", "3 300009 Spin.hot"),
    ("   1 75.00% 75.00%       3 300001 Spin.hot\n   2 25.00% 100.00%       1 300002 java.lang.Object.wait\n", ""),
    ("total = 4) Sat Nov 21 04:59:58 2026\n", "total = 4) Sat Nov 21 04:59:58 2026\nHPROF NOTE: x\n"),
    ("   2 25", "   3 25"),
    ("CPU SAMPLES END\n", ""),
    ("CPU SAMPLES END\n", "CPU SAMPLES END\nstray\n"),
    ("THREAD END (id = 200001)\n", "THREAD END (id = 200002)\n"),
    ("THREAD END (id = 200001)\n", "THREAD END (id = 200001)"),
]

HEADER = b"JAVA PROFILE 1.0.1\0" + struct.pack(">IQ", 8, 1700000000000)


def record(tag, time, body, length=None):
    return struct.pack(">BII", tag, time, len(body) if length is None else length) + body


def utf8(key, text):
    return record(0x01, 0, struct.pack(">Q", key) + text)


CONTROL = record(0x0E, 0, struct.pack(">IH", 2, 4))
STRINGS = utf8(1, b"Spin") + utf8(2, b"hot") + utf8(3, b"(I)J") + utf8(4, b"Spin.java")
LOAD = record(0x02, 1, struct.pack(">IQIQ", 1, 100, 0, 1))
FRAME = record(0x04, 2, struct.pack(">QQQQIi", 7, 2, 3, 4, 1, 8))
TRACE = record(0x05, 3, struct.pack(">IIIQ", 300001, 0, 1, 7))
SAMPLES = record(0x0D, 4, struct.pack(">IIII", 5, 1, 5, 300001))
DATA = HEADER + CONTROL + STRINGS + LOAD + FRAME + TRACE + SAMPLES
BROKEN_DATA = {
    "another version": DATA.replace(b"1.0.1", b"1.0.3"),
    "no CONTROL SETTINGS at the front": HEADER + STRINGS + CONTROL + LOAD,
    "an unknown tag": DATA + record(0x20, 5, b"x"),
    "cut off in a header": DATA + b"\x0b\0\0",
    "cut off in a body": DATA[:-1],
    "time that goes back": DATA + record(0x0B, 3, struct.pack(">I", 1)),
    "a length of 0": DATA + record(0x0B, 5, b""),
    "a body that is too long": DATA + record(0x0D, 5, struct.pack(">IIIII", 5, 1, 5, 300001, 0)),
    "a body that is too short": DATA + record(0x0D, 5, struct.pack(">II", 5, 1)),
    "a segment in a 1.0.1 file": DATA + record(0x1C, 5, b"x"),
    "a string after its user": HEADER + CONTROL + LOAD + STRINGS,
    "a class after its frame": HEADER + CONTROL + STRINGS + FRAME + LOAD,
    "a frame after its trace": HEADER + CONTROL + STRINGS + LOAD + TRACE + FRAME,
    "samples of an unknown trace": HEADER + CONTROL + STRINGS + LOAD + FRAME + SAMPLES,
    "a string twice": HEADER + CONTROL + STRINGS + STRINGS,
    "more samples than the total": DATA + record(0x0D, 5, struct.pack(">IIII", 4, 1, 5, 300001)),
    "a trace without frames in the samples":
        DATA + record(0x05, 5, struct.pack(">III", 300002, 0, 0)) + record(0x0D, 5, struct.pack(">IIII", 1, 1, 1, 300002)),
}


class Reports(unittest.TestCase):
    def test_a_right_text_is_read(self):
        report = parse_ascii(TEXT)
        self.assertEqual([(row.method, row.count) for row in report.cpu()[0].rows],
                         [("Spin.hot", 3), ("java.lang.Object.wait", 1)])
        self.assertEqual(report.cpu()[0].traces_before, [300001, 300002])

    def test_each_broken_text_is_refused(self):
        for old, new in BROKEN_TEXT:
            with self.subTest(old=old, new=new):
                self.assertEqual(TEXT.count(old) > 0, True)
                with self.assertRaises(Failure):
                    parse_ascii(TEXT.replace(old, new, 1))

    def test_a_right_binary_file_is_read(self):
        report = parse_binary(DATA)
        self.assertEqual(report.samples, [(5, [(5, 300001)])])
        self.assertEqual(report.frame_text(7), "Spin.hot")

    def test_each_broken_binary_file_is_refused(self):
        for what, data in BROKEN_DATA.items():
            with self.subTest(what=what):
                with self.assertRaises(Failure):
                    parse_binary(data)


if __name__ == "__main__":
    unittest.main()
