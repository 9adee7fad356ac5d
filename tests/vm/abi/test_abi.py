"""What the agent does with the structs and names of a vendor's module: tests/plugins/abi/probe.c, which says what is wrong."""
import csv
import os
import shutil

from commands import load_agent, loaded
from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii
from vendor import probe_folder

UNITS = ("encoder_ascii", "sink_file")


@vm_test(units=UNITS, quick=True)
def out_structs_extensions_and_libraries(vm):
    folder = probe_folder(vm)
    probe = os.path.join(folder, "probe" + os.path.splitext(vm.agent)[1])
    run = vm.profiled("plugins=%s,probe=sizes,file=out.txt,probe-library=%s" % (folder, probe), "Quick")
    check("HPROF: probe: looked" in run.err, "the probe did not run\n%s" % run)
    check("WRONG" not in run.err, "the probe found something\n%s" % run)


@vm_test(units=UNITS, quick=True)
def handlers_beyond_a_short_table_are_not_called(vm):
    run = vm.profiled("plugins=%s,probe=short,file=out.txt" % probe_folder(vm), "Lambdas", java=("-Xmn2m",))
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    check("probe: a thread starts" in run.err, "the handler within the table was not called\n%s" % run)


@vm_test(units=UNITS, quick=True)
def start_end_and_classes_that_come_and_go_are_told(vm):
    run = vm.profiled("plugins=%s,probe=life,verbose=n,file=out.txt" % probe_folder(vm), "Unloads")
    check("WRONG" not in run.err, "the probe found something\n%s" % run)
    said = [line[len("HPROF: probe: "):] for line in run.err.splitlines() if line.startswith("HPROF: probe: ")]
    check_equal(said[0], "vm_init", "first event\n%s\n" % run)
    check_equal(said[-2:], ["vm_death", "class_load"], "last event and report\n%s\n" % run)
    check_equal(sorted(said[1:-2]), ["class_unload Unloads$Work"] * 3, "classes that have gone\n%s\n" % run)


@vm_test(units=UNITS)
def class_file_handler_comes_before_the_agents_own_rewriting(vm):
    options = "plugins=%s,probe=classes,%sfile=out.txt,force=y"
    run = vm.run_java(vm.agent_option(options % (probe_folder(vm), "")), "-Xverify:all", "Quick")
    check_equal((run.code, run.out.strip()), (0, "QUICK"), "exit code and stdout\n%s\n" % run)
    check("WRONG" not in run.err, "the probe found something\n%s" % run)
    if "cpu_times" not in vm.units:
        return
    run = vm.run_java(vm.agent_option(options % (probe_folder(vm), "cpu=times,cutoff=0,")), "-Xverify:all", "Quick")
    check_equal((run.code, run.out.strip()), (0, "QUICK"), "exit code and stdout with probes\n%s\n" % run)
    check("Quick.main" in run.text("out.txt"), "main is not counted\n%s" % run)


@vm_test(units=UNITS + ("bytecode",), quick=True)
def exceptions_calls_and_objects_are_counted_by_probes(vm):
    options = "plugins=%s,probe=probes,verbose=n,file=out.txt" % probe_folder(vm)
    run = vm.profiled(options, "Catches", java=("-Xverify:all",))
    check("WRONG" not in run.err, "the probe found something\n%s" % run)
    check("HPROF: probe: made 55, caught 50" in run.err, "other counts\n%s" % run)
    run = vm.profiled(options.replace("=probes", "=calls"), "Catches", java=("-Xverify:all",))
    check("WRONG" not in run.err, "the probe found something\n%s" % run)
    check("HPROF: probe: objects 55, arrays 12, calls 50, ends 50, classes without probes" in run.err, "other counts\n%s" % run)


@vm_test(units=UNITS + ("bytecode", "cpu_times", "heap_sites"))
def probes_stand_beside_those_of_the_shipped_units(vm):
    options = "plugins=%s,probe=probes,cpu=times,heap=sites,cutoff=0,verbose=n,file=out.txt" % probe_folder(vm)
    run = vm.profiled(options, "Catches", java=("-Xverify:all",))
    check("WRONG" not in run.err, "the probe found something\n%s" % run)
    check("HPROF: probe: made 55, caught 50" in run.err, "other counts\n%s" % run)
    rows = parse_ascii(run.text("out.txt")).cpu("CPU TIME (ms)")[0].rows
    check_equal(sum(row.count for row in rows if row.method == "Catches.thrower"), 50, "calls of thrower\n%s\n" % run)


def check_values(run):
    told = [line[len("HPROF: values: "):] for line in run.err.splitlines() if line.startswith("HPROF: values: ")]
    real = [line for line in run.out.splitlines() if not line.startswith("ready")]
    for number, (one, other) in enumerate(zip(told, real)):
        check_equal(one, other, "call %d\n%s\n" % (number, run))
    check_equal(len(told), len(real), "calls with their values\n%s\n" % run)


