"""format=jfr: recordings as the JDK's own `jfr` reads them."""
import collections
import datetime
import json
import os
import re
import signal
import subprocess

from commands import load_agent, loaded
from harness import Skip, TIMEOUT, check, check_equal, clean_environment, vm_test
from jdks import installed
from tool import hprof

OUTPUT = ("encoder_jfr", "sink_file")
SAMPLE, WAIT_SAMPLE = "jdk.ExecutionSample", "profiler.WallClockSample"
ALLOCATION = "jdk.ObjectAllocationSample"


def jfr(*words):
    """The newest `jfr` of this machine, whatever JDK wrote the file: stdout."""
    tools = [os.path.join(home, "bin", "jfr") for home in installed()]
    versions = {}
    for tool in tools:
        release = os.path.join(os.path.dirname(os.path.dirname(tool)), "release")
        if os.path.exists(tool) and os.path.exists(release):
            with open(release) as file:
                versions[int(re.search(r'JAVA_VERSION="(\d+)', file.read()).group(1))] = tool
    if not versions or max(versions) < 14:
        raise Skip("no JDK here has a jfr that prints JSON")
    run = subprocess.run([versions[max(versions)], *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         timeout=TIMEOUT, env=clean_environment({}))
    out, err = run.stdout.decode(), run.stderr.decode()
    check_equal((run.returncode, err), (0, ""), "jfr %s: %s" % (" ".join(words), out[:500]))
    return out


class Recording:
    """What `jfr summary` and `jfr print` say, which have to agree."""

    def __init__(self, path):
        self.path = path
        summary = jfr("summary", path)
        self.chunks = int(re.search(r"^ *Chunks: (\d+)$", summary, re.M).group(1))
        events = json.loads(jfr("print", "--json", "--stack-depth", "64", path))["recording"]["events"]
        self.events = collections.defaultdict(list)
        for event in events:
            self.events[event["type"]].append(event["values"])
        counted = {name: int(number) for name, number in re.findall(r"^ (\S+\.\S+) +(\d+) +\d+ *$", summary, re.M) if int(number)}
        for own in ("jdk.Metadata", "jdk.CheckPoint", "jdk.Checkpoint"):
            counted.pop(own, None)
        check_equal({name: len(values) for name, values in self.events.items()}, counted, "events printed and counted")

    def notes(self):
        return [event["text"] for event in self.events["hprof.Note"]]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def frames(event):
    stack = event["stackTrace"]
    return [frame["method"]["type"]["name"].replace("/", ".") + "." + frame["method"]["name"]
            for frame in stack["frames"]] if stack else []


def recorded(vm, options, *program):
    run = vm.run_java(vm.agent_option(options + ",format=jfr,file=out.jfr"), *program)
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s\n" % run)
    recording = Recording(run.path("out.jfr"))
    check_equal([note for note in recording.notes() if note.startswith("lost ")], [], "losses")
    return run, recording


@vm_test(units=("cpu_samples",) + OUTPUT, needs=("short intervals",), quick=True)
def samples_name_the_busy_method(vm):
    run, found = recorded(vm, "cpu=samples,interval=1", "Spin", "6", "2")
    samples = found.events[SAMPLE]
    # Those between the report and the program's end are in no note.
    noted = sum(int(number) for note in found.notes() for number in re.findall(r"interval 1 ms, (\d+) samples", note))
    check(0 < noted <= len(samples) <= noted * 1.1 + 20, "%d samples, %d are noted" % (len(samples), noted))
    hottest = collections.Counter(frames(event)[:1][0] for event in samples if frames(event)).most_common(1)
    check(hottest[0][0] == "Spin.hot" and hottest[0][1] > len(samples) / 2, "%s of %d" % (hottest, len(samples)))
    lines = {event["stackTrace"]["frames"][0]["lineNumber"] for event in samples if frames(event)[:1] == ["Spin.hot"]}
    check(lines and min(lines) > 0, "lines %s" % lines)
    check_equal([event for event in samples if not event["sampledThread"]], [], "samples without a thread")
    names = collections.Counter(event["sampledThread"]["javaName"] for event in samples)
    check(sum(name.startswith("spin") for name in names) == 2, "threads %s" % names)
    settings = {event["name"]: event["value"] for event in found.events["jdk.ActiveSetting"]}
    check_equal(settings, {"enabled": "true", "period": "1 ms", "event": "cpu", "interval": "1000000"}, "settings")
    check_equal(found.events["jdk.JVMInformation"][0]["pid"] > 0, True, "the process")
    check("Spin.hot" in jfr("view", "hot-methods", run.path("out.jfr")), "hot methods")


@vm_test(units=("cpu_samples",) + OUTPUT, needs=("short intervals", "sampling signals"))
def the_frame_on_top_has_the_type_of_what_ran_it(vm):
    for options, ran in ((["-Xint"], "Interpreted"), (["-Xbatch"], "JIT compiled")):
        run = vm.run_java(vm.agent_option("cpu=samples,interval=1,format=jfr,file=out.jfr"), *options, "Spin", "1")
        check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s\n" % run)
        found = Recording(run.path("out.jfr"))
        if not any("methods on top" in note for note in found.notes()):
            raise Skip("the agent does not walk stacks itself here")
        stacks = [event["stackTrace"]["frames"] for event in found.events[SAMPLE] if event["stackTrace"]]
        tops = collections.Counter(stack[0]["type"] for stack in stacks)
        check(tops[ran] > 0.7 * len(stacks), "%s: %s" % (options, tops))
        known = {"Interpreted", "Native", "Java"} | (set() if ran == "Interpreted" else {"JIT compiled", "Inlined"})
        check(set(tops) <= known, "%s: %s" % (options, tops))
        below = {frame["type"] for stack in stacks for frame in stack[1:]}
        check(below <= {"Java", "Native"}, "types of callers: %s" % below)


@vm_test(units=("bytecode", "context", "cpu_samples", "monitor", "latency") + OUTPUT, needs=("short intervals",))
def events_lead_to_their_requests_and_back(vm):
    options = "plugin=context,cpu=samples,interval=1,monitor=y,latency=Routes.sleeps,latency-events=25"
    _, found = recorded(vm, options, "Routes", "platform", "slow", "20")
    calls, requests = found.events["hprof.SlowCall"], found.events["hprof.Request"]
    # A request of route 2 has three scopes of two calls, others have one, and each has a call outside of them.
    check_equal(len(calls), sum(2 * (3 if number % 3 == 2 else 1) + 1 for number in range(20)), "calls")
    for event in calls:
        check(frames(event)[0] == "Routes.sleeps" and float(event["duration"][2:-1]) >= 0.025, "a slow call: %s" % event)
    check_equal([event for event in requests if event["duration"] != "PT0.000000001S" or not event["traceId"].startswith("4bf92f3577b34da6")],
                [], "requests that are none")
    check_equal({event["traceId"][16:] for event in requests}, {"%016x" % (number + 1) for number in range(20)}, "requests")
    words = jfr("print", "--events", "SlowCall,ExecutionSample", found.path)
    if "Context: " not in words:
        raise Skip("jfr of JDK 25 shows contexts")
    shown = [part for part in words.split("\n\n") if part.startswith("hprof.SlowCall")]
    check_equal(sum("Context: Request.traceId = \"4bf92f3577b34da6" in part for part in shown), len(calls) - 20, "calls with a request\n%s" % words[:2000])
    check_equal([part for part in shown if part.count("Context: Request.traceId") > 1], [], "calls with several")


@vm_test(units=("cpu_samples",) + OUTPUT)
def elapsed_time_is_split_into_what_runs_and_what_waits(vm):
    _, found = recorded(vm, "cpu=samples,clock=wall", "Wall", "1")
    for name, method, state in ((SAMPLE, "computing", "STATE_RUNNABLE"), (WAIT_SAMPLE, "resting", "STATE_SLEEPING"),
                                (WAIT_SAMPLE, "blocked", "STATE_BLOCKED_ON_MONITOR_ENTER"), (WAIT_SAMPLE, "parked", "STATE_WAITING")):
        states = collections.Counter()
        for event in found.events[name]:
            if "Wall." + method in frames(event):
                states[event["state"]["name"] if isinstance(event["state"], dict) else event["state"]] += event.get("samples", 1)
        check(states and states.most_common(1)[0][0] == state, "%s is %s, not %s" % (method, dict(states), state))


@vm_test(units=("cpu_samples",) + OUTPUT)
def each_window_is_a_chunk(vm):
    live = vm.start("cpu=samples,every=1,format=jfr,file=out.jfr", "Idle")
    live.wait_until(lambda: read(vm.path("out.jfr")).count(b"FLR\0") > 2, "three chunks")
    found = Recording(live.ended_well().path("out.jfr"))
    check_equal([note for note in found.notes() if note.startswith("lost ")], [], "losses")
    check(found.chunks >= 3, "%d chunks" % found.chunks)
    check_equal(len(found.events["jdk.JVMInformation"]), found.chunks, "chunks with the JVM")


@vm_test(units=("cpu_samples",) + OUTPUT)
def a_killed_vm_leaves_a_recording(vm):
    live = vm.start("cpu=samples,interval=1,every=1,format=jfr,file=out.jfr", "Idle")
    live.wait_until(lambda: read(vm.path("out.jfr")).count(b"FLR\0") > 1, "two chunks")
    live.signal(signal.SIGKILL)
    live.finish()
    check(Recording(vm.path("out.jfr")).events[SAMPLE], "no samples")


@vm_test(units=("monitor",) + OUTPUT)
def contentions_and_waits_have_durations(vm):
    run, found = recorded(vm, "monitor=y", "Contend", "monitor", "3", "5", "20")
    blocked = [event for event in found.events["jdk.JavaMonitorEnter"] if event["monitorClass"]["name"] == "java/lang/Object"]
    total = int(re.fullmatch(r"blocked (\d+) times \d+\n", run.out).group(1))
    seconds = [float(re.fullmatch(r"PT([\d.]+)S", event["duration"]).group(1)) for event in blocked]
    check(blocked and sum(seconds) <= (total + 2) / 1000, "%s, the program measured %d ms" % (seconds, total))
    check_equal({event["eventThread"]["javaName"].split("-")[0] for event in blocked}, {"contender"}, "threads")
    check(all(any(name.startswith("Contend.") for name in frames(event)) for event in blocked), "stacks")


def id_in_name(thread):
    return int(thread["javaName"].rsplit("-", 1)[1])


@vm_test(units=("cpu_samples", "monitor", "vm_events") + OUTPUT, quick=True)
def threads_have_java_s_ids_and_the_names_that_they_gave_themselves(vm):
    run, found = recorded(vm, "cpu=samples,interval=1,monitor=y", "NamedById")
    spun = {event["sampledThread"]["javaName"]: event["sampledThread"] for event in found.events[SAMPLE] if "Spin.hot" in frames(event)}
    check_equal(sorted(name.split("-")[0] for name in spun), ["daemon", "id", "id", "id"], "names")
    check_equal([thread for thread in spun.values() if thread["javaThreadId"] != id_in_name(thread)], [], "threads with another id")
    check_equal({thread["virtual"] for thread in spun.values()}, {False}, "virtual")
    systems = {thread["osThreadId"] for thread in spun.values()}
    check(len(systems) == 4 and (os.name != "posix" or min(systems) > 4), "ids of the system: %s" % systems)
    counts = found.events["jdk.JavaThreadStatistics"][-1]
    check(1 <= counts["daemonCount"] < counts["peakCount"] <= counts["accumulatedCount"], "numbers of threads: %s" % counts)
    check(counts["accumulatedCount"] >= 5, "started threads: %s" % counts)
    check("Accumulated" in jfr("view", "thread-count", run.path("out.jfr")).title(), "no view of threads")


@vm_test(units=("monitor",) + OUTPUT, quick=True)
def monitors_have_an_address_and_a_previous_owner(vm):
    run, found = recorded(vm, "monitor=y", "Contend", "monitor", "3", "5", "20")
    blocked = [event for event in found.events["jdk.JavaMonitorEnter"] if event["monitorClass"]["name"] == "java/lang/Object"
               and any(name.startswith("Contend.") for name in frames(event))]
    check_equal(len({event["address"] for event in blocked}), 1, "addresses of one monitor")
    check(blocked[0]["address"] != 0, "no address")
    owners = [event["previousOwner"] for event in blocked if event["previousOwner"]]
    # An owner is asked for 20 times a second; others are known if they had to wait before, too.
    check(len(owners) >= 2, "%d owners of %d" % (len(owners), len(blocked)))
    check_equal({owner["javaName"].split("-")[0] for owner in owners}, {"contender"}, "owners")
    itself = [event for event in blocked if event["previousOwner"] and event["previousOwner"]["javaName"] == event["eventThread"]["javaName"]]
    check_equal(itself, [], "a thread that was blocked by itself")
    check("0x" in jfr("view", "contention-by-address", run.path("out.jfr")), "contention-by-address")


@vm_test(units=("monitor", "vm_events") + OUTPUT, quick=True)
def waits_have_a_timeout_and_pauses_their_view(vm):
    run, found = recorded(vm, "monitor=y", "NamedById")
    waits = {(event["timeout"], event["timedOut"]) for event in found.events["jdk.JavaMonitorWait"] if "NamedById.main" in frames(event)}
    check(("PT0.03S", True) in waits, "waits: %s" % waits)
    pauses = found.events["jdk.GCPhasePause"]
    check(pauses and len(pauses) == len(found.events["jdk.GarbageCollection"]), "%d pauses" % len(pauses))
    view = jfr("view", "gc-pauses", run.path("out.jfr"))
    check_equal(re.search(r"Number of Pauses: (\d+)", view).group(1), str(len(pauses)), "pauses of the view\n%s" % view)
    check("reason" in found.events["jdk.Shutdown"][0] and "The VM ends" in jfr("view", "recording", run.path("out.jfr")), "the VM's end")


@vm_test(units=("vm_events", "cpu_samples") + OUTPUT, since=11, quick=True)
def the_vm_says_of_itself_what_the_jdk_s_recording_says(vm):
    recording = "-XX:StartFlightRecording:filename=jdk.jfr" if vm.version >= 17 else "-XX:StartFlightRecording=filename=jdk.jfr"
    option = vm.agent_option("cpu=samples,format=jfr,file=out.jfr")
    run = vm.run_java(option, recording, "-Dsome=thing", "Spin", "6", "2")
    check_equal(run.code, 0, "exit code\n%s" % run)
    ours, theirs = (Recording(run.path(name)).events["jdk.JVMInformation"][-1] for name in ("out.jfr", "jdk.jfr"))
    for field in ("jvmName", "jvmArguments", "javaArguments", "pid"):
        check_equal(ours[field], theirs[field], field)
    version = re.compile(r"JRE \(([^)]*)\)")
    check_equal(version.search(ours["jvmVersion"]).group(1), version.search(theirs["jvmVersion"]).group(1), "version")
    check_equal(ours["jvmStartTime"][:13], theirs["jvmStartTime"][:13], "start")
    check("-Dsome=thing" in jfr("view", "jvm-information", run.path("out.jfr")), "no view of the VM")


@vm_test(units=("vm_events", "cpu_samples") + OUTPUT, since=11)
def an_attached_agent_says_when_the_vm_began(vm):
    live = vm.start(None, "Idle", java=vm.attachable)
    began = os.stat(live.proc("")).st_ctime if os.path.exists(live.proc("")) else None
    check(loaded(load_agent(live.pid, vm.agent, "cpu=samples,format=jfr,file=%s" % vm.path("out.jfr"))), "the agent is loaded")
    found = Recording(live.ended_well().path("out.jfr"))
    said = datetime.datetime.fromisoformat(found.events["jdk.JVMInformation"][-1]["jvmStartTime"].replace("Z", "+00:00")).timestamp()
    check(began is None or abs(said - began) < 5, "it began at %s, the recording says %s" % (began, said))


@vm_test(units=("cpu_samples",) + OUTPUT, since=21, needs=("short intervals",), quick=True)
def samples_are_of_virtual_threads(vm):
    for clock in ("", ",sampler=jvmti", ",clock=wall"):
        _, found = recorded(vm, "cpu=samples,interval=1" + clock, "VirtualNamed")
        samples = [event for event in found.events[SAMPLE] if "VirtualNamed.compute" in frames(event)]
        of_virtual = [event["sampledThread"] for event in samples if event["sampledThread"]["virtual"]]
        check(len(of_virtual) > 0.95 * len(samples) > 20, "%s: %d of %d samples are of virtual threads" % (clock, len(of_virtual), len(samples)))
        named = [thread for thread in of_virtual if thread["javaName"]]
        check(len(named) > 0.8 * len(of_virtual), "%s: %d of %d have a name" % (clock, len(named), len(of_virtual)))
        check_equal([thread for thread in named if thread["javaThreadId"] != id_in_name(thread)], [], "threads with another id")
        check(len({thread["javaThreadId"] for thread in of_virtual}) > 1, "ids")
        resting = [event["sampledThread"] for event in found.events[WAIT_SAMPLE] if "VirtualNamed.rest" in frames(event)]
        check("wall" not in clock or resting, "no virtual thread that waits")
        check_equal([thread for thread in resting if not thread["virtual"] or thread["javaThreadId"] != id_in_name(thread)], [], "waiting")


@vm_test(units=("monitor",) + OUTPUT)
def parked_threads_are_parked(vm):
    _, found = recorded(vm, "monitor=all,interval=1", "Contend", "lock", "3", "5", "20")
    check(any("Contend.inLock" in frames(event) for event in found.events["jdk.ThreadPark"]), "no samples of the lock")


@vm_test(units=("heap_sites",) + OUTPUT, since=11)
def sampled_allocations_have_class_and_weight(vm):
    # With 1k a busy machine's writer does not keep up: losses, which are said.
    run, found = recorded(vm, "heap=sites,sites=sampled:16k", "Sites")
    made = found.events[ALLOCATION]
    check(made and all(event["weight"] > 0 and event["objectClass"]["name"] for event in made), "%d samples" % len(made))
    check(any(name.startswith("Sites.") for event in made for name in frames(event)), "no stack of the program")
    check("Sites" in jfr("view", "--width", "200", "allocation-by-site", run.path("out.jfr")), "allocation-by-site")


@vm_test(units=("cpu_samples", "vm_events") + OUTPUT, quick=True)
def threads_pauses_heap_and_load_are_those_of_the_vm(vm):
    _, found = recorded(vm, "cpu=samples", "Spin", "12", "2")
    spun = {event["sampledThread"]["javaThreadId"] for event in found.events[SAMPLE]
            if event["sampledThread"]["javaName"].startswith("spin")}
    for name in ("jdk.ThreadStart", "jdk.ThreadEnd"):
        of_program = {event["thread"]["javaThreadId"] for event in found.events[name] if event["thread"]["javaName"].startswith("spin")}
        check(spun and spun <= of_program, "%s of %s, not of %s" % (name, of_program, spun))
    load = found.events["jdk.CPULoad"]
    check(load and all(0 <= event["jvmUser"] <= 1 for event in load) and max(event["jvmUser"] for event in load) > 0, "load %s" % load)
    check(all(event["jvmUser"] <= event["machineTotal"] <= 1 for event in load), "load of the machine %s" % load)
    run = vm.run_java(vm.agent_option("cpu=samples,format=jfr,file=gc.jfr"), "-Xmx64m", "Garbage")
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s\n" % run)
    found = Recording(run.path("gc.jfr"))
    pauses = {event["gcId"]: event["duration"] for event in found.events["jdk.GarbageCollection"]}
    check_equal({event["gcId"]: event["duration"] for event in found.events["jdk.GCPhasePause"]}, pauses, "pauses as phases")
    check_equal(sorted(pauses), list(range(1, len(pauses) + 1)), "numbers of pauses")
    check(pauses and found.events["jdk.GCHeapSummary"], "%d pauses, heap %s" % (len(pauses), found.events["jdk.GCHeapSummary"]))
    for heap in found.events["jdk.GCHeapSummary"]:
        check(heap["gcId"] in pauses and 0 < heap["heapUsed"] <= heap["heapSpace"]["committedSize"] <= 64 << 20, "heap %s" % heap)


@vm_test(units=("bytecode", "cpu_times", "heap_sites") + OUTPUT)
def what_has_no_events_is_refused_or_said(vm):
    check("cpu=times is not supported with format=jfr" in vm.refused("cpu=times,format=jfr"), "cpu=times")
    run = vm.run_java(vm.agent_option("heap=sites,format=jfr,file=out.jfr"), "Sites")
    check("format=jfr holds events only, and of SITES there are none; sites=sampled has them" in run.err, "no message\n%s" % run)
    check_equal(Recording(run.path("out.jfr")).events[ALLOCATION], [], "allocations")


# What hprof print sums up of the events of each type: the table's title, and an event's part of its first number.
def seconds_of(event):
    return float(re.fullmatch(r"PT([\d.]+)S", event["duration"]).group(1))


SUMS = {SAMPLE: ("CPU SAMPLES", lambda event: 1), WAIT_SAMPLE: ("WALL CLOCK SAMPLES", lambda event: event["samples"]),
        "jdk.CPUTimeSample": ("CPU TIME SAMPLES", lambda event: 1), "jdk.NativeMethodSample": ("NATIVE METHOD SAMPLES", lambda event: 1),
        ALLOCATION: ("SITES", lambda event: event["weight"]),
        "jdk.ObjectAllocationInNewTLAB": ("TLAB SITES", lambda event: event["tlabSize"]),
        "jdk.ObjectAllocationOutsideTLAB": ("TLAB SITES", lambda event: event["allocationSize"]),
        "jdk.JavaMonitorEnter": ("MONITOR TIME", lambda event: 1000 * seconds_of(event)),
        "jdk.JavaMonitorWait": ("MONITOR WAIT", lambda event: 1000 * seconds_of(event)),
        "jdk.ThreadPark": ("THREAD PARK", lambda event: 1000 * seconds_of(event)),
        **dict.fromkeys(("jdk.FileRead", "jdk.FileWrite", "jdk.SocketRead", "jdk.SocketWrite"),
                        ("FILES AND SOCKETS", lambda event: 1000 * seconds_of(event))),
        "jdk.ThreadSleep": ("THREAD SLEEP", lambda event: 1000 * seconds_of(event)),
        "jdk.SystemGC": ("CALLS OF SYSTEM.GC", lambda event: 1000 * seconds_of(event)),
        "hprof.SlowCall": ("SLOW CALLS", lambda event: 1000 * seconds_of(event)),
        **dict.fromkeys(("jdk.JavaExceptionThrow", "jdk.JavaErrorThrow"), ("EXCEPTIONS", lambda event: 1)),
        "jdk.DeprecatedInvocation": ("DEPRECATED METHODS CALLED", lambda event: 1)}


def check_read(vm, name):
    """The tool has each event of the recording: in the sum of a table, or in the count of its type."""
    found = Recording(vm.path(name))
    code, text = hprof(vm, "print", "--top=0", name)
    check_equal(code, 0, text)
    wanted, others = collections.Counter(), {}
    for kind, events in found.events.items():
        if kind in SUMS:
            wanted[SUMS[kind][0]] += sum(SUMS[kind][1](event) for event in events)
        elif kind != "hprof.Note":
            others[kind] = len(events)
    sums = {title: float(number) for title, number in re.findall(r"^([A-Z. ]+?)(?: \([^)]*\))?, .* ([\d.]+)(?: ms)? in the rows(?:; .*)?$", text, re.M)}
    check_equal(sorted(sums), sorted(wanted), "tables\n%s" % text)
    wrong = {title: (number, wanted[title]) for title, number in sums.items() if abs(number - wanted[title]) > 0.06}
    check(not wrong, "sums (found, wanted): %s" % wrong)
    counted = {kind: int(number) for number, kind in re.findall(r"^ +(\d+) (\S+\.\S+)$", text, re.M)}
    check_equal(counted, others, "other events")
    return found, text


def hottest(found, kind):
    tops = collections.Counter(frames(event)[0] for event in found.events[kind] if frames(event))
    return tops.most_common(1)[0]


@vm_test(units=OUTPUT, since=11)
def the_tool_reads_the_jdk_s_own_recordings(vm):
    run = vm.run_java("-XX:StartFlightRecording:filename=jdk.jfr,settings=profile" if vm.version >= 17 else
                      "-XX:StartFlightRecording=filename=jdk.jfr,settings=profile", "Spin", "12", "2")
    check_equal(run.code, 0, "exit code\n%s" % run)
    found, text = check_read(vm, "jdk.jfr")
    method, count = hottest(found, SAMPLE)
    check(re.search(r"^ +[\d.]+%% +[\d.]+%% +%d  %s$" % (count, re.escape(method)), text, re.M), "%d of %s in\n%s" % (count, method, text))
    code, said = hprof(vm, "convert", "jdk.jfr", "-o", "jdk.json")
    check_equal(code, 0, said)
    code, said = hprof(vm, "diff", "--top=0", "jdk.jfr", "jdk.json")
    check_equal((code, re.findall(r"^ +[-+][1-9].*", said, re.M)), (0, []), "differences\n%s" % said)


@vm_test(units=OUTPUT, since=25)
def the_tool_reads_cpu_time_samples_of_the_jdk(vm):
    run = vm.run_java("-XX:StartFlightRecording:filename=jdk.jfr,jdk.CPUTimeSample#enabled=true", "Spin", "12", "2")
    check_equal(run.code, 0, "exit code\n%s" % run)
    found, text = check_read(vm, "jdk.jfr")
    check(found.events["jdk.CPUTimeSample"] and "CPU TIME SAMPLES" in text, "samples\n%s" % text)


@vm_test(units=("cpu_samples", "monitor", "vm_events") + OUTPUT)
def the_tool_reads_recordings_of_the_agent(vm):
    recorded(vm, "cpu=samples,interval=1,monitor=y", "Contend", "monitor", "3", "5", "20")
    _, text = check_read(vm, "out.jfr")
    check("CPU SAMPLES, samples" in text and "MONITOR TIME, time blocked" in text, text)
    recorded(vm, "cpu=samples,clock=wall", "Wall", "1")
    check_read(vm, "out.jfr")


@vm_test(units=("bytecode", "io_calls") + OUTPUT)
def reads_and_writes_are_those_of_the_jdk(vm):
    """Each call that the program knows is an event: its bytes, its stack, and at least the time that it was seen to wait."""
    run, found = recorded(vm, "io=y", "Io", "files")
    knows = dict((tuple(words[1:3]), words[3:]) for words in (line.split(";") for line in run.out.splitlines()) if words[0] == "io")
    for name, operation, size in (("jdk.FileRead", "file read", "bytesRead"), ("jdk.FileWrite", "file write", "bytesWritten")):
        events = [event for event in found.events[name] if event["path"] == "stream.dat"]
        wanted = knows[operation, "stream.dat"]
        check_equal((len(events), sum(event[size] for event in events)), (int(wanted[0]), int(wanted[1])), name)
        check(all("Io.streams" in frames(event) or "Io.files" in frames(event) for event in events), "stacks of " + name)
        check_equal({event["eventThread"]["javaName"] for event in events}, {"main"}, "threads")
    _, text = check_read(vm, "out.jfr")
    check("FILES AND SOCKETS, time" in text and "file write stream.dat" in text, text)
    check_equal(sum(event["endOfFile"] for event in found.events["jdk.FileRead"] if event["path"] == "stream.dat"), 8, "ends of the file")
    run, found = recorded(vm, "io=y", "Io", "sockets")
    for line in run.out.splitlines():
        _, operation, target, calls, size, _, waited = line.split(";")
        name, amount = ("jdk.SocketRead", "bytesRead") if operation.endswith("read") else ("jdk.SocketWrite", "bytesWritten")
        port = target.split(":")[1]
        events = [event for event in found.events[name] if (event["host"], event["port"]) == ("127.0.0.1", 0 if port == "*" else int(port))]
        check_equal((operation, target, len(events), sum(event[amount] for event in events)), (operation, target, int(calls), int(size)),
                    "events\n%s\n" % run)
        check(sum(seconds_of(event) for event in events) * 1e9 >= int(waited) * 0.999, "time of %s" % line)
