"""max-memory=: a bound, and what happens below what is needed."""
import os
import re

from harness import check, check_equal, vm_test
from reports import parse_ascii, tables
from tool import sound

UNITS = ("bytecode", "cpu_times", "cpu_samples", "heap_sites", "heap_dump", "monitor", "encoder_ascii", "sink_file")


# One takes memory as soon as classes are loaded, and the other one starts, or reports, later.
PAIRS = ("cpu=times,heap=sites", "cpu=times,monitor=all", "heap=sites,monitor=all", "cpu=times,heap=sites,monitor=all")


@vm_test(units=UNITS)
def too_little_memory_is_refused_with_the_least_that_is_needed(vm):
    """From the smallest that the option takes: refused, or the program runs; and it runs with what was named."""
    for options in ("cpu=times", "cpu=old", "heap=sites", "cpu=samples", "heap=dump", "monitor=all", *PAIRS):
        refused = 0
        for size in (128, 4096) if options in PAIRS else (48, 128, 200, 256, 300, 350, 400, 512, 1024, 4096):
            run = vm.run_java(vm.agent_option("%s,max-memory=%dk,file=out.txt" % (options, size)), "Quick", "3")
            if run.code == 3:
                check_equal(run.out, "quick\n", "stdout\n%s\n" % run)
                os.unlink(vm.path("out.txt"))
                continue
            refused += 1
            check_equal((run.code, run.out), (1, ""), "%s, %d KiB: exit code and stdout\n%s\n" % (options, size, run))
            found = re.fullmatch(r"HPROF ERROR: max-memory=%dk is not enough for these options: at least (\d+)k is needed\n"
                                 % size, run.err)
            check(found, "not one line that names what is needed\n%s" % run)
            least = int(found.group(1))
            check(size < least < 4096, "%s: %d KiB are said to be needed" % (options, least))
            check(not os.path.exists(vm.path("out.txt")), "a file was made")
            run = vm.run_java(vm.agent_option("%s,max-memory=%dk,file=out.txt" % (options, least)), "Quick", "3")
            check_equal((run.code, run.out), (3, "quick\n"), "%s, %d KiB: exit code and stdout\n%s\n" % (options, least, run))
            # What a dump takes depends on the heap.
            check(options == "heap=dump" or all(line.endswith(" done.") or line.startswith("HPROF: done: ")
                                                for line in run.err.splitlines()),
                  "%s does not run with what is said to be enough\n%s" % (options, run))
            run = vm.run_java(vm.agent_option("%s,max-memory=%dk,file=out.txt" % (options, least - 1)), "Quick", "3")
            check_equal(run.code, 1, "%s, %d KiB: exit code\n%s\n" % (options, least - 1, run))
            os.unlink(vm.path("out.txt"))
        check(refused != 0, "%s: nothing was refused" % options)
        check(refused < 10, "%s: nothing ran" % options)


@vm_test(units=("cpu_samples", "encoder_ascii", "sink_file"))
def more_threads_than_there_is_room_for_leave_a_sound_report(vm):
    """At a time, and one after the other; those without a place of their own neither start nor end in the report."""
    for count, rounds in ((800, 2), (100, 30)):
        run = vm.profiled("cpu=samples,interval=1,thread=y,max-memory=1m,file=out.txt", "Crowd", str(count), str(rounds))
        sound(vm, "out.txt")
        text = run.text("out.txt")
        check_equal("threads: counted as one" in text, count == 800, "threads were folded\n%s\n" % run)
        os.unlink(vm.path("out.txt"))


@vm_test(units=("bytecode", "cpu_times", "heap_sites", "encoder_ascii", "sink_file"))
def threads_that_have_ended_leave_room_for_the_next_ones(vm):
    """What counts objects of a thread that has ended serves another one, so both collectors count all threads."""
    run = vm.profiled("cpu=times,heap=sites,cutoff=0,max-memory=42m,file=out.txt", "Crowd", "400", "10")
    report = parse_ascii(run.text("out.txt"))
    calls = [row.count for row in report.cpu("CPU TIME (ms)")[0].rows if row.method == "Crowd.lambda$main$0"]
    check_equal(calls, [4000], "calls of the threads\n%s\n" % run)
    made = [row.objects for row in tables(report)[0] if row.name == "java.lang.Thread"]
    check(4000 in made, "4000 threads were made, counted were %s\n%s" % (made, run))
    check_equal([note for note in report.notes if "lost" in note], [], "losses\n%s\n" % run)


def most_held(vm, options, *program):
    """Profiles with a preloaded watcher: the run, and the most that the agent's libraries held at a time, in bytes."""
    vm.needs_to_be_preloaded_first()
    run = vm.profiled(options, *program, environment={"LD_PRELOAD": vm.native("watch_memory.c"), "WATCH_MEMORY": "1"})
    found = re.search(r"agent memory: at most (\d+) bytes, 0 not counted", run.err)
    check(found, "the watcher did not print, or lost count\n%s" % run)
    return run, int(found.group(1))


# What fills 4 MiB, or wants to, and what was not enough for it.
LIMITED = {
    "cpu=samples,interval=1,depth=40": ("Mixed", "20"),
    "cpu=times,depth=20": ("Mixed", "10"),
    "heap=sites,depth=20": ("Mixed", "20"),
    "monitor=all": ("Mixed", "20"),
    "heap=dump,format=b,dump=jvmti": ("BigHeap", "0.05"),
    "heap=dump,format=b,dump=jvmti,hotspot=-object-addresses": ("BigHeap", "0.05"),
    "heap=dump,format=b,dump=vm": ("BigHeap", "0.05"),
    "heap=dump,format=b,redact=full": ("BigHeap", "0.05"),
    "heap=dump,format=a": ("BigHeap", "0.05"),
}


@vm_test(units=UNITS + ("encoder_binary",))
def max_memory_is_a_bound_in_every_mode(vm):
    for options, program in LIMITED.items():
        for limit in (4, 24):
            run, held = most_held(vm, "%s,max-memory=%dm,file=out%d" % (options, limit, limit), *program)
            check(1 << 20 < held <= (limit + 1) << 20,
                  "%s: %d bytes were held with max-memory=%dm\n%s" % (options, held, limit, run))
            failed = " failed.\n" in run.err
            check(not failed or limit == 4, "24 MiB are not enough\n%s" % run)
            check_equal("no memory for" in run.err, failed, "not said why the report failed\n%s\n" % run)
