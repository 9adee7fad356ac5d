"""docs/getting-started.md: the mistakes that it lists, each with its message, and the first task as a user without rights. Its commands
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


def page():
    with open(os.path.join(pages.ROOT, "docs", "getting-started.md"), encoding="utf-8") as file:
        return file.read()


def mistakes():
    """[(arguments of hprof, the line it says)]"""
    table = page().split("<!-- mistakes: begin -->")[1].split("<!-- mistakes: end -->")[0]
    rows = re.findall(r"^\| `hprof ([^`]*)` \| (.*) \|$", table, re.M)
    return [(typed.split(), re.sub(r"\\(.)", r"\1", said)) for typed, said in rows]


@vm_test(units=UNITS)
def every_mistake_is_told_as_the_page_says(vm):
    found = mistakes()
    check_equal(len(found), 12, "mistakes")
    live = vm.start(None, "Shop", "serve")
    with open(vm.path("java.hprof.txt"), "w") as file:
        file.write("a good report\n")
    before = sorted(os.listdir(vm.dir))
    for typed, said in found:
        pid = str(live.pid)
        agent = ["--agent=" + vm.agent] if typed[0] in ("attach", "profile") else []
        code, text = hprof(vm, typed[0], *agent, *[word.replace("4711", pid) for word in typed[1:]])
        check_equal((code in (1, 2), text.split("\n")[0]), (True, said.replace("4711", pid)), "hprof %s" % " ".join(typed))
    check_equal(sorted(os.listdir(vm.dir)), before, "files")
    with open(vm.path("java.hprof.txt")) as file:
        check_equal(file.read(), "a good report\n", "the report that was there")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)


@vm_test()
def no_task_takes_more_than_four_commands(vm):
    tasks = pages.sections(os.path.join("docs", "getting-started.md"))
    check_equal(len(tasks), 6, "tasks with commands")
    for blocks in tasks:
        commands = [command for block in blocks for command, _ in block.steps]
        check(1 <= len(commands) <= 4, "%s: %d commands" % (blocks[0].place, len(commands)))


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
            check_equal(os.stat(os.path.join(home, "java.hprof.txt")).st_uid, NOBODY, "the owner of the report")
        finally:
            service.stdin.close()
            service.wait(TIMEOUT)
            service.stdout.close()
