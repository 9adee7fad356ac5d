"""exceptions=y: what is made and caught, exactly; attached, in windows, and in the answers of bin/hprof."""
import json
import re

from commands import check_conditions, load_agent, loaded, must
from harness import check, check_equal, vm_test
from tool import hprof

UNITS = ("bytecode", "exceptions", "encoder_json", "sink_file")
OWN, STACKLESS = "Throws$Own", "Throws$Stackless"
NULL, BOUNDS, STATE = ("java.lang." + name for name in ("NullPointerException", "ArrayIndexOutOfBoundsException", "IllegalStateException"))
# Of Throws.java, (class, line that made it): (made, caught, uncaught).
MADE = {(OWN, "thrower", True): (3200, 3400, 0), (OWN, "keeper", False): (5, 0, 5), (STACKLESS, "make", True): (1, 100, 0),
        (NULL, "ofVm", True): (50, 50, 0), (BOUNDS, "outOfBounds", True): (40, 40, 0), (STATE, "dies", False): (1, 0, 1)}
CAUGHT = {(OWN, "thrower", "catcher"): 3000, (OWN, "thrower", "rethrower"): 200, (OWN, "thrower", "outer"): 200,
          (STACKLESS, "make", "stackless"): 100, (NULL, "ofVm", "ofVm"): 50, (BOUNDS, "outOfBounds", "outOfBounds"): 40}


def tables(text):
    """[(name, [(cells, method that made it, or None)])]."""
    frames, traces, found = {}, {0: None}, []
    for line in text.splitlines():
        record = json.loads(line)
        if record["record"] == "frame":
            frames[record["id"]] = "%s.%s" % (record["class"], record["method"])
        elif record["record"] == "trace":
            traces[record["id"]] = frames[record["frames"][0]] if record["frames"] else None
        elif record["record"] == "table":
            found.append((record["name"], []))
        elif record["record"] == "row":
            found[-1][1].append((record["cells"], traces[record["cells"]["trace"]]))
    return found


def sums(text, program="Throws"):
    """{(class, method that made it, caught at all): (made, caught, uncaught)}, {(class, method, caught in): caught}: of the
    last report, what methods of the program have made."""
    (_, sites), (_, catches) = tables(text)[-2:]
    made, caught = {}, {}
    for cells, method in sites:
        if method and method.startswith(program):
            key = (cells["class"]["name"], method.rsplit(".", 1)[1], cells["caught"] > 0)
            made[key] = tuple(map(sum, zip(made.get(key, (0, 0, 0)), (cells["made"], cells["caught"], cells["uncaught"]))))
    for cells, method in catches:
        if method and method.startswith(program):
            key = (cells["class"]["name"], method.rsplit(".", 1)[1], cells["caught_in"]["name"].rsplit(".", 1)[1])
            caught[key] = caught.get(key, 0) + cells["caught"]
    return made, caught


def check_all(run):
    check_equal(run.out, "done\n", "what the program said\n%s" % run)
    text = run.text("out.json")
    check_equal(sums(text), (MADE, CAUGHT), "made and caught\n%s" % run)
    check("secret" not in text, "a message of an exception is in the report")


@vm_test(units=UNITS, quick=True)
def every_exception_is_counted_where_it_is_made_and_caught(vm):
    check_all(vm.profiled("exceptions=y,format=json,file=out.json", "Throws", java=("-Xverify:all",)))


@vm_test(units=UNITS)
def interpreted_and_compiled_code_counts_the_same(vm):
    for java in (("-Xint",), ("-XX:TieredStopAtLevel=1",), ("-Xbatch", "-XX:-TieredCompilation"), ("-XX:-UsePerfData",)):
        check_all(vm.profiled("exceptions=y,format=json,file=out.json", "Throws", java=java))


@vm_test(units=UNITS)
def threads_lose_no_exception(vm):
    run = vm.profiled("exceptions=y,format=json,file=out.json", "Throws", "threads", "8", "20000")
    check_equal(sums(run.text("out.json")), ({(OWN, "thrower", True): (160000, 160000, 0)}, {(OWN, "thrower", "catcher"): 160000}), "sums\n%s" % run)


