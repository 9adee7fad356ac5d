"""hprof.jar: it unpacks the agent and the tool for its machine; the profiler of JMH; the builds of others that use it."""
import contextlib
import fcntl
import glob
import os
import re
import shutil
import stat
import subprocess
import sys

from harness import ROOT, TIMEOUT, Skip, check, check_equal, clean_environment, vm_test

HERE = os.path.dirname(os.path.abspath(__file__))
MAVEN_SECONDS = 600


@contextlib.contextmanager
def shared(vm):
    """The folder of what is made once, by one process at a time."""
    out = os.path.join(vm.work, "java")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield out


def made(vm):
    """The jar, made once of this build, and what making it printed."""
    with shared(vm) as out:
        said = os.path.join(out, "said-%d" % os.getppid())
        if not os.path.exists(said):
            if not shutil.which("javac"):
                raise Skip("no javac here")
            run = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "java", "build"), "--out", out, vm.tree], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=2 * MAVEN_SECONDS, universal_newlines=True)
            check_equal(run.returncode, 0, "tools/java/build: %s" % run.stdout)
            for old in glob.glob(os.path.join(out, "said-*")):
                os.unlink(old)
            with open(said, "w") as file:
                file.write(run.stdout)
        with open(said) as file:
            return os.path.join(out, "hprof.jar"), file.read()


def run_jar(vm, *arguments, java=(), code=0):
    run = vm.run_java(*java, "-jar", made(vm)[0], *arguments, environment={"XDG_CACHE_HOME": vm.path("cache")})
    check_equal(run.code, code, "exit code\n%s" % run)
    return run


def tree(folder):
    """{path: bytes} of the files in it."""
    return {os.path.relpath(path, folder): open(path, "rb").read() for path in glob.glob(os.path.join(folder, "**"), recursive=True)
            if os.path.isfile(path)}


@vm_test(needs=("proc",), quick=True)
def the_agent_is_unpacked(vm):
    path = run_jar(vm, "agentpath").out.rstrip("\n")
    check(path.startswith(vm.path("cache") + "/hprof/") and path.endswith("/lib/libhprof.so"), "agentpath: %s" % path)
    for folder in (vm.path("cache/hprof"), os.path.dirname(os.path.dirname(path))):
        check_equal(stat.S_IMODE(os.stat(folder).st_mode), 0o700, "mode of %s" % folder)
    run = vm.run_java("-agentpath:%s=calls=y,file=out.txt" % path, "Quick")
    check("METHOD_CALLS" in run.text("out.txt"), "no report\n%s" % run)


@vm_test(needs=("proc",))
def a_damaged_copy_is_replaced(vm):
    path = run_jar(vm, "agentpath").out.strip()
    folder = os.path.dirname(os.path.dirname(path))
    whole = tree(folder)
    with open(path, "r+b") as file:
        file.truncate(1000)
    module = glob.glob(os.path.join(folder, "lib", "hprof", "plugins", "*"))[0]
    os.unlink(module)
    check_equal(run_jar(vm, "agentpath").out.strip(), path, "path")
    check(tree(folder) == whole, "the files are not those from before")
    check_equal(os.listdir(vm.path("cache/hprof")), [os.path.basename(folder)], "what is left")


@vm_test(needs=("proc",))
def processes_unpack_at_the_same_time(vm):
    jar, _ = made(vm)
    environment = clean_environment({"XDG_CACHE_HOME": vm.path("cache")})
    started = [subprocess.Popen(vm.command("java", "-Xmx64m", "-jar", jar, "agentpath"), cwd=vm.dir, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, env=environment) for _ in range(6)]
    said = {(process.communicate(timeout=TIMEOUT)[0], process.returncode) for process in started}
    check(len(said) == 1 and {code for _, code in said} == {0}, "paths and exit codes: %s" % said)
    check_equal(len(os.listdir(vm.path("cache/hprof"))), 1, "what is left: %s" % os.listdir(vm.path("cache/hprof")))


@vm_test(needs=("proc",))
def a_machine_without_an_agent_is_named(vm):
    run = run_jar(vm, "agentpath", java=("-Dos.arch=vax",), code=2)
    check(re.fullmatch(r"hprof\.jar: no agent for linux-vax in this jar, which has: linux-\S+\n", run.err), "message\n%s" % run)
    with open(vm.path("cache"), "w"):
        pass
    run = run_jar(vm, "agentpath", code=2)
    check("cannot use the folder %s/hprof, set XDG_CACHE_HOME to another one" % vm.path("cache") in run.err, "message\n%s" % run)


@vm_test(needs=("proc",))
def other_commands_are_those_of_the_tool(vm):
    if not os.path.exists(os.path.join(vm.tree, "bin", "hprof")):
        raise Skip("this build has no bin/hprof")
    vm.run_java(vm.agent_option("calls=y,file=out.txt"), "Quick")
    run = run_jar(vm, "print", "--top=1", "out.txt")
    check("METHOD_CALLS, calls" in run.out, "what print says\n%s" % run)
    run_jar(vm, "diff", "--fail-if=calls>0", "out.txt", "out.txt", code=1)
    run = run_jar(vm, "print", "none.txt", code=2)
    check("none.txt" in run.err, "message\n%s" % run)
    run_jar(vm, code=2)
