"""What explains a difference between the original's report and ours. Each names an item of docs/compatibility.md by its
words in bold: what is not written there is no explanation."""
import re


class Difference:
    def __init__(self, name, fact, holds=None, options=""):
        self.name = name        # the words in bold
        self.fact = re.compile(fact)
        self.holds = holds or (lambda theirs, mine: True)
        self.options = re.compile(options)


def fewer(theirs, mine):
    return mine < theirs


def more(theirs, mine):
    return mine > theirs


def only_theirs(theirs, mine):
    return mine == 0


def only_mine(theirs, mine):
    return theirs == 0


def class_objects(theirs, mine):
    """The original counts the object of java.lang.Class of each class of that name as one more object of the class itself."""
    return theirs > mine and ((theirs - mine) % CLASS_OBJECT == 0 or theirs - mine <= MOST_CLASSES)


CLASS_OBJECT = 544  # bytes of a class object in a 64-bit JDK 8
MOST_CLASSES = 10   # of one name: Main$$Lambda stands for all lambdas, in two reports

# The first that fits explains. Facts have PROGRAM for the name of the program.
DIFFERENCES = [
    Difference("threads that run before the start", r"^(THREAD START|START THREAD) of (Finalizer|Reference Handler|Signal Dispatcher) ",
               only_mine),
    Difference("threads that run before the start", r"^record START THREAD$"),
    Difference("the agent's own threads", r"HPROF gc_finish watcher", only_theirs),
    Difference("the agent's own threads", r"^record (THREAD END|END THREAD)$", lambda theirs, mine: theirs == mine + 1),
    Difference("the agent's own threads", r"^monitor dump THREAD status: R$", fewer),
    Difference("the agent's own threads", r"^root <?(thread|thread block|JNI local ref)>?$", fewer),
    Difference("lost data", r"^record HPROF NOTE$", only_mine),
    Difference("rows without time", r"^(calls of PROGRAM|record TRACE$)", more, "^cpu=times"),
    Difference("lambdas with `cpu=times` and `cpu=old`", r"^exit code$", lambda theirs, mine: theirs != 0 and mine == 0,
               "^cpu=(times|old)"),
    Difference("traces that no record refers to", r"^record (TRACE|FRAME|STRING|LOAD CLASS)$", fewer),
    Difference("CPU sampling", r"^(samples in |record (TRACE|FRAME|STRING|LOAD CLASS)$)", options="^cpu=samples"),
    Difference("class objects", r"^site PROGRAM.*: allocated", class_objects),
    Difference("objects made without a constructor", r"^site PROGRAM(\$Copy|.*\[\]): ", more),
    Difference("live columns", r"^site PROGRAM.*: live", fewer),
    Difference("live columns", r"^ALLOC SITES flags [04]$"),
    Difference("threads in a MONITOR DUMP", r"^monitor dump THREAD "),
    Difference("monitors in a MONITOR DUMP", r"^monitor dump MONITOR", more),
    Difference("contention", r"^(contention at|section MONITOR TIME)", only_mine),
    Difference("size of identifiers", r"^identifiers of [48] bytes$"),
    Difference("`HEAP DUMP SEGMENT`, version 1.0.2", r"^(header JAVA PROFILE|record HEAP DUMP)", options="heap=(dump|all).*format=b"),
    Difference("unreachable objects", r"^heap (OBJ|ARR|INSTANCE|OBJECT ARRAY|PRIMITIVE ARRAY)( PROGRAM[^ ]*( bytes)?)?$", fewer),
    Difference("unreachable objects", r"^heap dump (objects|bytes) in all$"),
    Difference("`trace=` of objects", r"^heap (OBJ|ARR|INSTANCE|OBJECT ARRAY) .* allocated in "),
    Difference("classes that are loaded but not prepared", r"^(heap (CLS|CLASS|OBJECT ARRAY)|root <?system class>?|record (LOAD CLASS|STRING))$", more),
    Difference("classes that are loaded but not prepared", r"^heap (line .*|constant pool entries|OBJECT ARRAY)$"),
    Difference("the agent's own references", r"^root <?JNI global ref>?$", fewer),
    Difference("roots of kind unknown", r"^root <?unknown>?$"),
    Difference("roots of kind unknown", r"^root <?system class>?$", fewer),
    Difference("lines of native methods", r"^a frame in line -[13]$"),
    Difference("`UNLOAD CLASS`", r"^record UNLOAD CLASS$", only_theirs, "heap=(dump|all)"),
    Difference("a second dump with `format=b`", r"^exit code$", lambda theirs, mine: theirs == 9 and mine == 0, "format=b SIGQUIT$"),
]


def items(page):
    """The names of the page's items."""
    with open(page, encoding="utf-8") as file:
        return set(re.findall(r"^- \*\*(.*)\*\*: .*$", file.read(), re.M))


def load(page):
    """DIFFERENCES, once each is found in the page."""
    found = items(page)
    missing = [row.name for row in DIFFERENCES if row.name not in found]
    if missing:
        raise SystemExit("%s has no item: %s" % (page, "; ".join(sorted(set(missing)))))
    return DIFFERENCES


def explain(rows, options, fact, theirs, mine, program):
    """The first Difference that holds, or None."""
    for row in rows:
        if row.fact.search(fact.replace(program, "PROGRAM")) and row.options.search(options) and row.holds(theirs, mine):
            return row
    return None
