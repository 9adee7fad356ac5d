"""net=host:port. Whatever the peer does, the program does not notice."""
import os
import subprocess

from commands import ask, must
from harness import TIMEOUT, check, check_equal, clean_environment, vm_test
from peers import FullPort, Peer, closed_port, garbage, read_all, stall, vanish
from reports import parse_ascii, parse_binary
from tool import program

UNITS = ("cpu_samples", "encoder_ascii", "encoder_binary", "sink_socket")


def options(peer, extra=""):
    return "cpu=samples,net=127.0.0.1:%d%s" % (peer.port, extra)


@vm_test(units=UNITS, quick=True)
def binary_report_arrives(vm):
    with Peer(read_all) as peer:
        run = vm.run_java(vm.agent_option(options(peer, ",format=b")), "Spin", "4")
        check_equal((run.code, run.out), (0, vm.truth("Spin", "4").out), "exit code and stdout\n%s\n" % run)
        check_equal(len(parse_binary(peer.finish()).samples), 1, "CPU SAMPLES records")


@vm_test(units=UNITS)
def ascii_report_arrives(vm):
    with Peer(read_all) as peer:
        run = vm.run_java(vm.agent_option(options(peer, ",format=a")), "Spin", "4")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        parse_ascii(peer.finish().decode()).cpu()


@vm_test(units=UNITS)
def nobody_listening_is_refused_before_start(vm):
    line = vm.refused("cpu=samples,net-retry=n,net=127.0.0.1:%d" % closed_port())
    check("127.0.0.1" in line, "the line does not name the peer: %s" % line)


@vm_test(units=UNITS)
def listener_that_comes_later_gets_the_profile(vm):
    for form in ("a", "b"):
        port = closed_port()
        live = vm.start("cpu=samples,format=%s,net=127.0.0.1:%d" % (form, port), "Idle")
        words = "tried again while the program runs; net-retry=n refuses to start"
        live.wait_until(lambda: words in live.err(), words)
        with Peer(read_all, port) as peer:
            live.wait_until(lambda: peer.connected, "the connection")
            run = live.finish()
            check_equal(run.code, 0, "exit code\n%s\n" % run)
            data = peer.finish()
        tables = len(parse_binary(data).samples) if form == "b" else len(parse_ascii(data.decode()).cpu())
        check_equal(tables, 1, "tables")


@vm_test(units=UNITS)
def listener_that_goes_and_comes_again_gets_a_new_stream(vm):
    with Peer(vanish) as peer:
        live = vm.start("cpu=samples,control=ctl,format=b,net=127.0.0.1:%d" % peer.port, "Idle")
        live.wait_until(lambda: peer.connected, "the connection")
        peer.thread.join()
    live.wait_until(lambda: not ask(vm.path("ctl"), "report")[0] or "the connection is lost" in live.err(), "the loss")
    with Peer(read_all, peer.port) as again:
        live.wait_until(lambda: again.connected, "the second connection")
        must(vm.path("ctl"), "report")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        check_equal(len(parse_binary(again.finish()).samples), 2, "tables: asked for, and at exit")


@vm_test(units=UNITS)
def nobody_at_all_does_no_harm(vm):
    vm.profiled("cpu=samples,net=127.0.0.1:%d" % closed_port(), "Spin", "2")


def unharmed(vm, behaviour, extra):
    """Both ends of the range: a program that ends at once, and one that works in several threads."""
    for program in (("Quick", "5"), ("Spin", "4", "2")):
        with Peer(behaviour) as peer:
            run = vm.run_java(vm.agent_option(options(peer, extra)), *program)
            plain = vm.truth(*program)
            check_equal((run.code, run.out), (plain.code, plain.out), "exit code and stdout\n%s\n" % run)
            check(peer.connected, "the agent did not connect")


@vm_test(units=UNITS)
def peer_that_vanishes_does_no_harm(vm):
    unharmed(vm, vanish, ",format=b")
    unharmed(vm, vanish, ",format=a,interval=1,thread=y")


@vm_test(units=UNITS)
def peer_that_stalls_does_no_harm(vm):
    unharmed(vm, stall, ",format=b,interval=1,thread=y")


@vm_test(units=UNITS)
def peer_that_sends_garbage_does_no_harm(vm):
    unharmed(vm, garbage, ",format=b")


