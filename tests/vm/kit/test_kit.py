"""The vendor's kit: units that `hprof plugin new` makes, built against an installed tree, in a VM."""
import csv
import os
import sys

from harness import ROOT, check, check_equal, vm_test
from vendor import cmake, installed, needs_modules, vendor_plugin

sys.path.insert(0, os.path.join(ROOT, "tests", "plugins", "kit"))
import new_units  # noqa: E402


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def new_units_run_all_four_kinds_together(vm):
    needs_modules(vm)
    prefix, options = installed(vm)
    folder = vm.path("units")
    os.makedirs(folder)
    new_units.make(os.path.join(vm.tree, "bin", "hprof"), folder)
    build = os.path.join(folder, "build")
    cmake(vm, "-S", folder, "-B", build, *options)
    names = [name for _, _, name in new_units.UNITS]
    cmake(vm, "--build", build, "--target", *names)
    folders = ":".join(os.path.join(build, name) for name in names)
    for language in ("c", "cpp"):
        out = "out_%s.txt" % language
        run = vm.profiled("plugins=%s,collector_in_X=y,format=encoder_in_X,compress=filter_in_X,sink_in_X=%s,logflags=1"
                          .replace("X", language) % (folders, out), "Spin", "2", agent=os.path.join(prefix, "lib", "libhprof.so"))
        lines = run.text(out).splitlines()
        check_equal(lines[0], "# COLLECTOR_IN_%s: started ended" % language.upper(), "the header\n%s" % run)
        check(int(lines[1].split()[0]) >= 1 and len(lines) == 2, "no threads: %s" % lines)
        check("filter_in_%s: bytes handed on: %d" % (language, len(run.text(out))) in run.err, "the filter is silent\n%s" % run)


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def example_csv_writes_tables_that_a_csv_reader_reads(vm):
    needs_modules(vm)
    agent, folder = vendor_plugin(vm, "csv")
    run = vm.profiled("plugins=%s,cpu=samples,format=csv,file=out.csv" % folder, "Spin", "4", agent=agent)
    rows = list(csv.reader(run.text("out.csv").splitlines()))
    check_equal(rows[0], ["samples", "time", "trace"], "columns\n%s\n" % run)
    check(all(len(row) == 3 and row[0].isdigit() and "." in row[2] for row in rows[1:]), "rows: %s" % rows)
