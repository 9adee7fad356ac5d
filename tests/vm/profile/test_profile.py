"""hprof profile: one line for a JVM that runs, of the same user, of another, in a container."""
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time

from harness import NOBODY, TIMEOUT, VM_ENVIRONMENT, Skip, check, check_equal, clean_environment, no_core, vm_test
from reports import parse_ascii
from tool import hprof, sound

UNITS = ("cpu_samples", "encoder_ascii", "sink_socket")


def profile(vm, live, *words, prefix=(), cwd=None):
    """(exit code, stdout, stderr)"""
    program = os.path.join(vm.tree, "bin", "hprof")
    run = subprocess.run([*prefix, program, "profile", "--agent=" + vm.agent, str(live.pid), *words], cwd=cwd or vm.dir,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                         env=clean_environment(VM_ENVIRONMENT))
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def profiled(vm, live, name, *words, folder=None, **more):
    """Runs it; the report is there, whole, and its path and size are what was said."""
    folder = folder or vm.dir
    code, out, err = profile(vm, live, "--seconds=1", *words, cwd=folder, **more)
    path = os.path.join(os.path.realpath(folder), name)
    check_equal((code, re.sub(r"[0-9.]+ [KM]?B|[0-9]+ bytes", "SIZE", out)), (0, path + " (SIZE)\n"), "hprof profile: %s" % err)
    return path


def thread_names(live):
    names = []
    for task in os.listdir(live.proc("task")):
        try:
            names.append(open(live.proc("task", task, "comm")).read())
        except OSError:
            pass
    return names


def is_gone(live):
    """Nothing of the agent runs. What others leave in this machine's /tmp is theirs: see a_container_is_reached_from_outside."""
    return not any(name.lower().startswith("hprof") for name in thread_names(live))


@vm_test(units=UNITS)
def one_line_brings_the_report(vm):
    live = vm.start(None, "Idle")
    for name in ("java.hprof.txt", "java.hprof.2.txt"):
        path = profiled(vm, live, name)
        sound(vm, name, "--for=gprof2dot,hprof2flamegraph")
        check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode")
        sections = parse_ascii(open(path).read()).cpu()
        check_equal(len(sections), 1, "tables in " + name)
        check("Spin.hot" in [row.method for row in sections[0].rows], "the busy method")
        live.wait_until(lambda: is_gone(live), "the agent to be gone")
    run = live.ended_well()
    check("HPROF:" not in run.err and "Dumping" not in run.err, "the program's log\n%s" % run)


@vm_test(units=UNITS)
def a_profile_says_what_all_is_and_which_thread_it_was(vm):
    live = vm.start(None, "Idle")
    path = profiled(vm, live, "java.hprof.txt", "interval=1", "thread=y")
    code, text = hprof(vm, "print", path)
    head = re.search(r"^program Idle, process %d[ ,].+, \d+ processors, attached; options (.+)$" % live.pid, text, re.M)
    used = re.search(r"^the process used ([\d.]+) s of CPU time in [\d.]+ s: Java threads ([\d.]+) \(the 100 % below\)", text, re.M)
    check_equal((code, bool(head), bool(used)), (0, True, True), "the head: %s" % text)
    check({"cpu=samples", "interval=1", "depth=512", "thread=y"} <= set(head.group(1).split()), head.group())
    check(0 < float(used.group(2)) <= float(used.group(1)) * 1.1 + 0.1, used.group())
    code, text = hprof(vm, "print", "--threads", path)
    rows = re.findall(r"^ +([\d.]+)% +(\d+) +(\d+) 0x([0-9a-f]+)  (\S.*?)  +(\S+) +[\d.]+%$", text, re.M)
    check_equal((code, rows[0][4:] if rows else ""), (0, ("busy", "Spin.hot")), "hprof print --threads: %s" % text)
    check(all(int(nid) == int(same, 16) and os.path.exists(live.proc("task", nid)) for _, _, nid, same, _, _ in rows), "nids: %s" % text)
    code, text = hprof(vm, "print", "--thread=bus*", path)
    check_equal((code, "CPU SAMPLES, samples %s in the rows" % rows[0][1] in text), (0, True), "hprof print --thread: %s" % text)
    live.ended_well()


