"""control= and listen=: a VM loaded idle, profiled for a while, and who may ask for it."""
import os
import random
import re
import stat
import threading
import time

from commands import Lines, ask, connect, must
from harness import Failure, check, check_equal, vm_test
from peers import closed_port
from reports import parse_ascii
from tool import hprof, sound

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")
SECRET = b"correct horse battery staple"


def wait_for_samples(live, path):
    """Until a report has samples of the busy thread."""
    def seen():
        must(path, "samples")
        return "Spin.hot" in open(live.vm.path("out.txt"), errors="replace").read()
    live.wait_until(seen, "samples of the busy thread")


@vm_test(units=UNITS)
def loaded_idle_then_profiled_twice(vm):
    vm.needs_signals_in_time()
    path = vm.path("s")
    live = vm.start("cpu=samples,start=n,control=%s,file=out.txt" % path, "Idle")
    check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode of the socket")
    check("cpu_samples: not started" in must(path, "status"), "the collector is idle")
    check(not ask(path, "report")[0], "there is nothing to report yet")
    must(path, "start")
    wait_for_samples(live, path)
    must(path, "stop", "stop")
    check("cpu_samples: stopped" in must(path, "status"), "the collector is stopped")
    must(path, "report", "start", "start", "report", "stop", "reset")
    check(not ask(path, "report")[0], "all was forgotten")
    run = live.ended_well()
    check(not os.path.exists(path), "the socket is still there")
    sections = parse_ascii(run.text("out.txt")).cpu()
    check("Spin.hot" in [row.method for row in sections[-2].rows], "no samples\n%s" % run.text("out.txt"))


@vm_test(units=UNITS)
def a_refused_start_leaves_no_socket(vm):
    path = vm.path("s")
    line = vm.refused("cpu=samples,control=%s,file=nonexistent/out.txt" % path)
    check("can't create profile file" in line, "the line: %s" % line)
    check(not os.path.exists(path), "the socket is still there")


@vm_test(units=("encoder_ascii", "sink_file"))
def without_a_collector_commands_are_still_answered(vm):
    path = vm.path("s")
    live = vm.start("heap=off,control=%s,file=out.txt" % path, "Idle")
    must(path, "status", "gc", "summary", "stop")
    for command in ("start", "report", "dump heap"):
        good, said, _ = ask(path, command)
        check(not good and "no collector was chosen" in said, "%s: %s" % (command, said))
    live.ended_well()


@vm_test(units=UNITS + ("heap_sites", "heap_dump", "monitor"), since=21)
def every_command_works_under_ten_thousand_virtual_threads(vm):
    path = vm.path("s")
    live = vm.start("cpu=samples,heap=all,monitor=all,start=n,control=%s,file=out.txt" % path, "VirtualIdle")
    must(path, "status", "start", "report", "samples", "sites", "summary", "dump heap", "depth 9", "stop", "report", "start",
         "report", "reset", "report", "status")
    run = live.ended_well()
    check(not run.errors(), "complaints\n%s" % run)
    sound(vm, "out.txt")
    report = parse_ascii(run.text("out.txt"))
    check_equal(len(report.summaries), 1, "HEAP SUMMARY lines")
    sections = {section.name for section in report.sections}
    check({"CPU SAMPLES", "SITES", "HEAP DUMP", "MONITOR DUMP"} <= sections, "sections: %s" % sections)


@vm_test(units=UNITS)
def loaded_idle_and_left_alone_writes_no_report(vm):
    live = vm.start("cpu=samples,start=n,control=n,file=out.txt", "Idle")
    run = live.ended_well()
    check_equal(run.text("out.txt").count("CPU SAMPLES BEGIN ("), 0, "sections")


@vm_test(units=UNITS)
def idle_agent_sleeps(vm):
    """No event, no timer: the agent's threads are not woken while nothing is asked of them."""
    path = vm.path("s")
    live = vm.start("cpu=samples,start=n,control=%s,file=out.txt" % path, "Idle")
    must(path, "status")
    # The thread that served the connection ends with it, and the others have to get as far as their names and waits.
    live.wait_until(lambda: "hprof control" not in switches(live.pid)[0].values() and sleeping(live.pid)
                    and {"hprof listener", "hprof writer"} <= set(switches(live.pid)[0].values()), "the agent's two threads alone, asleep")
    names, before = switches(live.pid)
    time.sleep(3)
    _, after = switches(live.pid)
    for thread, name in names.items():
        check(thread in after, "%s has ended" % name)
        check(after[thread] - before[thread] <= 2, "%s was woken %d times" % (name, after[thread] - before[thread]))
    live.ended_well()


