"""format=collapsed, pprof, json and flamegraph: each has the numbers of the tables, for every collector with stacks."""
import os
import zipfile

from harness import check, check_equal, vm_test
from pictures import Json, Page, Pprof, parse_collapsed
from programs import COUNTS, MADE
from reports import parse_ascii
from tool import hprof
from vendor import exceptions_of, needs_modules, vendor_plugin

SINK = ("sink_file",)
ENCODERS = ("encoder_collapsed", "encoder_flamegraph", "encoder_json", "encoder_pprof") + SINK

# What pprof calls the columns of allocation sites and of other tables.
PPROF_NAMES = {"allocated_objects": "alloc_objects", "time": "cpu"}


def table_of(vm, options, program, form, column, has_leaf=False):
    """The one table with stacks of a run with format=`form`, and the name that the column has in it."""
    weight = ",weight=" + column if form == "collapsed" else ""
    # An emulator writes for a minute.
    run = vm.profiled("%s,format=%s%s,cutoff=0,exit-timeout=300,file=out" % (options, form, weight), *program)
    lost = b"cannot express them"
    check(lost not in run.err.encode() + run.bytes("out"), "threads and the like are no losses\n%s" % run)
    if form == "collapsed":
        return parse_collapsed(run.text("out"), column, has_leaf), column
    if form == "pprof":
        profile = Pprof(run.bytes("out"))
        types = [name for name, _ in profile.types]
        return profile, column if column in types else PPROF_NAMES[column]
    found = Json(run.text("out")) if form == "json" else Page(run.text("out"))
    tables = [table for table in found.tables if any(frames for frames, _, _ in table.stacks)]
    check_equal(len(tables), 1, "tables\n%s" % run)
    return tables[0], column


def check_counts_in(vm, form):
    table, column = table_of(vm, "cpu=times", ("Calls",), form, "calls")
    found = table.self_by_method(column)
    wrong = {name: (found.get(name, 0), made) for name, made in COUNTS.items() if found.get(name, 0) != made}
    check(not wrong, "calls (found, made): %s" % wrong)


def check_sites_in(vm, form):
    table, column = table_of(vm, "heap=sites", ("Sites",), form, "allocated_objects", has_leaf=True)
    found = table.by_method_and_class("Sites", column)
    wrong = {(method, name): (found.get(method, {}).get(name, 0), count) for method, classes in MADE.items()
             for name, count in classes.items() if found.get(method, {}).get(name, 0) != count}
    check(not wrong, "objects (found, made): %s" % wrong)


@vm_test(units=("bytecode", "cpu_times") + ENCODERS, quick=True)
def calls_by_method_are_exact_in_folded_stacks_and_pprof(vm):
    for form in ("collapsed", "pprof"):
        check_counts_in(vm, form)


@vm_test(units=("bytecode", "cpu_times") + ENCODERS)
def calls_by_method_are_exact_in_json_and_the_page(vm):
    for form in ("json", "flamegraph"):
        check_counts_in(vm, form)


@vm_test(units=("bytecode", "heap_sites") + ENCODERS)
def objects_by_method_and_class_are_exact_in_folded_stacks_and_pprof(vm):
    for form in ("collapsed", "pprof"):
        check_sites_in(vm, form)


@vm_test(units=("bytecode", "heap_sites") + ENCODERS)
def objects_by_method_and_class_are_exact_in_json_and_the_page(vm):
    for form in ("json", "flamegraph"):
        check_sites_in(vm, form)


@vm_test(units=("cpu_samples",) + ENCODERS)
def samples_add_up_in_every_format(vm):
    for form in ("collapsed", "pprof", "json", "flamegraph"):
        table, column = table_of(vm, "cpu=samples,interval=1", ("Spin", "20"), form, "samples")
        found = table.self_by_method(column)
        check(any(name.startswith("Spin.") for name in found), "%s: %s" % (form, sorted(found)))
        if form == "json":
            check_equal(sum(found.values()), table.head["totals"]["samples"], "total of the samples")
        if form == "pprof":
            check_equal(table.types, [("samples", "count"), ("cpu", "nanoseconds")], "types")
            check_equal(sum(values["cpu"] for _, values, _ in table.stacks),
                        1000000 * sum(values["samples"] for _, values, _ in table.stacks), "samples times the interval")
            check(table.duration_ns > 0 and table.comments, "duration and notes")


