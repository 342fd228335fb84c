"""Another user of the machine cannot access a run, with and without `--private`."""

from __future__ import annotations

import encodings.idna  # noqa: F401 (unreadable after changing the user)
import json
import os
import re
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from onceproof.harness.wait import wait_until
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Started, onceproof

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user"),
]
OTHER_UID = 65533
REFUSED = "refused"
TCP_LISTEN = "0A"
Place = tuple[str, int]


def as_other_user(function: Callable[[], Any]) -> Any:
    """The result of a function in a child process that runs as another user."""
    reading, writing = os.pipe()
    if not os.fork():
        try:
            os.setgroups([])
            os.setgid(OTHER_UID)
            os.setuid(OTHER_UID)
            result = function()
        except BaseException:
            result = traceback.format_exc()
        os.write(writing, json.dumps(result).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.wait()
    return json.loads(text)


def read_or_refused(path: Path) -> str:
    try:
        return str(os.listdir(path) if path.is_dir() else path.read_text())
    except PermissionError:
        return REFUSED


def try_login(user: str, place: Place) -> str:
    host, port = place
    try:
        psycopg.connect(
            host=host, port=port, user=user, dbname="postgres", connect_timeout=5
        ).close()
    except psycopg.OperationalError as error:
        return REFUSED if re.search("pg_hba|no password supplied", str(error)) else str(error)
    return f"{user} is in"


def request_status(place: Place, method: str, path: str, body: object = None) -> int | str:
    """The status of an HTTP response, or the name of the error."""
    connection = HTTPConnection(*place, timeout=5)
    try:
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        return connection.getresponse().status
    except OSError as error:
        return type(error).__name__
    finally:
        connection.close()


def is_reachable(place: Place) -> bool:
    try:
        socket.create_connection(place, 5).close()
    except OSError:
        return False
    return True


def link_targets(folder: Path) -> Iterator[str]:
    """Targets of the links in a folder; links that vanish meanwhile are skipped."""
    for file in folder.iterdir():
        with suppress(FileNotFoundError):
            yield str(file.readlink())


class Lab:
    """A running lab with Kafka Connect and a database."""

    def __init__(self, out: Path, *options: str) -> None:
        self.name, self.log = f"doors-{os.getpid()}", out / "log"
        self.private = bool(options)
        scenario = "kafka-connect-file-source-quiet"
        self.run = Started(
            "lab", scenario, "--name", self.name, "--out", out, *options, log=self.log
        )

    def wait_up(self) -> None:
        wait_until(
            lambda: self.run.popen.poll() is not None or "onceproof end" in self.log.read_text(),
            what="the lab to be up",
            seconds=400,
            seen=self.log.read_text,
        )
        assert self.run.popen.poll() is None, self.log.read_text()

    def end(self) -> None:
        onceproof("end", "--lab", self.name)
        self.run.popen.wait(400)

    @property
    def folder(self) -> Path:
        return Path(re.findall(r"\((/.*)\)$", self.log.read_text(), re.MULTILINE)[0])

    @property
    def database(self) -> list[Place]:
        found = re.findall(r"host=(\S+) port=(\d+)", self.log.read_text())
        return [(host, int(port)) for host, port in found]

    def listening_on(self, program: str) -> list[Place]:
        """Addresses in the lab's network on which its processes of a program listen."""
        mark, found = f"ONCEPROOF_RUN={self.run.popen.pid}-".encode(), []
        for process in psutil.process_iter():
            proc = Path(f"/proc/{process.pid}")
            try:
                belongs_to_lab = mark in (proc / "environ").read_bytes()
                if not belongs_to_lab or program not in (proc / "cmdline").read_text():
                    continue
                inodes = set(link_targets(proc / "fd"))
            except OSError:
                continue
            for line in (proc / "net" / "tcp").read_text().splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if state == TCP_LISTEN and f"socket:[{inode}]" in inodes:
                    host, port = local.split(":")
                    number = bytes.fromhex(host)[::-1]
                    found.append((socket.inet_ntoa(number), int(port, 16)))
            for line in (proc / "net" / "tcp6").read_text().splitlines()[1:]:
                _, local, _, state, *_, inode = line.split()[:10]
                if state == TCP_LISTEN and f"socket:[{inode}]" in inodes:
                    host, port = local.split(":")
                    number = bytes.fromhex(host[24:])[::-1]  # an IPv4-mapped IPv6 address
                    found.append((socket.inet_ntoa(number), int(port, 16)))
        return found


@pytest.fixture(params=[pytest.param((), marks=LATER), ("--private",)], ids=["shared", "private"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)  # otherwise pytest's folder would deny access
    up = Lab(tmp_path, *request.param)
    try:
        up.wait_up()
        yield up
    finally:
        up.end()


def test_other_user_has_no_access(lab: Lab) -> None:
    work = lab.folder / "work"
    assert (work / "postgres-login").exists()
    assert read_or_refused(work) != REFUSED
    secrets = [lab.folder, work, work / "postgres-login", work / "connect-users"]
    assert as_other_user(lambda: [read_or_refused(path) for path in secrets]) == [REFUSED] * 4

    database, workers = lab.database, lab.listening_on("ConnectDistributed")
    brokers, toxiproxy = lab.listening_on("kafka.Kafka"), lab.listening_on("toxiproxy")
    assert len(database) == len(workers) == 2, (database, workers)
    assert brokers
    assert toxiproxy
    addresses = [*database, *workers, *brokers, *toxiproxy]
    if lab.private:
        assert as_other_user(lambda: [p for p in addresses if is_reachable(p)]) == []
        return
    assert as_other_user(lambda: [p for p in addresses if not is_reachable(p)]) == []
    users = ("superuser", "postgres", "onceproof")
    logins = as_other_user(lambda: [try_login(user, place) for user in users for place in database])
    assert logins == [REFUSED] * 6
    config = {"connector.class": "FileStreamSink", "file": "/tmp/theirs", "topics": "payments"}
    for method, path in (("PUT", "/connectors/x/config"), ("GET", "/connectors")):
        statuses = as_other_user(
            lambda m=method, p=path: [request_status(w, m, p, config) for w in workers]
        )
        assert statuses == [401, 401]
    # Open without --private according to limits.md: the control port of toxiproxy.
    assert 200 in as_other_user(lambda: [request_status(p, "GET", "/proxies") for p in toxiproxy])
