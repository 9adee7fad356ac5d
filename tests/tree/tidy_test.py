"""scripts/tidy checks what it says, and does not pass when it has checked nothing."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from support import ROOT, script, write


class Tidy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        source = "core/base/region.cpp"
        write(self.folder.name, "compile_commands.json", json.dumps([{"file": os.path.join(ROOT, source)}], indent=2))
        self.seen = os.path.join(self.folder.name, "seen")
        os.chmod(write(self.folder.name, "clang-tidy", '#!/bin/sh\necho "$@" >> %s\n' % self.seen), 0o755)

    def tidy(self, *arguments):
        environment = dict(os.environ, HPROF_BUILD=self.folder.name,
                           CLANG_TIDY=os.path.join(self.folder.name, "clang-tidy"))
        return script("tidy", *arguments, env=environment)

    def checked(self):
        return open(self.seen).read().split() if os.path.exists(self.seen) else []

    def test_what_is_in_the_build_is_checked(self):
        self.assertEqual(self.tidy("core/base/region.cpp")[0], 0)
        self.assertEqual(self.checked()[-1], "core/base/region.cpp")

    def test_what_is_not_in_the_build_is_an_error(self):
        code, said = self.tidy("core/base/pool.cpp")
        self.assertEqual(code, 2)
        self.assertIn("does not build core/base/pool.cpp: nothing was checked", said)
        self.assertEqual(self.checked(), [])

    def test_sources_of_other_platforms_are_left_to_them(self):
        for source in ("platform/win32/memory.cpp", "tools/os/common/attach_none.cpp",
                       "platform/linux/look_none.cpp", "platform/linux/old_glibc/start.c"):
            self.assertEqual(self.tidy(source)[0], 0, source)
        self.assertEqual(self.checked(), [])


class ChangedHeader(unittest.TestCase):
    """--changed in a repository of its own."""

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
        shutil.copy(os.path.join(ROOT, "scripts", "tidy"), os.path.join(self.root, "scripts"))
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

    def changed(self, *paths):
        for path in paths:
            write(self.root, path, self.FILES.get(path, "") + "// changed\n")
        self.commit("second")
        run = subprocess.run([os.path.join(self.root, "scripts", "tidy"), "--changed"], stdout=subprocess.PIPE, text=True,
                             check=True, env=dict(os.environ, CLANG_TIDY="echo", HPROF_BUILD="build"))
        return sorted(line.split()[-1] for line in run.stdout.splitlines() if line.startswith("-p "))

    def test_sources_that_include_it_are_checked(self):
        self.assertEqual(self.changed("core/low.h"), ["core/direct.cpp", "core/indirect.cpp", "tools/by_mock.cpp"])

    def test_others_are_not(self):
        self.assertEqual(self.changed("core/middle.h", "core/other.cpp"), ["core/indirect.cpp", "core/other.cpp"])

    def test_all_are_for_other_rules(self):
        self.assertEqual(self.changed(".clang-tidy"), sorted(path for path in self.FILES if path.endswith((".c", ".cpp"))))


if __name__ == "__main__":
    unittest.main()
