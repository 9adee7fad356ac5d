"""hprof heap on dumps of real VMs."""
import csv
import gzip
import io
import json
import os
import re
import subprocess

from harness import TIMEOUT, check, check_equal, vm_test
from tool import class_histogram, documented, heap, heap_json, hprof


def jcmd_dump(vm, *program):
    """A dump by the VM itself, and its class histogram."""
    live = vm.start(None, *program)
    code, text = vm.tool("jcmd", str(live.pid), "GC.heap_dump", vm.path("vm.hprof"))
    check_equal(code, 0, "jcmd: %s" % text)
    histogram = class_histogram(vm, live)
    check_equal(live.finish().code, 0, "exit code")
    return vm.path("vm.hprof"), histogram


def first_suspect(vm, path):
    parts = heap_json(vm, "leaks", path)["leaks"]["parts"]
    check(parts, "no suspects")
    return parts[0], heap(vm, "leaks", path)


@vm_test()
def a_map_that_grows_is_the_first_suspect(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "map")
    suspect, text = first_suspect(vm, path)
    check("class HeapLeaks retains" in suspect["title"], text)
    check(any("static SESSIONS" == step["reference"] for step in suspect["path"]), text)
    check("The static field HeapLeaks.SESSIONS holds java.util.HashMap @ 0x" in text, text)
    row = heap_json(vm, "leaks", path)["leaks"]["suspects"][0]
    check_equal([row["kind"], row["static"], row["static_class"], row["held_class"], row["object_kind"]],
                ["object", "HeapLeaks.SESSIONS", "HeapLeaks", "java.util.HashMap", "class"], "the first suspect")
    check(row["retained_bytes"] > row["held_bytes"] > 20000 * 200 and row["static_class_id"] == row["object_id"], str(row))
    shown = heap_json(vm, "show", path, row["static_class_id"])["object"]
    check(any(value["name"] == "static SESSIONS" and value["value_id"] == row["held_id"] for value in shown["values"]), str(shown))
    check_equal(heap_json(vm, "show", path, "class:HeapLeaks"), {"object": shown, "problems": [], "schema": "hprof-heap-1"}, "by name")
    check(any(row["class"] == "HeapLeaks$Session" and row["objects"] == 20000 for row in suspect["kept"]), text)


@vm_test()
def class_loaders_that_outlive_a_reload_are_the_first_suspect(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "loaders")
    suspect, text = first_suspect(vm, path)
    check("6 class loaders HeapLeaks$PluginLoader" in suspect["title"], text)
    check("HeapLeaks$Plugin." in suspect["text"][0], text)
    check_equal(['(running thread "main"' in row["held_by"] for row in suspect["loaders"]], [True] * 6, text)
    check(any(row["class"] == "byte[]" and row["shallow_bytes"] >= 6 * 300000 for row in suspect["kept"]), text)
    steps = [step["object"] for step in suspect["path"]]
    check(any("ThreadLocal$ThreadLocalMap$Entry" in step for step in steps), text)
    check(any(step["reference"] == ".value of thread-local HeapLeaks$Plugin.CURRENT" for step in suspect["path"]), text)
    check_equal([row["held_by"].endswith(", thread-local HeapLeaks$Plugin.CURRENT") for row in suspect["loaders"]], [True] * 6, text)


def check_thread_locals(vm, path, inheriting):
    leaks = heap_json(vm, "leaks", "--threshold=1", path)["leaks"]
    found = dict(re.match(r"thread-local (.*), (?:.*) in (.*)", line).groups() for line in leaks["text"] if line.startswith("thread-local"))
    expected = {"HeapLeaks$Locals.CONTEXT": "10 threads: HeapLeaks$Context", "HeapLeaks$Locals.INHERITED": "%d threads: byte[]" % inheriting,
                "java.lang.ThreadLocal in HeapLeaks$Pool.buffer": "10 threads: byte[]", "(held by no one)": "10 threads: byte[]"}
    check_equal({name: found.get(name) for name in expected}, expected, str(leaks["text"]))
    check("HeapLeaks$Locals.SHARED" not in found, str(found))  # a static field keeps its value
    step = heap_json(vm, "path", path, "HeapLeaks$Context")["paths"]["parts"][0]["path"][-1]
    check_equal(step["reference"], ".value of thread-local HeapLeaks$Locals.CONTEXT", "path")
    check_equal(heap_json(vm, "leaks", "--threshold=1", "--index", path)["leaks"], leaks, "with an index")


