"""Man pages and completion of a build tree: roff without a warning, every option and command in them, and shells that offer
what is typed next.

  manual_test.py TREE
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

TREE = sys.argv.pop()
SHARE = os.path.join(TREE, "share")
PAGES = {"hprof.1": os.path.join(SHARE, "man", "man1", "hprof.1"),
         "hprof-agent.7": os.path.join(SHARE, "man", "man7", "hprof-agent.7")}

BASH = """
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
# As readline parts them.
mapfile -t COMP_WORDS < <(grep -o '[=:]\\|[^ =:]*' <<< "$2" | grep .)
case $2 in *' ') COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_hprof
printf '%s\\n' "${COMPREPLY[@]}"
"""

# compadd prints what it would offer; the words after --, each with what -p puts before it.
ZSH = """
compadd() {
  local before=''
  while [[ $1 != -- ]]; do [[ $1 != -p ]] || { before=$2; shift }; shift; done
  shift
  local word
  for word; do [[ $before$word != ${PREFIX}* ]] || print -r -- $before$word; done
}
_files() { print -l -- *(N) }
compset() { }
words=("${(@s: :)2}")
CURRENT=${#words}
PREFIX=${words[-1]}
source $1
"""


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


def bash(line):
    return run("bash", "-c", BASH, "bash", os.path.join(SHARE, "bash-completion", "completions", "hprof"),
               line).stdout.decode().split()


def zsh(line):
    return run("zsh", "-f", "-c", ZSH, "zsh", os.path.join(SHARE, "zsh", "site-functions", "_hprof"),
               line).stdout.decode().split()


class Pages(unittest.TestCase):
    def test_groff_has_no_complaint(self):
        for page in PAGES.values():
            self.assertEqual(run("groff", "-man", "-ww", "-z", "-Tutf8", page).stderr.decode(), "", page)

    def test_every_option_of_the_help_text_is_there(self):
        agent = run("groff", "-man", "-Tascii", "-P-cbou", PAGES["hprof-agent.7"]).stdout.decode()
        help_text = run(os.path.join(TREE, "tools", "manual", "hprof_manual"), "agent-help",
                        os.path.join(TREE, "lib", "hprof", "plugins")).stdout.decode()
        names = re.findall(r"^ {0,2}([a-zA-Z_-]+)=", help_text, re.M)
        self.assertGreater(len(names), 40)
        for name in names:
            self.assertRegex(agent, r"(?m)^ +%s=" % re.escape(name))

    def test_every_command_has_its_part(self):
        tool = run("groff", "-man", "-Tascii", "-P-cbou", PAGES["hprof.1"]).stdout.decode()
        overview = run(os.path.join(TREE, "bin", "hprof"), "help").stdout.decode()
        names = sorted(set(re.findall(r"^  hprof ([a-z]+) ", overview, re.M)))
        self.assertGreater(len(names), 8)
        for name in names:
            self.assertRegex(tool, r"(?m)^ +hprof %s:" % name)


class Completion(unittest.TestCase):
    def test_commands(self):
        for shell in (bash, zsh):
            self.assertEqual(shell("hprof he"), ["heap", "help"], shell)
            self.assertIn("attach", shell("hprof "), shell)

    def test_options_of_a_command(self):
        for shell in (bash, zsh):
            self.assertEqual(shell("hprof check --n"), ["--no-warnings"], shell)
            self.assertIn("--force", shell("hprof listen --"), shell)
            self.assertIn("leaks", shell("hprof heap "), shell)

    def test_options_of_the_agent(self):
        for shell in (bash, zsh):
            self.assertEqual(shell("hprof run dep"), ["depth="], shell)
            self.assertIn("detach", shell("hprof ctl 4711 "), shell)

    def test_values_of_the_agents_options(self):
        # bash is told what follows the last '='.
        self.assertEqual(bash("hprof attach 4711 cpu=s"), ["samples"])
        self.assertEqual(bash("hprof run cpu=samples,clock=wa"), ["wall"])
        self.assertEqual(bash("hprof run cpu=samples,dep"), ["samples,depth="])
        self.assertEqual(zsh("hprof attach 4711 cpu=s"), ["cpu=samples"])
        self.assertEqual(zsh("hprof run cpu=samples,clock=wa"), ["cpu=samples,clock=wall"])

    def test_process_ids_of_jvms(self):
        with tempfile.TemporaryDirectory(prefix="hsperfdata_", dir="/tmp") as folder:
            open(os.path.join(folder, "98765"), "w").close()
            for shell in (bash, zsh):
                self.assertEqual(shell("hprof profile 9876"), ["98765"], shell)
                self.assertIn("98765", shell("hprof ctl "), shell)
                self.assertNotIn("98765", shell("hprof profile 98765 "), shell)
                self.assertNotIn("98765", shell("hprof run 9876"), shell)

    def test_files_as_values(self):
        folder = os.path.join(SHARE, "man")
        self.assertEqual(sorted(bash("hprof run file=%s/" % folder)), [folder + "/man1", folder + "/man7"])

    def test_nothing_of_the_agent_after_the_program_began(self):
        self.assertNotIn("depth=", bash("hprof run cpu=samples -- d"))


if __name__ == "__main__":
    unittest.main()
