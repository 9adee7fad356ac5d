"""What programs of tests/vm/java do, and how some of them are run."""
import os
import zipfile

from harness import Skip, check, check_equal
from jdks import installed
from reports import by_class, by_method, tables

# Calls of each method of java/Calls.java; fib(20) alone is 21891 calls.
COUNTS = {
    "Calls.fib": 21891 + 100 + 25 + 5 + 3 + 20 + 7,
    "Calls.thrower": 100 * 11 + 2 + 3 + 4 + 5,
    "Calls.catcher": 100,
    "Calls.afterCatch": 100,
    "Calls.broken": 50,
    "Calls$Broken.<init>": 50,
    "Calls.afterBroken": 25,
    "Calls.finallyOf": 5,
    "Calls.inFinally": 5,
    "Calls$Square.area": 1000,
    "Calls$Square.<init>": 1,
    "Calls.deep": 501,
    "Calls.afterOverflow": 3,
    "Calls.apply": 2,
    "Calls.plus": 20,
    "Calls.locked": 7,
    "Calls.platform": 1,
    "Calls.work": 6,
    "Calls.step": 6 * 20,
    "Calls.nap": 6 * 20,
    "Calls.main": 1,
}


def churn_options(vm):
    """Options of the VM: collectors that may collect without an event before Java 25, and one whose event comes after classes
    have gone, with and without the VM's count of unloaded classes."""
    collectors = ["Serial", "Parallel", "G1"] + (["ConcMarkSweep"] if vm.version < 14 else [])
    return [("-XX:+Use%sGC" % name, "-XX:%sUsePerfData" % sign) for name in collectors for sign in "+-"]


def check_thrown(report, count):
    """Of ClassChurn: one object of each class, and one Object that it has made."""
    rows = tables(report)[0]
    classes = by_class(rows)
    check_equal(classes["ClassChurn$OneClass"][0], count, "loaders")
    thrown = {name: found[0] for name, found in classes.items() if name.startswith("Thrown_")}
    check(thrown == {"Thrown_%06d" % i: 1 for i in range(count)},
          "objects of %d classes instead of %d, or not one of each" % (len(thrown), count))
    makers = {}
    for row in rows:
        maker = report.traces[row.trace].frames[0][0] if report.traces[row.trace].frames else ""
        if row.name == "java.lang.Object" and maker.startswith("Thrown_"):
            makers[maker] = makers.get(maker, 0) + row.objects
    wrong = sum(makers.get("Thrown_%06d.applyAsInt" % i, 0) != 1 for i in range(count))
    check(wrong == 0, "of %d classes %d have not made one Object" % (count, wrong))
    check(not any("walked stacks: one was wrong" in note for note in report.notes), "wrong stacks: %s" % report.notes)


def redefining_agent(vm):
    """The options that make Redefines a Java agent."""
    path = vm.path("redefines.jar")
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Premain-Class: Redefines\nCan-Retransform-Classes: true\n")
        for name in ("Redefines.class", "Redefines$Worker.class"):
            jar.write(os.path.join(vm.classes, name), name)
    return ("-javaagent:" + path,)


def check_workers(report, rounds):
    """Of Redefines: each method has made one object a round."""
    made = {}
    for row in tables(report)[0]:
        maker = report.traces[row.trace].frames[0][0] if report.traces[row.trace].frames else ""
        if row.name == "java.lang.Object" and maker.startswith("Redefines$Worker."):
            made[maker.split(".")[1]] = made.get(maker.split(".")[1], 0) + row.objects
    names = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    check_equal(made, dict.fromkeys(names, rounds), "objects of the methods that are redefined")
    check(not any("walked stacks: one was wrong" in note for note in report.notes), "wrong stacks: %s" % report.notes)


N = 20000

# Objects of java/Sites.java by the method that makes them.
MADE = {
    "plain": {"Sites$Item": N},
    "gone": {"Sites$Gone": N},
    "deep": {"Sites$Deeper": N},
    "arrays": {"int[]": N, "java.lang.String[]": N, "boolean[]": N},
    "nested": {"int[][]": N, "int[]": 2 * N, "Sites$Item[][][]": N, "Sites$Item[][]": 2 * N},
    "boxing": {"java.lang.Integer": N},
    "varargs": {"java.lang.Object[]": N},
    "anonymous": {"Sites$1": N},
    "inner": {"Sites$Inner": N},
    "enums": {"Sites$Colour[]": N + 1},
    "reflection": {"Sites$Item": N, "Sites$Item[]": N},
    "reflectedArrays": {"Sites$Item[][]": 500, "Sites$Item[]": 1000},
    "clones": {"Sites$Copy": N + 1, "long[]": N + 1},
    "copies": {"Sites$Item[]": N + 1, "char[]": N + 1},
    "parcels": {"Sites$Parcel": 501},
    "handles": {"Sites$Item": N},
    "broken": {"Sites$Broken": N, "java.lang.IllegalStateException": N},
    "kept": {"Sites$Kept": N, "Sites$Kept[]": N // 4},
}


def check_made(report, rows, run):
    found = by_method(report, rows, "Sites")
    wrong = []
    for method, classes in MADE.items():
        for name, count in classes.items():
            got = found.get(method, {}).get(name, 0)
            if got != count:
                wrong.append((method, name, got, count))
    lambdas = sum(count for name, count in found.get("lambdas", {}).items() if name.startswith("Sites$$Lambda"))
    if lambdas != N:
        wrong.append(("lambdas", "Sites$$Lambda", lambdas, N))
    check(not wrong, "objects (method, class, counted, made): %s\n%s" % (wrong, run))
    shared = by_class(rows)["Sites$Shared"]
    check_equal(shared[0], 8 * N, "objects of eight threads")


def jni_library(vm, source, *options):
    """The path of a library with native methods."""
    homes = [home for home in installed() if os.path.exists(os.path.join(home, "include", "jni.h"))]
    if not homes:
        raise Skip("no jni.h")
    jni = os.path.join(homes[0], "include")
    return vm.native(source, "-I" + jni, "-I" + os.path.join(jni, "linux"), *options)


def native_objects(vm):
    """The path of the library of the program NativeObjects."""
    library = jni_library(vm, "native_objects.c")
    if vm.run_java("NativeObjects", library, "1").code != 0:
        raise Skip("the compiler is for another machine than the JDK")
    return library