@vm_test(units=("monitor",) + ENCODERS)
def contention_has_its_monitor_in_every_format(vm):
    for form in ("collapsed", "pprof", "json", "flamegraph"):
        weight = ",weight=contentions" if form == "collapsed" else ""
        run = vm.run_java(vm.agent_option("monitor=y,format=%s%s,cutoff=0,file=out" % (form, weight)),
                          "Contend", "monitor", "3", "3", "10")
        check_equal(run.code, 0, "exit code\n%s" % run)
        if form == "collapsed":
            table = parse_collapsed(run.text("out"), "contentions", True)
        elif form == "pprof":
            table = Pprof(run.bytes("out"))
            check(("delay", "nanoseconds") in table.types, "types %s" % table.types)
        else:
            found = Json(run.text("out")) if form == "json" else Page(run.text("out"))
            table = [table for table in found.tables if table.name.startswith("hprof.monitor_time/")][0]
        by_method = table.by_method_and_class("Contend", "contentions")
        check(sum(by_method.get("inMonitor", {}).values()) > 0, "%s: %s" % (form, by_method))
        check(all(leaf for _, _, leaf in table.stacks), "%s: a stack without its monitor" % form)


@vm_test(units=("bytecode", "encoder_ascii") + ENCODERS)
def a_vendor_s_table_is_drawn_by_encoders_that_do_not_know_it(vm):
    """Its weights, and the class that stands on top, are all they need: the sums are those of the text report."""
    needs_modules(vm)
    agent, folder = vendor_plugin(vm, "throws")

    def written(form, weight=""):
        options = "plugins=%s,throws=y,caught-in=Catches,cutoff=0,format=%s%s,file=out" % (folder, form, weight)
        return vm.profiled(options, "Catches", agent=agent)
    rows = exceptions_of(written("a").text("out"), "Catches$Own")
    check_equal(sum(row["made"] for row in rows.values()), 55, "made, in text: %s" % rows)
    for form, columns in (("collapsed", ["made"]), ("collapsed", ["caught"]), ("pprof", ["made", "caught"]),
                          ("json", ["made", "caught"]), ("flamegraph", ["made", "caught"])):
        run = written(form, ",weight=" + columns[0] if form == "collapsed" else "")
        table = {"collapsed": lambda: parse_collapsed(run.text("out"), columns[0], True), "pprof": lambda: Pprof(run.bytes("out")),
                 "json": lambda: Json(run.text("out")).tables[0], "flamegraph": lambda: Page(run.text("out")).tables[0]}[form]()
        table.stacks = [stack for stack in table.stacks if stack[2] == "Catches$Own"]
        for column in columns:
            wanted = {method: row[column] for method, row in rows.items() if row[column]}
            check_equal(table.self_by_method(column), wanted, "%s in %s by method\n%s" % (column, form, run))
        check(all(frames[-1] == "Catches.main" for frames, _, _ in table.stacks), "%s: stacks are not whole" % form)


@vm_test(units=("bytecode", "cpu_times") + ENCODERS)
def stacks_are_whole_unless_depth_is_given(vm):
    def traces(options):
        run = vm.profiled("cpu=times,cutoff=0,format=json,file=out.json" + options, "Calls")
        return Json(run.text("out.json")).named("trace")
    check(max(len(trace["frames"]) for trace in traces("")) > 200, "frames of Calls.deep")
    cut = traces(",depth=2")
    check_equal(max(len(trace["frames"]) for trace in cut), 2, "frames with depth=2")
    check(any(trace["cut"] for trace in cut), "no trace says that it was cut")


