"""What a vendor has and does: an installed tree, and plugins built against it."""
import os
import shutil
import subprocess

from harness import ROOT, Skip, check


def needs_modules(vm):
    if not os.path.isdir(vm.plugin_dir):
        raise Skip("this build has no loadable modules")


def probe_folder(vm):
    """A folder with the modules of tests/plugins/abi, where this JDK can see them."""
    built = os.path.join(vm.tree, "tests", "plugins", "abi", "vendor")
    if not os.path.isdir(vm.plugin_dir) or not os.path.isdir(built):
        raise Skip("this build has no loadable modules")
    return shutil.copytree(built, vm.path("vendor"), dirs_exist_ok=True)


def cmake(vm, *arguments):
    run = subprocess.run(["cmake", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=vm.dir)
    check(run.returncode == 0, "cmake %s\n%s" % (" ".join(arguments), run.stdout.decode(errors="replace")))


def installed(vm):
    """An installed tree: (prefix, options of CMake for what is built against it)."""
    prefix = vm.path("prefix")
    cmake(vm, "--install", vm.tree, "--prefix", prefix)
    with open(os.path.join(vm.tree, "CMakeCache.txt")) as cache:  # a 32-bit agent wants 32-bit plugins
        lines = [line.strip() for line in cache]
    options = ["-D" + line for line in lines if line.startswith("CMAKE_TOOLCHAIN_FILE:")]
    options += ["-DJDK=" + os.path.dirname(line.split("=")[1]) for line in lines if line.startswith("HPROF_JVMTI_INCLUDE:")]
    return prefix, ["-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release"] + options


def vendor_plugin(vm, name="gc_pauses"):
    """An example built against an installed tree: (agent, folder of the plugin)."""
    source = os.path.join(ROOT, "examples", name)
    build = vm.path("vendor_" + name)
    prefix, options = installed(vm)
    cmake(vm, "-S", source, "-B", build, *options)
    cmake(vm, "--build", build, "--target", name)
    return os.path.join(prefix, "lib", "libhprof.so"), build


def exceptions_of(text, name):
    """{method: {column: sum}} in the rows that the example `throws` has in a text report of the class of that name."""
    sums = {}
    for line in text.splitlines():
        cells = dict(part.split("=", 1) for part in line.split()[1:]) if line.startswith("THROWS:") else {}
        if cells.get("class") != name:
            continue
        row = sums.setdefault(cells["method"], {})
        for column in ("made", "caught", "thrown"):
            if column in cells:
                row[column] = row.get(column, 0) + int(cells[column])
    return sums
