"""Parts that know the truth: programs that measure themselves, or whose shares hold by construction."""
import os
import re
import subprocess
import sys

import figures
import tools

HERE = os.path.dirname(os.path.abspath(__file__))
SPINS = os.path.join(HERE, "Spins.java")
TURNS = os.path.join(HERE, "Turns.java")
MANY = os.path.join(HERE, "Many.java")
SOURCES = [SPINS, TURNS, MANY]
# Shape of the place: what its frame is called.
SHAPES = {
    "apart": r"Spins\.apart$",
    "inlined": r"Spins\.inlined$",
    "lambda": r"Spins\.lambda\$static\$",
    "stubs": r"Spins\.stubs$",
    "virtual": r"Spins\.apart$",
}
PARTS = (10, 25, 40, 55, 70)
INLINING = [("dontinline", "apart"), ("dontinline", "other"), ("inline", "inlined"), ("inline", "beside"), ("inline", "lines")]


def spins(session, vm, tool, shape, parts, seconds):
    """{part: (the share that the program says, the samples of the thread that is measured)}"""
    options = ["-XX:CompileCommand=quiet"] + ["-XX:CompileCommand=%s,Spins::%s" % rule for rule in INLINING]
    found = {}
    # The samples of virtual threads have the names of carriers, which are the same for all parts.
    for group in [[part] for part in parts[::2]] if shape == "virtual" else [parts]:
        profiled = session.run(vm, tool, 1, [*options, "-cp", vm.classes, "Spins", shape, "%g" % seconds, *map(str, group)])
        for part in group:
            names = r"measured-%d$%s" % (part, r"|ForkJoinPool-1-worker-\d+$|$" if shape == "virtual" else "")
            share = float(re.search(r"^SHARE %d (\S+)$" % part, profiled.out, flags=re.M).group(1))
            found[part] = share, [sample for sample in profiled.samples if re.match(names, sample.thread)]
    return found


def causality(session):
    """A known part of a thread's CPU time is spent in one place. Slope: points measured for each point predicted."""
    yield "| Java | tool | %s | all | worst error, points | samples a run |" % " | ".join(SHAPES)
    yield "| --- | --- |%s" % (" ---: |" * (len(SHAPES) + 3))
    for vm, tool in session.pairs():
        cells, everything, worst, looks = [], ([], []), 0.0, []
        for shape, pattern in SHAPES.items():
            if shape == "virtual" and vm.version < 21:
                cells.append("-")
                continue
            predicted, measured = [], []
            for part, (share, samples) in spins(session, vm, tool, shape, PARTS, session.seconds).items():
                total = sum(sample.weight for sample in samples)
                seen = sum(sample.weight for sample in samples if sample.has(pattern))
                predicted.append(share)
                measured.append(100.0 * seen / max(total, 1))
                looks.append(total)
                session.log("%s, Java %d, %s: %.2f predicted, %.2f measured, of %d" % (tool.key, vm.version, shape, share, measured[-1], total))
            slope, error, _ = figures.slope(predicted, measured)
            cells.append("%.3f ± %.3f" % (slope, error))
            worst = max([worst] + [abs(a - b) for a, b in zip(predicted, measured)])
            everything = (everything[0] + predicted, everything[1] + measured)
        slope, error, _ = figures.slope(*everything)
        yield "| %d | %s | %s | %.3f ± %.3f | %.1f | %d |" % (vm.version, tool.text, " | ".join(cells), slope, error, worst, sum(looks) / len(looks))


def marked(path, mark):
    """The number of the one line that ends with that mark."""
    with open(path) as file:
        line, = [number for number, text in enumerate(file, 1) if text.rstrip().endswith("// " + mark)]
    return str(line)