@vm_test(units=("cpu_samples", "encoder_flamegraph", "encoder_jfr", "encoder_pprof", "encoder_json", "filter_gzip", "sink_socket"))
def a_format_has_its_depth_and_its_file_name(vm):
    live = vm.start(None, "Idle")
    for name, words in (("java.hprof.html", ["format=flamegraph"]), ("java.hprof.2.html", ["format=flamegraph", "events=y"]),
                        ("java.hprof.pb.gz", ["format=pprof"]), ("java.hprof.pb", ["format=pprof", "compress=n"])):
        path = profiled(vm, live, name, *words)
        if name.endswith(".html"):
            check("<html" in open(path).read(), "no page in " + name)
            continue
        code, text = hprof(vm, "print", path)
        check_equal((code, "CPU SAMPLES" in text), (0, True), "hprof print %s: %s" % (name, text))
        code, text = hprof(vm, "print", "--thread=busy", path)
        check_equal((code, "Spin.hot" in text), (0, True), "the thread in %s: %s" % (name, text))
    with open(profiled(vm, live, "java.hprof.jfr", "format=jfr"), "rb") as file:
        check_equal(file.read(4), b"FLR\0", "a recording")
    path = profiled(vm, live, "java.hprof.json", "format=json")
    settings = [record for record in map(json.loads, open(path)) if record["record"] == "settings"]
    check_equal([record["depth"] for record in settings], [512], "the depth of format=json")
    live.ended_well()


@vm_test(units=UNITS + ("heap_dump", "encoder_binary"))
def a_dump_alone_needs_no_seconds(vm):
    live = vm.start(None, "Idle")
    code, out, err = profile(vm, live, "-o", "app.hprof", "heap=dump", "format=b")
    check_equal((code, "app.hprof (" in out), (0, True), "hprof profile: %s" % err)
    sound(vm, "app.hprof", "--for=mat,visualvm,jhat")
    live.ended_well()


@vm_test(units=UNITS)
def refusals_say_why_and_leave_no_file(vm):
    live = vm.start(None, "Idle")
    for words, code, said in ((["nonsense=1"], 1, "Unknown option: nonsense"), (["cpu=bogus"], 1, "(cpu=bogus,verbose=n)\n"), (["file=x.txt"], 2, "use -o FILE"),
                              (["-o", "/nonexistent/x"], 2, "No such file"), (["-o", "/tmp"], 2, "/tmp is a folder"), (["start=n"], 2, "is set by hprof profile")):
        got = profile(vm, live, *words)
        check_equal((got[0], said in got[2]), (code, True), "hprof profile %s: %s" % (words, got[2]))
    check_equal([name for name in os.listdir(vm.dir) if "hprof" in name], [], "files")
    live.wait_until(lambda: is_gone(live), "the agent to be gone")
    live.ended_well()


@vm_test(units=UNITS + ("sink_file", "monitor"))
def an_idle_agent_that_is_there_stays(vm):
    live = vm.start("cpu=samples,start=n,control=%s,file=out.txt" % vm.path("ctl"), "Idle")
    code, out, err = profile(vm, live)
    check_equal((code, "cpu_samples belongs to another session" in err), (1, True), "hprof profile: %s" % err)
    check_equal([name for name in os.listdir(vm.dir) if name.startswith("java.hprof")], [], "files")
    profiled(vm, live, "java.hprof.txt", "monitor=y")
    code, text = hprof(vm, "ctl", vm.path("ctl"), "status")
    check_equal((code, "cpu_samples: not started" in text), (0, True), "the agent that was there: " + text)
    live.ended_well()


