"""format=b: each number in a report has its definition, with every collector and both engines of heap=dump (joins.py)."""
import gzip

from harness import check, vm_test
from joins import Joins, check_joins

UNITS = ("cpu_samples", "encoder_binary", "sink_file")
SITES = ("bytecode", "heap_sites", "encoder_binary", "sink_file")
DUMPS = ("heap_dump", "encoder_binary", "sink_file")
ALL = ("bytecode", "heap_sites", "heap_dump", "encoder_binary", "sink_file")


def report(vm, options, *program, java=()):
    run = vm.profiled("%s,format=b,cutoff=0,depth=8,file=out.hprof" % options, *program, java=java)
    data = run.bytes("out.hprof")
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@vm_test(units=UNITS)
def samples(vm):
    check_joins(report(vm, "cpu=samples,interval=1,thread=y", "Spin", "4"))


@vm_test(units=SITES)
def sites(vm):
    for options in ("heap=sites", "heap=sites,thread=y", "heap=sites,cpu=samples"):
        check_joins(report(vm, options, "HeapTraces"))


@vm_test(units=SITES, since=11)
def sampled_sites(vm):
    check_joins(report(vm, "heap=sites,sites=sampled:4k", "HeapTraces"))


@vm_test(units=DUMPS)
def dumps_by_jvmti(vm):
    for options in ("hotspot=y", "hotspot=-object-addresses"):
        check_joins(report(vm, "heap=dump,dump=jvmti," + options, "HeapShapes", "mark"))


@vm_test(units=DUMPS, since=11)
def dumps_by_the_vm(vm):
    for options in ("redact=none", "redact=basic"):
        data = report(vm, "heap=dump,dump=vm," + options, "HeapShapes", "mark")
        check_joins(data)
        joins = Joins(data)
        listed = [serial for serial in joins.report.threads if serial in (row[2] for row in joins.heap.root_records if row[0] == 8)]
        check(len(listed) > 3, "threads of START THREAD that are in the dump: %s" % listed)


@vm_test(units=ALL)
def sites_and_a_dump_by_jvmti(vm):
    check_joins(report(vm, "heap=all,dump=jvmti", "HeapTraces"))


@vm_test(units=ALL, since=11)
def sites_and_a_dump_by_the_vm(vm):
    for java in ("-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"):
        check_joins(report(vm, "heap=all,dump=vm", "HeapTraces", java=(java,)))
