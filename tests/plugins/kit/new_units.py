"""The four units that `hprof plugin new` makes, in one project, so that the mock host is built once for all."""
import os
import subprocess

KINDS = ("collector", "encoder", "filter", "sink")
NAMES = ["new_" + kind for kind in KINDS]


def make(tool, folder):
    """Their folders and a CMakeLists.txt for all of them, in an empty folder."""
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