@vm_test()
def thread_locals_are_named(vm):
    check_thread_locals(vm, jcmd_dump(vm, "HeapLeaks", "locals")[0], 11)


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"))
def thread_locals_in_dumps_of_the_jvmti_engine_are_named(vm):
    check_thread_locals(vm, agent_dump(vm, "dump=jvmti", "HeapLeaks", "locals"), 10)  # main has ended


@vm_test()
def the_path_to_a_class_is_found(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "map")
    part = heap_json(vm, "path", path, "HeapLeaks$Session")["paths"]["parts"][0]
    steps = [step["reference"] for step in part["path"]]
    check("static SESSIONS" in steps and ".table" in steps, str(steps))


def our_histogram(vm, path):
    rows = heap_json(vm, "histogram", "--top=0", path)["histogram"]["histogram"]
    return {row["class"]: (row["objects"], row["shallow_bytes"]) for row in rows}


@vm_test()
def sizes_are_those_of_the_class_histogram(vm):
    path, histogram = jcmd_dump(vm, "HeapShapes", "mark", "wait")
    ours = our_histogram(vm, path)
    compared = 0
    for name, expected in histogram.items():
        # Names of arrays and hidden classes differ; a single instance may have hidden fields that nothing shows.
        if name.startswith("[") or "$$" in name or "/" in name or ours.get(name, (0, 0))[0] != expected[0]:
            continue
        if expected[0] < 4 or name == "java.lang.Class":
            continue
        check_equal(ours[name], expected, "instances and bytes of " + name)
        compared += 1
    check(compared > 50, "only %d classes compared" % compared)
    check("HeapShapes$Leaf" in ours and ours["HeapShapes$Leaf"] == histogram["HeapShapes$Leaf"], str(histogram))


def agent_dump(vm, options, *program):
    """A dump by the agent at the program's end."""
    live = vm.start("heap=dump,format=b,file=agent.hprof," + options, *program)
    check_equal(live.finish().code, 0, "exit code")
    return vm.path("agent.hprof")


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"))
def sizes_in_dumps_of_the_jvmti_engine_are_those_of_the_class_histogram(vm):
    """Threads, class loaders and classes have numbers there instead of addresses."""
    live = vm.start("heap=dump,format=b,dump=jvmti,file=agent.hprof", "HeapShapes", "mark", "wait")
    histogram = class_histogram(vm, live)
    check_equal(live.finish().code, 0, "exit code")
    ours = our_histogram(vm, vm.path("agent.hprof"))
    of_one = {name: (size / count, ours[name][1] / ours[name][0]) for name, (count, size) in histogram.items() if name in ours}
    threads = [name for name in of_one if re.search(r"Thread$|ReferenceHandler$", name) and name.startswith("java.lang.")]
    loaders = [name for name in of_one if name.endswith("AppClassLoader")]
    check("java.lang.Thread" in threads and len(threads) >= 3 and len(loaders) == 1, str(sorted(of_one)))
    for name in threads + loaders + ["java.lang.String", "HeapShapes$Leaf"]:
        check_equal(of_one[name][1], of_one[name][0], "bytes of an instance of " + name)
    # Classes that are not linked have no static fields in a dump.
    theirs, mine = of_one["java.lang.Class"]
    check(0.85 * theirs < mine <= 1.01 * theirs, "bytes of a class object: %s, the VM says %s" % (mine, theirs))


def check_map_leak(vm, path):
    suspect, text = first_suspect(vm, path)
    check("class HeapLeaks retains" in suspect["title"], text)
    check(any(row["class"] == "HeapLeaks$Session" and row["objects"] == 20000 for row in suspect["kept"]), text)


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"))
def leaks_are_found_in_dumps_of_the_jvmti_engine(vm):
    path = agent_dump(vm, "dump=jvmti", "HeapLeaks", "map")
    check_map_leak(vm, path)


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"))
def ids_that_are_no_addresses_are_no_trouble(vm):
    path = agent_dump(vm, "dump=jvmti,hotspot=-object-addresses", "HeapLeaks", "map")
    check_map_leak(vm, path)
    check("(assumed;" in heap(vm, "histogram", path), heap(vm, "histogram", path))


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"), since=11)
def leaks_are_found_in_dumps_of_the_vm_engine(vm):
    path = agent_dump(vm, "dump=vm", "HeapLeaks", "map")
    check_map_leak(vm, path)


