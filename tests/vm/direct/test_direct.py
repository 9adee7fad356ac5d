"""direct=y: bytes and blocks outside of the heap by stack and kind, against what the program knows and the VM's own pools."""
import re

from commands import load_agent, loaded, must
from harness import check, check_equal, vm_test
from reports import json_tables

UNITS = ("bytecode", "direct", "encoder_json", "sink_file")
MEMORY, FILES = "hprof.direct_memory/1", "hprof.mapped_files/1"
COLUMNS = ("live_bytes", "live_objects", "allocated_bytes", "allocated_objects")


def rows(text, name=MEMORY, report=-1):
    """{(method of the program, kind): numbers} of a table."""
    found = {}
    for row in json_tables(text, name)[report][1]:
        ours = [frame for frame in row["stack"] if re.match(r"(Direct|Segments)\.", frame)]
        key = (ours[0] if ours else row["stack"][0], row["kind"].replace(" ", "_"))
        found[key] = tuple(a + row[b] for a, b in zip(found.get(key, (0, 0, 0, 0)), COLUMNS))
    return found


def truth(out):
    """({(method, kind): numbers}, {pool: (bytes, blocks)}) as the program says."""
    known, pools = {}, {}
    owner = "Direct."
    for words in map(str.split, out.splitlines()):
        owner = "Segments." if words[0] == "confined" else owner
        if words[0] == "pool":
            pools[words[1]] = tuple(map(int, words[2:]))
        elif len(words) == 6:
            known[(owner + words[0], words[1])] = tuple(map(int, words[2:]))
    return known, pools


def unsafe(vm):
    """The program may call sun.misc.Unsafe."""
    return ("--sun-misc-unsafe-memory-access=allow",) if vm.version >= 23 else ()


def sums(found, kinds):
    return tuple(sum(numbers[i] for (_, kind), numbers in found.items() if kind in kinds) for i in (0, 1))


POOL = ("direct_buffer", "reserved_segment")


@vm_test(units=UNITS, quick=True)
def every_block_is_counted_and_its_end_seen(vm):
    run = vm.profiled("direct=y,depth=8,cutoff=0,format=json,file=out.json", "Direct", "all", java=unsafe(vm))
    known, pools = truth(run.out)
    text = run.text("out.json")
    found = {**rows(text), **rows(text, FILES)}
    check_equal({key: found.get(key) for key in known}, known, "bytes and blocks\n%s\n" % run)
    check_equal(sums(rows(text), POOL), pools["direct"], "the VM's pool of direct memory\n%s\n" % run)
    check_equal(sums(rows(text, FILES), ("mapped_file",)), pools["mapped"], "the VM's pool of mapped files\n%s\n" % run)
    check("%d bytes of direct buffers and reserved segments live; the VM counts %d in its pool direct\"" % (2 * pools["direct"][:1]) in text, "no note\n%s" % run)
    check_equal("not seen on Java 8" in text, vm.version < 9, "note of Java 8")
    check("lost" not in text and "without probes" not in text, "a loss\n%s" % run)


@vm_test(units=UNITS)
def the_stack_begins_where_the_program_calls_the_jdk(vm):
    run = vm.profiled("direct=y,depth=2,cutoff=0,format=json,file=out.json", "Direct", "all", java=unsafe(vm))
    stacks = {tuple(row["stack"]) for name in (MEMORY, FILES) for _, table in json_tables(run.text("out.json"), name) for row in table}
    wanted = {("java.nio.ByteBuffer.allocateDirect", "Direct.kept"), ("Direct.mapped", "Direct.all")}
    if vm.version >= 9:
        wanted |= {("Direct.raw", "Direct.all"), ("Direct.shrunk", "Direct.grown")}
    check(wanted <= stacks, "stacks: %s\n%s" % (stacks, run))


@vm_test(units=UNITS)
def without_stacks_kinds_are_told_apart(vm):
    run = vm.profiled("direct=y,depth=0,cutoff=0,format=json,file=out.json", "Direct", "all", java=unsafe(vm))
    wanted, found = {}, {}
    for (_, kind), numbers in truth(run.out)[0].items():
        wanted[kind] = tuple(map(sum, zip(wanted.get(kind, (0, 0, 0, 0)), numbers)))
    for name in (MEMORY, FILES):
        for row in json_tables(run.text("out.json"), name)[-1][1]:
            found[row["kind"].replace(" ", "_")] = tuple(row[column] for column in COLUMNS)
    short = {kind: (numbers, found.get(kind)) for kind, numbers in wanted.items()
             if kind not in found or any(a > b for a, b in zip(numbers, found[kind]))}
    check(wanted and not short, "what the program knows, and what was counted: %s\n%s" % (short, run))


