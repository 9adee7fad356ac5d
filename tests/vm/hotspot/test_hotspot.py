"""hotspot=: each item of core/vm_tables holds on the JDKs that its row names, and nothing depends on one."""
import os
import re

from harness import ROOT, Skip, check, check_equal, vm_test
from programs import check_made
from reports import parse_ascii, tables

UNITS = ("bytecode", "context", "cpu_times", "heap_sites", "heap_dump", "cpu_samples", "encoder_ascii", "encoder_binary", "sink_file")
ROWS = os.path.join(ROOT, "core", "vm_tables", "items.def")


def read_rows():
    """{name: Java versions}, of items.def: the second string of a row is its name, the one before the proof `seen`."""
    with open(ROWS, encoding="utf-8") as file:
        text = re.sub(r"^//.*$", "", file.read(), flags=re.M)
    rows = {}
    for row in re.findall(r"^HPROF_ITEM\((.*?)\)$", text, flags=re.M | re.S):
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", row))
        rows[texts[0]] = [int(word) for word in texts[3].split()]
    return rows


def settled(runs):
    """What the agent said last of each item: None: used, else why not."""
    found = {}
    for run in runs:
        for name, why in re.findall(r"^HPROF: hotspot: (\S+) is (?:used|not used: (.*))$", run.err, flags=re.M):
            found[name] = why or None
    return found


def profiles(vm, more=""):
    # A small young generation: without collections nothing goes that weak-peeks could be proved by. G1, since weak-reuse
    # wants it before Java 25.
    # From Java 21 on frames in the heap are looked for once a virtual thread has some.
    samples = ("DeepVirtual", "100", "60", "8", "20000") if vm.version >= 21 else ("Spin", "8")
    return (vm.profiled("heap=sites,cutoff=0,depth=20,logflags=1,file=sites.txt" + more, "Sites", java=("-Xmn4m", "-XX:+UseG1GC")),
            vm.profiled("cpu=samples,plugin=context,interval=1,logflags=1,file=samples.txt" + more, *samples),
            vm.profiled("heap=all,dump=jvmti,format=b,logflags=1,file=dump.hprof" + more, "Sites", java=("-XX:+UseG1GC",)),
            vm.profiled("cpu=times,logflags=1,file=times.txt" + more, "Quick"))


@vm_test(units=UNITS)
def every_item_holds_where_it_was_seen(vm):
    rows = read_rows()
    if vm.bits == 32:
        raise Skip("the rows are about 64 bits")
    if all(vm.version not in seen for seen in rows.values()):
        raise Skip("no row knows this Java")
    runs = profiles(vm, ",hotspot=" + vm.all_items)
    # Collections are counted by events with G1. Of the other items the runs above say more.
    serial = vm.profiled("heap=sites,logflags=1,file=serial.txt", "Quick", java=("-XX:+UseSerialGC",))
    found = settled((serial,) + runs)
    check_equal(sorted(found), sorted(rows), "items that something was said of")
    elsewhere = () if vm.machine in ("amd64", "aarch64") else ("sample-walk",)  # which knows the code of these only
    wrong = ["%s: %s" % (name, found[name] or "used") for name in rows
             if (found[name] is None) != (vm.version in rows[name] and name not in elsewhere)]
    check(not wrong, "not as the rows of items.def say: %s" % wrong)
    report = parse_ascii(runs[0].text("sites.txt"))
    check_made(report, tables(report)[0], runs[0])


@vm_test(units=UNITS)
def without_any_item_all_collectors_work(vm):
    runs = profiles(vm, ",hotspot=n")
    check_made(parse_ascii(runs[0].text("sites.txt")), tables(parse_ascii(runs[0].text("sites.txt")))[0], runs[0])
    methods = [row.method for row in parse_ascii(runs[1].text("samples.txt")).cpu()[0].rows]
    check("Spin.hot" in methods or "DeepVirtual.spin" in methods, "the work is missing in %s" % methods)
    check(runs[2].bytes("dump.hprof").startswith(b"JAVA PROFILE 1.0.2\0"), "no dump")
    used = [name for name, why in settled(runs).items() if why != "switched off"]
    check(not used, "used, or tried, though switched off: %s" % used)


@vm_test(units=UNITS)
def objects_are_counted_without_an_item(vm):
    for item in ("vm-structs", "frame-walk", "method-pointers", "object-header", "allocate-instance"):
        run = vm.profiled("heap=sites,cutoff=0,depth=20,sites-live=n,file=out.txt,hotspot=-" + item, "Sites")
        report = parse_ascii(run.text("out.txt"))
        check_made(report, tables(report)[0], run)


@vm_test(units=UNITS)
def the_field_of_threads_is_not_shown_to_the_program(vm):
    vm.profiled("cpu=times,file=out.txt", "Reflects")
    run = vm.run_java(vm.agent_option("cpu=times,file=out.txt,hotspot=-field-filter"), "Reflects")
    check_equal((run.code, "$hprof" in run.out), (0, True), "without the filter\n%s\n" % run)


@vm_test(units=UNITS)
def an_item_that_is_not_there_is_refused(vm):
    run = vm.run_java(vm.agent_option("heap=sites,hotspot=-frame-walks"), "Quick")
    check(run.code != 0, "the VM ran\n%s" % run)
    check("hotspot option value must be" in run.err and "frame-walk," in run.err, "no list of items\n%s" % run)
