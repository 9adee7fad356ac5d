"""monitor=y and monitor=all: contention, waits, dumps."""
import os
import re

from commands import load_agent, must
from harness import check, check_equal, vm_test
from reports import parse_monitors

UNITS = ("monitor", "encoder_ascii", "sink_file")


def contend(vm, options, *program):
    """The milliseconds between the program's looks at the clock before and after it was blocked, and the report."""
    run = vm.run_java(vm.agent_option(options + ",file=out.txt"), "Contend", *program)
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    found = re.fullmatch(r"blocked (\d+) times \d+\n", run.out)
    check(found, "the program said %r" % run.out)
    return int(found.group(1)), parse_monitors(run.text("out.txt"))


@vm_test(units=UNITS, quick=True)
def contention_is_charged_to_the_method_and_the_class_of_the_monitor(vm):
    """Three threads, one monitor. What the agent measures lies between what the program measures."""
    blocked, monitors = contend(vm, "monitor=y", "monitor", "3", "5", "20")
    check_equal(len(monitors.times), 1, "MONITOR TIME sections")
    time = monitors.times[0]
    rows = [row for row in time.rows if row[2] == "java.lang.Object"]
    check(rows and rows[0] == time.rows[0], "no contention of the monitor: %s" % time.rows)
    share = sum(row[4] for row in rows) / 100
    check(0 < share * time.total <= blocked + 2, "%d ms of %d, but it was %d" % (share * time.total, time.total, blocked))
    check_equal(monitors.top(), "Contend.inMonitor", "where the time goes")


@vm_test(units=UNITS)
def notes_behind_the_table_name_who_was_kept_waiting_by_whom(vm):
    for options, kind in (("monitor=y", "monitor"), ("monitor=all,interval=1", "lock")):
        contend(vm, options, kind, "3", "10", "20")
        with open(vm.path("out.txt")) as file:
            behind = file.read().split("MONITOR TIME END\n")[-1]
        name = r'"contender-\d"'
        names = "%s(, %s)*" % (name, name)
        check(re.search(r"^HPROF NOTE: monitor: rank \d+: %s kept waiting by %s \(seen \d+ times?\)$" % (names, names), behind, re.M),
              "who held it, with %s\n%s" % (options, behind[:3000]))


@vm_test(units=UNITS)
def locks_of_java_util_concurrent_have_owners_in_the_dump(vm):
    live = vm.start("monitor=all,file=out.txt", "Held", "lock")
    ask(live, 1)
    monitors = ended(live)
    dump = monitors.dumps[-2]
    locks = [m for m in dump.monitors if m["signature"] == "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;"]
    check_equal([(m["owner"], m["entries"], m["enter"], m["notify"]) for m in locks],
                [(monitors.thread("main"), 1, [monitors.thread("parked")], [])], "locks")
    with open(vm.path("out.txt")) as file:
        notes = [line for line in file if line.startswith("HPROF NOTE: monitor:")]
    check(any('"parked" waits for' in line for line in notes), "who waits: %s" % notes)
    check(not any('"sleeps"' in line for line in notes), "a thread waits for its own lock: %s" % notes)


@vm_test(units=UNITS)
def contention_is_told_apart_by_thread(vm):
    """All but the first that enters are kept waiting: see Contend."""
    run = vm.run_java(vm.agent_option("monitor=y,thread=y,file=out.txt"), "Contend", "monitor", "3", "3", "10")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    monitors = parse_monitors(run.text("out.txt"), thread_ids=True)
    threads = {monitors.report.traces[row[1]].thread for row in monitors.times[0].rows if row[2] == "java.lang.Object"}
    contenders = {monitors.thread("contender-%d" % i) for i in range(3)}
    check(len(threads & contenders) >= 2, "contention in threads %s of %s" % (threads, contenders))


