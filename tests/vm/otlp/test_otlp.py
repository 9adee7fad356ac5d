"""format=otlp and format=otlp,events=y: OpenTelemetry's profiles, in files and posted to a collector."""
import re
import sys

from harness import Skip, check, check_equal, vm_test
from peers import HttpServer
from pictures import Otlp
from programs import COUNTS, MADE, jni_library
from vendor import probe_folder

ENCODER = ("encoder_otlp",)
FILE = ENCODER + ("sink_file",)
TIMES = ("bytecode", "cpu_times") + ENCODER + ("sink_http",)
PATH = "/v1development/profiles"


def written(vm, options, *program, environment=None, form="otlp"):
    run = vm.profiled("%s,format=%s,cutoff=0,file=out.otlp.pb" % (options, form), *program, environment=environment)
    check("lost" not in run.err, "losses\n%s" % run)
    return Otlp(run.bytes("out.otlp.pb"))


@vm_test(units=("bytecode", "cpu_times") + FILE, quick=True)
def calls_by_method_are_exact(vm):
    found = written(vm, "cpu=times", "Calls")
    check_equal({name: table.unit for name, table in found.profiles.items()}, {"calls": "count", "time": "nanoseconds"}, "types")
    calls = found.profiles["calls"]
    sums = calls.self_by_method("calls")
    check_equal({name: sums.get(name, 0) for name in COUNTS}, COUNTS, "calls")
    check_equal(found.files["Calls.main"], "Calls.java", "file of Calls.main")
    check_equal(found.scope, ("hprof", "1.0"), "scope")
    check_equal(len({table.id for table in found.profiles.values()}), len(found.profiles), "ids of profiles")
    check(calls.time_ns > 0 and calls.duration_ns > 0, "times")


@vm_test(units=("cpu_samples",) + FILE)
def samples_have_a_period_and_threads(vm):
    found = written(vm, "cpu=samples,interval=1,thread=y", "Spin", "6", "2")
    check_equal(list(found.profiles), ["samples", "cpu"], "types")
    samples, cpu = found.profiles["samples"], found.profiles["cpu"]
    check_equal(cpu.period, (("cpu", "nanoseconds"), 1000000), "period")
    check_equal(sum(values["cpu"] for _, values, _ in cpu.stacks),
                1000000 * sum(values["samples"] for _, values, _ in samples.stacks), "samples times the interval")
    spun = [attributes for frames, _, attributes in samples.stacks if frames[0] == "Spin.hot"]
    check_equal({attributes["thread.name"] for attributes in spun}, {"spin 0", "spin 1"}, "threads")
    check_equal(len({attributes["thread.id"] for attributes in spun}), 2, "numbers of threads")
    check(samples.lines["Spin.hot"] > 0, "no line of Spin.hot")


@vm_test(units=("bytecode", "heap_sites") + FILE)
def objects_by_method_and_class_are_exact(vm):
    found = written(vm, "heap=sites", "Sites")
    table = found.profiles["alloc_objects"]
    table.stacks = [(frames, values, attributes["class"]) for frames, values, attributes in table.stacks]
    sums = table.by_method_and_class("Sites", "alloc_objects")
    wrong = {(method, name): (sums.get(method, {}).get(name, 0), count) for method, classes in MADE.items()
             for name, count in classes.items() if sums.get(method, {}).get(name, 0) != count}
    check(not wrong, "objects (found, made): %s" % wrong)


@vm_test(units=("monitor",) + FILE)
def contentions_have_their_monitor(vm):
    run = vm.run_java(vm.agent_option("monitor=y,format=otlp,cutoff=0,file=out"), "Contend", "monitor", "3", "3", "10")
    check_equal(run.code, 0, "exit code\n%s" % run)
    found = Otlp(run.bytes("out"))
    check_equal((found.profiles["delay"].unit, found.profiles["contentions"].unit), ("nanoseconds", "count"), "types")
    check(all(attributes.get("monitor") for _, _, attributes in found.profiles["delay"].stacks), "a stack without its monitor")


