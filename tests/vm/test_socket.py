"""net=host:port. Whatever the peer does, the program does not notice."""
from commands import ask, must
from harness import check, check_equal, vm_test
from peers import Peer, closed_port, garbage, read_all, stall, vanish
from reports import parse_ascii, parse_binary

UNITS = ("cpu_samples", "encoder_ascii", "encoder_binary", "sink_socket")


def options(peer, extra=""):
    return "cpu=samples,net=127.0.0.1:%d%s" % (peer.port, extra)


@vm_test(units=UNITS, quick=True)
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
    line = vm.refused("cpu=samples,net-retry=n,net=127.0.0.1:%d" % closed_port())
    check("127.0.0.1" in line, "the line does not name the peer: %s" % line)


@vm_test(units=UNITS)
def listener_that_comes_later_gets_the_profile(vm):
    for form in ("a", "b"):
        port = closed_port()
        live = vm.start("cpu=samples,format=%s,net=127.0.0.1:%d" % (form, port), "Idle")
        check("tried again while the program runs; net-retry=n refuses to start" in live.err(), live.err())
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
    live.wait_until(lambda: not ask(vm.path("ctl"), "report")[0] or "lost the connection" in live.err(), "the loss")
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
