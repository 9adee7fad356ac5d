"""A ClickHouse server on loopback, and the example's questions (examples/rows/clickhouse)."""
import http.client
import os
import shutil
import subprocess
import urllib.parse

from harness import Failure, Skip, check, check_equal
from peers import closed_port

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "rows")
INSERT = "INSERT INTO profile FORMAT JSONEachRow"
CONFIG = """<yandex><logger><level>warning</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host><http_port>%(http)d</http_port><tcp_port>%(tcp)d</tcp_port>
<path>%(folder)s/data/</path><tmp_path>%(folder)s/tmp/</tmp_path><users_config>users.xml</users_config>
<mark_cache_size>16777216</mark_cache_size><default_profile>default</default_profile><default_database>default</default_database>
</yandex>"""
USERS = """<yandex><profiles><default><allow_experimental_low_cardinality_type>1</allow_experimental_low_cardinality_type></default></profiles><quotas><default></default></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>"""


def question(name, *changes):
    """The SQL of an example, with (before, after) replaced."""
    with open(os.path.join(EXAMPLES, name)) as file:
        text = file.read()
    for before, after in changes:
        check(before in text, "%s has no %s" % (name, before))
        text = text.replace(before, after)
    return text


def program():
    """Its path, or None."""
    return shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin")


class ClickHouse:
    """Runs from start() to kill(), in a new folder; start() again finds the tables that were there."""

    def __init__(self, folder):
        if program() is None:
            raise Skip("no clickhouse-server here (Debian: clickhouse-server)")
        os.mkdir(folder)
        self.folder, self.port, self.process = folder, closed_port(), None
        for name, text in (("config.xml", CONFIG % {"http": self.port, "tcp": closed_port(), "folder": folder}), ("users.xml", USERS)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen([program(), "--config-file=config.xml"], cwd=self.folder, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def url(self, text):
        return "http://127.0.0.1:%d/?query=%s" % (self.port, urllib.parse.quote(text))

    def answer(self, text, rows=b"", timeout=60):
        """[[cell]]"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("POST", "/?query=" + urllib.parse.quote(text), rows)
            got = connection.getresponse()
            said = got.read().decode()
        finally:
            connection.close()
        check_equal(got.status, 200, said)
        return [line.split("\t") for line in said.splitlines()]

    def is_up(self):
        if self.process.poll() is not None:
            raise Failure("the server ended with %d" % self.process.returncode)
        try:
            return self.answer("SELECT 1") == [["1"]]
        except OSError:
            return False
