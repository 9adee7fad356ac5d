"""JDKs to test with: homes on this machine, or command prefixes that run a JDK somewhere else (a chroot, a container)."""
import glob
import os
import platform
import re
import shlex
import shutil
import subprocess

import needs


class Jdk:
    """One JDK: a home, or a command prefix."""

    def __init__(self, name, home=None, prefix=None):
        self.home = home
        self.prefix = prefix
        self.version = None
        self.bits = None
        self.machine = None
        self.lacks = {}  # of what tests need: why
        self.name = name

    def command(self, tool, work, folder=None):
        """What stands before the arguments of java, javac, jcmd ...; it is run in `folder`, which is `work` or below."""
        if self.home:
            return [os.path.join(self.home, "bin", tool)]
        # The prefix may change the working folder; and the VM must be this process, for signals: hence exec.
        return [word.replace("{dir}", work) for word in shlex.split(self.prefix)] + [
            "sh", "-c", 'cd "$0" && exec "$@"', folder or work, tool]

    def probe(self, work):
        """Find the version, the size of a pointer and the processor out. False when this is not a JDK that runs."""
        try:
            run = subprocess.run(self.command("java", work) + ["-XshowSettings:properties", "-version"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        except (OSError, subprocess.TimeoutExpired):
            return False
        text = run.stdout.decode(errors="replace")
        self.version = parse_version(text)
        self.bits = 64 if " 64-Bit " in text else 32
        self.machine = parse_property(text, "os.arch")
        own = {"x86_64": "amd64"}.get(platform.machine(), platform.machine())
        self.lacks = needs.lacking(parse_property(text, "os.name") or "", self.machine, own)
        if run.returncode != 0 or self.version is None:
            return False
        if not self.name:
            self.name = str(self.version)
        return True


def parse_property(text, name):
    """aarch64 for 'os.arch = aarch64', of -XshowSettings:properties."""
    found = re.search(r"^ *%s = (.+?)\s*$" % re.escape(name), text, flags=re.M)
    return found.group(1) if found else None


def parse_version(text):
    """8 for 'version "1.8.0_504"', 17 for 'version "17.0.2"'; None without a version."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def parse_command(text):
    """'8=cmd {dir}' -> Jdk. {dir}: a folder that the JDK must see, and be able to write, under the same path."""
    name, equals, prefix = text.partition("=")
    if not equals or not name.strip() or not prefix.strip():
        raise ValueError("not NAME=COMMAND: %s" % text)
    return Jdk(name.strip(), prefix=prefix.strip())


def installed():
    """Homes of the JDKs of this machine that have a compiler, one for each version."""
    homes = [os.environ.get("JAVA_HOME", "")]
    javac = shutil.which("javac")
    if javac:
        homes.append(os.path.dirname(os.path.dirname(os.path.realpath(javac))))
    homes += sorted(glob.glob("/usr/lib/jvm/*"))
    seen = set()
    for home in homes:
        real = os.path.realpath(home) if home else ""
        if real and real not in seen and os.access(os.path.join(real, "bin", "javac"), os.X_OK):
            seen.add(real)
            yield real


def choose(homes, commands, work):
    """The JDKs asked for by options, else by environment, else all that are installed; each probed."""
    if not homes and not commands:
        homes = [home for home in os.environ.get("HPROF_VM_JDKS", "").split(":") if home]
        commands = [text for text in os.environ.get("HPROF_VM_COMMANDS", "").split(";") if text.strip()]
    asked = [Jdk("", home=home) for home in homes] + [parse_command(text) for text in commands]
    chosen = []
    for jdk in asked or [Jdk("", home=home) for home in installed()]:
        if jdk.probe(work):
            if jdk.name in [other.name for other in chosen]:
                if not asked:
                    continue
                jdk.name = "%s-%d" % (jdk.name, len(chosen) + 1)
            chosen.append(jdk)
        elif asked:
            raise ValueError("not a JDK that runs: %s" % (jdk.home or jdk.prefix))
    return chosen
