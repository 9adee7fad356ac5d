"""scripts/bench accuracy: the statistics, and the readers of what profilers write. No VM runs and no time is measured."""
import os
import random
import sys
import unittest

from support import ROOT, script

for folder in ("vm", os.path.join("lab", "accuracy")):
    sys.path.insert(0, os.path.join(ROOT, "tests", folder))
import figures  # noqa: E402
import packages  # noqa: E402
import shares  # noqa: E402
import stacks  # noqa: E402
import tools  # noqa: E402

REPORT = """JAVA PROFILE 1.0.1, created Thu Nov 26 18:00:00 2026

THREAD START (obj=50000106, id = 200001, name="main", group="main")
THREAD START (obj=50000107, id = 200002, name="measured-30", group="main")
TRACE 300001: (thread=200002)
\tSpins.inlined(Spins.java:12)
\tSpins.both(Spins.java:Unknown line)
TRACE 300002: (thread=200001)
\tMain.main(<Unknown Source>:Unknown line)
CPU SAMPLES BEGIN (total = 12) Thu Nov 26 18:00:00 2026
rank   self  accum   count trace method
   1 75.00% 75.00%       9 300001 Spins.inlined
   2 25.00% 100.00%       3 300002 Main.main
CPU SAMPLES END
"""


def drawn(draw, shares_of, number):
    counts = {}
    for name in draw.choices(list(shares_of), list(shares_of.values()), k=number):
        counts[name] = counts.get(name, 0) + 1
    return counts


class FiguresTest(unittest.TestCase):
    def test_a_straight_line_has_its_slope_and_no_error(self):
        slope, error, offset = figures.slope([10, 30, 60], [11, 29, 56])
        self.assertAlmostEqual(slope, 0.9)
        self.assertAlmostEqual(error, 0)
        self.assertAlmostEqual(offset, 2)

    def test_the_error_of_a_slope_is_that_of_many_such_lines(self):
        draw = random.Random(1)
        xs = [10, 25, 40, 55, 70] * 3
        lines = [figures.slope(xs, [x + draw.gauss(0, 2) for x in xs]) for _ in range(400)]
        mean = sum(slope for slope, _, _ in lines) / len(lines)
        real = (sum((slope - mean) ** 2 for slope, _, _ in lines) / len(lines)) ** 0.5
        self.assertAlmostEqual(mean, 1, delta=0.01)
        self.assertAlmostEqual(sum(error for _, error, _ in lines) / len(lines) / real, 1, delta=0.15)

    def test_the_error_of_a_share_is_the_binomial_one(self):
        self.assertAlmostEqual(figures.share_error(50, 10000), 0.5)
        self.assertEqual(figures.share_error(100, 10), 0)

    def test_overlap_is_of_shares(self):
        self.assertAlmostEqual(figures.overlap({"a": 1, "b": 1}, {"a": 30, "c": 10}), 50)
        self.assertEqual(figures.overlap({"a": 1}, {}), 0)

    def test_what_runs_have_in_common_is_the_mean_of_pairs(self):
        self.assertEqual(figures.hottest({"a": 1, "c": 5, "b": 5}, 2), ["b", "c"])
        self.assertAlmostEqual(figures.common([{"a": 2, "b": 1}, {"a": 2, "b": 1}, {"a": 2, "c": 1}], 2), 100 * (1 + 0.5 + 0.5) / 3)

    def test_chi_square_is_one_for_counting_noise_and_more_for_runs_that_differ(self):
        draw = random.Random(2)
        truth = {"a": 0.5, "b": 0.3, "c": 0.15, "d": 0.05}
        alike = [figures.chi_square([drawn(draw, truth, 500) for _ in range(10)]) for _ in range(60)]
        self.assertAlmostEqual(sum(alike) / len(alike), 1, delta=0.12)
        other = {"a": 0.4, "b": 0.4, "c": 0.15, "d": 0.05}
        self.assertGreater(figures.chi_square([drawn(draw, truth if i % 2 else other, 500) for i in range(10)]), 1.8)
        self.assertIsNone(figures.chi_square([{"a": 10}, {"a": 20}]))

    def test_the_lead_is_in_standard_errors(self):
        self.assertAlmostEqual(figures.lead([{"a": 60, "b": 40}, {"a": 60, "b": 40}]), 2)


