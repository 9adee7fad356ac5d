"""scripts/check layers finds every kind of wrong include, and nothing else."""
import tempfile
import unittest

from support import script, write

RIGHT = [
    ("core/base/a.h", "#include <cstdint>\n#include \"core/base/b.h\"\n"),
    ("core/plugin/a.cpp", "#include <hprof/plugin.h>\n#include \"core/base/a.h\"\n#include \"platform/platform.h\"\n"),
    ("core/agent/a.cpp", "#include <jvmti.h>\n#include \"core/model/a.h\"\n"),
    ("core/option/a.cpp", "#include \"core/protocol/a.h\"\n#include \"core/plugin/a.h\"\n"),
    ("tools/format/a.cpp", "#include <string>\n#include <zlib.h>\n#include \"tools/os/os.h\"\n"),
    ("tools/hprof/a.cpp", "#include \"core/protocol/a.h\"\n#include \"tools/heap/questions/a.h\"\n#include \"tools/os/attach.h\"\n"),
    ("tools/heap/questions/a.h", "#include \"tools/heap/output/a.h\"\n#include \"tools/heap/read/a.h\"\n"),
    ("tools/heap/read/a.h", "#include \"tools/heap/graph/a.h\"\n#include \"tools/heap/read/b.h\"\n"),
    ("tools/os/linux/a.cpp", "#include <sys/mman.h>\n#include \"platform/clock.h\"\n#ifdef __linux__\n#endif\n"),
    ("core/include/hprof/a.h", "#include <hprof/abi.h>\n#include <stdint.h>\n"),
    ("plugins/x/x.cpp", "#include <hprof/plugin.h>\n#include \"plugins/x/x_state.h\"\n#include <string.h>\n#include <jvmti.h>\n"),
    ("writers/y/y.cpp", "#include <hprof/cpp/a.hpp>\n#include \"y.h\"\n"),
    ("platform/linux/a.cpp", "#include <sys/mman.h>\n#include \"platform/platform.h\"\n#ifdef __linux__\n#endif\n"),
    ("core/option/core_options.def", '// cpu=fast and heap=all\nHPROF_CORE_OPTION(kMain, "", "interval", HPROF_OPTION_INT, 0)\n'),
    ("plugins/cpu_fast/cpu_fast.cpp",
     'constexpr const char* kSelect = "cpu=fast";\n{"interval", HPROF_OPTION_INT, 0},\n{"paint", HPROF_OPTION_INT, 0},\nunit("cpu_slow", kSelect)\n'),
    ("core/agent/b.cpp", "// cpu_faster, repaint=, cpu=other, interval= and an unquoted paint; hprof_rec_cpu_fast\n"),
    ("core/modules/help_texts/a.cpp", "// cpu_fast\n"),
    ("core/include/hprof/b.h", "/* cpu_fast */\n"),
    ("core/include/hprof/tables.h", '#define HPROF_TABLE_HASTE "hprof.haste/1"\n#define HPROF_HASTE_TIME 1\n'),
    ("core/agent/d.cpp", "// flags, not tables: HPROF_TABLE_EVENTS, HPROF_TABLE_HASTE_MOST; a service: hprof.probes/1\n"),
    ("core/modules/control/command_runner.cpp", "#include <hprof/cpp/core_tables.hpp>\n"),
    ("plugins/cpu_fast/CMakeLists.txt", "# as in tests/unit\nhprof_add_module(cpu_fast cpu_fast.cpp)\n"),
    ("core/base/comment.h", "// #include <unistd.h>\n/*\n#include <unistd.h>\n#ifdef __linux__\n*/\n"),
]
WRONG = [
    ("core/base/a.h", "#include <unistd.h>\n"),
    ("core/base/a.h", "#include <string>\n"),
    ("core/base/a.h", "#include <jvmti.h>\n"),
    ("core/base/a.h", "#include \"core/model/a.h\"\n"),
    ("core/model/a.h", "#include \"core/agent/a.h\"\n"),
    ("core/protocol/a.h", "#include \"core/option/a.h\"\n"),
    ("core/plugin/a.cpp", "#include \"core/option/a.h\"\n"),
    ("core/option/a.cpp", "#include \"core/modules/help_texts/help.h\"\n"),
    ("core/model/a.h", "#include \"platform/clock.h\"\n"),
    ("core/model/a.h", "#include \"plugins/x/x.h\"\n"),
    ("core/model/a.h", "#include \"hprof/abi.h\"\n"),
    ("core/model/a.h", "#include \"tools/os/os.h\"\n"),
    ("core/agent/a.cpp", "#ifdef __linux__\n#endif\n"),
    ("core/agent/a.cpp", "#if 1 && defined(_WIN32)\n#endif\n"),
    ("core/include/hprof/abi.h", "#if defined(_WIN32)\n#endif\n"),
    ("tools/hprof/a.cpp", "#include <unistd.h>\n"),
    ("tools/hprof/a.cpp", "#include \"core/agent/session/session.h\"\n"),
    ("tools/hprof/a.cpp", "#include <jvmti.h>\n"),
    ("tools/hprof/a.cpp", "#include <zlib.h>\n"),
    ("tools/hprof/a.cpp", "#include \"platform/clock.h\"\n"),
    ("tools/heap/read/a.h", "#include \"tools/hprof/command.h\"\n"),
    ("tools/heap/read/a.h", "#include \"tools/heap/questions/a.h\"\n"),
    ("tools/heap/graph/a.h", "#include \"tools/heap/read/a.h\"\n"),
    ("tools/heap/output/a.h", "#include \"tools/heap/read/a.h\"\n"),
    ("tools/format/a.h", "#include \"tools/heap/graph/a.h\"\n"),
    ("tools/os/a.h", "#include \"core/base/a.h\"\n"),
    ("core/base/a.h", "#include \"tools/hprof/a.h\"\n"),
    ("core/include/hprof/a.h", "#include <string>\n"),
    ("core/include/hprof/a.h", "#include \"abi.h\"\n"),
    ("plugins/x/x.cpp", "#include \"core/base/a.h\"\n"),
    ("plugins/x/x.cpp", "#include \"plugins/z/z.h\"\n"),
    ("plugins/x/x.cpp", "#include \"platform/platform.h\"\n"),
    ("plugins/x/x.cpp", "#include <pthread.h>\n"),
    ("writers/y/y.cpp", "#include <jvmti.h>\n"),
    ("writers/y/y.cpp", "#include <sys/socket.h>\n"),
    ("writers/y/y.cpp", "#include <vector>\n"),
    ("platform/linux/a.cpp", "#include \"core/base/a.h\"\n"),
    ("platform/linux/a.cpp", "#include <hprof/abi.h>\n"),
    ("core/modules/hotspot/a.cpp", "#include \"core/agent/a.h\"\n"),
    ("core/base/a.h", "#include \"tests/unit/a.h\"\n"),
    ("plugins/x/x.cpp", "#include \"tests/unit/a.h\"\n"),
    ("writers/y/y.cpp", "#include \"tests/unit/a.h\"\n"),
    ("tools/hprof/a.cpp", "#include \"tests/unit/a.h\"\n"),
    ("platform/linux/a.cpp", "#include \"tests/unit/a.h\"\n"),
]
# In the tree of RIGHT, which has units.
WRONG_BESIDE_UNITS = [
    ("core/agent/c.cpp", "// counted by cpu_fast"),
    ("core/agent/c.cpp", 'if (id == "cpu_slow") return;'),
    ("core/agent/c.cpp", 'say("paint=n: not painted");'),
    ("core/agent/c.cpp", 'if (setup.is_typed("paint")) return;'),
    ("core/agent/c.cpp", "// cpu=fast starts it"),
    ("core/agent/c.cpp", "if (setup.emits(HPROF_TABLE_HASTE)) return;"),
    ("core/agent/c.cpp", "#include <hprof/cpp/core_tables.hpp>"),
    ("core/modules/bytecode/java/C.java", 'String table = "hprof.haste/1";'),
    ("core/modules/bytecode/java/C.java", "/** Set while cpu=fast counts. */"),
    ("core/vm_tables/c.def", 'ROW("cpu_fast")'),
    ("core/cmake/C.cmake", "# cpu_fast is static"),
    ("core/base/CMakeLists.txt", "# cpu_fast is static"),
    ("tools/mock/CMakeLists.txt", "add_library(a tests/unit/a.cpp)"),
]


