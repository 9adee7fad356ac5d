"""Runs with calls that fail: the injector of tests/vm/faults, whose decide.h says what rules there are."""
import collections
import os
import shutil

from harness import Skip, check, check_equal, head

# A call site of the agent's: how often it called, and how many of those calls failed.
Site = collections.namedtuple("Site", "function place calls failed")


def injector(vm):
    built = os.path.join(vm.tree, "tests", "vm", "faults", "libhprof_faults.so")
    if not os.path.exists(built):
        raise Skip("no fault injector in this build")
    return shutil.copy(built, vm.dir)


def faulty(vm, rules, options, *program):
    """The program with the agent, whose calls fail by these rules: (run, call sites)."""
    library = injector(vm)
    log = vm.path("faults.log")
    if os.path.exists(log):
        os.unlink(log)
    run = vm.run_java("-agentpath:" + library, vm.agent_option(options), *program,
                      environment={"LD_PRELOAD": library, "HPROF_FAULTS": rules, "HPROF_FAULTS_LOG": log})
    sites = read_log(log)
    check(sites, "%s: the injector wrote no log\n%s" % (rules, run))
    return run, sites


def read_log(path):
    """Nothing when the VM ended otherwise than by exit()."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        rows = [line.split() for line in file]
    return [Site(name, place, int(calls), int(failed)) for name, place, calls, failed in rows]


def check_harmless(vm, rules, options, *program, may_refuse=False):
    """The program does not notice that calls of the agent's fail, and some did. may_refuse: or one line of error before
    the program starts. Returns the run and the call sites."""
    run, sites = faulty(vm, rules, options, *program)
    if may_refuse and (run.code, run.out) == (1, ""):
        errors = [line for line in run.err.splitlines() if line.startswith("HPROF ERROR: ")]
        check_equal(len(errors), 1, "%s: lines of error\n%s\n" % (rules, run))
        return run, sites
    plain = vm.truth(*program)
    check(run.code == plain.code and run.out == plain.out,
          "%s: the program behaves differently\n%s\n--- without the agent: exit code %d, stdout\n%s"
          % (rules, run, plain.code, head(plain.out, 30)))
    check(any(site.failed for site in sites), "%s: nothing failed\n%s" % (rules, run))
    return run, sites


def check_refused(vm, rules, options, *program):
    """One line of error before the program starts. Returns it."""
    run, _ = faulty(vm, rules, options, *program)
    check_equal((run.code, run.out), (1, ""), "%s: exit code and stdout\n%s\n" % (rules, run))
    lines = [line for line in run.err.splitlines() if line.startswith("HPROF ERROR: ")]
    check_equal(len(lines), 1, "%s: lines of error\n%s\n" % (rules, run))
    return lines[0]
