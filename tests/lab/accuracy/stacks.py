"""Part on stacks: do they reach the root of their thread, and does each caller call what stands above it?"""
import os
import subprocess
import sys

import harness
import packages
import tools

ENGINES = os.path.join(packages.HERE, "..", "..", "vm", "cpu_samples_engines")
sys.path.insert(0, ENGINES)
from bytecode import ROOT, UNWALKED, ClassFile, wrong_links  # noqa: E402

SOURCES = [os.path.join(ENGINES, name + ".java") for name in ("Stacks", "Links", "ClassFiles")]
# Programs of the tests and their arguments; the first is how many seconds each of their parts runs.
OWN = {"Stacks": ["1", "sort", "exceptions", "copies", "crypto", "strings", "natives", "locks"], "Links": ["2"]}
DEPTH = 512  # of ours; longer stacks are judged of no tool
TOOLS = [
    tools.Ours("hprof", "this hprof", depth=DEPTH),
    tools.Ours("hprof", "this hprof, `hotspot=-sample-walk`", ",hotspot=-sample-walk", DEPTH),
    tools.AsyncProfiler("async-profiler", "ctimer"),
    tools.AsyncProfiler("async-profiler", "ctimer", "vmx"),
]


def class_files(vm, program, names):
    """{name: ClassFile} of those classes that the program's class path or the JDK has."""
    folder = vm.path("files")
    os.makedirs(folder, exist_ok=True)
    # A file's name has 255 bytes at most.
    names = sorted(name for name in names if len(name) < 240 and "/" not in name)
    path = program[program.index("-cp") + 1]
    for at in range(0, len(names), 500):
        subprocess.run(vm.command("java", "-cp", path + os.pathsep + vm.classes, "ClassFiles", folder, *names[at:at + 500]), check=True)
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            try:
                read = ClassFile(file.read())
            except (KeyError, UnicodeDecodeError):  # of a newer format, or with a name that is no plain text
                continue
        found[read.name] = read
    return found


def judge(samples, classes):
    """(samples judged, of them those that do not reach a root, those with a caller that does not call, the worst links). Not judged: those
    without a frame of Java but for our reasons of loss, and those as long as DEPTH."""
    total = lost = wrong = 0
    links = {}
    for sample in samples:
        # Line 0: none, in JFR files.
        frames = [(method, None, line if line != "0" else "") for method, line in sample.frames if not packages.OUTSIDE.match(method)]
        if len(frames) >= DEPTH:
            continue
        if not frames:
            reason = sample.frames[0][0] if sample.frames else ""
            if not reason.startswith("JVM.") or reason in UNWALKED:
                continue
            lost += sample.weight
        else:
            if not ROOT.search(frames[-1][0]):
                lost += sample.weight
                links["... " + frames[-1][0]] = links.get("... " + frames[-1][0], 0) + sample.weight
            refuted = wrong_links(frames, classes)
            if refuted:
                wrong += sample.weight
                links[refuted[0]] = links.get(refuted[0], 0) + sample.weight
        total += sample.weight
    return total, lost, wrong, sorted(links.items(), key=lambda link: -link[1])[:4]


def programs(session, vm):
    """(name, arguments of java)"""
    for name, arguments in OWN.items():
        if not session.programs or name in session.programs:
            yield name, ["-cp", vm.classes, name, *arguments]
    for _, program in packages.ready(session, vms=[vm]):
        yield program.name, program.arguments


def stacks(session):
    """Samples that do not reach the root of their thread, and samples with a caller that, by its class file, calls nothing of that name on that line, in percent; at 1 ms. Of a peer only samples with a Java frame are judged, of ours also those that were lost."""
    yield "| Java | program | tool | samples | not to the root, % | wrong caller, % |"
    yield "| --- | --- | --- | ---: | ---: | ---: |"
    chosen = [tool for tool in TOOLS if tool.key in [tool.key for tool in session.chosen]]
    for vm in session.vms:
        sums, worst = {}, {}
        for name, arguments in programs(session, vm):
            for tool in chosen:
                try:
                    samples = session.run(vm, tool, 1, arguments).samples
                except (harness.Failure, subprocess.TimeoutExpired) as failure:
                    session.log("%s, Java %d, %s: %s" % (name, vm.version, tool.text, failure))
                    continue
                owners = {method.rpartition(".")[0] for sample in samples for method, _ in sample.frames if not packages.OUTSIDE.match(method)}
                total, lost, wrong, links = judge(samples, class_files(vm, arguments, owners))
                if not total:
                    session.log("%s, Java %d, %s: no samples" % (name, vm.version, tool.text))
                    continue
                session.log("%s, Java %d, %s: %s" % (name, vm.version, tool.text, links))
                sums[tool] = [a + b for a, b in zip(sums.get(tool, (0, 0, 0)), (total, lost, wrong))]
                worst.setdefault(tool, []).append((lost / total, wrong / total))
                yield row(vm, name, tool, total, lost, wrong)
        for tool, counts in sums.items():
            yield row(vm, "all", tool, *counts)
            yield "| %d | worst | %s | | %.2f | %.2f |" % (vm.version, tool.text, *(100 * max(shares) for shares in zip(*worst[tool])))


def row(vm, name, tool, total, lost, wrong):
    return "| %d | %s | %s | %d | %.2f | %.2f |" % (vm.version, name, tool.text, total, 100 * lost / total, 100 * wrong / total)