@vm_test(units=UNITS)
def no_contention_no_table(vm):
    """The program has one thread. Threads of the JDK may contend, rarely: a table then has their monitors alone."""
    tables = []
    for _ in range(3):
        monitors = parse_monitors(vm.profiled("monitor=y,file=out.txt", "Quick").text("out.txt"))
        check_equal(len(monitors.dumps), 1, "MONITOR DUMP sections")
        tables.append([row for time in monitors.times for row in time.rows])
        check(all(row[2].startswith(("java.", "jdk.", "sun.")) for row in tables[-1]), "contention of the program: %s" % tables[-1])
        check_equal(len(monitors.times), 1 if tables[-1] else 0, "MONITOR TIME sections with %s" % tables[-1])
    check([] in tables, "each run has a table: %s" % tables)


@vm_test(units=UNITS)
def waits_are_lines_with_their_times(vm):
    """join() waits for the thread's monitor until all of its rounds are over."""
    _, monitors = contend(vm, "monitor=y", "monitor", "1", "5", "20")
    main = monitors.thread("main")
    joins = [event for event in monitors.events if event.thread == main and event.monitor.startswith("LContend$")]
    check_equal([event.what for event in joins[:2]], ["WAIT", "WAITED"], "what main does")
    check_equal(joins[0].time, 0, "timeout")
    check(joins[1].time > 0, "how long main waited for 5 rounds of 21 ms")


def dump_of_held(vm, live, monitors):
    """The parts of the last dump but the one at the end: (monitor of GATE, monitor of BELL, dump)."""
    dump = monitors.dumps[-2]
    gate = [m for m in dump.monitors if m["enter"]]
    bell = [m for m in dump.monitors if monitors.thread("listens") in m["notify"]]
    check(len(gate) == 1 and len(bell) == 1, "monitors: %s" % dump.monitors)
    return gate[0], bell[0], dump


def ask(live, number):
    live.request_data_dump()
    live.wait_for("out.txt", "MONITOR DUMP END\n", number)


def ended(live):
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    # The VM's own answer to SIGQUIT goes to stdout as well, and may come last.
    check(re.search(r"\bended\b", run.out), "the program did not end by itself\n%s" % run)
    return parse_monitors(run.text("out.txt"))


@vm_test(units=UNITS)
def dump_shows_owner_and_waiters(vm):
    live = vm.start("monitor=y,file=out.txt", "Held")
    ask(live, 1)
    monitors = ended(live)
    gate, bell, dump = dump_of_held(vm, live, monitors)
    wanting = sorted(monitors.thread("wants-%d" % i) for i in range(2))
    check_equal((gate["owner"], gate["entries"]), (monitors.thread("main"), 2), "owner of the gate, and how often")
    check_equal((sorted(gate["enter"]), gate["notify"]), (wanting, []), "who wants the gate")
    check_equal((bell["owner"], bell["enter"], bell["notify"]), (None, [], [monitors.thread("listens")]), "the bell")
    held = [(m["owner"], m["entries"], m["enter"], m["notify"]) for m in dump.monitors if m["signature"] == "LHeld$Quiet;"]
    check_equal(held, [(monitors.thread("main"), 1, [], [])], "a monitor that is held without contention")
    trace = monitors.report.traces[dump.threads[wanting[0]][0]]
    check_equal(trace.frames[0][0], "Held.want", "where a thread is that wants the gate")


@vm_test(units=UNITS)
def the_thread_that_ends_the_vm_is_in_the_last_dump(vm):
    run = vm.profiled("monitor=y,thread=y,depth=16,file=out.txt", "Quick", "3")
    monitors = parse_monitors(run.text("out.txt"), thread_ids=True)
    row = monitors.dumps[-1].threads.get(monitors.thread("main"))
    check(row is not None, "main is not in the dump\n%s" % run.text("out.txt"))
    methods = [frame[0] for frame in monitors.report.traces[row[0]].frames]
    check("java.lang.System.exit" in methods, "where main is: %s" % methods)