@vm_test(units=UNITS)
def threads_at_once_lose_nothing(vm):
    run = vm.profiled("direct=y,format=json,file=out.json", "Direct", "threads", "8", "5000", java=("-XX:MaxDirectMemorySize=1g",))
    known, pools = truth(run.out)
    found = rows(run.text("out.json"))
    check_equal({key: found.get(key) for key in known}, known, "bytes and blocks\n%s\n" % run)
    check_equal(sums(found, POOL), pools["direct"], "the VM's pool\n%s\n" % run)


@vm_test(units=UNITS)
def many_blocks_live(vm):
    run = vm.profiled("direct=y,format=json,file=out.json", "Direct", "many", "100000")
    check_equal(sums(rows(run.text("out.json")), POOL), truth(run.out)[1]["direct"], "the VM's pool\n%s\n" % run)


@vm_test(units=UNITS)
def blocks_without_room_are_counted(vm):
    run = vm.profiled("direct=y,max-memory=1m,format=json,file=out.json", "Direct", "many", "100000")
    text = run.text("out.json")
    lost = int(re.search(r"lost (\d+) blocks of memory that count as freed: no room for more", text).group(1))
    live, = [numbers for (method, _), numbers in rows(text).items() if method == "Direct.main"]
    check_equal((live[1] + lost, live[3]), (100000, 100000), "live and lost, and all\n%s\n" % run)


@vm_test(units=UNITS, quick=True)
def an_attached_agent_counts_from_then_on(vm):
    live = vm.start(None, "Direct", "rounds", java=vm.attachable)
    live.next_round(1)
    for session in (0, 1):
        out = vm.path("out%d.json" % session)
        check(loaded(load_agent(live.pid, vm.agent, "direct=y,format=json,file=" + out)), live.state())
        live.next_round(2 * session + 2)
        check(loaded(load_agent(live.pid, vm.agent, "command=detach")), live.state())
        live.next_round(2 * session + 3)
        with open(out) as file:
            text = file.read()
        check_equal(rows(text).get(("Direct.round", "direct_buffer")), (1000, 1, 1000, 1), "bytes and blocks\n%s\n" % live.state())
        counts = re.search(r"(\d+) bytes of direct buffers and reserved segments live; the VM counts (\d+) in its pool direct: the others", text)
        check_equal(tuple(map(int, counts.groups())), (1000, 500 + 1000 * (2 * session + 2)), "what the VM has\n%s\n" % live.state())
    live.ended_well()


@vm_test(units=UNITS)
def a_reset_keeps_what_lives(vm):
    path = vm.path("s")
    live = vm.start("direct=y,format=json,file=out.json,control=" + path, "Direct", "rounds")
    live.next_round(1)
    must(path, "report")
    must(path, "reset")
    live.next_round(2)
    must(path, "report")
    run = live.ended_well()
    found = [rows(run.text("out.json"), report=i)[("Direct.round", "direct_buffer")] for i in (0, 1)]
    check_equal(found, [(1000, 1, 1000, 1), (2000, 2, 1000, 1)], "bytes and blocks\n%s\n" % run)


@vm_test(units=UNITS)
def while_it_is_stopped_frees_are_seen_and_blocks_are_not(vm):
    path = vm.path("s")
    live = vm.start("direct=y,start=n,format=json,file=out.json,control=" + path, "Direct", "rounds")
    live.next_round(1)
    must(path, "start")
    live.next_round(2)
    must(path, "stop")
    live.next_round(3)
    must(path, "start")
    live.next_round(4)
    run = live.ended_well()
    check_equal(rows(run.text("out.json"))[("Direct.round", "direct_buffer")], (2000, 2, 2000, 2), "bytes and blocks\n%s\n" % run)


@vm_test(units=UNITS + ("report_windows",))
def windows_have_the_growth(vm):
    live = vm.start("direct=y,every=1,control=ctl,format=json,file=out.json", "Direct", "rounds")
    text = lambda: open(vm.path("out.json")).read()
    for number in (1, 2, 3):
        live.next_round(number)
        before = text().count('"reason":"window"')
        live.wait_until(lambda: text().count('"reason":"window"') > before + 2, "a window")
    run = live.ended_well()
    grown, last = 0, 0
    for report, table in json_tables(run.text("out.json"), MEMORY):
        for row in table:
            if "Direct.round" in row["stack"]:
                last = row["live_bytes"]
                grown += 0 if report["cumulative"] else row["allocated_bytes"]
    check_equal((grown, last), (3000, 3000), "bytes that came in windows, and that live at the end\n%s\n" % run)


@vm_test(units=UNITS, since=21)
def virtual_threads_and_another_collector(vm):
    vm.needs_zgc()
    run = vm.profiled("direct=y,depth=8,cutoff=0,format=json,file=out.json", "Direct", "all", java=("-XX:+UseZGC", *unsafe(vm)))
    known, pools = truth(run.out)
    check_equal(sums(rows(run.text("out.json")), POOL), pools["direct"], "the VM's pool\n%s\n" % run)
