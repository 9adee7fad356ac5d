"""The profilers that are compared: what each is told, and how its samples are read. None of the peers is shipped; Maven fetches them."""
import os
import re
import shutil
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "vm"))
import harness  # noqa: E402

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "hprof-accuracy")
ASYNC_PROFILER = "tools.profiler:async-profiler:4.5"
RESOLVER = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0"><event name="%s"><setting name="enabled">true</setting><setting name="%s">%g ms</setting></event></configuration>
"""


def fetch(name, coordinates):
    """The folder with these artifacts and all that they depend on; fetched once, by Maven."""
    folder = os.path.join(CACHE, name)
    done = os.path.join(folder, "pom.xml")
    parts = [coordinate.split(":") for coordinate in coordinates]
    pom = "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version><dependencies>%s" \
          "</dependencies></project>\n" % "".join(
              "<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version>%s</dependency>" % (
                  *part[:3], "<classifier>%s</classifier>" % part[3] if len(part) > 3 else "") for part in parts)
    if os.path.exists(done) and harness.read(done) == pom:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    new = done + ".new"
    with open(new, "w") as file:
        file.write(pom)
    run = subprocess.run(["mvn", "-q", "-B", "-f", new, RESOLVER + ":copy-dependencies", "-DincludeScope=runtime",
                          "-DoutputDirectory=" + folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        raise harness.Failure("Maven does not fetch %s:\n%s" % (", ".join(coordinates), run.stdout.decode(errors="replace")[-2000:]))
    os.rename(new, done)
    return folder


class Sample:
    """Equal samples: how many intervals they stand for, the thread, frames from the innermost on as (method, line)."""

    def __init__(self, weight, thread, frames):
        self.weight = weight
        self.thread = thread
        self.frames = frames

    def has(self, pattern):
        return any(re.match(pattern, method) for method, _ in self.frames)


def read_text(text):
    """Of a report of ours or of the original's with thread=y."""
    threads, frames, samples = {}, {}, []
    for number, name in re.findall(r'^THREAD START \(obj=\w+, id = (\d+), name="(.*)", group=".*"\)$', text, flags=re.M):
        threads[number] = name
    for serial, thread, body in re.findall(r"^TRACE (\d+): \(thread=(\d+)\)\n((?:\t.*\n)+)", text, flags=re.M):
        words = [line[1:-1].partition("(") for line in body.splitlines()]
        frames[serial] = (threads.get(thread, ""), tuple((method, place.rpartition(":")[2]) for method, _, place in words))
    table = re.search(r"^CPU SAMPLES BEGIN.*\n(?s:(.*?))^CPU SAMPLES END", text, flags=re.M)
    if table is None:
        raise harness.Failure("no table of samples")
    for count, serial in re.findall(r"^ *\d+ +[\d.]+% +[\d.]+% +(\d+) +(\d+) \S+$", table.group(1), flags=re.M):
        thread, stack = frames.get(serial, ("", ()))
        samples.append(Sample(int(count), thread, stack))
    return samples


