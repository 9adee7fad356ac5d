"""scripts/check libc finds what a library wants of glibc alone."""
import os
import subprocess
import tempfile
import unittest

from support import script, write


class Libc(unittest.TestCase):
    def check(self, wanted, source):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "lib"))
            path = os.path.join(root, "lib", "unit.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-o", path, write(root, "source.c", source)], check=True)
            code, said = script("check", "libc", root)
            self.assertEqual(code, 1 if wanted else 0, said)
            self.assertIn(wanted, said)

    def test_what_both_have_passes(self):
        self.check("", "#include <unistd.h>\nint pid(void) { return getpid(); }\n")

    def test_what_glibc_alone_has_is_found(self):
        self.check("unit.so: needs gnu_get_libc_version,",
                   "const char* gnu_get_libc_version(void);\nconst char* it(void) { return gnu_get_libc_version(); }\n")

    def test_weak_references_may_stay_open(self):
        self.check("", "__attribute__((weak)) int nowhere(void);\nint call(void) { return nowhere ? nowhere() : 0; }\n")

    def test_a_tree_without_libraries_is_wrong_use(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(script("check", "libc", root)[0], 2)


if __name__ == "__main__":
    unittest.main()