class StacksTest(unittest.TestCase):
    class Read:
        """As much of a ClassFile as is looked at."""
        calls = {"main": {3: {"run", "close"}, 4: {"*"}}, "leaf": {}}
        first = {"main": {3}, "leaf": {9}}

    def judged(self, *stack):
        total, lost, wrong, _ = stacks.judge([tools.Sample(2, "main", stack)], {"Main": self.Read})
        return total, lost, wrong

    def test_a_stack_reaches_a_root_and_its_callers_call(self):
        self.assertEqual(self.judged(("A.run", "1"), ("Main.main", "3")), (2, 0, 0))
        self.assertEqual(self.judged(("A.any", "1"), ("Main.main", "4")), (2, 0, 0))
        self.assertEqual(self.judged(("A.any", "1"), ("Main.main", "Unknown line")), (2, 0, 0))
        self.assertEqual(self.judged(("A.any", "1"), ("Main.main", "0")), (2, 0, 0))
        self.assertEqual(self.judged(("A.run", "1"), ("Main.main", "5")), (2, 0, 2))
        self.assertEqual(self.judged(("A.get", "1"), ("Main.leaf", "9"), ("Main.main", "4")), (2, 0, 2))
        self.assertEqual(self.judged(("A.run", "1"), ("A.work", "3")), (2, 2, 0))

    def test_what_has_no_java_frame_is_lost_only_where_the_reason_says_so(self):
        self.assertEqual(self.judged(("JVM.deoptimization", "1")), (2, 2, 0))
        self.assertEqual(self.judged(("JVM.no_java_frame", "1")), (0, 0, 0))
        self.assertEqual(self.judged(("libc.so.6.read", "1")), (0, 0, 0))
        self.assertEqual(self.judged((".memcpy", "1"), ("Main.main", "4"), ("libjvm.so.start", "1")), (2, 0, 0))
        self.assertEqual(self.judged(*[("Main.main", "4")] * stacks.DEPTH), (0, 0, 0))


class ReaderTest(unittest.TestCase):
    def test_a_report_is_read_with_threads_and_lines(self):
        first, second = tools.read_text(REPORT)
        self.assertEqual((first.weight, first.thread, first.frames), (9, "measured-30", (("Spins.inlined", "12"), ("Spins.both", "Unknown line"))))
        self.assertEqual((second.weight, second.thread, second.frames), (3, "main", (("Main.main", "Unknown line"),)))
        self.assertTrue(first.has(shares.SHAPES["inlined"]))
        self.assertFalse(first.has(shares.SHAPES["apart"]))

    def test_names_made_at_run_time_are_one(self):
        for name in ("A$$Lambda$12/0x00001.run", "A$$Lambda+0x7f12.run", "A$$Lambda.0x7f12.run", "A$$Lambda/0x7f12.run"):
            self.assertEqual(packages.plain(name), "A$$Lambda.run")
        self.assertEqual(packages.plain("java.util.HashMap$Node.get"), "java.util.HashMap$Node.get")

    def test_code_outside_of_java_counts_for_the_method_that_called_it(self):
        stacks = [("libjvm.so.G1::run", "java.lang.Object.wait", "Main.main"), ("libz.so.1.deflate",), (".stub", "a.so_named.Main.main"),
                  ("JVM.gc_active",), ("[vdso].clock", "Main.main"),
                  ("vdso.__vdso_clock_gettime", "Main.main")]
        samples = [tools.Sample(1, "main", tuple((method, "1") for method in stack)) for stack in stacks]
        self.assertEqual(packages.by_method(samples), {"java.lang.Object.wait": 1, "a.so_named.Main.main": 1, "Main.main": 2})

    def test_the_lines_of_the_program_are_marked(self):
        self.assertEqual(int(shares.marked(shares.SPINS, "A")) + 1, int(shares.marked(shares.SPINS, "B")))

    def test_an_unknown_program_is_wrong_use(self):
        code, text = script("bench", "accuracy", "--program", "nobody")
        self.assertEqual((code, text.strip()), (1, "bench: no such program: nobody"))


if __name__ == "__main__":
    unittest.main()
