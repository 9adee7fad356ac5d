"""every=: reports of what is new in each window. Their sums are the whole, whatever the collector and the format."""
import glob
import json
import os
import re
import signal

from commands import must
from harness import check, check_equal, vm_test
from peers import Peer, read_all
from pictures import Otlp, Page, Pprof, parse_collapsed
from reports import parse_ascii
from tool import hprof, sound

WINDOW = '"reason":"window"'


class Reports:
    """The reports of a file of JSON lines: each with its head, and its tables as {name: [(trace, class ..., {column: n})]}."""

    def __init__(self, text):
        self.all = []
        frames, traces = {}, {}
        report = table = None
        for line in text.splitlines():
            record = json.loads(line)
            kind = record["record"]
            if kind == "frame":
                frames[record["id"]] = "%s.%s" % (record["class"], record["method"])
            elif kind == "trace":
                traces[record["id"]] = tuple(frames[frame] for frame in record["frames"])
            elif kind == "report_begin":
                report = {"head": record, "tables": {}, "totals": {}, "notes": []}
                self.all.append(report)
            elif kind == "note" and report:
                report["notes"].append(record["text"])
            elif kind == "table":
                table = report["tables"].setdefault(record["name"], [])
                report["totals"][record["name"]] = record["totals"] or {}
                # What counts, and does not only say how things stand.
                grows = [column["name"] for column in record["columns"]
                         if "weight" in column["flags"] and "state" not in column["flags"]]
            elif kind == "row":
                cells = record["cells"]
                names = tuple(sorted((name, cell["name"]) for name, cell in cells.items() if isinstance(cell, dict)))
                table.append((traces[cells["trace"]], names, {name: cells[name] for name in grows}))

    def windows(self):
        return [report for report in self.all if not report["head"]["cumulative"]]


def sums(reports, name):
    """{(stack, class ...): {column: sum}} of a table in all of the reports, without what is zero."""
    found = {}
    for report in reports:
        for trace, names, values in report["tables"].get(name, []):
            into = found.setdefault((trace, names), {})
            for column, value in values.items():
                into[column] = into.get(column, 0) + value
    return {key: values for key, values in found.items() if any(values.values())}


def check_windows(windows):
    check(len(windows) >= 3, "%d windows" % len(windows))
    for report in windows:
        head = report["head"]
        check(head["begin_ns"] < head["end_ns"], "a window without time: %s" % head)
        check(any(note.startswith("window ") for note in report["notes"]), "notes: %s" % report["notes"])
        for name, rows in report["tables"].items():
            for column, total in report["totals"][name].items():
                if rows and column in rows[0][2]:
                    check_equal(sum(values[column] for _, _, values in rows), total, "total of %s" % column)
    for before, after in zip(windows, windows[1:]):
        check_equal(after["head"]["begin_ns"], before["head"]["end_ns"], "begin of a window and end of the one before")


def run_rounds(vm, options, windows=3):
    """Rounds with every=1 until it has done its work and so many windows are over, then stopped and reported as a whole."""
    live = vm.start("%s,every=1,cutoff=0,control=%s,format=json,file=out.json" % (options, vm.path("ctl")), "Rounds")
    live.wait_until(lambda: "worked" in live.out() and live_text(vm, "out.json").count(WINDOW) >= 2 * windows,
                    "the windows")
    must(vm.path("ctl"), "stop")
    must(vm.path("ctl"), "report")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s" % run)
    return Reports(run.text("out.json"))


