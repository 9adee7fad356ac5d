"""classes=y: what defines classes, by stack, loader and generator, and which loaders live."""
import re

from commands import load_agent, loaded
from harness import check, check_equal, vm_test
from pictures import Json
from tool import hprof

UNITS = ("classes", "encoder_json", "sink_file")
LOADER, GROOVY = "Defines$Loader", "groovy.lang.GroovyClassLoader"


def tables(text):
    """The rows of the first report: {(generator, loader, top frame): classes}, {loader: cells}."""
    defined, loaders = Json(text).tables[:2]
    found = {}
    for stack, cells, _ in defined.stacks:
        key = (text_of(cells["generator"]), text_of(cells["loader"]), stack[0] if stack else None)
        found[key] = found.get(key, 0) + cells["defined"]
    return found, {text_of(cells["loader"]): cells for _, cells, _ in loaders.stacks}


def text_of(cell):
    return cell["name"] if isinstance(cell, dict) else cell


def check_defined(vm, found, run):
    app = next((loader for generator, loader, top in found if generator == "lambda" and top == "Defines.lambdas"), None)
    check(app and app.endswith("AppClassLoader"), "loader of the lambdas: %s\n%s" % (app, run))
    sums = {}
    for (generator, loader, top), count in found.items():
        if top and (top.startswith("Defines") or top.startswith("groovy")) and (generator or loader != app):
            sums[(generator, loader, top)] = count
    wanted = {(None, LOADER, "Defines$Loader.define"): 50, ("groovy", GROOVY, "groovy.lang.GroovyClassLoader.parseClass"): 1,
              ("lambda", app, "Defines.lambdas"): 5, ("lambda", app, "Defines.proxies"): 1, ("proxy", app, "Defines.proxies"): 3}
    sums = {key: count for key, count in sums.items() if key[0] != "method handle"}
    reflection = {key: sums.pop(key) for key in list(sums) if key[2] == "Defines.reflection"}
    if vm.version <= 17:
        check_equal([(key[0], count) for key, count in reflection.items() if key[0]], [("reflection", 1)], "reflection\n%s" % run)
    sums = {key: count for key, count in sums.items() if key[1] != "<boot class loader>"}
    check_equal(sums, wanted, "classes\n%s" % run)


@vm_test(units=UNITS, quick=True)
def every_class_is_counted_by_its_stack_loader_and_generator(vm):
    run = vm.profiled("classes=y,format=json,file=out.json", "Defines")
    found, loaders = tables(run.text("out.json"))
    check_defined(vm, found, run)
    kept = loaders[LOADER]
    check_equal((kept["loaders"], kept["classes"], kept["generated"]), (20, 20, 0), "loaders that live\n%s" % run)
    check_equal(loaders[GROOVY]["loaders"], 1, "Groovy's")
    check(loaders["<boot class loader>"]["classes"] > 100, "classes of the boot loader: %s" % loaders)
    if vm.version >= 9:
        check(all(cells["metaspace"] > 0 for cells in loaders.values()), "metaspace: %s\n%s" % (loaders, run))
    else:
        check("this VM does not say how much metaspace" in run.text("out.json"), "no note\n%s" % run)


@vm_test(units=UNITS)
def an_attached_agent_sees_what_lives(vm):
    live = vm.start(None, "Idle", java=vm.attachable)
    check(loaded(load_agent(live.pid, vm.agent, "classes=y,format=json,file=%s" % vm.path("out.json"))), "loaded\n%s" % live.state())
    check(loaded(load_agent(live.pid, vm.agent, "command=detach")), "detached\n%s" % live.state())
    _, loaders = tables(live.ended_well().text("out.json"))
    check(loaders["<boot class loader>"]["classes"] > 100, "classes of the boot loader: %s" % loaders)


@vm_test(units=UNITS + ("encoder_ascii",))
def reports_are_printed_viewed_and_compared(vm):
    for form in ("a", "json"):
        old, new = vm.path("old." + form), vm.path("new." + form)
        for path in (old, new):
            vm.profiled("classes=y,cutoff=0,format=%s,file=%s" % (form, path), "Defines")
        code, text = hprof(vm, "print", "--top=0", new)
        check_equal(code, 0, "hprof print: %s" % text)
        for words in (r" 50 .*class.in.Defines\$Loader in Defines\$Loader\.define\n", r"lambda.in.\S+ in Defines\.lambdas\n",
                      r"\n +Defines\$Loader +20 +20 +0 "):
            check(re.search(words, text), "no %r in\n%s" % (words, text))
        code, text = hprof(vm, "view", "--force", "-o", vm.path("out.html"), new)
        check_equal(code, 0, "hprof view: %s" % text)
        code, text = hprof(vm, "diff", "--by=defined", "--fail-if=defined(*lambda?in*)>+0", old, new)
        check_equal(code, 0, "hprof diff: %s" % text)
