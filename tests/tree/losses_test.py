"""Every counter of losses has words of the form "<noun>: <cause> (<option to raise>)", which follow "lost <number>"."""
import glob
import os
import re
import unittest

from support import ROOT

LITERALS = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
IN_CORE = re.compile(r"X\(kLost\w+,\s*" + LITERALS)
IN_UNITS = re.compile(r"loss_counter\(\s*[\w.>-]+,\s*" + LITERALS)
FORM = re.compile(r"[A-Za-z][\w ]*: [^():]([^()]|labels:other)*[^() .]( \((ulimit -i|[a-z-]+=[a-z]*)\))?$")
MOST = 103  # LossCounters cuts longer words


def words_of(path, pattern):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found)) for found in pattern.findall(text)]


def all_words():
    """[(path, words)]"""
    found = [("core/base/counters.h", words) for words in words_of(os.path.join(ROOT, "core/base/counters.h"), IN_CORE)]
    for folder in ("core", "plugins", "writers", "examples"):
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True):
            if path.endswith((".cpp", ".h", ".hpp")):
                found += [(os.path.relpath(path, ROOT), words) for words in words_of(path, IN_UNITS)]
    return found


class Losses(unittest.TestCase):
    def test_each_has_a_noun_a_cause_and_perhaps_an_option(self):
        found = all_words()
        self.assertGreater(len(found), 40)
        for path, words in found:
            with self.subTest(path):
                self.assertRegex(words, FORM)
                self.assertLessEqual(len(words), MOST)

    def test_none_has_its_words_elsewhere(self):
        for folder in ("plugins", "writers", "examples"):
            for path in glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True):
                if path.endswith((".cpp", ".h", ".hpp")):
                    with open(path, encoding="utf-8") as file:
                        calls = file.read().count("loss_counter(")
                    self.assertEqual(calls, len(words_of(path, IN_UNITS)), path)

    def test_the_option_exists(self):
        with open(os.path.join(ROOT, "docs", "options.md"), encoding="utf-8") as file:
            options = set(re.findall(r"^\| `([a-z-]+=)", file.read(), re.M))
        for path, words in all_words():
            named = re.search(r"\(([a-z-]+=)[a-z]*\)$", words)
            if named:
                self.assertIn(named.group(1), options, path)


if __name__ == "__main__":
    unittest.main()
