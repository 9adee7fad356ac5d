#!/usr/bin/env python3
"""`hprof plugin check --run`: the shipped units pass, each wrong one fails with the words for what it does.

check_test.py BUILD SUFFIX
"""
import glob
import os
import subprocess
import sys

DESCRIPTORS = {
    "wrong_major": "needs version 0.0 of the plugin ABI",
    "wrong_minor": "needs version 1.1 of the plugin ABI",
    "wrong_layout": "the layout word differs",
    "wrong_own_name": "calls itself somebody_else",
    "wrong_ops": "unit 1 has no function table",
    "wrong_ops_size": "function table cut short",
    "wrong_offset": "an option's value lies outside of its config struct",
    "wrong_refuses": "says: needs a licence file",
    "wrong_silent": "says: nothing",
    "wrong_symbol": "does not export hprof_module_open",
    "wrong_size": "returned a record of only ",
    "wrong_unit_size": "has a record of only ",
    "wrong_file": "FAIL",
}
LIVES = {
    "misbehaving": {
        "fails_in_create": "refuses with a text of more than one line",
        "foreign_kind": "is of a kind that units do not write",
        "short_record": "is shorter than its kind",
        "no_schema": "is a table without a schema",
        "unknown_trace": "that was never handed out",
        "loud": "gives a message of more than one line",
        "refuses_all": "answers HPROF_UNSUPPORTED to com.example.check/1, which its records list",
        "writes_behind": "writes beyond the room it was given",
        "moves_behind": "moves beyond the room it was given",
        "wrong_count": "says that it wrote more than it was given",
        "stuck_report": "hangs: nothing for 1 s, in report",
        "stuck_write": "hangs: nothing for 1 s, in write",
        "stuck_close": "hangs: nothing for 1 s, in close",
    },
    "wrong_units": {
        "leaks": "keeps 100 bytes",
        "wrong_size": "releases memory that it does not have, or with another size",
        "crashes": "crashes (Segmentation fault), in start",
        "ends": "ends the process (exit code 3), in start",
        "silent": "refuses without an error text (HPROF_FAILED)",
        "greedy": "crashes (Segmentation fault), in create",
        "no_status": "report answers 77, which is no status",
        "early": "writes a record outside of report()",
        "gc_memory": "allocates memory in a [gc] handler",
        "helpless": "no help for the option helpless",
        "late_memory": "allocates memory after create",
        "deaf": "goes on although the output is gone",
        "open_for_ever": "leaves a file open",
    },
}
MODULE = ("helpless: the option depth is one of the agent's own", "helpless: selected by cpu=samples, as is the shipped cpu_samples",
          "exports wrong_units_too_much, too")


def check(build, file, *options):
    """(exit code, what it says)."""
    run = subprocess.run([build + "/bin/hprof", "plugin", "check", file, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    return run.returncode, run.stdout.decode(errors="replace")


def main(build, suffix):
    bad = []

    def expect(code, words, file, *options):
        got, text = check(build, file, *options)
        if got != code or any(word not in text for word in words):
            bad.append("%s %s: exit code %d, wanted %d and %r\n%s" % (file, " ".join(options), got, code, words, text))

    shipped = glob.glob(build + "/lib/hprof/plugins/*" + suffix)
    for file in sorted(shipped) + [build + "/tests/plugins/abi/plugins/right" + suffix]:
        expect(0, [], file, "--run")
    for name, words in DESCRIPTORS.items():
        expect(1, [words], build + "/tests/plugins/abi/plugins/" + name + suffix)
    for module, folder in (("misbehaving", "tests/plugins/abi/misbehaving"), ("wrong_units", "tests/plugins/kit")):
        for unit, words in LIVES[module].items():
            # What hangs does so for ever; nothing else is to look like it on a busy machine.
            deadline = "--deadline=1" if words.startswith("hangs") else "--deadline=600"
            expect(1, [words], os.path.join(build, folder, module + suffix), "--run", "--unit=" + unit, deadline)
    expect(1, MODULE, build + "/tests/plugins/kit/wrong_units" + suffix)
    expect(2, ["no unit nobody"], build + "/tests/plugins/kit/wrong_units" + suffix, "--run", "--unit=nobody")
    if not shipped or bad:
        sys.exit("\n".join(bad) or "no shipped units")


if __name__ == "__main__":
    main(*sys.argv[1:])
