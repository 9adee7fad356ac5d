"""bin/hprof with real VMs: run, attach, listen, and check of what the agent and the VM themselves write."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import xml.etree.ElementTree

from harness import TIMEOUT, VM_ENVIRONMENT, Skip, check, check_equal, clean_environment, vm_test, write_program
from peers import closed_port
from tool import hprof, program, sound

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


def attach(vm, live, *words):
    return hprof(vm, "attach", "--agent=" + vm.agent, str(live.pid), *words)


@vm_test(units=UNITS)
def attach_loads_the_agent_and_says_where_it_writes(vm):
    live = vm.start(None, "Idle")
    path = vm.path("late.txt")
    code, text = attach(vm, live, "cpu=samples", "depth=8", "file=" + path)
    check_equal((code, text.count("\n")), (0, 1), "hprof attach: %s" % text)
    for words in ("cpu_samples writes %s (mode 0600, user " % path, "report: hprof ctl %d report" % live.pid,
                  "end: hprof ctl %d detach" % live.pid):
        check(words in text, "hprof attach says %r, without %r" % (text, words))
    check_equal(hprof(vm, "ctl", str(live.pid), "report")[0], 0, "the report by the command that was named")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    sound(vm, "late.txt", "--for=gprof2dot,hprof2flamegraph")


@vm_test(units=UNITS, needs=("proc",))
def output_that_cannot_be_written_is_a_failure(vm):
    vm.profiled("cpu=samples,file=out.txt", "Quick")
    for words in ("help", "--version", "print out.txt", "convert out.txt --to=collapsed"):
        with open("/dev/full", "wb") as full:
            run = subprocess.run([*program(vm), *words.split()], cwd=vm.dir, stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
        check_equal((run.returncode, run.stderr.count(b"cannot write to stdout")), (2, 1), "%s: %r" % (words, run.stderr))


@vm_test(units=UNITS)
def attach_means_files_in_the_folder_of_the_caller(vm):
    if not vm.jdk.home:
        raise Skip("the JDK has a file system of its own")
    live = vm.start(None, "Idle")
    os.mkdir(vm.path("elsewhere"))
    for name, options in (("java.hprof.txt", ["cpu=samples"]), ("mine.txt", ["cpu=samples,file=mine.txt"])):
        run = subprocess.run([*program(vm), "attach", "--agent=" + vm.agent, str(live.pid), *options], cwd=vm.path("elsewhere"),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
        check_equal(run.returncode, 0, "hprof attach: %r" % run.stdout)
        path = os.path.join(vm.path("elsewhere"), name)
        check(path in run.stdout.decode() and os.path.exists(path), "%r, and the file %s" % (run.stdout, path))
        check_equal(hprof(vm, "ctl", str(live.pid), "detach")[0], 0, "detach")
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS)
def attach_hands_on_what_the_agent_says(vm):
    """To who asked, and not into the log of the program."""
    live = vm.start(None, "Idle")
    for words, said in ((["nonsense=1"], "Unknown option: nonsense"),
                        (["cpu=samples,file=/nonexistent/x"], "can't create profile file: /nonexistent/x: No such file"),
                        (["cpu=bogus"], "cpu option value must be")):
        code, text = attach(vm, live, *words)
        check_equal((code, said in text), (1, True), "hprof attach %s: %s" % (words, text))
    code, text = attach(vm, live, "help")
    check_equal((code, "Option Name and Value" in text), (0, True), "hprof attach help: %s" % text)
    check_equal(attach(vm, live, "cpu=samples,file=" + vm.path("out.txt"))[0], 0, "a good one")
    code, text = attach(vm, live, "cpu=samples,file=" + vm.path("out.txt"))
    check_equal((code, "loaded already" in text), (1, True), "hprof attach a second time: %s" % text)
    check_equal(hprof(vm, "ctl", str(live.pid), "detach", "nodump")[0], 0, "a command in two words")
    code, text = hprof(vm, "attach", "--agent=" + vm.path("none.so"), str(live.pid), "cpu=samples")
    check_equal(code, 2, "hprof attach of a missing library: %s" % text)
    code, text = hprof(vm, "attach", "--agent=" + vm.path("out.txt"), str(live.pid), "cpu=samples")
    check_equal((code, "out.txt is no agent" in text), (2, True), "hprof attach of a file that is no library: %s" % text)
    run = live.finish()
    check_equal((run.code, run.errors(), "HPROF:" in run.err), (0, [], False), "the program's exit code and log\n%s\n" % run)


@vm_test(units=UNITS)
def bad_options_do_not_end_the_session_that_rests(vm):
    live = vm.start("cpu=samples,start=n,file=out.txt", "Idle")
    check_equal(attach(vm, live, "nonsense=1")[0], 1, "bad options")
    code, text = hprof(vm, "ctl", str(live.pid), "status")
    check_equal((code, "cpu_samples: not started" in text), (0, True), "the session that was there: %s" % text)
    code, text = attach(vm, live, "cpu=samples", "file=" + vm.path("next.txt"))
    check_equal((code, "replaced the idle agent of process %d" % live.pid in text, ": cpu_samples\n" in text), (0, True, True), text)
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS)
def attach_believes_no_planted_socket(vm):
    live = vm.start(None, "Idle")
    path = live.proc("root/tmp/.java_pid%d" % live.pid)
    with socket.socket(socket.AF_UNIX) as impostor:
        impostor.bind(path)
        impostor.listen(1)
        for mode, said in ((0o600, "does not belong to process %d" % live.pid), (0o666, "is not the socket of process")):
            os.chmod(path, mode)
            code, text = attach(vm, live, "cpu=samples,file=" + vm.path("no.txt"))
            check_equal((code, said in text), (2, True), "hprof attach: %s" % text)
        os.unlink(path)
    check(not os.path.exists(vm.path("no.txt")), "an output was made")
    check_equal(attach(vm, live, "cpu=samples,file=" + vm.path("yes.txt"))[0], 0, "the VM's own socket")
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS)
def agent_that_the_vm_does_not_see_is_brought_there(vm):
    """As into a container: of a library outside of the VM's file system, a private copy, gone afterwards."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as outside:
        agent = shutil.copytree(vm.agent_dir, os.path.join(outside, "lib"))
        os.chmod(outside, 0o700)
        live = vm.start(None, "Idle")
        if os.path.exists(live.proc("root" + outside)):
            raise Skip("the VM sees all files of this machine")
        for name in ("one.txt", "two.txt"):
            code, text = hprof(vm, "attach", "--agent=" + os.path.join(agent, "libhprof.so"), str(live.pid),
                               "cpu=samples,file=" + vm.path(name))
            check_equal(code, 0, "hprof attach: %s" % text)
            check_equal(hprof(vm, "ctl", str(live.pid), "detach")[0], 0, "detach")
            live.wait_until(lambda: "CPU SAMPLES END" in open(vm.path(name)).read(), "the report " + name)
        left = [name for name in os.listdir(live.proc("root/tmp")) if name.startswith(".hprof")]
        check_equal(left, [], "what is left in /tmp")
        check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS)
