"""What a VM test is given: a way to run Java programs with the agent, and to check what came of it."""
import glob
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NOBODY = 65534  # the user without rights
# Seconds until a VM counts as hung; no test waits for it to pass.
TIMEOUT = int(os.environ.get("HPROF_VM_TIMEOUT", "120"))


# For every VM: what the build asks for (a sanitizer's library).
VM_ENVIRONMENT = {}

# What the system of the JDK that is tested now lacks: {need: why} (needs.py).
LACKS = {}

# VMs by the number that the program said first.
RUNNING = {}


class Failure(Exception):
    """A check that did not hold."""


class Skip(Exception):
    """The test does not apply here; the text says why."""


def needs(*names):
    """Skips a test where the system lacks one of these."""
    for name in names:
        if name in LACKS:
            raise Skip("needs %s: %s" % (name, LACKS[name]))


class Test:
    def __init__(self, function, units, needs, since, until, quick):
        self.function = function
        self.name = function.__name__
        self.units = units
        self.needs = needs
        self.since = since
        self.until = until
        self.quick = quick


TESTS = []


def vm_test(units=(), needs=(), since=8, until=999, quick=False):
    """Registers a test. units: what must be in the build; needs: what the system must have (needs.py); since, until: Java
    versions it applies to; quick: it belongs to `scripts/test --quick`, which tries each part once."""
    def register(function):
        TESTS.append(Test(function, units, needs, since, until, quick))
        return function
    return register


# What is going to be executed is written by another process: while one file is open for writing here, the children of other
# tests hold it, too, until they are programs of their own, and nobody may execute it ("text file busy").

def write_program(path, text):
    subprocess.run(["sh", "-c", 'cat > "$0" && chmod 755 "$0"', path], input=text.encode(), check=True)


def copy_program(path, folder):
    subprocess.run(["cp", "-p", path, folder], check=True)


def check(condition, text):
    if not condition:
        raise Failure(text)


def check_equal(got, wanted, what):
    if got != wanted:
        raise Failure("%s: got %r, expected %r" % (what, got, wanted))


