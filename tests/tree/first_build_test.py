"""scripts/hprof shows how far its first build is and where the log is; a failed build ends with the log's last lines."""
import os
import tempfile
import unittest

from support import script, write

CMAKE = """#!/bin/sh
if [ "$1" != --build ]; then echo "-- Configuring done"; exit 0; fi
%s
mkdir -p "$HPROF_BUILD/lib" "$HPROF_BUILD/bin"
touch "$HPROF_BUILD/lib/libhprof.so"
printf '#!/bin/sh\\necho "ran: $*"\\n' > "$HPROF_BUILD/bin/hprof"
chmod +x "$HPROF_BUILD/bin/hprof"
exit %d
"""


class FirstBuild(unittest.TestCase):
    def said(self, lines, code=0):
        with tempfile.TemporaryDirectory() as folder:
            steps = "\n".join("echo '%s'" % line for line in lines)
            os.chmod(write(folder, "bin/cmake", CMAKE % (steps, code)), 0o755)
            tree = os.path.join(folder, "build")
            environment = dict(os.environ, HPROF_BUILD=tree, HPROF_NO_INSTALL="1",
                               PATH=os.path.join(folder, "bin") + os.pathsep + os.environ["PATH"])
            got, text = script("hprof", "--build", env=environment)
            with open(os.path.join(tree, "build.log")) as log:
                return got, text.replace(tree, "TREE").splitlines(), log.read().splitlines()

    def test_progress_of_make_and_ninja(self):
        for lines in (["[  4%] Building CXX a", "[ 12%] Building CXX b", "[ 15%] Building CXX c", "[100%] Built target d"],
                      ["[1/25] a", "[3/25] b", "[4/25] c", "[25/25] d"]):
            code, text, log = self.said(lines)
            self.assertEqual(code, 0, text)
            self.assertIn("its log: TREE/build.log", text[0])
            self.assertEqual(text[1:3], ["hprof: built 12%", "hprof: built 100%"])
            self.assertEqual(log, ["-- Configuring done"] + lines)

    def test_a_failure_shows_the_log(self):
        code, text, log = self.said(["[ 50%] Building CXX a", "a.cpp:1: error"], 1)
        self.assertEqual((code, text[-3:]), (2, ["[ 50%] Building CXX a", "a.cpp:1: error", "hprof: the build failed; all of it: TREE/build.log"]))


unittest.main()