def leftovers_of_killed_programs_are_cleaned(vm):
    live = vm.start(None, "Idle")
    tmp = live.proc("root/tmp")
    folder = os.path.join(tmp, ".hprof-meet-killed")
    os.mkdir(folder, 0o700)
    dead = os.path.join(tmp, "hprof-%d-999999999.sock" % os.geteuid())
    for path in (os.path.join(folder, "reply"), dead):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
        os.utime(path, (1, 1))
    os.utime(folder, (1, 1))
    check_equal(attach(vm, live, "cpu=samples,file=" + vm.path("out.txt"))[0], 0, "hprof attach")
    check_equal([os.path.lexists(path) for path in (folder, dead)], [False, False], "what was left behind")
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test()
def ctl_without_a_socket_says_what_to_do(vm):
    live = vm.start(None, "Idle")
    code, text = hprof(vm, "ctl", str(live.pid), "status")
    check_equal((code, "hprof attach %d cpu=samples" % live.pid in text), (2, True), "without an agent: %s" % text)
    check_equal(live.finish().code, 0, "the program's exit code")
    code, text = hprof(vm, "ctl", "2147483647", "status")
    check_equal((code, "there is no process" in text), (2, True), "without a process: %s" % text)


@vm_test()
def attach_harms_no_stranger(vm):
    with subprocess.Popen(["sleep", str(TIMEOUT)]) as stranger:
        code, text = hprof(vm, "attach", "--agent=" + vm.agent, str(stranger.pid), "cpu=samples")
        alive = stranger.poll() is None
        stranger.kill()
    check_equal((code, alive), (2, True), "attach to a process that is no VM: %s" % text)


