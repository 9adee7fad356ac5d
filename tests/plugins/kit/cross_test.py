#!/usr/bin/env python3
"""The examples, one of each kind, built for armhf against an install for this machine, pass their tests in qemu-user.

cross_test.py SOURCE PREFIX JDK [FOLDER]. Exit code 77, with the reason, where something is missing: g++-arm-linux-gnueabihf
and qemu-user-static. FOLDER: where they are built, and stay.
"""
import os
import shutil
import sys
import tempfile

from new_units_test import run

EXAMPLES = {"throws": False, "method_counts": False, "gc_pauses": True, "csv": True, "byte_count": True, "own_file": True}  # with a test


def main(source, prefix, jdk, folder=None):
    for programs in (("arm-linux-gnueabihf-g++",), ("qemu-arm-static", "qemu-arm")):
        if not any(map(shutil.which, programs)):
            print("skipped: no %s" % programs[0])
            sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or scratch
        lines = ["cmake_minimum_required(VERSION 3.20)", "project(examples LANGUAGES C CXX)",
                 "find_package(hprof 1.0 REQUIRED COMPONENTS jvmti)", "enable_testing()"]
        lines += ["add_subdirectory(%s/examples/%s %s)" % (source, name, name) for name in EXAMPLES]
        with open(folder + "/CMakeLists.txt", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        build = folder + "/build"
        run("cmake", "-S", folder, "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix, "-DJDK=" + jdk,
            "-DCMAKE_TOOLCHAIN_FILE=%s/platform/toolchains/linux-armhf.cmake" % source)
        run("cmake", "--build", build)
        for name in EXAMPLES:
            with open(os.path.join(build, name, name + ".so"), "rb") as file:
                head = file.read(20)
            if head[:5] != b"\x7fELF\x01" or head[18] != 40:
                sys.exit("%s.so is not for 32-bit ARM" % name)
        text = run("ctest", "--test-dir", build, "--output-on-failure")
        if "100%% tests passed, 0 tests failed out of %d" % sum(EXAMPLES.values()) not in text:
            sys.exit("not all tests\n" + text)


if __name__ == "__main__":
    main(*sys.argv[1:])
