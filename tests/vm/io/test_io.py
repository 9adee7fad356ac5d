"""io=y: calls and bytes equal to what the program knows, and to what the system counts for its thread; times within those that the program
measures around the calls, and at least as long as it saw a thread wait."""
import re

from commands import check_conditions, load_agent, loaded
from harness import check, check_equal, vm_test
from pictures import Otlp
from reports import json_tables, parse_ascii

UNITS = ("bytecode", "io_calls", "encoder_ascii", "encoder_json", "sink_file")
OUTPUT = "io=y,format=json,file=out.json,depth=16,cutoff=0"


class Sums:
    def __init__(self):
        self.calls = self.bytes = self.time = self.failed = 0
        self.methods = set()  # the innermost of the program


def measured(text, last=False):
    """{(operation, target): Sums} of all reports, or of the last one."""
    found = {}
    tables = json_tables(text, "hprof.io_calls/1")
    for _, rows in tables[-1:] if last else tables:
        for row in rows:
            sums = found.setdefault((row["operation"], row["target"]), Sums())
            sums.calls += row["calls"]
            sums.bytes += row["bytes"]
            sums.time += row["time"]
            sums.failed += row["failed"]
            sums.methods |= {next((frame for frame in row["stack"] if frame.startswith("Io.")), None)}
    return found


def known(run):
    """{(operation, target): (calls, bytes, nanoseconds, waited)} as the program says."""
    lines = re.findall(r"^io;(.*);(.*);(-?\d+);(\d+);(\d+);(\d+)$", run.out, re.M)
    check(lines, "the program knows nothing\n%s" % run)
    return {(operation, target): tuple(map(int, numbers)) for operation, target, *numbers in lines}


def compare(run, found):
    for key, (calls, size, nanoseconds, waited) in known(run).items():
        sums = found.get(key, Sums())
        check_equal((key, sums.bytes), (key, size), "bytes\n%s\n" % run)
        if calls >= 0:
            check_equal((key, sums.calls), (key, calls), "calls\n%s\n" % run)
        check(waited <= sums.time <= nanoseconds, "time of %s: %d, around it %d, waited %d\n%s" % (key, sums.time, nanoseconds, waited, run))


def profile(vm, *program, options="", java=()):
    run = vm.run_java(vm.agent_option(OUTPUT + options), *java, *program)
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s\n" % run)
    return run, measured(run.text("out.json"))


@vm_test(units=UNITS, quick=True)
def files_have_the_bytes_that_the_program_and_the_system_count(vm):
    run, found = profile(vm, "Io", "files")
    compare(run, found)
    of_program = {key: sums for key, sums in found.items() if key[1].endswith(".dat")}
    check_equal(sorted(of_program), sorted(known(run)), "files")
    check_equal({key: sums.failed for key, sums in of_program.items() if sums.failed}, {("file read", "stream.dat"): 1}, "failed calls")
    counted = re.search(r"^counted;(\d+);(\d+)$", run.out, re.M)
    if counted:
        for operation, by_system in zip(("file read", "file write"), counted.groups()):
            size = sum(sums.bytes for key, sums in of_program.items() if key[0] == operation)
            check_equal(size, 4 * int(by_system), "%s four times what the system counts once" % operation)
    check(all(None not in sums.methods for sums in of_program.values()), "a stack without the program")


@vm_test(units=UNITS)
def transfers_count_for_both_sides(vm):
    """They are a read of the source where the kernel makes them: other ones map it."""
    run, found = profile(vm, "Io", "transfers")
    compare(run, found)
    size = found.get(("file read", "source.dat"), Sums()).bytes
    check(size in (0, 1000, 100000, 101000, 200000, 201000), "bytes of the source: %d" % size)
    check(size >= 1000 or vm.jdk.version < 17, "nothing was read of the source\n%s" % run)


@vm_test(units=UNITS)
def sockets_have_their_peers_and_their_waits(vm):
    run, found = profile(vm, "Io", "sockets")
    compare(run, found)
    check(any(key[1] == "127.0.0.1:*" for key in found), "no peer is one of all that connected: %s" % sorted(found))


@vm_test(units=UNITS)
def tls_is_the_bytes_of_its_socket(vm):
    store = vm.path("store")
    code, said = vm.tool("keytool", "-genkeypair", "-alias", "io", "-keyalg", "RSA", "-dname", "CN=io", "-storetype", "PKCS12", "-keystore", store,
                         "-storepass", "changeit")
    check_equal(code, 0, "keytool\n%s\n" % said)
    run, found = profile(vm, "Io", "tls", store)
    compare(run, found)
    sizes = sorted(size for _, size, _, _ in known(run).values())
    check(len(sizes) == 4 and sizes[0] > 100000, "100,000 bytes each way are %s of the sockets\n%s" % (sizes, run))


@vm_test(units=UNITS, since=21)
def virtual_threads_wait_as_long(vm):
    compare(*profile(vm, "Io", "sockets", "virtual"))