@vm_test(units=UNITS)
def reports_of_the_agent_are_sound(vm):
    vm.profiled("cpu=samples,interval=1,file=cpu.txt", "Spin", "6")
    sound(vm, "cpu.txt", "--for=gprof2dot,hprof2flamegraph")
    vm.profiled("cpu=samples,interval=1,thread=y,file=thread.txt", "Spin", "6", "2")
    sound(vm, "thread.txt")


@vm_test(units=UNITS + ("heap_sites",))
def the_method_that_changed_comes_first(vm):
    """A discount that is gone: first in diff, and in print by what is allocated; what lives is of others."""
    before, after = vm.path("before.txt"), vm.path("after.txt")
    vm.profiled("cpu=samples,interval=1,heap=sites,depth=8,file=" + before, "Prices", "discount")
    vm.profiled("cpu=samples,interval=1,heap=sites,depth=8,file=" + after, "Prices")
    code, text = hprof(vm, "diff", before, after)
    rows = re.search(r"^CPU SAMPLES of .*(?:\n.*){2} method .*\n.* all\n(.*)", text, re.M)
    check_equal((code, bool(rows and re.search(r"^ +-\d+ .* 0 +0\.00% .* Prices\.discount$", rows.group(1)))), (0, True), "hprof diff: %s" % text)
    for column, method in (("live", "Prices.order"), ("allocated", "Prices.discount")):
        code, text = hprof(vm, "print", "--by=" + column, before)
        rows = re.search(r"^SITES, .*\n.* method .*\n.* (\S+)$", text, re.M)
        check_equal((code, rows and rows.group(1)), (0, method), "hprof print --by=%s: %s" % (column, text))


@vm_test(units=("bytecode", "cpu_times", "heap_sites", "encoder_ascii", "sink_file"))
def one_call_more_fails_a_build(vm):
    """And the same program twice does not."""
    def counted(name, *words):
        vm.profiled("cpu=times,heap=sites,cutoff=0,include=Queries,file=" + name, "Queries", *words)
        return vm.path(name)

    before, same, more = counted("before.txt", "10"), counted("same.txt", "10"), counted("more.txt", "11")
    conditions = ["--fail-if=" + each for each in ("calls>+0", "objects(int[])>+0", "bytes(Queries.*)>+0", "new>0")]
    code, text = hprof(vm, "diff", before, same, *conditions)
    check_equal((code, "holds" in text), (0, False), "the same program: %s" % text)
    code, text = hprof(vm, "diff", before, more, *conditions)
    check_equal((code, text.count(" holds: ")), (1, 3), "a call more: %s" % text)
    check("calls>+0 holds: 5512 before, 5513 now (+1) in CPU TIME\n  Queries.query: 5010 before, 5011 now (+1)\n    +1 from Queries.page\n"
          in text and "\n  int[] in Queries.query: 5010 before, 5011 now (+1)\n" in text, text)
    code, text = hprof(vm, "diff", "--markdown", "--junit=" + vm.path("junit.xml"), before, more, *conditions)
    suite = xml.etree.ElementTree.parse(vm.path("junit.xml")).getroot()
    check_equal((code, text.count("**fails**"), suite.get("failures"), len(suite.findall("testcase/failure"))), (1, 3, "3", 3), text)
    code, baseline = hprof(vm, "print", "--csv", "--by-method", before)
    check_equal((code, "\ncpu_times,Queries.query,,5010,,,\n" in baseline), (0, True), baseline)
    check_equal(hprof(vm, "print", "--csv", "--by-method", same)[1], baseline, "the baseline of the same program")
    with open(vm.path("base.csv"), "w") as file:
        file.write(baseline)
    for path, status in ((same, 0), (more, 1)):
        code, text = hprof(vm, "diff", vm.path("base.csv"), path, *conditions)
        check_equal((code, text.count(" holds: ")), (status, 3 * status), "the baseline and %s: %s" % (path, text))


