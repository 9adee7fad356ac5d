#!/usr/bin/env python3
"""Builds tomorrow's core: today's sources with headers in which every struct that may grow has one more member.

tomorrow.py --source DIR --build DIR --out DIR --cmake CMAKE --generator NAME --cc CC --cxx CXX --include DIR...

The minor version is one higher, there is one more status, and one more service. In OUT then are

    core/lib/            libhprof and its own modules of tomorrow, beside the other modules of BUILD
    plugins/today/       the examples and grows.c, built with today's headers
    plugins/tomorrow/    the same with tomorrow's headers; they require nothing new

tests/vm/abi/test_abi.py runs each in both cores and compares what they write. Only what has changed is built again.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

import snapshot

PARTS = ("CMakeLists.txt", "LICENSE", "README.md", "core", "platform", "plugins", "tools", "writers")
# Modules that are a part of the core: they share its C++ types.
OF_CORE = ("hotspot", "help_texts", "bytecode", "control", "report_windows")
MEMBER = "  uint64_t tomorrow;\n"
SERVICE = ("const ServiceRow kServices[] = {\n", '    {"hprof.tomorrow/1", &kLog},\n')
MODULES = {
    "gc_pauses": ("examples/gc_pauses/gc_pauses.c",),
    "throws": ("examples/throws/throws.cpp",),
    "csv": ("examples/csv/csv.cpp",),
    "grows": ("tests/plugins/abi/grows.c",),
}


def put(path, content):
    """Writes the file unless it has that content, so that nothing is built again without need."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, "rb") as file:
            if file.read() == content:
                return
    with open(path, "wb") as file:
        file.write(content)


def replaced(text, before, after):
    if text.count(before) != 1:
        sys.exit("tomorrow: %r is there %d times" % (before, text.count(before)))
    return text.replace(before, after)


def grown(headers, name, text):
    """The frozen header `name` as a later minor version may have it."""
    for struct in headers.structs:
        if headers.in_file[struct] == name and snapshot.can_grow(struct, headers.rows()):
            end = "\n};" if struct in headers.tags else "\n} %s;" % struct
            begin = re.search(r"struct %s \{" % struct, text).start()
            at = text.index(end, begin) + 1
            text = text[:at] + MEMBER + text[at:]
    if name == "hprof/abi.h":
        text = replaced(text, "#define HPROF_ABI_MINOR 0", "#define HPROF_ABI_MINOR 1")
        text = replaced(text, "#define HPROF_ABORTED 5", "#define HPROF_TOMORROW 6\n#define HPROF_ABORTED 5")
    return text


def copy_tree(source, to):
    headers = snapshot.Headers(os.path.join(source, "core", "include"))
    files = [part for part in PARTS if os.path.isfile(os.path.join(source, part))]
    for part in PARTS:
        for folder, _, names in os.walk(os.path.join(source, part)):
            files += [os.path.relpath(os.path.join(folder, name), source) for name in names if not name.endswith(".pyc")]
    for path in files:
        with open(os.path.join(source, path), "rb") as file:
            content = file.read()
        header = os.path.relpath(path, os.path.join("core", "include")).replace(os.sep, "/")
        if header in headers.names:
            content = grown(headers, header, content.decode()).encode()
        if path == os.path.join("core", "agent", "services", "services.cpp"):
            content = replaced(content.decode(), SERVICE[0], "".join(SERVICE)).encode()
        put(os.path.join(to, path), content)


def build_core(options, source, folder):
    quick = ["-DCMAKE_%s_FLAGS_DEBUG=-O0" % language for language in ("C", "CXX")]
    subprocess.run([options.cmake, "-S", source, "-B", folder, "-G", options.generator, "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_C_COMPILER=" + options.cc, "-DCMAKE_CXX_COMPILER=" + options.cxx, "-DHPROF_TESTS=OFF",
                    "-DHPROF_TOOL=OFF", *quick], check=True)
    subprocess.run([options.cmake, "--build", folder, "--parallel", "1", "--target", "hprof", *OF_CORE], check=True)


def build_plugins(options, include, folder):
    os.makedirs(folder, exist_ok=True)
    includes = ["-I" + path for path in (include, *options.include)]
    for name, sources in MODULES.items():
        paths = [os.path.join(options.source, path) for path in sources]
        is_c = paths[0].endswith(".c")
        flags = ["-std=gnu11"] if is_c else ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
        subprocess.run([options.cc if is_c else options.cxx, *flags, "-O0", "-w", "-shared", "-fPIC", "-fvisibility=hidden",
                        *includes, *paths, "-o", os.path.join(folder, name + ".so")], check=True)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "build", "out", "cmake", "generator", "cc", "cxx"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--include", action="append", default=[])
    options = parser.parse_args(arguments)
    source, built, core = (os.path.join(options.out, name) for name in ("source", "build", "core"))
    copy_tree(options.source, source)
    build_core(options, source, built)
    shutil.rmtree(core, ignore_errors=True)
    shutil.copytree(os.path.join(options.build, "lib"), os.path.join(core, "lib"))
    shutil.copytree(os.path.join(built, "lib"), os.path.join(core, "lib"), dirs_exist_ok=True)
    for name, tree in (("today", options.source), ("tomorrow", source)):
        build_plugins(options, os.path.join(tree, "core", "include"), os.path.join(options.out, "plugins", name))


if __name__ == "__main__":
    main(sys.argv[1:])
