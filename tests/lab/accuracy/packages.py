"""Parts on programs that come as packages: how far runs agree, exact against sampled, and what profiling costs."""
import os
import random
import re
import statistics
import subprocess
import sys
import zipfile

import figures
import harness
import tools

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "programs"))
import suite  # noqa: E402

# What ecj and javac compile, a part of it against the library itself, and lucene indexes.
LIBRARY = "org.apache.commons:commons-lang3:3.12.0"
SOURCES = LIBRARY + ":sources"
STYLE = """<xsl:stylesheet version="2.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:output method="text"/>
<xsl:key name="group" match="row" use="@group"/>
<xsl:template match="/"><xsl:for-each select="1 to TIMES"><xsl:variable name="turn" select="."/>
<xsl:for-each-group select="$document/rows/row" group-by="@group"><xsl:sort select="sum(current-group()/@value) + $turn"/>
<xsl:value-of select="concat(current-grouping-key(), ' ', count(current-group()), ' ', string-join(current-group()[position() lt 3]/upper-case(@name), ','))"/>
</xsl:for-each-group></xsl:for-each></xsl:template><xsl:variable name="document" select="/"/></xsl:stylesheet>
"""
ROWS = "<rows>%s</rows>" % "".join('<row group="%d" value="%d" name="name%d"/>' % (i * 7919 % 97, i % 13, i) for i in range(20000))
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="1200">%s</svg>'
SHAPES = "".join('<circle cx="%d" cy="%d" r="%d" fill="#%06x" fill-opacity="0.4" stroke="black" transform="rotate(%d)"/>' % (
    i * 37 % 1600, i * 53 % 1200, 10 + i % 60, i * 7919 % 0xffffff, i % 30) for i in range(300))