@vm_test(units=("cpu_samples", "encoder_binary", "sink_file"))
def binary_reports_of_the_agent_are_sound(vm):
    vm.profiled("cpu=samples,interval=1,format=b,file=cpu.hprof", "Spin", "6")
    sound(vm, "cpu.hprof", "--for=mat,visualvm,jhat,intellij,shark")
    code, text = hprof(vm, "print", vm.path("cpu.hprof"))
    check_equal(code, 0, "hprof print: %s" % text)
    check("Spin." in text, "hprof print shows no method of the program:\n%s" % text)


@vm_test(until=8)
def reports_of_the_original_are_read(vm):
    """The JDK's own HPROF, with and without decimal commas (where the machine has the locale), by each command that reads reports."""
    for options, title in (("cpu=samples", "CPU SAMPLES"), ("cpu=samples,thread=y,depth=30", "CPU SAMPLES"), ("cpu=times", "CPU TIME"),
                           ("cpu=old", "CALLS"), ("heap=sites", "SITES"), ("heap=dump,format=a", None)):
        for locale in ("C", "de_DE.UTF-8"):
            path, what = vm.path("original.txt"), "%s in %s" % (options, locale)
            run = vm.run_java("-agentlib:hprof=%s,force=y,verbose=n,file=%s" % (options, path), "Spin", "2", environment={"LC_ALL": locale})
            if "Could not find agent library" in run.err + run.out:
                raise Skip("this JDK has no HPROF")
            check_equal(run.code, 0, "%s: %s" % (what, run))
            sound(vm, "original.txt")
            if title is None:
                continue
            code, printed = hprof(vm, "print", "--top=0", path)
            check_equal(code, 0, "%s: print: %s" % (what, printed))
            check("\n%s, " % title in printed, "%s: print has no table %s:\n%s" % (what, title, printed))
            code, stacks = hprof(vm, "convert", path, "--to=collapsed", "-o", "-")
            check_equal(code, 0, "%s: convert: %s" % (what, stacks))
            check("Spin.main" in stacks, "%s: convert has no stack of the program:\n%s" % (what, stacks))
            for command in (("view", path, "--force", "-o", vm.path("page.html")), ("diff", path, path)):
                code, text = hprof(vm, *command)
                check_equal(code, 0, "%s: %s: %s" % (what, command[0], text))


@vm_test()
def dumps_of_the_vm_are_sound(vm):
    live = vm.start(None, "Idle")
    code, text = vm.tool("jcmd", str(live.pid), "GC.heap_dump", vm.path("vm.hprof"))
    check_equal(code, 0, "jcmd: %s" % text)
    live.finish()
    # The VM's own dumper leaves out some mirrors that it refers to.
    sound(vm, "vm.hprof", "--for=mat,visualvm,jhat,intellij", of_vm=True)
    code, text = hprof(vm, "print", vm.path("vm.hprof"))
    check_equal((code, bool(re.search(r"^HEAP DUMP: [1-9][0-9]* objects", text, re.M))), (0, True), "hprof print: %s" % text)
    code, text = hprof(vm, "heap", "histogram", "--top=0", vm.path("vm.hprof"))
    check_equal(code, 0, "hprof heap histogram: %s" % text)
    check(re.search(r"^ +[1-9][0-9,]* +[1-9][0-9,]*  java\.lang\.String$", text, re.M), text)