def lines(session):
    """One inlined loop, three quarters of whose time are on one line, the rest on another."""
    lines_of = {mark: marked(SPINS, mark) for mark in "AB"}
    yield "| Java | tool | line A, % | line B | other lines | error, points | standard error | samples |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for vm, tool in session.pairs():
        _, samples = spins(session, vm, tool, "lines", (100,), 3 * session.seconds)[100]
        counts = {}
        for sample in samples:
            if sample.has(r"Spins\.around$"):
                at = next((line for method, line in sample.frames if method == "Spins.lines"), None)
                mark = next((mark for mark, line in lines_of.items() if line == at), "other")
                counts[mark] = counts.get(mark, 0) + sample.weight
        total = max(sum(counts.values()), 1)
        share = {mark: 100.0 * counts.get(mark, 0) / total for mark in ("A", "B", "other")}
        yield "| %d | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %d |" % (
            vm.version, tool.text, share["A"], share["B"], share["other"], max(abs(share["A"] - 75), abs(share["B"] - 25)),
            figures.share_error(75, total), total)


class Load:
    """Processes that do nothing but run."""

    def __init__(self, number):
        self.number = number

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.number)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


ROUNDS = (0.1, 0.2, 0.5, 1, 2, 4, 8, 20, 100)


def rhythm(session):
    """50, 30 and 20 % of the CPU time in three methods by turns; the worst error of a share in points, by the length of a round in ms."""
    yield "| Java | tool | beside | %s | standard error |" % " | ".join("%g" % length for length in ROUNDS)
    yield "| --- | --- | --- |%s" % (" ---: |" * (len(ROUNDS) + 1))
    for loops in sorted({0, session.loops}):
        for vm, tool in session.pairs():
            cells, totals = [], []
            for length in ROUNDS:
                with Load(loops * os.cpu_count()):
                    profiled = session.run(vm, tool, 1, ["-cp", vm.classes, "Turns", "%g" % (1000 * length), "%g" % (2 * session.seconds)])
                counts = {}
                for sample in profiled.samples:
                    name = next((method for method, _ in sample.frames if re.match(r"Turns\.(first|second|third)$", method)), None)
                    if name and not sample.has(r"Turns\.speed$"):
                        counts[name] = counts.get(name, 0) + sample.weight
                truth = {"Turns." + name: float(share) for name, share in re.findall(r"SHARE (\w+) ([\d.]+)", profiled.out)}
                seen = figures.percent(counts)
                cells.append("%.1f" % max(abs(seen.get(name, 0) - share) for name, share in truth.items()))
                totals.append(sum(counts.values()))
                session.log("%s, Java %d, %g ms: %s of %d" % (tool.key, vm.version, length, cells[-1], totals[-1]))
            yield "| %d | %s | %s | %s | %.1f |" % (vm.version, tool.text, "%d loops a processor" % loops if loops else "nothing", " | ".join(cells),
                                                    figures.share_error(50, sum(totals) / len(totals)))


# Threads that run, threads that wait.
THREADS = ((1, 0), (10, 0), (100, 0), (1000, 0), (2000, 0), (1, 1999), (100, 1900))


def threads(session):
    """Samples times the interval (10 ms), as a percentage of the CPU time that the threads have used by their own clocks."""
    yield "| Java | tool | %s |" % " | ".join("%d run, %d wait" % pair for pair in THREADS)
    yield "| --- | --- |%s" % (" ---: |" * len(THREADS))
    for vm, tool in session.pairs():
        cells = []
        for running, idle in THREADS:
            profiled = session.run(vm, tool, 10, ["-cp", vm.classes, "Many", str(running), str(idle), "%g" % (4 * session.seconds)])
            counted = sum(sample.weight for sample in profiled.samples if sample.thread.startswith("running-"))
            cells.append("%.1f" % (100 * counted * 0.010 / profiled.value("CPU")))
            session.log("%s, Java %d, %d and %d: %s %% of %.2f s" % (tool.key, vm.version, running, idle, cells[-1], profiled.value("CPU")))
        yield "| %d | %s | %s |" % (vm.version, tool.text, " | ".join(cells))