@vm_test(units=UNITS)
def many_threads_lose_no_call(vm):
    compare(*profile(vm, "Io", "many", "8", "5000"))


@vm_test(units=UNITS, since=21)
def many_virtual_threads_lose_no_call(vm):
    compare(*profile(vm, "Io", "many", "50", "200", "virtual"))


@vm_test(units=UNITS)
def redacted_targets_are_numbers(vm):
    for level in ("basic", "full"):
        run, found = profile(vm, "Io", "files", options=",redact=" + level)
        check(found and all(re.fullmatch(r"#\d+", target) for _, target in found), "targets: %s" % sorted(found))
        sizes = {}
        for (operation, _), size in ((key, numbers[1]) for key, numbers in known(run).items()):
            sizes.setdefault(operation, []).append(size)
        for operation, wanted in sizes.items():
            got = [sums.bytes for key, sums in found.items() if key[0] == operation]
            check(set(wanted) <= set(got), "%s: bytes %s of %s" % (operation, got, wanted))
        check("stream.dat" not in run.text("out.json"), "a name with redact=" + level)


@vm_test(units=UNITS)
def attached_it_counts_from_then_on(vm):
    live = vm.start(None, "Io", "rounds", java=vm.attachable)
    live.next_round(1)
    check(loaded(load_agent(live.pid, vm.agent, OUTPUT)), "attach: %s" % live.state())
    for i in range(3):
        live.next_round(2 + i)
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    sums = measured(run.text("out.json"))["file write", "rounds.dat"]
    check_equal((sums.calls, sums.bytes), (3, 3000), "calls and bytes of three rounds\n%s\n" % run)


@vm_test(units=UNITS)
def a_table_of_text_has_the_targets(vm):
    run = vm.run_java(vm.agent_option("io=y,file=out.txt"), "Io", "files")
    rows = [cells for title, cells in parse_ascii(run.text("out.txt")).table_lines if title == "FILES_AND_SOCKETS"]
    check(any("stream.dat" in row.values() for row in rows), "rows: %s" % rows[:5])


@vm_test(units=UNITS)
def conditions_hold_between_reports_of_a_running_vm(vm):
    check_conditions(vm, "io=y", ("Io", "rounds"), {
        "calls(*rounds.dat)>+0": True, "calls(file?write?rounds.dat)>+1": False, "bytes(*rounds.dat)>+999": True,
        "bytes(file?write?rounds.dat)>+1000": False})


@vm_test(units=UNITS)
def each_call_is_an_event(vm):
    run, found = profile(vm, "Io", "files", options=",events=y")
    events = {}
    for _, rows in json_tables(run.text("out.json"), "hprof.io_call_events/1"):
        for row in rows:
            sums = events.setdefault((row["operation"], row["target"]), [0, 0, 0, 0])
            for i, number in enumerate((1, row["bytes"], row["time"], row["failed"])):
                sums[i] += number
    for key, (_, size, _, _) in known(run).items():
        sums = found[key]
        check_equal((key, *events.get(key, ())), (key, sums.calls, size, sums.time, sums.failed), "calls, bytes, time and failures of events\n%s\n" % run)


@vm_test(units=("bytecode", "io_calls", "encoder_otlp", "sink_file"))
def opentelemetry_has_the_calls_with_their_targets(vm):
    for form in ("otlp", "otlp,events=y"):
        run = vm.run_java(vm.agent_option("io=y,cutoff=0,format=%s,file=out" % form), "Io", "files")
        profiles = Otlp(run.bytes("out")).profiles
        for (operation, target), (calls, size, _, _) in known(run).items():
            sums = {name: sum(values[name] for _, values, attributes in profiles[name].stacks
                              if (attributes["operation"], attributes["target"]) == (operation, target)) for name in ("calls", "bytes")}
            check_equal((operation, target, sums), (operation, target, {"calls": calls, "bytes": size}), "%s\n%s\n" % (form, run))


@vm_test(units=UNITS)
def stacks_of_compiled_and_interpreted_frames_are_told_apart(vm):
    for java in ((), ("-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,StackIo.one")):
        run = vm.run_java(vm.agent_option(OUTPUT + ",logflags=1"), *java, "StackIo", "60000")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        check("walked stacks" not in run.err, "a walk was wrong\n%s" % run)
        calls = {}
        for row in json_tables(run.text("out.json"), "hprof.io_calls/1")[-1][1]:
            methods = [re.match(r"StackIo\.(zero|one)\b", frame).group(1) for frame in row["stack"] if re.match(r"StackIo\.(zero|one)\b", frame)]
            number = re.match(r"stack(\d)\.dat$", row["target"])
            if number is None:
                continue
            check_equal(methods[:3], ["one" if int(number.group(1)) >> bit & 1 else "zero" for bit in range(3)], "stack of %s" % row)
            calls[row["target"]] = calls.get(row["target"], 0) + row["calls"]
        check_equal(calls, {name: int(count) for name, count in re.findall(r"^stack;(.*);(\d+)$", run.out, re.M)}, "calls\n%s\n" % run)
