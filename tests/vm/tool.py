"""bin/hprof as tests use it."""
import json
import os
import re
import subprocess

import strict_json
from harness import ROOT, TIMEOUT, check, check_equal, clean_environment

try:
    import jsonschema
except ImportError:
    jsonschema = None

with open(os.path.join(ROOT, "docs", "answers.schema.json"), encoding="utf-8") as schema_file:
    SCHEMA = json.load(schema_file)
# Made once: it checks the schema itself, which takes as long as fifty answers.
SECOND_JUDGE = jsonschema and jsonschema.validators.validator_for(SCHEMA)(SCHEMA)


def program(vm, folder=None):
    """What stands before the arguments of bin/hprof, or of bin/hprof.exe for the JVM's system."""
    windows = os.path.join(vm.tree, "bin", "hprof.exe")
    return vm.jdk.command("wine", vm.work, folder or vm.dir) + [windows] if os.path.exists(windows) else [os.path.join(vm.tree, "bin", "hprof")]


def hprof(vm, *arguments, cwd=None, prefix=(), environment=None):
    """bin/hprof to its end: (exit code, stdout and stderr).

    If it starts a VM or becomes another user, VM_ENVIRONMENT is what a sanitizer needs.
    """
    run = subprocess.run([*prefix, *program(vm, cwd), *arguments], cwd=cwd or vm.dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=TIMEOUT, env=clean_environment(environment))
    return run.returncode, run.stdout.decode(errors="replace").replace("\r\n", "\n")


def sound(vm, name, *options, of_vm=False):
    """No error; and nothing of what only dumps of the VM itself may lack."""
    code, text = hprof(vm, "check", *options, vm.path(name))
    what = "hprof check %s %s\n%s\n" % (" ".join(options), name, text)
    check_equal(code, 0, what)
    for rule in () if of_vm else ("reference", "array.class"):
        check("warning: %s:" % rule not in text and "more: %s:" % rule not in text, what)


def heap(vm, *arguments, status=0):
    """What hprof heap says."""
    code, text = hprof(vm, "heap", *arguments)
    check_equal(code, status, "hprof heap %s: %s" % (" ".join(arguments), text))
    return text


def heap_json(vm, *arguments):
    """The answer of hprof heap as JSON, which docs/answers.schema.json describes."""
    return documented(heap(vm, *arguments, "--json"))


def documented(text):
    """The answer as JSON, which docs/answers.schema.json describes."""
    answer = strict_json.read(text)
    found = strict_json.complaints(answer, SCHEMA, SCHEMA)
    check_equal(found[:10], [], "%d differences from docs/answers.schema.json" % len(found))
    if SECOND_JUDGE is not None:
        SECOND_JUDGE.validate(answer)
    return answer


def class_histogram(vm, live):
    """The VM's own: {class: (instances, bytes)}."""
    code, text = vm.tool("jcmd", str(live.pid), "GC.class_histogram")
    check_equal(code, 0, "jcmd: %s" % text)
    rows = re.findall(r"^ *\d+: +(\d+) +(\d+) +(\S+)", text, re.M)
    return {name: (int(count), int(size)) for count, size, name in rows}
