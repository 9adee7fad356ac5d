"""Typical mistakes, each with its message, and the first task of docs/getting-started.md as a user without rights. The commands of the page
themselves are typed by test_pages.py."""
import os
import re
import shutil
import subprocess
import tempfile

import pages
from harness import (NOBODY, TIMEOUT, VM_ENVIRONMENT, Skip, check, check_equal, clean_environment, copy_program, no_core,
                     vm_test)
from tool import hprof

UNITS = ("cpu_samples", "cpu_times", "heap_sites", "encoder_ascii", "sink_file", "sink_socket")


# (what is typed behind hprof, the line it says); 4711 is the process id of a JVM.
MISTAKES = (
    ("profile 999999",
     "hprof: there is no process 999999 (jps -l, or pgrep -a java, lists JVMs)"),
    ("ctl 4711 report",
     "hprof: process 4711 has no agent; `hprof attach 4711 cpu=samples` loads one, `hprof profile 4711` takes a profile"),
    ("profile 4711 file=a.txt",
     "hprof profile: file= is set by hprof profile; use -o FILE"),
    ("attach 4711 dept=8",
     "hprof: hprof option error: Unknown option: dept (dept=8); did you mean depth? `hprof run help -- java` lists all options"),
    ("attach 4711 cpu=sample",
     "hprof: hprof option error: cpu option value must be samples|times|old|y|off (cpu=sample)"),
    ("attach 4711 cpu=samples file=a,b.txt",
     "hprof: hprof option error: Unknown option: b.txt (cpu=samples,file=a,b.txt); the value of file= cannot have a comma in it"),
    ("attach 4711 cpu=samples file=/nonexistent/a.txt",
     "hprof: can't create profile file: /nonexistent/a.txt: No such file or directory"),
    ("attach 4711 cpu=times",
     "hprof: collector cpu_times cannot be created: cpu=times and cpu=old must be loaded at VM start-up; attached, use cpu=samples"),
    ("attach heap=sites sites=exact 4711",
     "hprof: collector heap_sites cannot be created: sites=exact must be loaded at VM start-up; attached, use sites=sampled (Java 11 and later)"),
    ("attach 4711 cpu=samples net=127.0.0.1:1",
     "hprof: can't connect to 127.0.0.1:1: Connection refused"),
    ("run cpu=samples java -jar app.jar",
     "hprof run: expected [OPTION=VALUE...] -- COMMAND [ARGUMENT...]"),
    ("-d 10 -e cpu 4711",
     "hprof: in hprof this is: hprof profile --seconds=10 4711 cpu=samples"),
    ("4711 JFR.start",
     "hprof: in hprof this is: hprof profile -o FILE.jfr 4711"),
    ("profile -o app.svg 4711",
     "hprof profile: -o app.svg: no format has this suffix; there are .collapsed, .pb, .json, .txt, .hprof, .html, .jfr, .otlp.pb"),
    ("print app.txt",
     "hprof: app.txt: No such file or directory"),
)


@vm_test(units=UNITS)
def every_mistake_is_told_in_one_line(vm):
    live = vm.start(None, "Shop", "serve")
    with open(vm.path("java.hprof.txt"), "w") as file:
        file.write("a good report\n")
    before = sorted(os.listdir(vm.dir))
    for line, said in MISTAKES:
        typed = line.split()
        pid = str(live.pid)
        agent = ["--agent=" + vm.agent] if typed[0] in ("attach", "profile") else []
        code, text = hprof(vm, typed[0].replace("4711", pid), *agent, *[word.replace("4711", pid) for word in typed[1:]])
        check_equal((code in (1, 2), text.split("\n")[0]), (True, said.replace("4711", pid)), "hprof %s" % " ".join(typed))
    check_equal(sorted(os.listdir(vm.dir)), before, "files")
    with open(vm.path("java.hprof.txt")) as file:
        check_equal(file.read(), "a good report\n", "the report that was there")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)


# The commands of bin/hprof that each task of docs/getting-started takes.
COMMANDS = {
    "What burns CPU?": 3, "Which thread burns it?": 2, "It hangs: which thread waits for which?": 1, "Which lines allocate?": 2,
    "What leaks?": 4, "What fills the heap?": 2, "The service is slow and the CPU is idle: who waits for whom?": 2,
    "How long do the calls of a method take?": 2, "How often is each method called?": 2, "What changed?": 3, "Which requests was it?": 2,
    "A picture, or a file for my own tool": 3, "What was it at 12:03?": 2, "An idle agent, used later": 4,
    "A report and a dump over a socket": 3, "In a Docker image": 2, "How long do tasks wait for a thread?": 2,
    "What does it read and write?": 2, "Which exceptions are made, and who catches them?": 2,
    "Who holds direct memory?": 2, "Who makes classes?": 2,
}


@vm_test()
def each_task_takes_few_commands(_):
    with open(os.path.join(pages.ROOT, "docs", "getting-started.md"), encoding="utf-8") as file:
        tasks = re.split(r"^## \d+\. ", file.read(), flags=re.M)[1:]
    counts = {task.split("\n")[0]: len(re.findall(r"^\$ |^ +docker exec|& hprof run", task, re.M)) for task in tasks}
    check_equal(counts, COMMANDS, "commands of each task")


@vm_test(units=UNITS)
def the_first_task_needs_no_rights(vm):
    if os.geteuid() != 0:
        raise Skip("needs root, to become somebody else")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        home = os.path.join(folder, "home")
        os.mkdir(home)
        os.chown(home, NOBODY, NOBODY)
        shutil.copytree(vm.agent_dir, os.path.join(folder, "lib"))
        os.mkdir(os.path.join(folder, "bin"))
        copy_program(os.path.join(vm.tree, "bin", "hprof"), os.path.join(folder, "bin"))
        environment = clean_environment({"PATH": os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"]})
        # A prefix needs its caller's rights; what it runs gives them up.
        give_up, *words = vm.as_nobody("java")
        java = vm.as_nobody(*vm.command("java")) if vm.jdk.home else vm.command(give_up, *words)
        command = [*java, "-Xmx256m", "-cp", vm.classes, "Shop", "serve"]
        service = subprocess.Popen(command, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=no_core,
                                   env=dict(environment, **VM_ENVIRONMENT))
        try:
            check(service.stdout.readline().startswith(b"ready "), "the service does not start")
            for block in pages.sections(os.path.join("docs", "getting-started.md"))[0][:1]:
                for command, wanted in block.steps:
                    run = subprocess.run(vm.as_nobody("bash", "-c", command.replace("4711", str(service.pid))), cwd=home,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         timeout=TIMEOUT, env=environment)
                    text = run.stdout.decode(errors="replace")
                    line = pages.missing([row.replace("/home/me", home) for row in wanted], text.splitlines())
                    check_equal((run.returncode, line), (0, None), "$ %s\n%s\n" % (command, text))
            check_equal(os.stat(os.path.join(home, "cpu.txt")).st_uid, NOBODY, "the owner of the report")
        finally:
            service.stdin.close()
            service.wait(TIMEOUT)
            service.stdout.close()
