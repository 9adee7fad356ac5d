"""scripts/check exports, sizes and libc find what is wrong with libraries."""
import os
import subprocess
import tempfile
import unittest

from support import script, write

# Whatever tests/tree/exports.list wants of the agent.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exports.list")) as exports:
    AGENT = "".join("int %s(void) { return 0; }\n" % symbol
                    for line in exports if line.startswith("libhprof.so ") for symbol in line.split()[1:])
MODULE = "int hprof_module_open(void) { return 0; }\n"


class Libraries(unittest.TestCase):
    def check(self, wanted, what, libraries, flags=(), arguments=()):
        """Of {name: source}; wanted: "" where nothing is wrong. The flags are the last one's."""
        with tempfile.TemporaryDirectory() as root:
            for name, source in libraries.items():
                path = os.path.join(root, "lib", name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                more = flags if name == list(libraries)[-1] else ()
                subprocess.run(["cc", "-shared", "-fPIC", "-o", path, write(root, "source.c", source), *more], check=True)
            code, said = script("check", what, *arguments, root)
            self.assertEqual(code, 1 if wanted else 0, said)
            self.assertIn(wanted, said)

    def exports(self, wanted, agent=AGENT, module=MODULE, name="hprof/plugins/unit.so", flags=(), arguments=()):
        self.check(wanted, "exports", {"libhprof.so": agent, name: module}, flags, arguments)

    def sizes(self, wanted, name, kib):
        self.check(wanted, "sizes", {name: "const char table[%d] = {1};\n" % (1024 * kib)})

    def libc(self, wanted, source):
        self.check(wanted, "libc", {"unit.so": source})

    def test_a_tree_without_libraries_is_wrong_use(self):
        with tempfile.TemporaryDirectory() as root:
            for what in ("exports", "sizes", "libc"):
                self.assertEqual(script("check", what, root)[0], 2)

    def test_right_exports_pass(self):
        self.exports("")

    def test_a_second_symbol_is_found(self):
        self.exports("unit.so: exports helper,", module=MODULE + "int helper;\n")

    def test_a_missing_symbol_is_found(self):
        self.exports("unit.so: does not export hprof_module_open", module="static int nothing;\n")
        self.exports("libhprof.so: does not export Agent_OnUnload", agent=AGENT.replace("Agent_OnUnload", "static_unload"))

    def test_a_weak_symbol_counts(self):
        self.exports("exports spare,", module=MODULE + "__attribute__((weak)) int spare(void) { return 1; }\n")

    def test_other_libraries_than_libc_are_found(self):
        self.exports("needs libgcc_s.so.1", flags=("-Wl,--no-as-needed", "-lgcc_s"))

    def test_libc_s_own_libraries_pass(self):
        self.exports("", flags=("-Wl,--no-as-needed", "-lm", "-lpthread", "-ldl"))

    def test_an_executable_stack_is_found(self):
        self.exports("executable stack", flags=("-Wl,-z,execstack",))

    def test_a_library_that_nobody_listed_is_found(self):
        self.exports("not in tests/tree/exports.list", name="libextra.so")
        self.sizes("libextra.so: not in tests/tree/sizes.list", "libextra.so", 1)

    def test_dlopen_is_found_where_it_must_not_be(self):
        agent = AGENT + "void* dlopen(const char*, int);\nstatic void* f(void) { return dlopen(0, 1); }\n" \
                        "void* (*use)(void) __attribute__((visibility(\"hidden\"))) = f;\n"
        self.exports("libhprof.so: calls dlopen", agent=agent, arguments=("--no-dlopen",))
        self.exports("", agent=agent)

    def test_small_libraries_pass(self):
        self.sizes("", "hprof/plugins/unit.so", 60)
        self.sizes("", "libhprof.so", 150)

    def test_large_libraries_are_found(self):
        self.sizes("hprof/plugins/encoder_json.so: ", "hprof/plugins/encoder_json.so", 64)
        self.sizes("hprof/plugins/jvmpi.so: ", "hprof/plugins/jvmpi.so", 78)
        self.sizes("libhprof.so: ", "libhprof.so", 242)

    def test_what_both_c_libraries_have_passes(self):
        self.libc("", "#include <unistd.h>\nint pid(void) { return getpid(); }\n")

    def test_what_glibc_alone_has_is_found(self):
        self.libc("unit.so: needs gnu_get_libc_version,",
                  "const char* gnu_get_libc_version(void);\nconst char* it(void) { return gnu_get_libc_version(); }\n")

    def test_weak_references_may_stay_open(self):
        self.libc("", "__attribute__((weak)) int nowhere(void);\nint call(void) { return nowhere ? nowhere() : 0; }\n")


if __name__ == "__main__":
    unittest.main()
