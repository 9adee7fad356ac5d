"""What tests/plugins/abi/snapshot.py refuses: headers changed on purpose, compared with what they were."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
HEADERS = os.path.join(HERE, "..", "..", "..", "core", "include")
COMPILER = os.environ.get("HPROF_TEST_CC", "cc")

LOG = "hprof/service/log.h"
MESSAGE = "  void (*message)(const hprof_host* host, const char* text);\n"
DETAIL = "  void (*detail)(const hprof_host* host, const char* text);\n"
LOG_END = "} hprof_log_service;"
VERSION = "#define HPROF_ABI_MINOR 0"


class Snapshot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The file of the headers as they are, of the one data model that is compiled for here."""
        sys.path.insert(0, HERE)
        import snapshot
        cls.snapshot = snapshot
        headers = snapshot.Headers(HEADERS)
        model, found = snapshot.numbers_of(headers, COMPILER.split())
        rows = snapshot.rows_of(headers, {model: found})
        cls.rows = {what: (tuple(value or values[snapshot.MODELS.index(model)] for value in values), declaration)
                    for what, (values, declaration) in rows.items()}

    def setUp(self):
        self.work = tempfile.mkdtemp()
        self.headers = os.path.join(self.work, "include")
        shutil.copytree(HEADERS, self.headers)
        self.snapshot.write_file(os.path.join(self.work, "abi-1.0.txt"), self.rows)

    def tearDown(self):
        shutil.rmtree(self.work)

    def change(self, name, before, after):
        path = os.path.join(self.headers, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(before, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after, 1))

    def compare(self):
        run = subprocess.run([sys.executable, os.path.join(HERE, "snapshot.py"), "--cc", COMPILER, "--headers",
                              self.headers, "--files", self.work], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True)
        return run.returncode, run.stdout

    def refused(self, *parts):
        code, said = self.compare()
        self.assertEqual(code, 1, said)
        for part in parts:
            self.assertIn(part, said)

    def holds(self):
        code, said = self.compare()
        self.assertEqual(code, 0, said)

    def release(self):
        """As abi-1.0.txt is, now that version 1.0 is released."""
        path = os.path.join(self.work, "abi-1.0.txt")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(self.snapshot.CANDIDATE, "version 1.0", 1))

    def write_next(self):
        """The file of version 1.1 as the changed headers have it."""
        headers = self.snapshot.Headers(self.headers)
        model, found = self.snapshot.numbers_of(headers, COMPILER.split())
        rows = {what: (tuple(value or "0" for value in values), declaration)
                for what, (values, declaration) in self.snapshot.rows_of(headers, {model: found}).items()}
        self.snapshot.write_file(os.path.join(self.work, "abi-1.1.txt"), rows)

    def test_headers_as_they_are(self):
        self.holds()

    def test_swapped_service_members(self):
        self.change(LOG, MESSAGE, "@")
        self.change(LOG, DETAIL, MESSAGE)
        self.change(LOG, "@", DETAIL)
        self.refused("hprof_log_service.message was", "hprof_log_service.detail was", "plugins rely on")

    def test_other_argument(self):
        self.change(LOG, MESSAGE, MESSAGE.replace("const char* text", "char* text"))
        self.refused("hprof_log_service.message was declared")

    def test_member_that_goes(self):
        self.change(LOG, DETAIL, "")
        self.refused("hprof_log_service.detail is gone")

    def test_other_constant(self):
        self.change("hprof/abi.h", "#define HPROF_FAILED 4", "#define HPROF_FAILED 6")
        self.refused("HPROF_FAILED was 0x4 and is 0x6")

    def test_constant_that_leaves_a_hole(self):
        self.change("hprof/record.h", "#define HPROF_HEAP_ONE_A_FILE 4u", "#define HPROF_HEAP_ONE_A_FILE 8u")
        self.refused("a hole: HPROF_HEAP_ONE_A_FILE is 8")

    def test_other_id_of_a_service(self):
        self.change(LOG, '"hprof.log/1"', '"hprof.log/2"')
        self.refused("HPROF_SERVICE_LOG was declared")

    def test_member_appended_without_a_new_version(self):
        self.change(LOG, LOG_END, "  void (*more)(void);\n" + LOG_END)
        self.refused("hprof_log_service.more is new", "needs a new HPROF_ABI_MINOR")

    def test_member_appended_with_a_new_version(self):
        self.change(LOG, LOG_END, "  void (*more)(void);\n" + LOG_END)
        self.change("hprof/abi.h", VERSION, "#define HPROF_ABI_MINOR 1")
        self.refused("there is no", "abi-1.1.txt")
        self.write_next()
        self.holds()

    def test_member_put_between_with_a_new_version(self):
        self.change(LOG, DETAIL, "  void (*more)(void);\n" + DETAIL)
        self.change("hprof/abi.h", VERSION, "#define HPROF_ABI_MINOR 1")
        self.write_next()
        self.refused("abi-1.0.txt: hprof_log_service.detail was")

    def test_struct_without_a_size_that_grows(self):
        self.change("hprof/abi.h", "} hprof_text;", "  uint64_t more;\n} hprof_text;")
        self.change("hprof/abi.h", VERSION, "#define HPROF_ABI_MINOR 1")
        self.write_next()
        self.refused("abi-1.0.txt: struct hprof_text was")

    def test_member_put_into_padding_with_a_new_version(self):
        """The older side's size says that it has the member."""
        path = "hprof/service/ids.h"
        self.change(path, "0: not known, or virtual */\n} hprof_thread_info;",
                    "0: not known, or virtual */\n  uint32_t last;\n} hprof_thread_info;")
        headers = self.snapshot.Headers(self.headers)
        model, found = self.snapshot.numbers_of(headers, COMPILER.split())
        rows = {what: (tuple(value or values[self.snapshot.MODELS.index(model)] for value in values), declaration)
                for what, (values, declaration) in self.snapshot.rows_of(headers, {model: found}).items()}
        self.snapshot.write_file(os.path.join(self.work, "abi-1.0.txt"), rows)
        self.change(path, "  uint32_t last;\n", "  uint32_t last, padding;\n")
        self.change("hprof/abi.h", VERSION, "#define HPROF_ABI_MINOR 1")
        self.write_next()
        self.refused("abi-1.0.txt: hprof_thread_info.padding lies in the ")

    def test_struct_that_grows_inside_of_another(self):
        self.change("hprof/record.h", "} hprof_rec_note;", "  hprof_column column;\n} hprof_rec_note;")
        code, said = self.compare()
        self.assertEqual(code, 2, said)
        self.assertIn("hprof_rec_note.column: hprof_column may grow", said)

    def test_the_host_is_compared(self):
        self.change("hprof/host.h", "  uint16_t abi_major;\n  uint16_t abi_minor;", "  uint32_t abi_minor;")
        self.refused("hprof_host.abi_major is gone")

    def test_type_that_differs_by_compiler(self):
        self.change("hprof/abi.h", "} hprof_text;", "  long more;\n} hprof_text;")
        code, said = self.compare()
        self.assertEqual(code, 2, said)
        self.assertIn("hprof_text.more: long is no type of fixed size", said)

    def test_candidate_names_the_command_and_a_release_does_not(self):
        self.change(LOG, LOG_END, "  void (*more)(void);\n" + LOG_END)
        self.refused("snapshot.py --write")
        self.release()
        path = os.path.join(self.work, "abi-1.0.txt")
        self.assertTrue(self.snapshot.may_write(path, self.rows))
        self.assertFalse(self.snapshot.may_write(path, {**self.rows, "HPROF_MORE": (("0x1",) * 4, "")}))
        code, said = self.compare()
        self.assertEqual(code, 1, said)
        self.assertNotIn("--write", said)

    def test_drafts_may_change(self):
        self.change("hprof/draft/library.h", "} hprof_library_service;", "  void* more;\n} hprof_library_service;")
        self.holds()


if __name__ == "__main__":
    unittest.main()
