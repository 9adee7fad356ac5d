"""Where the agent finds its modules, what bad neighbours do, and a vendor's plugin built against an installed tree."""
import os
import shutil
import subprocess

from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


@vm_test(units=UNITS)
def modules_are_found_beside_the_agent_wherever_it_is(vm):
    moved = vm.path("some where/else")
    shutil.copytree(vm.agent_dir, moved)
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2", agent=os.path.join(moved, "libhprof.so"))
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS)
def plugins_option_names_another_folder(vm):
    only_static(vm)
    alone = vm.path("agent")
    os.makedirs(alone)
    shutil.copy(vm.agent, alone)
    shutil.copytree(vm.plugin_dir, vm.path("elsewhere"))
    agent = os.path.join(alone, "libhprof.so")
    run = vm.profiled("cpu=samples,plugins=%s,file=out.txt" % vm.path("elsewhere"), "Spin", "2", agent=agent)
    parse_ascii(run.text("out.txt"))


def only_static(vm):
    if not os.path.isdir(vm.plugin_dir):
        raise Skip("this build has no loadable modules")


@vm_test(units=UNITS)
def missing_module_is_refused_before_start(vm):
    only_static(vm)
    alone = vm.path("agent")
    os.makedirs(alone)
    shutil.copy(vm.agent, alone)
    run = vm.run_java(vm.agent_option("cpu=samples", os.path.join(alone, "libhprof.so")), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    check(run.err.startswith("HPROF ERROR: "), "no error\n%s" % run)


@vm_test(units=UNITS)
def broken_modules_beside_do_no_harm(vm):
    """Text, an empty file, half a library, a library that is no module, a folder, a dangling link."""
    only_static(vm)
    moved = vm.path("agent")
    shutil.copytree(vm.agent_dir, moved)
    plugins = os.path.join(moved, "hprof", "plugins")
    with open(os.path.join(plugins, "text.so"), "w") as file:
        file.write("not a library\n")
    open(os.path.join(plugins, "empty.so"), "w").close()
    with open(os.path.join(plugins, "cpu_samples.so"), "rb") as whole, open(os.path.join(plugins, "half.so"), "wb") as half:
        half.write(whole.read()[:3000])
    shutil.copy(vm.agent, os.path.join(plugins, "other.so"))
    os.makedirs(os.path.join(plugins, "folder.so"))
    os.symlink("nowhere", os.path.join(plugins, "dangling.so"))
    run = vm.profiled("cpu=samples,file=out.txt", "Spin", "2", agent=os.path.join(moved, "libhprof.so"))
    parse_ascii(run.text("out.txt"))


@vm_test(units=UNITS)
def broken_module_that_is_needed_is_refused_before_start(vm):
    only_static(vm)
    moved = vm.path("agent")
    shutil.copytree(vm.agent_dir, moved)
    with open(os.path.join(moved, "hprof", "plugins", "cpu_samples.so"), "w") as file:
        file.write("not a library\n")
    run = vm.run_java(vm.agent_option("cpu=samples", os.path.join(moved, "libhprof.so")), "Quick")
    check_equal((run.code, run.out), (1, ""), "exit code and stdout\n%s\n" % run)
    check("HPROF ERROR: " in run.err, "no error\n%s" % run)


def cmake(vm, *arguments):
    run = subprocess.run(["cmake", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=vm.dir)
    check(run.returncode == 0, "cmake %s\n%s" % (" ".join(arguments), run.stdout.decode(errors="replace")))


@vm_test(units=UNITS)
def vendor_plugin_built_against_an_installed_tree_runs(vm):
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "examples", "gc_pauses")
    prefix, build = vm.path("prefix"), vm.path("vendor")
    cmake(vm, "--install", vm.tree, "--prefix", prefix)
    with open(os.path.join(vm.tree, "CMakeCache.txt")) as cache:  # a 32-bit agent wants 32-bit plugins
        toolchain = ["-D" + line.strip() for line in cache if line.startswith("CMAKE_TOOLCHAIN_FILE:")]
    cmake(vm, "-S", source, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release", *toolchain)
    cmake(vm, "--build", build)
    run = vm.profiled("plugins=%s,plugin=gc_pauses,file=out.txt" % build, "Lambdas", java=("-Xmn2m",),
                      agent=os.path.join(prefix, "lib", "libhprof.so"))
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    check("gc_pauses" in run.text("out.txt").lower().replace(" ", "_"), "nothing of the plugin in the report\n%s" % run)
