"""Units that do something wrong while they run (tests/plugins/abi/misbehaving_*.c): the program never notices. tests/plugins/wrong.py
has what is said of each."""
import os
import re
import shutil
import sys

from commands import load_agent
from harness import ROOT, Skip, check, check_equal, vm_test
from peers import Peer, stall, trickle
from reports import parse_ascii

sys.path.append(os.path.join(ROOT, "tests", "plugins"))
from wrong import MODULES, REFUSALS, UNITS as FAULTS  # noqa: E402

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


def options(vm, text):
    """Agent options with the folder of the module, a copy that the JDK can see."""
    if not os.path.isdir(vm.plugin_dir):
        raise Skip("this build has no loadable modules")
    folder = vm.path("plugins")
    if not os.path.isdir(folder):
        os.makedirs(folder)
        for name in ("misbehaving_life.so", "misbehaving_reports.so", "misbehaving_writers.so", "throwing.so"):
            shutil.copy(os.path.join(vm.tree, "tests", "plugins", "abi", "misbehaving", name), folder)
    return "plugins=%s,%s" % (folder, text)


def said(run, text):
    err = run.err() if callable(run.err) else run.err
    lines = [line for line in err.splitlines() if text in line]
    check_equal(len(lines), 1, "lines with %r\n%s\n" % (text, err))
    return lines[0]


def said_of(run, unit):
    return said(run, "plugin %s: %s" % (unit, FAULTS[unit].agent))


def has_checks(vm):
    """Is it a build with the checks of the preset debug?"""
    with open(os.path.join(vm.tree, "CMakeCache.txt")) as cache:
        return "HPROF_CHECKS:BOOL=ON\n" in cache.read()


@vm_test(units=UNITS)
def right_unit_of_the_same_source_is_heard(vm):
    run = vm.profiled(options(vm, "plugin=good,file=out.txt"), "Quick", "3")
    check("a note of the misbehaving plugin" in run.text("out.txt"), "no note\n%s" % run)
    check_equal(run.errors(), [], "complaints")


@vm_test(units=UNITS)
def report_that_never_returns_does_not_keep_the_vm(vm):
    for program in (("Quick", "3"), ("Spin", "2")):  # System.exit, and the end of main
        run = vm.profiled(options(vm, "plugin=stuck_report,exit-timeout=2,file=out.txt"), *program)
        said(run, "exit-timeout=2 is over: " + FAULTS["stuck_report"].agent)


@vm_test(units=UNITS)
def report_asked_for_before_the_end_does_not_keep_the_vm(vm):
    live = vm.start(options(vm, "plugin=stuck_report,exit-timeout=2,file=out.txt"), "Idle")
    live.request_data_dump()
    live.wait_until(lambda: "Dumping stuck_report" in live.err(), "the report")
    run = live.ended_well()
    said(run, FAULTS["stuck_report"].agent)


@vm_test(units=UNITS)
def sink_that_never_returns_does_not_keep_the_vm(vm):
    for sink in ("stuck_write", "stuck_close"):
        run = vm.profiled(options(vm, "cpu=samples,plugin=%s,exit-timeout=2" % sink), "Spin", "2")
        said(run, "exit-timeout=2 is over: " + FAULTS[sink].agent)


# Before it tells of its end, JDK 27 waits for all callbacks to return.
@vm_test(units=UNITS, until=26)
def slow_callback_is_left_alone(vm):
    live = vm.start(options(vm, "plugin=slow_callback,exit-timeout=2,file=out.txt"), "DaemonAtEnd")
    live.wait_until(lambda: "a slow callback begins" in live.err(), "the callback")
    run = live.ended_well()
    said_of(run, "slow_callback")
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS)
def detach_gives_a_stuck_unit_up(vm):
    live = vm.start(options(vm, "plugin=stuck_report,exit-timeout=2,file=out.txt"), "Idle")
    load_agent(live.pid, vm.agent, "command=detach")
    said(live, FAULTS["stuck_report"].agent)
    said(live, "an agent thread did not stop")
    run = live.ended_well()