@vm_test(units=("bytecode",), quick=True)
def probes_get_arguments_and_results(vm):
    run = vm.profiled("plugins=%s,values=y,verbose=n" % probe_folder(vm), "Values", "200", java=("-Xverify:all", "-Xcomp"))
    check_values(run)


@vm_test(units=UNITS + ("bytecode", "cpu_times", "heap_sites"))
def values_stand_beside_probes_of_the_shipped_units(vm):
    options = "plugins=%s,values=y,probe=calls,cpu=times,heap=sites,verbose=n,file=out.txt" % probe_folder(vm)
    check_values(vm.profiled(options, "Values", "200", java=("-Xverify:all",)))


@vm_test(units=("bytecode",))
def methods_of_loaded_classes_tell_their_values(vm):
    live = vm.start(None, "Values", "20", "waits", java=vm.attachable + ("-Xverify:all",))
    check(loaded(load_agent(live.pid, vm.agent, "plugins=%s,values=y,verbose=n" % probe_folder(vm))), "loaded\n%s" % live.state())
    check_values(live.finish())


@vm_test(units=UNITS + ("monitor",), quick=True)
def collector_without_an_output_opens_none(vm):
    options = "plugins=%s,probe-silent=y,file=out.txt" % probe_folder(vm)
    run = vm.profiled(options, "Quick")
    check("WRONG" not in run.err, "the probe found something\n%s" % run)
    check("HPROF: probe: reports without an output" in run.err, "no report\n%s" % run)
    check("lost" not in run.err, "something is lost that nobody wanted\n%s" % run)
    check(not os.path.exists(vm.path("out.txt")), "there is an output\n%s" % run)
    run = vm.profiled(options + ",monitor=y", "Shop")
    check("HPROF: probe: reports beside others" in run.err, "no report\n%s" % run)
    check("MONITOR TIME" in run.text("out.txt"), "no report of the other collector\n%s" % run)


def rows_of_program(text, program):
    """The rows of all tables that name the program's classes or come from grows.c, without times."""
    found, names = [], []
    for row in csv.reader(text.splitlines()):
        if not any(cell[:1].isdigit() for cell in row):
            names = row
        elif program in " ".join(row) or "grows" in names:
            found.append([(name, cell) for name, cell in zip(names, row) if "time" not in name])
    return sorted(found)


@vm_test(units=UNITS + ("bytecode", "cpu_times", "heap_sites", "heap_dump", "monitor"))
def plugins_of_another_minor_version_write_the_same(vm):
    """Today's plugins in tomorrow's core, tomorrow's in today's (tests/plugins/abi/tomorrow.py)."""
    built = os.path.join(vm.tree, "tests", "plugins", "abi", "tomorrow")
    if not os.path.isdir(os.path.join(built, "plugins", "tomorrow")):
        raise Skip("ctest abi.tomorrow has not run")
    folder = vm.path("built")  # where a JDK behind a command sees it
    for part in ("plugins", "core/lib"):
        shutil.copytree(os.path.join(built, part), os.path.join(folder, part), copy_function=os.link)
    cores = {"today": vm.agent, "tomorrow": os.path.join(folder, "core", "lib", "libhprof.so")}
    tables = "throws=y,gc_pauses=y,grows=y,cpu=times,heap=sites,cutoff=0,format=csv,file=out.csv"
    records = "grows=y,monitor=y,heap=all,dump=jvmti,file=out.txt"
    wanted = []
    for core, plugins in (("today", "today"), ("tomorrow", "today"), ("today", "tomorrow")):
        found = []
        for options in (tables, records):
            options = "plugins=%s,verbose=n,%s" % (os.path.join(folder, "plugins", plugins), options)
            run = vm.profiled(options, "Catches", agent=cores[core])
            check("plugin " not in run.err and "WRONG" not in run.err, "plugins of %s\n%s" % (plugins, run))
            found.append(run.err)
            if options.endswith(".csv"):
                check("starts,pauses,total_ns" in run.text("out.csv"), "no table of gc_pauses\n%s" % run)
                found.append(rows_of_program(run.text("out.csv"), "Catches"))
            else:
                for part in ("HEAP DUMP END", "SITES END", "MONITOR DUMP END", "status: MW", "MONITOR TIME", "note"):
                    check(part in run.text("out.txt"), "no %r\n%s" % (part, run))
        wanted = wanted or found
        check_equal(found, wanted, "plugins of %s in the core of %s" % (plugins, core))
    names = {name for row in wanted[1] for name, _ in row}
    check_equal({"made", "grows", "calls", "live_bytes"} - names, set(), "columns that no row has")
    check_equal([dict(row)["grows"] for row in wanted[1] if "grows" in dict(row)], ["event", "report"], "rows of grows")
