"""bin/hprof as tests use it."""
import os
import subprocess

from harness import TIMEOUT, check_equal, clean_environment


def hprof(vm, *arguments):
    """bin/hprof to its end: (exit code, stdout and stderr)."""
    program = os.path.join(vm.tree, "bin", "hprof")
    run = subprocess.run([program, *arguments], cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=TIMEOUT, env=clean_environment(None))
    return run.returncode, run.stdout.decode(errors="replace")


def sound(vm, name, *options):
    code, text = hprof(vm, "check", *options, vm.path(name))
    check_equal(code, 0, "hprof check %s %s\n%s\n" % (" ".join(options), name, text))