@vm_test(units=UNITS)
def notes_behind_the_dump_name_who_waits_and_who_holds(vm):
    live = vm.start("monitor=y,file=out.txt", "Held", "lock")
    ask(live, 1)
    ended(live)
    text = open(vm.path("out.txt")).read().split("MONITOR DUMP END\n")[1]
    holder = r'held by "main", which is in \S+(:\d+)?$'
    for name, lock in (("wants-0", r"java\.lang\.Object"), ("wants-1", r"java\.lang\.Object"),
                       ("parked", r"java\.util\.concurrent\.locks\.ReentrantLock\$NonfairSync")):
        check(re.search(r'^HPROF NOTE: monitor: "%s" waits for %s, %s' % (name, lock, holder), text, re.M),
              "who holds what %s waits for\n%s" % (name, text[:3000]))
    check('"listens" waits for' not in text, "a thread that waits to be notified is not held up")
    check("; 1 thread is parked on locks of java.util.concurrent now, which only monitor=all measures: see hprof threads PID\n" in text,
          "locks that are not measured\n%s" % text[:3000])


@vm_test(units=UNITS)
def threads_blocked_at_a_report_are_in_the_table(vm):
    """So that a deadlock shows. Their time grows from report to report, the count does not."""
    live = vm.start("monitor=y,file=out.txt", "Held")
    for number in (1, 2, 3):
        ask(live, number)
    monitors = ended(live)
    rows = []
    for time in monitors.times:
        rows.append([row for row in time.rows if monitors.report.traces[row[1]].frames[0][0] == "Held.want"][0])
    check_equal([row[0] for row in rows], [2, 2, 2, 2], "contentions of the gate")
    totals = [time.total for time in monitors.times]
    check(totals == sorted(totals) and totals[0] < totals[-1], "totals %s" % totals)