class Listener:
    """hprof listen, writing net.hprof."""

    def __init__(self, vm, *options):
        self.vm = vm
        program = os.path.join(vm.tree, "bin", "hprof")
        self.process = subprocess.Popen(
            [program, "listen", "--port=0", "-o", vm.path("net.hprof"), "--no-input", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        line = self.process.stderr.readline().decode()
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", line)
        check(found, "hprof listen does not say where it listens: %r" % line)
        self.port = int(found.group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def tables(self):
        return hprof(self.vm, "print", self.vm.path("net.hprof"))[1].count("CPU SAMPLES (total")

    def finish(self):
        text = self.process.stderr.read().decode()
        check_equal(self.process.wait(timeout=TIMEOUT), 0, "hprof listen: %s" % text)
        sound(self.vm, "net.hprof")
        return text


@vm_test(units=("cpu_samples", "encoder_binary", "sink_socket"))
def listen_receives_the_stream(vm):
    with Listener(vm) as listener:
        run = vm.run_java(vm.agent_option("cpu=samples,format=b,net=127.0.0.1:%d" % listener.port), "Spin", "4")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        listener.finish()
    check_equal(listener.tables(), 1, "tables")


@vm_test(units=UNITS, quick=True)
def run_gives_java_the_agent(vm):
    if not vm.jdk.home:
        raise Skip("the JDK is behind a command: hprof run would have to run there")
    command = vm.command("java", "-cp", vm.classes, "Spin", "4")
    code, text = hprof(vm, "run", "--agent=" + vm.agent, "cpu=samples", "interval=1", "file=run.txt", "--", *command,
                       environment=VM_ENVIRONMENT)
    check_equal(code, 0, "hprof run: %s" % text)
    sound(vm, "run.txt", "--for=gprof2dot")
    script = vm.path("launcher")
    write_program(script, "#!/bin/sh\nexec %s -cp %s Spin 4\n" % (command[0], vm.classes))
    code, text = hprof(vm, "run", "--agent=" + vm.agent, "cpu=samples,file=tool options.txt", "--", script,
                       environment=VM_ENVIRONMENT)
    check_equal(code, 0, "hprof run of a script: %s" % text)
    sound(vm, "tool options.txt")
    text = hprof(vm, "run", "help", "--", command[0], environment=VM_ENVIRONMENT)[1]
    check("Option Name and Value" in text, "hprof run help: %s" % text)


@vm_test(units=UNITS + ("encoder_flamegraph",))
def run_without_options_samples_cpu_time_into_a_file_of_its_own(vm):
    if not vm.jdk.home:
        raise Skip("the JDK is behind a command: hprof run would have to run there")
    command = vm.command("java", "-cp", vm.classes, "Spin", "4")
    with open(vm.path("a.txt"), "w") as file:
        file.write("mine\n")
    for options, name in (([], "java.hprof.txt"), (["-o", "a.txt"], "a.2.txt"), (["-o", "a.txt", "--force"], "a.txt"),
                          (["-o", "a.html", "depth=8"], "a.html")):
        code, text = hprof(vm, "run", "--agent=" + vm.agent, *options, "--", *command, environment=VM_ENVIRONMENT)
        check_equal(code, 0, "hprof run %s: %s" % (options, text))
        with open(vm.path(name)) as file:
            check(("<html" if name.endswith(".html") else "CPU SAMPLES BEGIN") in file.read(), "hprof run %s: %s" % (options, text))
        if name == "a.2.txt":
            with open(vm.path("a.txt")) as file:
                check_equal(file.read(), "mine\n", "the file that was there")


@vm_test(units=UNITS + ("encoder_pprof", "encoder_flamegraph"))
def attach_takes_a_file_as_profile_does(vm):
    live = vm.start(None, "Idle")
    code, text = attach(vm, live, "cpu=samples", "-o", vm.path("a.html"))
    check_equal((code, "writes " + os.path.realpath(vm.path("a.html")) in text), (0, True), "hprof attach: %s" % text)
    check_equal(hprof(vm, "ctl", str(live.pid), "detach")[0], 0, "detach")
    live.wait_until(lambda: "<html" in open(vm.path("a.html")).read(), "the page")
    code, text = attach(vm, live, "cpu=samples", "-o", vm.path("a.html"))
    check_equal((code, "is kept" in text, "a.2.html" in text), (0, True, True), "hprof attach: %s" % text)
    check_equal(hprof(vm, "ctl", str(live.pid), "detach", "nodump")[0], 0, "detach")
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS + ("encoder_pprof", "encoder_flamegraph"))
def run_asks_for_native_code_where_the_format_shows_stacks(vm):
    for words, expected in (("cpu=samples format=pprof", True), ("cpu=y,format=flamegraph", True), ("cpu=samples", False),
                            ("cpu=samples format=flamegraph clock=wall", False), ("heap=sites format=pprof", False),
                            ("cpu=samples,sampler=signal,format=pprof", False)):
        code, text = hprof(vm, "run", "--print", "--agent=" + vm.agent, *words.split(), "--", "java", "App")
        check_equal((code, "sampler=native" in text), (0, expected), "hprof run %s: %s" % (words, text))


@vm_test(units=UNITS, quick=True)
def ctl_speaks_to_the_agent(vm):
    with open(vm.path("secret"), "w") as file:
        file.write("c0ffee" * 8 + "\n")
    os.chmod(vm.path("secret"), 0o600)
    with open(vm.path("guess"), "w") as file:
        file.write("decaf" * 8 + "\n")
    os.chmod(vm.path("guess"), 0o600)
    port = closed_port()
    live = vm.start("cpu=samples,interval=1,file=ctl.txt,control=%s,listen=127.0.0.1:%d,secret-file=%s"
                    % (vm.path("agent.sock"), port, vm.path("secret")), "Idle")
    for command, code, words in (("status", 0, "running"), ("report", 0, "reports"), ("stop", 0, "stopped"),
                                 ("start", 0, "running"), ("dance", 1, "dance"), ("help", 0, "dump heap")):
        got, text = hprof(vm, "ctl", vm.path("agent.sock"), *command.split())
        check_equal(got, code, "hprof ctl %s: %s" % (command, text))
        check(words in text, "hprof ctl %s says %r" % (command, text))
    address = "127.0.0.1:%d" % port
    got, text = hprof(vm, "ctl", "--secret-file=" + vm.path("secret"), address, "status")
    check_equal((got, "running" in text), (0, True), "hprof ctl over TCP: %s" % text)
    got, text = hprof(vm, "ctl", "--secret-file=" + vm.path("guess"), address, "status")
    check_equal((got, "running" in text), (1, False), "hprof ctl with a wrong secret: %s" % text)
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    sound(vm, "ctl.txt", "--for=hprof2flamegraph")
    check_equal(run.text("ctl.txt").count("CPU SAMPLES END"), 2, "reports: one asked for, one at exit")


@vm_test(units=UNITS)
def ctl_finds_the_agent_by_process(vm):
    live = vm.start("cpu=samples,start=n,control=y,file=ctl.txt", "Idle")
    code, text = hprof(vm, "ctl", str(live.pid), "status")
    check_equal((code, "cpu_samples: not started" in text), (0, True), "hprof ctl %d status: %s" % (live.pid, text))
    check_equal(live.finish().code, 0, "exit code")


@vm_test(units=UNITS)
def ctl_needs_no_socket(vm):
    """By the VM's attach mechanism, to the library that is loaded."""
    live = vm.start("cpu=samples,file=ctl.txt", "Idle")
    for command, code, said in (("status", 0, "cpu_samples: running"), ("dance", 1, "dance"), ("report", 0, "reports written: 1"),
                                ("detach nodump", 0, ""), ("status", 1, "the agent is not loaded")):
        got, text = hprof(vm, "ctl", str(live.pid), *command.split())
        check_equal((got, said in text), (code, True), "hprof ctl %s: %s" % (command, text))
    check_equal(hprof(vm, "attach", str(live.pid), "command=status"), (2, "hprof: this is now: hprof ctl PID COMMAND\n"), "the old words")
    run = live.finish()
    check_equal((run.code, run.errors()), (0, []), "the program's exit code and log\n%s\n" % run)


@vm_test(units=UNITS)
def ctl_by_process_speaks_to_nobody_else(vm):
    """A socket of the agent's name, made by another process."""
    live = vm.start(None, "Idle")
    path = live.proc("root/tmp/hprof-%d-%d.sock" % (os.geteuid(), live.pid))
    with socket.socket(socket.AF_UNIX) as impostor:
        impostor.bind(path)
        impostor.listen(1)
        code, text = hprof(vm, "ctl", str(live.pid), "status")
        os.unlink(path)
    check_equal((code, "does not belong to process %d" % live.pid in text), (2, True), "hprof ctl: %s" % text)
    check_equal(live.finish().code, 0, "exit code")


@vm_test(units=("cpu_samples", "encoder_binary", "sink_socket"))
def listen_sends_commands(vm):
    with Listener(vm, "--cmd=wait 1", "--cmd=samples cutoff=0", "--cmd=control depth 3") as listener:
        live = vm.start("cpu=samples,interval=1,format=b,net=127.0.0.1:%d" % listener.port, "Idle")
        live.wait_until(lambda: listener.tables() == 1, "the table that was asked for")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        listener.finish()
    check_equal(listener.tables(), 2, "tables: one asked for, one at exit")


@vm_test(units=("cpu_samples", "heap_dump", "encoder_binary", "sink_socket"))
def listen_holds_a_whole_conversation(vm):
    commands = ("control cpu off", "control cpu on", "wait 1", "samples cutoff=0", "dump heap", "summary", "control depth 3",
                "wait 1", "samples cutoff=0", "eof")
    with Listener(vm, *["--cmd=" + command for command in commands]) as listener:
        live = vm.start("cpu=samples,heap=dump,interval=1,format=b,doe=n,net=127.0.0.1:%d" % listener.port, "Idle")
        live.wait_until(lambda: listener.tables() == 2, "the second table")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        said = listener.finish()
    for serial, answer in ((3, "cpu samples: reports written: 1"), (4, "dump heap: reports written: 1"), (8, "eof")):
        check("command %d ok: %s" % (serial, answer) in said, "the answer to command %d\n%s" % (serial, said))
    text = hprof(vm, "print", vm.path("net.hprof"))[1]
    check_equal(text.count("CPU SAMPLES (total"), 2, "tables\n" + text)
    check(re.search(r"^HEAP DUMP", text, re.M), "no heap dump\n" + text)
    check(re.search(r"^HEAP SUMMARY", text, re.M), "no summary\n" + text)


@vm_test(units=UNITS)
def doctor_tells_what_a_running_vm_allows(vm):
    live = vm.start(None, "Idle")
    code, text = hprof(vm, "doctor", str(live.pid))
    check_equal(code, 0, "hprof doctor: %s" % text)
    check(re.search(r"^  yes +JVM +Java (1\.)?%d\b" % vm.jdk.version, text, re.M), "the version\n" + text)
    check(re.search(r"^  yes +attach +works", text, re.M), "attach\n" + text)
    check(re.search(r"^  at start cpu=times ", text, re.M), "cpu=times\n" + text)
    check(re.search(r"^  %s heap=sites " % ("limited " if vm.jdk.version >= 11 else "at start"), text, re.M), "heap=sites\n" + text)
    check_equal(live.finish().code, 0, "exit code")
    live = vm.start(None, "Idle", java=("-XX:+DisableAttachMechanism",))
    code, text = hprof(vm, "doctor", str(live.pid))
    check_equal(code, 1, "hprof doctor without attach: %s" % text)
    check(re.search(r"^  no +attach +switched off", text, re.M), "attach\n" + text)
    check_equal(live.finish().code, 0, "exit code")
    code, text = hprof(vm, "doctor", str(live.pid))
    check_equal((code, "there is no process" in text), (1, True), "hprof doctor of a dead process: %s" % text)


@vm_test()
def view_opens_its_page_where_there_is_a_display(vm):
    with open(vm.path("app.txt"), "w") as file:
        file.write("main;a.A.run 3\n")
    program, opened = os.path.join(vm.tree, "bin", "hprof"), vm.path("opened")
    os.mkdir(vm.path("bin"))
    write_program(vm.path("bin/xdg-open"),
                  '#!/bin/sh\nprintf "%%s" "$1" > "%s.part" && mv "%s.part" "%s"\n' % (opened, opened, opened))
    page = os.path.realpath(vm.dir) + "/app.txt.html"

    def view(display):
        path = vm.path("bin") + os.pathsep + os.environ["PATH"]
        run = subprocess.run([program, "view", "app.txt", "--open", "--force"], cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=TIMEOUT,
                             env=clean_environment({"PATH": path, "DISPLAY": display, "WAYLAND_DISPLAY": ""}))
        check_equal((run.returncode, run.stdout), (0, b"app.txt.html\n"), "hprof view --open: %r" % run.stderr)
        return run.stderr.decode()

    check_equal(view(""), "hprof: not opened: there is no display here (DISPLAY and WAYLAND_DISPLAY are not set); "
                "open %s in a browser\n" % page, "without a display")
    check(not os.path.exists(opened), "opened without a display")
    check_equal(view(":0"), "", "with a display")
    deadline = time.monotonic() + TIMEOUT
    while not os.path.exists(opened):
        check(time.monotonic() < deadline, "xdg-open was not started")
        time.sleep(0.02)
    with open(opened) as file:
        check_equal(file.read(), page, "what xdg-open was given")


@vm_test(units=UNITS, needs=("proc",), quick=True)
def threads_and_profile_say_why_a_program_hangs(vm):
    live = vm.start(None, "Hung")
    found = []

    def hangs():
        found[:] = hprof(vm, "threads", "--seconds=0", str(live.pid))
        return "3 of the 3 threads of pool-1-thread-#" in found[1] and "DEADLOCK: 2 threads" in found[1]

    live.wait_until(hangs, "the deadlock and the pool")
    check_equal(found[0], 1, "exit code of hprof threads with a deadlock")
    for words in ('"left" waits for java.lang.Object <', 'held by "right"', 'held by "keeper"', "at Hung.keep(Hung.java:"):
        check(words in found[1], "hprof threads says %r, without %r" % (found[1], words))
    code, text = hprof(vm, "profile", "--agent=" + vm.agent, "--seconds=0", "-o", vm.path("p.txt"), str(live.pid), "cpu=samples")
    check_equal(code, 0, "hprof profile: %s" % text)
    begun = text.find("cpu=samples")
    check(0 <= text.find("DEADLOCK: 2 threads") < begun and 0 <= text.find("3 of the 3 threads of pool-1") < begun,
          "hprof profile says %r, and what hangs not first" % text)
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS, needs=("proc",), since=21)
def threads_counts_virtual_threads_by_stack(vm):
    live = vm.start(None, "Hung", "700")
    pattern = re.compile(r"VIRTUAL THREADS: 700\n  700 threads.*\n(    at .*\n)*    at Hung\.park\(")
    live.wait_until(lambda: pattern.search(hprof(vm, "threads", "--seconds=0", str(live.pid))[1]), "700 threads in Hung.park")
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS, needs=("proc",), since=25)
def threads_says_for_which_lock_virtual_threads_wait(vm):
    live = vm.start(None, "Hung", "40", "lock")
    waits = "1 thread and 40 virtual threads wait for java.util.concurrent.locks.ReentrantLock$NonfairSync <0x"
    live.wait_until(lambda: waits in hprof(vm, "threads", "--seconds=0", str(live.pid))[1], "waiters of the lock")
    text = hprof(vm, "threads", "--seconds=0", str(live.pid))[1]
    check(re.search(r'\n  40 threads: "waiter" #\d+(, "waiter" #\d+){7} and 32 more, WAITING\n', text), "virtual threads with their names: %r" % text)
    # JDK 25 has no owners of such locks in its dump.
    owner = 'held by virtual thread "keeper" #'
    check(owner in text or vm.jdk.version < 27, "the lock's owner: %r" % text)
    for form in "plain", "json":
        code, answer = vm.tool("jcmd", str(live.pid), "Thread.dump_to_file", "-format=" + form, vm.path("dump." + form))
        check_equal(code, 0, "jcmd: " + answer)
        text = hprof(vm, "threads", "dump." + form)[1]
        check("1 thread and 40 virtual threads wait for java.util.concurrent.locks.ReentrantLock$NonfairSync@" in text, "%s: %r" % (form, text))
        check(owner in text or vm.jdk.version < 27, "the lock's owner: %r" % text)
    check_equal(live.finish().code, 0, "the program's exit code")


