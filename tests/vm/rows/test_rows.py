"""format=rows: lines that databases take as they are, and the questions of examples/rows."""
import collections
import glob
import json
import subprocess

from clickhouse import INSERT, ClickHouse, question
from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii
from tool import program

TIMES = ("bytecode", "cpu_times", "encoder_ascii", "encoder_json", "sink_file")


def rows_of(vm, options, *arguments):
    run = vm.profiled(options, *arguments)
    rows = []
    for name in sorted(glob.glob(run.path("rows*.jsonl"))):
        with open(name) as file:
            rows += [json.loads(line) for line in file]
    return rows


@vm_test(units=TIMES, quick=True)
def each_row_stands_alone(vm):
    rows = rows_of(vm, "cpu=times,cutoff=0,thread=y,format=rows,labels=service:shop;env:prod,file=rows.jsonl", "Calls")
    keys = [(row["report"], row["row"]) for row in rows]
    check(rows and len(set(keys)) == len(keys), "%d keys of %d rows" % (len(set(keys)), len(keys)))
    check_equal({(row["service"], tuple(row["labels"]), row["collector"]) for row in rows},
                {("shop", ("service:shop", "env:prod"), "cpu_times")}, "what all rows have")
    check(all(row["time"] <= row["until"] for row in rows), "times")
    report = parse_ascii(vm.profiled("cpu=times,cutoff=0,file=out.txt", "Calls").text("out.txt"))
    calls = collections.Counter()
    for row in report.cpu("CPU TIME (ms)")[0].rows:
        calls[row.method] += row.count
    own = collections.Counter()
    for row in rows:
        if row["name"] == "calls":
            check(row["thread"] and row["unit"] == "calls", "a row: %s" % row)
            own[row["stack"][-1]] += row["value"]
    # How deep it overflows differs.
    repeats = [name for name in set(own) | set(calls) if name.startswith("Calls.") and name != "Calls.overflow"]
    check_equal({name: own[name] for name in repeats}, {name: calls[name] for name in repeats}, "calls")
    check(repeats, "no calls of the program")


@vm_test(units=TIMES + ("filter_gzip", "sink_http"))
def clickhouse_takes_them_and_answers_the_questions_of_the_example(vm):
    with ClickHouse(vm.path("clickhouse")) as server:
        for version, objects in (("1", "40"), ("2", "4000")):
            live = vm.start("cpu=times,cutoff=0,depth=4,every=1,format=rows,compress=gzip,labels=service:shop;version:%s,url=%s" % (version, server.url(INSERT)), "Rounds", objects)
            live.wait_until(server.is_up, "the server")
            if version == "1":
                server.answer(question("clickhouse/table.sql"))
            calls = "SELECT sum(value) FROM profile FINAL WHERE name = 'calls' AND stack[length(stack)] = 'Rounds.round' AND has(labels, 'version:%s')"
            live.wait_until(lambda: server.answer(calls % version) == [["50"]], "all calls")
            check_equal(live.finish().code, 0, "exit code")
        total = server.answer("SELECT count(), sum(value) FROM profile FINAL")
        again = "\n".join(line[0] for line in server.answer("SELECT * FROM profile FORMAT JSONEachRow"))
        server.answer(INSERT, again.encode())
        check_equal(server.answer("SELECT count(), sum(value) FROM profile FINAL"), total, "rows that were sent twice")
        times, samples = ("'cpu_samples'", "'cpu_times'"), ("'samples'", "'calls'")
        versions = {row[0]: (float(row[1]), float(row[2])) for row in server.answer(question("clickhouse/before_and_after.sql", times, samples))}
        before, after = versions.get("Rounds.<init>", (0, 0))
        check(0 < before < after and all(a != b for a, b in versions.values()), "versions: %s" % versions)
        check_equal(server.answer(question("clickhouse/who_calls.sql", ("org.apache.logging.log4j.", "Rounds.")))[0][0::2], ["shop", "2"], "processes")
        for name in ("top_methods", "by_label", "slowest"):
            check(server.answer(question("clickhouse/%s.sql" % name, times)), "no answer to %s" % name)
        check_equal(server.answer(question("clickhouse/leaks.sql")), [], "live bytes of a profile of calls")
        server.answer(question("clickhouse/table_by_hour.sql"))
        for now in ("(now() + 3600)", "now()", "(now() + 3600)"):  # of this hour and of the one before, the first twice
            server.answer(question("clickhouse/by_hour.sql", ("now()", now)))
        check_equal(server.answer((calls % "2").replace("profile", "profile_by_hour")), [["50"]], "calls by hour")
        folded = server.answer(question("clickhouse/flame_graph.sql", times, samples))
        printed = subprocess.run([*program(vm), "print", "--top=0", "-"], input="\n".join(line[0] for line in folded), stdout=subprocess.PIPE,
                                 universal_newlines=True, timeout=60)
        check(printed.returncode == 0 and "Rounds.round" in printed.stdout, "printed\n%s" % printed.stdout)


@vm_test(units=TIMES + ("filter_gzip",))
def duckdb_reads_a_folder_of_them(vm):
    try:
        import duckdb
    except ImportError:
        raise Skip("no duckdb here (PyPI: duckdb)") from None
    run = vm.profiled("cpu=times,cutoff=0,format=rows,compress=gzip,labels=service:shop,file=rows-%n.jsonl.gz", "Calls")
    connection = duckdb.connect()
    connection.execute(question("duckdb/profile.sql", ("'*.jsonl*'", "'%s'" % run.path("rows-*.jsonl.gz"))))
    times, samples = ("'cpu_samples'", "'cpu_times'"), ("'samples'", "'calls'")
    for name, changes in (("top_methods", [times]), ("by_label", [times]), ("flame_graph", [times, samples])):
        check(connection.execute(question("duckdb/%s.sql" % name, *changes)).fetchall(), "no answer to %s" % name)
