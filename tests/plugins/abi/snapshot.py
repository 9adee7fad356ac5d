#!/usr/bin/env python3
"""Sizes, offsets and constants of the plugin ABI's frozen headers, for each data model, against tests/plugins/abi/abi-1.<minor>.txt.

  snapshot.py [--cc COMPILER]...          compare what these compilers make of the headers (default: cc)
  snapshot.py --all                       ... and what else of compilers is found; an error if a data model is left out
  snapshot.py --write                     all data models; make the file for the headers' minor version
  --headers FOLDER                        the include folder (core/include)
  --files FOLDER                          where abi-*.txt are (this script's)

Nothing is run on a target: a compiler puts the numbers into an object file, and this program finds them there. The data
models: LP64 (Unix), LLP64 (Windows), ILP32 (64-bit members on 8 bytes: ARM, Windows), ILP32/4 (on 4 bytes: x86 Unix).

A difference is an error that says what has changed. Members, constants and functions may be appended, never moved, changed
or taken away, and only with a new minor version, whose file is written beside the older ones; older files must hold for
the newer headers, too. --write changes the file of a release candidate only: the words in its first line go with the
release, and until then the numbers of a family of constants have no hole. hprof/draft and hprof/cpp are not looked at. Exits 1 when something differs, 2 on wrong use.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from struct import pack, unpack_from

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = ("LP64", "LLP64", "ILP32", "ILP32/4")
CANDIDATE = "release candidate"
MARK = (0x4850524f462d4142, 0x492d4e554d424552)  # two words that no object file has by chance
# Other compilers that know a model, when they are there; cc and clang compile for targets that they cannot link for.
OTHERS = (["cc", "-m64"], ["cc", "-m32", "-malign-double"], ["cc", "-m32"], ["x86_64-w64-mingw32-gcc"],
          ["clang", "--target=x86_64-pc-windows-gnu"], ["i686-w64-mingw32-gcc"], ["arm-linux-gnueabihf-gcc"])
# What members may be made of: the same on every machine of a model, and never `long` or an enum.
SCALARS = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t", "double", "char",
           "void"}
STRING_H = ("#include <stddef.h>\nvoid* memcpy(void*, const void*, size_t);\nvoid* memset(void*, int, size_t);\n"
            "int strcmp(const char*, const char*);\nsize_t strlen(const char*);\n")


class Wrong(Exception):
    """The headers or a compiler are not what this program expects."""


# --- reading the headers

def strip_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\\\n", " ", text)


def squeeze(text):
    return re.sub(r"\s*([*(),])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def split_outside(text, separator):
    """Splits at the separator, but not within brackets."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if c == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    return parts + [part]


def read_members(body, struct):
    """(name, declaration) of each member."""
    for line in split_outside(body, ";"):
        line = squeeze(line)
        if not line:
            continue
        pointer = re.match(r"(.+?)\(\*(\w+)\)\((.*)\)$", line)
        if pointer:
            yield pointer.group(2), "%s(*)(%s)" % (pointer.group(1), pointer.group(3))
            continue
        declarators = split_outside(line, ",")
        first = re.match(r"(.*?[ *])(\w+)(\[.*\])?$", declarators[0])
        if first is None:
            raise Wrong("%s: a member that is not understood: %s" % (struct, line))
        base = first.group(1).strip()
        yield first.group(2), base + (first.group(3) or "")
        for other in declarators[1:]:
            match = re.match(r"(\**)(\w+)(\[.*\])?$", other.strip())
            if match is None:
                raise Wrong("%s: a member that is not understood: %s" % (struct, line))
            yield match.group(2), base.rstrip("*") + match.group(1) + (match.group(3) or "")


