#!/usr/bin/env python3
"""What `hprof plugin new` makes builds against an installed tree, passes its tests, and has no warning in any language.

new_units_test.py TOOL PREFIX CC CXX
"""
import os
import re
import subprocess
import sys
import tempfile

KINDS = ("collector", "encoder", "filter", "sink")
NAMES = ["new_" + kind for kind in KINDS]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]


def make(tool, folder):
    """The four units that `hprof plugin new` makes, in one project, so that the mock host is built once for all."""
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(new_units LANGUAGES C CXX)",
             "find_package(hprof 1.0 REQUIRED)", "enable_testing()"]
    for kind, name in zip(KINDS, NAMES):
        subprocess.run([tool, "plugin", "new", kind, name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        lines.append("add_subdirectory(%s)" % name)
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def sources(folder, language):
    """The units' own sources in one language, without their tests."""
    paths = [os.path.join(folder, name, "%s.%s" % (name, language)) for name in NAMES]
    return [path for path in paths if os.path.exists(path)]


def run(*arguments, **options):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(arguments), done.stdout.decode(errors="replace")))
    return done.stdout.decode()


def refused(tool, folder, *arguments):
    done = subprocess.run([tool, "plugin", "new", *arguments], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 2:
        sys.exit("plugin new %s: exit code %d" % (" ".join(arguments), done.returncode))
    return done.stderr.decode()


def check_versions(tool, prefix):
    """Tool, CMake package and pkg-config have the same release and, with the headers, the same version of the ABI."""
    with open(prefix + "/include/hprof/abi.h", encoding="utf-8") as file:
        abi = ".".join(re.findall(r"#define HPROF_ABI_M..OR (\d+)", file.read()))
    said = run(tool, "--version")
    match = re.fullmatch(r"hprof ((\d+)\.\d+\.\d+)(?: \(commit [0-9a-f]{12}\))?, plugin ABI (\d+)\.\d+, OTLP profiles of opentelemetry-proto 1\.\d+\n", said)
    if match is None or " %s, OTLP" % abi not in said or match.group(2) != match.group(3):
        sys.exit("hprof --version is not of ABI %s: %s" % (abi, said))
    release = match.group(1)
    for path, line in (("lib/pkgconfig/hprof.pc", "Version: %s\n" % release), ("lib/pkgconfig/hprof.pc", "abi_version=%s\n" % abi),
                       ("lib/cmake/hprof/hprofConfigVersion.cmake", 'VERSION "%s")' % release),
                       ("lib/cmake/hprof/hprofConfig.cmake", 'set(HPROF_ABI_VERSION "%s")\n' % abi)):
        with open(os.path.join(prefix, path), encoding="utf-8") as file:
            if line not in file.read():
                sys.exit("%s has no line %s" % (path, line))


def main(tool, prefix, cc, cxx):
    check_versions(tool, prefix)
    with tempfile.TemporaryDirectory() as folder:
        make(tool, folder)
        flags = " ".join(WARNINGS)
        run("cmake", "-S", folder, "-B", folder + "/build", "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_C_COMPILER=" + cc,
            "-DCMAKE_CXX_COMPILER=" + cxx, "-DCMAKE_C_FLAGS=" + flags, "-DCMAKE_CXX_FLAGS=" + flags)
        run("cmake", "--build", folder + "/build")
        text = run("ctest", "--test-dir", folder + "/build", "--output-on-failure")
        if "100% tests passed, 0 tests failed out of 4" not in text:
            sys.exit("not four tests\n" + text)
        run("cmake", "--install", folder + "/build", "--prefix", folder + "/installed")
        installed = sorted(os.listdir(folder + "/installed/lib/hprof/plugins"))
        if installed != sorted(name + ".so" for name in NAMES):
            sys.exit("installed: %s" % installed)
        # As a vendor with pkg-config compiles them: the headers' own warnings count, too.
        pkg_config = dict(os.environ, PKG_CONFIG_PATH=prefix + "/lib/pkgconfig", PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1")
        include = ["-I" + prefix + "/include"]
        try:
            include = run("pkg-config", "--cflags", "hprof", env=pkg_config).split()
        except FileNotFoundError:
            pass
        for language, compiler, standards in (("c", cc, ("c99", "c11")), ("cpp", cxx, ("c++17", "c++20"))):
            for standard in standards:
                run(compiler, "-std=" + standard, "-fsyntax-only", *WARNINGS, *include, *sources(folder, language))
        for arguments, words in ((("collector", "new_collector"), "it is there already"), (("collector", "My"), "lower-case"),
                                 (("collector", "libx"), "lib*"), (("sink", "test"), "CMake"), (("wink", "x"), "collector, encoder")):
            if words not in refused(tool, folder, *arguments):
                sys.exit("plugin new %s: not refused with %r" % (" ".join(arguments), words))


if __name__ == "__main__":
    main(*sys.argv[1:])
