"""net=host:port. Whatever the peer does, the program does not notice."""
from harness import check, check_equal, vm_test
from peers import Peer, closed_port, garbage, read_all, stall, vanish
from reports import parse_ascii, parse_binary

UNITS = ("cpu_samples", "encoder_ascii", "encoder_binary", "sink_socket")


def options(peer, extra=""):
    return "cpu=samples,net=127.0.0.1:%d%s" % (peer.port, extra)


@vm_test(units=UNITS)
def binary_report_arrives(vm):
    with Peer(read_all) as peer:
        run = vm.run_java(vm.agent_option(options(peer, ",format=b")), "Spin", "4")
        check_equal((run.code, run.out), (0, vm.plain("Spin", "4").out), "exit code and stdout\n%s\n" % run)
        check_equal(len(parse_binary(peer.finish()).samples), 1, "CPU SAMPLES records")


@vm_test(units=UNITS)
def ascii_report_arrives(vm):
    with Peer(read_all) as peer:
        run = vm.run_java(vm.agent_option(options(peer, ",format=a")), "Spin", "4")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        parse_ascii(peer.finish().decode()).cpu()


@vm_test(units=UNITS)
def nobody_listening_is_refused_before_start(vm):
    line = vm.refused("cpu=samples,net=127.0.0.1:%d" % closed_port())
    check("127.0.0.1" in line, "the line does not name the peer: %s" % line)


def unharmed(vm, behaviour, extra):
    """Both ends of the range: a program that ends at once, and one that works in several threads."""
    for program in (("Quick", "5"), ("Spin", "4", "2")):
        with Peer(behaviour) as peer:
            run = vm.run_java(vm.agent_option(options(peer, extra)), *program)
            plain = vm.plain(*program)
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
