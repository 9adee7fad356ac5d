"""A process that answers hprof attach and profile as a JVM with the agent would, and then misbehaves: fake_jvm.py MODE."""
import os
import re
import signal
import socket
import sys
import threading

# A title of the window, a colour, and U+009B (the same as ESC [) in UTF-8 and as a byte.
FOREIGN = b"\x1b]0;taken over\x07\x1b[31mred\xc2\x9b5m\x9b7m"
ENDLESS = b" " + b"x" * 1000 + b"\n"


def flood(connection, piece=ENDLESS):
    while True:
        connection.sendall(piece * 64)


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def listen(path):
    if os.path.exists(path):
        os.unlink(path)  # left by a process with the same number that was killed
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    os.chmod(path, 0o600)
    server.listen(4)
    return server


def answer_attach(mode, reply):
    """What the agent does in Agent_OnAttach."""
    request = b""
    while not request.endswith(b"\n\n"):
        request += reply.recv(4096)
    if mode == "endless":
        flood(reply)
    if mode in ("refuses", "loses its socket"):
        return reply.sendall(b" message " + FOREIGN + b"\nERROR refused " + FOREIGN + b"\n")
    if mode == "accepts":
        return reply.sendall(b" =collectors " + FOREIGN + b"\n =output /tmp/" + FOREIGN + b"\nOK\n")
    stream = connect(re.search(rb"net=([^,\n]*)", request).group(1))
    control = listen(re.search(rb"control=([^,\n]*)", request).group(1))
    reply.sendall(b" =collectors cpu_samples\nOK\n")
    reply.close()
    if mode == "floods":
        flood(stream, b"\0" * 65536)
    commands = control.accept()[0]
    commands.recv(4096)
    flood(commands)


def dump_threads(connection):
    """A thread dump whose names rule a terminal, and that has no end."""
    connection.sendall(b"0\nFull thread dump " + FOREIGN + b":\n")
    flood(connection, (b'"' + FOREIGN + b'" #1 prio=5\n   java.lang.Thread.State: ' + FOREIGN + b"\n\tat " + FOREIGN + b"\n") * 100)


def serve(mode, connection):
    words = connection.recv(4096).split(b"\0")
    try:
        if words[1] == b"load":
            answer_attach(mode, connect(words[4].split(b"reply=")[1]))
        elif mode == "dumps":
            dump_threads(connection)
        else:
            connection.sendall(b"1\n" + FOREIGN)
    except OSError:
        pass  # the tool has had enough
    connection.close()


def main():
    mode = sys.argv[1]
    path = "/tmp/.java_pid%d" % os.getpid()

    def start():
        server = listen(path)
        threading.Thread(target=lambda: [serve(mode, server.accept()[0]) for _ in iter(int, 1)], daemon=True).start()

    signals = []

    def take_signal(*_):
        signals.append(True)
        if mode == "loses its socket" and len(signals) == 2:
            start()

    signal.signal(signal.SIGQUIT, take_signal)
    if mode != "loses its socket":
        start()
    print("ready", flush=True)
    sys.stdin.read()
    os.unlink(path)


main()