@vm_test(units=("monitor",) + FILE)
def all_tables_of_a_report_are_in_its_request(vm):
    run = vm.run_java(vm.agent_option("monitor=all,format=otlp,cutoff=0,file=out"), "Contend", "monitor", "3", "3", "10")
    check(run.code == 0 and "lost" not in run.err, "losses\n%s" % run)
    found = Otlp(run.bytes("out"))
    check({"delay", "contentions", "blamed_ns", "waiters"} <= set(found.profiles), "profiles: %s" % list(found.profiles))


@vm_test(units=("bytecode", "cpu_times") + FILE)
def the_resource_says_which_process_it_is(vm):
    attributes = "deployment.environment.name=a%2Cb,service.name=from-attributes, x = y"
    cases = (({}, "", {"service.name": "Quick"}),
             ({"OTEL_SERVICE_NAME": "from-name", "OTEL_RESOURCE_ATTRIBUTES": attributes}, "",
              {"service.name": "from-name", "deployment.environment.name": "a,b"}),
             ({"OTEL_RESOURCE_ATTRIBUTES": attributes}, "", {"service.name": "from-attributes"}),
             ({"OTEL_SERVICE_NAME": "from-name"}, ",labels=service:shop;zone:b", {"service.name": "shop", "zone": "b"}))
    for variables, options, wanted in cases:
        resource = written(vm, "cpu=times" + options, "Quick", environment=variables).resource
        check_equal({name: resource.get(name) for name in wanted}, wanted, "attributes with %s and %r" % (variables, options))
        check(resource["host.name"] and resource["process.pid"] > 0, "host and process: %s" % resource)
        check_equal((resource["process.runtime.version"], resource["telemetry.sdk.language"]), (str(vm.version), "java"), "runtime")


@vm_test(units=("bytecode", "cpu_times") + FILE)
def the_resource_is_what_the_process_publishes_of_itself(vm):
    if not sys.platform.startswith("linux"):
        raise Skip("OTEP 4719 is of Linux")
    publisher = "-agentpath:" + jni_library(vm, "process_context.c")
    for options, wanted in (("", {"service.name": "published-one", "zone": "inside"}),
                            (",labels=service:shop", {"service.name": "shop", "zone": "inside"})):
        run = vm.run_java(vm.agent_option("cpu=times%s,format=otlp,cutoff=0,file=out" % options), publisher, "Quick",
                          environment={"OTEL_SERVICE_NAME": "from-name"})
        check_equal(run.code, 0, "exit code\n%s" % run)
        resource = Otlp(run.bytes("out")).resource
        check_equal({name: resource.get(name) for name in wanted}, wanted, "attributes with %r" % options)


@vm_test(units=("cpu_samples",) + FILE, needs=("short intervals",), quick=True)
def events_have_times_and_states(vm):
    found = written(vm, "cpu=samples,interval=1", "Spin", "6", "2", form="otlp,events=y")
    check_equal(list(found.profiles), ["samples", "cpu"], "types")
    samples, cpu = found.profiles["samples"], found.profiles["cpu"]
    check_equal(cpu.period, (("cpu", "nanoseconds"), 1000000), "period")
    check_equal([[(at, 1000000 * count) for at, count in times] for times in samples.times], cpu.times, "samples times the interval")
    spun = [(times, attributes) for (frames, _, attributes), times in zip(samples.stacks, samples.times) if frames[0] == "Spin.hot"]
    check_equal({attributes["thread.name"] for _, attributes in spun}, {"spin 0", "spin 1"}, "threads")
    check_equal({attributes["thread.state"] for _, attributes in spun}, {"runnable"}, "states")
    times = [at for of, _ in spun for at, _ in of]
    check(times and len(set(times)) > len(times) / 2, "%d samples at so few times" % len(times))
    # With the agent's own walk also what ran the method on top.
    own, codes = {"thread.name", "thread.id", "thread.state"}, {"Interpreted", "C1 compiled", "JIT compiled", "Inlined", "Native"}
    check(all(attributes.keys() - {"code"} == own for _, _, attributes in samples.stacks), "attributes")
    check(all(attributes.get("code", "Native") in codes for _, _, attributes in samples.stacks), "codes")


@vm_test(units=("cpu_samples",) + FILE, quick=True)
def events_have_the_name_that_a_thread_gave_itself(vm):
    found = written(vm, "cpu=samples,interval=1", "NamesItself", form="otlp,events=y")
    spun = {attributes["thread.name"] for frames, _, attributes in found.profiles["samples"].stacks if frames[0] == "Spin.hot"}
    check_equal(spun, {"worker-7", "server-1"}, "threads")