def sleeping(pid):
    """Whether the agent's threads sleep, all of them."""
    names, _ = switches(pid)
    return all(re.search(r"^State:\tS", open("/proc/%d/task/%s/status" % (pid, thread)).read(), re.M) for thread in names)


def switches(pid):
    names, counts = {}, {}
    for thread in os.listdir("/proc/%d/task" % pid):
        try:
            text = open("/proc/%d/task/%s/status" % (pid, thread)).read()
        except OSError:
            continue
        name = re.search(r"^Name:\t(.*)$", text, re.M).group(1)
        if name.lower().startswith("hprof"):
            names[thread] = name
            counts[thread] = sum(int(count) for count in re.findall(r"ctxt_switches:\t(\d+)", text))
    return names, counts


@vm_test(units=UNITS)
def default_path_names_user_and_process(vm):
    live = vm.start("cpu=samples,start=n,file=out.txt", "Idle")
    path = live.proc("root/tmp/hprof-%d-%d.sock" % (os.geteuid(), live.pid))
    check("cpu_samples: not started" in must(path, "status"), "the collector is idle")
    live.ended_well()
    check(not os.path.exists(path), "the socket is still there")


@vm_test(units=UNITS)
def path_takes_the_process_id(vm):
    live = vm.start("cpu=samples,control=%s,file=out.txt" % vm.path("c%p"), "Idle")
    check("cpu_samples: running" in must(vm.path("c%d" % live.pid), "status"), "the collector runs")
    live.ended_well()


@vm_test(units=UNITS)
def starts_and_stops_fifty_times_without_growing(vm):
    path = vm.path("s")
    live = vm.start("cpu=samples,start=n,interval=1,control=%s,file=out.txt" % path, "Idle")

    def memory():
        return int([line for line in must(path, "status") if line.startswith("memory: ")][0].split()[1])
    for _ in range(5):
        must(path, "start", "stop")
    before = memory()
    for _ in range(45):
        must(path, "start", "stop")
    # Tables grow with the code that is seen; what a start takes is more than 2 MiB.
    check(memory() - before < 1024 * 1024, "from %d to %d bytes" % (before, memory()))
    live.ended_well()


