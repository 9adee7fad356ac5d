"""The preset embedded: all memory is taken when the agent is loaded; when it is used up, things are counted and dropped. And the
agent as a static library."""
import glob
import os
import re
import shutil
import subprocess

from harness import ROOT, Skip, check, check_equal, vm_test
from reports import parse_ascii

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = ("embedded", "cpu_samples", "encoder_ascii", "sink_file")


def counted(vm, options, *program):
    """Profiles with a preloaded counter; the run, and the calls and bytes that the agent's library asked for."""
    vm.needs_to_be_preloaded_first()
    run = vm.profiled(options, *program, environment={"LD_PRELOAD": vm.native("count_memory.c")})
    found = re.search(r"agent memory: (\d+) calls, (\d+) bytes", run.err)
    check(found, "the counter did not print\n%s" % run)
    return run, int(found.group(1)), int(found.group(2))


@vm_test(units=UNITS)
def memory_is_taken_once_and_stays_within_the_limit(vm):
    run, calls, size = counted(vm, "cpu=samples,interval=1,max-memory=1m,file=out.txt", "Spin", "20")
    check(size <= 1 << 20, "%d bytes were asked for" % size)
    check(calls <= 3, "%d times memory was asked for" % calls)
    report = parse_ascii(run.text("out.txt"))
    check(report, "no profile")
    check("Spin" in run.text("out.txt"), "the program is not in the profile")


@vm_test(units=UNITS)
def large_program_loses_methods_and_says_how_many(vm):
    sources = os.path.join(ROOT, "tests", "vm", "java", "Spin.java")
    run, _, size = counted(vm, "cpu=samples,interval=1,max-memory=512k,file=out.txt", "-m",
                           "jdk.compiler/com.sun.tools.javac.Main", "-d", vm.dir, sources)
    check(size <= 512 << 10, "%d bytes were asked for" % size)
    text = run.text("out.txt")
    parse_ascii(text)
    # Of the table and of the book of method ids.
    lost = [int(number) for number in re.findall(r"HPROF NOTE: lost (\d+) methods", text)]
    check(sum(lost) > 100, "no losses reported:\n%s" % text[-800:])


@vm_test(units=UNITS)
def unlimited_or_too_little_memory_is_refused(vm):
    for value in ("0", "64k"):
        line = vm.refused("cpu=samples,max-memory=%s,file=out.txt" % value)
        check("max-memory" in line, "the line does not name the option: %s" % line)


@vm_test(units=UNITS)
def control_sockets_are_refused(vm):
    line = vm.refused("cpu=samples,control=y,file=out.txt")
    check("control=" in line, "the line does not name the option: %s" % line)


def linked_in(vm, options, *program):
    """The profile of a program in a launcher that libhprof.a is linked into: -agentlib:hprof finds Agent_OnLoad_hprof there."""
    compiler = shutil.which("cc")
    home = getattr(vm.jdk, "home", None)
    libraries = glob.glob(os.path.join(home or "/nowhere", "**", "libjvm.so"), recursive=True)
    if compiler is None or not libraries or not os.path.exists(os.path.join(home, "include", "jni.h")):
        raise Skip("no C compiler, or no JDK of this machine's own")
    host = vm.path("host")
    include = os.path.join(home, "include")
    subprocess.check_call([compiler, "-rdynamic", "-I" + include, "-I" + os.path.join(include, "linux"),
                           os.path.join(HERE, "static_host.c"), os.path.join(vm.tree, "lib", "libhprof.a"),
                           "-o", host, "-lpthread", "-ldl"])
    run = subprocess.run([host, libraries[0], options + ",file=out.txt", vm.classes, *program],
                         cwd=vm.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    check_equal(run.returncode, 0, "exit code\n%s\n" % run.stdout.decode())
    with open(vm.path("out.txt")) as file:
        text = file.read()
    parse_ascii(text)
    return text


@vm_test(units=("static_agent", "cpu_samples", "encoder_ascii", "sink_file"))
def agent_that_is_linked_into_the_program_is_found(vm):
    text = linked_in(vm, "cpu=samples,interval=1", "Spin", "20")
    check("Spin." in text, "the program is not in the profile:\n%s" % text[-800:])


@vm_test(units=("static_agent", "heap_sites", "bytecode", "hotspot", "encoder_ascii", "sink_file"))
def modules_of_the_core_are_linked_into_the_program(vm):
    text = linked_in(vm, "heap=sites,max-memory=16m", "Quick")
    check("SITES BEGIN" in text, "no sites in the profile:\n%s" % text[-800:])
