"""scripts/check sizes finds libraries that have grown beyond their limit."""
import os
import subprocess
import tempfile
import unittest

from support import script, write


class Sizes(unittest.TestCase):
    def check(self, wanted, name, kib):
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, "lib", name)
            os.makedirs(os.path.dirname(path))
            source = write(root, "source.c", "const char table[%d] = {1};\n" % (1024 * kib))
            subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
            code, said = script("check", "sizes", root)
            self.assertEqual(code, 1 if wanted else 0, said)
            self.assertIn(wanted, said)

    def test_small_libraries_pass(self):
        self.check("", "hprof/plugins/unit.so", 60)
        self.check("", "libhprof.so", 200)

    def test_a_large_module_is_found(self):
        self.check("hprof/plugins/encoder_json.so: ", "hprof/plugins/encoder_json.so", 64)
        self.check("hprof/plugins/jvmpi.so: ", "hprof/plugins/jvmpi.so", 64)

    def test_a_large_core_is_found(self):
        self.check("libhprof.so: ", "libhprof.so", 242)

    def test_a_library_that_nobody_listed_is_found(self):
        self.check("libextra.so: not in tests/tree/sizes.list", "libextra.so", 1)

    def test_a_tree_without_libraries_is_wrong_use(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(script("check", "sizes", root)[0], 2)


if __name__ == "__main__":
    unittest.main()
