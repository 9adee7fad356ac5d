"""What README.md, the pages in docs/ and tests/vm/pages/ show: commands with what they print, and parts of reports.

Two kinds of fenced blocks are tried. In

    ```console
    $ hprof run cpu=samples -- java -jar app.jar
    sold for 479
    ```

the commands after `$ ` are run; what follows is what they print. In

    ```text file=java.hprof.txt
    CPU SAMPLES BEGIN (total = 132) Sun Nov 22 07:28:28 2026
    ...
    ```

the lines stand in that file of the working folder, in this order. Shapes are compared: a number stands for any number, a
line of three dots for any lines; a number with a plus stands for one that grew. A heading begins with an empty folder; 4711 is
the process id of a program that runs, 7777 a port where nobody listens, /home/me the working folder, /home/me/hprof an
installation. A command that ends with `serve &` starts that program, with `[1] 4711` as all that is printed.
"""
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FENCE = re.compile(r"^```(console|text file=(\S+))\n(.*?)^```$", re.M | re.S)
NUMBER = r"[-+]?[0-9][0-9,.:]*"
# What differs from run to run, in the page and in a regular expression.
ANY = (
    (r"0x[0-9a-f]+", r"0x[0-9a-f]+"),
    (r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} [0-9]{4}", r"\w{3} \w{3} [ 0-9]{2} [0-9:]{8} [0-9]{4}"),
    (NUMBER + r"(?: ?(?:bytes|B|KB|MB|GB|KiB|MiB|GiB)\b)", NUMBER + r" ?(?:bytes|B|KB|MB|GB|KiB|MiB|GiB)"),
    (NUMBER, NUMBER),
    (r"[ \t]+", r"[ \t]+"),
)


class Block:
    """One fenced block: `file` and `lines`, or `steps`, the commands each with the lines it prints."""

    def __init__(self, place, file, text):
        self.place = place  # "README.md:17"
        self.file = file
        self.lines = text.splitlines()
        self.steps = []
        if file is not None:
            return
        for line in self.lines:
            if line.startswith("$ "):
                self.steps.append((line[2:], []))
            elif self.steps:
                self.steps[-1][1].append(line)
            else:
                raise ValueError("%s: the block begins with no command" % place)


def sections(path):
    """The blocks of a page below each of its headings: [[Block]]; headings without any are left out."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    found = []
    heading = None
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        # A heading outside of a block begins with # at the start of a line.
        above = re.findall(r"^#+ .*$", FENCE.sub("", text[:match.start()]), re.M)[-1:]
        if heading != above or not found:
            found.append([])
            heading = above
        found[-1].append(Block("%s:%d" % (path, line), match.group(2), match.group(3)))
    return found


def pages():
    """README.md and the pages in these folders with a block that is tried."""
    names = ["README.md"] + sorted(os.path.join(folder, name) for folder in ("docs", os.path.join("tests", "vm", "pages"))
                                   for name in os.listdir(os.path.join(ROOT, folder)) if name.endswith(".md"))
    return [name for name in names if sections(name)]


def installs(path):
    """Whether commands of the page need an installation."""
    return any("/home/me/hprof" in command for blocks in sections(path) for block in blocks for command, _ in block.steps)


def shape(line):
    """A regular expression for lines of the same shape."""
    parts, at = [], 0
    line = line.strip()
    any_of = re.compile("|".join("(%s)" % pattern for pattern, _ in ANY))
    for match in any_of.finditer(line):
        parts.append(re.escape(line[at:match.start()]))
        any_number = ANY[match.lastindex - 1][1]
        parts.append(any_number.replace("[-+]?", "[+]", 1) if match.group().startswith("+") else any_number)
        at = match.end()
    return re.compile("".join(parts) + re.escape(line[at:]) + "$")


def missing(wanted, got):
    """The first line of `wanted` that is not where it should be in `got`, or None. Lines between `...` follow each other."""
    got = [line.strip() for line in got]
    start = 0
    runs = [[]]
    for line in wanted:
        if line.strip() == "...":
            runs.append([])
        elif line.strip():
            runs[-1].append(line)
    for run in runs:
        shapes = [shape(line) for line in run]
        longest = 0
        for at in range(start, len(got) + 1):
            same, place = 0, at
            while same < len(shapes) and place < len(got):
                if not got[place]:
                    place += 1
                elif shapes[same].match(got[place]):
                    same, place = same + 1, place + 1
                else:
                    break
            longest = max(longest, same)
            if same == len(shapes):
                start = place
                break
        else:
            return run[longest]
    return None
