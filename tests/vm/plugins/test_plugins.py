"""Where the agent finds its modules, what bad neighbours do, and what is built against an installed tree: a
vendor's plugin, and the units that `hprof plugin new` makes."""
import csv
import os
import re
import shutil
import subprocess
import sys

from harness import ROOT, Skip, check, check_equal, library_in, vm_test
from programs import COUNTS
from reports import parse_ascii
from tool import hprof
from vendor import cmake, exceptions_of, installed, needs_modules, vendor_plugin

sys.path.insert(0, os.path.join(ROOT, "tests", "plugins", "kit"))
import new_units_test  # noqa: E402

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


@vm_test(units=UNITS, quick=True)
def modules_are_found_beside_the_agent_wherever_it_is(vm):
    moved = vm.path("some where/else")
    shutil.copytree(vm.agent_dir, moved)
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2", agent=library_in(moved))
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS)
def plugins_option_names_another_folder(vm):
    needs_modules(vm)
    alone = vm.path("agent")
    os.makedirs(alone)
    shutil.copy(vm.agent, alone)
    shutil.copytree(vm.plugin_dir, vm.path("elsewhere"))
    agent = library_in(alone)
    run = vm.profiled("cpu=samples,plugins=%s,file=out.txt" % vm.path("elsewhere"), "Spin", "2", agent=agent)
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS, needs=("file modes",))
def modules_that_others_can_write_are_refused(vm):
    """Their code would run in the process; the folders on the way to the file count as much as the file."""
    needs_modules(vm)
    second = second_copy(vm)
    folder = os.path.join(os.path.dirname(second), "hprof", "plugins")
    module = os.path.join(folder, "cpu_samples.so")
    for path in (os.path.dirname(second), folder, module):
        mode = os.stat(path).st_mode & 0o7777
        os.chmod(path, 0o777)
        run = vm.run_java(vm.agent_option("cpu=samples,file=out.txt", second), "Quick", "3")
        check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
        check("plugin cpu_samples" in run.err and "another user can write to it" in run.err, "not said why\n%s" % run)
        os.chmod(path, mode)
    run = vm.profiled("cpu=samples,file=out.txt", "Quick", "3", agent=second)
    check_equal(run.errors(), [], "complaints\n%s\n" % run)


def second_copy(vm):
    """The path of the library of another copy of the agent."""
    shutil.copytree(vm.agent_dir, vm.path("second"), dirs_exist_ok=True)
    return library_in(vm.path("second"))


def check_second_refuses(run):
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    lines = run.err.splitlines()
    check(len(lines) == 1 and lines[0].startswith("HPROF ERROR: ") and "another agent" in lines[0], "not one line\n%s" % run)


@vm_test(units=UNITS + ("bytecode", "cpu_times", "heap_sites"))
def second_agent_that_rewrites_classes_refuses(vm):
    """Another copy of the library, or the same once more."""
    for agent in (second_copy(vm), vm.agent):
        for first, second in (("cpu=times", "cpu=times"), ("cpu=times", "heap=sites"), ("heap=sites", "cpu=old"),
                              ("heap=sites", "heap=sites")):
            check_second_refuses(vm.run_java(vm.agent_option(first + ",file=a.txt"),
                                             vm.agent_option(second + ",file=b.txt", agent), "Mixed", "1"))


@vm_test(units=UNITS + ("bytecode", "cpu_times", "heap_sites"))
def one_agent_of_two_may_rewrite_classes(vm):
    """Either of two libraries, or of two sessions of one."""
    plain = vm.truth("Calls")
    times, samples = "cpu=times,cutoff=0,file=a.txt", "cpu=samples,file=b.txt"
    for agent, first, second in ((second_copy(vm), times, samples), (second_copy(vm), samples, times), (vm.agent, times, samples), (vm.agent, samples, times)):
        run = vm.run_java(vm.agent_option(first), vm.agent_option(second, agent), "Calls")
        check_equal((run.code, run.out), (plain.code, plain.out), "exit code and stdout\n%s\n" % run)
        rows = parse_ascii(run.text("a.txt")).cpu("CPU TIME (ms)")[0].rows
        check_equal(sum(row.count for row in rows if row.method == "Calls.deep"), 501, "calls of deep\n%s\n" % run)
        parse_ascii(run.text("b.txt"))


