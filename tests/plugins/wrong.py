"""What is said of each module and unit that is wrong on purpose: abi/wrong_plugin.c and abi/misbehaving.c."""
from collections import namedtuple

# What `hprof plugin check` says of a module.
MODULES = {
    "wrong_major": "needs version 0.0 of the plugin ABI",
    "wrong_minor": "needs version 1.1 of the plugin ABI",
    "wrong_layout": "the layout word differs",
    "wrong_own_name": "calls itself somebody_else",
    "wrong_ops": "unit 1 has no function table",
    "wrong_ops_size": "function table cut short",
    "wrong_offset": "an option's value lies outside of its config struct",
    "wrong_refuses": "says: needs a licence file",
    "wrong_silent": "says: nothing",
    "wrong_symbol": "does not export hprof_module_open",
    "wrong_size": "returned a record of only ",
    "wrong_unit_size": "has a record of only ",
    "wrong_file": "FAIL",
    "helpless": "no help for the option helpless",
}
HELPLESS_TOO = ("helpless: the option depth is one of the agent's own", "helpless: selected by cpu=samples, as is the shipped cpu_samples",
                "exports too_much, too")

# What is said of a unit by `hprof plugin check --run`, by every agent, and by one with the checks of the preset debug. None: no
# test lets it meet that unit. A unit without words of every agent reports as the right one does.
Fault = namedtuple("Fault", "check agent debug", defaults=(None, None))
UNITS = {
    "fails_in_create": Fault("refuses with a text of more than one line",
                             "collector fails_in_create cannot be created: the licence?has expired; it is left out"),
    "foreign_kind": Fault("is of a kind that units do not write", "is of a kind that units do not write"),
    "short_record": Fault("is shorter than its kind", "is missing, or shorter than its head"),
    "no_schema": Fault("is a table without a schema", "is a table without a schema"),
    "unknown_trace": Fault("that was never handed out", "was never handed out"),
    "loud": Fault("gives a message of more than one line", "a text has control bytes"),
    "refuses_all": Fault("answers HPROF_UNSUPPORTED to com.example.check/1, which its records list"),
    "writes_behind": Fault("writes beyond the room it was given", "it wrote outside of the buffer"),
    "moves_behind": Fault("moves beyond the room it was given", "it wrote outside of the buffer"),
    "wrong_count": Fault("says that it wrote more than it was given", "its write returned more bytes than it was given"),
    "stuck_report": Fault("hangs: nothing for 1 s, in report", "stuck_report has not returned from report"),
    "stuck_write": Fault("hangs: nothing for 1 s, in write", "stuck_write has not returned from write"),
    "stuck_close": Fault("hangs: nothing for 1 s, in close", "stuck_close has not returned from close"),
    "leaks": Fault("keeps 100 bytes", None, "100 bytes not freed"),
    "wrong_size": Fault("releases memory that it does not have, or with another size"),
    "crashes": Fault("crashes (Segmentation fault), in start"),
    "ends": Fault("ends the process (exit code 3), in start"),
    "silent": Fault("refuses without an error text (HPROF_FAILED)"),
    "greedy": Fault("crashes (Segmentation fault), in create"),
    "no_status": Fault("report answers 77, which is no status"),
    "early": Fault("writes a record outside of report()", "it writes records outside of report()"),
    "stuck_create": Fault("hangs: nothing for 1 s, in create", "stuck_create has not returned from create"),
    "stuck_open": Fault("hangs: nothing for 1 s, in open", "stuck_open has not returned from open"),
    "wrong_status": Fault("encode answers 77, which is no status", "its encode returned a status that does not exist"),
    "no_memory": Fault(None, "there is no memory to compress it"),
    "gc_memory": Fault("allocates memory in a [gc] handler"),
    "late_memory": Fault("allocates memory after create"),
    "deaf": Fault("goes on although the output is gone"),
    "open_for_ever": Fault("leaves a file open"),
    "slow_callback": Fault(None, "a callback does not return"),
    "wrong_thread": Fault(None, None, "emit.kind is called in [app], its header allows [onload][control]"),
    "sleepy": Fault(None, None, "its handler of VMInit took "),
    "writes_behind_block": Fault(None, None, "it wrote past the end of a block of its memory"),
    "writes_behind_error": Fault(None, None, "it wrote past the end of its error text"),
}
