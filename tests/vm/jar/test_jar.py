"""hprof.jar: it unpacks the agent and the tool for its machine; the profiler of JMH; the builds of others that use it."""
import contextlib
import fcntl
import glob
import os
import re
import shutil
import stat
import subprocess
import sys

from harness import ROOT, TIMEOUT, Skip, check, check_equal, clean_environment, vm_test

HERE = os.path.dirname(os.path.abspath(__file__))
MAVEN_SECONDS = 600
BATCH = 200000  # calls of the benchmark in an operation of JMH


@contextlib.contextmanager
def shared(vm):
    """The folder of what is made once, by one process at a time."""
    out = os.path.join(vm.work, "java")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield out


def made(vm):
    """The jar, made once of this build, and what making it printed."""
    with shared(vm) as out:
        said = os.path.join(out, "said-%d" % os.getpid())
        if not os.path.exists(said):
            if not shutil.which("javac"):
                raise Skip("no javac here")
            run = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "java", "build"), "--out", out, vm.tree], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=2 * MAVEN_SECONDS, universal_newlines=True)
            check_equal(run.returncode, 0, "tools/java/build: %s" % run.stdout)
            for old in glob.glob(os.path.join(out, "said-*")):
                os.unlink(old)
            with open(said, "w") as file:
                file.write(run.stdout)
        with open(said) as file:
            return os.path.join(out, "hprof.jar"), file.read()


def run_jar(vm, *arguments, java=(), code=0):
    run = vm.run_java(*java, "-jar", made(vm)[0], *arguments, environment={"XDG_CACHE_HOME": vm.path("cache")})
    check_equal(run.code, code, "exit code\n%s" % run)
    return run


def tree(folder):
    """{path: bytes} of the files in it."""
    return {os.path.relpath(path, folder): open(path, "rb").read() for path in glob.glob(os.path.join(folder, "**"), recursive=True)
            if os.path.isfile(path)}


@vm_test(needs=("proc",), quick=True)
def the_agent_is_unpacked(vm):
    path = run_jar(vm, "agentpath").out.rstrip("\n")
    check(path.startswith(vm.path("cache") + "/hprof/") and path.endswith("/lib/libhprof.so"), "agentpath: %s" % path)
    for folder in (vm.path("cache/hprof"), os.path.dirname(os.path.dirname(path))):
        check_equal(stat.S_IMODE(os.stat(folder).st_mode), 0o700, "mode of %s" % folder)
    run = vm.run_java("-agentpath:%s=calls=y,file=out.txt" % path, "Quick")
    check("METHOD_CALLS" in run.text("out.txt"), "no report\n%s" % run)


@vm_test(needs=("proc",))
def a_damaged_copy_is_replaced(vm):
    path = run_jar(vm, "agentpath").out.strip()
    folder = os.path.dirname(os.path.dirname(path))
    whole = tree(folder)
    with open(path, "r+b") as file:
        file.truncate(1000)
    module = glob.glob(os.path.join(folder, "lib", "hprof", "plugins", "*"))[0]
    os.unlink(module)
    check_equal(run_jar(vm, "agentpath").out.strip(), path, "path")
    check(tree(folder) == whole, "the files are not those from before")
    check_equal(os.listdir(vm.path("cache/hprof")), [os.path.basename(folder)], "what is left")


@vm_test(needs=("proc",))
def processes_unpack_at_the_same_time(vm):
    jar, _ = made(vm)
    environment = clean_environment({"XDG_CACHE_HOME": vm.path("cache")})
    for _ in range(2):
        started = [subprocess.Popen(vm.command("java", "-Xmx64m", "-jar", jar, "agentpath"), cwd=vm.dir, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, env=environment) for _ in range(3)]
        said = {(process.communicate(timeout=TIMEOUT)[0], process.returncode) for process in started}
        check(len(said) == 1 and {code for _, code in said} == {0}, "paths and exit codes: %s" % said)
        check_equal(len(os.listdir(vm.path("cache/hprof"))), 1, "what is left: %s" % os.listdir(vm.path("cache/hprof")))
        # Then they find a damaged one.
        os.truncate(said.pop()[0].strip(), 1000)