@vm_test(units=("bytecode", "cpu_times", "heap_sites") + ENCODERS)
def each_report_has_a_file_where_readers_add_up(vm):
    for form in ("collapsed", "pprof"):
        run = vm.profiled("cpu=times,heap=sites,cutoff=0,format=%s,file=two.%s" % (form, form), "Quick")
        first, second = "two." + form, "two.2.collapsed" if form == "collapsed" else "two.pprof.2"
        if form == "collapsed":
            check(parse_collapsed(run.text(first), "time", False).stacks, "stacks of the first\n%s" % run)
            check(parse_collapsed(run.text(second), "live_bytes", True).stacks, "stacks of the second\n%s" % run)
        else:
            check_equal(Pprof(run.bytes(first)).default, "time", "type of the first")
            check("inuse_space" in [name for name, _ in Pprof(run.bytes(second)).types], "types of the second")
        check("done: " in run.err and "two.2" in run.err or "two.pprof.2" in run.err, "the files are named\n%s" % run)


@vm_test(units=("bytecode", "cpu_times") + ENCODERS)
def requests_do_not_count_twice(vm):
    live = vm.start("cpu=times,cutoff=0,format=pprof,file=out.pb", "Idle")
    live.request_data_dump()
    live.wait_until(lambda: "done: " in live.err(), "the report")
    run = live.finish()
    for name in ("out.pb", "out.2.pb"):
        found = Pprof(run.bytes(name)).self_by_method("calls")
        check_equal(found.get("Idle.main"), 1, "calls of main in %s" % name)


@vm_test(units=("bytecode", "cpu_times") + ENCODERS)
def a_page_has_all_reports(vm):
    live = vm.start("cpu=times,cutoff=0,format=flamegraph,file=out.html", "Idle")
    live.request_data_dump()
    live.wait_until(lambda: "done: " in live.err(), "the report")
    page = Page(live.finish().text("out.html"))
    check_equal([(field[0], field[1]) for field in page.reports], [("1", "request"), ("2", "end of the program")],
                "reports")
    check_equal([table.self_by_method("calls").get("Idle.main") for table in page.tables], [1, 1], "calls of main")


@vm_test(units=("cpu_samples", "encoder_ascii") + ENCODERS)
def a_run_without_them_opens_none_of_them(vm):
    live = vm.start("cpu=samples,file=out.txt", "Idle")
    with open(live.proc("maps")) as maps:
        opened = maps.read()
    for unit in ENCODERS[:4]:
        check("/%s.so" % unit not in opened, "%s was opened" % unit)
    live.finish()


@vm_test(units=("heap_dump", "encoder_json", "sink_file"))
def a_heap_dump_as_json_has_every_object_once(vm):
    run = vm.profiled("heap=dump,format=json,file=out.json", "Quick")
    report = Json(run.text("out.json"))
    objects = [record["object"] for kind in ("instance", "heap_class") for record in report.named(kind)]
    check(len(objects) > 1000 and len(set(objects)) == len(objects), "%d objects" % len(objects))
    strings = [record for record in report.named("instance") if record["class"]["name"] == "java.lang.String"]
    check(strings and all(field["type"] for record in strings for field in record["fields"]), "fields of strings")


@vm_test(units=("encoder_collapsed", "encoder_pprof", "heap_dump"))
def heap_dumps_have_no_stacks_to_draw(vm):
    for form in ("collapsed", "pprof", "flamegraph"):
        check("is not supported with format=" + form in vm.refused("heap=dump,format=" + form), "the message")
    check_equal(sorted(os.listdir(vm.dir)), ["stderr", "stdout"], "files")


@vm_test(units=("msa",) + ENCODERS)
def a_report_without_stacks_is_no_silent_empty_document(vm):
    line = "msa: nothing in its report has stacks"
    for form in ("collapsed", "pprof", "flamegraph", "json"):
        run = vm.profiled("heap=off,msa=y,format=%s,file=out" % form, "Quick")
        check_equal(run.err.count(line), 0 if form == "json" else 1, "times said with %s\n%s" % (form, run))


def converted(vm, name, form, *options):
    """The file `name` as hprof convert writes it in that format."""
    target = vm.path("converted." + form)
    code, text = hprof(vm, "convert", vm.path(name), "--to=" + form, "--force", "-o", target, *options)
    check_equal((code, text.splitlines()[-1:]), (0, [target]), "hprof convert --to=%s: %s" % (form, text))
    with open(target, "rb") as file:
        return file.read()


def method_sums(data, form, column, has_leaf=False):
    if form == "collapsed":
        return parse_collapsed(data.decode(), column, has_leaf).self_by_method(column)
    if form == "pprof":
        return Pprof(data).self_by_method(column)
    return Json(data.decode()).tables[-1].self_by_method(column)


