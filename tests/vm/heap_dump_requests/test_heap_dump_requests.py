"""heap=dump on request while cpu=samples runs: whatever asks, whatever engine, `hprof check` finds no error."""
import gzip
import os
import subprocess
import threading
import zlib

import dumps
from commands import Controller, EOF, ask, binary, load_agent, loaded, must
from harness import TIMEOUT, check, check_equal, clean_environment, vm_test

UNITS = ("heap_dump", "cpu_samples", "encoder_binary", "sink_file")
NET_UNITS = UNITS + ("sink_socket",)
ENGINES = {"vm": "dump=vm", "jvmti": "dump=jvmti", "tags": "dump=jvmti,hotspot=-object-addresses"}  # and names of files
DUMP_HEAP = 0x02


def sound(vm, name, *options):
    program = os.path.join(vm.tree, "bin", "hprof")
    run = subprocess.run([program, "check", *options, vm.path(name)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=TIMEOUT, env=clean_environment(None))
    check_equal(run.returncode, 0, "hprof check %s\n%s\n" % (name, run.stdout.decode(errors="replace")))


def engines(vm):
    return [engine for engine in ENGINES if vm.version >= 11 or engine != "vm"]


def start(vm, engine, options):
    return vm.start("cpu=samples,interval=1,heap=dump,format=b,%s,%s" % (ENGINES[engine], options), "HeapShapes", "mark",
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


def ends(vm, name):
    return dumps.count_ends(open(vm.path(name), "rb").read())


@vm_test(units=NET_UNITS)
def who_has_a_dump_and_leaves_gets_no_second_one(vm):
    for options, commands in (("", ["dump heap"]), ("start=n,", ["dump heap"]), ("", ["report", "stop"])):
        live = vm.start("heap=dump,format=b,%scontrol=ctl,file=out.hprof" % options, "Idle")
        must(vm.path("ctl"), *commands, "detach")
        check_equal(live.finish().code, 0, "exit code")
        check_equal((ends(vm, "out.hprof"), os.path.exists(vm.path("out.hprof.2"))), (1, False), "dumps with %s" % options)
    live = vm.start("heap=dump,format=b,control=ctl,file=two.hprof", "Idle")
    must(vm.path("ctl"), "dump heap", "stop", "start", "detach")
    check_equal(live.finish().code, 0, "exit code")
    check_equal((ends(vm, "two.hprof"), ends(vm, "two.hprof.2")), (1, 1), "dumps when it was started again")
    with Controller() as peer:
        live = vm.start("heap=dump,format=b,net=127.0.0.1:%d" % peer.port, "Idle")
        peer.accept()
        peer.send(binary(DUMP_HEAP, 1) + binary(EOF, 2))
        peer.answered(2)
        live.process.stdin.close()
        with open(vm.path("net.hprof"), "wb") as file:
            file.write(peer.read_rest())
    check_equal(live.finish().code, 0, "exit code")
    check_equal(ends(vm, "net.hprof"), 1, "dumps of a stream after eof")


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
def folder_that_is_away_for_a_moment_costs_one_dump(vm):
    os.mkdir(vm.path("folder"))
    live = start(vm, "jvmti", "doe=n,control=ctl,file=folder/out.hprof")
    must(vm.path("ctl"), "dump heap")
    os.rename(vm.path("folder"), vm.path("away"))
    good, text, _ = ask(vm.path("ctl"), "dump heap")
    check(not good, "a dump into a folder that is not there: %s" % text)
    os.rename(vm.path("away"), vm.path("folder"))
    must(vm.path("ctl"), "dump heap", "status")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    sound(vm, "folder/out.hprof")
    sound(vm, "folder/out.hprof.2")


@vm_test(units=UNITS)
def dumps_by_attach_do_not_wait_for_the_attach_thread(vm):
    """The VM's own dumper is asked by an attach request, too: while one waits for the dump another would be in vain."""
    for engine in engines(vm):
        live = start(vm, engine, "doe=n,file=%s.hprof" % engine)
        check(loaded(load_agent(live.pid, vm.agent, "command=dump heap")), "the dump was refused\n%s" % live.state())
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        sound(vm, engine + ".hprof")


@vm_test(units=UNITS)
def detach_by_attach_with_a_dump_due_ends_soon(vm):
    for engine in engines(vm):
        live = start(vm, engine, "file=%s.hprof" % engine)
        check(loaded(load_agent(live.pid, vm.agent, "command=detach")), "detach was refused\n%s" % live.state())
        sound(vm, engine + ".hprof")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)


@vm_test(units=UNITS)
def commands_by_attach_amid_dumps_are_answered(vm):
    """One may be on its way to the VM when the dump of another asks the VM."""
    live = start(vm, "vm" if vm.version >= 11 else "jvmti", "doe=n,control=ctl,file=out.hprof")
    answered, dumps = threading.Event(), []

    def dump():
        while not answered.is_set() or len(dumps) < 2:
            dumps.append(must(vm.path("ctl"), "dump heap"))

    dumping = threading.Thread(target=dump)
    dumping.start()
    try:
        for _ in range(6):
            check(loaded(load_agent(live.pid, vm.agent, "command=status")), "status was refused\n%s" % live.state())
            check(dumping.is_alive(), "dumps have failed\n%s" % live.state())
    finally:
        answered.set()
        dumping.join()
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    for number in range(len(dumps)):
        sound(vm, "out.hprof" + (".%d" % (number + 1) if number else ""))


@vm_test(units=UNITS)
def dumps_at_a_data_dump_request_and_at_exit_are_sound(vm):
    for engine in engines(vm):
        live = start(vm, engine, "file=%s.hprof" % engine)
        live.request_data_dump()
        live.wait_until(lambda: live.err().count("done.") == 2, "table and dump")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        sound(vm, engine + ".hprof")
        sound(vm, engine + ".hprof.2")


def crowd(vm, engine, requests, *arguments):
    live = vm.start("heap=dump,format=b,doe=n,%s,file=%s.hprof" % (ENGINES[engine], engine), "HeapCrowd", *arguments)
    for number in range(requests):
        live.request_data_dump()
        live.wait_until(lambda: live.err().count("done.") == number + 1, "dump %d" % (number + 1))
    run = live.finish()
    check_equal((run.code, run.errors()), (0, []), "exit code and messages\n%s\n" % run)
    return dumps.read(open(vm.path(engine + ".hprof"), "rb").read())


@vm_test(units=UNITS)
def threads_may_end_during_dumps(vm):
    for engine in engines(vm):
        heap = crowd(vm, engine, 5, "dying", "200")
        for number in ("", ".2", ".3", ".4", ".5"):
            sound(vm, engine + ".hprof" + number)
        check_equal(heap.dangling(), [], "references to nothing")


@vm_test(units=UNITS, since=21)
def ten_thousand_virtual_threads_are_dumped(vm):
    for engine in engines(vm):
        heap = crowd(vm, engine, 1, "virtual", "10000")
        sound(vm, engine + ".hprof")
        counts = heap.counts()
        check(counts["java.lang.VirtualThread"] >= 10000, "%d virtual threads" % counts["java.lang.VirtualThread"])
        check(counts["HeapCrowd$Mark"] >= 10001, "%d of what is on their stacks" % counts["HeapCrowd$Mark"])


@vm_test(units=UNITS + ("filter_gzip",))
def compressed_dumps_are_whole_and_in_members_of_1_mib(vm):
    run = vm.profiled("heap=dump,format=b,compress=gzip,file=out.hprof.gz", "HeapShapes", "mark")
    check_equal(run.errors(), [], "messages")
    sound(vm, "out.hprof.gz")
    data = run.bytes("out.hprof.gz")
    check(data[3] == 0x10 and data[10:].startswith(b"HPROF BLOCKSIZE=1048576\0"), "no comment: %r" % data[:40])
    sizes = []
    while data:
        member = zlib.decompressobj(31)
        sizes.append(len(member.decompress(data)))
        check(member.eof, "a member that does not end")
        data = member.unused_data
    check(len(sizes) > 2 and set(sizes[:-1]) == {1 << 20}, "members of %s bytes" % sizes)
    heap = dumps.read(gzip.decompress(run.bytes("out.hprof.gz")))
    check_equal(heap.dangling(), [], "references to nothing")


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file", "filter_gzip"))
def compressed_text_is_whole(vm):
    run = vm.profiled("cpu=samples,compress=gzip:9,file=out.txt.gz", "Spin", "4")
    text = gzip.decompress(run.bytes("out.txt.gz")).decode()
    check("CPU SAMPLES BEGIN" in text and "CPU SAMPLES END\n" in text, text[-300:])


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file", "filter_gzip"))
def other_compressions_are_refused(vm):
    for value in ("zip", "gzip:0", "gzip:10", ""):
        check("compress" in vm.refused("cpu=samples,file=out.txt,compress=" + value), value)
