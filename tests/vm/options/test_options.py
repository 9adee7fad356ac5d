"""How the agent is loaded and told what to do, in a real VM."""
import os
import re
import subprocess

from harness import TIMEOUT, VM_ENVIRONMENT, Skip, check, check_equal, clean_environment, vm_test
from reports import parse_ascii


@vm_test(quick=True)
def unknown_option_is_refused_before_start(vm):
    line = vm.refused("foo=bar")
    check("foo" in line, "the line does not name the option: %s" % line)


@vm_test(units=("cpu_samples",))
def unusable_output_is_refused_before_start(vm):
    line = vm.refused("cpu=samples,file=/nonexistent/folder/x")
    check("/nonexistent/folder/x" in line, "the line does not name the file: %s" % line)


@vm_test()
def help_ends_the_vm_with_success(vm):
    run = vm.run_java(vm.agent_option("help"), "Quick")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    text = run.out + run.err
    for option in ("cpu=", "file=", "format=", "depth=", "interval=", "help"):
        check(option in text, "no %s in the help\n%s" % (option, run))
    check("quick" not in run.out, "the program was started\n%s" % run)


@vm_test()
def no_option_means_heap_all(vm):
    """As in the original. A build without these units says so, and does not start the program with half of it."""
    if {"heap_sites", "heap_dump"} <= set(vm.units):
        run = vm.profiled(None, "Quick", "3")
        check_equal(run.code, 3, "exit code\n%s\n" % run)
        names = [section.name for section in parse_ascii(run.text("java.hprof.txt")).sections]
        check({"SITES", "HEAP DUMP"} <= set(names), "sections: %s" % names)
    else:
        check("heap" in vm.refused(None), "the line does not say what is missing")


def in_a_folder_of_its_own(vm, *options):
    """The agent in a VM whose /tmp cannot be written."""
    if not vm.jdk.home or os.geteuid() != 0:
        raise Skip("needs a JDK without a command in front, and root")
    vm.needs_tree_outside_of_tmp()
    shadow = "mount -t tmpfs -o ro none /tmp && exec \"$@\""
    return subprocess.run(["unshare", "--mount", "--propagation=private", "sh", "-c", shadow, "sh",
                           *vm.command("java", vm.agent_option(",".join(options)), "-cp", vm.classes, "Quick")],
                          cwd=vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIMEOUT, env=clean_environment(VM_ENVIRONMENT)).stdout.decode()


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def place_for_commands_that_cannot_be_had_is_named(vm):
    line = vm.refused("cpu=samples,control=/nonexistent/s,file=out.txt")
    check("can't listen at /nonexistent/s: No such file or directory (control=<path>: the folder must exist" in line,
          "the line: %s" % line)
    for option, hint in (("start=n", "start=n waits for commands there: choose another path with control=<path>, or set control=n"),
                         ("control=y", "choose another path with control=<path>")):
        text = in_a_folder_of_its_own(vm, "cpu=samples", option, "file=out.txt")
        check(re.search(r"can't listen at /tmp/hprof-0-\d+\.sock: Read-only file system; " + re.escape(hint) + "$", text, re.M),
              "%s: %s" % (option, text))


@vm_test(units=("encoder_ascii", "encoder_binary"))
def unknown_format_is_refused_with_those_there_are(vm):
    line = vm.refused("format=c")
    check("format option value must be a|b" in line, "the line does not list the formats: %s" % line)


@vm_test(units=("heap_sites", "heap_dump", "encoder_ascii", "sink_file"))
def choices_that_select_nothing_leave_heap_all(vm):
    for options in ("monitor=n", "cpu=off"):
        run = vm.profiled(options + ",file=out.txt", "Quick", "3")
        names = [section.name for section in parse_ascii(run.text("out.txt")).sections]
        check({"SITES", "HEAP DUMP"} <= set(names), "%s: sections: %s" % (options, names))


@vm_test(units=("cpu_samples",))
def run_that_profiles_nothing_is_refused(vm):
    for options in ("heap=off", "heap=off,cpu=off"):
        line = vm.refused(options)
        check("nothing to profile is chosen" in line and "cpu_samples" in line,
              "the line does not say what there is: %s" % line)


@vm_test()
def told_to_wait_and_do_nothing_it_leaves_a_program_alone(vm):
    run = vm.profiled("heap=off,start=n,control=n", "Quick", "3")
    check_equal((run.code, run.err), (3, ""), "exit code and stderr\n%s\n" % run)
    check_equal(sorted(set(os.listdir(vm.dir)) - {"stdout", "stderr"}), [], "files")


@vm_test(units=("encoder_ascii", "sink_file"))
def help_lists_plugins_and_where_they_are(vm):
    run = vm.run_java(vm.agent_option("help=plugins"), "Quick")
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    check("encoder encoder_ascii (format=a)" in run.out, "no ascii encoder\n%s" % run)
    where = "linked in" if vm.units["encoder_ascii"] == "static" else vm.plugin_dir + "/encoder_ascii.so"
    check(any(line.startswith("encoder_ascii ") and line.endswith(where) for line in run.out.splitlines()),
          "not where it is\n%s" % run)


def library_path(vm):
    if vm.version == 8:
        raise Skip("JDK 8 has an hprof of its own, and finds that one first")
    return {"LD_LIBRARY_PATH": vm.agent_dir}


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def agentlib_finds_it_on_the_library_path(vm):
    environment = library_path(vm)
    run = vm.run_java("-agentlib:hprof=cpu=samples,file=out.txt", "Spin", "2", environment=environment)
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    parse_ascii(run.text("out.txt"))


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def xrun_still_works(vm):
    environment = library_path(vm)
    run = vm.run_java("-Xrunhprof:cpu=samples,file=out.txt", "Spin", "2", environment=environment)
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    parse_ascii(run.text("out.txt"))


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def environment_adds_options(vm):
    run = vm.profiled("cpu=samples", "Spin", "2", environment={"_JAVA_HPROF_OPTIONS": "file=other.txt"})
    parse_ascii(run.text("other.txt"))


@vm_test()
def environment_is_checked_like_options(vm):
    vm.refused("cpu=samples", environment={"_JAVA_HPROF_OPTIONS": "bar=foo"})


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def default_file_is_java_hprof_txt(vm):
    run = vm.profiled("cpu=samples", "Spin", "2")
    parse_ascii(run.text("java.hprof.txt"))
    check_equal(sorted(set(os.listdir(vm.dir)) - {"stdout", "stderr"}), ["java.hprof.txt"], "files")


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def the_line_that_hadoop_uses(vm):
    options = "cpu=samples,heap=sites,force=n,thread=y,verbose=n,file=out.txt"
    if "heap_sites" not in vm.units:
        line = vm.refused(options)
        check("heap" in line, "the line does not say what is missing: %s" % line)
        return
    run = vm.profiled(options, "Spin", "4")
    report = parse_ascii(run.text("out.txt"), thread_ids=True)
    report.cpu()
    check("SITES" in [section.name for section in report.sections], "no SITES section")
    check_equal(run.err, "", "stderr, with verbose=n")
