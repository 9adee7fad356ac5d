"""scripts/check exports finds libraries that need or export too much or too little."""
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


def library(root, name, source, *flags):
    path = os.path.join(root, "lib", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    source = write(root, "source.c", source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source, *flags], check=True)


class Exports(unittest.TestCase):
    def check(self, wanted, agent=AGENT, module=MODULE, name="hprof/plugins/unit.so", flags=(), arguments=()):
        with tempfile.TemporaryDirectory() as root:
            library(root, "libhprof.so", agent)
            library(root, name, module, *flags)
            code, said = script("check", "exports", *arguments, root)
            self.assertEqual(code, 1 if wanted else 0, said)
            self.assertIn(wanted, said)

    def test_right_libraries_pass(self):
        self.check("")

    def test_a_second_symbol_is_found(self):
        self.check("unit.so: exports helper,", module=MODULE + "int helper;\n")

    def test_a_missing_symbol_is_found(self):
        self.check("unit.so: does not export hprof_module_open", module="static int nothing;\n")
        self.check("libhprof.so: does not export Agent_OnUnload", agent=AGENT.replace("Agent_OnUnload", "static_unload"))

    def test_a_weak_symbol_counts(self):
        self.check("exports spare,", module=MODULE + "__attribute__((weak)) int spare(void) { return 1; }\n")

    def test_other_libraries_than_libc_are_found(self):
        self.check("needs libgcc_s.so.1", flags=("-Wl,--no-as-needed", "-lgcc_s"))

    def test_libc_s_own_libraries_pass(self):
        self.check("", flags=("-Wl,--no-as-needed", "-lm", "-lpthread", "-ldl"))

    def test_an_executable_stack_is_found(self):
        self.check("executable stack", flags=("-Wl,-z,execstack",))

    def test_a_library_that_nobody_listed_is_found(self):
        self.check("not in tests/tree/exports.list", name="libextra.so")

    def test_dlopen_is_found_where_it_must_not_be(self):
        agent = AGENT + "void* dlopen(const char*, int);\nstatic void* f(void) { return dlopen(0, 1); }\n" \
                        "void* (*use)(void) __attribute__((visibility(\"hidden\"))) = f;\n"
        self.check("libhprof.so: calls dlopen", agent=agent, arguments=("--no-dlopen",))
        self.check("", agent=agent)

    def test_a_tree_without_agent_is_no_success(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(script("check", "exports", root)[0], 2)


if __name__ == "__main__":
    unittest.main()
