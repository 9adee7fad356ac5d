"""The eight units that `hprof plugin new` makes, in one project, so that the mock host is built once for all."""
import os
import subprocess

KINDS = ("collector", "encoder", "filter", "sink")
UNITS = [(kind, language, "%s_in_%s" % (kind, language)) for kind in KINDS for language in ("c", "cpp")]


def make(tool, folder):
    """Their folders and a CMakeLists.txt for all of them, in an empty folder."""
    lines = ["cmake_minimum_required(VERSION 3.20)", "project(new_units LANGUAGES C CXX)",
             "find_package(hprof 1.0 REQUIRED)", "enable_testing()"]
    for kind, language, name in UNITS:
        subprocess.run([tool, "plugin", "new", kind, name] + ["--cpp"] * (language == "cpp"), cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        lines.append("add_subdirectory(%s)" % name)
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def sources(folder, language):
    """The units' own sources in one language, without their tests."""
    return [os.path.join(folder, name, "%s.%s" % (name, language)) for _, of, name in UNITS if of == language]
