"""The programs that scripts/bench runs by turns without and with the agent: javac, monitors, calls, virtual threads, java -version."""
import os
import shutil
import subprocess
import sys
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


class Sample:
    """One run of a command."""

    def __init__(self, command, folder):
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        self.wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status
        if process.returncode != 0:
            sys.exit("bench: exit code %d: %s\n%s" % (process.returncode, " ".join(command), output.decode()[-3000:]))
        self.cpu = usage.ru_utime + usage.ru_stime
        self.resident_kib = usage.ru_maxrss
        self.output = output


class Workload:
    """javac on the module's own source: unpacked once per JDK."""

    def __init__(self, jdk, folder, module):
        self.jdk = jdk
        self.folder = folder
        self.module = module
        with zipfile.ZipFile(os.path.join(jdk.home, "lib", "src.zip")) as sources:
            names = [name for name in sources.namelist()
                     if name.startswith(module + "/") and name.endswith(".java") and not name.endswith("module-info.java")]
            sources.extractall(folder, names)
        if not names:
            sys.exit("bench: no %s in %s/lib/src.zip" % (module, jdk.home))
        self.files = len(names)
        self.lines = 0
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                self.lines += file.read().count(b"\n")
        with open(os.path.join(folder, "files"), "w") as file:
            file.writelines(name + "\n" for name in sorted(names))
        self.classes = None

    def run(self, agent_option):
        out = os.path.join(self.folder, "classes")
        shutil.rmtree(out, ignore_errors=True)
        # A fixed heap, touched at once, so that resident size differs by what the agent takes.
        command = [os.path.join(self.jdk.home, "bin", "javac"), "-J-Xms1g", "-J-Xmx1g", "-J-XX:+AlwaysPreTouch"]
        if agent_option:
            command.append("-J" + agent_option)
        sample = Sample(command + ["-nowarn", "-XDignore.symbol.file", "-proc:none", "-d", out,
                                   "--patch-module", "%s=%s" % (self.module, self.module), "@files"], self.folder)
        classes = sum(name.endswith(".class") for _, _, names in os.walk(out) for name in names)
        if self.classes not in (None, classes):
            sys.exit("bench: %d class files, before there were %d: %s" % (classes, self.classes, agent_option))
        self.classes = classes
        return sample


class Program:
    """A Java program of tests/vm: its sources, compiled once, and the options of its VM."""

    def __init__(self, jdk, folder, sources, options):
        self.jdk = jdk
        self.folder = folder
        self.options = options
        subprocess.run([os.path.join(jdk.home, "bin", "javac"), "-nowarn", "-d", folder] +
                       [os.path.join(ROOT, "tests", "vm", *source.split("/")) for source in sources], check=True)

    def command(self, *words):
        """The words behind the options: those of an agent, if there is one, the class and its arguments."""
        return [os.path.join(self.jdk.home, "bin", "java"), *self.options, "-cp", self.folder, *[word for word in words if word]]


class Monitors(Program):
    """Threads that go through monitors, a fixed number of times."""

    def __init__(self, jdk, folder, argument):
        super().__init__(jdk, folder, ("java/Monitors.java", "java/Spin.java"), ("-Xmx256m",))
        self.argument = argument
        self.rounds = {"own": 100000, "shared": 40000}[argument]

    def run(self, agent_option):
        return Sample(self.command(agent_option, "Monitors", self.argument, str(self.rounds)), self.folder)


class CallCosts(Program):
    """Calls and little else; the program prints nanoseconds for each."""

    def __init__(self, jdk, folder, argument):
        super().__init__(jdk, folder, ("java/CallCosts.java",), ("-Xmx256m",))
        self.argument = argument

    def nanoseconds(self, *java_options):
        run = subprocess.run(self.command(*java_options, "CallCosts", self.argument), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                             env=dict(os.environ, LD_LIBRARY_PATH=self.folder))
        return float(run.stdout.split()[0])

    def build_jvmpi_agent(self):
        include = os.path.join(self.jdk.home, "include")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I" + ROOT, "-I" + include, "-I" + os.path.join(include, "linux"),
                        os.path.join(ROOT, "tests", "vm", "jvmpi", "costs.c"), "-o", os.path.join(self.folder, "libcosts.so")], check=True)


class StartUp:
    """java -version."""

    def __init__(self, jdk, folder):
        self.jdk = jdk
        self.folder = folder

    def run(self, agent_option):
        command = [os.path.join(self.jdk.home, "bin", "java")]
        if agent_option:
            command.append(agent_option)
        return Sample(command + ["-version"], self.folder)


class VirtualWaits(Program):
    """Virtual threads that wait, while others work, a fixed number of rounds."""

    def __init__(self, jdk, folder, count):
        super().__init__(jdk, folder, ("wall_clock/21/VirtualWaits.java",), ("-Xms1g", "-Xmx1g"))
        self.count = count

    def run(self, agent_option):
        return Sample(self.command(agent_option, "VirtualWaits", str(self.count), "0", "beside"), self.folder)
