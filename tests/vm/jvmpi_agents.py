"""How the agents for JVMPI of jvmpi/*.c are built and run, and what those say that several suites run."""
import os
import re
import subprocess

from harness import ROOT, Skip, check, check_equal
from jdks import installed

UNITS = ("jvmpi",)
PROBES = UNITS + ("bytecode",)


def build(vm, name):
    """lib<name>.so in the test's folder, where -Xrun<name> finds it."""
    compiler = vm.compiler()
    root = ROOT
    homes = [home for home in installed() if os.path.exists(os.path.join(home, "include", "jni.h"))]
    if not homes:
        raise Skip("no jni.h")
    jni = os.path.join(homes[0], "include")
    library = vm.path("lib%s.so" % name)
    if os.path.exists(library):
        return library
    subprocess.check_call([compiler, "-std=gnu11", "-O1", "-g", "-shared", "-fPIC", "-pthread", "-I" + root, "-I" + jni,
                           "-I" + os.path.join(jni, "linux"), os.path.join(root, "tests", "vm", "jvmpi", name + ".c"), "-o", library])
    return library


def run_alone(vm, name, agent_options, *program, options="jvmpi=y", java=()):
    """The program with the agent."""
    build(vm, name)
    there = "-Xrun" + name + (":" + agent_options if agent_options else "")
    return vm.run_java(vm.agent_option(options), there, *java, *program, environment={"LD_LIBRARY_PATH": vm.dir})


def run(vm, name, agent_options, *program, options="jvmpi=y", java=()):
    """The same; it must not notice."""
    got = run_alone(vm, name, agent_options, *program, options=options, java=java)
    plain = vm.truth(*java, *program)
    check_equal((got.out, got.code), (plain.out, plain.code), "stdout and exit code\n%s\n" % got)
    return got


def said(run):
    return [line[len("agent: "):] for line in run.err.splitlines() if line.startswith("agent: ")]


def check_promises(run):
    check_equal([line for line in said(run) if line.startswith("BROKEN")], [], "broken promises\n%s\n" % run)
    check("broken 0" in said(run), "the agent did not see the end\n%s" % run)
    return {int(a): int(b) for a, b in re.findall(r"^agent: event (\d+): (\d+)$", run.err, re.MULTILINE)}


# What dump.c and references.c say.
DUMPS = ["level0: traces none", "level 0: whole, many objects", "level 0 answered 0", "level1: traces with frames",
         "level 1 answered 0", "level2: traces with frames", "level 2 answered 0", "level 3 answered -1",
         "no object answered -1", "objects dumped, refused 0"]
REFERENCES = "made 20, gone 20, wrong 0"