class Run:
    """A VM that has ended."""

    def __init__(self, command, cwd, code, out, err):
        self.command = command
        self.cwd = cwd
        self.code = code
        self.out = out
        self.err = err

    def path(self, name):
        return os.path.join(self.cwd, name)

    def text(self, name):
        """A report as text. hprof2flamegraph, for one, reads no file that is not UTF-8."""
        try:
            return self.bytes(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Failure("%s: %s" % (name, error))

    def bytes(self, name):
        path = self.path(name)
        check(os.path.exists(path), "no file %s was written" % name)
        with open(path, "rb") as file:
            return file.read()

    def errors(self):
        """The lines on stderr that are the agent's complaints."""
        return [line for line in self.err.splitlines() if line.startswith(("HPROF ERROR", "HPROF WARNING"))]

    def __str__(self):
        crash = ["\n--- %s\n%s" % (os.path.basename(path), head(open(path, errors="replace").read(), 60))
                 for path in glob.glob(os.path.join(self.cwd, "hs_err*"))]
        return "command: %s\nin %s\nexit code %d\n--- stdout\n%s\n--- stderr\n%s%s" % (
            " ".join(self.command), self.cwd, self.code, head(self.out, 30), head(self.err, 30), "".join(crash))


def head(text, lines):
    rows = text.splitlines()
    return "\n".join(rows[:lines] + (["... %d lines more" % (len(rows) - lines)] if len(rows) > lines else []))


class Live:
    """A VM that runs. Its program prints `ready <pid>` first and ends when its stdin does (see java/Idle.java)."""

    def __init__(self, vm, command, environment):
        self.vm = vm
        self.command = command
        self.out_path = os.path.join(vm.dir, "stdout")
        self.err_path = os.path.join(vm.dir, "stderr")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(command, cwd=vm.dir, stdin=subprocess.PIPE, stdout=out, stderr=err,
                                            env=environment, start_new_session=True, preexec_fn=no_core)
        self.watchdog = threading.Timer(TIMEOUT, self.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        self.hung = False
        self.pid = None

    def kill(self):
        """The VM hangs: ask for its thread dump, then end it and what it started."""
        self.hung = True
        if self.pid and "signals" not in LACKS:
            os.kill(self.pid, signal.SIGQUIT)
            time.sleep(2)
        os.killpg(self.process.pid, signal.SIGKILL)

    def out(self):
        return read(self.out_path)

    def err(self):
        return read(self.err_path)

    def wait_until(self, condition, what):
        """Polls; the program's end, or TIMEOUT, is a failure."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            ended = self.process.poll() is not None
            if condition():
                return
            check(not ended, "the program ended before %s\n%s" % (what, self.state()))
            check(time.monotonic() < deadline, "waited in vain for %s\n%s" % (what, self.state()))
            time.sleep(0.02)

    def next_round(self, number):
        """Of the program Sites, which does one for each line."""
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.wait_until(lambda: self.out().count("did") == number, "round %d" % number)

    def state(self):
        code = self.process.returncode
        return str(Run(self.command, self.vm.dir, -999 if code is None else code, self.out(), self.err()))

    def wait_ready(self):
        self.wait_until(lambda: "\n" in self.out(), "its first line")
        words = self.out().split("\n")[0].split()
        check(len(words) == 2 and words[0] == "ready", "the program said %r first\n%s" % (words, self.state()))
        self.pid = int(words[1])
        RUNNING[self.pid] = self
        return self

    def signal(self, number):
        needs("signals")
        os.kill(self.pid, number)

    def proc(self, *names):
        """A path in the folder of /proc of this VM."""
        needs("proc")
        return os.path.join("/proc", str(self.pid), *names)

    def request_data_dump(self):
        """What Control-Backslash or Control-Break in its terminal do."""
        if "signals" not in LACKS:
            os.kill(self.pid, signal.SIGQUIT)
        else:
            code, said = self.vm.tool("jcmd", str(self.pid), "JVMTI.data_dump")
            check_equal(code, 0, "jcmd: " + said)

    def finish(self):
        """Ends the program and returns what came of it."""
        if self.process.stdin:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        self.process.wait()
        self.watchdog.cancel()
        run = Run(self.command, self.vm.dir, self.process.returncode, self.out(), self.err())
        check(not self.hung, "the VM did not end within %d s\n%s" % (TIMEOUT, run))
        return run

    def ended_well(self):
        """The same of a program like Idle, whose last line says that it was not cut short."""
        run = self.finish()
        check_equal((run.code, run.out.endswith("ended\n")), (0, True), "exit code and end\n%s\n" % run)
        return run

    def count(self, name, words):
        """How often these words stand in a file by now."""
        path = self.vm.path(name)
        return read(path).count(words) if os.path.exists(path) else 0

    def wait_for(self, name, words, number):
        self.wait_until(lambda: self.count(name, words) >= number, "%d times %r in %s" % (number, words, name))

    def discard(self):
        """At the end of a test: nothing that it started is left."""
        self.watchdog.cancel()
        RUNNING.pop(self.pid, None)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self.process.stdin and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass


def library_in(folder):
    """The agent of a build for Windows, or for another system."""
    dll = os.path.join(folder, "hprof.dll")
    return dll if os.path.exists(dll) else os.path.join(folder, "libhprof.so")


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


class Once:
    """A run that several tests, each in a thread of its own, ask for; made by the first."""

    def __init__(self):
        self.lock = threading.Lock()
        self.run = None


# By JDK and arguments: programs without the agent.
TRUTHS = {}
TRUTHS_LOCK = threading.Lock()


class Vm:
    """The JDK, the staged agent and a folder of its own, for one test."""

    def __init__(self, jdk, work, agent, classes, folder, units, tree, java_options):
        self.jdk = jdk
        self.version = jdk.version
        self.bits = jdk.bits      # of a pointer
        self.machine = jdk.machine  # aarch64
        # hotspot= with what is off by default there (docs/hotspot.md).
        self.all_items = "+frame-walk:+sample-walk:+weak-reuse" if jdk.machine == "aarch64" else "y"
        self.work = work          # the folder that the JDK can see
        self.agent_dir = agent    # a copy of lib/ of the build: libhprof.so, hprof/plugins/*.so
        self.classes = classes    # java/*.java, compiled by this JDK
        self.dir = folder         # working folder of the VMs; removed after the test
        self.units = units
        self.tree = tree          # the build tree, for what is not run inside the VM
        self.java_options = java_options
        self.live = []

    @property
    def agent(self):
        return library_in(self.agent_dir)

    @property
    def plugin_dir(self):
        return os.path.join(self.agent_dir, "hprof", "plugins")

    @property
    def attachable(self):
        """Options of a VM that takes agents later without a warning."""
        return ("-XX:+EnableDynamicAgentLoading",) if self.version >= 9 else ()

    def command(self, tool, *arguments):
        return self.jdk.command(tool, self.work, self.dir) + list(arguments)

    def launch(self, java_arguments, environment=None):
        """A VM with exactly these arguments, besides the memory limit and the class path."""
        if "LD_PRELOAD" in (environment or {}):
            needs("preloading")
        command = self.command("java", "-Xmx256m", *self.java_options, "-cp", self.classes, *java_arguments)
        live = Live(self, command, clean_environment(joined(VM_ENVIRONMENT, environment or {})))
        self.live.append(live)
        return live

    def run_java(self, *java_arguments, environment=None):
        return self.launch(java_arguments, environment).finish()

    def agent_option(self, options, agent=None):
        return "-agentpath:%s%s" % (agent or self.agent, "=" + options if options is not None else "")

    def plain(self, *program):
        """The program without an agent."""
        return self.run_java(*program)

    def truth(self, *program):
        """The same for comparisons alone: one run for all tests that compare with it."""
        with TRUTHS_LOCK:
            once = TRUTHS.setdefault((self.jdk.name, program), Once())
        with once.lock:
            if once.run is None:
                once.run = self.plain(*program)
            return once.run

    def profiled(self, options, *program, java=(), agent=None, environment=None):
        """The program with the agent; it must not notice: same stdout, same exit code as without."""
        run = self.run_java(self.agent_option(options, agent), *java, *program, environment=environment)
        plain = self.truth(*java, *program)
        check(run.out == plain.out and run.code == plain.code,
              "the program behaves differently with the agent\n%s\n--- without the agent: exit code %d, stdout\n%s"
              % (run, plain.code, head(plain.out, 30)))
        return run

    def refused(self, options, program="Quick", environment=None):
        """Bad options: one line on stderr, exit code 1, the program never started. Returns the line."""
        run = self.run_java(self.agent_option(options), program, environment=environment)
        check_equal(run.code, 1, "exit code\n%s\n" % run)
        check_equal(run.out, "", "stdout\n%s\n" % run)
        lines = run.err.splitlines()
        check(len(lines) == 1 and lines[0].startswith("HPROF ERROR: "), "not one line of error\n%s" % run)
        return lines[0]

    def start(self, options, *program, java=(), environment=None):
        """A program that stays until Live.finish(); options None: without the agent."""
        agent = [] if options is None else [self.agent_option(options)]
        return self.launch([*agent, *java, *program], environment).wait_ready()

    def tool(self, tool, *arguments):
        """A JDK tool such as jcmd, run to its end: (exit code, stdout and stderr)."""
        run = subprocess.run(self.command(tool, *arguments), cwd=self.dir, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
        return run.returncode, run.stdout.decode(errors="replace").replace("\r\n", "\n")

    def path(self, name):
        return os.path.join(self.dir, name)

    def as_nobody(self, *command):
        """The command in the name of a user who owns nothing; needs root, and a tree that others may read."""
        needs("users")
        folder = self.dir
        while folder != "/":
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                raise Skip("%s is closed to other users, so they cannot run this build" % folder)
            folder = os.path.dirname(folder)
        return ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups", *command]

    def needs_to_be_preloaded_first(self):
        """For tests that preload an allocator, or what starts timers before a sanitizer has begun."""
        if "LD_PRELOAD" in VM_ENVIRONMENT:
            raise Skip("a sanitizer must come first")

    def abandons(self):
        """Environment of a VM whose end abandons a unit: threads of the session stay, which ThreadSanitizer reports."""
        options = VM_ENVIRONMENT.get("TSAN_OPTIONS")
        return {"TSAN_OPTIONS": options + ":report_thread_leaks=0"} if options else {}

    def needs_signals_in_time(self):
        """For tests of what samples show that signals take."""
        if "TSAN_OPTIONS" in VM_ENVIRONMENT:
            raise Skip("ThreadSanitizer delivers signals late")

    def needs_zgc(self):
        """ZGC reserves more addresses than 32 bits have, or than a sanitizer leaves."""
        if self.bits == 32:
            raise Skip("no ZGC of 32 bits")
        if "ASAN_OPTIONS" in VM_ENVIRONMENT or "TSAN_OPTIONS" in VM_ENVIRONMENT:
            raise Skip("a sanitizer leaves ZGC too few addresses")

    def needs_tree_outside_of_tmp(self):
        """For tests that mount another /tmp."""
        if os.path.realpath(self.dir).startswith("/tmp/"):
            raise Skip("this tree is in /tmp, which the test hides from the VM")

    def native(self, source, *options):
        """The path of a shared library, made here of a suite's or native/<source>."""
        compiler = self.compiler()
        library = self.path(os.path.splitext(source)[0] + ".so")
        path, = glob.glob(os.path.join(HERE, "*", source))
        subprocess.check_call([compiler, "-O1", "-shared", "-fPIC", "-pthread", *options, path, "-o", library])
        return library

    def compiler(self):
        """That of the build, which may be for another machine."""
        needs("libraries in C")
        known = glob.glob(os.path.join(self.tree, "CMakeFiles", "*", "CMakeCCompiler.cmake"))
        found = re.search(r'^set\(CMAKE_C_COMPILER "(.+)"\)$', read(known[0]), re.M) if known else None
        compiler = shutil.which(found.group(1) if found else "cc")
        if compiler is None:
            raise Skip("no C compiler")
        return compiler

    def close(self):
        for live in self.live:
            live.discard()


def compile_java(jdk, work, sources, classes):
    """Compiles copies of these sources, where the JDK sees them, into that folder below `work`."""
    staged = classes + "-sources"
    for path in (staged, classes):
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
    # Programs that say who they are need another one for that.
    copies = [shutil.copy(source, staged) for source in {*sources, os.path.join(HERE, "java", "Pid.java")}]
    run = subprocess.run(jdk.command("javac", work) + ["-g", "-nowarn", "-d", classes] + copies, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=TIMEOUT)
    check(run.returncode == 0, "the programs do not compile with %s:\n%s" % (jdk.name, run.stdout.decode(errors="replace")))


def staged(jdk, work, build, sources, java_options=()):
    """A Vm for programs besides the suites: these sources and the agent of that build, in a folder that the JDK can see."""
    classes, agent, own = (os.path.join(work, jdk.name, name) for name in ("classes", "lib", "run"))
    os.makedirs(own)
    compile_java(jdk, work, sources, classes)
    shutil.copytree(os.path.join(build, "lib"), agent)
    return Vm(jdk, work, agent, classes, own, {}, os.path.abspath(build), list(java_options))


def attempt(counts, name, test):
    """Says and counts what came of a test of the lab."""
    try:
        verdict, said = "passed", test()
    except (Failure, subprocess.TimeoutExpired) as failure:
        verdict, said = "failed", failure
    counts[verdict] += 1
    print("%s  %s  %s" % (verdict, name, said), flush=True)


def joined(build, test):
    """What the build asks for and what the test does. Of preloaded libraries, a sanitizer's must come first."""
    both = dict(build, **test)
    if "LD_PRELOAD" in build and "LD_PRELOAD" in test:
        both["LD_PRELOAD"] = build["LD_PRELOAD"] + ":" + test["LD_PRELOAD"]
    return both


def clean_environment(extra):
    """Nothing of the caller's that a VM or the agent would listen to."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_HPROF_OPTIONS",
                                   "LD_LIBRARY_PATH", "LD_PRELOAD", "CLASSPATH")}
    environment["LC_ALL"] = "C"
    environment.update(extra or {})
    return environment