@vm_test(units=UNITS)
def missing_module_is_refused_before_start(vm):
    needs_modules(vm)
    alone = vm.path("agent")
    os.makedirs(alone)
    shutil.copy(vm.agent, alone)
    run = vm.run_java(vm.agent_option("cpu=samples", library_in(alone)), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    check(run.err.startswith("HPROF ERROR: "), "no error\n%s" % run)


@vm_test(units=UNITS)
def broken_modules_beside_do_no_harm(vm):
    """Text, an empty file, half a library, a library that is no module, a folder, a dangling link."""
    needs_modules(vm)
    moved = vm.path("agent")
    shutil.copytree(vm.agent_dir, moved)
    plugins = os.path.join(moved, "hprof", "plugins")
    with open(os.path.join(plugins, "text.so"), "w") as file:
        file.write("not a library\n")
    open(os.path.join(plugins, "empty.so"), "w").close()
    with open(os.path.join(plugins, "cpu_samples.so"), "rb") as whole, open(os.path.join(plugins, "half.so"), "wb") as half:
        half.write(whole.read()[:3000])
    shutil.copy(vm.agent, os.path.join(plugins, "other.so"))
    os.makedirs(os.path.join(plugins, "folder.so"))
    os.symlink("nowhere", os.path.join(plugins, "dangling.so"))
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2", agent=library_in(moved))
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS)
def broken_module_that_is_needed_is_refused_before_start(vm):
    needs_modules(vm)
    moved = vm.path("agent")
    shutil.copytree(vm.agent_dir, moved)
    with open(os.path.join(moved, "hprof", "plugins", "cpu_samples.so"), "w") as file:
        file.write("not a library\n")
    run = vm.run_java(vm.agent_option("cpu=samples", library_in(moved)), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    check("HPROF ERROR: " in run.err, "no error\n%s" % run)


@vm_test(units=UNITS + ("heap_sites", "hotspot"))
def run_without_the_module_hotspot_goes_on_and_says_what_is_lost(vm):
    needs_modules(vm)
    moved = vm.path("agent")
    shutil.copytree(vm.agent_dir, moved)
    library = os.path.join(moved, "hprof", "plugins", "hotspot.so")
    os.remove(library)
    lost = "HPROF: no module hotspot in "
    for broken, said in ((False, lost), (True, "hotspot.so) is refused: ")):
        if broken:
            with open(library, "w") as file:
                file.write("not a library\n")
        run = vm.profiled("heap=sites,force=y,file=out.txt", "Quick", agent=library_in(moved))
        check_equal(run.err.count(said), 1, "messages\n%s\n" % run)
        check_equal(lost in run.err, not broken, "that it is not there\n%s\n" % run)
        check("SITES BEGIN" in run.text("out.txt"), "no sites\n%s" % run)


@vm_test(units=UNITS)
def vendor_plugin_is_selected_by_its_option_or_its_id(vm):
    agent, folder = vendor_plugin(vm)
    for choice in ("gc_pauses=y", "plugin=gc_pauses"):
        run = vm.profiled("plugins=%s,%s,file=out.txt" % (folder, choice), "Lambdas", java=("-Xmn2m",), agent=agent)
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        text = run.text("out.txt")
        check("gc_pauses" in text.lower().replace(" ", "_"), "nothing of the plugin in the report\n%s" % run)
        check("SITES BEGIN" not in text and "HEAP DUMP BEGIN" not in text, "%s runs heap=all, too" % choice)
    run = vm.run_java(vm.agent_option("plugins=%s,gc_pauses=foo" % folder, agent), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    check("gc_pauses option value must be y" in run.err, "the values are not listed\n%s" % run)


@vm_test(units=("bytecode", "encoder_ascii", "sink_file"))
def vendor_plugin_counts_exceptions_by_class_and_method(vm):
    agent, folder = vendor_plugin(vm, "throws")
    options = "plugins=%s,throws=y,caught-in=Catches,file=out.txt" % folder
    run = vm.profiled(options, "Catches", java=("-Xverify:all",), agent=agent)
    check_equal(own_exceptions(run), {("Catches.thrower", 50, 0, None), ("Catches.keeper", 5, 0, None), ("Catches.catcher", 0, 30, None),
                                      ("Catches.outer", 0, 20, None)}, "exceptions of the program\n%s\n%s" % (run, run.text("out.txt")))
    check("HEAP DUMP BEGIN" not in run.text("out.txt"), "heap=all runs, too")


@vm_test(units=UNITS)
def vendor_plugin_counts_calls_by_java_of_its_own(vm):
    agent, folder = vendor_plugin(vm, "method_counts")
    run = vm.profiled("plugins=%s,method_counts=Calls.fib:Calls.deep,file=out.txt" % folder, "Calls", agent=agent)
    found = dict(re.findall(r"METHOD_COUNTS: calls=(\d+) method=(\S+)", run.text("out.txt")))
    check_equal({method: int(calls) for calls, method in found.items()},
                {"Calls.fib": COUNTS["Calls.fib"], "Calls.deep": 501}, "calls\n%s\n%s" % (run, run.text("out.txt")))


def own_exceptions(run):
    """(method, made, caught, thrown or None) of the class Own of Catches."""
    sums = exceptions_of(run.text("out.txt"), "Catches$Own")
    return {(method, row["made"], row["caught"], row.get("thrown")) for method, row in sums.items()}


@vm_test(units=UNITS + ("bytecode", "encoder_json"))
def tables_of_a_vendor_are_shown_by_print_and_view(vm):
    """Alone in a report, too: one of numbers, one of methods, and ranked stacks."""
    agent, pauses = vendor_plugin(vm)
    _, counts = vendor_plugin(vm, "method_counts")
    _, exceptions = vendor_plugin(vm, "throws")
    for suffix, form in ((".txt", "a"), (".jsonl", "json")):
        shown = []
        for folder, options, program in ((pauses, "gc_pauses=y", ("Lambdas",)), (counts, "method_counts=Calls.deep", ("Calls",)),
                                         (exceptions, "throws=y,caught-in=Catches", ("Catches",))):
            name = "out" + suffix
            vm.profiled("plugins=%s,%s,format=%s,file=%s,force=y" % (folder, options, form, name), *program, java=("-Xmn2m",), agent=agent)
            code, text = hprof(vm, "print", vm.path(name))
            check_equal(code, 0, "hprof print: %s" % text)
            code, page = hprof(vm, "view", "--force", "-o", vm.path("out.html"), vm.path(name))
            check_equal(code, 0, "hprof view: %s" % page)
            with open(vm.path("out.html"), encoding="utf-8") as file:
                shown.append((text, file.read()))
        for (text, page), words, in_page in zip(shown, (r"GC.PAUSES\n +starts +pauses +total_ns +max_ns\n( +\d+){4}\n",
                                                        r"METHOD.COUNTS\n +calls +method\n +501 +Calls\.deep\n", r"THROWS, made \d+ in the rows\n"),
                                                (r"<summary>GC.PAUSES, 1 row</summary>", r"<td>Calls\.deep</td>", r"\nT\t\S+\tTHROWS\n")):
            check(re.search(words, text), "print: no %r in\n%s" % (words, text))
            check(re.search(in_page, page), "view: no %r in the page of\n%s" % (in_page, text))


@vm_test(units=("bytecode", "encoder_ascii", "sink_file"))
def vendor_plugin_counts_throws_by_an_environment_of_its_own(vm):
    """What a finally clause throws again is one more."""
    agent, folder = vendor_plugin(vm, "throws")
    run = vm.profiled("plugins=%s,throws=y,throws-events=y,caught-in=Catches,file=out.txt" % folder, "Catches", agent=agent)
    check_equal(own_exceptions(run), {("Catches.thrower", 50, 0, 50), ("Catches.cleaner", 0, 0, 20), ("Catches.keeper", 5, 0, 0),
                                      ("Catches.catcher", 0, 30, 0), ("Catches.outer", 0, 20, 0)},
                "exceptions of the program\n%s\n%s" % (run, run.text("out.txt")))


@vm_test(units=UNITS)
def plugin_list_shows_what_is_found_and_where(vm):
    agent, folder = vendor_plugin(vm)
    with open(os.path.join(folder, "broken.so"), "w") as file:
        file.write("not a library\n")
    code, text = hprof(vm, "plugin", "list", "--agent=" + agent, folder)
    check_equal(code, 0, "hprof plugin list: %s" % text)
    check("collector gc_pauses (gc_pauses=y)" in text and folder + "/gc_pauses.so" in text, "no gc_pauses: %s" % text)
    check("encoder encoder_ascii (format=a)" in text, "no ascii encoder: %s" % text)
    check("plugin broken (%s/broken.so) is refused" % folder in text, "the broken one is not named: %s" % text)
    # What each needs and offers, and a file that an earlier folder hides.
    shutil.copy(os.path.join(folder, "gc_pauses.so"), vm.path("gc_pauses.so"))
    code, text = hprof(vm, "plugin", "list", "-v", "--agent=" + agent, folder, vm.dir)
    for words in ("    needs: can_generate_garbage_collection_events\n", "    options: gc_pauses-least=<ms>\n",
                  "  ignored: %s/gc_pauses.so\n" % vm.dir):
        check(code == 0 and words in text, "not said: %s%s" % (words, text))
    run = vm.run_java(vm.agent_option("help,plugins=" + folder, agent), "Quick")
    words = "  from %s/gc_pauses.so (example vendor)\n  gc_pauses-least=<ms> " % folder
    check(run.code == 0 and words in run.out, "help does not say where gc_pauses-least= comes from\n%s" % run)


@vm_test(units=UNITS)
def folder_of_plugins_that_does_not_exist_is_refused(vm):
    needs_modules(vm)
    absent, file = vm.path("absent"), vm.path("file")
    open(file, "w").close()
    for folder in (absent, file):
        options = "plugins=%s:%s,cpu=samples" % (vm.dir, folder)
        run = vm.run_java(vm.agent_option(options), "Quick")
        check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
        check("HPROF ERROR: hprof option error: plugins: there is no folder %s (" % folder in run.err, "not said\n%s" % run)
    code, text = hprof(vm, "plugin", "list", "--agent=" + vm.agent, absent)
    check(code == 1 and "plugins: there is no folder " + absent in text, "plugin list: %d %s" % (code, text))


@vm_test(units=UNITS)
def new_units_run_all_four_kinds_together(vm):
    needs_modules(vm)
    prefix, options = installed(vm)
    folder = vm.path("units")
    os.makedirs(folder)
    new_units_test.make(os.path.join(vm.tree, "bin", "hprof"), folder)
    build = os.path.join(folder, "build")
    cmake(vm, "-S", folder, "-B", build, *options)
    cmake(vm, "--build", build, "--target", *new_units_test.NAMES)
    folders = ":".join(os.path.join(build, name) for name in new_units_test.NAMES)
    run = vm.profiled("plugins=%s,new_collector=y,format=new_encoder,compress=new_filter,new_sink=out.txt,logflags=1" % folders, "Spin", "2",
                      agent=os.path.join(prefix, "lib", "libhprof.so"))
    lines = run.text("out.txt").splitlines()
    check_equal((lines[0], len(lines)), ("starts,pauses,total_ns,max_ns", 2), "lines, and the header\n%s" % run)
    check("new_filter: bytes handed on: %d" % len(run.bytes("out.txt")) in run.err, "the filter is silent\n%s" % run)


@vm_test(units=UNITS)
def commands_that_plugin_new_prints_work_as_they_stand(vm):
    needs_modules(vm)
    java = vm.command("java")
    prefix, _ = installed(vm)
    tool = os.path.join(prefix, "bin", "hprof")
    if len(java) != 1 or not os.path.exists(tool):
        raise Skip("a JVM behind a command, or a build without the tool")
    path = os.path.dirname(shutil.which(java[0])) + ":" + os.environ["PATH"]

    def typed(command):
        run = subprocess.run(command, shell=True, cwd=vm.dir, env=dict(os.environ, PATH=path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(run.returncode == 0, "%s\n%s" % (command, run.stdout.decode(errors="replace")))
        return run.stdout.decode()

    for kind, written in (("collector", "heat.txt"), ("encoder", "acme.out"), ("filter", "zip.out"), ("sink", "cloud.out")):
        name = written.split(".")[0]
        lines = typed("%s plugin new %s %s" % (tool, kind, name)).split("Next:\n")[1].splitlines()
        check_equal(len(lines), 5, "commands: %s" % lines)
        configure, build, test, *rest = lines
        typed(configure)
        if kind == "collector":
            check("100% tests passed, 0 tests failed out of 1" in typed(build + " && " + test), "not one test")
        else:  # without the test, whose mock host takes longest
            typed(build + " --target " + name)
        for command in rest:
            typed(command)
        check(os.path.getsize(vm.path(written)) > 0, "nothing written to %s" % written)
    with open(vm.path("heat.txt")) as file:
        check("\nHEAT: starts=" in file.read(), "the table is the example's")


@vm_test(units=UNITS + ("monitor",))
def example_csv_writes_tables_that_a_csv_reader_reads(vm):
    needs_modules(vm)
    agent, folder = vendor_plugin(vm, "csv")
    run = vm.profiled("plugins=%s,cpu=samples,format=csv,file=out.csv" % folder, "Spin", "4", agent=agent)
    rows = list(csv.reader(run.text("out.csv").splitlines()))
    check_equal(rows[0], ["samples", "time", "trace"], "columns\n%s\n" % run)
    check(all(len(row) == 3 and row[0].isdigit() and "." in row[2] for row in rows[1:]), "rows: %s" % rows)
    run = vm.run_java(vm.agent_option("plugins=%s,monitor=y,format=csv,file=monitors.csv" % folder, agent), "Contend", "monitor", "3",
                      "3", "10")
    check_equal(run.text("monitors.csv").splitlines()[0], "contentions,time,trace,monitor,label", "columns\n%s\n" % run)
    kinds = ", ".join("hprof.monitor_%s/1" % kind for kind in ("wait", "waited", "dump"))
    check_equal(run.err.count("monitor: csv leaves out %s\n" % kinds), 1, "messages\n%s\n" % run)


@vm_test(units=("heap_sites", "encoder_ascii", "sink_file"))
def check_runs_collectors_in_a_jvm(vm):
    java = vm.command("java")
    if len(java) != 1 or not os.path.isdir(vm.plugin_dir):
        raise Skip("a JVM behind a command, or a build without modules")
    misbehaving = os.path.join(vm.tree, "tests", "plugins", "abi", "misbehaving", "misbehaving_targets.so")
    for file, unit, words in ((os.path.join(vm.plugin_dir, "heap_sites.so"), "heap_sites", r"in a JVM +ok\n"),
                              (misbehaving, "target_not_public", r"in a JVM +FAIL  HPROF: target_not_public: .* no public static method notP"),
                              (misbehaving, "target_not_static", r"in a JVM +FAIL  HPROF: target_not_static: .* no public static method notS"),
                              (misbehaving, "target_calls_an_intrinsic", r"in a JVM +FAIL  HPROF: .*callsIntrinsic calls sun/misc/Unsafe.getAnd"),
                              (misbehaving, "no_class_hooks", r"in a JVM +FAIL  HPROF: no_class_hooks: no probes without HPROF_NEED_CLASS"),
                              (misbehaving, "native_absent", r"in a JVM +FAIL  HPROF: native_absent does not run: java/lang/HprofWrongTargets: "
                                                             r"its native methods cannot be registered")):
        _, text = hprof(vm, "plugin", "check", "--agent=" + vm.agent, "--deadline=600", "--java=" + java[0], "--unit=" + unit, file)
        check(re.search(words, text), "%s: no %r in\n%s" % (unit, words, text))
