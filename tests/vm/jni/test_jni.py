"""-Xcheck:jni: JNI is used by the rules, by every collector."""
from harness import check, check_equal, vm_test

UNITS = ("bytecode", "cpu_samples", "cpu_times", "heap_dump", "heap_sites", "monitor", "encoder_ascii", "encoder_binary",
         "sink_file")


@vm_test(units=UNITS)
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