@vm_test(units=UNITS, needs=("proc",))
def threads_of_a_heap_dump_and_of_a_report_have_owners(vm):
    live = vm.start("monitor=all,file=out.txt", "Held", "lock")
    live.request_data_dump()
    live.wait_for("out.txt", "MONITOR DUMP END\n", 1)
    code, answer = vm.tool("jcmd", str(live.pid), "GC.heap_dump", vm.path("app.hprof"))
    check_equal(code, 0, "jcmd: " + answer)
    code, text = hprof(vm, "threads", "app.hprof")
    check_equal(code, 0, "exit code: %r" % text)
    check(re.search(r'1 thread waits for java\.util\.concurrent\.locks\.ReentrantLock\$NonfairSync @ 0x\w+, held by "main" #\d+\n'
                    r'    "parked" #\d+\n', text), "the lock of a heap dump: %r" % text)
    check(re.search(r'\n  "wants-0" #\d+, blocked on a monitor\n    at Held\.want\(Held\.java:\d+\)\n', text), "a stack of a heap dump: %r" % text)
    code, text = hprof(vm, "threads", "out.txt")
    check(re.search(r'2 threads wait for java\.lang\.Object <monitor \d+ of the report>, held by "main" #\d+\n', text), "a monitor: %r" % text)
    check(re.search(r'1 thread waits for java\.util\.concurrent\.\S+ <monitor \d+ of the report>, held by "main" #\d+\n', text), "a lock: %r" % text)
    check_equal(live.finish().code, 0, "the program's exit code")
