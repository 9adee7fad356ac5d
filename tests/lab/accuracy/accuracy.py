"""How wrong is the profile? Measures this hprof and other profilers in the same runs, and prints tables; docs/accuracy.md has them.

  scripts/bench accuracy                                     all parts, on every JDK installed
  scripts/bench accuracy --part lines --jdk HOME             one part, one JDK
  scripts/bench accuracy --peer async-profiler --peer jfr    beside these; --list names parts and peers
  scripts/bench accuracy --jdk-command '8=in-container 8 {dir}'   as of scripts/test: a JDK elsewhere, for the HPROF of JDK 8

Programs and peers come from Maven Central, by mvn, into a folder outside of this tree (~/.cache/hprof-accuracy).
Nothing here is a test: no figure passes or fails.
"""
import argparse
import datetime
import os
import shutil
import sys
import tempfile
import time

import harness
import jdks
import packages
import shares
import stacks
import tools

# In the order of the page.
PARTS = {"causality": shares.causality, "lines": shares.lines, "rhythm": shares.rhythm, "threads": shares.threads,
         "stacks": stacks.stacks, "agreement": packages.agreement, "exact": packages.exact, "cost": packages.cost, "modes": packages.modes}


class Session:
    """What the parts share: virtual machines, tools, and how long to measure."""

    def __init__(self, arguments, vms, chosen):
        self.vms = vms
        self.chosen = chosen
        self.seconds = arguments.seconds
        self.rounds = arguments.rounds
        self.scale = arguments.scale
        self.loops = arguments.loops
        self.programs = arguments.program
        self.reader = next((vm.jdk.command("java", vm.work) for vm in vms if vm.version >= 11 and vm.jdk.home), ["java"])

    def pairs(self):
        return [(vm, tool) for vm in self.vms for tool in self.chosen if tool.suits(vm.jdk)]

    def run(self, vm, tool, interval, java_arguments):
        return tools.run(vm, tool, interval, ["-Xmx512m", *java_arguments], self.reader)

    @staticmethod
    def log(text):
        print("bench: %s: %s" % (time.strftime("%H:%M:%S"), text), file=sys.stderr, flush=True)


def main(words, machine, commit):
    parser = argparse.ArgumentParser(prog="bench accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(harness.ROOT, "build"), help="build tree with the agent (build)")
    parser.add_argument("--jdk", action="append", default=[], metavar="HOME", help="repeatable")
    parser.add_argument("--jdk-command", action="append", default=[], metavar="NAME=COMMAND", help="repeatable")
    parser.add_argument("--part", action="append", default=[], choices=PARTS, metavar="PART", help="repeatable")
    parser.add_argument("--peer", action="append", default=[], choices=[tool.key for tool in tools.TOOLS], metavar="NAME",
                        help="repeatable (%s)" % ", ".join(tools.USUAL[1:]))
    parser.add_argument("--program", action="append", default=[], metavar="NAME", help="of these; repeatable (all)")
    parser.add_argument("--seconds", type=float, default=3, help="CPU time of a run of causality; others take some times that (3)")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each program (10)")
    parser.add_argument("--scale", type=float, default=1, help="how much the programs do, 1 for some seconds (1)")
    parser.add_argument("--loops", type=int, default=2, help="busy loops a processor beside rhythm, once it has run without (2)")
    parser.add_argument("--list", action="store_true", help="name the parts, peers and programs and stop")
    arguments = parser.parse_args(words)
    if arguments.list:
        for name, part in PARTS.items():
            print("%-14s %s" % (name, " ".join(part.__doc__.split())))
        print("peers: %s" % ", ".join(tool.key for tool in tools.TOOLS))
        print("programs: %s; of stacks also %s" % (", ".join(packages.names()), ", ".join(stacks.OWN)))
        return 0
    unknown = set(arguments.program) - set(packages.names()) - set(stacks.OWN)
    if unknown:
        sys.exit("bench: no such program: %s" % ", ".join(sorted(unknown)))
    if not os.path.exists(os.path.join(arguments.build, "lib", "libhprof.so")):
        sys.exit("bench: no agent in %s: scripts/hprof --build" % arguments.build)
    keys = ["hprof"] + arguments.peer if arguments.peer else tools.USUAL
    chosen = [tool for tool in tools.TOOLS if tool.key in keys]
    with tempfile.TemporaryDirectory(prefix="hprof-accuracy-") as folder:
        found = jdks.choose(arguments.jdk, arguments.jdk_command, folder)
        if arguments.jdk_command:
            # What they can see.
            there = os.path.join(folder, "cache")
            if os.path.exists(tools.CACHE):
                shutil.copytree(tools.CACHE, there)
            tools.CACHE = there
        vms = [harness.staged(jdk, folder, arguments.build, shares.SOURCES + stacks.SOURCES) for jdk in found]
        session = Session(arguments, vms, chosen)
        for name in arguments.part or PARTS:
            print("## %s\n\n%s\n\nMeasured %s at commit %s, `scripts/bench accuracy --part %s`. Machine: %s; load at the start %.1f.\n" % (
                name, " ".join(PARTS[name].__doc__.split()), datetime.date.today().isoformat(), commit, name, machine, os.getloadavg()[0]))
            for line in PARTS[name](session):
                print(line, flush=True)
            print()
    return 0
