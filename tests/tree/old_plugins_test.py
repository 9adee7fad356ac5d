"""scripts/check old-plugins takes plugins of tagged headers, and says when one is refused. Argument: the build tree."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import script

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv.pop(1))
ABI_H = "core/include/hprof/abi.h"


class OldPlugins(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.repository = folder.name
        shutil.copytree(os.path.join(ROOT, "core", "include"), os.path.join(self.repository, "core", "include"))
        os.makedirs(os.path.join(self.repository, "tests", "abi"))
        shutil.copy(os.path.join(ROOT, "tests", "plugins", "abi", "wrong_plugin.c"), os.path.join(self.repository, "tests", "abi"))
        self.git("init", "-q")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments],
                       cwd=self.repository, check=True, stdout=subprocess.DEVNULL)

    def tag(self, name, before=None, after=None):
        path = os.path.join(self.repository, ABI_H)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if before:
            self.assertIn(before, text)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(before, after, 1))
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", name)
        self.git("tag", name)

    def check(self):
        return script("check", "old-plugins", BUILD, env=dict(os.environ, HPROF_REPOSITORY=self.repository))

    def test_plugins_of_these_headers_are_taken(self):
        self.tag("abi-1.0-rc1")
        self.tag("abi-1.0-rc2")
        code, said = self.check()
        self.assertEqual((code, said), (0, "check old-plugins: 2 tags, 0 complaints\n"))

    def test_one_that_is_refused_is_named(self):
        self.tag("abi-1.0")
        self.tag("abi-2.0", "#define HPROF_ABI_MAJOR 1", "#define HPROF_ABI_MAJOR 2")
        code, said = self.check()
        self.assertEqual(code, 1, said)
        self.assertIn("the headers of abi-2.0 is not taken", said)

    def test_other_tags_are_left_alone(self):
        self.tag("v1.0")
        self.assertEqual(self.check(), (0, "check old-plugins: 0 tags, 0 complaints\n"))


if __name__ == "__main__":
    unittest.main()
