"""scripts/bench --suite adds up right, and refuses a program that prints something else with the agent. No time is measured."""
import os
import sys
import tempfile
import unittest

from support import ROOT, script

sys.path.insert(0, os.path.join(ROOT, "tests", "lab", "programs"))
import suite  # noqa: E402


class Sample:
    def __init__(self, cpu, output=b"42\n"):
        self.cpu = cpu
        self.wall = cpu / 2
        self.resident_kib = cpu * 1024
        self.output = output


def times(base, factor):
    """Short runs of `base` seconds, long ones of five times as many; each round has a machine of another speed."""
    def rounds(seconds):
        return [[Sample(seconds * mood * share) for share in (1, factor, 2 * factor)] for mood in (1, 3, 2)]
    return suite.Times(rounds(base), rounds(5 * base))


PROGRAM = suite.Program("program", "package", [], ["Main", "{0}"], ".txt", str, 3)


class SuiteTest(unittest.TestCase):
    def test_ratios_are_of_the_same_round(self):
        one = times(2, 1.5)
        self.assertAlmostEqual(one.ratio(one.short, "cpu", 1), 1.5)
        self.assertAlmostEqual(one.ratio(one.long, "wall", 1, 2), 0.5)
        self.assertAlmostEqual(one.steady(1), 1.5)

    def test_too_little_between_short_and_long_has_no_steady_state(self):
        self.assertIsNone(times(0.01, 1.5).steady(1))

    def test_the_mean_is_geometric_and_the_worst_is_named(self):
        lines = suite.tables({"a": times(2, 1), "b": times(2, 4)}, ["`mode`"], "other")
        self.assertIn("| a | 1.00, 1.00, 1.00 |", lines)
        self.assertIn("| geometric mean | 2.00, 2.00, 2.00 |", lines)
        self.assertIn("| worst | 4.00, 4.00, 4.00 |", lines)
        self.assertIn("| b | 0.50, 0.50 |", lines)
        self.assertIn("| b | +12, +60 |", lines)
        self.assertIn("CPU seconds without the agent, short and long: a 4.0 and 20.0, b 4.0 and 20.0.", lines)

    def test_bounds_hold_the_median_and_leave_a_stray_run_out(self):
        self.assertEqual(suite.bounds([1.5] * 12), (1.5, 1.5))
        low, high = suite.bounds([1 + 0.01 * i for i in range(11)] + [7])
        self.assertTrue(1.0 < low < 1.055 < high < 1.11, (low, high))
        self.assertIn("| b | 4.00 to 4.00, 4.00 to 4.00 |",
                      suite.tables({"b": times(2, 4)}, ["`mode`"], None))

    def measured(self, outputs):
        with tempfile.TemporaryDirectory() as folder:
            return suite.measure_program(PROGRAM, folder, [None, "mode"], 2, lambda command, variant: Sample(
                1 if "program-3.txt" in command[-1] else 5, outputs[variant]))

    def test_a_program_that_prints_something_else_is_refused(self):
        with self.assertRaises(SystemExit):
            self.measured({None: b"42\n", "mode": b"43\n"})

    def test_lines_of_the_vm_and_the_agent_are_not_the_programs(self):
        found = self.measured({None: b"42\n", "mode": b"HPROF: a message\n[0.1s][warning][cds] off\n42\n"})
        self.assertEqual([len(found.short), len(found.long), found.short[0][0].cpu, found.long[1][1].cpu], [2, 2, 1, 5])

    def test_an_unknown_program_is_wrong_use(self):
        code, text = script("bench", "--suite", "--program", "nobody")
        self.assertEqual((code, text.strip()), (1, "bench: no such program: nobody"))


if __name__ == "__main__":
    unittest.main()