@vm_test(units=UNITS)
def an_exception_that_the_vm_reuses_is_counted_where_it_is_caught(vm):
    """Compiled code throws one object without a stack again and again (OmitStackTraceInFastThrow)."""
    run = vm.profiled("exceptions=y,format=json,file=out.json", "Throws", "reused", "200000")
    (_, _), (_, catches) = tables(run.text("out.json"))
    caught = sum(cells["caught"] for cells, _ in catches if cells["class"]["name"] == NULL and cells["caught_in"]["name"] == "Throws.ofVm")
    check_equal(caught, 200000, "caught\n%s" % run)


@vm_test(units=UNITS)
def an_attached_agent_counts_from_then_on_and_goes(vm):
    live = vm.start(None, "Throws", "serve", java=vm.attachable)
    live.next_round(1)
    check(loaded(load_agent(live.pid, vm.agent, "exceptions=y,format=json,file=%s" % vm.path("out.json"))), "loaded\n%s" % live.state())
    live.next_round(2)
    live.next_round(3)
    check(loaded(load_agent(live.pid, vm.agent, "command=detach")), "detached\n%s" % live.state())
    live.next_round(4)
    made, caught = sums(live.ended_well().text("out.json"))
    # ONLY was made before.
    wanted = {key: tuple(2 * count for count in counts) for key, counts in MADE.items() if key[0] != STACKLESS}
    check_equal(made, wanted, "made")
    check_equal(caught, {key: 2 * count for key, count in CAUGHT.items() if key[0] != STACKLESS}, "caught")


@vm_test(units=UNITS)
def windows_add_up(vm):
    live = vm.start("exceptions=y,every=1,format=json,control=%s,file=out.json" % vm.path("ctl"), "Throws", "serve")
    for number in range(1, 4):
        live.next_round(number)
        live.wait_for("out.json", '"reason":"window"', 2 * number)
    must(vm.path("ctl"), "stop")
    found = {}
    for name, rows in tables(live.ended_well().text("out.json")):
        for cells, method in rows:
            if name == "hprof.exceptions/1" and method == "Throws.thrower":
                found["made"] = found.get("made", 0) + cells["made"]
            if name == "hprof.catches/1" and method == "Throws.thrower":
                found["caught"] = found.get("caught", 0) + cells["caught"]
    check_equal(found, {"made": 3 * 3200, "caught": 3 * 3400}, "sums of the windows")


@vm_test(units=UNITS + ("encoder_ascii",))
def conditions_hold_between_reports_of_a_running_vm(vm):
    check_conditions(vm, "exceptions=y", ("Throws", "serve"), {
        "made(Throws$Own)>+3204": True, "made(Throws$Own)>+3205": False, "caught(Throws$Own)>+3399": True, "caught(Throws.thrower)>+3400": False})


@vm_test(units=UNITS + ("encoder_ascii",))
def reports_are_printed_viewed_and_compared(vm):
    for form in ("a", "json"):
        old, new = vm.path("old." + form), vm.path("new." + form)
        for path in (old, new):
            vm.profiled("exceptions=y,cutoff=0,format=%s,file=%s" % (form, path), "Throws")
        code, text = hprof(vm, "print", "--top=0", new)
        check_equal(code, 0, "hprof print: %s" % text)
        for words in (r"exceptions: 3\d\d\d made in [\d.]+ s, [\d.]+ a second\n", r"EXCEPTIONS, made 3\d\d\d in the rows\n", r" 200 +400 +0 +\d+ Throws\$Own in Throws\.thrower\n",
                      r"EXCEPTIONS.CAUGHT, caught \d+ in the rows\n", r" 200 .*Throws\$Own.caught.in.Throws\.outer in Throws\.thrower\n"):
            check(re.search(words, text), "no %r in\n%s" % (words, text))
        code, text = hprof(vm, "view", "--force", "-o", vm.path("out.html"), new)
        check_equal(code, 0, "hprof view: %s" % text)
        code, text = hprof(vm, "diff", "--by=made", "--fail-if=made(Throws$Own)>+0", old, new)
        check_equal(code, 0, "hprof diff: %s" % text)
        check("EXCEPTIONS of " in text, text)