class Headers:
    """What the frozen headers declare, in the order of files and lines."""

    def __init__(self, folder):
        self.folder = folder
        self.names = sorted(os.path.relpath(path, folder).replace(os.sep, "/")
                            for pattern in ("hprof/*.h", "hprof/service/*.h")
                            for path in glob.glob(os.path.join(folder, pattern)))
        if not self.names:
            raise Wrong("no headers in %s/hprof" % folder)
        self.structs, self.numbers, self.texts, self.types = {}, [], {}, {}
        self.tags = set()  # structs whose typedef stands elsewhere
        self.in_file = {}
        for name in self.names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.read(name, strip_comments(file.read()))
        for struct, members in self.structs.items():
            for member, declaration in members:
                self.check_type(struct, member, declaration)

    def read(self, name, text):
        for match in re.finditer(r"^(typedef )?(struct|union) (\w+) \{", text, flags=re.M):
            end, depth = match.end(), 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            self.structs[match.group(3)] = list(read_members(text[match.end():end - 1], match.group(3)))
            self.in_file[match.group(3)] = name
            if match.group(1) is None:
                self.tags.add(match.group(3))
        flat = re.sub(r"\{[^{}]*\}", "", text)
        for match in re.finditer(r"typedef ([^;{}#]+);", flat):
            line = squeeze(match.group(1))
            function = re.match(r".*\(\*(\w+)\)\(.*\)$", line)
            simple = re.match(r"(\w+) (\w+)$", line)
            if function:
                self.types[function.group(1)] = line
            elif simple and simple.group(1) not in ("struct", "union"):
                self.types[simple.group(2)] = simple.group(1)
        for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(HPROF_\w+)([ \t]+([^\n]+))?$", text, flags=re.M):
            key, value = match.group(1), (match.group(3) or "").strip()
            if key.endswith("_H") or not value or key in ("HPROF_EXTERN_C", "HPROF_EXPORT", "HPROF_DLLEXPORT"):
                continue
            if value.startswith(('"', "HPROF_KIND_")):
                self.texts[key] = value
            elif not re.search(r"\b(static|const|return)\b", value):
                self.numbers.append(key)

    def check_type(self, struct, member, declaration):
        """Refuses what is not the same for all compilers of a data model."""
        if "(*)" in declaration or "*" in declaration:
            return
        base = re.sub(r"\[.*\]|\b(const|struct)\b", "", declaration).strip()
        if base in self.structs and can_grow(base, self.rows()):
            raise Wrong("%s.%s: %s may grow, and would move the members behind it" % (struct, member, base))
        if base not in SCALARS and base not in self.structs and base not in self.types:
            raise Wrong("%s.%s: %s is no type of fixed size" % (struct, member, base))

    def rows(self):
        """The name of every member."""
        return {"%s.%s" % (struct, member) for struct, members in self.structs.items() for member, _ in members}

    def probe(self):
        """C source whose object file has the numbers, each in 64 bits behind MARK, and what they are."""
        expressions, meaning = ["sizeof(void*)", "sizeof(long)", "offsetof(struct model, wide)"], []
        for struct, members in self.structs.items():
            expressions.append("sizeof(%s)" % struct)
            meaning.append(("size", struct, None))
            for member, _ in members:
                expressions += ["offsetof(%s, %s)" % (struct, member), "sizeof(((%s*)0)->%s)" % (struct, member)]
                meaning.append(("member", struct, member))
        for type_name in self.types:
            expressions.append("sizeof(%s)" % type_name)
            meaning.append(("type", type_name, None))
        for number in self.numbers:
            expressions.append("(%s)" % number)
            meaning.append(("number", number, None))
        lines = ["#include <%s>" % name for name in self.names]
        lines.append("struct model { char first; uint64_t wide; };")
        numbers = ["0x%xull" % word for word in MARK] + ["(uint64_t)(%s)" % each for each in expressions]
        lines.append("const uint64_t hprof_abi_numbers[] = {%s};" % ",\n".join(numbers))
        return "\n".join(lines) + "\n", meaning, len(expressions)


# --- asking compilers

