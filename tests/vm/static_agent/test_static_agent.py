"""libhprof.a linked into a program that makes a VM: -agentlib:hprof finds Agent_OnLoad_hprof there, and no library is loaded."""
import glob
import os
import shutil
import subprocess

from harness import Skip, check, check_equal, vm_test
from reports import parse_ascii

HERE = os.path.dirname(os.path.abspath(__file__))


@vm_test(units=("static_agent", "cpu_samples", "encoder_ascii", "sink_file"))
def agent_that_is_linked_into_the_program_is_found(vm):
    compiler = shutil.which("cc")
    home = getattr(vm.jdk, "home", None)
    libraries = glob.glob(os.path.join(home or "/nowhere", "**", "libjvm.so"), recursive=True)
    if compiler is None or not libraries or not os.path.exists(os.path.join(home, "include", "jni.h")):
        raise Skip("no C compiler, or no JDK of this machine's own")
    host = vm.path("host")
    include = os.path.join(home, "include")
    subprocess.check_call([compiler, "-rdynamic", "-I" + include, "-I" + os.path.join(include, "linux"),
                           os.path.join(HERE, "static_host.c"), os.path.join(vm.tree, "lib", "libhprof.a"),
                           "-o", host, "-lpthread", "-ldl"])
    run = subprocess.run([host, libraries[0], "cpu=samples,interval=1,file=out.txt", vm.classes, "Spin", "20"],
                         cwd=vm.dir, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    check_equal(run.returncode, 0, "exit code\n%s\n" % run.stdout.decode())
    with open(vm.path("out.txt")) as file:
        text = file.read()
    parse_ascii(text)
    check("Spin." in text, "the program is not in the profile:\n%s" % text[-800:])
