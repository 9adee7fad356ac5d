"""scripts/hprof finds or builds the agent, and hands everything else to bin/hprof."""
import os
import pty
import subprocess
import tempfile
import unittest

from support import ROOT, script, write

SHOW = "#!/bin/sh\nfor word in \"$@\"; do echo \"[$word]\"; done\nexit 3\n"


class Launcher(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree = os.path.join(self.folder.name, "build")
        self.agent = write(self.tree, "lib/libhprof.so", "")
        os.chmod(write(self.folder.name, "bin/java", SHOW), 0o755)
        os.chmod(write(self.tree, "bin/hprof", SHOW), 0o755)
        self.environment = {"PATH": os.path.join(self.folder.name, "bin") + ":/usr/bin:/bin", "HPROF_BUILD": self.tree}

    def run_it(self, *arguments, **more):
        return script("hprof", *arguments, env=dict(self.environment, **more))

    def test_the_front_end_runs_the_program(self):
        code, said = self.run_it("cpu=samples,depth=8", "--", "java", "-jar", "a b.jar", "")
        self.assertEqual(code, 3)
        self.assertEqual(said, "[run]\n[--agent=%s]\n[cpu=samples,depth=8]\n[--]\n[java]\n[-jar]\n[a b.jar]\n[]\n" % self.agent)

    def test_without_options_it_samples_the_cpu(self):
        self.assertEqual(self.run_it("--", "java", "Main")[1],
                         "[run]\n[--agent=%s]\n[cpu=samples]\n[--]\n[java]\n[Main]\n" % self.agent)

    def test_options_are_the_agent_s_help(self):
        self.assertEqual(self.run_it("--options")[1], "[-agentpath:%s=help]\n" % self.agent)

    def test_commands_of_the_front_end_are_passed_on(self):
        self.assertEqual(self.run_it("check", "a.txt")[1], "[check]\n[a.txt]\n")

    def test_help_needs_no_build(self):
        code, said = self.run_it("--help", HPROF_BUILD="/nonexistent")
        self.assertEqual(code, 0)
        self.assertIn("scripts/hprof cpu=samples -- java -jar app.jar", said)

    def test_build_says_where_program_and_agent_are(self):
        """Built anew though both are there, by tools that only note how they are called."""
        for name in ("cmake", "c++", "ninja"):
            write(self.folder.name, "bin/" + name, '#!/bin/sh\necho "%s $*" >>"$HPROF_BUILD/called"\n' % name)
            os.chmod(os.path.join(self.folder.name, "bin", name), 0o755)
        code, said = self.run_it("--build", HPROF_NO_INSTALL="1")
        self.assertEqual(code, 0, said)
        self.assertTrue(said.endswith("the program: %s/bin/hprof\nthe agent:   %s\n" % (self.tree, self.agent)), said)
        with open(os.path.join(self.tree, "called")) as called:
            lines = called.read().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertIn("-DHPROF_TESTS=OFF", lines[0])
        self.assertTrue(lines[1].startswith("cmake --build " + self.tree), lines)

    def test_wrong_use_is_said(self):
        for arguments in (["cpu=samples"], ["cpu=samples", "java"], ["--"], ["--nonsense"], ["cpu=samples", "--"]):
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

    def test_what_the_tests_lack_is_named_with_the_command_for_it(self):
        empty = os.path.join(self.folder.name, "empty")
        for name in ("bash", "env", "dirname", "readlink", "id"):
            os.makedirs(empty, exist_ok=True)
            os.symlink(os.path.join("/usr/bin", name), os.path.join(empty, name))
        os.chmod(write(empty, "apt-get", "#!/bin/sh\nexit 1\n"), 0o755)
        environment = {"PATH": empty, "HPROF_NO_INSTALL": "1"}
        code, said = script("provide", "test", env=environment)
        self.assertEqual(code, 1)
        self.assertIn("sudo apt-get install -y cmake make g++", said)
        # zlib is looked for by its file, which this machine may have.
        self.assertRegex(said, r" binutils python3 git( zlib1g-dev)? groff-base zsh\n")
        code, said = script("provide", "target", "mingw-x86_64", env=environment)
        self.assertEqual(code, 1)
        # Debian's Wine is not on the PATH, so this machine's is seen.
        wine = "" if os.access("/usr/lib/wine/wine64", os.X_OK) else " wine64"
        self.assertIn(" g++-mingw-w64-x86-64-posix%s\n" % wine, said)
        code, said = script("provide", "target", "pdp-11", env=environment)
        self.assertEqual(code, 2)
        self.assertIn("provide: no target pdp-11: ", said)

    def test_a_person_at_the_terminal_is_asked_before_packages_are_installed(self):
        fake = os.path.join(self.folder.name, "fake")
        installed = os.path.join(self.folder.name, "installed")
        for name, text in (("id", "echo 0"), ("dpkg-query", "exit 1"), ("apt-get", "touch " + installed)):
            os.chmod(write(fake, name, "#!/bin/sh\n%s\n" % text), 0o755)
        environment = dict(os.environ, PATH=fake + ":" + os.environ["PATH"])
        environment.pop("HPROF_NO_INSTALL", None)
        for arguments, answer, code in ((["packages"], b"n\n", 1), (["packages"], b"\n", 0), (["--yes", "packages"], None, 0)):
            with self.subTest(arguments=arguments, answer=answer):
                master, terminal = pty.openpty()
                child = subprocess.Popen([os.path.join(ROOT, "scripts", "provide"), *arguments, "zlib1g-dev"], stdin=terminal, stderr=terminal,
                                         env=environment)
                os.close(terminal)
                if answer is not None:
                    os.write(master, answer)
                self.assertEqual(child.wait(60), code)
                os.close(master)
                self.assertEqual(os.path.exists(installed), code == 0)
                if code == 0:
                    os.remove(installed)


if __name__ == "__main__":
    unittest.main()
