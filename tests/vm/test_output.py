"""The output file: who may read it, what is never overwritten, and what a full disk does (nothing to the program)."""
import os
import stat

from harness import check, check_equal, vm_test
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


@vm_test(units=UNITS)
def file_is_for_the_owner_only(vm):
    old = os.umask(0)
    try:
        vm.profiled("cpu=samples,file=out.txt", "Quick")
    finally:
        os.umask(old)
    check_equal(oct(stat.S_IMODE(os.stat(vm.path("out.txt")).st_mode)), oct(0o600), "mode")


@vm_test(units=UNITS)
def symbolic_link_is_refused(vm):
    with open(vm.path("victim"), "w") as file:
        file.write("precious")
    os.symlink("victim", vm.path("out.txt"))
    line = vm.refused("cpu=samples,file=out.txt")
    check("out.txt" in line, "the line does not name the file: %s" % line)
    with open(vm.path("victim")) as file:
        check_equal(file.read(), "precious", "the file behind the link")


@vm_test(units=UNITS)
def dangling_symbolic_link_is_refused(vm):
    os.symlink("planted", vm.path("out.txt"))
    vm.refused("cpu=samples,file=out.txt")
    check(not os.path.exists(vm.path("planted")), "written through the link")


@vm_test(units=UNITS)
def existing_file_is_replaced(vm):
    with open(vm.path("out.txt"), "w") as file:
        file.write("x" * 1000000)
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2")
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS)
def force_n_keeps_an_existing_file(vm):
    with open(vm.path("out.txt"), "w") as file:
        file.write("precious")
    run = vm.run_java(vm.agent_option("cpu=samples,force=n,file=out.txt"), "Spin", "2")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    with open(vm.path("out.txt")) as file:
        check_equal(file.read(), "precious", "the file that was there")
    fresh = [name for name in os.listdir(vm.dir) if name.startswith("out") and name != "out.txt"]
    check_equal(len(fresh), 1, "new files: %s" % fresh)
    check(any(part.isdigit() for part in fresh[0].split(".")), "no process id in the name %s" % fresh[0])
    parse_ascii(run.text(fresh[0]))


@vm_test(units=UNITS)
def full_disk_is_said_once_and_harms_nothing(vm):
    for options in ("cpu=samples", "cpu=samples,interval=1,thread=y"):
        run = vm.profiled(options + ",file=/dev/full", "Spin", "4", "2")
        said = [line for line in run.err.splitlines() if "/dev/full" in line or "No space" in line]
        check_equal(len(said), 1, "lines about the full disk\n%s\n" % run)


@vm_test(units=UNITS)
def full_disk_keeps_the_exit_code(vm):
    run = vm.profiled("cpu=samples,file=/dev/full", "Quick", "42")
    check_equal(run.code, 42, "exit code\n%s\n" % run)


@vm_test(units=UNITS)
def system_exit_writes_the_report(vm):
    run = vm.profiled("cpu=samples,file=out.txt", "Quick", "7")
    check_equal(run.code, 7, "exit code\n%s\n" % run)
    parse_ascii(run.text("out.txt")).cpu()


@vm_test(units=UNITS)
def doe_n_writes_no_report_at_exit(vm):
    run = vm.profiled("cpu=samples,doe=n,file=out.txt", "Spin", "2")
    sections = parse_ascii(run.text("out.txt")).sections if os.path.exists(run.path("out.txt")) else []
    check_equal([section.name for section in sections], [], "sections")


@vm_test(units=UNITS)
def verbose_says_what_is_dumped(vm):
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2")
    check("Dumping" in run.err and "done." in run.err, "stderr does not tell of the dump\n%s" % run)
    run = vm.profiled("cpu=samples,verbose=n,file=quiet.txt", "Spin", "2")
    check_equal(run.err, "", "stderr with verbose=n")