@vm_test(units=UNITS)
def vm_that_ends_amid_starts_and_stops_ends_well(vm):
    for _ in range(3):
        path = vm.path("s")
        live = vm.start("cpu=samples,start=n,interval=1,control=%s,file=out.txt" % path, "Idle")
        stop = threading.Event()

        def churn():
            try:
                while not stop.is_set():
                    with Lines(path) as lines:
                        for command in ("start", "report", "stop"):
                            lines.connection.sendall(command.encode() + b"\n")
                            lines.line()
            except OSError:
                pass
        threads = [threading.Thread(target=churn) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        run = live.ended_well()
        stop.set()
        for thread in threads:
            thread.join()
        parse_ascii(run.text("out.txt"))
        os.unlink(vm.path("out.txt"))


@vm_test(units=UNITS)
def exit_needs_the_option_here_too(vm):
    path = vm.path("s")
    live = vm.start("cpu=samples,control=%s,file=out.txt" % path, "Idle")
    check(not ask(path, "exit")[0], "exit was obeyed")
    live.ended_well()
    live = vm.start("cpu=samples,allow=exit,control=%s,file=out.txt" % path, "Idle")
    check(ask(path, "exit")[0], "exit was not obeyed")
    live.process.wait(100)
    check_equal(live.process.returncode, 0, "exit code\n%s\n" % live.state())
    check_equal(len(parse_ascii(open(vm.path("out.txt")).read()).cpu()), 1, "CPU sections")


@vm_test(units=UNITS)
def hostile_clients_do_no_harm(vm):
    path = vm.path("s")
    live = vm.start("cpu=samples,control=%s,file=out.txt" % path, "Idle")
    generator = random.Random(99)
    noise = bytes(generator.getrandbits(8) for _ in range(50000)).replace(b"\n", b"")
    for data in (noise, b"x" * 5000, b"\0" * 100 + b"\n", b"status", b"", b"\n\n\n", b"sites cutoff=" + b"9" * 4000 + b"\n"):
        for _ in range(3):
            with connect(path) as client:
                try:
                    client.sendall(data)
                except OSError:
                    pass
    live.wait_until(lambda: slow_one_is_served(path), "a place to be free, and a slow client to be served")
    with Lines(path) as client:
        client.connection.sendall(b"x" * 5000 + b"\n")
        check("too long" in client.line(), "the line is refused")
        check(client.ended(), "the connection is closed")
    live.ended_well()


@vm_test(units=UNITS)
def silent_clients_take_only_their_places(vm):
    path = vm.path("s")
    live = vm.start("cpu=samples,control=%s,file=out.txt" % path, "Idle")
    silent = [connect(path) for _ in range(4)]
    live.wait_until(lambda: refused_one(path), "a fifth client to be refused")
    for client in silent:
        client.close()
    live.wait_until(lambda: not refused_one(path), "the places to be free again")
    stuck = [connect(path) for _ in range(3)]
    live.ended_well()
    for client in stuck:
        client.close()


def slow_one_is_served(path):
    """False: there was no place for it."""
    with Lines(path) as slow:
        try:
            for byte in b"status\n":
                slow.connection.sendall(bytes([byte]))
                time.sleep(0.01)
            return slow.answer()[0]
        except (OSError, Failure):
            return False


def refused_one(path):
    with Lines(path) as client:
        try:
            client.connection.sendall(b"status\n")
        except OSError:
            pass
        return "too many connections" in client.line()


def secret_file(vm, text=SECRET + b"\n", mode=0o600):
    path = vm.path("secret")
    with open(path, "wb") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


@vm_test(units=UNITS)
def tcp_takes_commands_from_who_knows_the_secret(vm):
    port = closed_port()
    live = vm.start("cpu=samples,start=n,listen=127.0.0.1:%d,secret-file=%s,file=out.txt" % (port, secret_file(vm)), "Idle")
    with Lines(port) as client:
        client.log_in(SECRET)
        client.must("start")
        client.must("status")
    for _ in range(2):
        with Lines(port) as client:
            client.log_in(b"a wrong guess at it")
            check("not authenticated" in client.line(), "a wrong secret is refused")
            check(client.ended(), "the connection is closed")
    with Lines(port) as client:
        client.log_in(SECRET)
        client.must("report")
    for _ in range(3):
        with Lines(port) as client:
            client.line()
            client.connection.sendall(b"start\n")
            check("not authenticated" in client.line(), "a command is no login")
    with Lines(port) as client:
        client.log_in(SECRET)
        client.must("status")
    live.ended_well()


@vm_test(units=UNITS)
def who_knows_the_secret_gets_in_through_a_flood_of_wrong_answers(vm):
    port = closed_port()
    secret = secret_file(vm)
    live = vm.start("cpu=samples,start=n,listen=127.0.0.1:%d,secret-file=%s,file=out.txt" % (port, secret), "Idle")
    over = threading.Event()
    wrong = []

    def guess():
        while not over.is_set():
            try:
                with Lines(port) as client:
                    client.log_in(b"a wrong guess at it")
                    wrong.append(client.line())
            except (Failure, OSError):
                pass  # all places were taken, or ours was

    silent = [connect(port) for _ in range(8)]
    threads = [threading.Thread(target=guess, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        live.wait_until(lambda: len(wrong) > 20, "wrong answers")
        for command in ("start", "status", "report"):
            code, text = hprof(vm, "ctl", "--secret-file=" + secret, "127.0.0.1:%d" % port, command)
            check_equal(code, 0, "hprof ctl %s: %s" % (command, text))
    finally:
        over.set()
        for thread in threads:
            thread.join()
        for connection in silent:
            connection.close()
    check(all("not authenticated" in line for line in wrong if line), "other answers: %s" % set(wrong))
    live.ended_well()


@vm_test(units=UNITS)
def what_would_be_open_to_others_is_refused_before_start(vm):
    port = closed_port()
    check("secret-file" in vm.refused("cpu=samples,listen=127.0.0.1:%d" % port), "no secret")
    secret = secret_file(vm)
    listen = "cpu=samples,listen=127.0.0.1:%d,secret-file=%s" % (port, secret)
    secret_file(vm, mode=0o644)
    check("chmod 600" in vm.refused(listen), "others can read the secret")
    code, text = hprof(vm, "ctl", "--secret-file=" + secret, "127.0.0.1:%d" % port, "status")
    check(code != 0 and "--secret-file=%s: others can read it" % secret in text, "hprof ctl: %d %s" % (code, text))
    secret_file(vm, b"short\n")
    check("16 bytes" in vm.refused(listen), "the secret can be guessed")
    os.unlink(secret)
    check("secret" in vm.refused(listen), "the secret is not there")
    open(vm.path("taken"), "w").close()
    check("taken" in vm.refused("cpu=samples,control=%s" % vm.path("taken")), "a file is in the way")
    check(os.path.getsize(vm.path("taken")) == 0, "the file was touched")
    os.makedirs(vm.path("open/own"), 0o700)
    os.chmod(vm.path("open"), 0o777)
    check("other users can replace it" in vm.refused("cpu=samples,control=open/own/socket"),
          "others can replace the socket's folder")
