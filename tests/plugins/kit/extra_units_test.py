#!/usr/bin/env python3
"""Units that live elsewhere in builds of hprof (HPROF_EXTRA_UNITS): what becomes static, what a module, what is refused.

extra_units_test.py SOURCE TOOL CC CXX: configures only; nothing is compiled but CMake's own probes.
"""
import os
import subprocess
import sys
import tempfile

import new_units_test

ENOUGH = "cpu_samples;encoder_ascii;sink_file"


def configured(source, compilers, build, *options):
    """(exit code, what CMake says, {unit: kind})."""
    run = subprocess.run(["cmake", "-S", source, "-B", build, "-DHPROF_TESTS=OFF", "-DHPROF_TOOL=OFF", *compilers, *options],
                         cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    units = {}
    if run.returncode == 0:
        with open(build + "/units.txt", encoding="utf-8") as file:
            units = dict(line.split() for line in file)
    return run.returncode, " ".join(run.stdout.decode(errors="replace").split()), units


def main(source, tool, cc, cxx):
    compilers = ["-DCMAKE_C_COMPILER=" + cc, "-DCMAKE_CXX_COMPILER=" + cxx]
    with tempfile.TemporaryDirectory() as folder:
        new_units_test.make(tool, folder)
        names = ["new_collector", "new_encoder"]
        extra = "-DHPROF_EXTRA_UNITS=" + ";".join(os.path.join(folder, name) for name in names)
        build = folder + "/build"
        cases = (  # HPROF_STATIC, HPROF_LOADABLE, what the two become
            (ENOUGH + ";new_collector", "ON", ["static", "module"]),
            (ENOUGH, "OFF", ["static", "static"]),
            ("all", "OFF", ["static", "static"]),
            ("", "ON", ["module", "module"]),
        )
        for static, loadable, wanted in cases:
            code, text, units = configured(source, compilers, build, extra, "-DHPROF_STATIC=" + static, "-DHPROF_LOADABLE=" + loadable)
            kinds = [units.get(name) for name in names]
            if code != 0 or kinds != wanted:
                sys.exit("HPROF_STATIC=%s HPROF_LOADABLE=%s: %s, wanted %s\n%s" % (static, loadable, kinds, wanted, text))
        with_java = "-DHPROF_EXTRA_UNITS=" + os.path.join(source, "examples", "method_counts")
        for static, wanted in (("", "module"), (ENOUGH + ";method_counts", "static")):
            code, text, units = configured(source, compilers, build, with_java, "-DHPROF_STATIC=" + static, "-DHPROF_LOADABLE=ON")
            header = os.path.join(build, "extra", "method_counts", "method_counts_java", "method_counts_java.h")
            if code != 0 or units.get("method_counts") != wanted or not os.path.exists(header):
                sys.exit("method_counts with HPROF_STATIC=%s: %s, wanted %s\n%s" % (static, units, wanted, text))
            os.remove(header)
        for preset in ("bundled", "embedded"):
            chosen = [] if preset == "bundled" else ["-DHPROF_STATIC=%s;%s" % (ENOUGH, ";".join(names))]
            code, text, units = configured(source, compilers, folder + "/" + preset, "--preset", preset, extra, *chosen)
            if code != 0 or [units.get(name) for name in names] != ["static", "static"] or "module" in units.values():
                sys.exit("--preset %s: %s\n%s" % (preset, units, text))
        for options, words in ((["-DHPROF_STATIC=cpu_sample", extra], "HPROF_STATIC names cpu_sample"),
                               (["-DHPROF_STATIC=" + ENOUGH + ";other_collector", extra], "HPROF_STATIC names other_collector"),
                               (["-DHPROF_EXTRA_UNITS=", "-DHPROF_STATIC=" + ENOUGH + ";new_collector"],
                                "HPROF_STATIC names new_collector"),
                               (["-DHPROF_EXTRA_UNITS=" + folder + "/nothing"], "has no CMakeLists.txt")):
            code, text, _ = configured(source, compilers, build, *options)
            if code == 0 or words not in text:
                sys.exit("%s: not refused with %r\n%s" % (options, words, text))


if __name__ == "__main__":
    main(*sys.argv[1:])
