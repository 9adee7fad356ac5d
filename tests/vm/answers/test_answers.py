"""hprof COMMAND --json of what the agent and real VMs write is as docs/answers.schema.json says, with the numbers of the text."""
import re

from harness import check, check_equal, vm_test
from programs import COUNTS
from tool import documented, hprof

TEXT = ("encoder_ascii", "sink_file")


def answer(vm, *arguments, status=0):
    code, text = hprof(vm, *arguments, "--json")
    check_equal(code, status, "hprof %s: %s" % (" ".join(arguments), text))
    return documented(text)


@vm_test(units=("bytecode", "cpu_times") + TEXT)
def calls_are_exact_and_repeat(vm):
    vm.profiled("cpu=times,cutoff=0,file=out.txt", "Calls")
    profile = answer(vm, "print", vm.path("out.txt"), "--top=0", "--by=calls")["profile"]
    table = next(part for part in profile["parts"] if part["facts"]["table"] == "cpu_times")
    calls = {row["method"]: row["self"] for row in table["methods"]}
    check_equal({name: calls.get(name, 0) for name in COUNTS}, COUNTS, "calls")
    check_equal({row["column"]: (row["numbers"], row["repeats"]) for row in table["columns"]},
                {"time_ns": ("measured", "no"), "calls": ("exact", "yes")}, "columns")
    check("cutoff=0" in profile["facts"]["session"], str(profile["facts"]))
    conditions = answer(vm, "diff", "--fail-if=calls>+0", vm.path("out.txt"), vm.path("out.txt"))["conditions"]
    check_equal(conditions["facts"], {"conditions": 1, "hold": 0}, "conditions")


@vm_test(units=("cpu_samples", "encoder_jfr", "encoder_binary") + TEXT)
def samples_have_threads_in_each_format(vm):
    for form, name in (("a", "out.txt"), ("jfr", "out.jfr"), ("b", "out.hprof")):
        vm.profiled("cpu=samples,interval=1,thread=y,format=%s,file=%s" % (form, name), "Spin", "6", "2")
        part = answer(vm, "print", vm.path(name), "--threads")["profile"]["parts"][0]
        check_equal(part["columns"][0]["numbers"], "sampled", form)
        check(any(row["thread"].startswith("spin ") and row["top_method"] == "Spin.hot" for row in part["threads"]), str(part["threads"]))
        table = answer(vm, "print", vm.path(name))["profile"]["parts"][0]
        hot = next(row for row in table["methods"] if row["method"] == "Spin.hot")
        shown = re.search(r"^ *([0-9.]+)% .*  Spin\.hot$", hprof(vm, "print", vm.path(name), "--by=self")[1], re.M)
        check_equal("%.2f" % (100 * hot["self"] / table["facts"]["sum"]), shown.group(1), "share of Spin.hot in %s" % name)