@vm_test(needs=("proc",))
def a_machine_without_an_agent_is_named(vm):
    run = run_jar(vm, "agentpath", java=("-Dos.arch=vax",), code=2)
    check(re.fullmatch(r"hprof\.jar: no agent for linux-vax in this jar, which has: linux-\S+\n", run.err), "message\n%s" % run)
    with open(vm.path("cache"), "w"):
        pass
    run = run_jar(vm, "agentpath", code=2)
    check("cannot use the folder %s/hprof, set XDG_CACHE_HOME to another one" % vm.path("cache") in run.err, "message\n%s" % run)


@vm_test(needs=("proc",))
def other_commands_are_those_of_the_tool(vm):
    if not os.path.exists(os.path.join(vm.tree, "bin", "hprof")):
        raise Skip("this build has no bin/hprof")
    vm.run_java(vm.agent_option("calls=y,file=out.txt"), "Quick")
    run = run_jar(vm, "print", "--top=1", "out.txt")
    check("METHOD_CALLS, calls" in run.out, "what print says\n%s" % run)
    run_jar(vm, "diff", "--fail-if=calls>0", "out.txt", "out.txt", code=1)
    run = run_jar(vm, "print", "none.txt", code=2)
    check("none.txt" in run.err, "message\n%s" % run)
    run_jar(vm, code=2)


# --- with Maven and Maven Central

def has_part(vm, part):
    jar, said = made(vm)
    left = re.search(r"^build: left out: %s: (.*)$" % part, said, re.M)
    if left:
        raise Skip("no Maven or Maven Central: %s" % left.group(1))
    return jar


def fetched(vm):
    """The jars of libraries.xml."""
    with shared(vm) as folder:
        out = os.path.join(folder, "test-libraries")
        if not os.path.isdir(out):
            shutil.copy(os.path.join(HERE, "libraries.xml"), vm.path("pom.xml"))
            maven(vm, vm.dir, "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies", "-DoutputDirectory=" + vm.path("libraries"))
            os.rename(vm.path("libraries"), out)
        return sorted(glob.glob(os.path.join(out, "*.jar")))


