"""What differs from the original's reports is what docs/compatibility.md says. tests/vm/original/compare does it at length."""
import os
import subprocess
import sys

from harness import Skip, check, check_equal, vm_test

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare")


@vm_test(units=("heap_sites", "encoder_ascii", "encoder_binary", "sink_file"), until=8)
def reports_differ_from_those_of_the_original_as_the_page_says(vm):
    if vm.run_java("-agentlib:hprof=help").code != 0:
        raise Skip("this JDK 8 has no libhprof")
    jdk = ["--jdk", vm.jdk.home] if vm.jdk.home else ["--jdk-command", "%s=%s" % (vm.jdk.name, vm.jdk.prefix)]
    run = subprocess.run([sys.executable, COMPARE, "--build", vm.tree, *jdk, "--reports", vm.path("reports"), "-k", "Sites heap=sites"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check_equal(run.returncode, 0, run.stdout)
    check("2 runs, 0 differences unexplained" in run.stdout, run.stdout)