@vm_test(units=UNITS)
def stalled_disk_does_not_keep_the_vm(vm):
    """A FIFO whose reader is there and reads nothing, full before the report."""
    os.mkfifo(vm.path("fifo"))
    reader = os.open(vm.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
    try:
        writer = os.open(vm.path("fifo"), os.O_WRONLY | os.O_NONBLOCK)
        for size in (4096, 1):
            try:
                while True:
                    os.write(writer, b"x" * size)
            except BlockingIOError:
                pass
        run = vm.profiled("cpu=samples,exit-timeout=3,file=fifo", "Spin", "2")
        os.close(writer)
    finally:
        os.close(reader)
    said(run, "fifo: it takes no more data")


@vm_test(units=("cpu_samples", "heap_dump", "encoder_binary", "sink_socket"))
def stalled_peer_does_not_keep_the_vm(vm):
    with Peer(stall) as peer:
        options_ = "heap=dump,format=b,exit-timeout=3,net=127.0.0.1:%d" % peer.port
        run = vm.profiled(options_, "BigHeap", "0.05")
    check("takes no more data" in run.err or "exit-timeout=3 is over" in run.err, "nothing is said\n%s" % run)


@vm_test(units=("heap_dump", "encoder_binary", "sink_socket"))
def a_peer_that_trickles_does_not_keep_the_vm_stopped(vm):
    """It takes something now and then, so that the dump would take an hour."""
    for engine in ("jvmti", "vm") if vm.version >= 11 else ("jvmti",):
        with Peer(trickle) as peer:
            options_ = "heap=dump,format=b,dump=%s,dump-stall=2,net=127.0.0.1:%d" % (engine, peer.port)
            run = vm.profiled(options_, "BigHeap", "0.05")
        said(run, "it is too slow for a heap dump")


@vm_test(units=UNITS)
def unit_that_fails_in_create_is_left_out_with_its_words(vm):
    run = vm.profiled(options(vm, "cpu=samples,plugin=fails_in_create,file=out.txt"), "Spin", "2")
    said(run, FAULTS["fails_in_create"].agent)
    parse_ascii(run.text("out.txt")).cpu()
    run = vm.run_java(vm.agent_option(options(vm, "plugin=fails_in_create")), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    check("the licence?has expired" in run.err, "without its words\n%s" % run)


@vm_test(units=UNITS)
def create_and_open_that_never_return_do_not_hold_the_start(vm):
    for selected, unit in (("plugin=stuck_create", "stuck_create"), ("cpu=samples,plugin=stuck_open", "stuck_open")):
        run = vm.run_java(vm.agent_option(options(vm, selected + ",start-timeout=1")), "Quick")
        check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
        said(run, "HPROF ERROR: start-timeout=1 is over: " + FAULTS[unit].agent)


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def encoder_with_an_unknown_status_fails_its_output(vm):
    run = vm.profiled(options(vm, "cpu=samples,plugin=wrong_status,file=out.none"), "Spin", "2")
    said_of(run, "wrong_status")
    said(run, "out.none: the encoder failed; the rest of the profile is lost")


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def filter_without_memory_says_so(vm):
    run = vm.profiled(options(vm, "cpu=samples,plugin=no_memory,file=out.txt"), "Spin", "2")
    said(run, "out.txt: %s; the rest of the profile is lost" % FAULTS["no_memory"].agent)


# Collectors that do not end, stop or crash the process: all in one VM. Each writes its note but for those in NOTELESS.
TOGETHER = ("good", "foreign_kind", "short_record", "no_schema", "unknown_trace", "unordered_events", "timeless_events",
            "early", "loud", "no_status", "leaks", "gc_memory", "exact_size", "no_counter", "odd_column", "no_number", "unranked",
            "undeclared", "no_column_name", "no_title", "narrow_rows", "absent_rows", "many_columns", "zero_schema", "no_such_order", "absent_note", "absent_threads",
            "long_text", "minus_one", "in_handler", "gc_message", "keeps_thread", "body_less", "wrong_thread", "sleepy",
            "writes_behind_block", "writes_behind_error")
NOTELESS = ("no_status",)
# What the preset debug says of them needs a detach, or a collection.
NOT_HERE = ("leaks", "gc_message")


AT_ONCE = 7  # of the 8 collectors of a run


@vm_test(units=UNITS)
def wrong_collectors_beside_right_ones_are_named_and_left_to_themselves(vm):
    for at in range(0, len(TOGETHER), AT_ONCE):
        units = TOGETHER[at:at + AT_ONCE]
        run = vm.profiled(options(vm, "plugin=%s,cpu=samples,file=out.txt,force=y" % "+".join(units)), "Spin", "2")
        for unit in units:
            fault = FAULTS.get(unit)
            lines = [line for line in run.err.splitlines() if "HPROF: plugin %s: " % unit in line]
            wanted = fault and [fault.agent, has_checks(vm) and unit not in NOT_HERE and fault.debug]
            for text in filter(None, wanted or []):
                check(any(text in line for line in lines), "of %s it is not said that %s\n%s" % (unit, text, run))
            if not has_checks(vm):
                check_equal(len(lines), 1 if fault and fault.agent else 0, "complaints of %s\n%s\n" % (unit, run))
        if "loud" in units:
            said(run, "HPROF: one line?HPROF ERROR: forged ?[31m")
        check_equal(run.errors(), [], "forged errors")
        notes = run.text("out.txt").count("a note of the misbehaving plugin")
        check_equal(notes, len(set(units) - set(NOTELESS)), "notes\n%s\n" % run)
        check("CPU SAMPLES END" in run.text("out.txt"), "the other collector's table is missing\n%s" % run)


@vm_test(units=UNITS)
def refused_modules_are_named_with_the_reason(vm):
    folder = vm.path("wrong")
    shutil.copytree(os.path.join(vm.tree, "tests", "plugins", "abi", "plugins"), folder)
    run = vm.run_java(vm.agent_option("plugins=%s,plugin=%s" % (folder, "+".join(MODULES))), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    for name, words in MODULES.items():
        check(REFUSALS.get(name, words) in said(run, "plugin %s (" % name), "of %s something else is said\n%s" % (name, run))


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def wrong_writers_end_their_output_alone(vm):
    for unit in ("moves_back", "encodes_minus", "passes_nothing"):
        run = vm.profiled(options(vm, "cpu=samples,plugin=%s,file=out.txt" % unit), "Spin", "2")
        said_of(run, unit)
        said(run, "the rest of the profile is lost")
    for unit in ("fails_later", "fails_silently"):
        run = vm.profiled(options(vm, "cpu=samples,plugin=%s" % unit), "Spin", "2")
        said(run, FAULTS[unit].agent)
    for unit in ("deaf_encoder", "closes_77", "filters_77"):
        vm.profiled(options(vm, "cpu=samples,plugin=%s" % unit), "Spin", "2")
    run = vm.profiled(options(vm, "cpu=samples,plugin=grows_for_ever,exit-timeout=2,file=out.txt"), "Spin", "2")
    said(run, "exit-timeout=2 is over: " + FAULTS["grows_for_ever"].agent)
    run = vm.profiled(options(vm, "cpu=samples,plugin=takes_nothing,exit-timeout=3"), "Spin", "2")
    said(run, "it takes no more data")


@vm_test(units=("cpu_samples",))
def what_a_format_has_no_place_for_is_counted(vm):
    run = vm.profiled(options(vm, "cpu=samples,plugin=refuses_all+good,file=out.none"), "Spin", "2")
    check("Dumping CPU time by call stack" in run.err and "failed" not in run.err, "a report broke off\n%s" % run)
    count = re.search(r"lost (\d+) records: the output format cannot express them \(format=\)", run.err)
    check(count is not None and int(count.group(1)) >= 1, "it is not counted\n%s" % run)
    check_equal(run.text("out.none"), "", "output")


@vm_test(units=("cpu_samples", "sink_file"))
def encoder_that_writes_behind_its_buffer_is_stopped(vm):
    for encoder in ("writes_behind", "moves_behind"):
        run = vm.profiled(options(vm, "cpu=samples,plugin=%s,file=out.txt" % encoder), "Spin", "2")
        said_of(run, encoder)
        said(run, "the encoder wrote outside of its buffer")


@vm_test(units=("cpu_samples", "encoder_ascii"))
def sink_that_cannot_count_is_stopped(vm):
    run = vm.profiled(options(vm, "cpu=samples,plugin=wrong_count"), "Spin", "2")
    said_of(run, "wrong_count")


@vm_test(units=UNITS)
def preset_debug_counts_memory_of_units(vm):
    live = vm.start(options(vm, "plugin=leaks,file=out.txt"), "Idle")
    load_agent(live.pid, vm.agent, "command=detach")
    run = live.finish()
    if has_checks(vm):
        said(run, "plugin leaks: " + FAULTS["leaks"].debug)
    else:
        check("plugin leaks: " not in run.err, "a build without checks complains\n%s" % run)


@vm_test(units=UNITS)
def exceptions_end_in_the_unit(vm):
    """What a collector of hprof/cpp throws; one that is thrown out of a plugin ends the process (docs/abi.md)."""
    run = vm.profiled(options(vm, "cpu=samples,plugin=throwing,file=out.txt"), "Spin", "2")
    words = "a unit threw an exception; its call failed"
    check_equal(run.err.count(words), 2, "lines with %r\n%s\n" % (words, run))
    check("Dumping throwing ..." in run.err and "\n failed.\n" in run.err, "its report did not fail\n%s" % run)
    parse_ascii(run.text("out.txt")).cpu()