def live_text(vm, name):
    try:
        with open(vm.path(name), errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def are_equal(found, wanted, tolerance):
    def is_near(column, value):
        most = tolerance * value + 1 if tolerance and column != "calls" else 0
        return abs(found[column] - value) <= most
    return found.keys() == wanted.keys() and all(is_near(*cell) for cell in wanted.items())


def check_sums(vm, options, name, tolerance=0):
    """tolerance: a share of a time that the whole may be off, besides a nanosecond since both are rounded: a clock whose rate is known
    better and better."""
    reports = run_rounds(vm, options)
    whole = [report for report in reports.all if report["head"]["cumulative"]]
    check_equal(len(whole), 1, "reports of the whole")
    check_windows(reports.windows())
    found, wanted = sums(reports.windows(), name), sums(whole, name)
    check(wanted, "no rows in %s" % name)
    wrong = {key: (found.get(key), wanted.get(key)) for key in set(found) | set(wanted)
             if not are_equal(found.get(key, {}), wanted.get(key, {}), tolerance)}
    check(not wrong, "sums of the windows, and the whole: %s" % wrong)
    return wanted


@vm_test(units=("bytecode", "cpu_times", "encoder_json", "sink_file"), quick=True)
def windows_of_calls_add_up(vm):
    rows = check_sums(vm, "cpu=times", "hprof.cpu_times/1")
    calls = sum(values["calls"] for (trace, _), values in rows.items() if trace[0] == "Rounds.round")
    check_equal(calls, 2 * 25, "calls of round")


@vm_test(units=("bytecode", "cpu_times", "encoder_json", "sink_file"))
def windows_of_elapsed_times_add_up(vm):
    check_sums(vm, "cpu=times,clock=wall", "hprof.cpu_times/1", tolerance=1e-4)


@vm_test(units=("cpu_samples", "encoder_json", "sink_file"))
def windows_of_samples_add_up(vm):
    check_sums(vm, "cpu=samples,interval=1", "hprof.cpu_samples/1")


@vm_test(units=("bytecode", "heap_sites", "encoder_json", "sink_file"))
def windows_of_allocations_add_up(vm):
    rows = check_sums(vm, "heap=sites", "hprof.alloc_sites/1")
    made = sum(values["allocated_objects"] for (trace, names), values in rows.items()
               if "Rounds.made" in trace and ("class", "Rounds") in names)
    check_equal(made, 2 * 25 * 40, "objects of Rounds.made")


@vm_test(units=("monitor", "encoder_json", "sink_file"))
def windows_of_contention_add_up(vm):
    check_sums(vm, "monitor=y", "hprof.monitor_time/1")


@vm_test(units=("bytecode", "cpu_times", "heap_sites", "encoder_json", "sink_file"))
def a_reset_begins_anew(vm):
    live = vm.start("cpu=times,every=1,cutoff=0,control=ctl,format=json,file=out.json", "Rounds")
    live.wait_until(lambda: "worked" in live.out() and live_text(vm, "out.json").count(WINDOW) >= 2, "two windows")
    must(vm.path("ctl"), "reset")
    reports = Reports(live.finish().text("out.json"))
    begins = [report["head"]["begin_ns"] for report in reports.windows()]
    check_equal(begins, sorted(begins), "begins of windows")
    calls = sum(values["calls"] for (trace, _), values in sums(reports.windows(), "hprof.cpu_times/1").items()
                if trace[0] == "Rounds.round")
    check(calls <= 2 * 25, "%d calls of round" % calls)


def main_calls(form, run, name):
    if form == "collapsed":
        return parse_collapsed(run.text(name), "calls", False).self_by_method("calls").get("Rounds.main", 0)
    if form == "pprof":
        return Pprof(run.bytes(name)).self_by_method("calls").get("Rounds.main", 0)
    return sum(table.self_by_method("calls").get("Rounds.main", 0) for table in Page(run.text(name)).tables)


def numbered(vm, prefix):
    return sorted((name for name in os.listdir(vm.dir) if name.startswith(prefix)),
                  key=lambda name: int(name[len(prefix):]))


def check_files(vm, form):
    extra = ",weight=calls" if form == "collapsed" else ""
    live = vm.start("cpu=times,every=1,cutoff=0,format=%s%s,file=w-%%n" % (form, extra), "Rounds")
    live.wait_until(lambda: "worked" in live.out() and len(numbered(vm, "w-")) >= 3, "the files")
    run = live.finish()
    names = numbered(vm, "w-")
    check_equal(names, ["w-%d" % (i + 1) for i in range(len(names))], "files")
    check_equal(sum(main_calls(form, run, name) for name in names), 1, "calls of main in %s" % names)


@vm_test(units=("bytecode", "cpu_times", "encoder_collapsed", "encoder_pprof", "sink_file"))
def each_window_has_a_file(vm):
    for form in ("collapsed", "pprof"):
        check_files(vm, form)
        for name in numbered(vm, "w-"):
            os.remove(vm.path(name))


@vm_test(units=("bytecode", "cpu_times", "encoder_flamegraph", "sink_file"))
def each_window_has_a_page(vm):
    check_files(vm, "flamegraph")


@vm_test(units=("bytecode", "cpu_times", "encoder_ascii", "sink_file"), quick=True)
def a_text_report_is_the_sum_of_its_windows(vm):
    """In one file and in a folder; a report of all since the start, in between, is not a window."""
    os.mkdir(vm.path("apart"))
    for name in ("w.txt", "apart/w-%n.txt", "apart/w-%t.txt"):
        live = vm.start("cpu=times,every=1,cutoff=0,file=" + name, "Rounds")
        live.wait_until(lambda: "worked" in live.out(), "its work")
        live.request_data_dump()
        live.wait_until(lambda name=name: sum(map(windows_in, texts(vm, name))) >= 3, "three windows")
        check_equal(live.finish().code, 0, "exit code")
        files = texts(vm, name)
        check_equal(len(files) == 1, name == "w.txt", "files of " + name)
        whole = name if len(files) == 1 else "apart"
        code, said = hprof(vm, "convert", whole, "--to=collapsed", "--weight=calls", "-o", "-")
        calls = parse_collapsed("".join(line + "\n" for line in said.splitlines() if not line.startswith("hprof: ")), "calls", False)
        check_equal((code, calls.self_by_method("calls").get("Rounds.round")), (0, 2 * 25), "calls of round\n" + said)
        code, said = hprof(vm, "print", whole, "--top=1")
        check(code == 0 and "; the sum of " in said, said)
        code, said = hprof(vm, "print", whole, "--window=1", "--top=1")
        check(code == 0 and "; one window\n" in said, said)
        code, said = hprof(vm, "print", whole, "--window=9999")
        check(code == 1 and "has no window 9999, but windows 1 to" in said, said)
        for path in glob.glob(vm.path("apart/*")):
            os.remove(path)


def texts(vm, name):
    found = []
    for path in glob.glob(vm.path(re.sub("%.", "*", name))):
        with open(path, errors="replace") as file:
            found.append(file.read())
    return found


def windows_in(text):
    return len(re.findall("^HPROF NOTE: window ", text, re.M))


@vm_test(units=("cpu_samples", "encoder_binary", "sink_file"))
def a_binary_file_says_of_its_windows(vm):
    live = vm.start("cpu=samples,interval=1,every=1,format=b,file=w.hprof", "Idle")
    live.wait_until(lambda: live_text(vm, "w.hprof").count(" ms since 1970") >= 3, "three windows")
    check_equal(live.finish().code, 0, "exit code")
    sound(vm, "w.hprof", "--for=mat,visualvm,jhat")
    text = hprof(vm, "print", "w.hprof")[1]
    totals = [int(total) for total in re.findall(r"^CPU SAMPLES \(total = (\d+)\)", text, re.M)]
    check_equal(text.count("in the window of "), len(totals), text)
    said = hprof(vm, "print", "--lines", "w.hprof")[1]
    check("CPU SAMPLES by line, samples %d in the rows; sampled; the sum of %d windows" % (sum(totals), len(totals)) in said, said)


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def the_oldest_files_go(vm):
    live = vm.start("cpu=samples,every=1,keep-files=2,file=w-%n", "Idle")
    live.wait_until(lambda: "w-5" in os.listdir(vm.dir), "the fifth file")
    run = live.finish()
    names = numbered(vm, "w-")
    check_equal(len(names), 2, "files: %s\n%s" % (names, run))
    check(int(names[-1][2:]) >= 5, "the newest: %s" % names)
    for name in names:
        report = parse_ascii(run.text(name))
        check_equal(len(report.cpu()), 1, "tables of %s" % name)
        check_equal(sum(note.startswith("program Idle, process ") for note in report.notes), 1, "notes of %s on what ran" % name)


@vm_test(units=("cpu_samples", "encoder_json", "sink_socket"))
def windows_follow_each_other_on_a_socket(vm):
    with Peer(read_all) as peer:
        live = vm.start("cpu=samples,every=1,format=json,net=127.0.0.1:%d" % peer.port, "Idle")
        live.wait_until(lambda: peer.received.count(WINDOW.encode()) >= 3, "three windows")
        live.finish()
        reports = Reports(peer.finish().decode())
    check_windows(reports.windows())
    check_equal(len(reports.windows()), len(reports.all), "windows and reports")


@vm_test(units=("heap_dump", "msa"))
def collectors_without_counts_are_refused(vm):
    for options in ("heap=dump", "heap=all", "cpu=samples,msa=y"):
        line = vm.refused(options + ",every=10")
        check("is not supported with every=: it has no counts to take a window from" in line, line)
    check("keep-files= needs an output in files" in vm.refused("cpu=samples,keep-files=3,net=127.0.0.1:1"), "keep-files")


@vm_test(units=("cpu_samples", "encoder_otlp", "encoder_pprof", "encoder_collapsed", "sink_file"))
def a_killed_vm_leaves_whole_windows(vm):
    readers = {"otlp": Otlp, "otlp,events=y": Otlp, "pprof": Pprof, "collapsed": lambda data: parse_collapsed(data.decode(), "samples", False)}
    for number_of_run, (form, read) in enumerate(readers.items()):
        name = "run%d" % number_of_run
        live = vm.start("cpu=samples,interval=1,every=1,format=%s,file=%s-%%n" % (form, name), "Idle")
        live.wait_until(lambda name=name: os.path.exists(vm.path("%s-4" % name)), "a fourth file of " + form)
        live.signal(signal.SIGKILL)
        live.finish()
        for number in (1, 2, 3):
            with open(vm.path("%s-%d" % (name, number)), "rb") as file:
                data = file.read()
            check(data, "file %d of %s is empty" % (number, form))
            read(data)
