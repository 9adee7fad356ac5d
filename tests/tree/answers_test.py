"""What hprof COMMAND --json prints is what docs/answers.schema.json describes, and has the numbers of the text: of reports with exact
counts, samples, times, stacks of threads, tables without stacks, dumps, and of the golden files.

answers_test.py PROGRAM
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, write

sys.path.insert(0, os.path.join(ROOT, "tests", "vm"))
import strict_json  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
GOLDEN = os.path.join(ROOT, "tests", "unit", "golden")
WHOLE = "HPROF NOTE: program Db, process 4711, VM 17, 2 processors; options cutoff=0\n"
TIMES = """JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970

TRACE 300001: (thread=200001)
\tdemo.Db.query(Db.java:12)
\tdemo.Page.draw(Page.java:20)
TRACE 300002: (thread=200001)
\tdemo.Page.draw(Page.java:20)
CPU TIME (ms) BEGIN (total = 100) Thu Jan  1 00:00:00 1970
rank   self  accum   count trace method
   1 80.00%% 80.00%%      %d 300001 demo.Db.query
   2 20.00%% 100.00%%      2 300002 demo.Page.draw
CPU TIME (ms) END
"""
SAMPLES = """JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970

THREAD START (obj=50000001, id = 200001, name="work\\er", group="main")
TRACE 300001: (thread=200001)
\tdemo.Sort.sort(Sort.java:12)
\tdemo.Main.main(Main.java:20)
TRACE 300002: (thread=200001)
\tJVM.gc_active(Unknown Source)
CPU SAMPLES BEGIN (total = %d) Thu Jan  1 00:00:00 1970
rank   self  accum   count trace method
   1 90.00%% 90.00%%      %d 300001 demo.Sort.sort
   2 10.00%% 100.00%%      10 300002 JVM.gc_active
