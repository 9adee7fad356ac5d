"""How the agent is loaded and told what to do, in a real VM."""
import os

from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii


@vm_test()
def unknown_option_is_refused_before_start(vm):
    line = vm.refused("foo=bar")
    check("foo" in line, "the line does not name the option: %s" % line)


@vm_test()
def bad_value_is_refused_before_start(vm):
    line = vm.refused("depth=x")
    check("depth" in line, "the line does not name the option: %s" % line)


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


@vm_test()
def nothing_selected_leaves_a_program_alone(vm):
    run = vm.profiled("heap=off,cpu=off", "Quick", "3")
    check_equal((run.code, run.err), (3, ""), "exit code and stderr\n%s\n" % run)
    check_equal(sorted(set(os.listdir(vm.dir)) - {"stdout", "stderr"}), [], "files")


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
