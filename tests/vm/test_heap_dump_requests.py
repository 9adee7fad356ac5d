"""heap=dump on request while cpu=samples runs: whatever asks, whatever engine, `hprof check` finds no error."""
import os
import signal
import subprocess

import dumps
from commands import Controller, binary, must
from harness import TIMEOUT, check_equal, clean_environment, vm_test

UNITS = ("heap_dump", "cpu_samples", "encoder_binary", "sink_file")
NET_UNITS = UNITS + ("sink_socket",)
ENGINES = ("vm", "jvmti")
DUMP_HEAP = 0x02


def sound(vm, name, *options):
    program = os.path.join(vm.tree, "bin", "hprof")
    run = subprocess.run([program, "check", *options, vm.path(name)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=TIMEOUT, env=clean_environment(None))
    check_equal(run.returncode, 0, "hprof check %s\n%s\n" % (name, run.stdout.decode(errors="replace")))


def engines(vm):
    return ENGINES if vm.version >= 11 else ("jvmti",)


def start(vm, engine, options):
    return vm.start("cpu=samples,interval=1,heap=dump,format=b,dump=%s,%s" % (engine, options), "HeapShapes", "mark",
                    "wait")


@vm_test(units=NET_UNITS)
def dumps_over_a_socket_are_sound(vm):
    for engine in engines(vm):
        with Controller() as peer:
            live = start(vm, engine, "net=127.0.0.1:%d" % peer.port)
            peer.accept()
            for serial in (1, 2):
                peer.send(binary(DUMP_HEAP, serial))
                peer.answered(serial)
            live.process.stdin.close()
            with open(vm.path(engine + ".hprof"), "wb") as file:
                file.write(peer.read_rest())
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        sound(vm, engine + ".hprof")
        check_equal(dumps.count_ends(open(vm.path(engine + ".hprof"), "rb").read()), 3, "dumps with " + engine)


@vm_test(units=UNITS)
def dumps_by_the_control_socket_are_sound(vm):
    for engine in engines(vm):
        live = start(vm, engine, "doe=n,control=ctl,file=%s.hprof" % engine)
        must(vm.path("ctl"), "dump heap", "dump heap")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        sound(vm, engine + ".hprof")
        sound(vm, engine + ".hprof.2")


@vm_test(units=UNITS)
def dumps_at_a_data_dump_request_and_at_exit_are_sound(vm):
    for engine in engines(vm):
        live = start(vm, engine, "file=%s.hprof" % engine)
        live.signal(signal.SIGQUIT)
        live.wait_until(lambda: live.err().count("done.") == 2, "table and dump")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        sound(vm, engine + ".hprof")
        sound(vm, engine + ".hprof.2")
