#!/usr/bin/env python3
"""The commands of docs/plugins.md that build units by hand and for another machine, as they stand there.

by_hand_test.py TOOL PREFIX DOCS. Those whose compiler is not there are left out.
"""
import glob
import os
import re
import shutil
import sys
import tempfile

from new_units_test import run

HEADING = "\n## By hand, and for another machine\n"


def commands(page, tool, prefix):
    """Those of the section's first block, which ends with the first line of prose."""
    with open(page, encoding="utf-8") as file:
        block = file.read().split(HEADING)[1]
    lines = re.match(r"\n((?:    .*\n)+)", block).group(1).replace("\\\n", " ").splitlines()
    return [" ".join(line.split()).replace("/opt/hprof/bin/hprof", tool).replace("/opt/hprof", prefix) for line in lines]


def typed(line, folder):
    return run("sh", "-c", line, cwd=folder)


def main(tool, prefix, docs):
    with tempfile.TemporaryDirectory() as folder:
        typed(tool + " plugin new collector heat && " + tool + " plugin new encoder acme", folder)
        lines = commands(docs + "/plugins.md", tool, prefix)
        if len(lines) != 5:
            sys.exit("not the commands: %s" % lines)
        by_hand, for_arm = lines[:2], lines[2:]
        for line in by_hand:
            typed(line, folder)
        for name in ("heat", "acme"):
            said = typed("%s plugin check --run %s.so" % (tool, name), folder)
            if "needs" in said or "exports" in said.replace("exports, libraries", ""):
                sys.exit(said)
        toolchains = sorted(glob.glob(prefix + "/share/hprof/toolchains/*.cmake"))
        for path in toolchains:
            with open(path, encoding="utf-8") as file:
                compilers = re.findall(r"^set\(CMAKE_C(?:XX)?_COMPILER (\S+)\)$", file.read(), re.MULTILINE)
            if not compilers or not all(map(shutil.which, compilers)):
                continue
            shutil.rmtree(folder + "/arm", ignore_errors=True)
            lines = [line.replace("linux-armhf.cmake", os.path.basename(path)) for line in for_arm]
            said = [typed(line, folder) for line in lines][-1]
            if not re.search(r"note  for another (machine|C library) .*read, and not run\n.*plugin ABI 1.0, units: heat\n", said):
                sys.exit("%s\n%s" % (path, said))
            # By hand, too.
            typed(by_hand[0].replace("cc ", compilers[0] + " ", 1), folder)
            typed("%s plugin check heat.so" % tool, folder)
        if not toolchains:
            sys.exit("no toolchain files are installed")


if __name__ == "__main__":
    main(*sys.argv[1:])