def numbers_of(headers, compiler):
    """(model, {(kind, a, b): text}) as this compiler has it; None: it cannot compile for that target here."""
    source, meaning, count = headers.probe()
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "string.h"), "w") as file:
            file.write(STRING_H)
        with open(os.path.join(work, "probe.c"), "w") as file:
            file.write(source)
        run = subprocess.run([*compiler, "-std=c99", "-ffreestanding", "-w", "-I", work, "-I", headers.folder, "-c",
                              os.path.join(work, "probe.c"), "-o", os.path.join(work, "probe.o")],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            return None, run.stdout
        with open(os.path.join(work, "probe.o"), "rb") as file:
            data = file.read()
    for order in "<>":
        at = data.find(pack(order + "2Q", *MARK))
        if at >= 0:
            break
    else:
        raise Wrong("%s: the numbers are not in the object file" % " ".join(compiler))
    numbers = unpack_from("%s%dQ" % (order, count), data, at + 8 * len(MARK))
    pointer, long_size, wide_at = numbers[:3]
    model = ("LP64" if long_size == 8 else "LLP64") if pointer == 8 else ("ILP32" if wide_at == 8 else "ILP32/4")
    found, next_number = {}, 3
    for kind, name, member in meaning:
        if kind == "member":
            found[kind, name, member] = "%d+%d" % (numbers[next_number], numbers[next_number + 1])
            next_number += 2
        else:
            value_text = "0x%x" if kind == "number" else "%d"
            found[kind, name, member] = value_text % numbers[next_number]
            next_number += 1
    return model, found


# --- the file: rows of (what, values by model, declaration)

def rows_of(headers, by_model):
    """{what: (values of all MODELS, declaration)}; a model that no compiler has is None."""
    values = lambda *key: tuple(by_model[model][key] if model in by_model else None for model in MODELS)
    rows = {}
    for struct, members in headers.structs.items():
        rows["struct " + struct] = (values("size", struct, None), "")
        for member, declaration in members:
            rows["%s.%s" % (struct, member)] = (values("member", struct, member), declaration)
    for type_name, declaration in headers.types.items():
        rows["type " + type_name] = (values("type", type_name, None), declaration)
    for number in headers.numbers:
        rows[number] = (values("number", number, None), "")
    for text, value in headers.texts.items():
        rows[text] = (tuple("-" for _ in MODELS), value)
    return rows


def is_released(path):
    """Its numbers are a promise: nothing may write it again."""
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return CANDIDATE not in file.readline()


def may_write(path, rows):
    return not is_released(path) or read_file(path) == rows


def write_file(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("# The frozen plugin ABI, %s. Made by tests/plugins/abi/snapshot.py --write, compared by the test suite.\n"
                   "# what | %s | declaration; sizes in bytes, members as offset+size\n" % (CANDIDATE, " ".join(MODELS)))
        for what, (values, declaration) in rows.items():
            file.write(("%s | %s | %s" % (what, " ".join(values), declaration)).rstrip() + "\n")


def read_file(path):
    rows = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            what, values, declaration = (part.strip() for part in (line + " ").split("|", 2))
            rows[what] = (tuple(values.split()), declaration)
    return rows


# Larger in each version, or in some.
COUNTS = ("HPROF_ABI_MINOR", "HPROF_NEED_COUNT", "HPROF_EVENT_COUNT")
# Rows that come with a stride.
STRIDED = ("hprof_option", "hprof_variant", "hprof_column", "hprof_dump_thread", "hprof_dump_monitor")


def can_grow(struct, rows):
    """It says its size itself, or whoever hands it over says it."""
    return struct in STRIDED or any("%s.%s" % (struct, first) in rows for first in ("size", "head")) and \
        struct not in ("hprof_text", "hprof_record")


# Numbers of the formats, positions of columns, and limits.
NO_FAMILY = re.compile(r"HPROF_(TYPE|ROOT|LINE|ABI|LAYOUT|CPU)_|_(MOST|LARGE|COUNT|REGISTERED|UNKNOWN|DEPTH|CONTEXT_THREADS|ROWS|CELLS)$")


def holes(rows):
    """Constants of one family, one behind the other, of which the next is neither one more nor the next bit."""
    problems, before = [], ("", 0)
    for what, (values, _) in rows.items():
        if not what.startswith("HPROF_") or NO_FAMILY.search(what) or not values[0] or not values[0].startswith("0x"):
            continue
        family, number = "_".join(what.split("_")[:2]), int(values[0], 16)
        is_next = number <= before[1] + 1 or (number == 2 * before[1] and number & (number - 1) == 0)
        if family == before[0] and not is_next:
            problems.append("%s is %d: what is between it and %d?" % (what, number, before[1]))
        before = (family, number)
    return problems


def compare(old, new, may_grow):
    """What of the old rows does not hold for the new ones; may_grow: new ones may have more."""
    problems = []
    added = [what for what in new if "." in what and what not in old and "struct " + what.split(".")[0] in old]
    grown = {what.split(".")[0] for what in added}
    # Old owners say a size that includes it.
    for what in added if may_grow else ():
        sizes = old["struct " + what.split(".")[0]][0]
        for model, at, size in zip(MODELS, new[what][0], sizes):
            if at is not None and int(at.split("+")[0]) < int(size):
                problems.append("%s lies in the %s bytes that the struct had before (%s)" % (what, size, model))
    for what, (values, declaration) in old.items():
        if what not in new:
            problems.append("%s is gone" % what)
            continue
        if what in COUNTS and may_grow and int(new[what][0][0] or "0", 16) >= int(values[0], 16):
            continue
        new_values, new_declaration = new[what]
        for model, before, now in zip(MODELS, values, new_values):
            if now is None or before == now:
                continue
            if may_grow and what[7:] in grown and int(now) > int(before) and can_grow(what[7:], old):
                continue
            problems.append("%s was %s and is %s (%s)" % (what, before, now, model))
        if declaration != new_declaration:
            problems.append("%s was declared '%s' and is '%s'" % (what, declaration, new_declaration))
    if not may_grow:
        problems += ["%s is new" % what for what in new if what not in old]
    return problems


def gather(headers, compilers, named):
    by_model, used = {}, []
    for compiler in compilers:
        if shutil.which(compiler[0]) is None:
            if compiler in named:
                raise Wrong("%s is not there" % compiler[0])
            continue
        model, found = numbers_of(headers, compiler)
        if model is None:
            if compiler in named:
                raise Wrong("%s does not compile the headers:\n%s" % (" ".join(compiler), found))
            continue
        if model in by_model and by_model[model] != found:
            other = by_model[model]
            differs = [str(key) for key in found if found[key] != other[key]]
            raise Wrong("%s: another layout than other compilers of %s: %s" % (" ".join(compiler), model, differs[:5]))
        by_model[model] = found
        used.append("%s by %s" % (model, " ".join(compiler)))
    return by_model, used


def main(arguments):
    parser = argparse.ArgumentParser(add_help=True, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cc", action="append", default=[])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--headers", default=os.path.join(HERE, "..", "..", "..", "core", "include"))
    parser.add_argument("--files", default=HERE)
    options = parser.parse_args(arguments)
    try:
        headers = Headers(options.headers)
        named = [compiler.split() for compiler in options.cc or ["cc"]]
        every = options.all or options.write
        by_model, used = gather(headers, named + (list(OTHERS) if every else []), named)
        missing = [model for model in MODELS if model not in by_model]
        if every and missing:
            raise Wrong("no compiler for %s" % ", ".join(missing))
        rows = rows_of(headers, by_model)
        any_model = next(iter(by_model.values()))
        version = [int(any_model["number", "HPROF_ABI_" + part, None], 16) for part in ("MAJOR", "MINOR")]
    except Wrong as wrong:
        print("snapshot: %s" % wrong, file=sys.stderr)
        return 2
    path = os.path.join(options.files, "abi-%d.%d.txt" % tuple(version))
    if not is_released(path):
        for problem in holes(rows):
            print("snapshot: a hole: %s" % problem)
        if holes(rows):
            return 1
    if options.write:
        if not may_write(path, rows):
            print("snapshot: %s is of a released version: what is new needs a new HPROF_ABI_MINOR" % path, file=sys.stderr)
            return 2
        write_file(path, rows)
        print("snapshot: %s has %d rows: %s" % (path, len(rows), "; ".join(used)))
        return 0
    if not os.path.exists(path):
        print("snapshot: there is no %s: write it (--write) with the decision for a new version" % path)
        return 1
    problems = ["%s" % problem for problem in compare(read_file(path), rows, False)]
    older = ["abi-%d.%d.txt" % (version[0], minor) for minor in range(version[1])]
    for name in older:
        if os.path.exists(os.path.join(options.files, name)):
            held = read_file(os.path.join(options.files, name))
            problems += ["%s: %s" % (name, problem) for problem in compare(held, rows, True)]
    for problem in problems:
        print(problem)
    if problems:
        only_more = not compare(read_file(path), rows, True)
        print("snapshot: the headers are not version %d.%d of the ABI any more: %s" % (
            version[0], version[1], "what is appended needs a new HPROF_ABI_MINOR" if only_more else
            "what plugins rely on has changed"))
        if not is_released(path):
            print("snapshot: a change decided on before the release: tests/plugins/abi/snapshot.py --write (docs/abi.md)")
        return 1
    print("snapshot: %d rows hold: %s" % (len(rows), "; ".join(used)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
