"""scripts/tidy does not pass when it has checked nothing."""
import json
import os
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
        for source in ("platform/win32/memory.cpp", "platform/common/tool_attach_none.cpp",
                       "platform/linux/look_none.cpp", "platform/linux/old_glibc/start.c"):
            self.assertEqual(self.tidy(source)[0], 0, source)
        self.assertEqual(self.checked(), [])


if __name__ == "__main__":
    unittest.main()