class Layers(unittest.TestCase):
    def test_right_includes_pass(self):
        with tempfile.TemporaryDirectory() as root:
            for path, text in RIGHT:
                write(root, path, text)
            code, said = script("check", "layers", root)
            files = sum(not path.endswith(("CMakeLists.txt", ".def")) for path, _ in RIGHT)
            self.assertEqual((code, said), (0, "check layers: %d files, 0 complaints\n" % files))

    def test_each_wrong_line_is_named(self):
        for path, text in WRONG:
            with self.subTest(path=path, text=text), tempfile.TemporaryDirectory() as root:
                write(root, path, "\n" + text)
                code, said = script("check", "layers", root)
                self.assertEqual(code, 1, said)
                self.assertIn("%s:2: " % path, said)
                self.assertIn("1 complaints", said)

    def test_each_name_of_a_unit_in_the_core_is_named(self):
        for path, text in WRONG_BESIDE_UNITS:
            with self.subTest(path=path, text=text), tempfile.TemporaryDirectory() as root:
                for right in RIGHT:
                    write(root, *right)
                write(root, path, "\n" + text + "\n")
                code, said = script("check", "layers", root)
                self.assertEqual((code, said.count("\n")), (1, 2), said)
                self.assertIn("%s:2: " % path, said)

    def test_folders_that_include_each_other_are_named(self):
        for one, other, count in (("tools/hprof", "tools/hprof/view", 1), ("core/agent/vm", "core/agent/session", 0)):
            with self.subTest(one), tempfile.TemporaryDirectory() as root:
                write(root, one + "/a.h", '#include "%s/a.h"\n' % other)
                write(root, other + "/b.h", '#include "%s/a.h"\n' % one)
                self.assertIn("%d complaints" % count, script("check", "layers", root)[1])

    def test_types_of_one_name_are_named(self):
        named, unnamed = "namespace hprof {\nstruct A {\n", "namespace hprof {\nnamespace {\nstruct A final : B {\n"
        for other, count in ((named, 1), (unnamed, 0), (unnamed + "};\n}  // namespace\nenum class A : char {\n", 1), ("namespace hprof::tool {\nclass A {\n", 0)):
            with self.subTest(other), tempfile.TemporaryDirectory() as root:
                write(root, "core/agent/vm/a.h", named)
                write(root, "core/base/b.cpp", other)
                self.assertIn("%d complaints" % count, script("check", "layers", root)[1])

    def test_an_empty_tree_is_no_success(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(script("check", "layers", root)[0], 2)


if __name__ == "__main__":
    unittest.main()