@vm_test(units=UNITS)
def start_up_waits_for_no_peer(vm):
    """Nobody answers for an hour; the program is there, and ends, all the same."""
    with FullPort() as full:
        live = vm.start("cpu=samples,control=ctl,exit-timeout=2,net-timeout=3600,net=127.0.0.1:%d" % full.port, "Idle",
                        environment=vm.abandons())
        must(vm.path("ctl"), "status")
        run = live.ended_well()


SECRET = b"correct horse battery staple\n"


def secret_file(vm, name="secret", text=SECRET, mode=0o600):
    path = vm.path(name)
    with open(path, "wb") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


class Listener:
    """hprof listen, until a stream has come and ended."""

    def __init__(self, vm, name, *arguments):
        self.path = vm.path(name)
        self.process = subprocess.Popen(
            [*program(vm), "listen", "-o", self.path, "--no-input", "--quiet", *arguments],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=clean_environment(None))
        self.port = int(self.process.stderr.readline().split(b",")[0].rsplit(b":")[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def said(self):
        return self.process.communicate(timeout=TIMEOUT)[1].decode()


@vm_test(units=UNITS, quick=True)
def stream_goes_to_who_proves_the_secret(vm):
    secret = secret_file(vm)
    with Listener(vm, "got.hprof", "--secret-file=" + secret) as listener:
        # Who has no secret, or another one, is turned away, and the place stays free.
        for other in ("", ",secret-file=%s" % secret_file(vm, "other", b"a secret of somebody else\n")):
            options_ = "cpu=samples,format=b,net-timeout=2,net=127.0.0.1:%d%s" % (listener.port, other)
            run = vm.run_java(vm.agent_option(options_), "Spin", "2")
            check_equal(run.code, 0, "exit code\n%s\n" % run)
        check("does not know the secret" in run.err or "does not ask for" in run.err, "not said\n%s" % run)
        check_equal(os.path.getsize(listener.path), 0, "bytes of strangers")
        options_ = "cpu=samples,format=b,net=127.0.0.1:%d,secret-file=%s" % (listener.port, secret)
        run = vm.run_java(vm.agent_option(options_), "Spin", "4")
        check_equal((run.code, run.out), (0, vm.truth("Spin", "4").out), "exit code and stdout\n%s\n" % run)
        said = listener.said()
        check_equal(listener.process.returncode, 0, "status of hprof listen: %s" % said)
        check("a peer that does not know the secret was turned away" in said, said)
    with open(listener.path, "rb") as file:
        check_equal(len(parse_binary(file.read()).samples), 1, "CPU SAMPLES records")


def answers(*lines):
    """A peer that says these lines, whatever it hears, and keeps what comes."""
    def serve(peer, connection):
        connection.sendall(b"".join(lines))
        read_all(peer, connection)
    return serve


@vm_test(units=UNITS)
def a_peer_without_the_secret_gets_one_line(vm):
    secret = secret_file(vm)
    spoken = b"AUTH " + b"0" * 64 + b" " + b"1" * 64 + b"\n"  # as of another conversation
    for serve in (read_all, answers(spoken), answers(b"x" * 100000), garbage, vanish):
        with Peer(serve) as peer:
            options_ = "cpu=samples,format=b,net-timeout=1,secret-file=%s,net=127.0.0.1:%d" % (secret, peer.port)
            run = vm.run_java(vm.agent_option(options_), "Spin", "2")
            check_equal((run.code, run.out), (0, vm.truth("Spin", "2").out), "exit code and stdout\n%s\n" % run)
            data = peer.finish()
        check("JAVA PROFILE" not in run.err and b"JAVA PROFILE" not in data, "the profile was sent")
        check(not data or (data.startswith(b"HPROF-NET 1 ") and data.count(b"\n") == 1), "more than a greeting: %r" % data[:300])


@vm_test(units=UNITS, needs=("file modes",))
def a_secret_that_is_none_is_refused_before_start(vm):
    options_ = "cpu=samples,net=127.0.0.1:%d,secret-file=%%s" % closed_port()
    check("chmod 600" in vm.refused(options_ % secret_file(vm, mode=0o644)), "others can read the secret")
    check("16 bytes" in vm.refused(options_ % secret_file(vm, text=b"short\n")), "the secret can be guessed")
    check("secret-file" in vm.refused(options_ % vm.path("nowhere")), "the secret is not there")
