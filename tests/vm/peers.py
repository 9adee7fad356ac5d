"""The other end of net=: peers that read all, vanish, or stall."""
import socket
import struct
import threading

from harness import LACKS, check_equal


class Peer:
    """Listens on a free port of this machine and handles one connection in a thread of its own."""

    def __init__(self, serve, port=0):
        self.server = socket.socket()
        self.server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.server.bind(("127.0.0.1", port))
        self.server.listen(4)
        self.server.settimeout(100)
        self.port = self.server.getsockname()[1]
        self.received = b""
        self.connected = False
        self.released = threading.Event()
        self.serve = serve
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self.thread.join()
        self.server.close()

    def run(self):
        try:
            connection, _ = self.server.accept()
        except OSError:
            return
        self.connected = True
        with connection:
            try:
                self.serve(self, connection)
            except OSError:
                pass

    def finish(self):
        """Everything received, once the agent has closed its end."""
        self.thread.join(100)
        return self.received


def read_all(peer, connection):
    while True:
        data = connection.recv(65536)
        if not data:
            return
        peer.received += data


def vanish(peer, connection):
    """Takes the first bytes, then is gone without a word: the agent's next writes meet a reset."""
    connection.recv(16)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stall(peer, connection):
    """Never reads, never closes, until the test is over."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.released.wait(100)


def trickle(peer, connection):
    """Reads 2 KB every half second, for as long as the test takes."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    while not peer.released.wait(0.5):
        if not connection.recv(2048):
            return


def garbage(peer, connection):
    """Sends commands that do not exist, with a length that lies, then reads on."""
    connection.sendall(b"\x77" + struct.pack(">II", 1, 3) + b"abc")
    connection.sendall(b"\x42" + struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFF0) + b"\xaa" * 4096)
    connection.shutdown(socket.SHUT_WR)
    read_all(peer, connection)


class FullPort:
    """A port whose queue is full: whoever connects hears nothing, as from a host behind a wall."""

    def __enter__(self):
        self.server = socket.socket()
        self.server.bind(("127.0.0.1", 0))
        self.server.listen(0)
        self.port = self.server.getsockname()[1]
        self.waiting = []
        for _ in range(4):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", self.port))
            self.waiting.append(client)
        return self

    def __exit__(self, *_):
        for client in self.waiting:
            client.close()
        self.server.close()


RESERVED = []


def closed_port():
    """A port where nobody listens, other than who is told of it. It stays bound here, so that the system gives it to nobody else;
    SO_REUSEADDR lets another socket with that option listen there, which programs of other systems do not have."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    if LACKS:
        probe.close()
    else:
        RESERVED.append(probe)
    return port


class HttpServer:
    """Takes requests, one thread for each, and answers them in turn as the steps say; the last one goes on for ever. A step
    is a status, a tuple of it, a body and lines of the head, or a function that gets the connection before anything was read
    of it and does what it likes."""

    def __init__(self, *steps):
        self.steps = list(steps)
        self.posts = []  # (method, target, headers, body) of those that were answered with 2xx
        self.seen = 0    # connections
        self.released = threading.Event()
        self.lock = threading.Lock()
        self.server = socket.socket()
        self.server.bind(("127.0.0.1", 0))
        self.server.listen(16)
        self.port = self.server.getsockname()[1]
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.released.set()
        self.server.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join()
        self.server.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.serve, args=(connection,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def serve(self, connection):
        with self.lock:
            self.seen += 1
            step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        with connection:
            try:
                if callable(step):
                    return step(self, connection)
                request = read_request(connection)
                status, body, *lines = step if isinstance(step, tuple) else (step, b"")
                if request and 200 <= status < 300:
                    self.posts.append(request)
                head = ["HTTP/1.1 %d Said" % status, "Content-Length: %d" % len(body), *lines, "", ""]
                if request:
                    connection.sendall("\r\n".join(head).encode() + body)
            except OSError:
                pass


def read_request(connection):
    """(method, target, headers, body), or None if it was cut short."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, body = data.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    method, target, version = lines[0].split(" ")
    check_equal(version, "HTTP/1.1", "version of a request")
    headers = dict(line.lower().split(": ", 1) for line in lines[1:])
    while len(body) < int(headers["content-length"]):
        more = connection.recv(65536)
        if not more:
            return None
        body += more
    check_equal(len(body), int(headers["content-length"]), "bytes of a request")
    return method, target, headers, body


def stall_request(server, connection):
    """Reads nothing and says nothing."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    server.released.wait(100)


def reset_request(_, connection):
    """Takes a little, then resets."""
    connection.recv(16)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def close_request(_, connection):
    """Takes it all and closes without an answer."""
    read_request(connection)
