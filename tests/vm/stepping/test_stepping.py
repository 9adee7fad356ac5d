"""The walk of cpu=samples at each instruction of a program: bodies, entries and exits of methods, stubs and adapters."""
import os
import shutil

from bytecode import ClassFile, read_classes, wrong_links
from harness import ROOT, Skip, check, check_equal, vm_test
from programs import jni_library

MODES = {"interpreter": ("-Xint",), "C1": ("-XX:TieredStopAtLevel=1",), "C1 without inlining": ("-XX:TieredStopAtLevel=1", "-XX:-Inline"),
         "C2": ("-XX:-TieredCompilation",), "C2 without inlining": ("-XX:-TieredCompilation", "-XX:-Inline"), "both": ()}
# Lost: where the interpreter makes or removes a frame. Wrong: where the VM looks up who catches an exception, and in a stub of C1 on
# aarch64 that looks for a supertype. Java 8 computes sines in libjvm, in the state "in Java".
MOST_LOST, MOST_WRONG, MOST_WRONG_8 = 0.007, 0.002, 0.004


def stepper(vm):
    if vm.machine not in ("amd64", "aarch64"):
        raise Skip("the walk does not know this machine")
    library = jni_library(vm, "stepper.c", "-I" + os.path.join(ROOT, "core", "include"))
    shutil.copytree(vm.plugin_dir, vm.path("plugins"))
    return shutil.copy(library, vm.path("plugins"))


def stepped(vm, library, mode):
    """Steps through EachStep: (walks, of them without a stack, {stack}: each a tuple of (method, bytecode index))."""
    # The VM's code is in one place, whole from the start, and calls stay where they are.
    options = ("-Xbatch", "-XX:ReservedCodeCacheSize=64m", "-XX:InitialCodeCacheSize=64m", *mode)
    agent = vm.agent_option("stepper=y,plugins=%s,hotspot=%s" % (vm.path("plugins"), vm.all_items))
    rounds = "0" if "-Xint" in mode else "10"
    run = vm.run_java(agent, *options, "EachStep", library, "400000", rounds)
    check(run.code == 0 and "DONE" in run.out, "the program has not ended\n%s" % run)
    stacks, lost, elsewhere, walks = {}, [], 0, 0
    for line in run.text("steps.txt").splitlines():
        kind, count, rest = line.split(" ", 2)
        if kind == "S":
            how, pc, code, *frames = rest.split(" ")
            frames = tuple(tuple(frame.rsplit(":", 1)) for frame in frames)
            before, _ = stacks.get(frames, (0, ""))
            stacks[frames] = before + int(count), "%s at %s in %s" % (how, pc, code)
        elif kind == "L" and rest.split(" ")[-1].startswith("/"):  # in the VM's code, in no library
            lost.append((int(count), rest))
        elif kind == "L":
            elsewhere += int(count)
        else:
            walks = int(count)
    walks -= elsewhere
    return walks, lost, stacks


def classes_of(vm, stacks):
    """Class files whose lines are bytecode indexes plus one."""
    names = {frame[0].rsplit(".", 1)[0] for frames in stacks for frame in frames}
    files = vm.path("files")
    os.makedirs(files, exist_ok=True)
    check_equal(vm.run_java("ClassFiles", files, *sorted(names)).code, 0, "exit code")
    return {name: ClassFile(read.renumbered) for name, read in read_classes(files).items()}


@vm_test(needs=("libraries in C",))
def each_instruction_has_the_right_caller(vm):
    library = stepper(vm)
    most_wrong = MOST_WRONG_8 if vm.version == 8 else MOST_WRONG
    for name, mode in MODES.items():
        walks, lost, stacks = stepped(vm, library, mode)
        classes = classes_of(vm, stacks)
        check("EachStep" in classes and "java.lang.String" in classes, "no class file was read")
        wrong = []
        for frames, (count, where) in stacks.items():
            lines = [(method, "", str(int(index) + 1)) for method, index in frames]
            links = wrong_links(lines, classes)
            if frames[-1][0] != "EachStep.main":
                links.append("%s is the root" % frames[-1][0])
            wrong += [(count, "%s (%s)" % (link, where)) for link in links[:1]]
        methods = {frames[0][0] for frames in stacks}
        said = "Java %d, %s, %s: %d instructions, %d methods, %d lost, %d wrong" % (
            vm.version, vm.machine, name, walks, len(methods), sum(n for n, _ in lost), sum(n for n, _ in wrong))
        print(said, *("wrong %d: %s" % one for one in sorted(wrong, reverse=True)[:3]), sep="\n  ", flush=True)
        check(walks > 15000 and len(methods) > 40, said)
        check(sum(n for n, _ in wrong) <= most_wrong * walks, "%s; wrong: %s" % (said, sorted(wrong, reverse=True)[:12]))
        check(sum(n for n, _ in lost) <= MOST_LOST * walks, "%s; lost: %s" % (said, sorted(lost, reverse=True)[:12]))
