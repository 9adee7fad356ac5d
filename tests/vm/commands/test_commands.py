"""Commands of net=: the table of the original, and peers that mean no good."""
import random
import struct
import time

from commands import EOF, Controller, binary, control
from harness import check, check_equal, vm_test
from reports import parse_binary
from tool import sound

UNITS = ("cpu_samples", "encoder_ascii", "encoder_binary", "sink_socket")


def session(vm, controller, extra="", program="Idle"):
    live = vm.start("format=b,net=127.0.0.1:%d,cpu=samples%s" % (controller.port, extra), program)
    controller.accept()
    return live


def finish(controller, live):
    """The program ends by itself, and the stream is whole."""
    run = live.ended_well()
    return parse_binary(controller.read_rest())


@vm_test(units=UNITS, quick=True)
def session_loaded_idle_is_driven_by_a_second_process(vm):
    with Controller() as peer:
        live = session(vm, peer, ",start=n")
        peer.send(control(1, 3, struct.pack(">Q", 0)))  # CPU sampling on, all threads
        peer.answered(1)
        peer.send(binary(0x07, 2, struct.pack(">Hf", 0, 0.0)))
        peer.answered(2)
        peer.send(binary(0x04, 3))  # heap summary
        peer.answered(3)
        peer.send(control(4, 7, struct.pack(">H", 20)))  # depth, as the original has it
        peer.answered(4)
        peer.send(binary(0x01, 5) + binary(0x06, 6))  # GC, traces
        peer.answered(6)
        peer.send(control(7, 4))  # off
        peer.answered(7)
        peer.send(binary(EOF, 8))
        peer.answered(8)
        report = finish(peer, live)
    check(len(report.samples) >= 2, "CPU SAMPLES: by command and at exit")
    summaries = report.named("HEAP SUMMARY")
    check_equal(len(summaries), 1, "HEAP SUMMARY records")
    live_bytes, live_objects = struct.unpack(">II", summaries[0][:8])
    check(live_bytes > 100000 and live_objects > 1000, "the heap has %d bytes, %d objects" % (live_bytes, live_objects))


@vm_test(units=UNITS + ("heap_dump", "heap_sites"), since=21)
def every_command_works_under_ten_thousand_virtual_threads(vm):
    table = struct.pack(">Hf", 0, 0.0)
    commands = [control(1, 4), control(2, 3, struct.pack(">Q", 0)), control(3, 2), control(4, 1), binary(0x01, 5),
                binary(0x04, 6), binary(0x03, 7, struct.pack(">Hf", 4, 0.0)), binary(0x07, 8, table), binary(0x02, 9),
                control(10, 7, struct.pack(">H", 9)), binary(0x06, 11), control(12, 5), control(13, 6),
                binary(0x07, 14, table)]
    with Controller() as peer:
        live = session(vm, peer, ",interval=1,heap=all", program="VirtualIdle")
        for serial, command in enumerate(commands, 1):
            peer.send(command)
            peer.answered(serial)
        report = finish(peer, live)
        with open(vm.path("net.hprof"), "wb") as file:
            file.write(peer.received)
    sound(vm, "net.hprof")
    names = {report.frame_text(frame) for _, frames in report.traces.values() for frame in frames}
    check(any("VirtualIdle.work" in name for name in names), "no trace of the virtual threads")


@vm_test(units=UNITS)
def every_form_of_control_is_understood(vm):
    with Controller() as peer:
        live = session(vm, peer)
        peer.send(control(1, 6, struct.pack(">H", 7)))  # depth, as the manual has it
        peer.answered(1)
        peer.send(control(2, 5))  # clear CPU samples
        peer.answered(2)
        peer.send(control(3, 6))  # clear sites: none were chosen
        peer.answered(3, good=False)
        peer.send(control(4, 1))
        peer.answered(4, good=False)
        peer.send(control(5, 4, struct.pack(">I", 0)) + control(6, 3, struct.pack(">Q", 0)) + control(7, 3))
        for serial in (5, 6, 7):
            peer.answered(serial)
        peer.send(control(8, 3, struct.pack(">Q", 0x7fffffff)))  # no such thread
        peer.answered(8, good=False)
        finish(peer, live)


