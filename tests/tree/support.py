"""Shared by the tests of the scripts."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def script(name, *arguments, **options):
    """(exit code, stdout and stderr) of a script of scripts/."""
    run = subprocess.run([os.path.join(ROOT, "scripts", name), *arguments], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    return run.returncode, run.stdout.decode()


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path
