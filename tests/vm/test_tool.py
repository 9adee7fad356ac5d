"""bin/hprof with real VMs: run, attach, listen, and check of what the agent and the VM themselves write."""
import os
import re
import socket
import subprocess

from harness import TIMEOUT, Skip, check, check_equal, clean_environment, vm_test
from tool import hprof, sound

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@vm_test(units=UNITS)
def attach_loads_the_agent(vm):
    live = vm.start(None, "Idle")
    code, text = hprof(vm, "attach", "--agent=" + vm.agent, str(live.pid), "cpu=samples,file=" + vm.path("late.txt"))
    check_equal((code, text), (0, ""), "hprof attach")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    sound(vm, "late.txt", "--for=gprof2dot,hprof2flamegraph")


@vm_test(units=UNITS)
def attach_says_what_the_vm_said(vm):
    live = vm.start(None, "Idle")
    code, text = hprof(vm, "attach", "--agent=" + vm.agent, str(live.pid), "nonsense=1")
    check_equal(code, 1, "hprof attach with bad options: %s" % text)
    check("refused" in text, text)
    code, text = hprof(vm, "attach", "--agent=" + vm.path("none.so"), str(live.pid), "cpu=samples")
    check_equal(code, 2, "hprof attach of a missing library: %s" % text)
    check_equal(live.finish().code, 0, "the program's exit code")


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


@vm_test(units=("cpu_samples", "encoder_binary", "sink_file"))
def binary_reports_of_the_agent_are_sound(vm):
    vm.profiled("cpu=samples,interval=1,format=b,file=cpu.hprof", "Spin", "6")
    sound(vm, "cpu.hprof", "--for=mat,visualvm,jhat,intellij,shark")
    code, text = hprof(vm, "print", vm.path("cpu.hprof"))
    check_equal(code, 0, "hprof print: %s" % text)
    check("Spin." in text, "hprof print shows no method of the program:\n%s" % text)


@vm_test()
def dumps_of_the_vm_are_sound(vm):
    live = vm.start(None, "Idle")
    code, text = vm.tool("jcmd", str(live.pid), "GC.heap_dump", vm.path("vm.hprof"))
    check_equal(code, 0, "jcmd: %s" % text)
    live.finish()
    # The VM's own dumper leaves out some mirrors that it refers to.
    sound(vm, "vm.hprof", "--allow=reference", "--for=mat,visualvm,jhat,intellij")
    code, text = hprof(vm, "print", "--top=0", vm.path("vm.hprof"))
    check_equal(code, 0, "hprof print: %s" % text)
    check(re.search(r"^ +[1-9][0-9]* +[1-9][0-9]*  java\.lang\.String$", text, re.M), text)


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


@vm_test(units=("cpu_samples", "encoder_binary", "sink_socket"))
def listen_receives_the_stream(vm):
    with Listener(vm) as listener:
        run = vm.run_java(vm.agent_option("cpu=samples,format=b,net=127.0.0.1:%d" % listener.port), "Spin", "4")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        listener.finish()
    check_equal(listener.tables(), 1, "tables")


@vm_test(units=UNITS)
def run_gives_java_the_agent(vm):
    if not vm.jdk.home:
        raise Skip("the JDK is behind a command: hprof run would have to run there")
    command = vm.command("java", "-cp", vm.classes, "Spin", "4")
    code, text = hprof(vm, "run", "--agent=" + vm.agent, "cpu=samples", "interval=1", "file=run.txt", "--", *command)
    check_equal(code, 0, "hprof run: %s" % text)
    sound(vm, "run.txt", "--for=gprof2dot")
    script = vm.path("launcher")
    with open(script, "w") as file:
        file.write("#!/bin/sh\nexec %s -cp %s Spin 4\n" % (command[0], vm.classes))
    os.chmod(script, 0o755)
    code, text = hprof(vm, "run", "--agent=" + vm.agent, "cpu=samples,file=tool options.txt", "--", script)
    check_equal(code, 0, "hprof run of a script: %s" % text)
    sound(vm, "tool options.txt")


@vm_test(units=UNITS)
def ctl_speaks_to_the_agent(vm):
    with open(vm.path("secret"), "w") as file:
        file.write("c0ffee" * 8 + "\n")
    os.chmod(vm.path("secret"), 0o600)
    with open(vm.path("guess"), "w") as file:
        file.write("decaf" * 8 + "\n")
    port = free_port()
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
def ctl_by_process_speaks_to_nobody_else(vm):
    """A socket of the agent's name, made by another process."""
    live = vm.start(None, "Idle")
    path = "/proc/%d/root/tmp/hprof-%d-%d.sock" % (live.pid, os.geteuid(), live.pid)
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
        listener.finish()
    text = hprof(vm, "print", vm.path("net.hprof"))[1]
    check_equal(text.count("CPU SAMPLES (total"), 2, "tables\n" + text)
    check(re.search(r"^HEAP DUMP", text, re.M), "no heap dump\n" + text)
    check(re.search(r"^HEAP SUMMARY", text, re.M), "no summary\n" + text)