class Package:
    """A program of Maven Central. arguments(folder, inputs, scale): behind `java -cp`; inputs: the folder of SOURCES, unpacked; scale: how
    much it is to do, 1 for some seconds of CPU time."""

    def __init__(self, name, coordinates, arguments):
        self.name = name
        self.coordinates = coordinates
        self.arguments = arguments

    def class_path(self):
        folder = tools.fetch(self.name, self.coordinates)
        return ":".join(sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jar")))


def of_suite(name, coordinates, times):
    """The program of scripts/bench --suite, its text and arguments, doing `times` times the work of its short run."""
    program, = [program for program in suite.PROGRAMS if program.name == name]

    def arguments(folder, _inputs, scale):
        return program.prepare(folder, max(1, round(program.times * times * scale)))[2:]
    return Package(name, coordinates, arguments)


def write(folder, name, text):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        with open(path, "w") as file:
            file.write(text)
    return path


def to_compile(folder, inputs, scale):
    """Arguments of a compiler: all sources, below a scale of 1 the first part of them."""
    found = sorted(os.path.join(at, name) for at, _, names in os.walk(inputs) for name in names if name.endswith(".java"))
    files = write(folder, "java-files", "".join(name + "\n" for name in found[:max(1, round(len(found) * scale))]))
    return ["-encoding", "UTF-8", "-nowarn", "-cp", os.path.join(tools.fetch("library", [LIBRARY]), "%s-%s.jar" % tuple(LIBRARY.split(":")[1:])), "@" + files]


def ecj(folder, inputs, scale):
    return ["org.eclipse.jdt.internal.compiler.batch.Main", "-8", "-proceedOnError", "-d", "none", *to_compile(folder, inputs, scale)]


def javac(folder, inputs, scale):
    return ["--add-modules", "jdk.compiler", "com.sun.tools.javac.Main", "-proc:none", "-d", os.path.join(folder, "classes"),
            *to_compile(folder, inputs, scale)]


def saxon(folder, _inputs, scale):
    return ["net.sf.saxon.Transform", "-s:" + write(folder, "rows.xml", ROWS), "-xsl:" + write(folder, "rows.xsl", STYLE.replace("TIMES", str(max(1, round(20 * scale))))),
            "-o:" + os.path.join(folder, "rows.out")]


def batik(folder, _inputs, scale):
    drawings = [write(folder, "drawing%d.svg" % i, DRAWING % SHAPES) for i in range(max(1, round(4 * scale)))]
    return ["-Djava.awt.headless=true", "org.apache.batik.apps.rasterizer.Main", "-scriptSecurityOff", "-d", folder, *drawings]


def lucene(folder, inputs, _scale):
    # Without that property it refuses more than 100 documents.
    return ["-Dsmoketester=true", "org.apache.lucene.demo.IndexFiles", "-docs", inputs, "-index", os.path.join(folder, "index")]


PACKAGES = [
    of_suite("scala", ["org.scala-lang:scala-compiler:2.13.16"], 2),
    Package("ecj", ["org.eclipse.jdt:ecj:3.33.0"], ecj),
    of_suite("groovy", ["org.apache.groovy:groovy:4.0.26"], 2),
    Package("saxon", ["net.sf.saxon:Saxon-HE:12.5"], saxon),
    Package("batik", ["org.apache.xmlgraphics:batik-rasterizer:1.17", "org.apache.xmlgraphics:batik-codec:1.17"], batik),
    Package("lucene", ["org.apache.lucene:lucene-demo:9.10.0"], lucene),
    of_suite("h2", ["com.h2database:h2:2.2.224"], 1.5),
    Package("javac", [], javac),
    of_suite("rhino", ["org.mozilla:rhino:1.7.14"], 1.5),
    of_suite("clojure", ["org.clojure:clojure:1.11.4"], 2),
    of_suite("fop", ["org.apache.xmlgraphics:fop:2.10"], 2),
    of_suite("jython", ["org.python:jython-standalone:2.7.4"], 1),
]
COST = ("groovy", "saxon", "lucene", "ecj", "batik", "javac")


def names():
    return [package.name for package in PACKAGES]


class Program:
    """A package that is ready to run on a VM."""

    def __init__(self, session, vm, package):
        self.name = package.name
        self.session, self.vm = session, vm
        folder = vm.path(package.name)
        os.makedirs(folder, exist_ok=True)
        inputs = os.path.join(vm.dir, "inputs")
        if not os.path.exists(inputs):
            sources = tools.fetch("sources", [SOURCES])
            with zipfile.ZipFile(os.path.join(sources, "-".join(SOURCES.split(":")[1:]) + ".jar")) as archive:
                archive.extractall(inputs)
        path = package.class_path() if package.coordinates else folder
        self.arguments = ["-cp", path, *package.arguments(folder, inputs, session.scale)]

    def run(self, tool, interval=10, more=()):
        return self.session.run(self.vm, tool, interval, [*more, *self.arguments])


def ready(session, only=None, vms=None):
    """(vm, Program) of each that runs without a profiler, on these VMs or on all; the others are said."""
    for vm in vms or session.vms:
        for package in PACKAGES:
            if session.programs and package.name not in session.programs or only and package.name not in only:
                continue
            program = Program(session, vm, package)
            try:
                session.log("%s, Java %d: %.1f s of CPU alone" % (package.name, vm.version, program.run(None).seconds))
            except (harness.Failure, subprocess.TimeoutExpired) as failure:
                session.log("%s is left out on Java %d: %s" % (package.name, vm.version, failure))
                continue
            yield vm, program


def plain(method):
    """Names of classes made at run time differ from run to run."""
    return re.sub(r"(\$\$Lambda|\$Proxy|\$\$Generated|LambdaForm\$\w+|Species_)[.$/+\w]*?(?=\.\w+$|$)", r"\1", method.replace("/", "."))


# Frames of code outside of Java methods, as async-profiler has them on top, and rows of ours for samples without a stack.
OUTSIDE = re.compile(r"(.+\.so(\.\d+)*|\[\w+\]|vdso|JVM)?\.")


def by_method(samples, of=None):
    """{method: weight} of the innermost Java frames, or of the innermost one of the methods `of`; samples without one are left out."""
    counts = {}
    for sample in samples:
        names = (plain(method) for method, _ in sample.frames if not OUTSIDE.match(method))
        name = next((name for name in names if of is None or name in of), None)
        if name is not None:
            counts[name] = counts.get(name, 0) + sample.weight
    return counts


def agreement(session):
    """Runs of one program, the tools by turns, at 10 ms: how many methods were the hottest, what the first five have in common, the range of the hottest one's share in points, and chi-square per degree of freedom, where 1 is counting noise alone."""
    yield "| Java | program | tool | hottest methods | its lead, standard errors | the first five, % in common | range of its share | chi-square | samples a run |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    everything = {}
    for vm, program in ready(session):
        chosen = [tool for tool in session.chosen if tool.suits(vm.jdk)]
        runs = {tool: [] for tool in chosen}
        for number in range(session.rounds):
            for tool in chosen if number % 2 == 0 else chosen[::-1]:
                try:
                    runs[tool].append(by_method(program.run(tool).samples))
                except harness.Failure as failure:
                    session.log(str(failure))
        for tool, counts in runs.items():
            counts = [run for run in counts if run]
            if len(counts) < 2:
                yield "| %d | %s | %s | - | - | - | - | - | - |" % (vm.version, program.name, tool.text)
                continue
            first = [figures.hottest(run, 1)[0] for run in counts]
            best = max(set(first), key=first.count)
            of_best = [figures.percent(run).get(best, 0) for run in counts]
            chi = figures.chi_square(counts)
            everything.setdefault((vm.version, tool), []).append((len(set(first)), figures.common(counts, 5), chi))
            yield "| %d | %s | %s | %d | %.1f | %.0f | %.1f to %.1f | %s | %.0f |" % (
                vm.version, program.name, tool.text, len(set(first)), figures.lead(counts), figures.common(counts, 5), min(of_best), max(of_best),
                "%.2f" % chi if chi is not None else "-", statistics.mean(sum(run.values()) for run in counts))
    for (version, tool), rows in everything.items():
        chis = [chi for _, _, chi in rows if chi is not None]
        yield "| %d | median of %d | %s | %.0f | | %.0f | | %s | |" % (
            version, len(rows), tool.text, statistics.median(row[0] for row in rows), statistics.median(row[1] for row in rows),
            "%.2f" % statistics.median(chis) if chis else "-")


def exact(session):
    """Overlap of self times by method, in percent: cpu=times against cpu=samples, whose samples in methods that cpu=times does not count (native ones) are their callers', and two runs of cpu=samples against each other."""
    yield "| Java | program | cpu=times with samples | samples with samples | most over by times, points | most under |"
    yield "| --- | --- | ---: | ---: | --- | --- |"
    ours = tools.TOOLS[0]
    for vm, program in ready(session):
        path = vm.path("times.txt")
        program.run(None, more=[vm.agent_option("cpu=times,depth=1,cutoff=0,force=y,verbose=n,file=" + path)])
        times = {}
        table = re.search(r"^CPU TIME \(ms\) BEGIN.*\n(?s:(.*?))^CPU TIME \(ms\) END", harness.read(path), flags=re.M).group(1)
        for percent, method in re.findall(r"^ *\d+ +([\d.]+)% +[\d.]+% +\d+ +\d+ (\S+)$", table, flags=re.M):
            times[plain(method)] = times.get(plain(method), 0) + float(percent)
        one, other = (by_method(program.run(ours, 1).samples, times) for _ in range(2))
        exactly, sampled = figures.percent(times), figures.percent(one)
        apart = {name: exactly.get(name, 0) - sampled.get(name, 0) for name in {*exactly, *sampled}}
        most, least = max(apart, key=apart.get), min(apart, key=apart.get)
        yield "| %d | %s | %.0f | %.0f | %s %+.1f | %s %+.1f |" % (vm.version, program.name, figures.overlap(times, one), figures.overlap(one, other),
                                                                 most, apart[most], least, apart[least])


MODES = {"cpu=times": "cpu=times", "heap=sites": "heap=sites", "sites-live=n": "heap=sites,sites-live=n"}


def compiled(program, options):
    """(methods that C2 compiled, call sites that it inlined) of one run, by the VM's own diagnostics."""
    text = program.run(None, more=["-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintCompilation", "-XX:+PrintInlining", *options]).out
    return len(re.findall(r"^ *\d+ +\d+ [ %sbn!]* 4 +", text, flags=re.M)), len(re.findall(r"inline \(hot\)", text))


def costs(session, variants_of):
    """Rows of CPU time with a profiler by that without. variants_of(vm): {name: function that returns the VM's options}."""
    yield "| Java | program | profiler | CPU | 95 % bounds | compiled by C2 | inlined | without: compiled, inlined |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
    order = random.Random(1)
    medians = {}
    for vm, program in ready(session, COST):
        variants = variants_of(vm)
        seconds = {name: [] for name in [None, *variants]}
        for _ in range(session.rounds):
            turn = list(seconds)
            order.shuffle(turn)
            for name in turn:
                seconds[name].append(program.run(None, more=variants[name]() if name else []).seconds)
        base = compiled(program, [])
        for name, options in variants.items():
            ratios = [with_it / without for with_it, without in zip(seconds[name], seconds[None])]
            medians.setdefault((vm.version, name), []).append(statistics.median(ratios))
            yield "| %d | %s | %s | %.2f | %.2f to %.2f | %d | %d | %d, %d |" % (
                vm.version, program.name, name, statistics.median(ratios), *suite.bounds(ratios), *compiled(program, options()), *base)
    for (version, name), found in medians.items():
        yield "| %d | mean of %d | %s | %.2f | | | | |" % (version, len(found), name, statistics.geometric_mean(found))


def cost(session):
    """CPU time with the profiler by that without, pairs, order at random within a round: median and 95 % bounds; methods that C2 compiled and call sites that it inlined."""
    return costs(session, lambda vm: {tool.text: lambda tool=tool: tool.options(vm, vm.path("cost" + tool.suffix), 10)
                                      for tool in session.chosen if tool.suits(vm.jdk)})


def modes(session):
    """The same of the modes that count exactly: cpu=times, heap=sites, and heap=sites with sites-live=n."""
    return costs(session, lambda vm: {name: lambda options=options: [vm.agent_option("%s,force=y,verbose=n,file=%s" % (options, vm.path("cost.out")))]
                                      for name, options in MODES.items()})
