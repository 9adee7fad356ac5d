"""Processes that answer like a JVM and are none, and files and folders that others can change: what bin/hprof does with them."""
import gzip
import os
import resource
import struct
import subprocess
import sys

from harness import TIMEOUT, check, check_equal, clean_environment, vm_test
from tool import hprof

MEMORY = 512 << 20  # bytes of address space of the tool, far below what it would take of an endless answer
SANITIZED = any(name.endswith("SAN_OPTIONS") for name in os.environ)  # sanitizers need more


class FakeJvm:
    """fake_jvm.py in that mode."""

    def __init__(self, mode):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_jvm.py")
        self.process = subprocess.Popen([sys.executable, script, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check_equal(self.process.stdout.readline(), b"ready\n", "the fake's first line")
        self.pid = str(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()


def run_limited(vm, *words):
    """bin/hprof with little memory: (exit code, stdout, stderr), as bytes."""
    limit = None if SANITIZED else lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    run = subprocess.run([os.path.join(vm.tree, "bin", "hprof"), *words], cwd=vm.dir, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, env=clean_environment(None), preexec_fn=limit)
    return run.returncode, run.stdout, run.stderr


def run_tool(vm, *words):
    """The same; the agent's library is only named to it."""
    return run_limited(vm, words[0], "--agent=" + vm.agent, *words[1:])


def check_harmless(text, what):
    """Only bytes that no terminal obeys."""
    found = [c for c in text.decode("utf-8") if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]
    check_equal(found, [], "control characters in %s: %r" % (what, text))


@vm_test()
def an_answer_that_does_not_end_is_given_up(vm):
    with FakeJvm("endless") as fake:
        code, _, err = run_tool(vm, "attach", fake.pid, "cpu=samples")
        check_equal((code, b"the agent's answer has more than 1 MB" in err, err.count(b"\n")), (2, True, 1), "hprof attach: %r" % err[:400])


@vm_test()
def a_thread_dump_that_does_not_end_is_given_up(vm):
    with FakeJvm("dumps") as fake:
        code, out, err = run_limited(vm, "threads", "--timeout=3", fake.pid)
        check_equal((code, out, err.count(b"\n")), (2, b"", 1), "hprof threads: %r" % err[:400])


@vm_test()
def what_a_process_says_does_not_rule_the_terminal(vm):
    with FakeJvm("refuses") as fake:
        code, out, err = run_tool(vm, "attach", fake.pid, "cpu=samples")
        check_equal((code, b"refused \\x1b]0;taken over" in err, b"message \\x1b]0;" in err), (1, True, True), "hprof attach: %r" % err)
        check_harmless(out + err, "a refusal")
    with FakeJvm("accepts") as fake:
        code, out, err = run_tool(vm, "attach", fake.pid, "cpu=samples")
        check_equal((code, b"writes to /tmp/\\x1b]0;" in out), (0, True), "hprof attach: %r %r" % (out, err))
        check_harmless(out + err, "the name of an output")
        code, out, err = run_limited(vm, "threads", fake.pid)
        check_equal((code, b"result code 1" in err), (2, True), "hprof threads: %r" % err)
        check_harmless(out + err, "a refused thread dump")


@vm_test()
def a_profile_is_not_longer_than_what_was_asked_for(vm):
    with FakeJvm("floods") as fake:
        code, out, err = run_tool(vm, "profile", "--most=20m", "-o", "flood", fake.pid, "cpu=samples")
        check_equal((code, b"the agent sends more than" in err), (1, True), "hprof profile: %r %r" % (out, err))
        size = os.path.getsize(vm.path("flood.partial"))
        check(0 < size <= 20 << 20 and not os.path.exists(vm.path("flood")), "bytes written: %d" % size)
    with FakeJvm("floods commands") as fake:
        code, out, err = run_tool(vm, "profile", "--seconds=0", "-o", "flood2", fake.pid, "cpu=samples")
        check_equal((code, b"the agent's answer has more than" in err), (1, True), "hprof profile: %r %r" % (out, err))


@vm_test()
def a_refused_profile_leaves_nothing_behind(vm):
    """Nor does it take away what was there."""
    with open(vm.path("mine"), "w") as file:
        file.write("kept")
    os.mkfifo(vm.path("pipe"))
    reader = os.open(vm.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
    before = sorted(os.listdir(vm.dir))
    for words in (("-o", "new"), ("-o", "mine"), ("-o", "mine", "--force"), ("-o", "pipe")):
        with FakeJvm("refuses") as fake:
            code, out, err = run_tool(vm, "profile", *words, fake.pid, "cpu=samples")
            check_equal((code, out), (1, b""), "hprof profile %s: %r" % (words, err))
    check_equal(sorted(os.listdir(vm.dir)), before, "files")
    check_equal(open(vm.path("mine")).read(), "kept", "a file that --force was to replace")
    os.close(reader)


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def a_vm_that_is_still_starting_is_waited_for(vm):
    for number in range(4):
        live = vm.launch([*vm.attachable, "Idle"])
        program = "/proc/%d/exe" % live.process.pid  # a command in front of it may still change its root directory
        live.wait_until(lambda: os.path.basename(os.readlink(program)) == "java", "the start of java")
        code, out, err = run_tool(vm, "attach", str(live.process.pid), "cpu=samples", "file=" + vm.path("%d.txt" % number))
        check_equal((code, b"writes /" in out), (0, True), "hprof attach: %r\n%s" % (err, live.state()))
        run = live.wait_ready().finish()
        check_equal((run.code, "Full thread dump" in run.out), (0, False), "exit code, and a thread dump\n%s\n" % run)
        check("CPU SAMPLES BEGIN" in run.text("%d.txt" % number), "no report\n%s" % run)


@vm_test()
def a_vm_whose_start_removes_its_socket_is_asked_twice(vm):
    with FakeJvm("loses its socket") as fake:
        code, _, err = run_tool(vm, "attach", fake.pid, "cpu=samples")
        check_equal((code, b"refused" in err), (1, True), "hprof attach: %r" % err)


@vm_test()
def a_vm_that_nothing_may_attach_to_gets_no_signal(vm):
    for where in ("command line", "environment"):
        option = "-XX:+DisableAttachMechanism"
        live = vm.launch([option, "Idle"] if where == "command line" else ["Idle"],
                         {} if where == "command line" else {"JAVA_TOOL_OPTIONS": option})
        for command in (("attach",), ("profile", "-o", "new")):
            code, _, err = run_tool(vm, *command, str(live.process.pid), "cpu=samples")
            check_equal((code, option.encode() in err), (2, True), "hprof %s, %s: %r" % (command[0], where, err))
        run = live.wait_ready().finish()
        check("Full thread dump" not in run.out, "a thread dump in the program's output\n%s" % run)
    check(not os.path.exists(vm.path("new")), "a file of the refused profile")


@vm_test()
def a_small_file_does_not_take_all_memory(vm):
    """64 KB that inflate to 64 MB, which are sixteen million stacks."""
    with gzip.open(vm.path("bomb.gz"), "wb") as file:
        for _ in range(64):
            file.write(b"a 1\n" * (1 << 18))
    for words in (("view", "bomb.gz"), ("convert", "bomb.gz", "--to=pprof"), ("print", "bomb.gz"), ("diff", "bomb.gz", "bomb.gz")):
        code, text = hprof(vm, *words)
        check_equal((code, text.count("\n"), "out of memory: the contents take more than" in text), (2, 1, True), "hprof %s: %s" % (words, text[:300]))


def write_null_arrays(path, count, length):
    """A dump of so many arrays of null references, whose elements are holes of the file."""
    with open(path, "wb") as file:
        file.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 4, 0))
        for number in range(count):
            file.write(struct.pack(">BIIBIIII", 0x1c, 0, 17 + 4 * length, 0x22, 0x1000 + 8 * number, 0, length, 0))
            file.seek(4 * length, os.SEEK_CUR)
        file.write(struct.pack(">BII", 0x2c, 0, 0))


@vm_test()
def a_dump_that_claims_more_than_memory_has_is_refused(vm):
    path = vm.path("claims.hprof")
    cases = [(5, b"the dump has more than 2^31 objects or 2^32 references")]
    if not SANITIZED:
        cases.append((1, b"no memory for 40000000"))
    for count, problem in cases:
        write_null_arrays(path, count, 1000000000)
        for command in (("leaks",), ("path", "0x1000"), ("threads",), ("rows", "0x1000", "--fields=length", "--retained")):
            code, out, err = run_limited(vm, "heap", command[0], path, *command[1:], "--no-index")
            check_equal((code, out, err.count(b"\n"), problem in err), (2, b"", 1, True), "hprof heap %s: %r" % (command, err))
