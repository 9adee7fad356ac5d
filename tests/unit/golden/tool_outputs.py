#!/usr/bin/env python3
"""bin/hprof prints and writes the same everywhere: its commands read the golden files, once with each of two programs.

tool_outputs.py PROGRAM                 the same program in another locale
tool_outputs.py PROGRAM OTHER [WORD...] another program behind a command: that for Windows, behind Wine
  --dump-maker FILE                     hprof_make_dump: also analyse a heap dump of some thousand objects

Compares exit codes, standard output, standard error and files line by line; line ends of Windows count as line feeds. The last line
says how many commands were compared.
"""
import concurrent.futures
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

GOLDEN = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 300
COMMANDS = ("run", "profile", "attach", "ctl", "listen", "check", "print", "diff", "plugin", "view", "convert", "doctor", "heap")
FORMATS = ("collapsed", "pprof", "json", "ascii")
PROFILES = ("ascii.txt", "collapsed.txt", "profile.hprof", "profile.pb")


def bytes_of_hex(path):
    with open(path, encoding="ascii") as file:
        return bytes.fromhex("".join(line[6:56] for line in file))


def make_inputs(folder, dump_maker):
    for name in ("ascii.txt", "ascii_thread_y_lineno_n.txt", "ascii_cpu_old.txt", "collapsed.txt"):
        shutil.copy(os.path.join(GOLDEN, name), folder)
    for name, source in (("profile.hprof", "binary.hex"), ("profile.pb", "pprof.hex")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(bytes_of_hex(os.path.join(GOLDEN, source)))
    with open(os.path.join(folder, "cut.hprof"), "wb") as file:
        file.write(bytes_of_hex(os.path.join(GOLDEN, "binary.hex"))[:1500])
    if dump_maker:
        subprocess.check_call([dump_maker, "5000", os.path.join(folder, "heap.hprof")], stdout=subprocess.DEVNULL)


def cases(has_heap):
    """Each is a command line; a word that begins with "out" is a file that it writes."""
    yield ["--version"]
    yield ["nonsense"]
    for command in COMMANDS:
        yield [command, "--help"]
    yield ["check", "--rules"]
    for name in ("ascii.txt", "ascii_thread_y_lineno_n.txt", "ascii_cpu_old.txt", "profile.hprof", "cut.hprof", "none.txt"):
        yield ["check", "--for=all", name]
        yield ["print", name]
    yield ["print", "--lines", "--top=3", "ascii.txt"]
    yield ["print", "--records", "profile.hprof"]
    yield ["diff", "ascii.txt", "ascii_thread_y_lineno_n.txt"]
    for name in PROFILES:
        yield ["view", name, "-o", "out.html"]
        for form in FORMATS:
            yield ["convert", name, "--to=" + form, "-o", "out." + form]
    for dump in ("profile.hprof", "heap.hprof") if has_heap else ("profile.hprof",):
        for command in ("summary", "leaks", "dominators", "histogram"):
            yield ["heap", command, dump]
        yield ["heap", "summary", dump, "--json"]
        yield ["heap", "summary", dump, "-o", "out.html"]
        yield ["diff", dump, "profile.hprof"]
    if has_heap:
        yield ["heap", "summary", "heap.hprof", "--memory=1m", "--temp=."]


def plain(data):
    """Text as lines; what has to differ between systems is taken out."""
    text = data.replace(b"\r\n", b"\n").decode("utf-8", errors="backslashreplace")
    text = re.sub(r"libhprof\.so|hprof\.dll", "<agent>", text)
    text = re.sub(r"No such file or directory|File not found|The system cannot find the file specified\.?", "<not there>", text)
    return text.split("\n")


def outcome(command, case, folder, environment):
    """{what: lines} of one run in a folder of its own."""
    before = set(os.listdir(folder))
    run = subprocess.run([*command, *case], cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
    found = {"exit code": [str(run.returncode)], "standard output": plain(run.stdout), "standard error": plain(run.stderr)}
    for name in sorted(set(os.listdir(folder)) - before):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        # A page or a profile in text; bytes that are no text are compared as such.
        found["file " + name] = plain(data) if name != "out.pprof" else [data.hex()]
        os.unlink(os.path.join(folder, name))
    return found


def differences(case, first, second):
    for what in sorted(set(first) | set(second)):
        one, other = first.get(what, ["(none)"]), second.get(what, ["(none)"])
        if one != other:
            yield "hprof %s: %s differs" % (" ".join(case), what)
            yield from list(difflib.unified_diff(one, other, "first", "second", lineterm="", n=1))[:12]


def main(arguments):
    dump_maker = None
    if arguments[:1] == ["--dump-maker"]:
        dump_maker, arguments = os.path.abspath(arguments[1]), arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    first = [os.path.abspath(arguments[0])]
    second = arguments[1:] or first
    with tempfile.TemporaryDirectory() as inputs, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        make_inputs(inputs, dump_maker)

        def compare(case):
            with tempfile.TemporaryDirectory() as folder:
                shutil.copytree(inputs, folder, dirs_exist_ok=True)
                # Dates in text are local time.
                one = outcome(first, case, folder, {"TZ": "UTC", "LC_ALL": "C"})
                return list(differences(case, one, outcome(second, case, folder, {"TZ": "UTC", "LC_ALL": "C.UTF-8"})))

        found = list(pool.map(compare, cases(dump_maker is not None)))
    bad = sum(found, [])
    print("\n".join([*bad, "%d commands compared" % len(found)]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