CPU SAMPLES END
HPROF NOTE: cpu=samples: 3 samples were lost, since the queue was full
HPROF NOTE: cpu=samples: threads, each with its nid: 200001 4712
"""


def hprof(*arguments):
    run = subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return run.returncode, run.stdout.decode(), run.stderr.decode(errors="replace")


def schema_of(arguments):
    return "plugin-check" if arguments[:2] == ("plugin", "check") else arguments[0]


class Answers(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(ROOT, "docs", "answers.schema.json"), encoding="utf-8") as file:
            self.schema = json.load(file)

    def put(self, name, text):
        return write(self.folder, name, text)

    def answer(self, *arguments, status=0):
        code, text, said = hprof(*arguments, "--json")
        self.assertEqual(code, status, "%s: %s" % (arguments, said))
        answer = strict_json.read(text)
        self.assertEqual(strict_json.complaints(answer, self.schema, self.schema)[:5], [], str(arguments))
        self.assertEqual(answer["schema"], "hprof-%s-1" % schema_of(arguments))
        return answer

    def profile(self, *arguments):
        return self.answer("print", *arguments)["profile"]

    def test_print_has_self_and_total_of_methods_and_what_the_numbers_are(self):
        table = self.profile(self.put("times.txt", TIMES % 10 + WHOLE), "--by=calls")["parts"][0]
        facts = table["facts"]
        self.assertEqual([facts[key] for key in ("table", "column", "unit", "sum", "may_lack_rows")], ["cpu_times", "calls", "count", 12, "no"])
        self.assertEqual(table["methods"], [{"self": 10, "total": 10, "time_ns": 80000000, "method": "demo.Db.query"},
                                            {"self": 2, "total": 12, "time_ns": 20000000, "method": "demo.Page.draw"}])
        self.assertEqual([row["method"] for row in table["hottest_path"]], ["demo.Page.draw", "demo.Db.query"])
        columns = {row["column"]: [row["numbers"], row["repeats"], row["unit"], row["sum"]] for row in table["columns"]}
        self.assertEqual(columns, {"time_ns": ["measured", "no", "ns", 100000000], "calls": ["exact", "yes", "count", 12]})

    def test_print_has_the_notes_and_what_rows_without_a_stack_are(self):
        profile = self.profile(self.put("samples.txt", SAMPLES % (100, 90)))
        self.assertEqual(profile["notes"], [{"note": "cpu=samples: 3 samples were lost, since the queue was full"}])
        self.assertEqual([row["method"] for row in profile["meanings"]], ["JVM.gc_active"])
        column = profile["parts"][0]["columns"][0]
        self.assertEqual([column["numbers"], column["repeats"], column["sample"], column["sum"]], ["sampled", "no", 1, 100])

    def test_seconds_are_decimal_numbers(self):
        used = ("HPROF NOTE: cpu=samples: engine signal, interval 10 ms, 100 samples in 1.022 s\n"
                "HPROF NOTE: cpu=samples: the process used 1.722 s of CPU time meanwhile, the Java threads in the table 1 s, "
                "the C2 compiler 0.1 s, the C1 compiler 0.2 s; the rest, 0.022 s, went to other threads, some of which have ended\n")
        path = self.put("samples.txt", SAMPLES % (100, 90) + used)
        code, text, _ = hprof("print", "--json", path)
        self.assertEqual([code, re.findall(r'"(?:cpu_seconds|process_seconds|process_cpu_seconds)":([0-9.]+)', text)],
                         [0, ["1.722", "1.022", "1", "0.3", "0.022"]])

    def test_print_is_bounded_as_the_text(self):
        table = self.profile(self.put("samples.txt", SAMPLES % (100, 90)), "--top=1", "--traces")["parts"][0]
        self.assertEqual([len(table["methods"]), table["left_out"]["methods"], len(table["rows"]), table["left_out"]["rows"]], [1, 2, 1, 1])
        self.assertEqual(table["rows"][0]["stack"], ["demo.Sort.sort(Sort.java:12)", "demo.Main.main(Main.java:20)"])

    def test_print_by_line_by_method_and_by_thread(self):
        path = self.put("samples.txt", SAMPLES % (100, 90))
        table = self.profile(path, "--lines")["parts"][0]
        self.assertEqual(table["lines"][0], {"self": 90, "total": 90, "line": "demo.Sort.sort(Sort.java:12)"})
        table = self.profile(path, "--by-method")["parts"][0]
        self.assertEqual([len(table["methods"]), "hottest_path" in table], [3, False])
        table = self.profile(path, "--threads")["parts"][0]
        self.assertEqual(table["threads"], [{"sum": 100, "thread": "work\\er", "nid": 4712, "ended": "no", "top_method": "demo.Sort.sort",
                                             "top_method_sum": 90}])
        self.assertEqual(self.profile(path, "--thread=4712")["facts"]["only_threads"], "4712")

    def test_print_of_methods_that_were_never_called(self):
        rows = "".join("TRACE 30000%d:\n\tdemo.A.m%d(A.java:%d)\n" % (i, i, i) for i in (1, 2, 3))
        calls = "".join("METHOD_CALLS: rank=%d self=0.00%% accum=0.00%% calls=%d trace=30000%d\n" % (i, count, i)
                        for i, count in ((1, 7), (2, 0), (3, 0)))
        path = self.put("calls.txt", "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n" + rows + calls)
        never = self.answer("print", "--never", path)["never_called"]
        self.assertEqual(never["facts"], {"never": 2, "methods": 3, "classes_with": 1, "classes": 1, "since": "while calls were counted"})
        self.assertEqual(never["methods"], [{"package": "demo", "class": "demo.A", "method": "m2:2"},
                                            {"package": "demo", "class": "demo.A", "method": "m3:3"}])

    def test_print_of_tables_without_stacks(self):
        path = self.put("other.txt", "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\n"
                        "TRACE 300001:\n\tdemo.A.m(A.java:1)\nACME_POOLS: pool=a size=3 load=0.50\nACME_POOLS: pool=b size=4 load=1.25\n"
                        "MONITOR DUMP BEGIN\n    THREAD 200001, trace 300001, status: R\nMONITOR DUMP END\n")
        table, dump = self.answer("print", path)["plain_tables"]["parts"]
        self.assertEqual([[each["facts"]["is_read"], len(each["rows"])] for each in (table, dump)], [["yes", 2], ["no", 0]])
        self.assertEqual([table["title"], table["rows"]],
                         ["ACME_POOLS", [{"pool": "a", "size": 3, "load": 0.5}, {"pool": "b", "size": 4, "load": 1.25}]])

    def test_print_of_the_golden_files(self):
        for name in ("ascii.txt", "ascii_thread_y_lineno_n.txt", "ascii_cpu_old.txt", "collapsed.txt", "json.txt"):
            for options in ((), ("--traces",), ("--lines",), ("--threads",), ("--by-method",)):
                self.answer("print", os.path.join(GOLDEN, name), *options)
        for name in ("binary", "pprof", "latency_pprof"):
            for source in glob.glob(os.path.join(GOLDEN, name + ".hex")):
                with open(source, encoding="ascii") as file, open(os.path.join(self.folder, name), "wb") as copy:
                    copy.write(bytes.fromhex("".join(line[6:56] for line in file)))
                self.answer("print", os.path.join(self.folder, name))
        file = self.answer("print", os.path.join(self.folder, "binary"))["binary_file"]
        with open(os.path.join(self.folder, "binary"), "rb") as golden:
            head = len("JAVA PROFILE 1.0.1\0") + 4 + 8
            self.assertEqual(sum(row["bytes"] for row in file["records"]), len(golden.read()) - head)
        self.put("cut", "")
        with open(os.path.join(self.folder, "binary"), "rb") as golden, open(os.path.join(self.folder, "cut"), "wb") as cut:
            cut.write(golden.read()[:1500])
        self.assertTrue(self.answer("print", os.path.join(self.folder, "cut"), status=1)["problems"])

    def test_diff_has_both_sides_of_rows_and_conditions(self):
        before, after = self.put("a.txt", TIMES % 10 + WHOLE), self.put("b.txt", TIMES % 13 + WHOLE)
        answer = self.answer("diff", "--by=calls", "--fail-if=calls(demo.Db.query)>+0", "--fail-if=new>0", before, after, status=1)
        table = answer["changes"]["parts"][0]
        self.assertEqual([table["facts"][key] for key in ("column", "numbers", "repeats", "sum_before", "sum_after")],
                         ["calls", "exact", "yes", 12, 15])
        row = table["methods"][0]
        self.assertEqual([row[key] for key in ("total_change", "total_before", "total_after", "self_change", "method")],
                         [3, 10, 13, 3, "demo.Db.query"])
        conditions = answer["conditions"]
        self.assertEqual([[row[key] for key in ("condition", "holds", "before", "now", "change")] for row in conditions["conditions"]],
                         [["calls(demo.Db.query)>+0", "yes", 10, 13, 3], ["new>0", "no", 0, 0, 0]])
        self.assertEqual([conditions["facts"], len(conditions["parts"])], [{"conditions": 2, "hold": 1}, 1])
        part = conditions["parts"][0]
        self.assertEqual(part["rows"], [{"before_least": 10, "before_most": 10, "now": 13, "change": 3, "name": "demo.Db.query"}])
        self.assertEqual([[row["change"], row["caller"]] for row in part["callers"]], [[3, "demo.Page.draw"]])
        self.assertEqual(self.answer("diff", "--fail-if=new>0", before, after)["conditions"]["facts"]["hold"], 0)

    def test_diff_of_samples_says_what_chance_explains(self):
        before, after = self.put("a.txt", SAMPLES % (100, 90)), self.put("b.txt", SAMPLES % (105, 95))
        for options in ((), ("--lines",), ("--traces",), ("--normalise",), ("--by=self",)):
            table = self.answer("diff", before, after, *options)["changes"]["parts"][0]
            self.assertEqual([table["facts"]["numbers"], table["facts"]["sample"]], ["sampled", 1])
        row = self.answer("diff", before, after)["changes"]["parts"][0]["methods"][0]
        self.assertEqual([row["total_change"], row["total_by_chance"]], [5, "yes"])
        row = self.answer("diff", before, after, "--traces")["changes"]["parts"][0]["rows"][0]
        self.assertEqual([row["name"], row["stack"][1]], ["demo.Sort.sort", "demo.Main.main(Main.java:20)"])

    def test_diff_of_tables_without_stacks(self):
        head = "JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nTRACE 300001:\n\tdemo.A.m(A.java:1)\n"
        before = self.put("a.txt", head + "ACME_POOLS: pool=a size=3 load=0.50\nACME_POOLS: pool=b size=4 load=1.2\nACME_POOLS: pool=c size=1 load=0\n")
        after = self.put("b.txt", head + "ACME_POOLS: pool=a size=4 load=0.80\nACME_POOLS: pool=b size=1 load=1.2\nACME_POOLS: pool=d size=2 load=0\n")
        answer = self.answer("diff", before, after)
        self.assertEqual(answer["changes"]["parts"], [])
        table, = answer["plain_changes"]["parts"]
        self.assertEqual([table["title"], table["facts"]], ["ACME_POOLS", {"ranked_by": "size", "same": 0}])
        keys = ("size_change", "size_before", "size_after", "load_change", "load_before", "load_after", "mark", "pool")
        self.assertEqual([[row[key] for key in keys] for row in table["rows"]],
                         [[-3, 4, 1, 0, 1.2, 1.2, None, "b"], [None, None, 2, None, None, 0, "new", "d"],
                          [1, 3, 4, 0.3, 0.5, 0.8, None, "a"], [None, 1, None, None, 0, None, "gone", "c"]])
        table, = self.answer("diff", "--by=load", "--top=1", before, after)["plain_changes"]["parts"]
        self.assertEqual([table["rows"][0]["pool"], table["left_out"]["rows"]], ["a", 3])

    def test_diff_of_class_histograms(self):
        paths = [self.put(name, "class,objects,shallow_bytes\ndemo.A,%d,%d\n" % (count, 16 * count)) for name, count in (("a", 2), ("b", 5))]
        classes = self.answer("diff", *paths)["class_changes"]
        self.assertEqual([classes["facts"]["sum_after"], classes["facts"]["grew_most"]], [80, "demo.A"])
        self.assertEqual([classes["classes"][0][key] for key in ("bytes_change", "objects_change", "class")], [48, 3, "demo.A"])

    def test_check_has_place_and_rule_of_each_problem(self):
        good, bad = os.path.join(GOLDEN, "ascii.txt"), self.put("bad.txt", SAMPLES % (50, 90))
        files = self.answer("check", good, bad, status=1)["files"]["parts"]
        self.assertEqual([[part["facts"]["file"], part["facts"]["errors"] != 0, part["facts"]["unit"]] for part in files],
                         [[good, False, "line"], [bad, True, "line"]])
        row = next(row for row in files[1]["problems"] if row["severity"] == "error")
        line = "%s: line %d: error: %s: %s" % (bad, row["where"], row["rule"], row["text"])
        self.assertIn(line, hprof("check", bad)[1])
        part = self.answer("check", "--max=1", bad, status=1)["files"]["parts"][0]
        self.assertEqual([len(part["problems"]), part["left_out"]["problems"]],
                         [1, part["facts"]["errors"] + part["facts"]["warnings"] - 1])
        self.assertEqual(sum(row["count"] for row in part["more"]), part["left_out"]["problems"])

    def test_doctor_has_the_findings_of_the_text(self):
        code, text, _ = hprof("doctor")
        host = self.answer("doctor", status=code)["host"]
        for row in host["findings"]:
            self.assertIn("  %-8s %-12s %s\n" % (row["verdict"], row["subject"], row["text"]), text)
        self.assertEqual(len(host["findings"]), sum(line[:2] == "  " and line[2] != " " for line in text.splitlines()))
        process = self.answer("doctor", str(os.getpid()), status=1)["process"]
        self.assertEqual([process["facts"]["pid"], process["findings"][-1]["verdict"]], [os.getpid(), "no"])

    def test_threads_of_a_dump(self):
        dump = """2026-11-29 10:00:00
