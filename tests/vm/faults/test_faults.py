"""What fails, fails in a test: JVMTI, JNI and the C library refuse, and the program goes on as if nothing was. What does not fail
goes by the rules of JNI."""
from faults import check_harmless, check_refused
from harness import check, check_equal, vm_test

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
def no_class_of_probes_is_said_before_the_vm_is_up(vm):
    """Classes that call it are there already: the VM cannot start."""
    for options in ("cpu=times,file=out.txt", "heap=sites,file=out.txt"):
        line = check_refused(vm, "always=jni.DefineClass", options, "Mixed", "1")
        check("classes of the agent's probes" in line, "the line does not say why: %s" % line)
        check_harmless(vm, "every=1000000+1,only=jni.DefineClass", options, "Mixed", "1")


@vm_test(units=WRITERS + ("cpu_samples", "heap_dump", "monitor"))
def references_that_the_vm_has_no_memory_for_leave_no_exception(vm):
    """It throws besides; on a thread of the program's, or of the VM's at its start, nobody expects that."""
    for function in ("NewGlobalRef", "NewLocalRef", "NewWeakGlobalRef"):
        for options in ("cpu=samples,sampler=jvmti,interval=1", "heap=dump,format=a,monitor=all"):
            check_harmless(vm, "always=jni." + function, options + ",file=out.txt", "Mixed", "2")


@vm_test(units=WRITERS + ("bytecode", "cpu_samples", "cpu_times", "heap_dump", "heap_sites", "monitor", "encoder_binary"))
def xcheck_jni_is_silent_for_every_collector(vm):
    choices = ["cpu=samples,interval=1,thread=y", "cpu=samples,sampler=jvmti", "cpu=times", "cpu=times,clock=wall", "cpu=old", "heap=sites",
               "heap=dump", "heap=dump,format=b,dump=jvmti", "heap=dump,format=b,dump=jvmti,hotspot=-object-addresses", "heap=all",
               "monitor=y", "monitor=all,interval=1"]
    if vm.version >= 11:
        choices += ["heap=sites,sites=sampled", "heap=dump,format=b,dump=vm"]
    # The launcher of Java 8 breaks the rules by itself.
    plain = vm.plain("-Xcheck:jni", "Mixed", "3")
    own = set((plain.out + plain.err).splitlines())
    for number, options in enumerate(choices):
        option = vm.agent_option("%s,verbose=n,file=out%d" % (options, number))
        run = vm.run_java(option, "-Xcheck:jni", "Mixed", "3")
        check_equal(run.code, 0, "exit code\n%s\n" % run)
        said = [line for line in (run.out + run.err).splitlines() if line not in own]
        check(not said, "%s: -Xcheck:jni says %s\n%s" % (options, said, run))
