"""The VM's attach protocol on Linux, for JDK 8, whose jcmd cannot load an agent, and for many requests in a row."""
import os
import signal
import socket
import time


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


def request(pid, timeout, *words):
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
