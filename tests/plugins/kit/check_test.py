#!/usr/bin/env python3
"""`hprof plugin check --run`: the shipped units pass, each wrong one fails with the words for what it does.

check_test.py BUILD SUFFIX
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from wrong import HELPLESS_TOO, MODULES, UNITS  # noqa: E402

LIVES = {unit: fault.check for unit, fault in UNITS.items() if fault.check}


def check(build, file, *options):
    """(exit code, what it says)."""
    run = subprocess.run([build + "/bin/hprof", "plugin", "check", file, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False)
    return run.returncode, run.stdout.decode(errors="replace")


def for_aarch64(file, folder, name=None):
    """A copy of a library whose head says that it is for that machine."""
    path = os.path.join(folder, name or os.path.basename(file))
    with open(file, "rb") as source:
        content = bytearray(source.read())
    content[18:20] = (183).to_bytes(2, sys.byteorder)
    with open(path, "wb") as copy:
        copy.write(content)
    return path


# What can be seen of a library without running it: the message, where it is another one.
SEEN = {name: MODULES[name] for name in (
    "wrong_major", "wrong_minor", "wrong_own_name", "wrong_symbol", "wrong_size", "wrong_unit_size", "wrong_twice", "wrong_no_name",
    "wrong_no_id", "wrong_id", "wrong_no_units", "wrong_many", "wrong_null_unit", "wrong_kind", "wrong_need", "wrong_select")}
SEEN.update(wrong_layout="no record with the layout word of such machines")


def check_foreign(plugins, suffix, expect):
    """A library of another machine is read, and not run, whatever it contains."""
    with tempfile.TemporaryDirectory() as folder:
        read = "for another machine (aarch64, 64 bits, "
        expect(0, [read, "plugin ABI 1.0, units: right\n"], for_aarch64(plugins + "right" + suffix, folder), "--run")
        expect(1, [read, "calls itself right"], for_aarch64(plugins + "right" + suffix, folder, "left" + suffix))
        for name, words in SEEN.items():
            expect(1, [read, words], for_aarch64(plugins + name + suffix, folder))
        escaping = for_aarch64(plugins + "wrong_symbol" + suffix, folder, "escaping" + suffix)
        with open(escaping, "rb") as file:
            content = file.read()
        with open(escaping, "wb") as file:
            file.write(content.replace(b"hprof_module_opened\0", b"hprof_module_open\x1b]\0"))
        expect(1, ["FAIL  exports hprof_module_open\\x1b], too"], escaping)
        short = os.path.join(folder, "right" + suffix)
        with open(short, "rb") as file:
            content = file.read()
        for size in range(0, len(content), len(content) // 64):
            with open(short, "wb") as file:
                file.write(content[:size])
            expect(1, ["FAIL"], short)


def check_crash(shipped, expect):
    """A JVM that ends by a signal: what it said of the error. --java takes the folder of a JDK, too."""
    with tempfile.TemporaryDirectory() as jdk:
        os.mkdir(jdk + "/bin")
        with open(jdk + "/bin/java", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho '# A fatal error'\necho '#  Internal Error (a.cpp:1)'\necho '#  pid 1'\nkill -ABRT $$\n")
        os.chmod(jdk + "/bin/java", 0o700)
        expect(0, ["cpu_samples/java  in a JVM\n"], shipped, "--list", "--java=" + jdk)
        expect(1, ["FAIL  the JVM crashes (Aborted): Internal Error (a.cpp:1)\n"], shipped, "--only=java", "--java=" + jdk)


def main(build, suffix):
    bad = []

    def expect(code, words, file, *options):
        got, text = check(build, file, *options)
        if got != code or any(word not in text for word in words):
            bad.append("%s %s: exit code %d, wanted %d and %r\n%s" % (file, " ".join(options), got, code, words, text))

    shipped = glob.glob(build + "/lib/hprof/plugins/*" + suffix)
    for file in sorted(shipped) + [build + "/tests/plugins/abi/plugins/right" + suffix]:
        expect(0, [], file, "--run")
    wrong = build + "/tests/plugins/abi/plugins/"
    if suffix == ".so":
        check_foreign(wrong, suffix, expect)
    for name, words in MODULES.items():
        expect(1, [words], wrong + name + suffix)
    parts = [build + "/tests/plugins/abi/misbehaving/misbehaving_" + name + suffix for name in ("life", "reports", "targets", "writers")]
    life, reports = parts[:2]
    lists = {file: check(build, file, "--list")[1] for file in parts}
    code, tests = check(build, life, "--list")
    if code != 0 or "stuck_create/life  life in all orders\n" not in tests:
        bad.append("--list lacks the test stuck_create/life\n" + tests)
    for unit, words in LIVES.items():
        # What hangs does so for ever; nothing else is to look like it on a busy machine.
        deadline = "--deadline=1" if words.startswith("hangs") else "--deadline=600"
        file = next(file for file in parts if "\n%s/options " % unit in "\n" + lists[file])
        expect(0 if words.startswith("note") else 1, [words], file, "--run", "--unit=" + unit, deadline)
    expect(1, ['"unit":"no_number","test":"life","verdict":"FAIL","text":"a record that it hands over is a table'], reports,
           "--only=no_number/life", "--json")
    expect(0, ["note  writes the table com.wrong.hidden/1, which its records do not list"], reports, "--only=undeclared/life")
    if suffix == ".so":
        check_crash(build + "/lib/hprof/plugins/cpu_samples.so", expect)
    expect(2, ["no test nothing"], life, "--only=nothing")
    expect(1, HELPLESS_TOO, wrong + "helpless" + suffix)
    expect(2, ["no unit nobody"], life, "--run", "--unit=nobody")
    if not shipped or bad:
        sys.exit("\n".join(bad) or "no shipped units")


if __name__ == "__main__":
    main(*sys.argv[1:])
