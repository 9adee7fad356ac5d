"""The commands that README.md, docs/ and the session in this folder show, as they stand there."""
import os
import re
import shutil
import subprocess
import zipfile

import pages
from peers import closed_port
from harness import TIMEOUT, Live, check, check_equal, clean_environment, copy_program, vm_test, write_program
from vendor import installed, needs_modules

ROOT = os.path.realpath(pages.ROOT)
# Programs that pages show with ours. What needs one that is not installed is not typed.
OTHERS = ("jq", "sqlite3")


class Reader:
    """Somebody who types what a page says: in a folder with app.jar, in a tree that was built."""

    def __init__(self, vm, folder):
        self.vm = vm
        self.folder = folder
        self.live = None
        self.port = closed_port()
        tree = os.path.join(folder, "build")
        os.makedirs(os.path.join(folder, "bin"))
        os.makedirs(os.path.join(tree, "bin"))
        os.symlink(os.path.join(ROOT, "scripts"), os.path.join(folder, "scripts"))
        shutil.copytree(vm.agent_dir, os.path.join(tree, "lib"))
        copy_program(os.path.join(vm.tree, "bin", "hprof"), os.path.join(tree, "bin"))
        os.symlink(os.path.join(tree, "bin", "hprof"), os.path.join(folder, "bin", "hprof"))
        for tool in ("java", "jcmd"):
            command = " ".join("'%s'" % word for word in vm.jdk.command(tool, vm.work, folder))
            write_program(os.path.join(folder, "bin", tool), '#!/bin/sh\nexec %s "$@"\n' % command)
        # Stand-ins of what types a command elsewhere: `ssh HOST WORD...`, `kubectl exec POD -- WORD...`.
        for tool, rest in (("ssh", 'shift; exec sh -c "$*"'), ("kubectl", 'shift 3; exec "$@"')):
            write_program(os.path.join(folder, "bin", tool), "#!/bin/sh\n%s\n" % rest)
        with zipfile.ZipFile(os.path.join(folder, "app.jar"), "w") as jar:
            jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Shop\n\n")
            for name in sorted(os.listdir(vm.classes)):
                if name.startswith(("Shop", "Pid")):
                    jar.write(os.path.join(vm.classes, name), name)
        # The pages show what make prints.
        self.environment = clean_environment({"HPROF_BUILD": tree, "HPROF_NO_INSTALL": "1", "CMAKE_GENERATOR": "Unix Makefiles"})
        self.environment["PATH"] = os.path.join(folder, "bin") + os.pathsep + self.environment["PATH"]

    def type(self, command):
        """What is printed."""
        command = command.replace("7777", str(self.port)).replace("/home/me", os.path.realpath(self.folder))
        if "4711" in command and self.live is None:
            self.live = self.vm.start(None, "Shop", "serve")
        if self.live is not None:
            command = command.replace("4711", str(self.live.pid))
        run = subprocess.run(["bash", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=TIMEOUT, env=self.environment)
        text = run.stdout.decode(errors="replace")
        check_equal(run.returncode, 0, "$ %s\n%s\nexit code" % (command, text))
        return text

    def start(self, command):
        """The service of the page itself, in the background; what the shell prints of it."""
        line = "cd '%s' && exec %s" % (self.folder, command)
        self.live = Live(self.vm, ["bash", "-c", line], self.environment)
        self.vm.live.append(self.live)
        return "[1] %d" % self.live.wait_ready().pid

    def as_here(self, lines):
        return [line.replace("/home/me", os.path.realpath(self.folder)) for line in lines]

    def try_block(self, block):
        if block.file is not None:
            with open(os.path.join(self.folder, block.file), encoding="utf-8", errors="replace") as file:
                got = file.read()
            line = pages.missing(self.as_here(block.lines), got.splitlines())
            check(line is None, "%s: %s has no line like\n%s\nin\n%s" % (block.place, block.file, line, got[-6000:]))
            return
        for command, wanted in block.steps:
            if any(re.search(r"(^|\| )%s " % program, command) and not shutil.which(program) for program in OTHERS):
                continue
            got = self.start(command[:-2]) if command.endswith(" serve &") else self.type(command)
            line = pages.missing(self.as_here(wanted), got.splitlines())
            check(line is None, "%s: `%s` prints no line like\n%s\nin\n%s" % (block.place, command, line, got[-6000:]))

    def leave(self):
        if self.live is not None:
            self.live.finish()


    def installs(self, prefix, options):
        """As `cmake --install` does: in the folder hprof, with what CMake has to know of this build."""
        os.symlink(prefix, os.path.join(self.folder, "hprof"))
        for option in options:
            name, _, value = option[len("-D"):].partition("=")
            if name.startswith("CMAKE_TOOLCHAIN_FILE"):
                self.environment["CMAKE_TOOLCHAIN_FILE"] = value


def try_page(vm, page):
    installation = None
    if pages.installs(page):
        needs_modules(vm)
        installation = installed(vm)
    for number, blocks in enumerate(pages.sections(page)):
        folder = vm.path("section%d" % number)
        os.makedirs(folder)
        reader = Reader(vm, folder)
        if installation:
            reader.installs(*installation)
        for block in blocks:
            reader.try_block(block)
        reader.leave()


def register(page):
    def run(vm):
        try_page(vm, page)
    run.__name__ = os.path.basename(page)[:-len(".md")].lower().replace("-", "_") + "_shows_what_is_printed"
    vm_test(units=("cpu_samples", "cpu_times", "heap_sites", "heap_dump", "monitor", "encoder_ascii", "encoder_binary",
                   "sink_file", "sink_socket"))(run)


for found in pages.pages():
    register(found)


@vm_test()
def a_page_that_is_wrong_is_found(vm):
    """The comparison itself: lines that are missing, in another order, or of another shape."""
    got = ["rank   self  accum   count trace method", "   1 78.03% 78.03%     103 300001 Shop.price", "CPU SAMPLES END"]
    check(pages.missing(["rank self accum count trace method", "1 9.1% 9% 4 300002 Shop.price", "..."], got) is None, "same shape")
    check(pages.missing(["...", "CPU SAMPLES END"], got) is None, "dots")
    check(pages.missing(["+1 CPU"], ["+2 CPU"]) is None and pages.missing(["+1 CPU"], ["-2 CPU"]) is not None, "numbers that grew")
    for wrong in (["1 78.03% 78.03% 103 300001 Shop.tax"], ["CPU SAMPLES END", "rank self accum count trace method"],
                  ["rank self accum count trace method", "CPU SAMPLES END"], ["1 78.03 78.03% 103 300001 Shop.price"]):
        check(pages.missing(wrong, got) is not None, "passes: %r" % wrong)
    check(len(pages.pages()) >= 2, "pages: %r" % pages.pages())
