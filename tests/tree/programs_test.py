"""Every program of scripts/ and tests/ starts, also those that need what few machines have."""
import glob
import os
import subprocess
import sys
import unittest

from support import ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "vm", "original"))

import differences  # noqa: E402


def programs():
    """Paths below the tree."""
    for pattern in ("scripts/*", "tests/**"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                yield os.path.relpath(path, ROOT)


def started_by_ctest():
    lines = []
    for path in glob.glob(os.path.join(ROOT, "tests", "**", "CMakeLists.txt"), recursive=True):
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("${CMAKE_CURRENT_SOURCE_DIR}", os.path.relpath(os.path.dirname(path), ROOT))
        lines += [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return "\n".join(lines)


class Programs(unittest.TestCase):
    def test_each_starts(self):
        """As a test, or at least as far as to say what it does."""
        tests, asked = started_by_ctest(), 0
        for path in programs():
            if path in tests:
                continue
            with self.subTest(path):
                run = subprocess.run([os.path.join(ROOT, path), "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                     timeout=60, env=dict(os.environ, HPROF_NO_INSTALL="1"))
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue(run.stdout.strip())
                asked += 1
        self.assertGreater(asked, 15)


class Original(unittest.TestCase):
    """tests/vm/original/compare, which only a JDK 8 can run to its end."""

    def test_every_difference_is_an_item_of_the_page(self):
        self.assertGreater(len(differences.load(os.path.join(ROOT, "docs", "compatibility.md"))), 20)

    def test_a_difference_without_an_item_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "has no item: .*class objects"):
            differences.load(os.path.join(ROOT, "README.md"))


if __name__ == "__main__":
    unittest.main()