@vm_test(until=8)
def dumps_of_the_original_agent_have_allocation_sites(vm):
    path = vm.path("original.hprof")
    live = vm.launch(["-agentlib:hprof=heap=all,format=b,file=" + path, "HeapLeaks", "map"], None).wait_ready()
    check_equal(live.finish().code, 0, "exit code")
    check_map_leak(vm, path)
    sites = str(heap_json(vm, "summary", "--top=0", path)["sites"])
    check("HeapLeaks.main" in sites, "sites: %s" % sites)


@vm_test()
def compressed_and_cut_dumps_are_read(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "map")
    with open(path, "rb") as file:
        data = file.read()
    with gzip.open(vm.path("vm.hprof.gz"), "wb", 1) as file:
        file.write(data)
    whole = heap_json(vm, "summary", path)
    compressed = heap_json(vm, "summary", vm.path("vm.hprof.gz"))
    check_equal(compressed["classes"], whole["classes"], "classes of the compressed dump")
    for name in (path, vm.path("vm.hprof.gz")):
        with subprocess.Popen(["cat", name], stdout=subprocess.PIPE) as pipe:
            run = subprocess.run([os.path.join(vm.tree, "bin", "hprof"), "heap", "summary", "-", "--json", "--temp=" + vm.dir],
                                 stdin=pipe.stdout, stdout=subprocess.PIPE, timeout=TIMEOUT)
        check_equal(run.returncode, 0, "hprof heap summary -")
        check_equal(json.loads(run.stdout)["classes"], whole["classes"], "classes of %s through a pipe" % name)
    check_equal([name for name in os.listdir(vm.dir) if name.startswith("hprof-")], [], "files left behind")
    with open(vm.path("cut.hprof"), "wb") as file:
        file.write(data[:len(data) * 3 // 4])
    # What is cut off may be the roots: since JDK 22 several threads write the dump, in any order.
    text = heap(vm, "summary", "--unreachable", vm.path("cut.hprof"), status=3)
    check("hprof: the dump is incomplete, and so may be the answer: " in text, text)
    check("Incomplete: " in text and "HeapLeaks$Session" in text, text)
    page = vm.path("page.html")
    heap(vm, "leaks", path, "-o", page)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    check("<summary>1. class HeapLeaks retains" in text and "T\tdominators\t" in text, "the page")


@vm_test()
def a_limit_of_memory_changes_no_result(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "map")
    for command in ("summary", "waste", "references"):
        spilled = heap_json(vm, command, path, "--memory=3m", "--temp=" + vm.dir)
        check_equal(spilled, heap_json(vm, command, path), command + " with --memory=3m")
    check_equal([name for name in os.listdir(vm.dir) if name.startswith("hprof-")], [], "files left behind")


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"))
def facts_are_numbers_and_what_is_redacted_is_no_fact(vm):
    vm.profiled("heap=dump,format=b,redact=basic,file=redacted.hprof", "Quick")
    facts = heap_json(vm, "summary", vm.path("redacted.hprof"))["dump"]["facts"]
    check("java_version" not in facts, str(facts))
    for count, size in (("objects", "bytes"), ("reachable", "reachable_bytes")):
        check(facts[size] >= 8 * facts[count] > 0, str(facts))


@vm_test()
def the_json_of_every_command_is_that_of_the_schema(vm):
    """heap_json() checks it; and that CSV has the same rows."""
    path, _ = jcmd_dump(vm, "HeapLeaks", "map")
    session = heap_json(vm, "objects", path, "HeapLeaks$Session", "--top=1")["objects"]["objects"][0]["object_id"]
    for command, words, table in (("summary", (), "classes"), ("leaks", (), "suspects"), ("path", (session,), "path"),
                                  ("path", ("HeapLeaks$Session",), "path"), ("dominators", (), "tree"), ("dominators", (session,), "tree"),
                                  ("retained", (session,), "classes"), ("objects", ("HeapLeaks$Session",), "objects"),
                                  ("histogram", (), "histogram"), ("show", (session,), "values"), ("find", ("--string=java",), "strings"),
                                  ("threads", (), "threads"), ("waste", (), "collections"), ("references", (), "kinds")):
        answer = heap_json(vm, command, path, *words)
        sections = [section for section in answer.values() if isinstance(section, dict)]
        rows = [row for section in [*sections, *(part for section in sections for part in section["parts"])] for row in section.get(table, [])]
        code, text = hprof(vm, "heap", command, path, *words, "--table=" + table)
        lines = list(csv.DictReader(line for line in io.StringIO(text, newline="") if not line.startswith("hprof: ")))
        check_equal([code, [{key: value for key, value in line.items() if key != "part"} for line in lines]],
                    [0, [{key: "" if value is None else str(value) for key, value in row.items()} for row in rows]], command)
        check(rows, command)
    documented(hprof(vm, "diff", path, path, "--json")[1])


@vm_test()
def limits_decide_the_exit_status(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "map")

    def status_of(*conditions):
        code, text = hprof(vm, "heap", "leaks", path, "--json", *("--fail-if=" + condition for condition in conditions))
        return code, {row["condition"]: row for row in documented(text)["limits"]["limits"]}

    code, rows = status_of("instances(HeapLeaks$Session)>19999", "retained(Session)>100m", "suspect>99%", "instances(no.such.Class)>0")
    check_equal([code, [row["exceeded"] for row in rows.values()]], [1, ["yes", "no", "no", "no"]], str(rows))
    row = rows["instances(HeapLeaks$Session)>19999"]
    check_equal([row["measure"], row["value"], row["limit"]], ["instances", 20000, 19999], str(row))
    retained = heap_json(vm, "retained", path, "HeapLeaks$Session")["retained"]["facts"]["retained_bytes"]
    check_equal(rows["retained(Session)>100m"]["value"], retained, "retained bytes")
    check(rows["suspect>99%"]["value"] > 50, str(rows))
    check("no class no.such.Class" in rows["instances(no.such.Class)>0"]["note"], str(rows))
    check_equal(status_of("instances(Session)>20000", "shallow(Session)>=1m")[0], 0, "no limit is exceeded")
    check_equal(status_of("instances(Session)<20001")[0], 1, "fewer than")
    code, text = hprof(vm, "heap", "leaks", path, "--fail-if=instances(Session)=3")
    check_equal(code, 2, text)
    check("--fail-if='instances(Session)=3', byte 19: > or < instead of '=3'" in text, text)


@vm_test()
def a_path_of_60000_steps_is_whole_on_request(vm):
    path, _ = jcmd_dump(vm, "HeapLeaks", "chain")
    end = heap_json(vm, "objects", path, "HeapLeaks$End")["objects"]["objects"][0]["object_id"]
    short, whole = (heap_json(vm, "path", path, end, *more)["path"]["path"] for more in ((), ("--steps=0",)))
    check_equal(sum(row["left_out"] or 1 for row in short), len(whole), "steps")
    check_equal([len(short), sum(row["reference"] == ".next" for row in whole)], [41, 60000], "rows, references to the next node")
    check(len(heap(vm, "path", path, end, "--steps=0").splitlines()) > 60000, "the text")


class Known:
    """A dump of HeapKnown, and the objects in its fields."""

    def __init__(self, vm):
        self.vm = vm
        self.path, _ = jcmd_dump(vm, "HeapKnown")

    def rows(self, name, fields, *options):
        lines = heap(self.vm, "rows", self.path, name, "--fields=" + fields, "--json", *options).splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def ids(self, *fields):
        row, = self.rows("HeapKnown", ",".join(fields))
        return [row[field] for field in fields]

    def entries(self, field):
        found, = self.ids(field)
        section = heap_json(self.vm, "show", self.path, found, "--top=0")["object"]
        return [tuple(row[key] for key in ("key_text", "value_text", "element_text") if key in row) for row in section["entries"]]


@vm_test()
def show_prints_the_entries_of_collections(vm):
    known = Known(vm)
    numbers = {("one", "1"), ("two", "2"), ("three", "3")}
    letters = [("a",), ("b",), ("c",)]
    for name in ("hash", "table", "concurrent", "identity", "weakKeys"):
        entries = known.entries(name)
        check(len(entries) == 3 and set(entries) == numbers, "%s: %s" % (name, entries))
    check_equal(known.entries("linked"), [("one", "1"), ("two", "2"), ("three", "3")], "linked")
    for name in ("tree", "skip"):
        check_equal(known.entries(name), [("one", "1"), ("three", "3"), ("two", "2")], name)
    for name in ("colliding", "collidingConcurrent"):
        values = sorted(int(value) for _, value in known.entries(name))
        check_equal(values, list(range(50)), name)
    check_equal(known.entries("single"), [("one", "1")], "single")
    for name in ("treeSet", "arrayList", "vector", "linkedList", "deque", "priority", "copied", "blocking", "queue", "asList",
                 "unmodifiable"):
        check_equal(known.entries(name), letters, name)
    for name in ("hashSet", "keySet"):
        check_equal(sorted(known.entries(name)), letters, name)
    if known.ids("listOf1") == [None]:
        return  # before Java 9
    check_equal(known.entries("listOf1"), letters[:1], "List.of(a)")
    check_equal(known.entries("listOf3"), letters, "List.of(a, b, c)")
    check_equal(sorted(known.entries("setOf3")), letters, "Set.of(a, b, c)")
    check_equal(known.entries("mapOf1"), [("one", "1")], "Map.of(one, 1)")
    check_equal(set(known.entries("mapOf3")), numbers, "Map.of of three")


@vm_test()
def every_collection_of_the_jdk_has_its_entries(vm):
    path, _ = jcmd_dump(vm, "HeapCollections")

    def rows(name, fields):
        return [json.loads(line) for line in heap(vm, "rows", path, name, "--fields=" + fields, "--json").splitlines()]

    check_equal(rows("class:HeapCollections", "missing")[0]["missing"], "", "classes of collections that HeapCollections lacks")
    for row in rows("HeapCollections$Made", "collection.@class,collection.@id"):
        name = row["collection.@class"]
        answer = heap_json(vm, "show", path, row["collection.@id"], "--index", "--top=0")["object"]
        entries = answer.get("entries", [])
        count_of = 1 if re.search(r"Singleton|Map1$|[tn]12$", name) else 3
        check_equal([answer["facts"].get("entries"), len(entries)], [count_of] * 2, "entries of " + name)
        for kind in ("key", "value", "element"):
            texts = sorted(str(entry[kind + "_text"]).lower() for entry in entries if kind + "_text" in entry)
            expected = {"java.util.EnumMap key": ["element0", "element1", "element2"], "java.util.EnumMap value": ["none", "value0", "value2"],
                        "java.util.Collections$CopiesList element": ["element"] * 3}
            good = expected.get(name + " " + kind, [kind + str(i) for i in range(count_of)])
            check(not texts or re.search(r"DelayQueue|DelayedWorkQueue", name) or texts == good, "%s: %s" % (name, entries))


@vm_test()
def rows_have_the_values_of_the_program(vm):
    known = Known(vm)
    rows = known.rows("HeapKnown$Row", "id,name,next.id,letter,good,share,small,data.length,list[0],list[2].@class,list[3]",
                      "--retained")
    rows.sort(key=lambda row: row["id"])
    check_equal(len(rows), 10, "rows")
    for number, row in enumerate(rows):
        expected = {"id": 10**12 + number, "name": None if number % 2 else 'row, "%d"' % number,
                    "next.id": 10**12 + number - 1 if number else None, "letter": "x", "good": number % 3 == 0,
                    "share": number / 8, "small": -3, "data.length": number, "list[0]": "first-%d" % number,
                    "list[2].@class": "HeapKnown$Colour", "list[3]": None, "class": "HeapKnown$Row"}
        check_equal({key: row[key] for key in expected}, expected, "row %d" % number)
        check(row["retained_bytes"] > row["shallow_bytes"] >= 48, str(row))
    code, text = hprof(vm, "heap", "rows", known.path, "HeapKnown$Row", "--fields=next.nmae")
    check(code == 2 and "^ HeapKnown$Row has no field nmae; it has " in text, text)


@vm_test()
def threads_show_what_their_frames_hold_and_what_they_wait_for(vm):
    known = Known(vm)
    section = heap_json(vm, "threads", known.path, "--top=0")["stacks"]
    waiter, = [row for row in section["threads"] if row["thread"] == "known-waiter"]
    check(waiter["state"] == "parked" and waiter["stack_bytes"] >= 5000000, str(waiter))
    check("ReentrantLock$NonfairSync" in waiter["waits_for"] and 'held by "main"' in waiter["waits_for"], str(waiter))
    stack, = [part["stack"] for part in section["parts"] if "stack" in part and part["title"] == 'Stack of "known-waiter"']
    frame, = [row for row in stack if row["frame"].startswith("HeapKnown.waitForLock(") and row["object_class"] == "byte[]"]
    check(frame["retained_bytes"] >= 5000000, str(frame))
    if vm.jdk.version >= 21:  # has virtual threads
        part, = [part for part in section["parts"] if "virtual_threads" in part]
        thread, = [row for row in part["virtual_threads"] if row["name"] == "known-virtual"]
        check(thread["state"] == "parked" and "ReentrantLock" in thread["waits_for"], str(thread))
        # The dumper of 21 leaves out the stacks of virtual threads that are not mounted.
        check((thread["retained_bytes"] >= 3000000) == (vm.jdk.version >= 22), str(thread))


@vm_test()
def waste_is_found_with_its_owner(vm):
    known = Known(vm)
    section = heap_json(vm, "waste", known.path, "--top=0")["waste"]
    lists, = [row for row in section["collections"] if row["class"] == "java.util.ArrayList"]
    check(lists["empty"] >= 1000 and lists["empty_bytes"] >= 1000 * (24 + 40), str(lists))
    maps, = [row for row in section["collections"] if row["class"] == "java.util.HashMap"]
    check(maps["sparse"] >= 100 and maps["unused_bytes"] >= 100 * 63 * 4, str(maps))
    equal = {row["class"]: row for row in section["equal"]}
    for name, copies in (("long[]", 200), ("java.lang.Integer", 300)):
        check(equal[name]["objects"] - equal[name]["distinct"] >= copies - 1, str(equal[name]))
    check(any(row["entries"] == 50 and row["buckets"] == 1 for row in section["collisions"]), str(section["collisions"]))
    owner, = [row for row in section["owners"] if row["owner"] == "HeapKnown$Waster"]
    check(owner["objects"] >= 1000 + 199 + 299 + 100 and owner["wasted_bytes"] >= 100000, str(owner))


@vm_test()
def references_tell_what_only_they_hold(vm):
    known = Known(vm)
    answer = heap_json(vm, "references", known.path, "--top=0")
    kinds = {row["kind"]: row for row in answer["references"]["kinds"]}
    check(kinds["soft"]["only_bytes"] >= 1000000, str(kinds))
    check(any(row["references"] == 5 and row["owner"] == "HeapKnown" for row in answer["references"]["queues"]),
          str(answer["references"]["queues"]))
    owner, = [row for row in answer["direct"]["owners"] if row["owner"] == "HeapKnown$Pool"]
    check_equal((owner["buffers"], owner["capacity_bytes"]), (2, 300000), "direct memory")


@vm_test(units=("heap_dump", "encoder_binary", "sink_file"), since=22)
def references_tell_the_memory_of_arenas(vm):
    for engine in ("vm", "jvmti"):
        vm.profiled("heap=dump,format=b,force=y,file=arenas.hprof,dump=" + engine, "Arenas")
        answer = heap_json(vm, "references", vm.path("arenas.hprof"), "--top=0")["arenas"]
        kinds = {row["kind"]: row for row in answer["kinds"]}
        check_equal([kinds["confined"][key] for key in ("arenas", "segments", "native_bytes")], [1, 3, 120000], str(answer))
        check(kinds["automatic"]["native_bytes"] >= 50000 and kinds["global"]["native_bytes"] >= 7000, str(answer))
        check_equal([kinds["shared"][key] for key in ("arenas", "native_bytes", "mapped_bytes")], [2, 3000000, 40000], str(answer))
        check_equal([(row["kind"], row["thread"]) for row in answer["largest"] if row["native_bytes"] == 120000], [("confined", "main")], str(answer))
        check(answer["facts"]["closed"] >= 1, str(answer))


@vm_test()
def two_applications_with_one_library_are_no_leak(vm):
    for mode in ("applications", "reloads"):
        path, _ = jcmd_dump(vm, "HeapKnown", mode)
        titles = [part["title"] for part in heap_json(vm, "leaks", "--threshold=1", path)["leaks"]["parts"]]
        os.remove(path)
        check(titles, "no suspects")
        loaders = [title for title in titles if "class loaders" in title]
        check_equal(len(loaders), mode == "reloads", "suspects of class loaders: %s" % titles)
        check(not loaders or "2 class loaders HeapKnown$ApplicationLoader" in loaders[0], str(loaders))
