"""msa=y: a row of the system's books for each thread, also for those that have ended."""
import re

from harness import check, vm_test
from reports import parse_ascii


@vm_test(units=("msa", "cpu_samples", "encoder_ascii", "sink_file"), quick=True)
def every_thread_has_a_row_with_the_time_it_used(vm):
    run = vm.profiled("cpu=samples,msa=y,file=out.txt", "Spin", "20")
    text = run.text("out.txt")
    parse_ascii("".join(line for line in text.splitlines(True) if not line.startswith("MICROSTATES:")))
    rows = [dict(re.findall(r"(\w+)=(-?\d+)", line)) for line in text.splitlines() if line.startswith("MICROSTATES:")]
    started = {number: name for number, name in re.findall(r'THREAD START \(obj=\w+, id = (\d+), name="(.*?)"', text)}
    seen = [row["thread"] for row in rows]
    check(len(seen) == len(set(seen)), "a thread has two rows: %s" % seen)
    check(set(seen) <= set(started), "rows of unknown threads: %s" % (set(seen) - set(started)))
    check(len(set(started) - set(seen)) <= 1, "threads without a row: %s" % (set(started) - set(seen)))
    busiest = max(rows, key=lambda row: int(row["cpu_ns"]))
    # It is the same thread of the system by both names.
    check(started[busiest["thread"]] in ("main", "DestroyJavaVM"), "the busiest thread: %s" % busiest)
    check(int(busiest["user_ns"]) > 0, "no user time: %s" % busiest)
    check(int(busiest["minor_faults"]) >= 0 and int(busiest["voluntary_switches"]) > 0, "counts: %s" % busiest)
    check("HPROF NOTE: msa: not kept by this system: " in text, "nothing is said to be missing")


@vm_test(units=("msa", "encoder_ascii", "sink_file"))
def without_the_option_there_are_no_rows(vm):
    run = vm.profiled("cpu=samples,msa=n,file=out.txt", "Quick")
    check("MICROSTATES" not in run.text("out.txt").split("--------")[-1], "rows without msa=y")
