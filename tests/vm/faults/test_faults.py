"""What fails, fails in a test: JVMTI, JNI and the C library refuse, and the program goes on as if nothing was."""
from faults import check_harmless, check_refused
from harness import check, vm_test

WRITERS = ("encoder_ascii", "sink_file")


@vm_test(units=WRITERS + ("cpu_samples", "heap_dump", "heap_sites", "monitor"))
def events_without_the_environments_storage_are_left_out(vm):
    check_harmless(vm, "always=jvmti.GetEnvironmentLocalStorage", "cpu=samples,heap=all,monitor=all,file=out.txt",
                   "Mixed", "2")


@vm_test(units=WRITERS + ("heap_dump", "heap_sites"))
def every_fifth_call_of_jvmti_fails(vm):
    for first in range(5):
        check_harmless(vm, "every=5+%d,only=jvmti." % first, "heap=all,file=out.txt", "Mixed", "2", may_refuse=True)


@vm_test(units=WRITERS + ("bytecode", "cpu_times", "heap_sites"))
def no_tracker_class_is_said_before_the_vm_is_up(vm):
    """Classes that call it are there already: the VM cannot start."""
    for options in ("cpu=times,file=out.txt", "heap=sites,file=out.txt"):
        line = check_refused(vm, "always=jni.DefineClass", options, "Mixed", "1")
        check("tracker class" in line, "the line does not say why: %s" % line)
        check_harmless(vm, "every=1000000+1,only=jni.DefineClass", options, "Mixed", "1")


@vm_test(units=WRITERS + ("cpu_samples", "heap_dump", "monitor"))
def references_that_the_vm_has_no_memory_for_leave_no_exception(vm):
    """It throws besides; on a thread of the program's, or of the VM's at its start, nobody expects that."""
    for function in ("NewGlobalRef", "NewLocalRef", "NewWeakGlobalRef"):
        for options in ("cpu=samples,sampler=jvmti,interval=1", "heap=dump,format=a,monitor=all"):
            check_harmless(vm, "always=jni." + function, options + ",file=out.txt", "Mixed", "2")
