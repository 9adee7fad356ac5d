"""Commands to a running agent: lines over control= and listen=, bytes over net=; and to the VM: its attach protocol on Linux."""
import contextlib
import hashlib
import hmac
import os
import shutil
import signal
import socket
import struct
import time

from harness import LACKS, RUNNING, TIMEOUT, Failure, check, check_equal, needs
from tool import hprof

EOF = 0xFF


def binary(tag, serial, body=b""):
    return struct.pack(">BII", tag, serial, len(body)) + body


def control(serial, option, body=b""):
    return binary(0x08, serial, struct.pack(">H", option) + body)


class Controller:
    """Serves net= as a front end would: keeps what comes, sends what the test says."""

    def __init__(self):
        self.server = socket.socket()
        self.server.bind(("127.0.0.1", 0))
        self.server.listen(4)
        self.server.settimeout(TIMEOUT)
        self.port = self.server.getsockname()[1]
        self.connection = None
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.connection:
            self.connection.close()
        self.server.close()

    def accept(self):
        self.connection, _ = self.server.accept()
        self.connection.settimeout(TIMEOUT)
        return self

    def send(self, data, piece=None):
        for at in range(0, len(data), piece or len(data) or 1):
            self.connection.sendall(data[at:at + (piece or len(data))])

    def wait_for(self, words, timeout=TIMEOUT):
        """Reads on until the stream holds these bytes."""
        deadline = time.monotonic() + timeout
        while words not in self.received:
            check(time.monotonic() < deadline, "the stream never says %r" % words)
            data = self.connection.recv(65536)
            check(data, "the stream ends before it says %r" % words)
            self.received += data

    def answered(self, serial, good=True):
        self.wait_for(b"hprof command %d %s: " % (serial, b"ok" if good else b"failed"))

    def read_rest(self):
        while True:
            data = self.connection.recv(65536)
            if not data:
                return self.received
            self.received += data


def connect(where):
    """where: a path, or a port of the loopback."""
    if isinstance(where, str):
        needs("a local socket")
    connection = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
    try:
        # Blocking: with a timeout a full queue of a local socket would be an error.
        connection.connect(where if isinstance(where, str) else ("127.0.0.1", where))
    except OSError:
        connection.close()
        raise
    connection.settimeout(TIMEOUT)
    return connection


class Lines:
    """One conversation over control= or listen=."""

    def __init__(self, where):
        self.connection = connect(where)
        self.reader = self.connection.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.connection.close()

    def line(self):
        return self.reader.readline().decode()

    def log_in(self, secret):
        greeting = self.line()
        check(greeting.startswith("HPROF 1 ") and len(greeting) == 8 + 64 + 1, "greeting: %r" % greeting)
        answer = hmac.new(secret, bytes.fromhex(greeting[8:].strip()), hashlib.sha256).hexdigest()
        self.connection.sendall(b"AUTH %s\n" % answer.encode())

    def ask(self, command):
        """(good, last line without its word, lines before it)"""
        self.connection.sendall(command.encode() + b"\n")
        return self.answer()

    def answer(self):
        lines = []
        while True:
            line = self.line()
            if line.startswith(" "):
                lines.append(line[1:].rstrip("\n"))
                continue
            word, _, text = line.rstrip("\n").partition(" ")
            if word not in ("OK", "ERROR"):
                raise Failure("the agent answers %r" % line)
            return word == "OK", text, lines

    def must(self, command):
        good, text, lines = self.ask(command)
        check(good, "%s: ERROR %s" % (command, text))
        return lines

    def ended(self):
        """The agent has closed its end: nothing more comes."""
        with contextlib.suppress(ConnectionResetError):
            return self.connection.recv(1) == b""
        return True


def by_ctl(where, command):
    """The answer by hprof ctl, which opens what this machine's sockets cannot."""
    vm = next((live.vm for live in RUNNING.values() if where.startswith(live.vm.dir)), None)
    check(vm is not None, "no VM has said that it is ready")
    code, text = hprof(vm, "ctl", where, *command.split())
    return code == 0, text, text.splitlines()


def is_for_ctl(where):
    return isinstance(where, str) and "a local socket" in LACKS


def ask(where, command):
    if is_for_ctl(where):
        return by_ctl(where, command)
    with Lines(where) as lines:
        return lines.ask(command)


def must(where, *commands):
    if is_for_ctl(where):
        for command in commands:
            good, text, said = by_ctl(where, command)
            check(good, "%s: %s" % (command, text))
        return said
    with Lines(where) as lines:
        for command in commands:
            said = lines.must(command)
    return said


# --- the VM: for JDK 8, whose jcmd cannot load an agent, and for many requests in a row


def load_agent(pid, library, options, timeout=60):
    """Loads an agent by its full path into the VM `pid`; what the VM answers: '0' in its first line when it went well."""
    return request(pid, timeout, "load", library, "true", options)


def loaded(answer):
    """Did the agent say that it is loaded? JDK 9 and later tell in words, 8 in a second number."""
    lines = answer.split("\n")
    if lines[0].strip() != "0":
        return False
    code = "\n".join(lines[1:]).strip()
    return code in ("", "0", "return code: 0")


def diagnostic(pid, command, timeout=60):
    """A command of jcmd, without starting jcmd."""
    return request(pid, timeout, "jcmd", command, "", "")


def by_jcmd(live, words):
    """The answer that the VM's attach protocol would give."""
    wanted = words[1:2] if words[0] == "jcmd" else ("JVMTI.agent_load", words[1], '"%s"' % words[3])
    code, said = live.vm.tool("jcmd", str(live.pid), *wanted)
    return "0\n" + said.split("%d:\n" % live.pid)[-1] if code == 0 else said


def request(pid, timeout, *words):
    if "attach" in LACKS:
        return by_jcmd(RUNNING[pid], words)
    root = "/proc/%d/root" % pid
    path = "%s/tmp/.java_pid%d" % (root, pid)
    if not os.path.exists(path):
        trigger = "/proc/%d/cwd/.attach_pid%d" % (pid, pid)
        open(trigger, "w").close()
        try:
            os.kill(pid, signal.SIGQUIT)
            deadline = time.monotonic() + timeout
            while not os.path.exists(path):
                if time.monotonic() > deadline:
                    raise OSError("the VM does not open its attach socket")
                time.sleep(0.05)
        finally:
            os.unlink(trigger)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        connection.sendall(b"".join(word.encode() + b"\0" for word in ("1",) + words))
        answer = b""
        while True:
            data = connection.recv(4096)
            if not data:
                return answer.decode(errors="replace")
            answer += data


def check_conditions(vm, options, program, conditions):
    """--fail-if of two reports of a running VM, after each of two rounds, as text and as JSON: {condition: whether it holds}."""
    for form in ("a", "json"):
        live = vm.start("%s,cutoff=0,format=%s,file=out.%s,control=%s" % (options, form, form, vm.path("ctl")), *program)
        reports = [vm.path("%d.%s" % (number, form)) for number in (1, 2)]
        for number, path in enumerate(reports, 1):
            live.next_round(number)
            must(vm.path("ctl"), "report")
            shutil.copy(vm.path("out." + form), path)
        check_equal(live.finish().code, 0, "exit code")
        for condition, holds in conditions.items():
            code, said = hprof(vm, "diff", "--fail-if=" + condition, *reports)
            check_equal((code, " holds: " in said), (int(holds), holds), "%s of %s: %s" % (condition, form, said))
