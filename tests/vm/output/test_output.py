"""The output file: who may read it, what is never overwritten, and what a full disk does (nothing to the program)."""
import os
import re
import stat
import subprocess

from harness import TIMEOUT, VM_ENVIRONMENT, Failure, check, check_equal, clean_environment, vm_test
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


@vm_test(units=UNITS, needs=("file modes",))
def file_is_for_the_owner_only(vm):
    old = os.umask(0)
    try:
        vm.profiled("cpu=samples,file=out.txt", "Quick")
    finally:
        os.umask(old)
    check_equal(oct(stat.S_IMODE(os.stat(vm.path("out.txt")).st_mode)), oct(0o600), "mode")


@vm_test(units=UNITS, needs=("links",), quick=True)
def symbolic_link_is_refused(vm):
    with open(vm.path("victim"), "w") as file:
        file.write("precious")
    os.symlink("victim", vm.path("out.txt"))
    line = vm.refused("cpu=samples,file=out.txt")
    check("out.txt" in line, "the line does not name the file: %s" % line)
    with open(vm.path("victim")) as file:
        check_equal(file.read(), "precious", "the file behind the link")


@vm_test(units=UNITS, needs=("links",))
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
def file_of_a_living_vm_is_not_taken(vm):
    first = vm.start("cpu=samples,file=out.txt", "Idle")
    for number, options in enumerate(("cpu=samples,file=out.txt", "cpu=samples,force=n,file=out.txt")):
        run = vm.run_java(vm.agent_option(options), "Spin", "2")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        fresh = [name for name in os.listdir(vm.dir) if name.startswith("out.") and name != "out.txt"]
        check_equal(len(fresh), number + 1, "new files: %s" % fresh)
        check_equal("out.txt is in use by a running VM: writing to out." in run.err, number == 0, "what is said\n%s\n" % run)
    for name in fresh:
        parse_ascii(run.text(name))
    check_equal(first.process.poll(), None, "the first VM lives")
    check_equal(len(parse_ascii(first.finish().text("out.txt")).cpu()), 1, "the report of the first VM")


@vm_test(units=UNITS, needs=("file modes",))
def readers_are_let_in_by_mode(vm):
    for mode in ("0640", "0644", "0600"):
        vm.profiled("cpu=samples,mode=%s,file=out.txt" % mode, "Quick")
        check_equal("%04o" % stat.S_IMODE(os.stat(vm.path("out.txt")).st_mode), mode, "mode")
    check("mode option value must be 0600|0640|0644" in vm.refused("cpu=samples,mode=0777,file=out.txt"), "mode=0777")


@vm_test(units=UNITS)
def full_disk_is_said_once_and_harms_nothing(vm):
    for options in ("cpu=samples", "cpu=samples,interval=1,thread=y"):
        run = vm.profiled(options + ",file=/dev/full", "Spin", "4", "2")
        said = [line for line in run.err.splitlines() if "/dev/full" in line or "No space" in line]
        check_equal((len(said), "No space" in "".join(said)), (1, True), "lines about the full disk\n%s\n" % run)


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
def full_pipe_as_stderr_hangs_nothing(vm):
    """Nobody reads the VM's standard error, and its pipe is full: the program ends as without the agent."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(writer, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(writer, True)
    command = vm.command("java", "-cp", vm.classes, vm.agent_option("cpu=samples,file=out.txt"), "Quick", "7")
    with open(writer, "wb", buffering=0) as err:
        process = subprocess.Popen(command, cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err,
                                   env=clean_environment(VM_ENVIRONMENT))
        try:
            out, _ = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure("the VM hangs")
        finally:
            os.close(reader)
    check_equal((process.returncode, out), (7, b"quick\n"), "exit code and stdout")
    with open(vm.path("out.txt")) as file:
        parse_ascii(file.read()).cpu()


@vm_test(units=UNITS)
def doe_n_writes_no_report_at_exit(vm):
    run = vm.profiled("cpu=samples,doe=n,file=out.txt", "Spin", "2")
    sections = parse_ascii(run.text("out.txt")).sections if os.path.exists(run.path("out.txt")) else []
    check_equal([section.name for section in sections], [], "sections")


@vm_test(units=UNITS)
def verbose_says_what_is_dumped(vm):
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2")
    check("Dumping" in run.err and "done." in run.err, "stderr does not tell of the dump\n%s" % run)
    said = re.search(r"^HPROF: done: (.*) \(.* (KB|bytes)\)$", run.err, re.M)
    check(said and said.group(1) == os.path.realpath(run.path("out.txt")), "where the report is\n%s" % run)
    run = vm.profiled("cpu=samples,verbose=n,file=quiet.txt", "Spin", "2")
    check_equal(run.err, "", "stderr with verbose=n")


@vm_test(units=UNITS + ("encoder_json", "encoder_pprof", "filter_gzip"))
def the_size_that_is_said_is_that_of_the_file(vm):
    for options in ("format=a", "format=json", "format=pprof", "compress=gzip", "format=json,compress=gzip"):
        run = vm.profiled("cpu=samples,%s,file=out" % options, "Spin", "2")
        said = re.search(r"^HPROF: done: .* \((\d+)(\.\d)? (KB|bytes)\)$", run.err, re.M)
        check(said, "no size\n%s" % run)
        size = os.path.getsize(run.path("out"))
        unit = 1000 if said.group(3) == "KB" else 1
        close = unit / (20 if said.group(2) else 2)
        found = float(said.group(1) + (said.group(2) or "")) * unit
        check(abs(found - size) <= close, "%s: said %s, the file has %d bytes" % (options, said.group(0), size))


ENDS = {"cpu=samples,interval=1": "CPU SAMPLES BEGIN", "cpu=times": "CPU TIME (ms) BEGIN", "monitor=all": "MONITOR DUMP BEGIN"}


@vm_test(units=UNITS + ("bytecode", "cpu_times", "monitor"))
def report_is_written_when_the_vm_does_not_announce_its_end(vm):
    """With a full heap the launcher cannot attach its thread again, so the process ends without VMDeath."""
    for options, begin in ENDS.items():
        run = vm.run_java(vm.agent_option(options + ",file=out.txt,force=y"), "-Xmx40m", "-XX:+UseG1GC", "FullHeap", "die")
        check_equal((run.code, run.out), (1, "begin\n"), "exit code and stdout\n%s\n" % run)
        check_equal(run.text("out.txt").count("\n" + begin), 1, "%s: tables\n%s\n" % (options, run))