@vm_test(units=("heap_sites",) + FILE, since=11)
def events_of_allocations_are_beside_what_lives(vm):
    # Fewer samples than the queue to the writer has places, so that none is lost on a busy machine.
    found = written(vm, "heap=sites,sites=sampled:16k", "Sites", form="otlp,events=y")
    made, live = found.profiles["alloc_space"], found.profiles.get("inuse_space")
    check(all(times for times in made.times), "allocations without times")
    check(live is None or not any(live.times), "times of what lives")
    check(any(attributes.get("class", "").startswith("Sites") for _, _, attributes in made.stacks), "no class of the program")


@vm_test(units=("cpu_samples", "bytecode") + FILE)
def samples_link_to_the_span_that_a_tracer_sets(vm):
    options = "plugins=%s,tracer=y,cpu=samples,interval=1,format=otlp,events=y,cutoff=0,file=out" % probe_folder(vm)
    run = vm.run_java(vm.agent_option(options), "Spans")
    check_equal((run.code, run.errors()), (0, []), "exit code and complaints\n%s" % run)
    calls = int(run.out.split()[1])
    inside = linked = 0
    for frames, _, attributes in Otlp(run.bytes("out")).profiles["samples"].stacks:
        if "span_id" in attributes:
            linked += 1
            check_equal((attributes["trace_id"], attributes["labels"]), ("0123456789abcdeffedcba9876543210", "route:/inside"), "context")
            check(0 < int(attributes["span_id"], 16) <= calls, "span %s" % attributes["span_id"])
        if frames[:2] == ["Spans.spin", "Spans$Inside.work"]:
            inside += 1
            check("span_id" in attributes, "a sample in the span has no link")
    check(linked >= inside > 0, "%d samples in spans, %d with links" % (inside, linked))


@vm_test(units=("cpu_samples",) + ENCODER + ("sink_http",))
def events_are_posted_with_the_report_that_follows(vm):
    with HttpServer((200, b"\x0a\x00")) as server:
        options = "cpu=samples,interval=1,every=1,cutoff=0,format=otlp,events=y,url=http://127.0.0.1:%d%s" % (server.port, PATH)
        live = vm.start(options, "Idle")
        live.wait_until(lambda: len(server.posts) >= 3, "three windows")
        run = live.finish()
        posts = list(server.posts)
    check_equal(run.code, 0, "exit code\n%s" % run)
    check("whole reports" not in run.err and "lost" not in run.err, "messages\n%s" % run)
    requests = [Otlp(body) for _, _, _, body in posts]
    check_equal([list(request.profiles) for request in requests], [["samples", "cpu"]] * len(requests), "types")
    times = [sorted(at for of in request.profiles["cpu"].times for at, _ in of) for request in requests]
    if not times[-1]:  # the last window may be too short for a sample
        times.pop()
    check(len(times) >= 3 and all(times), "%d windows with samples" % len(times))
    for before, after in zip(times, times[1:]):
        check(before[-1] - after[0] < 500_000_000, "a window begins %d ns before the last one ends" % (before[-1] - after[0]))
    spread = max(max(of) for of in times) - min(min(of) for of in times)
    check(spread > 2_000_000_000, "samples over %d ns only" % spread)


def windows(server):
    """The tables of calls that a server has got."""
    requests = [Otlp(body) for _, _, _, body in list(server.posts)]
    return [request.profiles["calls"] for request in requests if "calls" in request.profiles]


@vm_test(units=TIMES)
def windows_are_posted_until_the_collector_has_them(vm):
    with HttpServer((429, b"", "Retry-After: 1"), 503, (200, b"\x0a\x00")) as server:
        options = "cpu=times,every=1,cutoff=0,format=otlp,url=http://127.0.0.1:%d%s" % (server.port, PATH)
        live = vm.start(options, "Rounds")
        live.wait_until(lambda: sum(table.self_by_method("calls").get("Rounds.round", 0) for table in windows(server)) == 2 * 25,
                        "all calls")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s" % run)
        posts, calls = list(server.posts), windows(server)
    check("it answers 429" in run.err and "rejects" not in run.err and "lost" not in run.err, "messages\n%s" % run)
    check_equal({(method, target, headers["content-type"]) for method, target, headers, _ in posts},
                {("POST", PATH, "application/x-protobuf")}, "requests")
    check_equal(sum(table.self_by_method("calls").get("Rounds.round", 0) for table in calls), 2 * 25, "calls of round")
    check_equal(len({table.id for table in calls}), len(calls), "ids of profiles")
    for before, after in zip(calls, calls[1:]):
        check(before.time_ns < after.time_ns, "times of the windows")


