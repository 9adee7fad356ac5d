"""scripts/check changed names what clang-tidy has to see, and does not pass when that is nothing."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, write


class ChangedHeader(unittest.TestCase):
    """In a repository of its own."""

    FILES = {
        "core/low.h": "",
        "core/middle.h": '#include "core/low.h"\n',
        "tools/mock/mock.h": "#  include <low.h>\n",
        "core/direct.cpp": '#include "core/low.h"\n',
        "core/indirect.cpp": '#include "core/middle.h"\n',
        "core/other.cpp": '#include "core/below.h"\n',
        "core/below.h": "",
        "tools/by_mock.cpp": "#include <hprof/mock/mock.h>\n",
        "plugins/none.c": "",
        "writers/none.c": "",
        "platform/none.c": "",
    }

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        for path, text in self.FILES.items():
            write(self.root, path, text)
        write(self.root, ".gitignore", "/build/\n/scripts/\n")
        os.makedirs(os.path.join(self.root, "scripts"))
        shutil.copy(os.path.join(ROOT, "scripts", "check"), os.path.join(self.root, "scripts"))
        rows = [{"file": os.path.join(self.root, path)} for path in self.FILES if path.endswith((".c", ".cpp"))]
        write(self.root, "build/compile_commands.json", json.dumps(rows, indent=2))
        self.git("init", "--initial-branch=main")
        self.commit("first")
        self.git("checkout", "-b", "work")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *arguments], cwd=self.root, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def commit(self, subject):
        self.git("add", ".")
        self.git("commit", "-m", subject)

    def run_it(self, *paths):
        for path in paths:
            write(self.root, path, self.FILES.get(path, "") + "// changed\n")
        self.commit("second")
        run = subprocess.run([os.path.join(self.root, "scripts", "check"), "changed"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             cwd=self.root, text=True)
        return run.returncode, run.stdout

    def changed(self, *paths):
        code, said = self.run_it(*paths)
        self.assertEqual(code, 0, said)
        return said.split()

    def test_sources_that_include_it_are_checked(self):
        self.assertEqual(self.changed("core/low.h"), ["core/direct.cpp", "core/indirect.cpp", "tools/by_mock.cpp"])

    def test_others_are_not(self):
        self.assertEqual(self.changed("core/middle.h", "core/other.cpp"), ["core/indirect.cpp", "core/other.cpp"])

    def test_all_are_for_other_rules(self):
        self.assertEqual(self.changed(".clang-tidy"), sorted(path for path in self.FILES if path.endswith((".c", ".cpp"))))

    def test_on_main_those_of_the_last_commit_are(self):
        self.git("checkout", "main")
        self.assertEqual(self.changed("core/low.h", "core/other.cpp"), ["core/other.cpp"])

    def test_what_is_not_in_the_build_is_an_error(self):
        code, said = self.run_it("core/new.cpp")
        self.assertEqual(code, 2)
        self.assertIn("does not build core/new.cpp", said)

    def test_sources_of_other_platforms_are_left_to_them(self):
        self.assertEqual(self.changed("platform/win32/memory.cpp", "tools/os/common/attach_none.cpp",
                                      "platform/linux/old_glibc/start.c"), [])


if __name__ == "__main__":
    unittest.main()