@vm_test(units=UNITS)
def sampling_can_be_on_for_one_thread_alone(vm):
    with Controller() as peer:
        live = session(vm, peer, ",thread=y")
        peer.wait_for(b"busy")
        # The START THREAD record of the busy thread names its object.
        peer.send(binary(0x07, 1))
        peer.answered(1)
        so_far = parse_binary(peer.received)
        busy = [(serial, thread[0]) for serial, thread in so_far.threads.items() if so_far.strings[thread[2]] == b"busy"]
        check_equal(len(busy), 1, "threads called busy")
        peer.send(control(2, 4) + control(3, 3, struct.pack(">Q", busy[0][1])))
        peer.answered(3)
        peer.send(control(4, 5))
        peer.answered(4)
        for serial in range(5, 100):
            time.sleep(0.1)
            peer.send(binary(0x07, serial, struct.pack(">Hf", 0, 0.0)))
            peer.answered(serial)
            if len(parse_binary(peer.received).samples[-1][1]) > 0 and b"no_samples" not in peer.received[-4000:]:
                break
        report = finish(peer, live)
    check(any(rows for _, rows in report.samples[1:]), "no samples at all")
    for _, rows in report.samples[1:]:
        for _, trace in rows:
            thread, frames = report.traces[trace]
            names = [report.frame_text(frame) for frame in frames]
            check(names == ["JVM.no_samples"] or thread == busy[0][0], "another thread was sampled: %d, %s" % (thread, names))


@vm_test(units=UNITS)
def commands_come_one_byte_at_a_time(vm):
    with Controller() as peer:
        live = session(vm, peer)
        peer.send(binary(0x07, 1, struct.pack(">Hf", 0, 0.5)) + control(2, 7, struct.pack(">H", 9)), piece=1)
        peer.answered(1)
        peer.answered(2)
        check(len(finish(peer, live).samples) == 2, "CPU SAMPLES: by command and at exit")


@vm_test(units=UNITS)
def unknown_and_malformed_commands_are_skipped_by_their_length(vm):
    with Controller() as peer:
        live = session(vm, peer)
        peer.send(binary(0x77, 1, b"x" * 70000) + binary(0x03, 2, b"abc") + control(3, 99) + binary(0x02, 4, b"y" * 100))
        peer.send(binary(0x07, 5))
        peer.answered(5)
        for serial in (1, 2, 3, 4):
            peer.answered(serial, good=False)
        check(len(finish(peer, live).samples) == 2, "CPU SAMPLES: by command and at exit")


@vm_test(units=UNITS)
def exit_needs_the_option(vm):
    with Controller() as peer:
        live = session(vm, peer)
        peer.send(binary(0x05, 1))
        peer.answered(1, good=False)
        finish(peer, live)


@vm_test(units=UNITS)
def exit_by_command_runs_to_a_whole_report(vm):
    with Controller() as peer:
        live = session(vm, peer, ",allow=exit")
        peer.send(binary(0x05, 1))
        report = parse_binary(peer.read_rest())
        live.process.wait(100)
        check_equal(live.process.returncode, 0, "exit code\n%s\n" % live.state())
        check("ended" not in live.out(), "the program ended by itself")
    check_equal(len(report.samples), 1, "CPU SAMPLES records")


@vm_test(units=UNITS)
def hostile_peers_do_no_harm(vm):
    generator = random.Random(4711)
    noise = bytes(generator.getrandbits(8) for _ in range(200000))
    tricks = {
        "random bytes": noise,
        "the longest length": binary(0x02, 1)[:5] + b"\xff\xff\xff\xff" + noise,
        "unknown and longest": b"\x42\x00\x00\x00\x01\xff\xff\xff\xff" + noise,
        "half a command": binary(0x08, 1, b"\x00\x03\x00")[:10],
        "nothing": b"",
        "many commands": b"".join(binary(tag, 1) for tag in (4, 6, 1) * 30),
    }
    for name, data in sorted(tricks.items()):
        for reads in (True, False):
            with Controller() as peer:
                live = session(vm, peer, ",interval=5")
                try:
                    peer.send(data)
                    if not reads:
                        peer.connection.setsockopt(1, 13, struct.pack("ii", 1, 0))  # SOL_SOCKET, SO_LINGER: a reset
                        peer.connection.close()
                except OSError:
                    pass
                if reads:
                    peer.connection.shutdown(1)
                run = live.finish()
                check_equal((run.code, run.out.endswith("ended\n")), (0, True), "%s\n%s\n" % (name, run))