@vm_test(units=("cpu_samples", "monitor") + ENCODER + ("sink_http",), quick=True)
def a_window_in_which_nothing_was_seen_is_not_posted(vm):
    for form in ("otlp", "otlp,events=y"):
        with HttpServer((200, b"")) as server:
            options = "cpu=samples,monitor=y,every=1,format=%s,url=http://127.0.0.1:%d/{unit}" % (form, server.port)
            run = vm.profiled(options, "Spin", "20")
            posts = [(target, len(body)) for _, target, _, body in server.posts]
        check("lost" not in run.err, "losses\n%s" % run)
        check(posts and all(size != 0 for _, size in posts), "posts of %s: %s" % (form, posts))
        check(form == "otlp,events=y" or {target for target, _ in posts} == {"/cpu_samples"}, "posts: %s" % posts)


@vm_test(units=TIMES)
def what_a_collector_does_not_take_is_said(vm):
    partial = b"\x0a\x0e\x08\x02\x12\x0ano resource"[:16]
    for step, line in (((200, partial), "rejects 2 profiles of a report: no resourc"),
                       ((200, b"<html>", "Content-Type: text/html"), "took a report, but answers with text/html, not as"),
                       (400, "it answers 400; it is lost"), (500, "it answers 500; it is lost")):
        with HttpServer(step) as server:
            options = "cpu=times,format=otlp,url=http://127.0.0.1:%d%s" % (server.port, PATH)
            run = vm.run_java(vm.agent_option(options), "Calls")
            check_equal(server.seen, 1, "requests answered with %s\n%s" % (step, run))
        check_equal((run.code, run.err.count(line)), (0, 1), "message on %s\n%s" % (step, run))


@vm_test(units=("bytecode", "heap_sites") + ENCODER + ("sink_http",))
def a_collector_that_stops_for_a_while_gets_what_the_buffer_held(vm):
    # Some object is alive in every report; a report of samples may have none, and is not posted then.
    taken = (200, b"\x0a\x00")
    with HttpServer(taken) as server:
        live = vm.start("heap=sites,depth=1,cutoff=0.03,format=otlp,labels=text:%s,memory-limit=64k,url=http://127.0.0.1:%d%s?n={sequence}"
                        % ("x" * 6000, server.port, PATH), "Idle")
        live.wait_ready()

        def report():
            made = live.err().count(" done.")
            live.request_data_dump()
            live.wait_until(lambda: live.err().count(" done.") > made, "a report")

        report()
        live.wait_until(lambda: len(server.posts) == 1, "a post")
        server.steps = [503]
        for _ in range(14):
            report()
        server.steps = [taken]
        live.wait_until(lambda: server.posts[-1][1].endswith("n=15"), "the last report")
        run = live.finish()
    check_equal(run.code, 0, "exit code\n%s" % run)
    numbers = [int(target.split("n=")[1]) for _, target, _, _ in server.posts]
    sizes = [len(body) for _, _, _, body in server.posts]
    lost = sorted(set(range(1, 17)) - set(numbers))
    check_equal(numbers, sorted(set(numbers)), "each once, in their order")
    check(lost, "none is lost")
    # The oldest are lost, but for the one that was on its way when the last of them had to go.
    kept = sorted(set(range(2, max(lost) + 1)) - set(lost))
    check(len(kept) <= 1, "lost: %s, but not: %s" % (lost, kept))
    held = sum(sizes[1:-1])
    check(held <= 65536 < held + max(sizes), "%d bytes in reports of %s" % (held, sizes))
    said = re.findall(r"lost (\d+) reports: unsent ones filled", run.err)
    check_equal(said[-1:], [str(len(lost))], "losses that are said\n%s" % run)
