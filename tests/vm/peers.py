"""The other end of net=: peers that read all, vanish, or stall."""
import socket
import struct
import threading


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


def closed_port():
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
