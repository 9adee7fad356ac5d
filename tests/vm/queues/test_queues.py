"""queues=y: counts are exact, and no wait is longer than its program knows or shorter than it can be."""
from commands import load_agent, loaded
from harness import check, check_equal, vm_test
from reports import json_tables

UNITS = ("bytecode", "queues", "encoder_json", "sink_file")
OPTIONS = "queues=y,depth=1,format=json,verbose=n,file=out.json"


# The executor of each method's tasks.
EXECUTORS = {"pooled": "ThreadPoolExecutor pooled-*", "same": "ThreadPoolExecutor pooled-*", "idle": "ThreadPoolExecutor pooled-*",
             "refused": "ThreadPoolExecutor pooled-*", "scheduled": "ScheduledThreadPoolExecutor pool-1-thread-*",
             "periodic": "ScheduledThreadPoolExecutor pool-2-thread-*", "forked": "ForkJoinPool ForkJoinPool-1-worker-*",
             "virtual": "virtual threads", "close": "java.util.concurrent."}


def check_rows(run):
    (_, rows), = json_tables(run.text("out.json"), "hprof.queues/1")
    for words in (line.split() for line in run.out.splitlines() if not line.startswith("ready")):
        name, tasks, waiting, most, least = words[0], *map(int, words[1:])
        found = [row for row in rows if row["method"] == "Queues." + name]
        sums = [sum(row[column] for row in found) for column in ("tasks", "waiting", "time")]
        check_equal((name, *sums[:2]), (name, tasks, waiting), "tasks that have begun, and that wait\n%s\n" % run)
        check(sums[2] >= 0.98 * least, "%s waited for %d ns, at least %d\n%s" % (name, sums[2], least, run))
        check(most == 0 or sums[2] <= most, "%s waited for %d ns, at most %d\n%s" % (name, sums[2], most, run))
        for row in found:
            quantiles = [row[column] for column in ("p50", "p90", "p99", "p99_9", "max")]
            check(quantiles == sorted(quantiles), "quantiles of %s: %s" % (name, quantiles))
            check(EXECUTORS[name] in row["executor"], "executor of %s: %s" % (name, row["executor"]))


@vm_test(units=UNITS, quick=True)
def tasks_are_counted_and_their_waits_are_right(vm):
    virtual = ("virtual",) if vm.version >= 21 else ()
    check_rows(vm.run_java(vm.agent_option(OPTIONS), "-Xverify:all", "Queues", "300", *virtual))


@vm_test(units=UNITS)
def executors_of_a_running_program_are_watched_once_attached(vm):
    live = vm.start(None, "Queues", "100", "attach", java=vm.attachable)
    check(loaded(load_agent(live.pid, vm.agent, OPTIONS.replace("out.json", vm.path("out.json")))), "loaded\n%s" % live.state())
    check_rows(live.finish())
