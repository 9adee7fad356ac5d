#!/usr/bin/env python3
"""The C and C++ in docs/plugins.md compiles: each block with what the text around it takes for granted.

snippets_test.py DOCS INCLUDE JVMTI_INCLUDE CC CXX
"""
import glob
import os
import re
import subprocess
import sys

HEADERS = """#include <stddef.h>
#include <string.h>
#include <hprof/collector.h>
#include <hprof/encoder.h>
#include <hprof/filter.h>
#include <hprof/sink.h>
#include <hprof/plugin.h>
#include <hprof/record.h>
#include <hprof/service/emit.h>
#include <hprof/service/ids.h>
#include <hprof/service/io.h>
#include <hprof/service/log.h>
#include <hprof/service/mem.h>
#include <hprof/service/threads.h>
"""
CXX_HEADERS = "#include <jvmti.h>\n#include <hprof/cpp/services.hpp>\nusing namespace hprof;\n"
# A word of each block: what is there before it, and for blocks of C++ "c++".
BLOCKS = {
    "HPROF_MODULE": ("c", "static const hprof_unit* const units[1] = {NULL};"),
    "begins(": ("c++", "void count(jlong self, jlong call); extern const hprof_probes_service* probes; extern const hprof_host* host;"
                       "extern hprof_probe_user user; extern uint32_t number; extern hprof_status status;"),
    "com.acme.waits/1": ("c", ""),
    "waits-least": ("c", "typedef struct config { uint64_t least_ns; } config;"),
    "loss_counter": ("c", "uint64_t* lost; extern const hprof_log_service* log; extern const hprof_host* host;"),
    "threads->wait": ("c", "extern const hprof_threads_service* threads; extern const hprof_host* host; extern void* self;"
                           "hprof_agent_thread* thread; void look(void* self, void* jni);"),
    "GetEnv": ("c++", "extern const Services services; extern const hprof_host* host; extern jvmtiEnv* jvmti;"),
    "HPROF_KIND_REPORT_BEGIN": ("c", ""),
    "digest_add": ("c", "void digest_add(void* self, const uint8_t* bytes, uint64_t size);"),
    "write_bytes": ("c", "typedef struct my_sink { const hprof_host* host; const hprof_io_service* io; int64_t handle; } my_sink;"),
}
SHELL = re.compile(r"^(cc|cmake|cmake_minimum_required\(VERSION) ")


def blocks_of(path):
    """[text] of the indented blocks, without those of commands."""
    with open(path, encoding="utf-8") as file:
        parts = re.findall(r"(?:^    .*\n)+", file.read(), re.M)
    texts = [re.sub(r"^    ", "", part, flags=re.M) for part in parts]
    return [text for text in texts if not SHELL.match(text)]


def source_of(block, before):
    """A whole source: definitions as they are, statements in a function."""
    definitions, statements, depth = [], [], 0
    for line in block.splitlines():
        is_definition = depth > 0 or line.startswith(("static ", "HPROF_MODULE("))
        (definitions if is_definition else statements).append(line)
        if is_definition:
            depth += line.count("{") - line.count("}") + line.count("(") - line.count(")")
    body = "\n".join(statements)
    if body and not re.search(r"[;}](\s*/\*.*\*/)?\s*$", body):
        body += ";"
    return "%s\n%s\nvoid all_of_it(void);\nvoid all_of_it(void) {\n%s\n}\n" % (before, "\n".join(definitions), body)


def compiles(language, source, include, jvmti, compilers):
    """What the compiler says; "": nothing."""
    flags = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-Wno-unused-parameter", "-fno-builtin", "-I" + include]
    if language == "c":
        command, text = [compilers[0], "-std=c11", "-xc", *flags, "-"], HEADERS + source
    else:
        folders = [jvmti] + [path for path in glob.glob(jvmti + "/*") if os.path.isdir(path)]
        command = [compilers[1], "-std=c++17", "-xc++", *flags, *["-isystem" + path for path in folders], "-"]
        text = HEADERS + CXX_HEADERS + source
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode(errors="replace") if done.returncode else ""


def main(docs, include, jvmti, cc, cxx):
    bad, seen = [], set()
    for block in blocks_of(os.path.join(docs, "plugins.md")):
        word = next((word for word in BLOCKS if word in block), None)
        if word is None:
            bad.append("a block that this test does not know:\n%s" % block)
            continue
        seen.add(word)
        language, before = BLOCKS[word]
        said = compiles(language, source_of(block, before), include, jvmti, (cc, cxx))
        if said:
            bad.append("does not compile:\n%s\n%s" % (block, said))
    bad += ["no block has %s any more" % word for word in BLOCKS if word not in seen]
    # It would find a block that is wrong.
    if not compiles("c", source_of("nothing->wait(1);\n", ""), include, jvmti, (cc, cxx)):
        bad.append("a block that is wrong compiles")
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main(*sys.argv[1:])