class Tool:
    """key: for --peer. text: in tables. suits(version): is it to be had for that Java. suffix: of its file."""
    suffix = ".jfr"
    since, until = 8, 999

    def __init__(self, key, text):
        self.key = key
        self.text = text

    def suits(self, jdk):
        return self.since <= jdk.version <= self.until

    def options(self, vm, path, interval):
        """For java; interval in milliseconds."""
        raise NotImplementedError

    def read(self, path, reader):
        """reader: a command that runs java of a JDK with a reader of JFR files."""
        run = subprocess.run([*reader, os.path.join(HERE, "JfrStacks.java"), path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if run.returncode != 0:
            raise harness.Failure("%s cannot be read: %s" % (path, run.stderr.decode(errors="replace")[-1000:]))
        samples = []
        for line in run.stdout.decode(errors="replace").splitlines():
            count, thread, *frames = line.split("\t")
            samples.append(Sample(int(count), thread, tuple(tuple(frame.rsplit(":", 1)) for frame in frames)))
        return samples


class Ours(Tool):
    suffix = ".txt"

    def __init__(self, key, text, more="", depth=64):
        super().__init__(key, text)
        self.more = more
        self.depth = depth

    def options(self, vm, path, interval):
        return [vm.agent_option("cpu=samples,interval=%g,depth=%d,cutoff=0,thread=y,force=y,verbose=n%s,file=%s" % (
            interval, self.depth, self.more, path))]

    def read(self, path, reader):
        return read_text(harness.read(path))


class Original(Tool):
    """The HPROF of JDK 8."""
    suffix = ".txt"
    until = 8

    def options(self, vm, path, interval):
        return ["-agentlib:hprof=cpu=samples,interval=%d,depth=64,cutoff=0,thread=y,force=y,verbose=n,file=%s" % (max(1, interval), path)]

    read = Ours.read


class AsyncProfiler(Tool):
    def __init__(self, key, event, walk="vm"):
        super().__init__(key, "async-profiler %s, %s%s" % (ASYNC_PROFILER.split(":")[2], event, "" if walk == "vm" else ", " + walk))
        self.event, self.walk = event, walk

    def library(self, vm):
        """Where the JDK can see it."""
        path = os.path.join(vm.work, "libasyncProfiler.so")
        if not os.path.exists(path):
            folder = fetch("async-profiler", [ASYNC_PROFILER])
            jar = os.path.join(folder, "-".join(ASYNC_PROFILER.split(":")[1:]) + ".jar")
            machine = "arm64" if vm.machine == "aarch64" else "x64"
            with zipfile.ZipFile(jar) as archive, open(path, "wb") as file:
                file.write(archive.read("linux-%s/libasyncProfiler.so" % machine))
        return path

    def options(self, vm, path, interval):
        return ["-agentpath:%s=start,event=%s,interval=%dus,cstack=%s,loglevel=error,file=%s" % (
            self.library(vm), self.event, 1000 * interval, self.walk, path)]


class Jfr(Tool):
    def __init__(self, key, text, event, setting, since):
        super().__init__(key, text)
        self.event, self.setting, self.since = event, setting, since

    def options(self, vm, path, interval):
        settings = path + ".jfc"
        with open(settings, "w") as file:
            file.write(SETTINGS % (self.event, self.setting, interval))
        return ["-XX:StartFlightRecording=filename=%s,settings=%s" % (path, settings), "-Xlog:jfr*=off"]


TOOLS = [
    Ours("hprof", "this hprof"),
    Ours("hprof-jvmti", "this hprof, `sampler=jvmti`", ",sampler=jvmti"),
    AsyncProfiler("async-profiler", "ctimer"),
    AsyncProfiler("async-profiler-cpu", "cpu"),
    Jfr("jfr", "JFR ExecutionSample", "jdk.ExecutionSample", "period", 11),
    Jfr("jfr-cpu-time", "JFR CPUTimeSample", "jdk.CPUTimeSample", "throttle", 25),
    Original("original", "HPROF of the JDK"),
]
# What runs unless --peer chooses others.
USUAL = ("hprof", "async-profiler", "jfr", "jfr-cpu-time", "original")


class Profiled:
    """A run of a program under a tool."""

    def __init__(self, out, samples, seconds):
        self.out = out
        self.samples = samples
        self.seconds = seconds  # of CPU, user and system, of the whole process

    def value(self, name):
        return float(re.search(r"^%s ([\d.]+)$" % name, self.out, flags=re.M).group(1))


def run(vm, tool, interval, java_arguments, reader, timeout=600):
    """Profiled; None for the tool: the program alone, without samples."""
    path = vm.path("profile" + (tool.suffix if tool else ""))
    if os.path.exists(path):
        os.unlink(path)
    options = tool.options(vm, path, interval) if tool else []
    before = os.times()
    process = subprocess.run(vm.command("java", *options, *java_arguments), cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=harness.clean_environment({}), timeout=timeout)
    after = os.times()
    if process.returncode != 0:
        raise harness.Failure("exit code %d: %s\n%s" % (process.returncode, " ".join(process.args),
                                                        (process.stdout + process.stderr).decode(errors="replace")[-3000:]))
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    if tool and not os.path.exists(path):
        raise harness.Failure("no file of %s: %s\n%s" % (tool.text, " ".join(process.args), process.stderr.decode(errors="replace")[-2000:]))
    return Profiled(process.stdout.decode(errors="replace"), tool.read(path, reader) if tool else [], seconds)
