"""scripts/hprof puts the agent on the right command line, for each kind of command."""
import os
import subprocess
import tempfile
import unittest

from support import ROOT, script, write

SHOW = "#!/bin/sh\nfor word in \"$@\"; do echo \"[$word]\"; done\necho \"tool options: $JAVA_TOOL_OPTIONS\"\nexit 3\n"


class Launcher(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree = os.path.join(self.folder.name, "build")
        self.agent = write(self.tree, "lib/libhprof.so", "")
        for name in ("java", "javac", "mvn"):
            os.chmod(write(self.folder.name, "bin/" + name, SHOW), 0o755)
        os.chmod(write(self.tree, "bin/hprof", SHOW), 0o755)
        self.environment = {"PATH": os.path.join(self.folder.name, "bin") + ":/usr/bin:/bin", "HPROF_BUILD": self.tree}

    def run_it(self, *arguments, **more):
        return script("hprof", *arguments, env=dict(self.environment, **more))

    def test_java_gets_it_as_first_argument(self):
        code, said = self.run_it("cpu=samples,depth=8", "--", "java", "-jar", "a b.jar", "")
        self.assertEqual(code, 3)
        self.assertEqual(said, "[-agentpath:%s=cpu=samples,depth=8]\n[-jar]\n[a b.jar]\n[]\ntool options: \n" % self.agent)

    def test_without_options_it_samples_the_cpu(self):
        self.assertIn("[-agentpath:%s=cpu=samples]\n[Main]\n" % self.agent, self.run_it("--", "java", "Main")[1])

    def test_javac_gets_it_with_j(self):
        self.assertIn("[-J-agentpath:%s=heap=sites]\n[A.java]\n" % self.agent,
                      self.run_it("heap=sites", "--", "javac", "A.java")[1])

    def test_other_commands_get_it_by_environment(self):
        code, said = self.run_it("cpu=samples", "--", "mvn", "test", JAVA_TOOL_OPTIONS="-Xmx1g")
        self.assertEqual((code, said), (3, "[test]\ntool options: -Xmx1g -agentpath:%s=cpu=samples\n" % self.agent))

    def test_commands_of_the_front_end_are_passed_on(self):
        self.assertEqual(self.run_it("check", "a.txt")[1], "[check]\n[a.txt]\ntool options: \n")

    def test_help_needs_no_build(self):
        code, said = self.run_it("--help", HPROF_BUILD="/nonexistent")
        self.assertEqual(code, 0)
        self.assertIn("scripts/hprof cpu=samples -- java -jar app.jar", said)

    def test_wrong_use_is_said(self):
        for arguments in (["cpu=samples"], ["cpu=samples", "java"], ["--"], ["--nonsense"], ["cpu=samples", "--"],
                          ["cpu=samples", "--", "no-such-command"]):
            with self.subTest(arguments=arguments):
                code, said = self.run_it(*arguments)
                self.assertEqual(code, 2)
                self.assertTrue(said.startswith("hprof: "), said)

    def test_what_a_build_lacks_is_named_with_the_command_for_it(self):
        """A machine without compiler and JDK: only the commands that the launcher itself uses."""
        empty = os.path.join(self.folder.name, "empty")
        for name in ("bash", "env", "dirname", "basename", "readlink", "tr", "id", "mkdir", "cat", "nproc", "tail", "sed"):
            os.makedirs(empty, exist_ok=True)
            os.symlink(os.path.join("/usr/bin", name), os.path.join(empty, name))
        write(empty, "apt-get", "#!/bin/sh\nexit 1\n")
        os.chmod(os.path.join(empty, "apt-get"), 0o755)
        code, said = self.run_it("--", "java", "Main", PATH=empty, HPROF_NO_INSTALL="1",
                                 HPROF_BUILD=os.path.join(self.folder.name, "none"))
        self.assertEqual(code, 1)
        self.assertIn("sudo apt-get install -y cmake make g++", said)

    def test_installed_it_uses_the_installed_agent(self):
        prefix = os.path.join(self.folder.name, "prefix")
        agent = write(prefix, "lib/libhprof.so", "")
        with open(os.path.join(ROOT, "scripts", "hprof")) as file:
            launcher = write(prefix, "bin/hprof-launch", file.read())
        run = subprocess.run(["bash", launcher, "--", "java", "Main"], env=dict(self.environment, HPROF_BUILD="/nonexistent"),
                             stdout=subprocess.PIPE)
        self.assertIn("[-agentpath:%s=cpu=samples]" % os.path.realpath(agent), run.stdout.decode())


if __name__ == "__main__":
    unittest.main()
