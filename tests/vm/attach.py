"""The VM's attach protocol on Linux, for JDK 8, whose jcmd cannot load an agent."""
import os
import signal
import socket
import time


def load_agent(pid, library, options, timeout=60):
    """Loads an agent by its full path into the VM `pid`; what the VM answers: '0' in its first line when it went well."""
    root = "/proc/%d/root" % pid
    path = "%s/tmp/.java_pid%d" % (root, pid)
    if not os.path.exists(path):
        request = "/proc/%d/cwd/.attach_pid%d" % (pid, pid)
        open(request, "w").close()
        try:
            os.kill(pid, signal.SIGQUIT)
            deadline = time.monotonic() + timeout
            while not os.path.exists(path):
                if time.monotonic() > deadline:
                    raise OSError("the VM does not open its attach socket")
                time.sleep(0.05)
        finally:
            os.unlink(request)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        connection.sendall(b"".join(word.encode() + b"\0" for word in ("1", "load", library, "true", options)))
        answer = b""
        while True:
            data = connection.recv(4096)
            if not data:
                return answer.decode(errors="replace")
            answer += data
