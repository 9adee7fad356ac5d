"""What tests need of the system besides a JDK, and which systems lack it: there, tests that need it are skipped with these words."""

WINDOWS = {
    "a local socket": "control= is a pipe of Windows, which only its programs can open",
    "attach": "the protocol of Linux",
    "file modes": "Windows has access lists",
    "kernel counts": "Windows counts no switches and page faults of a thread",
    "libraries in C": "the tests' are for ELF",
    "links": "Wine shows what they lead to",
    "preloading": "Windows has none",
    "proc": "Windows has no /proc",
    "sampling signals": "Windows has no signals",
    "short intervals": "thread times have ticks of 10 ms in Wine, of 16 ms on Windows",
    "signals": "Windows has none",
    "users": "Wine has one",
}

# The VM is behind a script: qemu-user, or a folder as its root.
FOREIGN = {
    "preloading": "it would reach the shell in front of the VM, which is for another processor",
    "users": "the VM's folder is closed to others",
}

# In qemu-user.
EMULATED = {
    "silent samples": "that signals cannot be used is said",
    "sampling signals": "qemu-user does not pass on what tells the agent's signals from others'",
}


def lacking(system, machine, own):
    """What a VM lacks with this os.name and os.arch, where VMs of this machine have os.arch `own`: {need: why}."""
    if system.startswith("Windows"):
        return WINDOWS
    if machine == own:
        return {}
    return FOREIGN if (machine, own) == ("i386", "amd64") else dict(FOREIGN, **EMULATED)
