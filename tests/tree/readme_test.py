"""scripts/check readme sees a table that is out of date, and mends it. Links of the pages lead somewhere."""
import glob
import os
import re
import tempfile
import unittest

from support import ROOT, script, write

MARKS = {"docs/options.md": ("options",), "docs/control.md": ("commands",), "docs/hotspot.md": ("changes", "reads"),
         "docs/heap-dump.md": ("heap",),
         "docs/tool.md": ("run", "profile", "threads", "attach", "ctl", "listen", "check", "print", "diff", "doctor",
                          "plugin", "view", "convert")}
PROGRAM = "tools/manual/hprof_manual"
TABLE = "- `depth=<size>` (4): frames\n"
DONE = "check readme: %d tables, 0 complaints\n" % sum(map(len, MARKS.values()))
TOOL = "#!/bin/sh\ncat <<'E'\n%sE\n"


def page(tables):
    return "Before\n" + "".join("<!-- %s: begin (scripts/check readme --write) -->\n%s<!-- %s: end -->\nBetween\n"
                                % (name, text, name) for name, text in tables)


def pages(text="\n" + TABLE + "\n"):
    return {path: page([(name, text) for name in names]) for path, names in MARKS.items()}


class Readme(unittest.TestCase):
    def check(self, given, *arguments, table=TABLE):
        with tempfile.TemporaryDirectory() as root:
            os.chmod(write(root, PROGRAM, TOOL % table), 0o755)
            files = {path: write(root, path, text) for path, text in given.items()}
            code, said = script("check", "readme", *arguments, root, env=dict(os.environ, HPROF_DOCS_ROOT=root))
            return code, said, {path: open(file).read() for path, file in files.items()}

    def test_the_same_tables_pass(self):
        self.assertEqual(self.check(pages()), (0, DONE, pages()))

    def test_another_table_is_shown_wherever_it_stands(self):
        for path in MARKS:
            with self.subTest(path=path):
                given = pages()
                given[path] = given[path].replace("(4)", "(5)", 1)
                code, said, _ = self.check(given)
                self.assertEqual(code, 1)
                self.assertIn("--- %s\n" % path, said)
                self.assertIn("+- `depth=<size>` (4): frames", said)

    def test_write_mends_them(self):
        self.assertEqual(self.check(pages("old\n"), "--write"), (0, DONE, pages()))

    def test_of_a_command_the_page_has_the_usage(self):
        usage = "    hprof run [-o FILE]\n          COMMAND\n"
        given = pages("\n%s\n      -o FILE  the report\n\n" % usage)
        for path in ("docs/tool.md", "docs/heap-dump.md"):
            given[path] = pages("\n%s\n" % usage)[path]
        self.assertEqual(self.check(given, table="%s\n      -o FILE  the report\n" % usage), (0, DONE, given))

    def test_missing_markers_are_no_success(self):
        for path in MARKS:
            with self.subTest(path=path):
                self.assertEqual(self.check(dict(pages(), **{path: "nothing\n"}))[0], 2)

    def test_an_empty_table_is_no_success(self):
        self.assertEqual(self.check(pages("\n\n"), table="")[0], 2)


def anchors(path):
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Links(unittest.TestCase):
    def test_files_and_headings_exist(self):
        seen = 0
        pages_of = [path for name in ("*.md", "docs/*.md", "tests/*.md") for path in glob.glob(os.path.join(ROOT, name))]
        for page in pages_of:
            with open(page, encoding="utf-8") as file:
                links = re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", file.read())
            for name, heading in links:
                if re.match(r"https?:", name):
                    continue
                path = os.path.join(os.path.dirname(page), name) if name else page
                self.assertTrue(os.path.exists(path), "%s: %s" % (page, name))
                self.assertTrue(not heading or heading in anchors(path), "%s: %s#%s" % (page, name, heading))
                seen += 1
        self.assertGreater(seen, 50)


if __name__ == "__main__":
    unittest.main()