def maven(vm, folder, *arguments, java=None, code=0):
    """What mvn prints. What it cannot download skips the test."""
    environment = clean_environment({"XDG_CACHE_HOME": vm.path("cache"), **({"JAVA_HOME": java} if java else {})})
    run = subprocess.run(["mvn", "-B", "-ntp", *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=MAVEN_SECONDS, env=environment, universal_newlines=True)
    if re.search(r"Could not (transfer|resolve|find) |Unknown host|could not be resolved", run.stdout) and run.returncode:
        raise Skip("no Maven or Maven Central: %s" % re.search(r"^\[ERROR\].*$", run.stdout, re.M).group(0))
    check_equal(run.returncode, code, "mvn %s\n%s\nexit code" % (" ".join(arguments), run.stdout[-6000:]))
    return run.stdout


def compiled_benchmark(vm):
    """The class path of a benchmark, compiled by this JDK."""
    jars = fetched(vm)
    path = os.pathsep.join(jars)
    code, text = vm.tool("javac", "-nowarn", "-cp", path, "-processorpath", path, "-d", vm.path("benchmark"), *staged_sources(vm, "jmh"))
    check_equal(code, 0, "javac: %s" % text)
    return os.pathsep.join([vm.path("benchmark"), *jars])


def staged_sources(vm, name):
    os.makedirs(vm.path("benchmark"))
    shutil.copytree(os.path.join(HERE, name), vm.path(name))
    return glob.glob(os.path.join(vm.path(name), "*.java"))


def jmh(vm, path, *arguments):
    """What JMH prints. Each iteration is a batch of a known size: nothing depends on the time that the machine has."""
    command = vm.command("java", "-Xmx256m", "-Djmh.ignoreLock=true", "-cp", made(vm)[0] + os.pathsep + path, "org.openjdk.jmh.Main",
                         "-bm", "ss", "-wi", "2", "-i", "3", "-bs", str(BATCH), *arguments)
    run = subprocess.run(command, cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=MAVEN_SECONDS, env=clean_environment({"XDG_CACHE_HOME": vm.path("cache")}), universal_newlines=True)
    return run.returncode, run.stdout


def scores(text):
    """{name: score} of the table at the end."""
    return {name: float(score) for name, score in re.findall(r"^Boxes\.box:(hprof\.\S+) .* ([0-9.]+) +\S+/op$", text, re.M)}


@vm_test(needs=("proc",))
def jmh_prints_objects_and_calls_of_an_operation(vm):
    has_part(vm, "jmh")
    path = compiled_benchmark(vm)
    code, text = jmh(vm, path, "-f", "2", "-prof", "hprof:dir=flames")
    check_equal(code, 0, text)
    found = scores(text)
    check_equal(sorted(found), ["hprof.bytes.norm", "hprof.calls.norm", "hprof.objects.norm"], "results\n%s" % text)
    # JMH itself makes a few hundred objects for an iteration.
    for name, wanted in (("objects", 3), ("calls", 5), ("bytes", 56 if vm.bits == 64 else 40)):
        got = found["hprof.%s.norm" % name] / BATCH
        check(wanted <= got < 1.02 * wanted, "%s: %s, expected %s\n%s" % (name, got, wanted, text))
    check("Blackhole compile option" not in text, text)
    check("java.lang.Integer" in text and "com.acme.Boxes.box" in text, "no sites\n%s" % text)
    check_equal(len(glob.glob(vm.path("flames/com.acme.Boxes.box*.html"))), 2, "flame graphs: %s" % os.listdir(vm.path("flames")))
    check_equal(glob.glob(vm.path("java.hprof*")), [], "reports")


@vm_test(needs=("proc",))
def jmh_has_each_mode(vm):
    has_part(vm, "jmh")
    path = compiled_benchmark(vm)
    for mode, names in (("sites", ["bytes", "objects"]), ("calls;include=com.acme.*", ["calls"]), ("times", ["calls"]), ("samples", [])):
        code, text = jmh(vm, path, "-f", "1", "-prof", "hprof:" + mode)
        check_equal((code, sorted(scores(text))), (0, ["hprof.%s.norm" % name for name in names]), "%s\n%s" % (mode, text))
        check("Secondary result" in text, text)
    check(scores(text) == {}, text)
    agent = "agent=%s/libhprof.so" % shutil.copytree(vm.agent_dir, vm.path("given/lib"))
    os.makedirs(vm.path("given/bin"))
    subprocess.check_call(["cp", os.path.join(vm.tree, "bin", "hprof"), vm.path("given/bin")])
    code, text = jmh(vm, path, "-f", "1", "-prof", "hprof:calls;" + agent)
    check_equal((code, list(scores(text))), (0, ["hprof.calls.norm"]), text)


@vm_test(needs=("proc",))
def jmh_says_what_is_wrong(vm):
    has_part(vm, "jmh")
    path = compiled_benchmark(vm)
    for option, wanted in (("nonsense", "hprof: no mode nonsense; there are: sites, calls, times, samples"),
                           ("file=x", "hprof: file= is given by the profiler"),
                           ("calls;times", "hprof: times counts the calls: without calls"),
                           ("agent=none.so", "hprof: none.so"), ("calls;nonsense=1", "Unknown option: nonsense")):
        code, text = jmh(vm, path, "-f", "1", "-prof", "hprof:" + option)
        check(wanted in text, "%s\n%s" % (option, text))
    code, text = jmh(vm, path, "-f", "0", "-prof", "hprof")
    check("hprof: the agent needs a VM of its own: not with -f 0" in text, text)


# --- what docs/counts-as-tests.md shows

def page():
    with open(os.path.join(ROOT, "docs", "counts-as-tests.md"), encoding="utf-8") as file:
        return file.read()


@contextlib.contextmanager
def shop(vm):
    """The folder of a Maven project that has hprof.jar from a repository, in a version that nobody else has."""
    version = "0.%d" % os.getpid()
    project = shutil.copytree(os.path.join(HERE, "maven"), vm.path("shop"))
    published = vm.path("repository/hprof/hprof/" + version)
    os.makedirs(published)
    shutil.copy(has_part(vm, "junit"), "%s/hprof-%s.jar" % (published, version))
    for source, target in ((os.path.join(ROOT, "tools", "java", "pom.xml"), "%s/hprof-%s.pom" % (published, version)),
                           (os.path.join(project, "pom.xml"), os.path.join(project, "pom.xml")),
                           (os.path.join(HERE, "gradle", "build.gradle"), os.path.join(project, "build.gradle"))):
        with open(source) as file:
            text = file.read().replace("@VERSION@", version).replace("@REPOSITORY@", "file://" + vm.path("repository"))
        with open(target, "w") as file:
            file.write(text)
    try:
        yield project
    finally:
        shutil.rmtree(os.path.expanduser("~/.m2/repository/hprof/hprof/" + version), ignore_errors=True)


@vm_test()
def the_page_shows_the_files_of_the_project(vm):
    parts = re.findall(r"^```(?:java|xml|groovy)\n(.*?)^```$", page(), re.M | re.S)
    check(len(parts) >= 5, "parts of files in the page: %d" % len(parts))
    texts = [content.decode().replace("@VERSION@", "1.0.0") for folder in ("maven", "gradle") for content in tree(os.path.join(HERE, folder)).values()]
    for part in parts:
        check(any(part in text for text in texts), "no file of the project has\n%s" % part)


@vm_test(units=("count",), needs=("proc",), since=9)
def surefire_and_failsafe_fail_for_a_call_too_many(vm):
    if vm.jdk.home is None:
        raise Skip("Maven runs on this machine alone")
    with shop(vm) as project:
        agent = "-Dhprof.agent=" + run_jar(vm, "agentpath").out.strip()
        text = maven(vm, project, "verify", agent, java=vm.jdk.home, code=1)
        for line in re.search(r"^```text\n(.*?)^```$", page(), re.M | re.S).group(1).splitlines():
            check(line.strip() in text, "Maven does not say: %s\n%s" % (line, text))
        check("Tests run: 1, Failures: 1" in text and "OrdersIT" not in text, text)
        text = maven(vm, project, "verify", agent, "-Dmaven.test.failure.ignore=true", java=vm.jdk.home)
        check(re.search(r"Tests run: 1, Failures: 0.*com\.acme\.OrdersIT", text), text)


@vm_test(units=("count",), needs=("proc",), since=9)
def gradle_fails_for_a_call_too_many(vm):
    if vm.jdk.home is None or vm.version > 17 or not shutil.which("gradle"):
        raise Skip("Gradle is not here, or does not run on this JDK")
    with shop(vm) as project:
        shutil.copy(os.path.join(HERE, "gradle", "Junit4Test.java"), os.path.join(project, "src/test/java/com/acme"))
        agent = "-Phprof.agent=" + run_jar(vm, "agentpath").out.strip()
        run = subprocess.run(["gradle", "--no-daemon", "--console=plain", "--gradle-user-home", vm.path("gradle"), "test", agent], cwd=project,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=MAVEN_SECONDS,
                             env=clean_environment({"JAVA_HOME": vm.jdk.home}), universal_newlines=True)
        if "Could not resolve all files" in run.stdout:
            raise Skip("no Maven Central")
        check("OrdersTest.asksThreeTimesAtMost() FAILED" in run.stdout and run.returncode == 1, run.stdout)
        for report in glob.glob(os.path.join(project, "build/test-results/test/*.xml")):
            with open(report) as file:
                check("4 calls of com.acme.Db.query, at most 3 allowed" in file.read(), report)