@vm_test(units=UNITS)
def fifty_requests_under_contention_give_complete_sections(vm):
    live = vm.launch([vm.agent_option("monitor=all,file=out.txt"), "Held"]).wait_ready()
    for number in range(1, 51):
        live.request_data_dump()
        if number % 10 == 0:
            live.wait_for("out.txt", "MONITOR DUMP END\n", number // 10)
    monitors = ended(live)
    check(len(monitors.dumps) >= 6, "%d dumps" % len(monitors.dumps))
    check_equal(len(monitors.times), len(monitors.dumps), "tables, a dump each")


@vm_test(units=UNITS)
def stopped_and_started_again_it_goes_on(vm):
    live = vm.start("monitor=all,start=n,control=%s,file=out.txt" % vm.path("ctl"), "Held")
    live.wait_until(lambda: os.path.exists(vm.path("ctl")), "the control socket")
    must(vm.path("ctl"), "start", "report", "stop", "report", "start", "report", "reset", "report")
    monitors = ended(live)
    check_equal(len(monitors.dumps), 5, "dumps: four asked for, one at the end")
    # They were blocked all the while, and are charged from the last start or reset on.
    rows = [row for row in monitors.times[-1].rows if monitors.report.traces[row[1]].frames[0][0] == "Held.want"]
    check_equal([row[0] for row in rows], [2], "contentions of the gate")


@vm_test(units=UNITS)
def locks_are_sampled_with_monitor_all(vm):
    _, monitors = contend(vm, "monitor=all,interval=1", "lock", "3", "20", "10")
    rows = [row for row in monitors.times[0].rows if row[3] == "java.util.concurrent"]
    check(rows and rows[0][2].startswith("java.util.concurrent.locks.ReentrantLock$"), "rows %s" % rows)
    frames = monitors.report.traces[rows[0][1]].frames
    check_equal([frames[0][0], frames[1][0]], ["java.util.concurrent.locks.ReentrantLock.lock", "Contend.inLock"],
                "where the time goes")


@vm_test(units=UNITS)
def blame_goes_to_the_stacks_that_held_the_lock(vm):
    """One place holds it four times as long as the other; the shares are those that the program measured."""
    for kind in ("monitor", "lock"):
        run = vm.run_java(vm.agent_option("monitor=all,interval=5,depth=16,cutoff=0,file=out.txt"), "Blame", kind, "5")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        held = [int(word) for word in re.fullmatch(r"held (\d+) (\d+)\n", run.out).groups()]
        report = parse_monitors(run.text("out.txt")).report
        blamed, samples = {"holdLong": 0, "holdShort": 0}, 0
        for title, row in report.table_lines:
            check_equal(title, "BLAME", "the table")
            samples += int(row["waiters"])
            for method, _, _ in report.traces[int(row["trace"])].frames:
                if method in ("Blame.holdLong", "Blame.holdShort"):
                    blamed[method[len("Blame."):]] += int(row["blamed_ns"])
        total = sum(blamed.values())
        check(samples >= 60, "%s: %d threads found waiting" % (kind, samples))
        check(total >= 0.8 * sum(int(row["blamed_ns"]) for _, row in report.table_lines), "%s: most time has a holder's stack: %s" % (
            kind, report.table_lines))
        share, expected = blamed["holdLong"] / total, held[0] / sum(held)
        # Two or three threads wait at a time, of which a sample draws one. The holders take turns, so that the shares vary less than
        # those of draws at random; but on a busy machine the sampler runs when they do not. Without blame both would have a half.
        error = (expected * (1 - expected) / (samples / 3)) ** 0.5 + 0.03
        check(abs(share - expected) < 3 * error, "%s: %.3f of the blame, held for %.3f of the time (error %.3f)" % (
            kind, share, expected, error))


@vm_test(units=UNITS)
def locks_are_left_alone_with_monitor_y(vm):
    _, monitors = contend(vm, "monitor=y", "lock", "3", "3", "10")
    labels = {row[3] for time in monitors.times for row in time.rows}
    check(labels <= {"Java"}, "labels %s" % labels)


@vm_test(units=("monitor", "encoder_binary"))
def binary_format_is_refused(vm):
    for value in ("y", "all"):
        line = vm.refused("monitor=%s,format=b" % value)
        check("monitor=%s is not supported with format=b (monitor=%s,format=b)" % (value, value) in line, line)


@vm_test(units=UNITS)
def late_agent_sees_monitors_that_are_fought_over_since(vm):
    live = vm.start(None, "Held", java=vm.attachable)
    answer = load_agent(live.pid, vm.agent, "monitor=y,file=%s" % vm.path("out.txt"))
    check(answer.split()[:1] == ["0"], "the VM answers %r\n%s" % (answer, live.state()))
    ask(live, 1)
    monitors = ended(live)
    check(any("does not tell what a thread is blocked on" in note for note in monitors.report.notes),
          "notes %s" % monitors.report.notes)
    # They were blocked before the agent came, and are charged from then on.
    rows = [row for row in monitors.times[-1].rows if monitors.report.traces[row[1]].frames[0][0] == "Held.want"]
    check_equal([row[0] for row in rows], [2], "contentions of the gate")


@vm_test(units=UNITS, since=21)
def virtual_threads_are_in_the_dump(vm):
    live = vm.start("monitor=y,file=out.txt", "VirtualMonitors", "held",
                    java=("-Djdk.virtualThreadScheduler.parallelism=4",))
    ask(live, 1)
    monitors = ended(live)
    gate, bell, _ = dump_of_held(vm, live, monitors)
    check_equal(gate["enter"], [monitors.thread("wants-0")], "who wants the gate")
    check(gate["owner"] in (0, monitors.thread("main")), "owner of the gate: %s" % gate["owner"])
    check_equal(bell["notify"], [monitors.thread("listens")], "who waits for the bell")


@vm_test(units=UNITS, since=21)
def ten_thousand_virtual_threads(vm):
    run = vm.profiled("monitor=y,file=out.txt", "VirtualMonitors", "many", "10000")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    check(not run.errors(), "complaints\n%s" % run)
    monitors = parse_monitors(run.text("out.txt"))
    # In pass itself, or on the way back into the monitor after its wait.
    check("VirtualMonitors.pass" in monitors.top_frames(), "where the time goes: %s" % monitors.top_frames())
    lost = [note for note in monitors.report.notes if note.startswith("lost ") and "the queue to the writer" not in note]
    check(not lost, "losses: %s" % lost)