Full thread dump OpenJDK 64-Bit Server VM (21.0.2+13 mixed mode):

"a" #21 [4711] prio=5 os_prio=0 cpu=12.50ms elapsed=1.00s tid=0x00007f01 nid=4711 waiting for monitor entry  [0x00007f02]
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat demo.A.one(A.java:3)
\t- waiting to lock <0x0000000000000010> (a java.lang.Object)

"b\\ue000" #22 [4712] prio=5 os_prio=0 cpu=2.00ms elapsed=1.00s tid=0x00007f03 nid=4712 runnable  [0x00007f04]
   java.lang.Thread.State: RUNNABLE
\tat demo.A.two(A.java:7)
\t- locked <0x0000000000000010> (a java.lang.Object)

"VM Thread" os_prio=0 cpu=1.00ms elapsed=1.00s tid=0x00007f05 nid=4713 runnable

"""
        found = self.answer("threads", self.put("dump.txt", dump))["thread_dump"]
        self.assertEqual([found["facts"]["platform_threads"], found["facts"]["virtual_threads"], found["deadlocks"]], [3, 0, []])
        lock, = found["locks"]
        self.assertEqual([lock["waiting"], lock["class"], lock["held_by_number"], lock["held_by_stack"][0]],
                         [1, "java.lang.Object", 22, "at demo.A.two(A.java:7)"])
        first = found["platform_threads"][0]
        self.assertEqual([first[key] for key in ("thread", "number", "nid", "cpu_ms", "cpu_ms_since_start", "waits_for", "holds")],
                         ["a", 21, "4711", None, 12.5, lock["lock"], []])
        self.assertEqual(found["platform_threads"][1]["holds"], [lock["lock"]])

    def test_plugin_list_has_the_units_of_the_text(self):
        code, text, said = hprof("plugin", "list")
        if code != 0:
            self.skipTest(said)
        plugins = self.answer("plugin", "list")["plugins"]
        for row in plugins["units"]:
            self.assertIn("\n  %s %s (" % (row["kind"], row["unit"]), text)
        self.assertEqual(len(plugins["units"]), len(re.findall(r"^  \w+ \w+ \(", text, re.M)))
        self.assertEqual({row["path"] for row in plugins["modules"]}, set(re.findall(r"plugin ABI [0-9.]+: (/.*)", text)))
        intervals = [row for row in plugins["options"] if row["option"] == "interval"]
        self.assertTrue(all(row["help"] for row in intervals) and intervals)
        self.answer("plugin", "check", plugins["modules"][0]["path"], status=hprof("plugin", "check", plugins["modules"][0]["path"])[0])

    def test_no_other_form_goes_with_json(self):
        path = self.put("times.txt", TIMES % 10 + WHOLE)
        for line in (("print", "--csv", path), ("print", "--records", path), ("diff", "--markdown", "--fail-if=new>0", path, path)):
            code, text, said = hprof(*line, "--json")
            self.assertEqual([code, text, "does not go with --json" in said], [2, "", True], said)

    def test_a_page_leaves_stdout_to_the_answer(self):
        path = self.put("times.txt", TIMES % 10 + WHOLE)
        self.answer("diff", path, path, "-o", os.path.join(self.folder, "page.html"))
        with open(os.path.join(self.folder, "page.html"), encoding="utf-8") as file:
            self.assertEqual(file.read(15), "<!doctype html>")


unittest.main()
