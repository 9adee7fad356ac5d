"""scripts/check-readme sees a table that is out of date, and mends it."""
import os
import tempfile
import unittest

from support import script, write

PAGE = """Before
<!-- options: begin (scripts/check-readme --write) -->
%s<!-- options: end -->
After
"""
TABLE = "| option | default |\n| --- | --- |\n| `depth=<size>` | 4 |\n"


class Readme(unittest.TestCase):
    def check(self, page, *arguments, table=TABLE):
        with tempfile.TemporaryDirectory() as root:
            os.chmod(write(root, "tests/support/hprof_option_table", "#!/bin/sh\ncat <<'E'\n%sE\n" % table), 0o755)
            readme = write(root, "README.md", page)
            code, said = script("check-readme", *arguments, root, env=dict(os.environ, HPROF_README=readme))
            with open(readme) as file:
                return code, said, file.read()

    def test_the_same_table_passes(self):
        page = PAGE % ("\n" + TABLE + "\n")
        self.assertEqual(self.check(page), (0, "", page))

    def test_another_table_is_shown(self):
        code, said, _ = self.check(PAGE % ("\n" + TABLE.replace("4", "5") + "\n"))
        self.assertEqual(code, 1)
        self.assertIn("+| `depth=<size>` | 4 |", said)

    def test_write_mends_it(self):
        self.assertEqual(self.check(PAGE % "old\n", "--write"), (0, "", PAGE % ("\n" + TABLE + "\n")))

    def test_missing_markers_are_no_success(self):
        self.assertEqual(self.check("nothing\n")[0], 2)

    def test_an_empty_table_is_no_success(self):
        self.assertEqual(self.check(PAGE % "\n\n", table="")[0], 2)


if __name__ == "__main__":
    unittest.main()