@vm_test(units=("bytecode", "cpu_times", "encoder_ascii") + ENCODERS)
def converted_reports_keep_their_exact_calls(vm):
    for written in ("a", "pprof"):
        vm.profiled("cpu=times,cutoff=0,depth=8,format=%s,file=in" % written, "Calls")
        for form in ("collapsed", "pprof", "json"):
            found = method_sums(converted(vm, "in", form, "--weight=calls"), form, "calls")
            wrong = {name: (found.get(name, 0), made) for name, made in COUNTS.items() if found.get(name, 0) != made}
            check(not wrong, "%s to %s: calls (found, made): %s" % (written, form, wrong))
        found = {}
        for row in parse_ascii(converted(vm, "in", "ascii").decode()).cpu("CPU TIME (ms)")[-1].rows:
            found[row.method] = found.get(row.method, 0) + row.count
        check_equal({name: found.get(name, 0) for name in COUNTS}, COUNTS, "%s to ascii: calls" % written)


@vm_test(units=("bytecode", "heap_sites", "encoder_ascii") + ENCODERS)
def converted_reports_keep_their_exact_objects(vm):
    vm.profiled("heap=sites,cutoff=0,depth=64,file=in", "Sites")
    for form in ("collapsed", "pprof", "json"):
        data = converted(vm, "in", form, "--weight=allocated_objects")
        column = "alloc_objects" if form == "pprof" else "allocated_objects"
        table = {"collapsed": lambda: parse_collapsed(data.decode(), column, True), "pprof": lambda: Pprof(data),
                 "json": lambda: Json(data.decode()).tables[-1]}[form]()
        found = table.by_method_and_class("Sites", column)
        wrong = {(method, name): (found.get(method, {}).get(name, 0), count) for method, classes in MADE.items()
                 for name, count in classes.items() if found.get(method, {}).get(name, 0) != count}
        check(not wrong, "%s: objects (found, made): %s" % (form, wrong))


@vm_test(units=("cpu_samples", "encoder_pprof", "filter_gzip", "sink_file"))
def pprof_is_packed_unless_that_is_switched_off(vm):
    run = vm.profiled("cpu=samples,format=pprof", "Spin", "2")
    check_equal(run.bytes("java.hprof.pb.gz")[:2], b"\x1f\x8b", "first bytes of the default file")
    check(Pprof(run.bytes("java.hprof.pb.gz")).stacks, "stacks")
    run = vm.profiled("cpu=samples,format=pprof,compress=n", "Spin", "2")
    check(run.bytes("java.hprof.pb")[:2] != b"\x1f\x8b", "compress=n")
    check(Pprof(run.bytes("java.hprof.pb")).stacks, "stacks without gzip")


@vm_test(units=("cpu_samples", "encoder_pprof", "filter_gzip", "sink_file"))
def the_program_of_a_report_may_have_blanks_in_its_path(vm):
    jar = vm.path("my first app.jar")
    with zipfile.ZipFile(jar, "w") as file:
        file.writestr("META-INF/MANIFEST.MF", "Main-Class: Quick\n")
        file.write(os.path.join(vm.classes, "Quick.class"), "Quick.class")
    option = vm.agent_option("cpu=samples,format=pprof,compress=n,file=out.pb,force=y")
    for program, expected, other in ((("-jar", jar, "0", "x y"), jar, jar + " "), (("Quick", "0", "more"), "Quick", "Quick 0")):
        check_equal(vm.run_java(option, *program).code, 0, "exit code")
        with open(vm.path("out.pb"), "rb") as file:
            data = file.read()
        check(expected.encode() in data and other.encode() not in data, "%s in the report" % expected)


@vm_test(units=("cpu_samples", "encoder_pprof", "filter_gzip", "sink_file"))
def a_report_on_request_is_a_whole_file(vm):
    live = vm.start("cpu=samples,format=pprof,file=out.pb.gz", "Idle")
    live.request_data_dump()
    live.wait_until(lambda: "done: " in live.err(), "the report")
    with open(vm.path("out.pb.gz"), "rb") as file:
        Pprof(file.read())
    live.finish()