def start_profile(vm, live):
    """hprof profile for long, once it collects."""
    program = os.path.join(vm.tree, "bin", "hprof")
    tool = subprocess.Popen([program, "profile", "--agent=" + vm.agent, "--seconds=1000", str(live.pid), "cpu=samples"],
                            cwd=vm.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check("cpu=samples" in tool.stderr.readline().decode(), "it does not begin")
    time.sleep(0.5)
    return tool


@vm_test(units=UNITS)
def interrupted_it_still_brings_the_report(vm):
    live = vm.start(None, "Idle")
    tool = start_profile(vm, live)
    tool.send_signal(signal.SIGINT)
    out, err = tool.communicate(timeout=TIMEOUT)
    check_equal((tool.returncode, "java.hprof.txt (" in out.decode()), (0, True), "hprof profile: %s" % err)
    check_equal(len(parse_ascii(open(vm.path("java.hprof.txt")).read()).cpu()), 1, "tables")
    live.ended_well()


@vm_test(units=UNITS)
def killed_it_takes_the_agent_with_it(vm):
    live = vm.start(None, "Idle")
    tool = start_profile(vm, live)
    tool.kill()
    tool.communicate(timeout=TIMEOUT)
    live.wait_until(lambda: is_gone(live), "the agent to be gone")
    check_equal(sorted(name for name in os.listdir(vm.dir) if name.startswith("java.hprof")), ["java.hprof.txt.partial"], "files")
    profiled(vm, live, "java.hprof.txt")
    live.ended_well()


@vm_test(units=UNITS)
def a_report_that_is_not_whole_is_called_partial(vm):
    live = vm.start(None, "Idle")
    with open(vm.path("heap.hprof"), "w") as file:
        file.write("yesterday's")
    code, out, err = profile(vm, live, "--force", "--most=10k", "-o", "heap.hprof", "heap=dump", "format=b")
    check_equal((code, "heap.hprof.partial (" in out), (1, True), "hprof profile: %s%s" % (out, err))
    check_equal(open(vm.path("heap.hprof")).read(), "yesterday's", "the file that was there")
    check(0 < os.path.getsize(vm.path("heap.hprof.partial")) <= 10240, "the partial file")
    live.wait_until(lambda: is_gone(live), "the agent to be gone")
    code, out, err = profile(vm, live, "--force", "-o", "heap.hprof", "heap=dump", "format=b")
    check_equal(code, 0, "hprof profile: %s%s" % (out, err))
    check_equal(sorted(name for name in os.listdir(vm.dir) if name.startswith("heap.hprof")), ["heap.hprof"], "files")
    live.ended_well()


@vm_test(units=UNITS)
def program_that_ends_meanwhile_leaves_its_last_report(vm):
    live = vm.start(None, "Idle")
    tool = start_profile(vm, live)
    live.ended_well()
    out, err = tool.communicate(timeout=TIMEOUT)
    check_equal((tool.returncode, b"ended" in err, b"java.hprof.txt (" in out), (0, True, True), "hprof profile: %s" % err)
    check_equal(len(parse_ascii(open(vm.path("java.hprof.txt")).read()).cpu()), 1, "tables")


@vm_test(units=UNITS)
def profile_of_a_killed_vm_is_status_1(vm):
    live = vm.start(None, "Idle")
    tool = start_profile(vm, live)
    live.signal(signal.SIGKILL)
    _, err = tool.communicate(timeout=TIMEOUT)
    check_equal((tool.returncode, b"was killed, or its agent broke off: its last report is missing" in err), (1, True), "hprof profile: %s" % err)
    check(not os.path.exists(vm.path("java.hprof.txt")), "a file with the name of a whole report")
    live.finish()


@vm_test(units=UNITS + ("encoder_flamegraph", "heap_dump", "encoder_binary"))
def the_next_command_is_said(vm):
    live = vm.start(None, "Idle")
    for name, words, said in (("a.txt", [], "hprof print PATH, hprof view PATH"), ("a.html", [], "open PATH in a browser"),
                              ("a.hprof", ["heap=dump"], "hprof heap PATH, hprof heap leaks PATH")):
        code, out, err = profile(vm, live, "--seconds=1", "-o", name, *words)
        path = os.path.join(os.path.realpath(vm.dir), name)
        check_equal((code, err.splitlines()[-1:]), (0, ["next: " + said.replace("PATH", path)]), "hprof profile: %s" % err)
        for line in said.split(", ") if "hprof" in said else ():
            code, text = hprof(vm, *line.replace("PATH", path).split()[1:])
            check_equal(code, 0, "%s: %s" % (line, text))
    live.ended_well()


class Other:
    """A JVM of another user, or in namespaces of its own, by a command in front."""

    def __init__(self, vm, *prefix):
        if not vm.jdk.home or os.geteuid() != 0:
            raise Skip("needs a JDK without a command in front, and root")
        self.process = subprocess.Popen([*prefix, *vm.command("java", "-Xmx64m", "-cp", vm.classes, "Idle")], cwd="/",
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=no_core,
                                        env=clean_environment(VM_ENVIRONMENT))
        check(self.process.stdout.readline().startswith(b"ready "), "the program does not start")
        self.pid = self.process.pid
        children = open("/proc/%d/task/%d/children" % (self.pid, self.pid)).read().split()
        if "--fork" in prefix:
            self.pid = int(children[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(TIMEOUT)
        self.process.stdout.close()


@vm_test(units=UNITS)
def root_gets_a_file_of_its_own_from_another_users_vm(vm):
    with Other(vm, *vm.as_nobody()) as other:
        path = profiled(vm, other, "java.hprof.txt")
        check_equal(os.stat(path).st_uid, os.geteuid(), "the owner of the report")
        check("Spin.hot" in open(path).read(), "the busy method")


@vm_test(units=UNITS)
def a_user_profiles_what_is_his(vm):
    with Other(vm, *vm.as_nobody()) as other, tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chown(folder, NOBODY, NOBODY)
        path = profiled(vm, other, "java.hprof.txt", folder=folder, prefix=vm.as_nobody())
        check_equal(os.stat(path).st_uid, NOBODY, "the owner of the report")
        with Other(vm, "setpriv", "--reuid=0") as foreign:
            code, _, err = profile(vm, foreign, cwd=folder, prefix=vm.as_nobody())
            check_equal((code, "belongs to user" in err), (2, True), "hprof profile of root's VM: %s" % err)
        check_equal(len(os.listdir(folder)), 1, "files of the refused one")


@vm_test(units=UNITS)
def doctor_judges_a_vm_by_the_rights_of_its_own_user(vm):
    """Its folder is /, which root may write to and nobody else."""
    limited = r"^  limited  its output   / is not writable for user %d:" % NOBODY
    with Other(vm, *vm.as_nobody()) as other:
        for prefix in ((), vm.as_nobody()):
            code, text = hprof(vm, "doctor", str(other.pid), prefix=prefix)
            check(re.search(limited, text, re.M), "hprof doctor, %s\n%s" % (" ".join(prefix), text))
            check(re.search(r"^  yes +attach +works", text, re.M), "attach\n" + text)
    with Other(vm, "setpriv", "--reuid=0") as other:
        code, text = hprof(vm, "doctor", str(other.pid))
        check_equal(code, 0, "hprof doctor as root\n" + text)
        check(re.search(r"^  (yes|limited ) +its output +[0-9.]+ \w+ free in /$", text, re.M), "root's folder\n" + text)
        code, text = hprof(vm, "doctor", str(other.pid), prefix=vm.as_nobody())
        check_equal((code, "belongs to user 0, and this is user %d" % NOBODY in text), (1, True), "nobody looks at root's\n" + text)


@vm_test(units=UNITS)
def what_a_sandbox_withholds_is_said_by_its_name(vm):
    """The same user, but without the right to look into other processes."""
    with Other(vm, "setpriv", "--reuid=0") as other:
        code, _, err = profile(vm, other, prefix=("setpriv", "--bounding-set=-sys_ptrace"))
        check_equal((code, "cannot be accessed by this one: Permission denied" in err, "CAP_SYS_PTRACE" in err, "belongs to" in err),
                    (2, True, True, False), "hprof profile: %s" % err)
    with Other(vm, *vm.as_nobody()) as other:
        code, _, err = profile(vm, other, prefix=("setpriv", "--bounding-set=-sys_ptrace"))
        check_equal((code, "CAP_SYS_PTRACE): run hprof as that user" in err), (2, True), "hprof profile as root: %s" % err)


@vm_test(units=UNITS)
def a_temporary_folder_that_attaching_cannot_use_is_named(vm):
    """That of the JVM, where tool and agent meet."""
    vm.needs_tree_outside_of_tmp()
    for options, user, why in (("ro", "root", "Read-only file system"), ("mode=755", "nobody", "Permission denied")):
        program = vm.as_nobody() if user == "nobody" else ()
        with Other(vm, "unshare", "--mount", "--propagation=private", "sh", "-c", 'mount -t tmpfs -o %s none /tmp && exec "$@"' % options,
                   "sh", *program) as other:
            code, text = hprof(vm, "attach", "--agent=" + vm.agent, str(other.pid), "cpu=samples", environment=VM_ENVIRONMENT)
            wanted = "hprof: cannot make a folder in /tmp of process %d: %s; attaching needs one that user %s may write\n"
            check_equal((code, text), (2, wanted % (other.pid, why, user)), "hprof attach")


@vm_test(units=UNITS)
def a_container_is_reached_from_outside(vm):
    """Process ids, mounts and /tmp of its own, and none of this machine's files where the agent is."""
    vm.needs_tree_outside_of_tmp()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as outside:
        agent = os.path.join(shutil.copytree(vm.agent_dir, os.path.join(outside, "lib")), "libhprof.so")
        hide = "mount -t tmpfs tmp /tmp && mount -t tmpfs none %s && exec \"$@\"" % outside
        with Other(vm, "unshare", "--pid", "--fork", "--mount", "--mount-proc", "--propagation=private",
                   "sh", "-c", hide, "sh") as other:
            check("NSpid:\t%d\t" % other.pid in open("/proc/%d/status" % other.pid).read(), "process ids of its own")
            path = profiled(vm, other, "java.hprof.txt", "--agent=" + agent)
            check("Spin.hot" in open(path).read(), "the busy method")
            left = [name for name in os.listdir("/proc/%d/root/tmp" % other.pid) if "hprof" in name and "perfdata" not in name]
            check_equal(left, [], "what is left in its /tmp")
            report = os.path.join(outside, "java.hprof.txt")  # of its namespace; here another file has that name
            open(report, "w").close()
            code, text = hprof(vm, "attach", "--agent=" + agent, str(other.pid), "cpu=samples,file=" + report, cwd=outside)
            check_equal((code, "/proc/%d/root%s" % (other.pid, report) in text), (0, True), "hprof attach: " + text)
            check_equal(hprof(vm, "ctl", str(other.pid), "detach")[0], 0, "hprof ctl")
