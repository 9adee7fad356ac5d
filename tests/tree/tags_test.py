"""scripts/check tags finds a function of a service whose row differs from its header."""
import tempfile
import unittest

from support import script, write

HEADER = """/* Threads: [control] */
#ifndef X
typedef struct hprof_log_service {
  uint32_t size;
  /* One line. [onload][app] */
  void (*message)(const hprof_host* host, const char* text);
  void (*detail)(const hprof_host* host,
                 const char* text);
  /* Of a collector. Only inside report(). [control][heap] */
  void (*write)(const hprof_host* host); /* [any] but
                                            [signal] */
  void (*define)(const hprof_host* host);
  /* Untagged. */
  void (*stop)(const hprof_host* host);
  void (*clock)(const hprof_host* host); /* [any] */
  void (*wake)(hprof_agent_thread* thread); /* [app] */
} hprof_log_service;
#endif
"""
ROWS = ["message, onload | app", "detail, onload | app", "write, any_but_signal", "define, report | heap", "stop, control",
        "clock, any", "wake, app"]


class Tags(unittest.TestCase):
    def said(self, rows):
        with tempfile.TemporaryDirectory() as root:
            write(root, "core/include/hprof/service/log.h", HEADER)
            write(root, "core/include/hprof/service/functions.def", "".join("HPROF_FUNCTION(log, %s)\n" % row for row in rows))
            return script("check", "tags", root)

    def test_rows_of_the_same_tags_pass(self):
        self.assertEqual(self.said(ROWS), (0, "check tags: 7 functions, 0 complaints\n"))

    def test_each_difference_is_found(self):
        for at, row in enumerate(ROWS):
            name = "log." + row.split(",")[0]
            for others in (ROWS[:at] + ROWS[at + 1:], ROWS[:at] + [row + " | signal"] + ROWS[at + 1:]):
                code, said = self.said(others)
                self.assertEqual((code, name in said, len(said.splitlines())), (1, True, 2), said)
        self.assertEqual(self.said(ROWS + ["never, app"])[0], 1)


if __name__ == "__main__":
    unittest.main()
